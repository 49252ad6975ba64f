"""Rate of activation of an actuator by dyntype."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    rows = {
        "none": "No activation",
        "integrator": "The control is the rate",
        "filter": "First-order filter, Euler-integrated",
        "filterexact": "First-order filter, integrated exactly",
    }
    return [
        record
        for key, summary in rows.items()
        for record in siblings("actuator_dynamics", key, key=key, function="dynamics", summary=summary)
    ]
