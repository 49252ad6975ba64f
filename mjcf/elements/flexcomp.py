"""`<flexcomp>`: a deformable object that is generated, with the bodies that move it.

It becomes one flex and, unless it is rigid, one body with sliders for every point that is not pinned (or
for every node that interpolates the points). Points and elements come from the compile-time stage
`flex_build`. As in MuJoCo, a `<frame>` around a flexcomp does not move it. See `mjCFlexcomp::Make`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs
import numpy as np

from dovetail import limits
from dovetail.contracts.enums import EqType, GeomType, JointType
from dovetail.contracts.flexcomp import FlexRecipe, FlexShape
from dovetail.errors import nearest
from dovetail.mjcf.compose.namespace import ATTACHED_FLEX, LOST_WORLD
from dovetail.mjcf.elements.body import BodyItem
from dovetail.mjcf.elements.equality import EqualityItem, apply_equality
from dovetail.mjcf.elements.flex import MAX_BODIES_AND_FLEXES, SHARED, FlexItem, read_children, rows
from dovetail.mjcf.elements.geom import GeomItem
from dovetail.mjcf.elements.items import ORIENTATIONS, overlay
from dovetail.mjcf.elements.joint import JointItem
from dovetail.mjcf.elements.plugins import PluginUser
from dovetail.mjcf.elements.poses import PosedItem, Scope, check_single_orientation, resolve_quat
from dovetail.mjcf.geometry.flex_topology import Ints, Reals
from dovetail.mjcf.geometry.rotation import ORIGIN, Pose, Vec, norm, scaled
from dovetail.mjcf.read.kinds import shorten
from dovetail.mjcf.read.source import Node
from dovetail.plugins.shared.constants import EPS, MINVAL

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context
    from dovetail.mjcf.model.defaults import DefaultClass

MAX_POINTS = limits.FLEX_POINTS
"""Most points that a flexcomp may generate."""
_FROM_FILE = ("mesh", "gmsh")
_LISTED = ("direct", *_FROM_FILE)
"""Types whose points come from lists: only these are scaled, and lose the points that no element uses."""
_FLAT_SHADED = ("box", "cylinder")
_INTERPOLATED = {"trilinear": 1, "quadratic": 2}
"""Kinds of dofs that move points by nodes, and the degree of interpolation."""
_SIMPSON = (1 / 6, 2 / 3, 1 / 6)
"""How mass is shared along an axis between three nodes."""
_VERTEX_GROUP = 4
"""Group of the spheres that vertcollide adds to points."""


@attrs.define(eq=False, kw_only=True)
class Flexcomp:
    """A flexcomp while it is made; field names are MJCF's attribute names."""

    node: Node
    body: BodyItem
    bodyclass: DefaultClass
    pose: Pose
    flex: FlexItem
    type: str = "grid"
    count: tuple[int, int, int] = (10, 10, 10)
    spacing: Vec = (0.02, 0.02, 0.02)
    scale: Vec = (1.0, 1.0, 1.0)
    origin: Vec | None = None
    mass: float = 1.0
    inertiabox: float = 0.005
    rigid: bool = False
    dof: str = "full"
    equality: bool = False

    @property
    def order(self) -> int:
        """Degree of interpolation between nodes; 0: points move by themselves."""
        return _INTERPOLATED.get(self.dof, 0)


_OWN = ("type", "count", "spacing", "scale", "origin", "mass", "inertiabox", "rigid", "dof")


def read_flexcomp(context: Context, node: Node, scope: Scope) -> None:
    """Read a `<flexcomp>` where it stands in the tree."""
    check_single_orientation(node)
    posed = PosedItem(node=node)
    overlay(
        posed, {name: node.values[name] for name in ("pos", "quat", *ORIENTATIONS) if name in node.values}
    )
    # as in MuJoCo, a quaternion is not normalised here: one that is longer than 1 enlarges the flex
    quat = node.values["quat"] if "quat" in node.values else resolve_quat(context, posed)
    pose = posed.pos, quat
    own = context.defaults.main(node.model)
    _make(context, node, scope.body, scope.bodyclass or own, pose)


