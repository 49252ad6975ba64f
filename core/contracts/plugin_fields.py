"""Model fields that plugins add, declared as the built-in ones are: `model_field("acme:stiffness", "nbody", 3, …)`.

A record names them (`Implementation.model_fields`); every Model that is made while the plugin is installed has them,
at their initial values unless an element reader or the user sets them: `model.extra["acme:stiffness"]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from dovetail.contracts.fields import DTYPES, REAL, FieldSpec, Init
from dovetail.contracts.sizes import CAPACITIES, SIZES
from dovetail.errors import PluginError, nearest

_NAME = re.compile(r"[a-z]\w*:\w+$")
_TAKEN = "model"
"""The namespace of Data fields that hold a Model field's values of all worlds."""


def model_field(
    name: str,
    *shape: str | int,
    dtype: str = "float64",
    unit: str = "",
    doc: str,
    init: float | tuple[float, ...] = 0,
) -> FieldSpec:
    """A Model field of a plugin's own, named `namespace:field`, for a record's `model_fields`."""
    spec = FieldSpec(
        name=name,
        shape=shape,
        dtype=dtype,
        unit=unit,
        doc=doc,
        writer=None,
        tolerance=0.0,
        state=False,
        init=init,
    )
    problem = wrong_with(spec)
    if problem:
        raise PluginError(f"Model field {name!r} of a plugin {problem}")
    return spec


def wrong_with(spec: FieldSpec) -> str:
    """What keeps a declaration from being a plugin's Model field; empty if nothing does."""
    sizes = [d for d in spec.shape if isinstance(d, str)]
    unknown = [d for d in sizes if d not in SIZES]
    if not _NAME.match(spec.name) or spec.name.partition(":")[0] == _TAKEN:
        return "should be named 'namespace:field', and the namespace cannot be 'model'"
    if spec.dtype not in DTYPES or spec.dtype == REAL:
        return f"has dtype {spec.dtype!r}, should be one of {', '.join(d for d in DTYPES if d != REAL)}"
    if unknown:
        return f"is shaped by {unknown[0]!r}, which is no size{nearest(unknown[0], SIZES)}"
    if not CAPACITIES.isdisjoint(sizes):
        return f"is shaped by {min(CAPACITIES.intersection(sizes))!r}, which is a capacity of Data"
    return "cannot begin as a copy of another field" if isinstance(spec.init, str) else ""


_KEPT = ("name", "shape", "dtype", "unit", "doc", "init")


def as_plain(specs: Iterable[FieldSpec]) -> list[dict[str, Any]]:
    """Declarations as plain values, for a file that is to be read where the plugin may not be installed."""
    return [{key: getattr(spec, key) for key in _KEPT} for spec in specs]


def from_plain(described: Any) -> list[FieldSpec]:
    """Declarations from what `as_plain` made; a ValueError if it is something else."""
    try:
        return [_from_plain(dict(each)) for each in described]
    except (TypeError, KeyError, PluginError) as problem:
        raise ValueError(f"the fields of plugins are not declared well: {problem}") from None


def _from_plain(each: Mapping[str, Any]) -> FieldSpec:
    init: Init = tuple(each["init"]) if isinstance(each["init"], list) else each["init"]
    spec = model_field(each["name"], *each["shape"], dtype=each["dtype"], unit=each["unit"], doc=each["doc"])
    return attrs.evolve(spec, init=init)
