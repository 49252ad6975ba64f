"""Bias force of an actuator by biastype."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    rows = {
        "none": "Zero",
        "affine": "Affine in length and velocity",
    }
    return [
        record
        for key, summary in rows.items()
        for record in siblings("actuator_bias", key, key=key, function="bias", summary=summary)
    ]