def _make(context: Context, node: Node, body: BodyItem, bodyclass: DefaultClass, pose: Pose) -> None:
    """Read a `<flexcomp>` and add what it stands for: a flex, bodies, joints, perhaps an equality."""
    comp = _read(node, body, bodyclass, pose)
    _check(context, comp)
    shape = _shape(context, comp)
    flex = comp.flex
    flex.dim = shape.dim
    flex.flatskin |= comp.type in _FLAT_SHADED or (comp.type == "grid" and shape.dim == 3)
    _check_pins(comp)
    _check_shape(comp, shape)
    point = _posed(comp, shape.point)
    box = point.min(axis=0), point.max(axis=0)
    pinned = _pinned(comp, len(point))
    used = _used(comp, shape)
    flex.element = (np.cumsum(used) - 1)[shape.element]
    flex.elemtexcoord, flex.texcoord = shape.elemtexcoord, shape.texcoord
    if pinned.all():
        flex.vertbody, flex.vertex = [body], point
        _add_flex(context, comp)
        _check_world(comp)
        _use_plugin(context, comp, [])
        return
    _check_size(context, comp, used & ~pinned)
    _add_flex(context, comp)
    if comp.order:
        flex.vertbody, flex.vertex = [body] * len(point), point
        _add_nodes(context, comp, box, pinned)
    else:
        _add_points(context, comp, point, pinned, used)
    _use_plugin(context, comp, [*flex.vertbody, *flex.nodebody] if not comp.order else [body])
    _check_world(comp)
    if comp.equality and ATTACHED_FLEX not in node.values:
        _add_equality(context, comp)  # like MuJoCo 3.4, attaching a flexcomp leaves its equality behind


def _check_world(comp: Flexcomp) -> None:
    """The world of an attached model does not come along, so nothing can be fixed to it."""
    if LOST_WORLD in comp.node.values and comp.body in (*comp.flex.vertbody, *comp.flex.nodebody):
        raise comp.node.error(
            "is fixed to the world of its model, which is not attached; put the flexcomp in a body"
        )


def _add_flex(context: Context, comp: Flexcomp) -> None:
    """Add the flex; in an attached model, the names of its bodies get a prefix, but its own does not."""
    values = comp.node.values
    context.add_named("flex", comp.flex, values.get(ATTACHED_FLEX, values["name"]))


def _read(node: Node, body: BodyItem, bodyclass: DefaultClass, pose: Pose) -> Flexcomp:
    flex = FlexItem(node=node)
    overlay(flex, {name: node.values[name] for name in SHARED if name in node.values})
    read_children(flex, node)
    comp = Flexcomp(node=node, body=body, bodyclass=bodyclass, pose=pose, flex=flex)
    for name in _OWN:
        if name in node.values:
            setattr(comp, name, node.values[name])
    comp.equality = any(child.values.get("equality", False) for child in node.children)
    return comp


def _check(context: Context, comp: Flexcomp) -> None:
    """What can be said before any point exists."""
    node, flex = comp.node, comp.flex
    if not comp.body.name and LOST_WORLD not in node.values:
        raise node.error("the body around a flexcomp needs a name; add name=… to it")
    if not 1 <= flex.dim <= 3:
        raise node.error(f"dim must be 1, 2 or 3, it is {flex.dim}", "dim")
    if comp.type not in context.tables.flex_build:
        known = ", ".join(context.tables.flex_build)
        hint = nearest(comp.type, context.tables.flex_build)
        raise node.error(f"{shorten(comp.type)!r} is not a type{hint}; choose from {known}", "type")
    least = 2 if comp.dof == "radial" and flex.dim == 3 else 1
    if min(comp.count) < least:
        raise node.error(f"count must be at least {least} along each axis", "count")
    gap = 2 * flex.radius + flex.margin
    if comp.type not in _LISTED and min(comp.spacing) < gap:
        raise node.error(
            f"spacing must be at least 2·radius + margin = {gap:g}, so that points keep apart", "spacing"
        )
    for name, values in (("scale", comp.scale), ("mass", (comp.mass,)), ("inertiabox", (comp.inertiabox,))):
        if min(values) < MINVAL:
            raise node.error(f"{name} must be positive", name)
    if flex.elastic2d in ("stretch", "both") and comp.equality:
        raise node.error(
            f'elastic2d="{flex.elastic2d}" and equality="true" both hold the edges; remove one of them'
        )
    if comp.type == "mesh" and flex.dim == 3 and comp.origin is None:
        raise node.error("a solid made from a mesh needs an origin, where its tetrahedra meet; add origin=…")
    if comp.type in _FROM_FILE and not node.values.get("file"):
        raise node.error(f'type="{comp.type}" needs a file; add file=…')
    along = {1: 1, 2: 2, 3: 3}[flex.dim] if comp.type in ("grid", "circle") else 3
    if comp.type not in _LISTED and math.prod(comp.count[:along]) > MAX_POINTS:
        raise node.error(f"count asks for too many points; at most {MAX_POINTS} are possible", "count")


