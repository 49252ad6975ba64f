"""What this package offers; dovetail finds it through the entry point and imports the rest when it is chosen."""

from __future__ import annotations

from dovetail.plugin import Implementation, data_field, hookimpl

FORCE = data_field("windmill:force", "nbody", 3, unit="N", doc="Drag on each body, world axes.")


def wind(backend: str, **more: object) -> Implementation:
    return Implementation(
        stage="passive_force",
        key="wind",
        name="quadratic",
        backend=backend,
        target=f"dovetail_windmill.wind_{backend}:wind",
        summary="Quadratic drag of bodies against opt.wind",
        reads="xipos cvel cdof subtree_com qfrc_passive",
        **more,  # type: ignore[arg-type]
    )


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        wind("numpy", writes="qfrc_passive windmill:force", fields=(FORCE,)),
        wind("lanes", writes="qfrc_passive"),
        Implementation(
            stage="bias_force",
            name="projection",
            backend="numpy",
            target="dovetail_windmill.projection_numpy:bias_force",
            summary="Newton-Euler equations of every body, projected on the dofs that move it",
            reads="qvel cvel cdof cdof_dot xipos ximat subtree_com",
            writes="qfrc_bias",
        ),
    ]
