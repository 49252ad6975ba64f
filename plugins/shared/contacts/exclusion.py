"""Why a contact makes no constraint rows (`contact.exclude` of mjContact), and which pairs of types never touch."""

from __future__ import annotations

INCLUDED, IN_GAP, NO_DOFS, PASSIVE = 0, 1, 3, 4
"""Why a contact makes no constraint rows: it does; it is no closer than margin − gap; nothing there can move; a
passive flex pushes by itself."""


NEVER_TOUCH = frozenset({"plane-plane", "plane-hfield", "hfield-hfield"})
"""Pairs of types that MuJoCo passes over: such geoms are parts of the scenery."""
