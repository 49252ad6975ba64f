"""Rate of activation of an actuator by dyntype."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    rows = {
        "none": "No activation",
        "integrator": "The control is the rate",
        "filter": "First-order filter, Euler-integrated",
        "filterexact": "First-order filter, integrated exactly",
        "muscle": "Muscle: rises and falls at different rates",
    }
    reference_only = {
        "user": "None, unless a plugin has its own",
    }
    both = [
        record
        for key, summary in rows.items()
        for record in siblings(
            "actuator_dynamics", key, key=key, function="dynamics", summary=summary, default=True
        )
    ]
    return both + [
        Implementation(
            stage="actuator_dynamics",
            name=key,
            key=key,
            backend="numpy",
            target=f"dovetail.plugins.actuator_dynamics.{key}_numpy:dynamics",
            summary=summary,
            default=True,
        )
        for key, summary in reference_only.items()
    ]
