"""`MjSpec` and its elements: models that can be edited, then compiled (docs/adr/0038-editable-specs.md).

- `vectors`, `fields`, `element`: attributes by kind, and what elements have in common;
- `tree`, `lists`, `tendon`, `defaults`, `settings`: the elements; `spec`: MjSpec itself;
- `reading`, `reading_elements`: from MJCF; `writing`, `writing_lists`: to MJCF; `compiling`: to an MjModel;
- `attaching`, `copying`, `deleting`, `keys`, `references`: changes of the structure;
- `binding`: from elements to what a model has of them.
"""

from typing import IO, Any, Union

from dovetail.mj.spec.binding import bind
from dovetail.mj.spec.defaults import MjsDefault
from dovetail.mj.spec.element import Element as MjsElement
from dovetail.mj.spec.element import MjsOrientation
from dovetail.mj.spec.lists import (
    MjsActuator,
    MjsEquality,
    MjsExclude,
    MjsFlex,
    MjsHField,
    MjsKey,
    MjsMaterial,
    MjsMesh,
    MjsNumeric,
    MjsPair,
    MjsPlugin,
    MjsSensor,
    MjsSkin,
    MjsText,
    MjsTexture,
    MjsTuple,
)
from dovetail.mj.spec.settings import MjsCompiler
from dovetail.mj.spec.spec import MjSpec
from dovetail.mj.spec.tendon import MjsTendon, MjsTendonPath, MjsWrap
from dovetail.mj.spec.tree import MjsBody, MjsCamera, MjsFrame, MjsGeom, MjsJoint, MjsLight, MjsSite
from dovetail.mj.spec.vectors import MjByteVec, MjCharVec, MjDoubleVec, MjFloatVec, MjIntVec, MjStringVec
from dovetail.mj.structs import MjData, MjModel

MjStruct = Union[  # noqa: UP007 - scripts ask typing.get_args for its members
    MjsBody,
    MjsFrame,
    MjsGeom,
    MjsJoint,
    MjsLight,
    MjsMaterial,
    MjsSite,
    MjsMesh,
    MjsSkin,
    MjsTexture,
    MjsText,
    MjsTuple,
    MjsCamera,
    MjsFlex,
    MjsHField,
    MjsKey,
    MjsNumeric,
    MjsPair,
    MjsExclude,
    MjsEquality,
    MjsTendon,
    MjsSensor,
    MjsActuator,
    MjsPlugin,
]
"""All elements of a spec that a model has something of."""


def from_zip(file: str | IO[bytes]) -> MjSpec:
    """A spec from a zip file with one model and its assets."""
    return MjSpec.from_zip(file)


def to_zip(spec: MjSpec, file: str | IO[bytes]) -> None:
    """Write a spec with its assets into a zip file."""
    spec.to_zip(file)


def _give_bind() -> None:
    """Let models and data look for elements of specs, once there are specs."""
    for cls in (MjModel, MjData):
        kind: Any = cls
        kind.bind = kind.bind_scalar = bind


_give_bind()
__all__ = [
    "MjByteVec",
    "MjCharVec",
    "MjDoubleVec",
    "MjFloatVec",
    "MjIntVec",
    "MjSpec",
    "MjStringVec",
    "MjStruct",
    "MjsActuator",
    "MjsBody",
    "MjsCamera",
    "MjsCompiler",
    "MjsDefault",
    "MjsElement",
    "MjsEquality",
    "MjsExclude",
    "MjsFlex",
    "MjsFrame",
    "MjsGeom",
    "MjsHField",
    "MjsJoint",
    "MjsKey",
    "MjsLight",
    "MjsMaterial",
    "MjsMesh",
    "MjsNumeric",
    "MjsOrientation",
    "MjsPair",
    "MjsPlugin",
    "MjsSensor",
    "MjsSite",
    "MjsSkin",
    "MjsTendon",
    "MjsTendonPath",
    "MjsText",
    "MjsTexture",
    "MjsTuple",
    "MjsWrap",
    "from_zip",
    "to_zip",
]
