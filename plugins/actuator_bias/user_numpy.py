"""The user's own bias force, of which there is none: zero.

A plugin gives one by a row of its own under the key `user`. Compare mjBIAS_USER without mjcb_act_bias.
"""

from __future__ import annotations

from dovetail.plugins.actuator_bias.none_numpy import bias

__all__ = ["bias"]
