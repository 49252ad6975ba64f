"""`dovetail fields`: every declared field of Model and Data, as the declarations say."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import click

from dovetail.cli._options import cli_command
from dovetail.cli._output import emit, say, table


@cli_command(example="dovetail fields 'qfrc_*'\ndovetail fields mass --owner model")
@click.argument("pattern", default="*", metavar="[PATTERN]")
@click.option("--owner", type=click.Choice(["model", "data", "kernel"]), help="Only the fields of one.")
@click.option("--writer", help="Only the fields that a stage writes.")
def fields(pattern: str, owner: str | None, writer: str | None, as_json: bool) -> None:
    """List the declared fields of Model and Data.

    Fields of owner kernel exist only while a kernel runs: what lane stages leave for each other. PATTERN is part
    of a name, or a pattern with * and ?.
    """
    found = [
        field
        for field in all_fields()
        if _matches(field["name"], pattern)
        and owner in (None, field["owner"])
        and writer in (None, field["writer"])
    ]
    if not found:
        raise _nothing(pattern)
    if as_json:
        emit({"fields": found})
    else:
        _show(found)


def all_fields() -> list[dict[str, Any]]:
    """Every field, the Model's, Data's, those of kernels, each with those that installed implementations add."""
    from dovetail.contracts.types import DATA_SPECS, MODEL_SPECS
    from dovetail.registry import default_registry

    registry = default_registry()
    owners = (
        *(("model", MODEL_SPECS), ("model", registry.model_fields())),
        *(("data", DATA_SPECS), ("data", registry.data_fields())),
    )
    declared = [_entry(owner, spec) for owner, specs in owners for spec in specs.values()]
    return declared + [_kernel_entry(field) for field in registry.kernel_fields.values()]


def _kernel_entry(field: Any) -> dict[str, Any]:
    return {
        "owner": "kernel",
        "name": field.name,
        "shape": field.shape,
        "dtype": {"numbers": "real"}.get(field.kind, "int32"),
        "unit": field.unit,
        "writer": field.writer,
        "state": False,
        "tolerance": 0.0,
        "doc": field.doc,
    }


def _entry(owner: str, spec: Any) -> dict[str, Any]:
    return {
        "owner": owner,
        "name": spec.name,
        "shape": spec.shape,
        "dtype": spec.dtype,
        "unit": spec.unit,
        "writer": spec.writer,
        "state": spec.state,
        "tolerance": spec.tolerance,
        "doc": spec.doc,
    }


def _matches(name: str, pattern: str) -> bool:
    wild = any(c in pattern for c in "*?[")
    return fnmatchcase(name, pattern) if wild else pattern in name


def _nothing(pattern: str) -> click.ClickException:
    from dovetail.errors import nearest

    hint = nearest(pattern, [f["name"] for f in all_fields()]) or "."
    return click.UsageError(f"no field matches {pattern!r} with these options{hint}")


def _show(found: list[dict[str, Any]]) -> None:
    table(
        ("owner", "name", "shape", "dtype", "unit", "written by", "tolerance", "meaning"),
        [
            (
                f["owner"],
                f["name"],
                " × ".join(map(str, f["shape"])) or "scalar",
                f["dtype"],
                f["unit"],
                f["writer"] or ("user" if f["state"] else ""),
                f"{f['tolerance']:.0e}",
                f["doc"],
            )
            for f in found
        ],
        optional=("tolerance",),
        below="meaning",
    )
    say(f"{len(found)} field{'s'[: len(found) != 1]}")
