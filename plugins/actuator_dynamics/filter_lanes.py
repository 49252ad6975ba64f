"""The activation follows the control as a first-order filter: (ctrl − act)/tau, tau = dynprm[0], in lanes.

Compare mjDYN_FILTER in mj_fwdActuation.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.plugins.shared.constants import MINVAL


def dynamics(k: Kernel, i: Int, ctrl: Any) -> Any:
    """Rate of change for the clamped control `ctrl`."""
    m = k.model
    tau = k.max(MINVAL, m.actuator_dynprm[i, 0])
    last = m.actuator_actadr[i] + m.actuator_actnum[i] - 1
    return (ctrl - k.data.act[last]) / tau
