"""The rules of two versions of MuJoCo: which stage choices and loading defaults make the one or the other.

`docs/explanation/semantics.md` says how each rule was found and checked, and which changes are not here.
Tests: `tests/stages/semantics`.
"""

from __future__ import annotations

from dovetail.plugin import Semantics, hookimpl

MUJOCO_3_4 = Semantics("mujoco-3.4", "MuJoCo 3.4.0, to the last digit: the defaults of all stages")
MUJOCO_4 = Semantics(
    "mujoco-4",
    "Rules that MuJoCo changed between 3.5 and 4.0: sums of margins, gaps outside of them, several convex contacts",
    stages={"combine_margin": "sum", "contact_range": "outer_gap"},
    option={"sleep_tolerance": 1e-3},
    flags={"multiccd": True},
)


@hookimpl
def dovetail_semantics() -> list[Semantics]:
    return [MUJOCO_3_4, MUJOCO_4]
