"""Calling the rows of actuation's tables, and checking what they return.

A row may be anybody's: a plugin's, or a function that a user registered. What it returns is checked, so that a
wrong shape is an error that names the row instead of numbers that spread by broadcasting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

import numpy as np

from dovetail.contracts.engine_plugins import plugin_config, plugin_name
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.errors import RowResultError, listing

Row = Callable[..., Any]
Parts = Mapping[str, Mapping[str, Row]]


def by_type(
    model: ModelLike,
    data: DataLike,
    parts: Parts,
    table: str,
    types: Array,
    names: type[IntEnum],
    ids: Array,
    *more: Array,
) -> Array:
    """One number for each actuator of `ids` from the rows of a table, each called once for those of its type; `more`
    are arguments with one entry per actuator."""
    value = np.zeros(len(ids))
    kinds = types[ids]
    for kind in set(kinds.tolist()):
        of_kind = np.flatnonzero(kinds == kind)
        members = ids[of_kind]
        key = names(kind).name.lower()
        row = row_of(model, parts, table, key, members)
        result = row(model, data, members, *(argument[of_kind] for argument in more))
        value[of_kind] = checked(result, (len(members),), f"{table}:{key}", row)
    return value


def of_plugin(model: ModelLike, data: DataLike, parts: Parts, actuator: int) -> tuple[Array, float]:
    """Rates of activations and force of an actuator that an engine plugin drives."""
    instance = int(model.actuator_plugin[actuator])
    key = plugin_name(model, instance)
    row = row_of(model, parts, "actuator_plugin", key, np.array([actuator]))
    slot = f"actuator_plugin:{key}"
    config = plugin_config(model, instance)
    try:
        result = row(model, data, actuator, config)
    except (IndexError, ValueError) as problem:
        raise RowResultError(
            f"{slot} ({origin(row)}) does not work for {label(model, actuator)} with {dict(config)} and "
            f"{int(model.actuator_actnum[actuator])} activations: {problem}"
        ) from problem
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RowResultError(
            f"{slot} ({origin(row)}) returned {short(result)}; it should return (rates, force)"
        )
    rates = checked(result[0], (int(model.actuator_actnum[actuator]),), slot, row)
    return rates, float(checked(result[1], (), slot, row))


def row_of(model: ModelLike, parts: Parts, table: str, key: str, ids: Array) -> Row:
    """The row under a key; the error says which actuator wanted it and which rows there are."""
    rows = parts[table]
    if key not in rows:
        raise KeyError(
            f"{label(model, int(ids[0]))} needs {table} {key!r}; there are: {listing(rows)}. "
            f"A plugin can add a row {key!r} to the table {table}."
        )
    return rows[key]


def checked(result: Any, shape: tuple[int, ...], slot: str, row: Row) -> Array:
    """What a row returned, as numbers of the shape it should have."""
    try:
        value = np.asarray(result)
    except ValueError as error:
        raise RowResultError(f"{slot} ({origin(row)}) returned {short(result)}: {error}") from None
    if value.dtype.kind not in "fiub":
        raise RowResultError(
            f"{slot} ({origin(row)}) returned {short(result)}, which is not numbers; "
            f"expected an array of shape {shape}"
        )
    if value.shape != shape:
        raise RowResultError(f"{slot} ({origin(row)}) returned shape {value.shape}, expected {shape}")
    return value


def origin(row: Row) -> str:
    """Where a row is defined, which tells whose it is."""
    return f"{getattr(row, '__module__', '?')}:{getattr(row, '__qualname__', repr(row))}"


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def label(model: Any, actuator: int) -> str:
    """An actuator in a message: its name where it has one."""
    name = model.actuator(actuator).name
    return f"actuator {name!r}" if name else f"actuator {actuator}"
