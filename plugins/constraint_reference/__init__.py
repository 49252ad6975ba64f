"""Where constraint rows want to go."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import LANE_CHAIN


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="constraint_reference",
            name="standard",
            backend="numpy",
            target="dovetail.plugins.constraint_reference.standard_numpy:constraint_reference",
            default=True,
            reads="qvel nefc efc_J efc_J_rownnz efc_J_colind efc_pos efc_margin efc_KBIP",
            summary="Spring-damper acceleration of each row",
        ),
        Implementation(
            stage="constraint_reference",
            name="standard",
            backend="taichi",
            target="dovetail.plugins.constraint_reference.standard_taichi:constraint_reference",
            default=True,
            chain=LANE_CHAIN,
            reads="qvel cvel",
            writes="",
            summary="Spring-damper acceleration of each row, in lanes",
        ),
    ]
