"""Where the gap of a contact lies: how far away contacts are found, and how near they begin to push."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        *siblings(
            "contact_range",
            "inner_gap",
            default=True,
            summary="Found within the margin, pushing within margin − gap, as MuJoCo 3.4",
        ),
        *siblings(
            "contact_range",
            "outer_gap",
            summary="Found within margin + gap, pushing within the margin, as MuJoCo since 3.9",
        ),
    ]
