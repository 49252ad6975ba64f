"""Gain of an actuator by gaintype."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    rows = {
        "fixed": "A constant",
        "affine": "Affine in length and velocity",
    }
    return [
        record
        for key, summary in rows.items()
        for record in siblings("actuator_gain", key, key=key, function="gain", summary=summary)
    ]
