"""The user's own dynamics, of which there are none: activations stay as they are.

A plugin gives some by a row of its own under the key `user`. Compare mjDYN_USER without mjcb_act_dyn.
"""

from __future__ import annotations

from dovetail.plugins.actuator_dynamics.none_numpy import dynamics

__all__ = ["dynamics"]
