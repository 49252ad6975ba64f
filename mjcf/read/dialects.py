"""Dialects of MJCF: older spellings, rewritten to those of MuJoCo 3.4.0 before the schema checks the document.

`mujoco-3.4` accepts what MuJoCo 3.4.0 accepts. `legacy` accepts older spellings too; each one found raises a
DeprecationWarning that names the place and the modern spelling. A rewrite is a small function on the tree of
raw elements; the schema and the compiler know nothing of dialects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from dovetail.errors import ArgumentError, listing, nearest
from dovetail.mjcf.read.source import Node, walk
from dovetail.warned import warn

Rewrite = Callable[[Node], None]

MAIN = "main"
"""The default class of what names none."""

_CONDIMS = {2: 3, 5: 6}
"""Contact dimensions that never existed, rounded up to those that do."""
_MOST_CONDIM = 6
_CONDIM_TAGS = ("geom", "pair", "contact")
_FLEX_CONTACT = (
    *(
        "contype",
        "conaffinity",
        "condim",
        "priority",
        "friction",
        "solmix",
        "solref",
        "solimp",
        "margin",
        "gap",
    ),
    *("internal", "selfcollide", "activelayers", "vertcollide", "passive"),
)
_FLEX_ELASTICITY = ("young", "poisson", "damping", "thickness", "elastic2d")
_FLEX_LISTS = {"vertex": ("pos", "vertex"), "element": ("data", "element")}
"""Children of `<flex>` whose attribute is the flex's own today."""


def _deprecated(node: Node, old: str, new: str, attribute: str | None = None) -> None:
    message = f"{node.file}:{node.line}: {node.describe(attribute)}: {old} is an older spelling; {new}"
    warn(message, DeprecationWarning, stacklevel=2)


def exact_mesh_inertia(root: Node) -> None:
    """`<compiler exactmeshinertia>`: true makes exact the mode of meshes that have none of their own."""
    for node in [node for node in root.children if node.tag == "compiler"]:
        written = node.raw.pop("exactmeshinertia", None)
        if written is None:
            continue
        _deprecated(node, "exactmeshinertia", 'write <default><mesh inertia="exact"/></default>')
        if written not in ("true", "false"):
            raise node.error(f"exactmeshinertia is {written!r}; write true or false")
        if written == "true":
            mesh = Node("mesh", node.file, node.line, {"inertia": "exact"})
            root.children.insert(0, Node("default", node.file, node.line, {}, [mesh]))


def shell_inertia_of_mesh_geoms(root: Node) -> None:
    """`shellinertia` on a mesh geom, its own or its class's: the inertia of its mesh asset, unless that says its
    own."""
    meshes = {_asset_name(node): node for node in walk(root) if node.tag == "mesh"}
    classes = _geom_classes(root)
    for node, inherited in _geoms(root):
        settings = {**classes.get(inherited, {}), **node.raw}
        if "mesh" not in settings or settings.get("type", "mesh") != "mesh":
            continue
        written = settings.get("shellinertia")
        if "shellinertia" in node.raw or written == "true":
            _deprecated(node, "shellinertia on a mesh geom", 'write <mesh inertia="shell">', "mesh")
            node.raw["shellinertia"] = "false"
        asset = meshes.get(settings["mesh"])
        if written == "true" and asset is not None:
            asset.raw.setdefault("inertia", "shell")


def _geoms(root: Node) -> Iterator[tuple[Node, str]]:
    """Every geom of the bodies, and the default class it is of."""
    pending = [(node, MAIN) for node in reversed(root.children) if node.tag == "worldbody"]
    while pending:
        node, inherited = pending.pop()
        if node.tag == "geom":
            yield node, node.raw.get("class", inherited)
        below = node.raw.get("childclass", inherited)
        pending.extend((child, below) for child in reversed(node.children))


