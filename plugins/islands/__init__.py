"""Groups of trees that constraints tie together."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="islands",
            name="components",
            backend="numpy",
            target="dovetail.plugins.islands.components_numpy:islands",
            default=True,
            summary="Connected components of trees joined by constraint rows; arrays sorted by island",
        ),
        Implementation(
            stage="islands",
            name="components",
            backend="lanes",
            target="dovetail.plugins.islands.components_lanes:islands",
            default=True,
            reads="body_rows.D body_rows.dim body_rows.kind dof_rows.D dof_rows.coefficient contact_list.count "
            "contact_list.dim",
            writes="row_counts.by_kind",
            summary="None are written: the solvers find which trees their rows tie together",
        ),
    ]