# shape


def _shape(context: Context, comp: Flexcomp) -> FlexShape:
    """Points and elements: those written, followed by those generated or read."""
    node = comp.node
    recipe = _recipe(context, comp)
    try:
        made = context.tables.flex_build[comp.type](recipe)
    except ValueError as problem:
        where = f"{recipe.filename}: " if recipe.filename else ""
        raise node.error(f"{where}{problem}", "file" if recipe.filename else "count") from None
    written = node.values.get("point", ()) if comp.type != "mesh" else ()
    if len(written) % 3:
        raise node.error(f"point has {len(written)} numbers; write 3 per point", "point")
    listed = node.values.get("element", ()) if comp.type != "mesh" else ()
    given = rows(node, "texcoord", 2)
    return FlexShape(
        dim=made.dim,
        point=np.vstack([np.array(written, np.float64).reshape(-1, 3), made.point]),
        element=np.concatenate([np.array(listed, np.int64), made.element]),
        texcoord=made.texcoord if len(made.texcoord) else given,
        elemtexcoord=made.elemtexcoord,
    )


def _recipe(context: Context, comp: Flexcomp) -> FlexRecipe:
    node, flex = comp.node, comp.flex
    x, y, z = comp.spacing
    recipe = FlexRecipe(
        type=comp.type,
        dim=flex.dim,
        count=comp.count,
        spacing=(x, y, z),
        origin=comp.origin,
        textured=bool(flex.material) and "texcoord" not in node.values,
    )
    if comp.type not in _FROM_FILE:
        return recipe
    name = node.values["file"]
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    if comp.type == "mesh" and suffix == ".msh":
        raise node.error("a flexcomp cannot read MuJoCo's .msh files; use STL or OBJ", "file")
    if comp.type == "mesh" and suffix not in context.tables.load_mesh:
        known = ", ".join(sorted(context.tables.load_mesh))
        raise node.error(f"unknown kind of mesh file {shorten(suffix)!r}; known suffixes: {known}", "file")
    content, filename = context.read_asset(node, "file", name, context.compiler_of(node).meshdir)
    reader = context.tables.load_mesh.get(suffix)
    return attrs.evolve(recipe, content=content, filename=filename, load_mesh=reader)


def _check_shape(comp: Flexcomp, shape: FlexShape) -> None:
    node, count = comp.node, len(shape.point)
    if not count or not len(shape.element):
        raise node.error("there are no points or no elements; write point and element", "element")
    if len(shape.element) % (shape.dim + 1):
        raise node.error(
            f"element has {len(shape.element)} numbers; with dim {shape.dim} write {shape.dim + 1} per element",
            "element",
        )
    strange = np.flatnonzero((shape.element < 0) | (shape.element >= count))
    if len(strange):
        raise node.error(
            f"element number {strange[0]} is point {shape.element[strange[0]]}, "
            f"but there are {count} points, counted from 0",
            "element",
        )
    if not np.isfinite(shape.point).all():
        raise node.error("some points are not finite numbers; repair the file", "file")


def _posed(comp: Flexcomp, point: Reals) -> Reals:
    """Points in the frame of the body around the flexcomp."""
    if comp.type in _LISTED:
        point = point * comp.scale
    pos, quat = comp.pose
    axis = np.array(quat[1:])
    return point + 2 * np.cross(axis, quat[0] * point + np.cross(axis, point)) + pos


