"""Compiling the kinematic tree: poses, geom shapes, limits and inertia (`mjCBody::Compile` and its parts).

Order per body as in MuJoCo: geoms, inertia, frames, alignment of a free body with its inertia, joints, sites.
Everything ends up in body frames; angles in radians.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dovetail.contracts.enums import AutoBool, GeomType, JointType
from dovetail.mjcf.elements.body import resolve_quat
from dovetail.mjcf.elements.hfield import hfield_box, hfield_radius, set_hfield_size
from dovetail.mjcf.elements.looks import DEFAULT_ZNEAR, compile_lens
from dovetail.mjcf.elements.mesh import MESH_TYPES, mesh_box, mesh_moments, place_mesh_geom
from dovetail.mjcf.geometry import rotation
from dovetail.mjcf.geometry.inertia import combine
from dovetail.mjcf.geometry.rotation import EPS, ORIGIN
from dovetail.mjcf.model.context import Context
from dovetail.mjcf.read.kinds import Vec
from dovetail.mjcf.tree import Body, Camera, Geom, Joint, Light, Posed, Site

_ALONG_FROMTO = (GeomType.CAPSULE, GeomType.CYLINDER, GeomType.ELLIPSOID, GeomType.BOX)
_SIZES = {
    GeomType.SPHERE: 1,
    GeomType.CAPSULE: 2,
    GeomType.CYLINDER: 2,
    GeomType.ELLIPSOID: 3,
    GeomType.BOX: 3,
}
"""How many of the three size numbers each type uses."""
_CONDIMS = (1, 3, 4, 6)
_FAR = 1e10
"""mjMAXVAL: half-size of an infinite plane's bounding box."""
_MIN_MASS = 1e-15
"""mjMINVAL: a moving body must have more mass and inertia than this."""
_MAX_DOFS = 6


def compile_bodies(context: Context) -> None:
    """Compile every body with its joints, geoms and sites, parents first."""
    for body in context.bodies:
        _set_weld(body)
        _compile_body(context, body)
    _check_moving_masses(context)


def _set_weld(body: Body) -> None:
    if body.parent is not None:
        body.weldid = body.id if body.joints else body.parent.weldid


def _compile_body(context: Context, body: Body) -> None:
    body.user = context.padded_user(body, "nuser_body", body.user)
    body.quat = resolve_quat(context, body)
    for geom in body.geoms:
        _compile_geom(context, body, geom)
    _set_inertia(context, body)
    if body.frame:
        body.pos, body.quat = _in_frame(body)
    align = _inverse_inertial_frame(context, body)
    for geom in body.geoms:
        _align(geom, align)
    for joint in body.joints:
        _compile_joint(context, joint)
    _check_joints(body)
    for site in body.sites:
        _compile_site(context, site)
        _align(site, align)
    for camera in body.cameras:
        _compile_camera(context, camera)
        _align(camera, align)
    for light in body.lights:
        _compile_light(light, align)


def _in_frame(item: Posed) -> tuple[Vec, Vec]:
    assert item.frame is not None
    return rotation.accumulate(item.frame.pos, item.frame.quat, item.pos, item.quat)


# geoms and sites


def _compile_geom(context: Context, body: Body, geom: Geom) -> None:
    _check_geom(body, geom)
    _set_pose_and_size(context, geom)
    if geom.mesh:
        place_mesh_geom(context, geom)
    elif geom.hfield:
        set_hfield_size(context, geom)
    _check_size(geom)
    geom.aabb = _bounding_box(context, geom)
    geom.rbound = _bounding_radius(context, geom)
    if _infers_inertia(context, body, geom):
        _set_geom_inertia(context, geom)
    if geom.frame:
        geom.pos, geom.quat = _in_frame(geom)
    geom.user = context.padded_user(geom, "nuser_geom", geom.user)


