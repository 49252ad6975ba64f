"""Who an exception comes from: a note on it that names stage, implementation, package and world.

Typed errors stay what they are; Python prints notes under the traceback, and the commands under their message.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail.implementation import Implementation


def described(record: Implementation, slot: str = "") -> str:
    """`passive_force:wind quadratic@numpy of dovetail-wind`."""
    return f"{slot or record.slot} {record.label} of {record.provider}"


def blame(error: BaseException, record: Implementation, slot: str = "", world: int | None = None) -> None:
    """Say on an exception in which stage it came up; the innermost says it, once."""
    if any(note.startswith(_HEAD) for note in getattr(error, "__notes__", ())):
        return
    place = "" if world is None else f", in world {world}"
    error.add_note(f"{_HEAD}{described(record, slot)}{place} ({record.target})")


_HEAD = "in stage "


@contextmanager
def blamed(record: Implementation, slot: str = "") -> Iterator[None]:
    """Meanwhile exceptions are those of an implementation."""
    try:
        yield
    except Exception as error:
        blame(error, record, slot)
        raise
