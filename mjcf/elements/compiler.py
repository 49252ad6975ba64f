"""`<compiler>`: how a document is to be read, each document its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from dovetail.contracts.enums import AutoBool
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context


@attrs.define
class CompilerSettings:
    """Attributes of `<compiler>` with MuJoCo's defaults."""

    autolimits: bool = True
    boundmass: float = 0.0
    boundinertia: float = 0.0
    settotalmass: float = -1.0
    balanceinertia: bool = False
    strippath: bool = False
    coordinate: str = "local"
    angle: str = "degree"
    fitaabb: bool = False
    eulerseq: str = "xyz"
    meshdir: str = ""
    texturedir: str = ""
    assetdir: str = ""
    discardvisual: bool = False
    usethread: bool = True
    fusestatic: bool = False
    inertiafromgeom: int = AutoBool.AUTO
    inertiagrouprange: tuple[int, int] = (0, 5)
    saveinertial: bool = False
    alignfree: bool = False
    lengthrange: dict[str, Any] = attrs.field(factory=dict)
    """Attributes of `<lengthrange>` as written."""

    @property
    def degrees(self) -> bool:
        return self.angle == "degree"


def read_compiler(context: Context, node: Node) -> None:
    """Read `<compiler>`."""
    apply_compiler(context.compiler, node)


def apply_compiler(settings: CompilerSettings, node: Node) -> None:
    """Lay one `<compiler>` over the settings of its document."""
    values = dict(node.values)
    if values.get("coordinate") == "global":
        raise node.error("global coordinates are no longer MJCF; convert the model to local", "coordinate")
    if "assetdir" in values:
        values.setdefault("meshdir", values["assetdir"])
        values.setdefault("texturedir", values["assetdir"])
    for name, value in values.items():
        setattr(settings, name, value)
    for child in node.children:
        settings.lengthrange.update(child.values)
