"""Bias force of an actuator by biastype."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    rows = {
        "none": "Zero",
        "affine": "Affine in length and velocity",
        "muscle": "Passive force of a stretched muscle",
    }
    reference_only = {
        "user": "Zero, unless a plugin has its own",
    }
    both = [
        record
        for key, summary in rows.items()
        for record in siblings("actuator_bias", key, key=key, function="bias", summary=summary, default=True)
    ]
    return both + [
        Implementation(
            stage="actuator_bias",
            name=key,
            key=key,
            backend="numpy",
            target=f"dovetail.plugins.actuator_bias.{key}_numpy:bias",
            summary=summary,
            default=True,
        )
        for key, summary in reference_only.items()
    ]
