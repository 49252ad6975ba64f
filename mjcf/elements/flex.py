"""`<flex>`: a deformable object, compiled into vertices, connections, elastic constants and bounding volumes.

Vertices are given in the frames of their bodies; what is derived from shape (edge lengths aside, which
finalize_model computes) is taken from their places in the world at qpos0. See `mjCFlex::Compile`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.contracts.enums import FlexSelf
from dovetail.mjcf.elements.contact_settings import ContactSettings
from dovetail.mjcf.elements.items import Item, overlay
from dovetail.mjcf.elements.poses import world_poses
from dovetail.mjcf.geometry import flex_elasticity as elasticity
from dovetail.mjcf.geometry import flex_topology as topology
from dovetail.mjcf.geometry.bvh import build_tree
from dovetail.mjcf.geometry.flex_topology import Ints, Reals
from dovetail.mjcf.geometry.inertia import rotation_matrix
from dovetail.mjcf.geometry.rotation import Pose, Vec
from dovetail.mjcf.read.source import Node
from dovetail.plugins.shared.constants import MINVAL

if TYPE_CHECKING:
    from dovetail.mjcf.elements.body import BodyItem
    from dovetail.mjcf.model.context import Context

MAX_BODIES_AND_FLEXES = 65534
"""MuJoCo's limit: pairs of them are numbered by 16 bits each."""
_TEXTURED_CORNERS = 3
"""How many corners of an element get texture coordinates if the file does not say which."""
_NODES = (8, 27)
"""How many nodes a flex may have: linear and quadratic interpolation. MuJoCo 3.4.0 takes a single one too,
and has its vertices at the origin."""
_BENDING_JOINTS = 3
"""A vertex of a flex that resists bending moves freely: its body has this many joints."""


@attrs.define(eq=False, kw_only=True)
class FlexItem(ContactSettings, Item):
    """A flex; field names are MJCF's attribute names, with those of `<edge>` prefixed."""

    group: int = 0
    dim: int = 2
    radius: float = 0.005
    material: str = ""
    rgba: Vec = (0.5, 0.5, 0.5, 1.0)
    flatskin: bool = False
    vertbody: list[BodyItem] = attrs.field(factory=list)
    """Body of each vertex, or one for all."""
    nodebody: list[BodyItem] = attrs.field(factory=list)
    """Body of each interpolation node; empty: vertices move by themselves."""
    vertex: Reals = attrs.field(factory=lambda: np.zeros((0, 3)))
    """In the frames of their bodies; empty: every vertex is at its body's origin."""
    node_place: Reals = attrs.field(factory=lambda: np.zeros((0, 3)))
    """Nodes in the frames of their bodies; empty: each is at its body's origin."""
    element: Ints = attrs.field(factory=lambda: np.zeros(0, np.int64))
    texcoord: Reals = attrs.field(factory=lambda: np.zeros((0, 2)))
    elemtexcoord: Ints = attrs.field(factory=lambda: np.zeros(0, np.int64))
    internal: bool = False
    selfcollide: int = FlexSelf.AUTO
    vertcollide: bool = False
    passive: bool = False
    activelayers: int = 1
    edgestiffness: float = 0.0
    edgedamping: float = 0.0
    young: float = 0.0
    poisson: float = 0.0
    thickness: float = -1.0
    damping: float = 0.0
    elastic2d: str = "none"
    matid: int = -1
    built: Built | None = None

    @property
    def bends(self) -> bool:
        """Whether it is a surface that resists bending."""
        return self.dim == 2 and self.elastic2d in ("bend", "both")

    @property
    def interpolated(self) -> bool:
        return bool(self.nodebody)


@attrs.frozen(eq=False, kw_only=True)
class Built:
    """What compiling a flex finds out."""

    rigid: bool
    centered: bool
    order: int
    vertbodyid: Ints
    vertex: Reals
    vert0: Reals
    nodebodyid: Ints
    node: Reals
    node0: Reals
    element: Ints
    elemtexcoord: Ints
    edge: Ints
    elemedge: Ints
    edgeflap: Ints
    edgerigid: Ints
    surface: topology.FlexSurface
    stiffness: Reals
    bending: Reals
    tree: dict[str, Any]
    reach: dict[int, float]
    """Longest edge (or distance between nodes) from each body, m."""


