"""The structs of the drop-in: MjModel, MjData and their parts; those of pictures, which are plain memory.

- `base`, `lists`: what structs and lists of structs have in common;
- `parts`: options, statistics, contacts, counters;
- `model`, `data`, `fields`, `named`, `binary`: MjModel and MjData, their attributes, objects by name, files;
- `drawing`: cameras, options and scenes of pictures;
- `running`: what steps them.
"""

from dovetail.mj.structs.data import MjData
from dovetail.mj.structs.drawing import (
    MjrRect,
    MjvCamera,
    MjvFigure,
    MjvGeom,
    MjvGLCamera,
    MjvLight,
    MjvOption,
    MjvPerturb,
    MjvScene,
)
from dovetail.mj.structs.model import MjModel
from dovetail.mj.structs.parts import (
    MjContact,
    MjLROpt,
    MjOption,
    MjSolverStat,
    MjStatistic,
    MjTimerStat,
    MjVisual,
    MjVisualHeadlight,
    MjVisualRgba,
    MjWarningStat,
)

__all__ = [
    "MjContact",
    "MjData",
    "MjLROpt",
    "MjModel",
    "MjOption",
    "MjSolverStat",
    "MjStatistic",
    "MjTimerStat",
    "MjVisual",
    "MjVisualHeadlight",
    "MjVisualRgba",
    "MjWarningStat",
    "MjrRect",
    "MjvCamera",
    "MjvFigure",
    "MjvGLCamera",
    "MjvGeom",
    "MjvLight",
    "MjvOption",
    "MjvPerturb",
    "MjvScene",
]
