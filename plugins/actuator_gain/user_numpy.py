"""The user's own gain, of which there is none: 1.

A plugin gives one by a row of its own under the key `user`. Compare mjGAIN_USER without mjcb_act_gain.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike


def gain(model: ModelLike, data: DataLike, ids: Array) -> Array:
    """Gains of the actuators `ids`: one."""
    return np.ones(len(ids))
