"""Words in which rules give their reasons."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """`2 tendons`, `1 tendon`, or nothing."""
    return f"{count} {noun}{'' if count == 1 else 's'}" if count else ""


def both(*reasons: str) -> str:
    """The reasons there are, as one."""
    return ", ".join(filter(None, reasons))
