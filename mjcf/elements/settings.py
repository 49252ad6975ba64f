"""`<option>`, `<size>`, `<statistic>`: settings of the whole model; later sections override."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail import limits
from dovetail.contracts.enums import DisableBit, EnableBit
from dovetail.errors import CapacityError
from dovetail.mjcf.elements.items import SOLIMP, SOLREF
from dovetail.mjcf.elements.object_kinds import USER_SIZES
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context

OPTION_DEFAULTS: dict[str, Any] = {
    "timestep": 0.002,
    "impratio": 1.0,
    "tolerance": 1e-8,
    "ls_tolerance": 0.01,
    "noslip_tolerance": 1e-6,
    "ccd_tolerance": 1e-6,
    "sleep_tolerance": 1e-4,
    "gravity": (0.0, 0.0, -9.81),
    "wind": (0.0, 0.0, 0.0),
    "magnetic": (0.0, -0.5, 0.0),
    "density": 0.0,
    "viscosity": 0.0,
    "o_margin": 0.0,
    "o_solref": SOLREF,
    "o_solimp": SOLIMP,
    "o_friction": (1.0, 1.0, 0.005, 0.0001, 0.0001),
    "integrator": 0,
    "cone": 0,
    "jacobian": 2,
    "solver": 2,
    "iterations": 100,
    "ls_iterations": 50,
    "noslip_iterations": 0,
    "ccd_iterations": 35,
    "disableflags": 0,
    "enableflags": 0,
    "disableactuator": 0,
    "sdf_initpoints": 40,
    "sdf_iterations": 10,
}
"""mj_defaultOption of MuJoCo 3.4.0; SI units."""

SIZE_DEFAULTS: dict[str, int] = {
    "nuserdata": 0,
    "nkey": 0,
    "njmax": -1,
    "nconmax": -1,
    **dict.fromkeys(USER_SIZES, -1),
}
"""−1: as many as the model's elements need."""

_MAX_GROUP = 30
"""Largest actuator group that a bit of opt.disableactuator can stand for."""
_ALLOCATION_ONLY = ("memory", "nstack")
"""How much MuJoCo allocates beforehand; dovetail's arrays grow when needed."""


def read_option(context: Context, node: Node) -> None:
    """Read `<option>` with its `<flag>`."""
    option = context.option
    for name, value in node.values.items():
        if name == "actuatorgroupdisable":
            option["disableactuator"] = _group_bits(node, value)
        elif isinstance(value, tuple):
            option[name] = value + option[name][len(value) :]
        else:
            option[name] = value
    for flag in node.children:
        _read_flag(option, flag)


def _group_bits(node: Node, groups: tuple[int, ...]) -> int:
    for group in groups:
        if not 0 <= group <= _MAX_GROUP:
            raise node.error(f"actuator group {group} is out of range; groups are 0 to {_MAX_GROUP}")
    return sum(1 << group for group in set(groups))


def take_defaults(context: Context) -> None:
    """Start from the defaults of another version's rules."""
    for name, value in context.tables.option_defaults.items():
        if name in OPTION_DEFAULTS:
            context.option[name] = value
        else:
            _set_flag(context.option, name, value)


def _read_flag(option: dict[str, Any], flag: Node) -> None:
    for name, on in flag.values.items():
        _set_flag(option, name, on)


def _set_flag(option: dict[str, Any], name: str, on: bool) -> None:
    disable = {bit.keyword: int(bit) for bit in DisableBit}
    enable = {bit.keyword: int(bit) for bit in EnableBit}
    field, bit, set_it = (
        ("disableflags", disable[name], not on) if name in disable else ("enableflags", enable[name], on)
    )
    option[field] = option[field] | bit if set_it else option[field] & ~bit


def read_size(context: Context, node: Node) -> None:
    """Read `<size>`."""
    if "memory" in node.values and "nstack" in node.values:
        raise node.error("memory and nstack both give the amount of memory; write one", "nstack")
    for name, value in node.values.items():
        if name in _ALLOCATION_ONLY:
            continue
        lowest = -1 if name.startswith("nuser_") or name in ("njmax", "nconmax") else 0
        if value < lowest:
            raise node.error(f"{name} cannot be below {lowest}", name)
        if value > limits.SIZES:
            raise node.too_large(f"{name} is absurdly large; the most is {limits.SIZES}", name)
        context.sizes[name] = value


def read_statistic(context: Context, node: Node) -> None:
    """Read `<statistic>`."""
    if node.values.get("extent", 1.0) <= 0:
        raise node.error("extent must be positive", "extent")
    for name, value in node.values.items():
        if not np.isnan(np.ravel(value)[0]):  # nan stands for what is to be computed
            context.statistic[name] = value


def settle_user_sizes(context: Context) -> None:
    """Replace automatic `nuser_…` by the longest user data there is (`mjCModel::SetNuser`)."""
    for size, kind in USER_SIZES.items():
        items = context.objects[kind]
        if context.sizes[size] == -1:
            context.sizes[size] = max((len(item.user) for item in items), default=0)
        _check_amount(size, context.sizes[size], len(items))


def _check_amount(size: str, length: int, count: int) -> None:
    if length * count > limits.USER_NUMBERS:
        raise CapacityError(
            f"{size} = {length:,} for {count:,} objects: the most is {limits.LIMITS['USER_NUMBERS']} in all"
        )
