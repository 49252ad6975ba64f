"""dovetail gives the values of MuJoCo 3.4.0 on the whole collection, which uses every stage and implementation.

MuJoCo itself is not needed. A fault in a reference file, as small as 1e-6, is found.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE)]

import references  # noqa: E402
import report  # noqa: E402
from collection import RULES  # noqa: E402
from lane_backend import LANES, lanes_missing  # noqa: E402

from dovetail.compare.errors import FLOOR, Worst  # noqa: E402
from dovetail.registry import default_registry  # noqa: E402

FILES = references.files()
BY_NAME = {path.stem: path for path in FILES}
IDS = [path.stem for path in FILES]
MUTATION = 1e-6
QUICK = ("sticky", "implicit", "flex_gmsh_line")
"""Of these every array is changed; of all files in the slow suite."""
NOT_IN_CONTACT = {"collide_pair:hfield-sdf"}
"""MuJoCo 3.4 finds no contacts there; the pair is in the model sdf_pairs, and neither do we."""

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_references_are_whole_and_of_the_right_version(path: Path) -> None:
    reference = references.Reference.read(path)
    assert reference.version == "3.4.0"
    assert references.digest(reference.text, reference.arrays) == reference.digest


@pytest.mark.slow_cases("sdf_shapes")
@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_every_field_has_the_stored_values(path: Path) -> None:
    most = references.LOOSER.get(path.stem, 0.0)
    rows = report.rows(path)
    assert len(rows) > 100
    assert [str(row) for row in rows if not row.ok and row.error > most] == []


@pytest.mark.parametrize("name", RULES)
def test_other_rules_give_the_stored_values_where_they_must(name: str) -> None:
    """All but nA, the size of a matrix that only some solvers make."""
    choices = dict(RULES[name])
    run = references.Run.of(references.Reference.read(BY_NAME[choices.pop("model")]), choices)
    (slot, choice) = next(iter(choices.items()))
    assert any(used == slot and label == f"{choice}@numpy" for used, label in run.used())
    assert [failure for failure in run.failures() if " nA:" not in failure] == []


def covered() -> set[tuple[str, str]]:
    """Slots and implementations that some model uses: rows of contacts only where there is one."""
    found: set[tuple[str, str]] = {("derivative", "analytic@numpy")} if _has_derivative() else set()
    for path in FILES:
        run = report.run(path)
        touching = set(references.contact_keys(run.model, run.reference.section("forward"))) | NOT_IN_CONTACT
        found |= {
            (slot, label)
            for slot, label in run.used()
            if not slot.startswith(("collide_pair:", "collide_flex:")) or slot in touching
        }
    for rule in RULES.values():
        found |= {(slot, f"{choice}@numpy") for slot, choice in rule.items() if slot != "model"}
    return found


def _has_derivative() -> bool:
    return any(f"forward/{references.DERIVATIVE}" in report.run(path).reference.arrays for path in FILES)


def uncovered(found: set[tuple[str, str]]) -> list[tuple[str, str]]:
    own = [r for r in default_registry().implementations if r.backend == "numpy" and r.provider == "dovetail"]
    return sorted({(r.slot, r.label) for r in own} - found)


def test_every_implementation_is_compared_on_some_model() -> None:
    found = covered()
    assert uncovered(found) == []
    assert uncovered(found - {("tendon", "paths@numpy")}) == [("tendon", "paths@numpy")]


def changed(value: Any) -> Any:
    """One number of an array, changed by 1e-6 of the largest; a whole number by one."""
    result = np.array(value)
    largest = int(np.argmax(np.abs(np.nan_to_num(result))))
    if result.dtype.kind == "f":
        result.reshape(-1)[largest] += MUTATION * max(float(np.nanmax(np.abs(result))), FLOOR)
    else:
        result.reshape(-1)[largest] += 1
    return result


def unnoticed(path: Path) -> list[str]:
    """Arrays of a file whose change nothing notices."""
    run = report.run(path)
    whole = run.reference.arrays
    state = {name: value for name, value in whole.items() if name.startswith("state/")}
    missed = []
    for name, value in whole.items():
        if not np.isfinite(np.asarray(value, float)).any():
            continue
        altered = attrs.evolve(run.reference, arrays={**state, name: changed(value)})
        if name in state:
            noticed = references.digest(altered.text, altered.arrays) != altered.digest
        else:
            noticed = _fails(attrs.evolve(run, reference=altered), name.partition("/")[0])
        if not noticed:
            missed.append(name)
    return missed


def _fails(run: references.Run, section: str) -> bool:
    """Whether the comparison with the one array that a reference has in a section fails."""
    worst = Worst(run.model)
    {
        "model": run.compare_model,
        "sampled": run.compare_model,
        "forward": run.compare_forward,
        "step": run.compare_steps,
        "after": run.compare_steps,
    }[section](worst)
    most = references.LOOSER.get(run.reference.name, 0.0)
    return any(not row.ok and row.error > most for row in worst.sorted_rows())


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem, marks=() if p.stem in QUICK else pytest.mark.slow) for p in FILES]
)
def test_a_small_change_of_any_array_is_noticed(path: Path) -> None:
    assert unnoticed(path) == []


def test_the_page_is_current() -> None:
    """Errors are those that the page states, but for rounding on other machines."""
    stated = report.stated()
    now = {(x.stage, x.field): x for x in report.lines()}
    assert stated.keys() == now.keys(), "run: python tests/conformance/golden/report.py"
    for key, line in now.items():
        error, models = stated[key]
        assert line.models == models, key
        assert line.error <= max(10 * error, line.tolerance, 1e-8), key


@pytest.mark.slow
@pytest.mark.skipif(bool(lanes_missing()), reason=f"the lane backend needs {lanes_missing()}")
@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_lanes_give_the_stored_values(path: Path) -> None:
    """Wherever a stage has an implementation in lanes it takes part; the steps are compared."""
    run = references.Run.of(references.Reference.read(path), backend=LANES)
    worst = Worst(run.model)
    run.compare_steps(worst)
    failed = [str(row) for row in worst.sorted_rows() if row.slot == "steps" and row.error > 2e-6]
    assert failed == []
