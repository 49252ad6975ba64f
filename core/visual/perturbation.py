"""What is pulled or turned by hand (mjvPerturb)."""

from __future__ import annotations

from enum import IntFlag
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.errors import ArgumentError, shown


class PerturbBit(IntFlag):
    """How a body is moved (mjtPertBit)."""

    TRANSLATE = 1
    ROTATE = 2


def _vector(value: Any) -> Array:
    vector = np.array(value, float)
    if vector.shape != (3,):
        raise ArgumentError(f"a place is three numbers, not {shown(value)}")
    return vector


def _quaternion(value: Any) -> Array:
    quat = np.array(value, float)
    if quat.shape != (4,):
        raise ArgumentError(f"a rotation is a quaternion of four numbers, not {shown(value)}")
    return quat


@attrs.define(eq=False)
class Perturb:
    """A selected body, and where a hand holds it: names are those of MuJoCo's MjvPerturb."""

    select: int = 0
    """The selected body; 0: none."""
    flexselect: int = -1
    skinselect: int = -1
    active: int = 0
    """How it is moved (PerturbBit); 0: it is only selected."""
    active2: int = 0
    refpos: Array = attrs.field(default=(0.0, 0.0, 0.0), converter=_vector)
    """Where the body's centre of mass is pulled to."""
    refquat: Array = attrs.field(default=(1.0, 0.0, 0.0, 0.0), converter=_quaternion)
    """How it is turned to."""
    refselpos: Array = attrs.field(default=(0.0, 0.0, 0.0), converter=_vector)
    """Where the selected point is pulled to."""
    localpos: Array = attrs.field(default=(0.0, 0.0, 0.0), converter=_vector)
    """The selected point in the body's frame."""
    localmass: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, perturb: Any, model: Any) -> Perturb:
        """What somebody gives: a Perturb, an object like MuJoCo's MjvPerturb, or None for nothing selected."""
        if perturb is None:
            return cls()
        names = [field.name for field in attrs.fields(cls)]
        if not isinstance(perturb, Perturb):
            if not hasattr(perturb, "select") or not hasattr(perturb, "active"):
                raise ArgumentError(f"perturb = {shown(perturb)} should be a Perturb")
            given = {name: getattr(perturb, name) for name in names if hasattr(perturb, name)}
            perturb = cls(**given)
        if not 0 <= int(perturb.select) < model.nbody:
            raise ArgumentError(
                f"perturb.select = {perturb.select} should be a body, 1 to {model.nbody - 1}, or 0 for none"
            )
        return perturb
