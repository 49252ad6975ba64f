"""Typed items of what connects or observes parts of the tree: tendons, equalities, contact pairs, sensors.

As in `tree`, field names are MJCF's attribute names and field defaults are MuJoCo's built-in ones.
"""

from __future__ import annotations

import attrs

from dovetail.contracts.enums import AutoBool, DataType, EqType, NeedStage, ObjType, SensorType
from dovetail.mjcf.read.kinds import Vec
from dovetail.mjcf.read.source import Node
from dovetail.mjcf.tree import SOLIMP, SOLREF, Item


@attrs.define(eq=False, kw_only=True)
class Wrap:
    """One object on a tendon's path."""

    node: Node
    type: int
    objid: int = -1
    prm: float = 0.0
    bodyid: int = -1
    """The body that moves it; −1 for a pulley."""


@attrs.define(eq=False, kw_only=True)
class Tendon(Item):
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
    path: list[Wrap] = attrs.field(factory=list)


@attrs.define(eq=False, kw_only=True)
class Equality(Item):
    active: bool = True
    solref: Vec = SOLREF
    solimp: Vec = SOLIMP
    type: int = EqType.CONNECT
    objtype: int = ObjType.UNKNOWN
    obj1id: int = -1
    obj2id: int = -1
    data: Vec = (0.0, 1.0, *(0.0,) * 8, 1.0)
    """Before anything is written: the polynomial y = x, and torquescale 1."""


@attrs.define(eq=False, kw_only=True)
class Pair(Item):
    condim: int = 3
    friction: Vec = (1.0, 1.0, 0.005, 0.0001, 0.0001)
    solref: Vec = SOLREF
    solreffriction: Vec = (0.0, 0.0)
    solimp: Vec = SOLIMP
    margin: float = 0.0
    gap: float = 0.0
    geomid: tuple[int, int] = (-1, -1)
    signature: int = 0


@attrs.define(eq=False, kw_only=True)
class Exclude(Item):
    signature: int = 0


@attrs.define(eq=False, kw_only=True)
class Sensor(Item):
    type: int = SensorType.TOUCH
    datatype: int = DataType.REAL
    needstage: int = NeedStage.ACC
    objtype: int = ObjType.UNKNOWN
    objid: int = -1
    reftype: int = ObjType.UNKNOWN
    refid: int = -1
    intprm: tuple[int, ...] = (0, 0, 0)
    dim: int = 0
    cutoff: float = 0.0
    noise: float = 0.0
    user: Vec = ()
    plugin: int = -1