def _used(comp: Flexcomp, shape: FlexShape) -> Ints:
    """Which points count: of listed ones, those that elements use.

    Elements number these only, although a rigid or interpolated flex keeps all points, as in MuJoCo 3.4.
    """
    used = np.full(len(shape.point), comp.type not in _LISTED)
    used[shape.element] = True
    return used


# pins


def _written(comp: Flexcomp, attribute: str) -> list[int]:
    return [n for child in comp.node.children if child.tag == "pin" for n in child.values.get(attribute, ())]


def _check_pins(comp: Flexcomp) -> None:
    node, dim = comp.node, comp.flex.dim
    for attribute, width in (("range", 2), ("grid", dim), ("gridrange", 2 * dim)):
        if len(_written(comp, attribute)) % width:
            raise node.error(f"{attribute} of <pin> must have {width} numbers per entry")
    if _written(comp, "grid") or _written(comp, "gridrange"):
        if comp.type != "grid":
            raise node.error(f'grid and gridrange of <pin> are for type="grid", this is a {comp.type}')
        if dim == 1:
            raise node.error("grid and gridrange of <pin> are for dim 2 and 3; use id or range")


def _pinned(comp: Flexcomp, count: int) -> Ints:
    """Which points move with the body around the flexcomp."""
    pinned = np.full(count, comp.rigid)
    if comp.rigid:
        return pinned
    _within(comp, "id", np.array(_written(comp, "id"), np.int64), np.array([count]))
    pinned[_written(comp, "id")] = True
    ranges = np.array(_written(comp, "range"), np.int64).reshape(-1, 2)
    _within(comp, "range", ranges, np.array([count]))
    for first, last in ranges.tolist():
        pinned[first : last + 1] = True
    _pin_grid(comp, pinned)
    if comp.dof == "radial":
        pinned[0] = True
    return pinned


def _within(comp: Flexcomp, attribute: str, numbers: Ints, limit: Ints) -> None:
    strange = (numbers < 0) | (numbers >= limit)
    if strange.any():
        most = " ".join(str(n - 1) for n in limit.tolist())
        raise comp.node.error(f"{attribute} of <pin> is out of range; the largest possible is {most}")


def _pin_grid(comp: Flexcomp, pinned: Ints) -> None:
    dim = comp.flex.dim
    size = np.array(comp.count[:dim])
    single = np.array(_written(comp, "grid"), np.int64).reshape(-1, dim)
    boxes = np.array(_written(comp, "gridrange"), np.int64).reshape(-1, 2, dim)
    _within(comp, "grid", single, size)
    _within(comp, "gridrange", boxes, size)
    if not len(single) and not len(boxes):
        return
    cells = pinned[: math.prod(comp.count[:dim])].reshape(comp.count[:dim])
    cells[tuple(single.T)] = True
    for first, last in boxes.tolist():
        cells[tuple(slice(a, b + 1) for a, b in zip(first, last, strict=True))] = True


# what moves


def _check_size(context: Context, comp: Flexcomp, moving: Ints) -> None:
    new = (comp.order + 1) ** 3 if comp.order else int(np.count_nonzero(moving))
    if len(context.bodies) + new >= MAX_BODIES_AND_FLEXES:
        raise comp.node.error(
            f"this makes {new} bodies, too many: there must be fewer than {MAX_BODIES_AND_FLEXES}; "
            "lower the count, pin points, or use nodes (dof)",
            "count",
        )


def _nameless(node: Node, **values: object) -> Node:
    """The flexcomp as the place of what it generates."""
    return attrs.evolve(node, children=[], values=dict(values))


def _add_points(context: Context, comp: Flexcomp, point: Reals, pinned: Ints, used: Ints) -> None:
    """A body for every free point; unused points have none, but their share of the mass is lost."""
    mass = comp.mass / len(point)
    vertbody = [comp.body] * len(point)
    for index in np.flatnonzero(used & ~pinned).tolist():
        place = tuple(point[index].tolist())
        name = f"{comp.node.values['name']}_{index}"
        axes: tuple[Vec, ...] = _AXES
        if comp.dof == "radial":
            axes = (_radial(comp, place),)
        body = _add_body(context, comp, name, place, mass, axes)
        if comp.flex.vertcollide:
            _add_sphere(comp, body).group = _VERTEX_GROUP
        vertbody[index] = body
    comp.flex.vertbody = [vertbody[index] for index in np.flatnonzero(used).tolist()]
    pinned, point = pinned[used], point[used]
    comp.flex.vertex = np.where(pinned[:, None], point, 0.0) if pinned.any() else np.zeros((0, 3))