def _geom_classes(root: Node) -> dict[str, dict[str, str]]:
    """Attributes of geoms that each default class has, those of the classes around it included."""
    classes: dict[str, dict[str, str]] = {MAIN: {}}
    pending = [(node, classes[MAIN]) for node in reversed(root.children) if node.tag == "default"]
    while pending:
        node, settings = pending.pop()
        for child in node.children:
            if child.tag == "geom":
                settings.update(child.raw)
        for child in reversed([child for child in node.children if child.tag == "default"]):
            own = classes.setdefault(child.raw.get("class", ""), dict(settings))
            pending.append((child, own))
    return classes


def _asset_name(mesh: Node) -> str:
    file = mesh.raw.get("file", "").replace("\\", "/").rpartition("/")[2]
    return mesh.raw.get("name") or file.rpartition(".")[0] or file


def invalid_condims(root: Node) -> None:
    """condim 2 and 5: rounded up; above 6: 6."""
    for node in walk(root):
        old = node.raw.get("condim", "").strip()
        if node.tag in _CONDIM_TAGS and old.isascii() and old.isdigit():
            meant = min(_CONDIMS.get(int(old), int(old)), _MOST_CONDIM)
            if meant != int(old):
                _deprecated(node, f"condim {old}", f"write {meant}", "condim")
                node.raw["condim"] = str(meant)


def flex_settings_on_the_flex(root: Node) -> None:
    """Contact and elasticity attributes of `<flex>` itself: they never had an effect."""
    for node in _flexes(root):
        for attribute in [name for name in (*_FLEX_CONTACT, *_FLEX_ELASTICITY) if name in node.raw]:
            place = "contact" if attribute in _FLEX_CONTACT else "elasticity"
            _deprecated(
                node, f"{attribute} on <flex>, which is ignored,", f"write it on <{place}>", attribute
            )
            del node.raw[attribute]


def flex_lists_as_children(root: Node) -> None:
    """`<vertex pos>`, `<element data>` and `<pin id>` in `<flex>`: its attributes vertex, element and body."""
    for node in _flexes(root):
        for tag, (old, new) in _FLEX_LISTS.items():
            found = [child for child in node.children if child.tag == tag]
            for child in found:
                _deprecated(child, f"<{tag} {old}> in <flex>", f"write the attribute {new} of <flex>", old)
            if found:
                parts = [node.raw.get(new, ""), *(child.raw.get(old, "") for child in found)]
                node.raw[new] = " ".join(part for part in parts if part)
        for pin in [child for child in node.children if child.tag == "pin"]:
            _deprecated(
                pin, "<pin> in <flex>", "name the body world for pinned vertices, or use <flexcomp>", "id"
            )
            _pin(node, pin)
        node.children = [child for child in node.children if child.tag not in (*_FLEX_LISTS, "pin")]


def _pin(flex: Node, pin: Node) -> None:
    """Pinned vertices belong to the world; which they do already if the flex has a single body."""
    bodies = flex.raw.get("body", "").split()
    for text in pin.raw.get("id", "").split():
        if not text.isdigit() or (len(bodies) > 1 and int(text) >= len(bodies)):
            raise pin.error(f"{text!r} is no vertex of this flex", "id")
        if len(bodies) > 1:
            bodies[int(text)] = "world"
    if bodies:
        flex.raw["body"] = " ".join(bodies)


def _flexes(root: Node) -> list[Node]:
    return [node for node in walk(root) if node.tag == "flex"]


DIALECTS: Mapping[str, tuple[Rewrite, ...]] = {
    "mujoco-3.4": (),
    "legacy": (
        exact_mesh_inertia,
        shell_inertia_of_mesh_geoms,
        invalid_condims,
        flex_settings_on_the_flex,
        flex_lists_as_children,
    ),
}
"""What is rewritten in each dialect."""


FLAT_MESHES_ARE_BOXES = frozenset(["legacy"])
"""Dialects in which a mesh without volume or area has the inertia of its bounding box."""


def rewrites(dialect: str) -> tuple[Rewrite, ...]:
    """The rewrites of a dialect by its name."""
    if dialect not in DIALECTS:
        raise ArgumentError(
            f"unknown dialect {dialect!r}{nearest(dialect, DIALECTS)}; known: {listing(DIALECTS)}"
        )
    return DIALECTS[dialect]
