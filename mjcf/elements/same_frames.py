"""Whether the frame of a geom, a site or a body's inertia is that of its body, which saves work at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.contracts.enums import SameFrame
from dovetail.mjcf.geometry.rotation import Vec

if TYPE_CHECKING:
    from dovetail.mjcf.elements.body import BodyItem
    from dovetail.mjcf.elements.poses import PosedItem

_SAME = 1e-6
"""Poses that differ by less than this count as equal (kFrameEps)."""


def _same(a: Vec, b: Vec) -> bool:
    return all(abs(x - y) < _SAME for x, y in zip(a, b, strict=True))


def _same_rotation(a: Vec, b: Vec) -> bool:
    return _same(a, b) or _same(a, tuple(-x for x in b))


def body_sameframe(body: BodyItem) -> int:
    """Whether the inertial frame is the body frame, or only its rotation is."""
    assert body.ipos is not None
    if not _same_rotation(body.iquat, (1.0, 0.0, 0.0, 0.0)):
        return SameFrame.NONE
    return SameFrame.BODY if _same(body.ipos, (0.0, 0.0, 0.0)) else SameFrame.BODYROT


def sameframe(item: PosedItem, body: BodyItem) -> int:
    """Which frame of its body a geom or site shares."""
    assert body.ipos is not None
    if _same_rotation(item.quat, (1.0, 0.0, 0.0, 0.0)):
        return SameFrame.BODY if _same(item.pos, (0.0, 0.0, 0.0)) else SameFrame.BODYROT
    if _same_rotation(item.quat, body.iquat):
        return SameFrame.INERTIA if _same(item.pos, body.ipos) else SameFrame.INERTIAROT
    return SameFrame.NONE
