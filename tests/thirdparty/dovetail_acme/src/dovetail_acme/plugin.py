"""What this package offers; dovetail finds it through the entry point and imports the rest when it is used."""

from __future__ import annotations

from collections.abc import Callable

from dovetail.plugin import FeatureGroup, Implementation, hookimpl, model_field

STICKINESS = model_field(
    "acme:stickiness",
    "nbody",
    unit="N m s/rad or N s/m",
    doc="Resistance to each degree of freedom of a body, from <molasses>.",
)

BACKENDS = ("numpy", "lanes")


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        crate(),
        spiral(),
        molasses_element(),
        solver(),
        *siblings(tripod),
        *siblings(speed),
        *siblings(drag),
    ]


@hookimpl
def dovetail_features() -> list[FeatureGroup]:
    """What our solver must know of a model, and no group of dovetail's says."""
    cones = ("pyramidal", "elliptic")
    return [FeatureGroup(name="acme_cone", members=cones, of="dovetail_acme.rules:cones")]


def siblings(make: Callable[[str], Implementation]) -> list[Implementation]:
    """The same on every backend."""
    return [make(backend) for backend in BACKENDS]


# ---- while a model is loaded


def crate() -> Implementation:
    return Implementation(
        stage="mesh_inertia",
        key="exact",
        name="acme",
        backend="numpy",
        target="dovetail_acme.crates:crate",
        summary="A mesh weighs as much as the crate it is shipped in",
    )


def spiral() -> Implementation:
    return Implementation(
        stage="flex_build",
        key="acme_spiral",
        name="acme",
        backend="numpy",
        target="dovetail_acme.springs:spiral",
        summary="A chain of points on a helix",
    )


def molasses_element() -> Implementation:
    return Implementation(
        stage="mjcf_element",
        key="molasses",
        name="acme",
        backend="numpy",
        target="dovetail_acme.molasses:read",
        model_fields=(STICKINESS,),
        summary='Stickiness of bodies: <molasses><on body="arm" stickiness="0.3"/></molasses>',
    )


# ---- in every step


def tripod(backend: str) -> Implementation:
    return Implementation(
        stage="collide_pair",
        key="plane-sphere",
        name="acme",
        backend=backend,
        target=f"dovetail_acme.tripods_{backend}:tripod",
        reads="geom_xpos geom_xmat",
        facts={"most_contacts": 3},
        summary="A sphere stands on three feet",
    )


def speed(backend: str) -> Implementation:
    return Implementation(
        stage="sensor",
        key="acme_speed",
        name="acme",
        backend=backend,
        target=f"dovetail_acme.speed_{backend}:speed",
        needed="dovetail_acme.rules:speedometers",
        reads="cvel xipos subtree_com sensordata",
        writes="sensordata",
        summary="Speed of a body's centre of mass, in user sensors named acme_speed:<body>",
    )


def drag(backend: str) -> Implementation:
    return Implementation(
        stage="passive_force",
        key="acme_drag",
        name="acme",
        backend=backend,
        target=f"dovetail_acme.drag_{backend}:drag",
        needed="dovetail_acme.rules:sticky_bodies",
        reads="qvel qfrc_passive",
        writes="qfrc_passive",
        model_fields=(STICKINESS,),
        summary="Resistance of what stands in molasses",
    )


def solver() -> Implementation:
    return Implementation(
        stage="solve_constraints",
        name="acme_patient",
        backend="lanes",
        target="dovetail_acme.patient_lanes:solve_constraints",
        reads="qacc_smooth M qLD qLDiagInv cdof contact_list.count contact_list.pair contact_list.dim "
        "contact_list.friction body_rows.kind body_rows.dim body_rows.near body_rows.far body_rows.near_wrench "
        "body_rows.far_wrench body_rows.D body_rows.offset dof_rows.coefficient dof_rows.D dof_rows.loss "
        "dof_rows.offset",
        writes="qacc qfrc_constraint body_rows.force dof_rows.force dual.force dual.known",
        supports="acme_cone.pyramidal",
        summary="Gauss-Seidel with a fixed number of sweeps, over all worlds of a tile together",
    )