def read_flex(context: Context, node: Node) -> None:
    """Read one `<flex>`; its bodies are looked up when it is compiled, after the tree."""
    flex = FlexItem(node=node)
    values = node.values
    overlay(flex, {name: values[name] for name in SHARED if name in values})
    read_children(flex, node)
    if not 1 <= flex.dim <= 3:
        raise node.error(f"dim must be 1, 2 or 3, it is {flex.dim}", "dim")
    flex.vertbody = [_body(context, node, name, "body") for name in values["body"].split()]
    flex.nodebody = [_body(context, node, name, "node") for name in values.get("node", "").split()]
    if not flex.vertbody:
        raise node.error("name the body of each vertex, or one body for all", "body")
    flex.vertex = rows(node, "vertex", 3)
    flex.texcoord = rows(node, "texcoord", 2)
    flex.element = np.array(values["element"], np.int64)
    flex.elemtexcoord = np.array(values.get("elemtexcoord", ()), np.int64)
    context.add("flex", flex)


SHARED = ("group", "dim", "radius", "material", "rgba", "flatskin")
"""Attributes that `<flex>` and `<flexcomp>` share."""


def _body(context: Context, node: Node, name: str, attribute: str) -> BodyItem:
    return context.bodies[context.find("body", name, node, attribute)]


def rows(node: Node, attribute: str, width: int) -> Reals:
    """The numbers of an attribute, row by row."""
    numbers = node.values.get(attribute, ())
    if len(numbers) % width:
        raise node.error(f"{attribute} has {len(numbers)} numbers; write {width} per row", attribute)
    return np.array(numbers, np.float64).reshape(-1, width)


def read_children(flex: FlexItem, node: Node) -> None:
    """Read `<contact>`, `<edge>` and `<elasticity>`, which `<flex>` and `<flexcomp>` share."""
    for child in node.children:
        if child.tag in ("contact", "elasticity"):
            overlay(flex, child.values)
        elif child.tag == "edge":
            flex.edgestiffness = child.values.get("stiffness", flex.edgestiffness)
            flex.edgedamping = child.values.get("damping", flex.edgedamping)


def compile_flexes(context: Context) -> None:
    """Compile every flex; bodies must have been compiled."""
    flexes: list[FlexItem] = context.objects["flex"]
    if not flexes:
        return
    if len(context.bodies) + len(flexes) >= MAX_BODIES_AND_FLEXES:
        raise flexes[-1].place.error(
            f"{len(context.bodies)} bodies and {len(flexes)} flexes are too many; "
            f"together there must be fewer than {MAX_BODIES_AND_FLEXES}"
        )
    poses = world_poses(context.bodies)
    for flex in flexes:
        _check_bodies(context, flex)
        if flex.material:
            flex.matid = context.find("material", flex.material, flex.place, "material")
        _check_settings(flex)
        _check_counts(flex)
        flex.built = _build(flex, poses)


def _check_bodies(context: Context, flex: FlexItem) -> None:
    """Bodies that fusestatic removed carry nothing any more."""
    for body in (*flex.vertbody, *flex.nodebody):
        if body.id >= len(context.bodies) or context.bodies[body.id] is not body:
            raise flex.place.error(
                f"body {body.name!r} is fused with its parent, as it cannot move; "
                'attach the flex to another body, or set fusestatic="false"',
                "body",
            )


def _check_settings(flex: FlexItem) -> None:
    node = flex.place
    if flex.edgestiffness > 0 and flex.dim > 1:
        raise node.error(
            f"edge stiffness is only possible with dim 1, here dim is {flex.dim}; use elasticity", "dim"
        )
    if flex.interpolated and flex.selfcollide != FlexSelf.NONE:
        raise node.error('a flex with nodes cannot collide with itself; set selfcollide="none" in <contact>')
    if flex.interpolated and flex.internal:
        raise node.error('a flex with nodes has no internal collisions; set internal="false" in <contact>')
    if flex.dim == 3 and flex.activelayers < 1:
        raise node.error("activelayers must be at least 1: without layers nothing can collide")
    if flex.young > 0 and not 0 <= flex.poisson < 0.5:
        raise node.error(f"poisson must be at least 0 and less than 0.5, it is {flex.poisson:g}")
    if flex.young > 0 and flex.bends and flex.thickness < 0:
        raise node.error("bending needs a thickness; add it to <elasticity>")
    if flex.bends and any(len(body.joints) != _BENDING_JOINTS for body in flex.vertbody):
        raise node.error(
            'pins are not supported for bending: every vertex needs a body with three joints; use elastic2d="stretch"'
        )


