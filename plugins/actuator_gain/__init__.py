"""Gain of an actuator by gaintype."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    rows = {
        "fixed": "A constant",
        "affine": "Affine in length and velocity",
        "muscle": "Active force of a muscle by length and velocity",
    }
    reference_only = {
        "user": "One, unless a plugin has its own",
    }
    both = [
        record
        for key, summary in rows.items()
        for record in siblings("actuator_gain", key, key=key, function="gain", summary=summary, default=True)
    ]
    return both + [
        Implementation(
            stage="actuator_gain",
            name=key,
            key=key,
            backend="numpy",
            target=f"dovetail.plugins.actuator_gain.{key}_numpy:gain",
            summary=summary,
            default=True,
        )
        for key, summary in reference_only.items()
    ]
