"""`dovetail certify`: the house checks on all that a package brings, as a table and as a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dovetail.cli import FOUND_PROBLEMS
from dovetail.cli._options import cli_command
from dovetail.cli._output import emit, say, table, title, waiting

if TYPE_CHECKING:
    from dovetail.certify.document import Certificate
    from dovetail.certify.outcomes import Examined
    from dovetail.certify.verification import Verified

SIGNATURES = {
    "none": "not signed",
    "unchecked": "signed; give the key with --key-file to check by whom",
    "good": "signed with this key",
    "wrong": "WRONG: a signature with this key was expected",
    "missing": "MISSING: a signature with this key was expected, and the file has none",
}
"""In words."""


@cli_command(
    example="""dovetail certify dovetail-wind --output wind.json
    dovetail certify dovetail --stage mass_matrix --backend numpy --quick
    dovetail certify --verify wind.json"""
)
@click.argument("package", metavar="[PACKAGE]", required=False)
@click.option("--stage", "stages", multiple=True, metavar="SLOT", help="Only this stage or row. Repeatable.")
@click.option(
    "--backend", "backends", multiple=True, help="Only implementations on this backend. Repeatable."
)
@click.option(
    "--model",
    "models",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Try an MJCF file besides the samples. Repeatable.",
)
@click.option(
    "--quick", is_flag=True, help="Without threads, precision, invariants, error texts, large models."
)
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the certificate, JSON."
)
@click.option(
    "--key-file", type=click.Path(dir_okay=False, path_type=Path), help="Key to sign or check with."
)
@click.option(
    "--verify", type=click.Path(dir_okay=False, path_type=Path), help="Check a certificate's digest."
)
def certify(package: str | None, as_json: bool, verify: Path | None, **asked: Any) -> int:
    """Certify a package: run every check on all it brings.

    PACKAGE is an installed distribution or plugin; dovetail itself means the built-in implementations. The digest
    shows that a certificate was not changed; a signature (DOVETAIL_CERTIFY_KEY or --key-file) also that a holder of
    the key wrote it: with a key at hand, --verify wants a good one. The exit code is 1 if a check fails, if nothing
    ran, or if a file does not hold.
    """
    if (package is None) == (verify is None):
        raise click.UsageError("name a PACKAGE to certify, or a file with --verify")
    from dovetail.certify.document import key_of

    key = key_of(asked["key_file"])
    if verify is not None:
        return _verify(verify, key, as_json)
    return _certify(str(package), key, as_json, **asked)


def _certify(package: str, key: bytes | None, as_json: bool, **asked: Any) -> int:
    from dovetail.certify import certify as examined

    models = {path.stem: path.read_text(encoding="utf-8") for path in asked["models"]}
    with waiting(f"examining {package}", show=not as_json):
        certificate = examined(
            package, stages=asked["stages"], backends=asked["backends"], models=models, quick=asked["quick"]
        )
    output = asked["output"]
    document = certificate.sealed(key) if output is None else certificate.write(output, key)
    if as_json:
        emit(document)
    else:
        _show(certificate, document, output)
    return 0 if certificate.ok else FOUND_PROBLEMS


def _verify(path: Path, key: bytes | None, as_json: bool) -> int:
    import attrs

    from dovetail.certify import verify

    found = verify(path, key)
    if as_json:
        emit({"file": str(path), "ok": found.ok, **attrs.asdict(found)})
        return 0 if found.ok else FOUND_PROBLEMS
    say(f"{path}: {found.package} {found.version}: {_result(found)}")
    say(f"digest: {'unchanged since it was written' if found.intact else 'CHANGED since it was written'}")
    say(f"signature: {SIGNATURES[found.signature]}")
    return 0 if found.ok else FOUND_PROBLEMS


def _result(found: Verified) -> str:
    if found.certified:
        return "all checks passed"
    if found.claimed:
        return "NOT certified: it says so, but the checks it lists failed, or nothing ran"
    return "checks failed, or nothing ran"


def _show(certificate: Certificate, document: dict[str, Any], output: Path | None) -> None:
    table(
        ("slot", "implementation", "pass", "fail", "n/a", "worst error", "cost"),
        [_cells(one) for one in certificate.examined],
        numeric=("pass", "fail", "n/a", "worst error", "cost"),
    )
    for one in certificate.failures:
        title(f"{one.slot} {one.implementation}")
        for outcome in one.outcomes:
            if outcome.verdict == "fail":
                say(f"  {outcome.check}: {outcome.text}")
    unseen = [f"{one.slot} {one.implementation}" for one in certificate.unseen]
    if unseen:
        say(f"ran on no model, so only their records were looked at: {', '.join(unseen)}")
    say(_headline(certificate))
    say(f"sha256 {document['seal']['sha256']}" + ("" if output is None else f", written to {output}"))


def _headline(certificate: Certificate) -> str:
    count = len(certificate.examined)
    whole = f"{certificate.package} {certificate.version}: {count} implementation{'s' if count != 1 else ''}"
    if certificate.failures:
        return f"{whole}, {len(certificate.failures)} with failures: not certified"
    ran = count - len(certificate.unseen)
    return f"{whole}, {ran} ran: {'certified' if certificate.ok else 'nothing ran, so not certified'}"


def _cells(one: Examined) -> tuple[object, ...]:
    errors = [m.error for outcome in one.outcomes for m in outcome.measured]
    return (
        one.slot,
        one.implementation,
        one.count("pass"),
        one.count("fail") or "",
        one.count("not applicable") or "",
        f"{max(errors):.0e}" if errors else "",
        _cost(one),
    )


def _cost(one: Examined) -> str:
    """Beside the reference, or by itself."""
    if one.cost is None:
        return ""
    reference = one.cost.get("reference_microseconds")
    mine = one.cost["microseconds"]
    return f"{mine:.0f} µs" if not reference else f"{mine / reference:.2f}×"
