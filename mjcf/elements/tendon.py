"""`<tendon>`: fixed combinations of joints, and spatial paths through sites, around geoms and over pulleys."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs

from dovetail.contracts.enums import AutoBool, GeomType, WrapType
from dovetail.mjcf.elements.columns import Columns, Pieces, column
from dovetail.mjcf.elements.items import SOLIMP, SOLREF, Item, overlay
from dovetail.mjcf.geometry.rotation import Vec
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.elements.body import BodyItem
    from dovetail.mjcf.model.context import Context

_SURFACES = {GeomType.SPHERE: WrapType.SPHERE, GeomType.CYLINDER: WrapType.CYLINDER}
_GEOMS = (WrapType.SPHERE, WrapType.CYLINDER)


@attrs.define(eq=False, kw_only=True)
class WrapItem:
    """One object on a tendon's path."""

    node: Node
    type: int
    objid: int = -1
    prm: float = 0.0
    bodyid: int = -1
    """The body that moves it; −1 for a pulley."""


@attrs.define(eq=False, kw_only=True)
class TendonItem(Item):
    """A `<fixed>` or `<spatial>` tendon."""

    group: int = 0
    limited: int = AutoBool.AUTO
    range: Vec = (0.0, 0.0)
    actuatorfrclimited: int = AutoBool.FALSE
    """Not inferred from the range unless `auto` is written: MuJoCo 3.4's default is false."""
    actuatorfrcrange: Vec = (0.0, 0.0)
    solreflimit: Vec = SOLREF
    solimplimit: Vec = SOLIMP
    solreffriction: Vec = SOLREF
    solimpfriction: Vec = SOLIMP
    frictionloss: float = 0.0
    margin: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0
    armature: float = 0.0
    springlength: Vec = (-1.0, -1.0)
    """Both −1: the length at qpos_spring, which finalize_model computes."""
    width: float = 0.003
    material: str = ""
    rgba: Vec = (0.5, 0.5, 0.5, 1.0)
    user: Vec = ()
    matid: int = -1
    path: list[WrapItem] = attrs.field(factory=list)


COLUMNS: Columns = {
    "tendon_matid": "matid",
    "tendon_group": "group",
    "tendon_limited": "limited",
    "tendon_actfrclimited": "actuatorfrclimited",
    "tendon_width": "width",
    "tendon_solref_lim": "solreflimit",
    "tendon_solimp_lim": "solimplimit",
    "tendon_solref_fri": "solreffriction",
    "tendon_solimp_fri": "solimpfriction",
    "tendon_range": "range",
    "tendon_actfrcrange": "actuatorfrcrange",
    "tendon_margin": "margin",
    "tendon_stiffness": "stiffness",
    "tendon_damping": "damping",
    "tendon_armature": "armature",
    "tendon_frictionloss": "frictionloss",
    "tendon_lengthspring": "springlength",
    "tendon_user": "user",
    "tendon_rgba": "rgba",
}
PATHS = Pieces(
    rows={
        "wrap_type": lambda tendon: [wrap.type for wrap in tendon.path],
        "wrap_objid": lambda tendon: [wrap.objid for wrap in tendon.path],
        "wrap_prm": lambda tendon: [wrap.prm for wrap in tendon.path],
    },
    begins={"tendon_adr": "wrap_type"},
    numbers={"tendon_num": "wrap_type"},
)


def apply_tendon(tendon: TendonItem, node: Node) -> None:
    """Lay the attributes of a tendon over it; one spring length stands for both."""
    overlay(tendon, node.values)
    if len(node.values.get("springlength", ())) == 1:
        tendon.springlength = node.values["springlength"] * 2


def read_tendons(context: Context, section: Node) -> None:
    """Read a `<tendon>` section."""
    for node in section.children:
        tendon = context.defaults.of(node).make(TendonItem)
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


def _site(context: Context, node: Node) -> WrapItem:
    site = context.find("site", node.values["site"], node, "site")
    return WrapItem(node=node, type=WrapType.SITE, objid=site, bodyid=context.sites[site].bodyid)


def _geom(context: Context, node: Node) -> WrapItem:
    geom = context.geoms[context.find("geom", node.values["geom"], node, "geom")]
    surface = _SURFACES.get(GeomType(geom.type))
    if surface is None:
        word = GeomType(geom.type).keyword
        raise node.error(f"a tendon cannot wrap around a {word}; use a sphere or a cylinder", "geom")
    side = node.values.get("sidesite", "")
    prm = context.find("site", side, node, "sidesite") if side else -1
    return WrapItem(node=node, type=surface, objid=geom.id, prm=float(prm), bodyid=geom.bodyid)


def _pulley(context: Context, node: Node) -> WrapItem:
    divisor = node.values["divisor"]
    if divisor < 0:
        raise node.error("divisor cannot be negative; write a positive number", "divisor")
    return WrapItem(node=node, type=WrapType.PULLEY, prm=divisor)


def _joint(context: Context, node: Node) -> WrapItem:
    joint = context.joints[context.find("joint", node.values["joint"], node, "joint")]
    return WrapItem(
        node=node, type=WrapType.JOINT, objid=joint.id, prm=node.values["coef"], bodyid=joint.bodyid
    )


_WRAPS: dict[str, Callable[[Context, Node], WrapItem]] = {
    "site": _site,
    "geom": _geom,
    "pulley": _pulley,
    "joint": _joint,
}


# the path as a whole


def _check_path(tendon: TendonItem) -> None:
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
    path: list[WrapItem], place: int, before: int | None, wrap: WrapItem, after: int | None
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


def _check_numbers(context: Context, tendon: TendonItem) -> None:
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


def bodies_on(tendon: TendonItem) -> list[int]:
    """Numbers of the bodies that a tendon touches, in the order of its path."""
    return [wrap.bodyid for wrap in tendon.path if wrap.bodyid >= 0]


def _distinct(trees: Any) -> list[int]:
    """Trees in order of appearance; −1 stands for what cannot move."""
    return list(dict.fromkeys(tree for tree in trees if tree >= 0))


def kept_awake(context: Context) -> set[int]:
    """Bodies whose trees must not sleep because of a tendon.

    Those on a tendon that touches more than two trees, or couples two of them by a spring or damper.
    """
    awake: set[int] = set()
    for tendon in context.objects["tendon"]:
        trees = {_moving_root(context.bodies[body]) for body in bodies_on(tendon)} - {0}
        if len(trees) > 2 or (len(trees) == 2 and (tendon.stiffness or tendon.damping)):
            awake.update(trees)
    return awake


def _moving_root(body: BodyItem) -> int:
    """The first body with joints on the way from the world; the world itself if nothing moves."""
    root, here = 0, body
    while here.parent is not None:
        root = here.id if here.joints else root
        here = here.parent
    return root


def coupled_by_armature(context: Context) -> set[int]:
    """Bodies with a site on a tendon that has inertia: their part of the mass matrix is not diagonal."""
    return {
        wrap.bodyid
        for tendon in context.objects["tendon"]
        if tendon.armature
        for wrap in tendon.path
        if wrap.type == WrapType.SITE
    }


def tree_fields(context: Context, body_treeid: Any) -> dict[str, Any]:
    """The kinematic trees that each tendon touches: how many, and the first two."""
    trees = [
        _distinct(int(body_treeid[body]) for body in bodies_on(tendon))
        for tendon in context.objects["tendon"]
    ]
    return {
        "tendon_treenum": column("tendon_treenum", [len(found) for found in trees]),
        "tendon_treeid": column("tendon_treeid", [([*found, -1, -1])[:2] for found in trees]),
    }
