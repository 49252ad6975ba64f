"""`<tendon>`: fixed combinations of joints, and spatial paths through sites, around geoms and over pulleys."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dovetail.contracts.enums import GeomType, WrapType
from dovetail.mjcf.links import Tendon, Wrap
from dovetail.mjcf.read.source import Node
from dovetail.mjcf.tree import overlay

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context

_SURFACES = {GeomType.SPHERE: WrapType.SPHERE, GeomType.CYLINDER: WrapType.CYLINDER}
_GEOMS = (WrapType.SPHERE, WrapType.CYLINDER)


def apply_tendon(tendon: Tendon, node: Node) -> None:
    """Lay the attributes of a tendon over it; one spring length stands for both."""
    overlay(tendon, node.values)
    if len(node.values.get("springlength", ())) == 1:
        tendon.springlength = node.values["springlength"] * 2


def read_tendons(context: Context, section: Node) -> None:
    """Read a `<tendon>` section."""
    for node in section.children:
        tendon = context.defaults.of(node).make(Tendon)
        tendon.node, tendon.path = node, []
        apply_tendon(tendon, node)
        context.add("tendon", tendon)


def compile_tendons(context: Context) -> None:
    """Resolve the paths of all tendons and check their numbers (`mjCTendon::Compile`)."""
    for tendon in context.objects["tendon"]:
        tendon.path = [_WRAPS[node.tag](context, node) for node in tendon.place.children]
        _check_path(tendon)
        _check_numbers(context, tendon)
        tendon.user = context.padded_user(tendon, "nuser_tendon", tendon.user)
        if tendon.material:
            tendon.matid = context.find("material", tendon.material, tendon.place, "material")


# one object on a path


def _site(context: Context, node: Node) -> Wrap:
    site = context.find("site", node.values["site"], node, "site")
    return Wrap(node=node, type=WrapType.SITE, objid=site, bodyid=context.sites[site].bodyid)


def _geom(context: Context, node: Node) -> Wrap:
    geom = context.geoms[context.find("geom", node.values["geom"], node, "geom")]
    surface = _SURFACES.get(GeomType(geom.type))
    if surface is None:
        word = GeomType(geom.type).keyword
        raise node.error(f"a tendon cannot wrap around a {word}; use a sphere or a cylinder", "geom")
    side = node.values.get("sidesite", "")
    prm = context.find("site", side, node, "sidesite") if side else -1
    return Wrap(node=node, type=surface, objid=geom.id, prm=float(prm), bodyid=geom.bodyid)


def _pulley(context: Context, node: Node) -> Wrap:
    divisor = node.values["divisor"]
    if divisor < 0:
        raise node.error("divisor cannot be negative; write a positive number", "divisor")
    return Wrap(node=node, type=WrapType.PULLEY, prm=divisor)


def _joint(context: Context, node: Node) -> Wrap:
    joint = context.joints[context.find("joint", node.values["joint"], node, "joint")]
    return Wrap(node=node, type=WrapType.JOINT, objid=joint.id, prm=node.values["coef"], bodyid=joint.bodyid)


_WRAPS: dict[str, Callable[[Context, Node], Wrap]] = {
    "site": _site,
    "geom": _geom,
    "pulley": _pulley,
    "joint": _joint,
}


# the path as a whole


def _check_path(tendon: Tendon) -> None:
    path = tendon.path
    if not path:
        raise tendon.place.error("the path is empty; add objects to it")
    if path[0].type == WrapType.JOINT:
        return
    if len(path) < 2:
        raise tendon.place.error("a spatial tendon needs at least two objects; add a site")
    types: list[int | None] = [None, *(wrap.type for wrap in path), None]
    for place, wrap in enumerate(path):
        _check_neighbours(path, place, types[place], wrap, types[place + 2])
    if tendon.armature and any(wrap.type in _GEOMS for wrap in path):
        raise tendon.place.error("a tendon with armature cannot wrap around geoms; remove one", "armature")


def _check_neighbours(
    path: list[Wrap], place: int, before: int | None, wrap: Wrap, after: int | None
) -> None:
    alone = (None, WrapType.PULLEY)
    if wrap.type == WrapType.PULLEY:
        if after is None:
            raise wrap.node.error("a path cannot end with a pulley; add sites after it")
        if after == WrapType.PULLEY:
            raise path[place + 1].node.error("two pulleys follow one another; put sites between them")
    elif wrap.type == WrapType.SITE:
        if before in alone and after in alone:
            raise wrap.node.error("a site needs a neighbour that is not a pulley; add one", "site")
        if after == WrapType.SITE and path[place + 1].objid == wrap.objid:
            raise path[place + 1].node.error("the site is repeated; a path needs different sites", "site")
    elif before != WrapType.SITE or after != WrapType.SITE:
        raise wrap.node.error("a wrapping geom must stand between two sites; add them", "geom")


def _check_numbers(context: Context, tendon: Tendon) -> None:
    node = tendon.place
    tendon.limited = int(context.resolve_limited(tendon, "", tendon.limited, tendon.range))
    if tendon.limited and tendon.range[0] >= tendon.range[1]:
        raise node.error(f"range must increase, it is {tendon.range[0]:g} {tendon.range[1]:g}", "range")
    low, high = tendon.actuatorfrcrange
    limited = context.resolve_limited(tendon, "actuatorfrc", tendon.actuatorfrclimited, (low, high))
    tendon.actuatorfrclimited = int(limited)
    if tendon.actuatorfrclimited and (low >= high or low > 0 or high < 0):
        raise node.error(
            f"actuatorfrcrange must increase and contain 0, it is {low:g} {high:g}", "actuatorfrcrange"
        )
    if tendon.springlength[0] > tendon.springlength[1]:
        raise node.error("springlength must not decrease: slack length, then taut length", "springlength")
    if node.tag == "spatial" and tendon.armature < 0:
        raise node.error("armature cannot be negative", "armature")
    if node.tag == "spatial" and tendon.width <= 0:
        raise node.error("width must be positive", "width")
