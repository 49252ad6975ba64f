"""From controls to joint forces. Compare mj_fwdActuation.

`gain_bias_{numpy,lanes}.py`: controls, activations, forces by the rows `actuator_dynamics`, `actuator_gain`,
`actuator_bias` and `actuator_plugin`, limits, joint forces. `rows_numpy.py` calls the rows and checks what they
return. Tests: `tests/stages/actuation`.
"""

from __future__ import annotations

import attrs

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings

_READS = (
    "ctrl act actuator_length actuator_velocity actuator_moment moment_rownnz moment_rowadr moment_colind "
    "qfrc_gravcomp time"
)


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    numpy, lanes = siblings(
        "actuation",
        "gain_bias",
        default=True,
        reads=_READS,
        summary="Gain times input plus bias, clamped, through the moment arms",
    )
    return [
        numpy,
        attrs.evolve(
            lanes,
            supports="actuator.native actuator.gravcomp trn.joint trn.jointinparent trn.tendon trn.site "
            "trn.slidercrank trn.body",
        ),
    ]