def _check_counts(flex: FlexItem) -> None:
    node, corners = flex.place, flex.dim + 1
    if not flex.element.size:
        raise node.error("there are no elements; write some", "element")
    if flex.element.size % corners:
        raise node.error(
            f"element has {flex.element.size} numbers; with dim {flex.dim} write {corners} per element",
            "element",
        )
    count = _vertex_count(flex)
    if len(flex.vertex) and len(flex.vertbody) not in (1, count):
        raise node.error(
            f"there are {count} vertices but {len(flex.vertbody)} bodies; name one body, or {count}", "body"
        )
    if count < corners:
        raise node.error(f"dim {flex.dim} needs at least {corners} vertices, there are {count}")
    strange = (flex.element < 0) | (flex.element >= count)
    if strange.any():
        raise node.error(
            f"element refers to vertex {flex.element[strange][0]}, but there are {count}, counted from 0",
            "element",
        )
    ordered = np.sort(flex.element.reshape(-1, corners), axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if repeated.any():
        raise node.error(f"element {np.flatnonzero(repeated)[0]} has the same vertex twice", "element")
    if len(flex.texcoord) and not flex.elemtexcoord.size and len(flex.texcoord) != count:
        raise node.error(
            f"texcoord has {len(flex.texcoord)} pairs; write two numbers for each of {count} vertices",
            "texcoord",
        )
    if flex.elemtexcoord.size > flex.element.size:
        raise node.error(
            f"elemtexcoord has {flex.elemtexcoord.size} numbers; write {flex.element.size}", "elemtexcoord"
        )
    if flex.interpolated and len(flex.nodebody) not in _NODES:
        raise node.error(f"there are {len(flex.nodebody)} nodes; write 8 or 27, a cube of them", "node")


def interpolation_order(nodes: int) -> int:
    """Degree along each axis of the polynomials between that many nodes; 0 without nodes."""
    return round(nodes ** (1 / 3)) - 1 if nodes else 0


def _vertex_count(flex: FlexItem) -> int:
    return len(flex.vertex) or len(flex.vertbody)


def _build(flex: FlexItem, poses: list[Pose]) -> Built:
    count = _vertex_count(flex)
    bodies = flex.vertbody * count if len(flex.vertbody) == 1 else flex.vertbody
    given = len(flex.vertex) > 0
    rigid = (given and len(flex.vertbody) == 1) or (
        not flex.interpolated and len({b.id for b in bodies}) == 1
    )
    local = flex.vertex if given else np.zeros((count, 3))
    place = _in_world(local, bodies, poses)
    node_local = flex.node_place if len(flex.node_place) else np.zeros((len(flex.nodebody), 3))
    nodes = _in_world(node_local, flex.nodebody, poses)
    element = flex.element.reshape(-1, flex.dim + 1)
    if flex.dim == 3:
        element = topology.outward(element, place)
    edge, elemedge = topology.edges(element)
    flap = topology.flaps(element, elemedge) if flex.bends else np.full((len(edge), 4), -1)
    surface = topology.surface(element)
    tree = _tree(flex, element, place, surface.layer)
    _check_depth(flex, tree["bvh_aabb"][0])
    weld = np.array([body.weldid for body in bodies])
    return Built(
        rigid=rigid,
        centered=not (node_local if flex.interpolated else local).any(),
        order=interpolation_order(len(flex.nodebody)),
        vertbodyid=np.full(count, -1) if flex.interpolated else np.array([body.id for body in bodies]),
        vertex=local,
        vert0=_fraction_of_box(flex, place, tree["bvh_aabb"][0]),
        nodebodyid=np.array([body.id for body in flex.nodebody], np.int64),
        node=node_local,
        node0=nodes,
        element=element,
        elemtexcoord=_texture_numbers(flex, element),
        edge=edge,
        elemedge=elemedge,
        edgeflap=flap[:, 2:],
        edgerigid=np.full(len(edge), rigid) if flex.interpolated else weld[edge[:, 0]] == weld[edge[:, 1]],
        surface=surface,
        stiffness=_stiffness(flex, element, place, nodes),
        bending=_bending(flex, flap, place),
        tree=tree,
        reach=_reach_of_nodes(flex, poses) if flex.interpolated else _reach_of_edges(edge, place, bodies),
    )


def _check_depth(flex: FlexItem, box: Reals) -> None:
    """Vertices between nodes are fractions of the box around the flex, which MuJoCo 3.4.0 makes NaN if it is flat."""
    flat = [
        axis for axis, half in zip("xyz", (box[3:] - flex.radius).tolist(), strict=True) if half <= MINVAL
    ]
    if flex.interpolated and flat:
        raise flex.place.error(
            f"a flex with nodes must extend along all axes of the world, but at qpos0 it is flat along "
            f'{" and ".join(flat)}; give it depth, or let its points move by themselves (dof="full")'
        )


def _reach_of_edges(edge: Ints, place: Reals, bodies: Sequence[BodyItem]) -> dict[int, float]:
    reach: dict[int, float] = {}
    length = np.linalg.norm(place[edge[:, 1]] - place[edge[:, 0]], axis=1)
    for ends, distance in zip(edge.tolist(), length.tolist(), strict=True):
        for end in ends:
            body = bodies[end].id
            reach[body] = max(reach.get(body, 0.0), distance)
    return reach


def _reach_of_nodes(flex: FlexItem, poses: list[Pose]) -> dict[int, float]:
    place = np.array([poses[body.id][0] for body in flex.nodebody])
    distance = np.linalg.norm(place[:, None] - place[None], axis=2).max(axis=1)
    return {body.id: float(d) for body, d in zip(flex.nodebody, distance, strict=True)}


def _in_world(local: Reals, bodies: Sequence[BodyItem], poses: list[Pose]) -> Reals:
    """Points given in body frames, in the world at qpos0."""
    used = sorted({body.id for body in bodies})
    frames = {body: (np.array(poses[body][0]), np.array(rotation_matrix(poses[body][1]))) for body in used}
    rows = [frames[body.id] for body in bodies]
    if not rows:
        return np.zeros((0, 3))
    origin, axes = np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows])
    return origin + np.einsum("ijk,ik->ij", axes, local)


