"""Muscles switch on faster than off: (ctrl − act)/tau, both within 0 and 1 where tau is concerned, in lanes.

tau = tau_act·(½ + 3/2·act) when the control is above the activation and tau_deact/(½ + 3/2·act) when below, with
dynprm = (tau_act, tau_deact, width). A width above zero blends the two over controls up to half of it away.
Compare mju_muscleDynamics; the time constants are those of Millard et al. (2013), doi 10.1115/1.4023390.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.plugins.shared.constants import MINVAL


def dynamics(k: Kernel, i: Int, ctrl: Any) -> Any:
    """Rate of change for the clamped control `ctrl`."""
    m = k.model
    act = k.data.act[m.actuator_actadr[i] + m.actuator_actnum[i] - 1]
    towards = k.clip(ctrl, 0.0, 1.0) - act
    rise, fall, width = m.actuator_dynprm[i, :3]
    stretch = 0.5 + 1.5 * k.clip(act, 0.0, 1.0)
    share = rising_share(k, towards, width)
    tau = share * (rise * stretch) + (1.0 - share) * (fall / stretch)
    return towards / k.max(MINVAL, tau)


def rising_share(k: Kernel, towards: Any, width: Any) -> Any:
    """How much of the rising time constant applies: 0 or 1, or with a width a smooth step between."""
    hard = width < MINVAL
    at = k.clip(towards / k.select(hard, 1.0, width) + 0.5, 0.0, 1.0)
    return k.select(hard, k.select(towards > 0.0, 1.0, 0.0), smooth_step(at))


def smooth_step(x: Any) -> Any:
    """The quintic from 0 to 1 whose first two derivatives vanish at both ends."""
    return x * x * x * (6.0 * (x * x) - 15.0 * x + 10.0)
