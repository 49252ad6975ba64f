"""Settings of a whole spec: compiler, option, statistic, visual. Their attributes are those of the MJCF schema."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dovetail.contracts.enums import DisableBit, EnableBit
from dovetail.contracts.fields import FieldSpec, specs_of
from dovetail.contracts.option import Option
from dovetail.contracts.visual import VISUAL_GROUPS
from dovetail.mj.spec.element import Record
from dovetail.mj.spec.fields import Field, Letters, Numbers, Part, Real, Text, Whole
from dovetail.mj.spec.vectors import MjCharVec


def _field(spec: FieldSpec, mjcf: str | None = None) -> Field:
    """The attribute of a declared field of the Model's settings, with its initial value."""
    if spec.shape:
        dtype = np.float32 if spec.dtype == "float32" else np.float64
        return Numbers(np.broadcast_to(spec.init, spec.shape), mjcf, dtype=dtype)  # type: ignore[arg-type]
    if spec.dtype.startswith("int"):
        return Whole(spec.init, mjcf)
    assert isinstance(spec.init, float | int)
    return Real(spec.init, mjcf, single=spec.dtype == "float32")


def _fields(declared: type, unwritten: tuple[str, ...] = ()) -> dict[str, Any]:
    """Attributes for all fields of a group of settings; some have no attribute of the same name in MJCF."""
    return {spec.name: _field(spec, "" if spec.name in unwritten else None) for spec in specs_of(declared)}


class MjLROpt(Record):
    """How length ranges of actuators are found: `<lengthrange>`."""

    mode = Whole(1)
    useexisting = Whole(1)
    uselimit = Whole(0)
    accel = Real(20.0)
    maxforce = Real(0.0)
    timeconst = Real(1.0)
    timestep = Real(0.01)
    inttotal = Real(10.0)
    interval = Real(2.0)
    tolrange = Real(0.05)


class MjsCompiler(Record):
    """How a spec is compiled: `<compiler>`. An attached spec keeps its own."""

    autolimits = Whole(1)
    boundmass = Real(0.0)
    boundinertia = Real(0.0)
    settotalmass = Real(-1.0)
    balanceinertia = Whole(0)
    fitaabb = Whole(0)
    degree = Whole(1, "")
    eulerseq = Letters(MjCharVec, "xyz", "")
    discardvisual = Whole(0)
    usethread = Whole(1)
    fusestatic = Whole(0)
    inertiafromgeom = Whole(2)
    inertiagrouprange = Numbers([0, 5], dtype=np.int32)
    saveinertial = Whole(0)
    alignfree = Whole(0)
    LRopt = Part(MjLROpt)
    meshdir = Text()
    texturedir = Text()


class _Options(Record):
    """Flags of the options by their words."""

    @property
    def flags(self) -> dict[str, bool]:
        """Flags that are not as MuJoCo has them, by their MJCF words."""
        disabled, enabled = self._values["disableflags"], self._values["enableflags"]
        off = {bit.keyword: False for bit in DisableBit if disabled & int(bit)}
        return {**off, **{bit.keyword: True for bit in EnableBit if enabled & int(bit)}}


MjOption = type(
    "MjOption",
    (_Options,),
    {
        "__module__": __name__,
        "__doc__": "Options of the simulation: `<option>`, with its flags as bits.",
        **_fields(Option, ("disableflags", "enableflags", "disableactuator")),
    },
)


class MjStatistic(Record):
    """Statistics that the model's author gives: `<statistic>`; nan for what is to be computed."""

    meaninertia = Real(math.nan)
    meanmass = Real(math.nan)
    meansize = Real(math.nan)
    extent = Real(math.nan)
    center = Numbers([math.nan, 0.0, 0.0])


def _group(name: str, declared: type) -> type[Record]:
    doc = f"`<{name.strip('_')}>` of `<visual>`."
    return type(
        f"MjVisual{name.title()}", (Record,), {"__module__": __name__, "__doc__": doc, **_fields(declared)}
    )


GROUPS = {
    path.removeprefix("vis."): _group(path.removeprefix("vis."), declared)
    for path, declared in VISUAL_GROUPS.items()
}
"""The groups of `<visual>`."""
MjVisual = type(
    "MjVisual",
    (Record,),
    {
        "__module__": __name__,
        "__doc__": "How a model is drawn: `<visual>`.",
        **{name: Part(kind) for name, kind in GROUPS.items()},
        "global": property(lambda self: self.global_),
    },
)
