"""Declaring a field of Model or Data: once, with everything that derives from it.

`array()` and `scalar()` state what is known of a field, and `specs_of` an entity gives that as a `FieldSpec` with its
name. Allocation, validation, reset, save/load, documentation, kernel layout and comparison with MuJoCo all read the
specs; nobody repeats them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from dovetail.contracts.sizes import CAPACITIES

Array: TypeAlias = NDArray[Any]
Init: TypeAlias = float | str | tuple[float, ...]

T = TypeVar("T")

_DECLARED = "_declared_fields"
"""Attribute of an entity: what it declares, by name."""

REAL = "real"
"""The floating-point type of Data: float64, or float32 in a Data made with precision="f32"."""

GROWING = "+"
"""Ends the name of a buffer that holds fields whose length is a capacity."""

DTYPES = (REAL, "float64", "float32", "int32", "int64", "uint8", "uint64")


@attrs.frozen(kw_only=True)
class FieldSpec:
    """What is known of one field: its name, shape in size names, and meaning."""

    name: str
    """MuJoCo's name; a field of a group is dotted (`opt.timestep`, `contact.dist`)."""
    shape: tuple[str | int, ...]
    """Size names (see `sizes.py`) and literals; empty for a scalar."""
    dtype: str
    unit: str
    """SI unit, "1" for a pure number, "" for ids, flags and mixed quantities."""
    doc: str
    writer: str | None
    """The stage that computes it; None for what the user or the compiler sets."""
    tolerance: float
    """Largest relative error against MuJoCo 3.4.0 that counts as equal (see `compare`)."""
    state: bool
    """Whether the next step depends on it, so that save/load must carry it."""
    init: Init
    """Value after reset or when unsaid: a number, one per component, or the Model field it is copied from."""

    @property
    def scalar(self) -> bool:
        return not self.shape

    def dims(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape with size names replaced by numbers."""
        return tuple(sizes[d] if isinstance(d, str) else d for d in self.shape)

    def count(self, sizes: Mapping[str, int]) -> int:
        """How many numbers the field holds in one world."""
        total = 1
        for d in self.dims(sizes):
            total *= d
        return total

    @property
    def grows(self) -> bool:
        """Whether its length is a capacity, which grows while a simulation runs."""
        return bool(self.shape) and self.shape[0] in CAPACITIES

    @property
    def buffer(self) -> str:
        """The buffer it lives in: one per dtype, and one more per dtype for what grows, so that growth moves no
        other field."""
        return self.dtype + GROWING if self.grows else self.dtype


class Declared(dict[str, Any]):
    """What `array()` states: a `FieldSpec` but for the name, which is that of the attribute."""


def array(
    *shape: str | int,
    dtype: str = REAL,
    unit: str = "",
    doc: str,
    writer: str | None = None,
    tolerance: float = 1e-10,
    state: bool = False,
    init: Init = 0,
) -> Any:
    """Declare an array field, e.g. `xpos: Array = array("nbody", 3, unit="m", doc="…", writer="kinematics")`."""
    if dtype not in DTYPES:
        raise ValueError(f"dtype {dtype!r} is none of {DTYPES}")
    return Declared(
        shape=shape,
        dtype=dtype,
        unit=unit,
        doc=doc,
        writer=writer,
        tolerance=tolerance,
        state=state,
        init=init,
    )


def scalar(
    *,
    dtype: str = REAL,
    unit: str = "",
    doc: str,
    writer: str | None = None,
    tolerance: float = 1e-10,
    state: bool = False,
    init: Init = 0,
) -> Any:
    """Declare a number of its own, e.g. `time: float = scalar(unit="s", doc="…", writer="integrate")`."""
    return array(
        dtype=dtype,
        unit=unit,
        doc=doc,
        writer=writer,
        tolerance=tolerance,
        state=state,
        init=init,
    )


def entity(cls: type[T]) -> type[T]:
    """Class decorator for a set of declared fields (a part of Model or Data, or a group like Option). The attributes
    are taken off: objects find their fields in an arena."""
    declared = {name: value for name, value in vars(cls).items() if isinstance(value, Declared)}
    for name in declared:
        delattr(cls, name)
    setattr(cls, _DECLARED, declared)
    return cls


def specs_of(cls: type, prefix: str = "") -> Iterator[FieldSpec]:
    """The specs a class declares, own and inherited, in declaration order, dotted under `prefix`."""
    for part in reversed(cls.__mro__):
        for name, declared in vars(part).get(_DECLARED, {}).items():
            yield FieldSpec(name=prefix + name, **declared)


def numpy_dtype(dtype: str, precision: str = "f64") -> np.dtype[Any]:
    """The NumPy dtype of a declared dtype, or of a buffer, at a given precision of `real`."""
    dtype = dtype.removesuffix(GROWING)
    if dtype == REAL:
        return np.dtype(np.float64 if precision == "f64" else np.float32)
    return np.dtype(dtype)
