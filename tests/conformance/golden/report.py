"""Writes docs/reference/conformance.md: how far dovetail's numbers are from MuJoCo 3.4.0's, by stage and field.

    python tests/conformance/golden/report.py

It reads the reference files and needs no MuJoCo.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import attrs

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE)]

import references  # noqa: E402

from dovetail.compare.conform import IGNORED_FIELDS, UNCOMPARED  # noqa: E402
from dovetail.compare.errors import FieldError  # noqa: E402

PAGE = HERE.parents[2] / "docs" / "reference" / "conformance.md"

HEAD = """# Conformance

How far dovetail's numbers are from those of MuJoCo 3.4.0, by stage and field: the largest error over the {models}
models of the conformance collection (`tests/conformance/golden/collection.py`), on the NumPy reference. The error of
a field is relative to the largest number in it, or to 0.001 if that is larger; a dash means that it is exactly the
same.
`compile` stands for fields of the Model, `steps` for the state after some steps.

This page is written by `python tests/conformance/golden/report.py`, which needs no MuJoCo: the reference files were
written once by `python tests/conformance/golden/generate.py collection` with mujoco 3.4.0. A test compares the page
with what the code gives.

Compared: {fields} fields, {comparisons} comparisons. Outside of their tolerance: {failed}. Skipped: {skipped}.
"""


@attrs.frozen
class Line:
    """The worst of one field that one stage wrote."""

    stage: str
    field: str
    error: float
    tolerance: float
    models: int


@cache
def run(path: Path) -> references.Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return references.Run.of(references.Reference.read(path))


@cache
def rows(path: Path) -> tuple[FieldError, ...]:
    """All comparisons of one model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run(path).worst().sorted_rows()


def lines() -> list[Line]:
    """The worst of all models by stage and field."""
    found: dict[tuple[str, str], list[FieldError]] = {}
    for path in references.files():
        for row in rows(path):
            found.setdefault((row.slot, row.field), []).append(row)
    return [
        Line(stage, field, max(r.error for r in of), of[0].tolerance, len(of))
        for (stage, field), of in sorted(found.items())
    ]


def page(found: Iterable[Line]) -> str:
    found = list(found)
    failed = sum(line.error > line.tolerance for line in found)
    head = HEAD.format(
        models=len(references.files()),
        fields=len(found),
        comparisons=sum(line.models for line in found),
        failed=f"{failed} (distance fields, whose gradients are differences; up to 1e-8)" if failed else 0,
        skipped=f"{len(UNCOMPARED)} patterns of Data fields and {len(IGNORED_FIELDS)} of Model fields, listed below",
    )
    text = [head, "| stage | field | worst error | tolerance | models |", "| --- | --- | --- | --- | --- |"]
    text += [
        f"| {x.stage} | {x.field} | {f'{x.error:.0e}' if x.error else '–'} | {x.tolerance:.0e} | {x.models} |"
        for x in found
    ]
    text += ["", "## Not compared", ""]
    text += [f"- `{name}`: {why}" for name, why in UNCOMPARED.items()]
    text += [f"- `{name}` of the Model: bookkeeping of MuJoCo's" for name in IGNORED_FIELDS]
    text += [
        "- `collide_pair:hfield-sdf`: MuJoCo 3.4.0 finds no contacts there, and neither does dovetail",
        "",
    ]
    return "\n".join(text)


def stated() -> dict[tuple[str, str], tuple[float, int]]:
    """Errors and numbers of models that the page states, by stage and field."""
    found = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[4].isdigit():
            found[cells[0], cells[1]] = (0.0 if cells[2] == "–" else float(cells[2]), int(cells[4]))
    return found


if __name__ == "__main__":
    PAGE.write_text(page(lines()))
    print(f"{PAGE.name}: {len(references.files())} models")
