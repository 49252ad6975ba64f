"""Dialects of MJCF: older spellings, rewritten to those of MuJoCo 3.4.0 before the schema checks the document.

`mujoco-3.4` accepts what MuJoCo 3.4.0 accepts. `legacy` accepts older spellings too; each one found raises a
DeprecationWarning that names the place and the modern spelling. A rewrite is a small function on the tree of
raw elements; the schema and the compiler know nothing of dialects.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping

from dovetail.errors import listing, nearest

from .source import Node, walk

Rewrite = Callable[[Node], None]

_CONDIMS = {"2": "3", "5": "6"}
"""Contact dimensions that never existed, rounded up to those that do."""
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
    warnings.warn(message, DeprecationWarning, stacklevel=2)


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
    """`shellinertia` on a mesh geom: the inertia of its mesh asset, unless that says its own."""
    meshes = {_asset_name(node): node for node in walk(root) if node.tag == "mesh"}
    for node in walk(root):
        if node.tag == "geom" and "mesh" in node.raw and node.raw.get("type", "mesh") == "mesh":
            written = node.raw.pop("shellinertia", None)
            if written is not None:
                _deprecated(node, "shellinertia on a mesh geom", 'write <mesh inertia="shell">', "mesh")
            asset = meshes.get(node.raw["mesh"])
            if written == "true" and asset is not None:
                asset.raw.setdefault("inertia", "shell")


def _asset_name(mesh: Node) -> str:
    file = mesh.raw.get("file", "").replace("\\", "/").rpartition("/")[2]
    return mesh.raw.get("name") or file.rpartition(".")[0] or file


def invalid_condims(root: Node) -> None:
    """condim 2 and 5: rounded up."""
    for node in walk(root):
        if node.tag in _CONDIM_TAGS and node.raw.get("condim", "").strip() in _CONDIMS:
            old = node.raw["condim"].strip()
            _deprecated(node, f"condim {old}", f"write {_CONDIMS[old]}", "condim")
            node.raw["condim"] = _CONDIMS[old]


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
"""Dialects in which a mesh without volume has the inertia of its bounding box."""


def rewrites(dialect: str) -> tuple[Rewrite, ...]:
    """The rewrites of a dialect by its name."""
    if dialect not in DIALECTS:
        raise ValueError(
            f"unknown dialect {dialect!r}{nearest(dialect, DIALECTS)}; known: {listing(DIALECTS)}"
        )
    return DIALECTS[dialect]