def _check_geom(body: Body, geom: Geom) -> None:
    node = geom.place
    if (geom.type == GeomType.HFIELD) != bool(geom.hfield):
        raise node.error(
            'type="hfield" and hfield="…" belong together; write both, or none',
            "hfield" if geom.hfield else "type",
        )
    if geom.type in MESH_TYPES and not geom.mesh:
        raise node.error(f'a geom of type {GeomType(geom.type).keyword} needs a mesh; add mesh="…"', "type")
    if geom.condim not in _CONDIMS:
        raise node.error(f"condim {geom.condim} does not exist; it is 1, 3, 4 or 6", "condim")
    if geom.type == GeomType.PLANE and body.weldid != 0:
        raise node.error("a plane can only stand in a body that cannot move", "type")


def _set_pose_and_size(context: Context, item: Geom | Site) -> None:
    """Pose from pos and orientation, or pose and length from fromto, which a NaN at its start says is not there."""
    if item.fromto is not None and math.isnan(item.fromto[0]):
        item.fromto = None
    if item.fromto is None:
        item.quat = resolve_quat(context, item)
        return
    node = item.place
    if item.type not in _ALONG_FROMTO:
        raise node.error("fromto is for capsule, cylinder, ellipsoid and box", "fromto")
    if any(item.pos):
        raise node.error("pos and fromto both give the position; write one", "fromto")
    start, end = item.fromto[:3], item.fromto[3:]
    direction = rotation.subtract(start, end)
    half = rotation.norm(direction) / 2
    if rotation.too_short(direction):
        raise node.error("the two points of fromto coincide; move them apart", "fromto")
    across = (
        (item.size[0], item.size[0]) if item.type in (GeomType.ELLIPSOID, GeomType.BOX) else item.size[:1]
    )
    item.size = (*across, half, *item.size[len(across) + 1 :])
    item.pos = rotation.scaled(rotation.add(start, end), 0.5)
    item.quat = rotation.from_z_axis(rotation.normalized(direction))


def _check_size(item: Geom | Site) -> None:
    node = item.place
    if isinstance(item, Geom) and any(map(math.isnan, item.size)):
        raise node.error("a size is nan; write numbers", "size")
    if item.type == GeomType.PLANE:
        if item.size[2] <= 0:
            raise node.error(
                "a plane needs three sizes: half-width, half-height (0: infinite), grid spacing > 0"
            )
        return
    needed = _SIZES.get(GeomType(item.type), 0)
    if needed and min(item.size[:needed]) <= 0:
        word = GeomType(item.type).keyword
        raise node.error(f"a {word} needs {needed} positive size number{'s' * (needed > 1)}", "size")


def _bounding_box(context: Context, geom: Geom) -> Vec:
    """Centre and half-sizes of the axis-aligned box in the geom's frame."""
    a, b, c = geom.size
    if geom.type in MESH_TYPES:
        return mesh_box(context.objects["mesh"][geom.dataid])
    if geom.type == GeomType.HFIELD:
        return hfield_box(context.objects["hfield"][geom.dataid])
    if geom.type == GeomType.PLANE:
        return (0.0, 0.0, -_FAR / 2, _FAR, _FAR, _FAR / 2)
    halves = {
        GeomType.SPHERE: (a, a, a),
        GeomType.CAPSULE: (a, a, a + b),
        GeomType.CYLINDER: (a, a, b),
    }
    return ORIGIN + halves.get(GeomType(geom.type), (a, b, c))


def _bounding_radius(context: Context, geom: Geom) -> float:
    if geom.type == GeomType.HFIELD:
        return hfield_radius(context.objects["hfield"][geom.dataid])
    return _BOUNDING_RADIUS[GeomType(geom.type)](geom.size)


_BOUNDING_RADIUS: dict[GeomType, Callable[[Vec], float]] = {
    GeomType.PLANE: lambda size: 0.0,
    GeomType.SPHERE: lambda size: size[0],
    GeomType.CAPSULE: lambda size: size[0] + size[1],
    GeomType.CYLINDER: lambda size: math.hypot(size[0], size[1]),
    GeomType.ELLIPSOID: max,
    GeomType.BOX: rotation.norm,
    GeomType.MESH: rotation.norm,
    GeomType.SDF: rotation.norm,
}


def _infers_inertia(context: Context, body: Body, geom: Geom) -> bool:
    """Whether this geom's mass counts towards its body."""
    settings = context.compiler_of(body.node)
    low, high = settings.inertiagrouprange
    overrides = settings.inertiafromgeom == AutoBool.TRUE
    return body.id > 0 and (not body.explicit_inertial or overrides) and low <= geom.group <= high


