"""Certificates: what they find, what they say, and what their seal shows."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import numpy as np
import pytest
from click.testing import CliRunner

from dovetail.certify import certify, verify
from dovetail.certify.document import KEY_VARIABLE, seal_of
from dovetail.certify.inspection import examine
from dovetail.cli import main
from dovetail.errors import ArgumentError, FileFormatError, SelectionError
from dovetail.plugin import Implementation
from dovetail.registry import PluginInfo, Registry, build_registry
from dovetail.testing import checks, invariants
from dovetail.testing.cases import NotApplicableError, Subject, forget

MODULE = "certified_stages"
FORCE = Implementation(
    stage="passive_force",
    key="mine",
    name="linear",
    backend="numpy",
    target=f"{MODULE}:force",
    reads="qvel qfrc_passive",
    writes="qfrc_passive",
    summary="Resistance to motion",
    provider="dovetail-mine",
)


def force(model: Any, data: Any) -> None:
    data.qfrc_passive[:] -= 0.1 * data.qvel


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = ModuleType(MODULE)
    made.force = force  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, MODULE, made)
    yield made
    forget()


@pytest.fixture
def registry() -> Registry:
    found = build_registry(third_party=False)
    added = found.add(FORCE)
    found.plugins.append(PluginInfo("mine", "dovetail-mine", "3.1", "active", "", added))
    return found


def test_a_right_package_is_certified_with_what_was_measured(module: ModuleType, registry: Registry) -> None:
    certificate = certify("dovetail-mine", registry=registry)
    assert certificate.ok
    assert (certificate.package, certificate.version, certificate.scope) == ("dovetail-mine", "3.1", "all")
    (one,) = certificate.examined
    assert one.ran
    assert one.cost is not None
    assert {"chain", "loose", "undriven"} <= set(one.models)
    verdicts = {outcome.check: outcome.verdict for outcome in one.outcomes}
    assert (
        verdicts["touches_only_declared"] == verdicts["single_precision"] == verdicts["error_texts"] == "pass"
    )
    assert verdicts["invariants"] == "not applicable"
    single = next(o for o in one.outcomes if o.check == "single_precision").worst
    assert single is not None
    assert 0.0 < single.error < single.tolerance


def _reads_too_much(model: Any, data: Any) -> None:
    data.qfrc_passive[:] -= 0.1 * data.qvel + 0.0 * data.xpos.sum()


def _swallows(model: Any, data: Any) -> None:
    with contextlib.suppress(Exception):
        force(model, data)


_calls = iter(range(10**6))


def _remembers(model: Any, data: Any) -> None:
    data.qfrc_passive[:] -= 0.1 * data.qvel + 1e-9 * next(_calls)


def _by_number(model: Any, data: Any) -> None:
    data.qfrc_passive[:] -= 0.1 * data.qvel * (1.0 + (data.number or 0))


def _rounds(model: Any, data: Any) -> None:
    data.qfrc_passive[:] -= (0.1 * data.qvel).astype(np.float32)


def _crashes(model: Any, data: Any) -> None:
    raise RuntimeError("no coefficient")


FAULTS: dict[str, tuple[Callable[..., None], str, str]] = {
    "undeclared read": (
        _reads_too_much,
        "touches_only_declared",
        "reads xpos, which its record does not declare",
    ),
    "swallowed errors": (_swallows, "error_texts", "goes on when its fields are withheld"),
    "memory": (_remembers, "deterministic", "gives other bits the second time"),
    "by number": (_by_number, "any_order_of_worlds", "a world has other bits as number"),
    "single precision": (_rounds, "touches_only_declared", "numbers of type float32 into qfrc_passive"),
    "crash": (_crashes, "writes_only_declared", "in stage passive_force:mine linear@numpy of dovetail-mine"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_by_its_check(module: ModuleType, registry: Registry, fault: str) -> None:
    function, check, text = FAULTS[fault]
    module.force = function  # type: ignore[attr-defined]
    found = examine(FORCE, registry, quick=check != "error_texts")
    failed = {outcome.check: outcome.text for outcome in found.outcomes if outcome.verdict == "fail"}
    assert check in failed
    assert text in failed[check]


def test_a_package_whose_models_never_run_it_is_not_certified(module: ModuleType, registry: Registry) -> None:
    asleep = attrs.evolve(FORCE, name="asleep", needed="certified_stages:never")
    module.never = lambda model: ""  # type: ignore[attr-defined]
    registry.add(asleep)
    registry.plugins.append(PluginInfo("asleep", "dovetail-asleep", "1", "active", "", (asleep,)))
    certificate = certify("asleep", registry=registry, quick=True)
    assert not certificate.ok
    assert not certificate.failures
    assert len(certificate.unseen) == 1


def test_unknown_packages_and_stages_are_told(registry: Registry) -> None:
    with pytest.raises(SelectionError, match=r"called 'dovetail-mind'; did you mean 'dovetail-mine'\?"):
        certify("dovetail-mind", registry=registry)
    with pytest.raises(
        SelectionError, match=r"brings nothing to certify there\. It has: passive_force:mine linear@"
    ):
        certify("mine", stages=["energy"], registry=registry)
    registry.plugins.append(PluginInfo("rusty", "dovetail-rusty", "1", "broken", "ImportError: gone"))
    with pytest.raises(SelectionError, match="plugin 'rusty' of dovetail-rusty is broken: ImportError: gone"):
        certify("rusty", registry=registry)


# ---- invariants


@pytest.mark.parametrize("slot", ["factor_mass", "mass_matrix", "kinematics", "smooth_acceleration"])
def test_invariants_hold_of_the_reference_and_not_of_spoilt_results(registry: Registry, slot: str) -> None:
    record = next(r for r in registry.of(slot) if r.backend == "numpy" and r.default)
    subject = Subject.of(record, registry=registry)
    assert checks.check_invariants(subject)
    case = next(c for c in subject.cases() if c.model.nv)
    after = case.outputs(case.inputs())
    field = invariants.AFTER[slot][0][0]
    after.field(field)[...] *= -1.0 if slot == "mass_matrix" else 1.001
    spoilt = invariants.of_results(slot, case.isolated.leaves, case.model, after)
    assert any(not one.ok for one in spoilt)


def test_a_solver_that_ignores_contacts_lets_a_ball_fall_through(registry: Registry) -> None:
    record = next(r for r in registry.of("solve_constraints") if r.label == "unconstrained@numpy")
    subject = Subject.of(record, registry=registry)
    found = invariants.of_motions("solve_constraints", lambda text: checks._simulation(subject, text))
    assert [one.ok for one in found if "sinks" in one.quantity] == [False]


@pytest.mark.parametrize("name", ["euler", "implicitfast"])
def test_integrators_keep_energy_and_momentum(registry: Registry, name: str) -> None:
    record = next(r for r in registry.of("integrate") if r.label == f"{name}@numpy")
    found = checks.check_invariants(Subject.of(record, registry=registry))
    assert {one.quantity for one in found} >= {"centre of mass moves uniformly", "energy of a pendulum"}


def test_threads_say_nothing_about_the_reference(registry: Registry, module: ModuleType) -> None:
    with pytest.raises(NotApplicableError, match="one after another"):
        checks.check_threads(Subject.of(FORCE, registry=registry))


# ---- the file


@pytest.fixture
def written(module: ModuleType, registry: Registry, tmp_path: Path) -> Path:
    path = tmp_path / "mine.json"
    certify("mine", registry=registry, quick=True).write(path, b"secret")
    return path


def test_the_seal_of_an_unchanged_file_holds(written: Path) -> None:
    found = verify(written, b"secret")
    assert (found.ok, found.intact, found.signature) == (True, True, "good")
    assert verify(written).signature == "unchecked"
    assert verify(written, b"other").signature == "wrong"
    assert not verify(written, b"other").ok


def test_a_changed_file_is_noticed(written: Path) -> None:
    document = json.loads(written.read_text())
    document["implementations"][0]["checks"][0]["verdict"] = "fail"
    written.write_text(json.dumps(document))
    found = verify(written, b"secret")
    assert (found.intact, found.signature, found.ok) == (False, "wrong", False)


def test_layout_does_not_matter_to_the_seal(written: Path) -> None:
    written.write_text(json.dumps(json.loads(written.read_text()), sort_keys=True, indent=7))
    assert verify(written, b"secret").ok


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "no certificate"),
        ("{}", "not in the format"),
        ('{"format": "dovetail-certificate-1"}', "has no seal"),
    ],
)
def test_what_is_no_certificate_is_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=told):
        verify(path)


Change = Callable[[dict[str, Any]], Any]


def change(path: Path, change: Change, key: bytes | None = None) -> None:
    """Change a certificate's content and, as anybody could, the seal with it."""
    document = json.loads(path.read_text())
    change(document)
    body = {name: value for name, value in document.items() if name != "seal"}
    path.write_text(json.dumps({**body, "seal": seal_of(body, key)}))


