"""Stages that an option switches on."""

from __future__ import annotations

from typing import Any

from dovetail.contracts.enums import DisableBit, EnableBit


def disabled(model: Any, bit: DisableBit) -> bool:
    """Whether a flag of `disableflags` is set."""
    return bool(model.opt.disableflags & bit)


def enabled(model: Any, bit: EnableBit) -> bool:
    """Whether a flag of `enableflags` is set."""
    return bool(model.opt.enableflags & bit)


def energy(model: Any) -> str:
    return "enable flag energy" if enabled(model, EnableBit.ENERGY) else ""


def fwdinv(model: Any) -> str:
    return "enable flag fwdinv" if enabled(model, EnableBit.FWDINV) else ""


def sleep(model: Any) -> str:
    return "enable flag sleep" if enabled(model, EnableBit.SLEEP) else ""
