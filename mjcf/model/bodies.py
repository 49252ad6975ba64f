"""Compiling the kinematic tree: poses, geom shapes, limits and inertia (`mjCBody::Compile` and its parts).

Order per body as in MuJoCo: geoms, inertia, frames, alignment of a free body with its inertia, joints, sites.
Everything ends up in body frames; angles in radians.
"""

from __future__ import annotations

from dovetail.contracts.enums import AutoBool, JointType
from dovetail.mjcf.elements.body import BodyItem
from dovetail.mjcf.elements.camera import compile_camera
from dovetail.mjcf.elements.geom import compile_geom
from dovetail.mjcf.elements.joint import check_joints, compile_joint
from dovetail.mjcf.elements.light import compile_light
from dovetail.mjcf.elements.poses import align, in_frame, resolve_quat
from dovetail.mjcf.elements.site import compile_site
from dovetail.mjcf.geometry import rotation
from dovetail.mjcf.geometry.inertia import combine
from dovetail.mjcf.geometry.rotation import ORIGIN, Vec
from dovetail.mjcf.model.context import Context
from dovetail.plugins.shared.constants import EPS, MINVAL


def compile_bodies(context: Context) -> None:
    """Compile every body with its joints, geoms and sites, parents first."""
    for body in context.bodies:
        _set_weld(body)
        _compile_body(context, body)
    _check_moving_masses(context)


def _set_weld(body: BodyItem) -> None:
    if body.parent is not None:
        body.weldid = body.id if body.joints else body.parent.weldid


def _compile_body(context: Context, body: BodyItem) -> None:
    body.user = context.padded_user(body, "nuser_body", body.user)
    body.quat = resolve_quat(context, body)
    for geom in body.geoms:
        compile_geom(context, body, geom)
    _set_inertia(context, body)
    if body.frame:
        body.pos, body.quat = in_frame(body)
    back = _inverse_inertial_frame(context, body)
    for geom in body.geoms:
        align(geom, back)
    for joint in body.joints:
        compile_joint(context, joint)
    check_joints(body)
    for site in body.sites:
        compile_site(context, site)
        align(site, back)
    for camera in body.cameras:
        compile_camera(context, camera)
        align(camera, back)
    for light in body.lights:
        compile_light(light, back)


def _set_inertia(context: Context, body: BodyItem) -> None:
    """Inertia from geoms where it applies, then bounds and the triangle inequality."""
    settings = context.compiler_of(body.node)
    from_geoms = settings.inertiafromgeom == AutoBool.TRUE or (
        settings.inertiafromgeom == AutoBool.AUTO and not body.explicit_inertial
    )
    if body.id > 0 and from_geoms and any(geom.computed_mass > EPS for geom in body.geoms):
        body.mass, body.ipos, body.inertia, body.iquat = combine([geom.rigid_part for geom in body.geoms])
    if body.ipos is None:
        # no mass anywhere: MuJoCo copies the body's pose, which is harmless as nothing weighs there
        body.ipos, body.iquat = body.pos, body.quat
    if body.id > 0:
        _bound_inertia(context, body)


def _bound_inertia(context: Context, body: BodyItem) -> None:
    settings, node = context.compiler_of(body.node), body.place
    body.mass = max(body.mass, settings.boundmass)
    body.inertia = tuple(max(moment, settings.boundinertia) for moment in body.inertia)
    if body.mass < 0 or min(body.inertia) < 0:
        raise node.error("mass and inertia cannot be negative")
    a, b, c = body.inertia
    if a + b < c or a + c < b or b + c < a:
        if not settings.balanceinertia:
            raise node.error(
                f"inertia {a:g} {b:g} {c:g} is impossible: no moment can exceed the sum of the others; "
                'correct it, or set balanceinertia="true"'
            )
        body.inertia = ((a + b + c) / 3,) * 3


def _check_moving_masses(context: Context) -> None:
    """A body with joints needs mass, its own or that of bodies fixed to it (`CheckBodyMassInertia`)."""
    massive = set()
    for body in reversed(context.bodies[1:]):
        if body.mass >= MINVAL and all(moment >= MINVAL for moment in body.inertia):
            massive.add(body.id)
        if body.id in massive and not body.joints:
            massive.add(body.parentid)
    for body in context.bodies[1:]:
        if body.joints and body.id not in massive:
            raise body.place.error(
                "a body that moves must have mass and inertia; add a geom with mass, or <inertial>"
            )


def scale_total_mass(context: Context) -> None:
    """settotalmass: scale all masses and inertias (`mj_setTotalmass`)."""
    wanted = context.compiler.settotalmass
    if not wanted > 0:
        return
    total = sum(body.mass for body in context.bodies[1:])
    factor = max(MINVAL, wanted / max(MINVAL, total))
    for body in context.bodies[1:]:
        body.mass *= factor
        body.inertia = rotation.scaled(body.inertia, factor)


def _inverse_inertial_frame(context: Context, body: BodyItem) -> tuple[Vec, Vec] | None:
    """For an aligned free body: move its frame onto its inertial frame, and return how contents move back."""
    if len(body.joints) != 1 or body.joints[0].type != JointType.FREE or body.has_children:
        return None
    align = body.joints[0].align
    if align == AutoBool.FALSE or (align == AutoBool.AUTO and not context.compiler_of(body.node).alignfree):
        return None
    assert body.ipos is not None
    back = rotation.inverse(body.ipos, body.iquat)
    body.pos, body.quat = rotation.accumulate(body.pos, body.quat, body.ipos, body.iquat)
    body.ipos, body.iquat = ORIGIN, rotation.IDENTITY
    return back


# joints


def number_mocap(bodies: list[BodyItem]) -> int:
    """Number the mocap bodies; returns how many there are."""
    count = 0
    for body in bodies:
        body.mocapid = count if body.mocap else -1
        count += body.mocap
    return count
