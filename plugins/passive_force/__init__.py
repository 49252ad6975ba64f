"""Forces that need no actuator: springs and dampers of joints and tendons, elasticity and passive contacts of flexes,
gravity compensation, the surrounding medium, cables. Compare mj_passive.

One row and one pair of files for each; they add to `qfrc_spring`, `qfrc_damper`, `qfrc_gravcomp` or `qfrc_fluid`.
Begin with `damper_joint_{numpy,lanes}.py`. Flexes have `flex_numpy.py` and beside it a file for elements, bending and
nodes each. What a medium does to a body is in `shared.fluid`, how springs pull in
`shared.springs_{numpy,lanes}`. Tests: `tests/stages/passive_force`.
"""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.flex.in_lanes import VERTICES_ON_BODIES
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    spring = siblings(
        "passive_force",
        "joint",
        key="spring",
        file="spring_joint",
        function="spring",
        default=True,
        reads="qpos qfrc_passive",
        writes="qfrc_spring qfrc_passive",
        summary="Springs of joints of all types",
    )
    damper = siblings(
        "passive_force",
        "joint",
        key="damper",
        file="damper_joint",
        function="damper",
        default=True,
        reads="qvel qfrc_passive",
        writes="qfrc_damper qfrc_passive",
        summary="Linear damping of dofs",
    )
    return [*spring, *damper, *_flexes(), *_tendons(), *_on_bodies()]


def _flexes() -> list[Implementation]:
    edges = (
        "flexedge_length flexedge_velocity flexedge_J flexedge_J_rownnz flexedge_J_rowadr flexedge_J_colind"
    )
    contacts = (
        "ncon contact.dist contact.pos contact.frame contact.geom contact.flex contact.elem contact.vert "
        "contact.exclude"
    )
    sums = "qfrc_passive qfrc_spring qfrc_damper"
    return [
        Implementation(
            stage="passive_force",
            key="flex",
            name="elements",
            backend="numpy",
            target="dovetail.plugins.passive_force.flex_numpy:flex",
            default=True,
            reads=f"{sums} qvel xpos xmat xipos ximat cvel cdof subtree_com flexvert_xpos {edges}",
            writes=sums,
            summary="Springs and dampers of flex edges, elasticity of elements and nodes, bending",
        ),
        Implementation(
            stage="passive_force",
            key="flex",
            name="elements",
            backend="lanes",
            target="dovetail.plugins.passive_force.flex_lanes:flex",
            default=True,
            reads=f"{sums} qvel cdof subtree_com flexvert_xpos {edges}",
            writes=sums,
            supports=VERTICES_ON_BODIES,
            summary="Springs and dampers of flex edges, elasticity of elements, bending",
        ),
        Implementation(
            stage="passive_force",
            key="contact",
            name="springs",
            backend="numpy",
            target="dovetail.plugins.passive_force.contact_numpy:contact",
            default=True,
            reads=f"qfrc_passive qfrc_spring cdof subtree_com flexvert_xpos {contacts}",
            writes="qfrc_passive qfrc_spring",
            summary="Contacts of passive flexes, as springs along their normals",
        ),
    ]


def _tendons() -> list[Implementation]:
    jacobian = "qfrc_passive ten_J ten_J_rownnz ten_J_rowadr ten_J_colind"
    spring = siblings(
        "passive_force",
        "tendon",
        key="tendon_spring",
        function="spring",
        default=True,
        reads=f"{jacobian} ten_length qfrc_spring",
        writes="qfrc_spring qfrc_passive",
        summary="Springs of tendons, with dead band",
    )
    damper = siblings(
        "passive_force",
        "tendon",
        key="tendon_damper",
        function="damper",
        default=True,
        reads=f"{jacobian} ten_velocity qfrc_damper",
        writes="qfrc_damper qfrc_passive",
        summary="Linear damping of tendons",
    )
    return [*spring, *damper]


def _on_bodies() -> list[Implementation]:
    applied = "qfrc_passive cdof subtree_com"
    gravcomp = siblings(
        "passive_force",
        "bodies",
        key="gravcomp",
        file="gravcomp",
        function="gravcomp",
        default=True,
        reads=f"{applied} xipos",
        writes="qfrc_gravcomp qfrc_passive",
        summary="Forces against gravity on bodies with gravcomp",
    )
    fluid = siblings(
        "passive_force",
        "shapes",
        key="fluid",
        file="fluid",
        function="fluid",
        default=True,
        reads=f"{applied} xipos ximat geom_xpos geom_xmat cvel",
        writes="qfrc_fluid qfrc_passive",
        summary="Drag and lift of a medium on bodies taken as boxes or ellipsoids",
    )
    return [
        *gravcomp,
        *fluid,
        Implementation(
            stage="passive_force",
            key="plugin",
            name="cable",
            backend="numpy",
            target="dovetail.plugins.passive_force.cable_numpy:plugin",
            default=True,
            reads=f"{applied} qpos xpos xquat",
            writes="qfrc_passive",
            summary="MuJoCo's engine plugin for cables that resist bending and twisting",
        ),
    ]
