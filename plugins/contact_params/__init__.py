"""What two touching geoms' settings say about their contact. Compare mj_contactParam.

`mujoco_{numpy,lanes}.py` compute friction, solver parameters, dimension and margin by MuJoCo's rules, each of which
is a part of its own (`resolve_priority`, `combine_friction`, `mix_solver`, `combine_margin`); a rule given as a
Python function is traced into a kernel by `traced_rules_lanes.py`. Tests: `tests/stages/contact_params`,
`tests/backends/taichi/test_traced_rules.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.flex.in_lanes import ROWS

_WRITES = (
    "contact.dim contact.friction contact.solref contact.solreffriction contact.solimp contact.includemargin "
    "contact.exclude"
)
_IN_LANES = (
    "contact_list.dim contact_list.friction contact_list.solref contact_list.solreffriction contact_list.solimp "
    "contact_list.includemargin"
)


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="contact_params",
            name="mujoco",
            backend="numpy",
            target="dovetail.plugins.contact_params.mujoco_numpy:contact_params",
            default=True,
            reads="ncon contact.geom contact.flex contact.elem contact.vert contact.dist contact_candidate "
            "candidate_pair",
            writes=_WRITES,
            summary="Explicit pairs, then priorities, then the replaceable rules that combine two geoms",
        ),
        Implementation(
            stage="contact_params",
            name="mujoco",
            backend="lanes",
            target="dovetail.plugins.contact_params.mujoco_lanes:contact_params",
            default=True,
            reads="contact_list.count contact_list.pair",
            writes=_IN_LANES,
            supports=ROWS,
            summary="The same for the tile's list of contacts",
        ),
    ]


@hookimpl
def dovetail_function_versions(record: Implementation) -> Iterable[Implementation]:
    from dovetail.plugins.contact_params.traced_rules_lanes import lane_versions

    return lane_versions(record)
