"""Length ranges of actuators, which muscles need. Compare mj_setLengthRange.

Begin with `simulation_numpy.py`, which pulls one actuator after the other to both ends of its range by the stages
of the pipeline, and has most models done by `batch_numpy.py`, which pulls all at once, each in a copy of the model
of its own: `batch_tree_numpy.py` moves the copies, `batch_paths_numpy.py` and `batch_wrapping_numpy.py` measure
tendons, `batch_limits_numpy.py` holds joints and tendons at their limits. Tests: `tests/stages/length_range`,
`tests/mjcf/test_lengthrange.py`.
"""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="length_range",
            name="simulation",
            backend="numpy",
            target="dovetail.plugins.length_range.simulation_numpy:length_range",
            default=True,
            summary="Limits, or the ends that an actuator reaches when it pulls both ways in simulation",
        )
    ]
