"""Stages that an option switches on."""

from __future__ import annotations

from dovetail.contracts.enums import DisableBit, EnableBit
from dovetail.contracts.protocols import ModelLike


def disabled(model: ModelLike, bit: DisableBit) -> bool:
    """Whether a flag of `disableflags` is set."""
    return bool(model.opt.disableflags & bit)


def contacts_off(model: ModelLike) -> bool:
    """Whether no contacts are looked for."""
    return disabled(model, DisableBit.CONSTRAINT) or disabled(model, DisableBit.CONTACT)


def enabled(model: ModelLike, bit: EnableBit) -> bool:
    """Whether a flag of `enableflags` is set."""
    return bool(model.opt.enableflags & bit)


def fwdinv(model: ModelLike) -> str:
    return "enable flag fwdinv" if enabled(model, EnableBit.FWDINV) else ""


def sleep(model: ModelLike) -> str:
    return "enable flag sleep" if enabled(model, EnableBit.SLEEP) else ""
