"""`<material>`: colours and textures of what is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from dovetail.contracts.enums import TextureRole
from dovetail.mjcf.elements.columns import Columns
from dovetail.mjcf.elements.items import Item, overlay
from dovetail.mjcf.elements.site import SiteItem
from dovetail.mjcf.geometry.rotation import Vec
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.elements.shapes import ShapedItem
    from dovetail.mjcf.model.context import Context


@attrs.define(eq=False, kw_only=True)
class MaterialItem(Item):
    """A `<material>`."""

    layers: dict[int, str] = attrs.field(factory=dict)
    """Role → name of a texture."""
    texid: tuple[int, ...] = ()
    texrepeat: Vec = (1.0, 1.0)
    texuniform: bool = False
    emission: float = 0.0
    specular: float = 0.5
    shininess: float = 0.5
    reflectance: float = 0.0
    metallic: float = -1.0
    roughness: float = -1.0
    rgba: Vec = (1.0, 1.0, 1.0, 1.0)


COLUMNS: Columns = {
    "mat_texid": "texid",
    "mat_texuniform": "texuniform",
    "mat_texrepeat": "texrepeat",
    "mat_emission": "emission",
    "mat_specular": "specular",
    "mat_shininess": "shininess",
    "mat_reflectance": "reflectance",
    "mat_metallic": "metallic",
    "mat_roughness": "roughness",
    "mat_rgba": "rgba",
}


def read_material(context: Context, node: Node) -> None:
    """Read one `<material>`."""
    material = context.defaults.of(node).make(MaterialItem)
    material.node = node
    apply_material(material, node)
    context.add("material", material)
    if not material.name:
        raise node.error("a material needs a name; add name=…")


def apply_material(material: MaterialItem, node: Node) -> None:
    """Lay a material element over a material; a plain texture is the layer with role rgb."""
    overlay(material, {name: value for name, value in node.values.items() if name != "texture"})
    layers = dict(material.layers)
    if "texture" in node.values:
        if node.children:
            raise node.children[0].error("texture and <layer> exclude each other; write one of them")
        if node.values["texture"]:  # an empty name says nothing
            layers = {int(TextureRole.RGB): node.values["texture"]}
    for layer in node.children:
        layers[layer.values["role"]] = layer.values["texture"]
    material.layers = layers


def compile_materials(context: Context) -> None:
    """Resolve the textures of materials, and the materials of geoms and sites."""
    for material in context.objects["material"]:
        ids = [-1] * len(TextureRole)
        for role, name in material.layers.items():
            ids[role] = -1 if not name else context.find("texture", name, material.place, "texture")
        material.texid = tuple(ids)
    items: list[ShapedItem] = [*context.geoms, *context.sites]
    for item in items:
        if item.material:
            if isinstance(item, SiteItem) and "material" not in item.place.values:
                # as in MuJoCo 3.4, both names of the material that an attached site takes from its class must exist
                context.find(
                    "material", item.material.removeprefix(item.place.prefix), item.place, "material"
                )
            item.matid = context.find("material", item.material, item.place, "material")
