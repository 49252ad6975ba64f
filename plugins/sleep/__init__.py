"""Trees at rest that are left alone until something wakes them."""

from __future__ import annotations

from dovetail.implementation import data_field
from dovetail.plugin import Implementation, hookimpl

_FIELDS = (
    data_field("sleep:qpos", "nq", doc="qpos when trees last fell asleep; another one wakes them."),
    data_field("sleep:begun", 1, doc="Whether an evaluation has been made since reset."),
    data_field(
        "sleep:sensordata", "nsensordata", doc="Readings after the last evaluation; sleepers keep theirs."
    ),
    *(
        data_field(
            f"sleep:{name}", "nbody", 6, doc=f"{name} after the last evaluation; sleepers keep theirs."
        )
        for name in ("cacc", "cfrc_int", "cfrc_ext")
    ),
)

_STAGES = {
    "wake": (
        "waking",
        "Moved, pushed, touched or tied trees wake; nothing is computed that only sleepers feel",
    ),
    "rest": ("resting", "Sleepers are not accelerated, and keep what was measured of them"),
    "sleep": ("rings", "Trees slower than the tolerance for ten steps stop, island by island"),
}


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage=stage,
            name="rings",
            backend="numpy",
            target=f"dovetail.plugins.sleep.{file}_numpy:{stage}",
            default=True,
            fields=_FIELDS,
            facts={"looks_first": "dovetail.plugins.sleep.rings_numpy:looks_first"}
            if stage == "rest"
            else {},
            summary=summary,
        )
        for stage, (file, summary) in _STAGES.items()
    ]
