"""Trees at rest that are left alone until something wakes them."""

from __future__ import annotations

from dovetail.implementation import data_field
from dovetail.plugin import Implementation, hookimpl

_FIELDS = (
    data_field("sleep:qpos", "nq", doc="qpos when trees last fell asleep; another one wakes them."),
    data_field("sleep:begun", 1, doc="Whether a step has been made since reset."),
)


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="sleep",
            name="rings",
            backend="numpy",
            target="dovetail.plugins.sleep.rings_numpy:sleep",
            default=True,
            fields=_FIELDS,
            summary="Trees slower than the tolerance for ten steps stop, island by island",
        )
    ]