_AXES: tuple[Vec, Vec, Vec] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def _radial(comp: Flexcomp, place: Vec) -> Vec:
    length = norm(place)
    if length < EPS:
        raise comp.node.error('with dof="radial" only point 0 may be at the origin of the body', "dof")
    return scaled(place, 1 / length)


def _add_nodes(context: Context, comp: Flexcomp, box: tuple[Reals, Reals], pinned: Ints) -> None:
    """A body for every free node at the corners (and between them) of the box around the points."""
    along = comp.order + 1
    low, high = box
    flex = comp.flex
    places = np.zeros((along**3, 3))
    for index, step in enumerate(np.ndindex(along, along, along)):
        place = low + np.array(step) * (1 / comp.order) * (high - low)
        if index < len(pinned) and pinned[index]:
            places[index] = place
            flex.nodebody.append(comp.body)
            continue
        share = math.prod(_SIMPSON[i] for i in step) if comp.order > 1 else 1 / along**3
        name = f"{comp.node.values['name']}_{step[0]}_{step[1]}_{step[2]}"
        body = _add_body(context, comp, name, tuple(place.tolist()), comp.mass * share, _AXES)
        if flex.vertcollide:
            _add_sphere(comp, body)
        flex.nodebody.append(body)
    if pinned.any():
        flex.node_place = places


def _add_body(
    context: Context, comp: Flexcomp, name: str, place: Vec, mass: float, axes: tuple[Vec, ...]
) -> BodyItem:
    """A child of the body around the flexcomp, sliding along the axes."""
    moment = mass * (2.0 * comp.inertiabox * comp.inertiabox) / 3.0
    body = BodyItem(
        node=_nameless(comp.node, name=name),
        parent=comp.body,
        pos=place,
        explicit_inertial=True,
        mass=mass,
        inertia=(moment, moment, moment),
        ipos=ORIGIN,
    )
    context.add("body", body)
    comp.body.has_children = True
    for axis in axes:
        joint = comp.bodyclass.make(JointItem)
        joint.node, joint.bodyid = _nameless(comp.node), body.id
        joint.type, joint.pos, joint.axis = JointType.SLIDE, ORIGIN, axis
        body.joints.append(joint)
    return body


def _add_sphere(comp: Flexcomp, body: BodyItem) -> GeomItem:
    geom = comp.bodyclass.make(GeomItem)
    geom.node, geom.bodyid, geom.type = _nameless(comp.node), body.id, GeomType.SPHERE
    geom.size = (comp.flex.radius, *geom.size[1:])
    body.geoms.append(geom)
    return geom


@attrs.define
class PluginBodies:
    """Bodies that share one plugin instance."""

    bodies: list[BodyItem]
    plugin: int = attrs.field(default=-1, on_setattr=lambda users, _, number: users.spread(number))

    def spread(self, number: int) -> int:
        """Give all bodies the number of the instance."""
        for body in self.bodies:
            body.plugin = number
        return number


def _use_plugin(context: Context, comp: Flexcomp, bodies: list[BodyItem]) -> None:
    """A plugin acts on all bodies that carry vertices; an instance of its own is named after the flexcomp."""
    child = next((child for child in comp.node.children if child.tag == "plugin"), None)
    if child is None:
        return
    if "instance" not in child.values:
        named = {**child.values, "name": f"flexcomp_{comp.node.values['name']}"}
        child = attrs.evolve(child, tag="instance", values=named)
    context.plugin_users.append(PluginUser(child, PluginBodies(bodies), "passive forces"))


def _add_equality(context: Context, comp: Flexcomp) -> None:
    """Hold the lengths of the edges; default classes have no say in it."""
    equality = EqualityItem(node=_nameless(comp.node, flex=comp.flex.name), type=int(EqType.FLEX))
    for child in comp.node.children:
        if child.tag == "edge":
            apply_equality(equality, child)
    context.held_flexes[comp.node] = equality