def _tree(flex: FlexItem, element: Ints, place: Reals, layer: Ints) -> dict[str, Any]:
    """Bounding volumes around the elements that can collide, in the world."""
    active = np.flatnonzero(layer < flex.activelayers) if flex.dim == 3 else np.arange(len(element))
    corner = place[element[active]]
    low, high = corner.min(axis=1), corner.max(axis=1)
    centre, half = 0.5 * (high + low), 0.5 * (high - low) + flex.radius
    tree = build_tree(centre, centre - half, centre + half)
    leaf = tree["bvh_nodeid"] >= 0
    tree["bvh_nodeid"][leaf] = active[tree["bvh_nodeid"][leaf]]
    return tree


def _fraction_of_box(flex: FlexItem, place: Reals, box: Reals) -> Reals:
    """Vertices as fractions of the box around the flex.

    Along an axis in which the flex is flat it is ½; MuJoCo 3.4.0 divides by zero there.
    """
    half = box[3:] - flex.radius
    flat = half <= MINVAL
    return np.where(flat, 0.5, (place - box[:3]) / np.where(flat, 1.0, 2 * half) + 0.5)


def _texture_numbers(flex: FlexItem, element: Ints) -> Ints:
    """Texture coordinates of the elements: as written, or those of the vertices in the order as written.

    MuJoCo lists three per element, so that those of tetrahedra end in zeros.
    """
    if not len(flex.texcoord):
        return element.reshape(-1)
    given = flex.elemtexcoord if flex.elemtexcoord.size else flex.element[: _TEXTURED_CORNERS * len(element)]
    return np.concatenate([given, np.zeros(element.size - given.size, np.int64)])


def _stiffness(flex: FlexItem, element: Ints, place: Reals, nodes: Reals) -> Reals:
    stiffness = np.zeros((len(element), elasticity.STIFFNESS_WIDTH))
    if flex.young <= 0:
        return stiffness
    if flex.dim == 3 or flex.elastic2d != "none":
        _check_measures(flex, element, place)
    if flex.interpolated:
        order = interpolation_order(len(nodes))
        needed = nodes.size**2 // elasticity.STIFFNESS_WIDTH
        if needed > len(element):
            raise flex.place.error(
                f"elasticity between {len(nodes)} nodes needs at least {needed} elements, there are {len(element)}"
            )
        form = elasticity.node_stiffness(nodes, flex.young, flex.poisson, order)
        if form.size > stiffness.size:
            raise flex.place.error(f"elasticity between {len(nodes)} nodes needs {needed + 1} elements")
        stiffness.reshape(-1)[: form.size] = form
    elif flex.dim == 3 or (flex.dim == 2 and flex.elastic2d in ("stretch", "both") and flex.thickness > 0):
        return elasticity.element_stiffness(place, element, flex.young, flex.poisson, flex.thickness)
    return stiffness


def _check_measures(flex: FlexItem, element: Ints, place: Reals) -> None:
    """Elasticity divides by the size of elements."""
    if flex.dim == 1 or flex.interpolated:
        return
    empty = np.flatnonzero(elasticity.measures(place[element]) == 0)
    if len(empty):
        what = "area" if flex.dim == 2 else "volume"
        raise flex.place.error(
            f"element {empty[0]} has no {what}, so it cannot be elastic; move its vertices"
        )


def _bending(flex: FlexItem, flap: Ints, place: Reals) -> Reals:
    if flex.young > 0 and flex.bends:
        return elasticity.bending(place, flap, flex.young, flex.poisson, flex.thickness)
    return np.zeros((len(flap), elasticity.BENDING_WIDTH))