def reseal(path: Path, **seal: Any) -> None:
    document = json.loads(path.read_text())
    document["seal"] = seal
    path.write_text(json.dumps(document))


def test_with_a_key_a_signature_that_was_cut_off_is_missed(written: Path) -> None:
    change(written, lambda document: document.update(version="9"))
    assert verify(written).ok
    found = verify(written, b"secret")
    assert (found.intact, found.signature, found.ok) == (True, "missing", False)


@pytest.mark.parametrize("word", ["ä" * 64, "\ud800", "", "0" * 100_000])
def test_seals_of_other_letters_are_wrong(written: Path, word: str) -> None:
    reseal(written, sha256=word, hmac_sha256=word)
    found = verify(written, b"secret")
    assert (found.intact, found.signature, found.ok) == (False, "wrong", False)


@pytest.mark.covering
@pytest.mark.parametrize("word", [None, 5, ["0"], {"sha256": "0"}, True])
@pytest.mark.parametrize("name", ["sha256", "hmac_sha256"])
def test_seals_that_are_no_text_are_told(written: Path, name: str, word: Any) -> None:
    reseal(written, **{"sha256": "0", name: word})
    with pytest.raises(FileFormatError, match=name):
        verify(written, b"secret")


def fail_a_check(document: dict[str, Any]) -> None:
    document["implementations"][0]["checks"][0]["verdict"] = "fail"