def _set_geom_inertia(context: Context, geom: Geom) -> None:
    measure, moments = _integrated(context, geom)
    density = geom.density
    if geom.mass is not None:
        density = geom.mass / measure if measure > EPS else 0.0
    if density < 0:
        attribute = "density" if geom.mass is None else "mass"
        raise geom.place.error(f"{attribute} cannot be negative", attribute)
    if density:
        geom.computed_mass = density * measure if geom.mass is None else geom.mass
        geom.inertia = tuple(float(density * moment) for moment in moments)
        if geom.type in MESH_TYPES:
            geom.inertia = mesh_moments(context.objects["mesh"][geom.dataid], geom.computed_mass)


def _integrated(context: Context, geom: Geom) -> tuple[float, np.ndarray]:
    """Volume or area of a geom, and its principal moments for unit density."""
    if geom.type in MESH_TYPES:
        mesh = context.objects["mesh"][geom.dataid]
        return mesh.measure, np.array(mesh.moments)
    kind = GeomType.BOX if geom.type == GeomType.HFIELD else GeomType(geom.type)
    row = context.geom_inertia[kind.keyword]
    try:
        return row(np.array(geom.size), geom.shellinertia)
    except OverflowError:
        return math.inf, np.full(3, math.inf)  # as where MuJoCo's numbers overflow


def _compile_site(context: Context, site: Site) -> None:
    node = site.place
    if site.type not in _SIZES and site.type != GeomType.SDF:
        raise node.error(f"a site cannot be a {GeomType(site.type).keyword}; use a primitive shape", "type")
    written = site.quat
    _set_pose_and_size(context, site)
    _check_size(site)
    _put_in_frame(site, written if site.fromto is None else site.quat)
    site.user = context.padded_user(site, "nuser_site", site.user)


def _put_in_frame(item: Site | Camera, written: Vec) -> None:
    """A quaternion is, as in MuJoCo, made a unit one after the frame has turned it; `written` is the one before."""
    if item.frame:
        item.quat = item.quat if item.alt else written
        item.pos, quat = _in_frame(item)
        item.quat = rotation.normalized(quat)


def _compile_camera(context: Context, camera: Camera) -> None:
    written = camera.quat
    camera.quat = resolve_quat(context, camera)
    _put_in_frame(camera, written)
    compile_lens(camera, context.visual.get("map", {}).get("znear", DEFAULT_ZNEAR))
    camera.user = context.padded_user(camera, "nuser_cam", camera.user)


def _compile_light(light: Light, align: rotation.Pose | None) -> None:
    frame = (light.frame.pos, light.frame.quat) if light.frame else None
    for pose in (frame, align):
        if pose:
            light.pos, light.dir = rotation.point(pose, light.pos), rotation.rotate_any(pose[1], light.dir)
    if rotation.too_short(light.dir):
        raise light.place.error("the direction has no length; write e.g. 0 0 -1", "dir")
    light.dir = rotation.normalized(light.dir)


# inertia


def _set_inertia(context: Context, body: Body) -> None:
    """Inertia from geoms where it applies, then bounds and the triangle inequality."""
    settings = context.compiler_of(body.node)
    from_geoms = settings.inertiafromgeom == AutoBool.TRUE or (
        settings.inertiafromgeom == AutoBool.AUTO and not body.explicit_inertial
    )
    if body.id > 0 and from_geoms and any(geom.computed_mass > EPS for geom in body.geoms):
        body.mass, body.ipos, body.inertia, body.iquat = combine(body.geoms)
    if body.ipos is None:
        # no mass anywhere: MuJoCo copies the body's pose, which is harmless as nothing weighs there
        body.ipos, body.iquat = body.pos, body.quat
    if body.id > 0:
        _bound_inertia(context, body)


def _bound_inertia(context: Context, body: Body) -> None:
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
        if body.mass >= _MIN_MASS and all(moment >= _MIN_MASS for moment in body.inertia):
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
    factor = max(_MIN_MASS, wanted / max(_MIN_MASS, total))
    for body in context.bodies[1:]:
        body.mass *= factor
        body.inertia = rotation.scaled(body.inertia, factor)


