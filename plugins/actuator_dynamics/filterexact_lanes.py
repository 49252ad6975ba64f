"""The same filter as `filter`; only its integration differs (see integrate/activation_lanes.py).

Compare mjDYN_FILTEREXACT in mj_fwdActuation.
"""

from __future__ import annotations

from dovetail.plugins.actuator_dynamics.filter_lanes import dynamics

__all__ = ["dynamics"]
