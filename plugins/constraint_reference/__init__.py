"""Where constraint rows want to go."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="constraint_reference",
            name="spring_damper",
            backend="numpy",
            target="dovetail.plugins.constraint_reference.spring_damper_numpy:constraint_reference",
            default=True,
            reads="qvel nefc efc_J efc_J_rownnz efc_J_colind efc_pos efc_margin efc_KBIP",
            summary="Spring-damper acceleration of each row",
        ),
        Implementation(
            stage="constraint_reference",
            name="spring_damper",
            backend="lanes",
            target="dovetail.plugins.constraint_reference.spring_damper_lanes:constraint_reference",
            default=True,
            reads="qvel cvel body_rows.kind body_rows.dim body_rows.near body_rows.far body_rows.near_wrench "
            "body_rows.far_wrench body_rows.spread_wrench body_rows.D body_rows.spring body_rows.damping "
            "dof_rows.coefficient dof_rows.D "
            "dof_rows.spring dof_rows.damping contact_list.count contact_list.pair contact_list.dim",
            writes="body_rows.offset dof_rows.offset row_counts.active",
            summary="Spring-damper acceleration of each row, in lanes",
        ),
    ]