def _inverse_inertial_frame(context: Context, body: Body) -> tuple[Vec, Vec] | None:
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


def _align(item: Posed, back: tuple[Vec, Vec] | None) -> None:
    if back:
        item.pos, item.quat = rotation.accumulate(*back, item.pos, item.quat)


# joints


def _compile_joint(context: Context, joint: Joint) -> None:
    node = joint.place
    joint.user = context.padded_user(joint, "nuser_jnt", joint.user)
    if any(joint.springdamper) and min(joint.springdamper) <= 0:
        raise node.error("springdamper needs two positive numbers: time constant, ratio", "springdamper")
    _set_joint_range(context, joint)
    _set_joint_force_range(context, joint)
    _set_joint_frame(joint)
    if joint.type == JointType.HINGE and context.compiler_of(joint.node).degrees:
        joint.ref, joint.springref = math.radians(joint.ref), math.radians(joint.springref)


def _set_joint_range(context: Context, joint: Joint) -> None:
    node, (low, high) = joint.place, joint.range
    limited = joint.type != JointType.FREE and context.resolve_limited(joint, "", joint.limited, joint.range)
    if limited and joint.type == JointType.BALL and low:
        raise node.error("a ball joint's range is the largest angle: it must start at 0", "range")
    if limited and joint.type != JointType.BALL and low >= high:
        raise node.error(f"range must increase, it is {low:g} {high:g}", "range")
    degrees = context.compiler_of(joint.node).degrees
    if limited and degrees and joint.type in (JointType.HINGE, JointType.BALL):
        joint.range = (math.radians(low), math.radians(high))
    joint.limited = int(limited)


def _set_joint_force_range(context: Context, joint: Joint) -> None:
    if joint.type in (JointType.FREE, JointType.BALL):
        joint.actuatorfrclimited = AutoBool.FALSE
        return
    low, high = limits = joint.actuatorfrcrange
    limited = context.resolve_limited(joint, "actuatorfrc", joint.actuatorfrclimited, limits)
    if limited and low >= high:
        raise joint.place.error(f"range must increase, it is {low:g} {high:g}", "actuatorfrcrange")
    joint.actuatorfrclimited = int(limited)


def _set_joint_frame(joint: Joint) -> None:
    """Anchor and unit axis in the body frame; free and ball joints have fixed ones."""
    if joint.type in (JointType.FREE, JointType.BALL):
        joint.axis = (0.0, 0.0, 1.0)
    elif joint.frame:
        joint.axis = rotation.rotate_any(joint.frame.quat, joint.axis)
    if rotation.too_short(joint.axis):
        raise joint.place.error("the axis has no direction; give it a length", "axis")
    joint.axis = rotation.normalized(joint.axis)
    if joint.type == JointType.FREE:
        joint.pos = ORIGIN
    elif joint.frame:
        joint.pos, _ = rotation.accumulate(joint.frame.pos, joint.frame.quat, joint.pos, rotation.IDENTITY)


def _check_joints(body: Body) -> None:
    """Which joints may stand together in one body."""
    types = [joint.type for joint in body.joints]
    if JointType.FREE in types:
        free = body.joints[types.index(JointType.FREE)]
        if len(types) > 1:
            raise free.place.error("a free joint must be the only joint of its body")
        if body.parent is not None and body.parent.id > 0:
            raise free.place.error("a free joint is only possible in a child of the world")
    if body.dofnum > _MAX_DOFS:
        raise body.joints[-1].place.error(f"a body can have at most {_MAX_DOFS} degrees of freedom")
    for index, joint in enumerate(body.joints):
        if joint.type in (JointType.BALL, JointType.HINGE) and JointType.BALL in types[:index]:
            raise joint.place.error("a rotation cannot follow a ball joint in the same body")
    if body.mocap and (types or body.parent is None or body.parent.id > 0):
        raise body.place.error("a mocap body must be a fixed child of the world", "mocap")


def number_mocap(bodies: list[Body]) -> int:
    """Number the mocap bodies; returns how many there are."""
    count = 0
    for body in bodies:
        body.mocapid = count if body.mocap else -1
        count += body.mocap
    return count