def exceed_a_tolerance(document: dict[str, Any]) -> None:
    checks = document["implementations"][0]["checks"]
    next(check for check in checks if check["measured"])["measured"][0]["error"] = "nan"


@pytest.mark.parametrize(
    "worse", [fail_a_check, exceed_a_tolerance, lambda document: document.update(implementations=[])]
)
def test_what_a_file_says_of_itself_is_not_believed(written: Path, worse: Change) -> None:
    change(written, worse, b"secret")
    found = verify(written, b"secret")
    assert (found.claimed, found.signature) == (True, "good")
    assert (found.certified, found.ok) == (False, False)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"ok": true,', '"ok": false, "ok": true,', "'ok' stands twice"),
        ('"ok": true,', '"ok": true, "more": NaN,', "NaN is no number"),
        ('"ok": true,', '"ok": true, "more": 1e999,', "no certificate"),
        ('"ok": true,', '"ok": true, "more": "\\ud800",', "no certificate"),
        ('"ok": true,', '"ok": true, "more": ' + 100_000 * "[", "no certificate"),
        ('"checks":', '"tests":', "should have checks"),
        ('"implementations":', '"others":', "lists no implementations"),
        ("mine", "m\udcffne", "no certificate: .*decode"),
    ],
)
def test_damaged_files_are_told(written: Path, old: str, new: str, told: str) -> None:
    text = written.read_text(encoding="utf-8")
    assert old in text
    written.write_text(text.replace(old, new), encoding="utf-8", errors="surrogateescape")
    with pytest.raises(FileFormatError, match=told):
        verify(written, b"secret")


@pytest.mark.parametrize("key", [b"", "secret"])
def test_no_key_is_told(written: Path, key: Any) -> None:
    with pytest.raises(ArgumentError, match="a key should be bytes"):
        verify(written, key)


def verified_by_command(path: Path, *more: str) -> Any:
    return CliRunner().invoke(main, ["certify", "--verify", str(path), *more])


def test_the_command_wants_a_good_signature_if_there_is_a_key(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = written.with_name("key")
    key.write_text("secret\n")
    assert verified_by_command(written, "--key-file", str(key)).exit_code == 0
    monkeypatch.setenv(KEY_VARIABLE, "other")
    assert verified_by_command(written, "--key-file", str(key)).exit_code == 0  # the file comes first
    told = verified_by_command(written)
    assert (told.exit_code, "WRONG: a signature with this key was expected" in told.output) == (1, True)
    change(written, fail_a_check)
    told = verified_by_command(written)
    assert (told.exit_code, "MISSING: a signature with this key was expected" in told.output) == (1, True)
    assert "NOT certified: it says so" in told.output


@pytest.mark.parametrize("empty", ["", " \n"])
def test_an_empty_key_is_not_the_lack_of_one(
    written: Path, monkeypatch: pytest.MonkeyPatch, empty: str
) -> None:
    key = written.with_name("key")
    key.write_text(empty)
    told = verified_by_command(written, "--key-file", str(key))
    assert (told.exit_code, "the key is empty" in told.output) == (2, True)
    monkeypatch.setenv(KEY_VARIABLE, empty)
    told = verified_by_command(written)
    assert (told.exit_code, f"{KEY_VARIABLE} is set and empty" in told.output) == (2, True)


def test_the_command_certifies_built_in_stages_and_verifies(tmp_path: Path) -> None:
    path = tmp_path / "damper.json"
    run = CliRunner()
    words = ["certify", "dovetail", "--stage", "passive_force:damper", "--backend", "numpy", "--quick"]
    done = run.invoke(main, [*words, "--output", str(path)])
    assert done.exit_code == 0, done.output
    assert "passive_force:damper" in done.output
    assert "1 implementation, 1 ran: certified" in done.output
    checked = run.invoke(main, ["certify", "--verify", str(path)])
    assert checked.exit_code == 0
    assert "unchanged since it was written" in checked.output
    path.write_text(path.read_text().replace('"quick"', '"all"').replace("backend numpy, quick", "all"))
    assert run.invoke(main, ["certify", "--verify", str(path)]).exit_code == 1
    assert run.invoke(main, ["certify"]).exit_code == 2
