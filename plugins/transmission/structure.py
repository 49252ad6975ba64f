"""The sparse layout of actuator moments, for backends whose kernels hold no integers.

For joint transmissions the layout does not depend on the state, so it is computed once, by the reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts.derive import make_data
from dovetail.contracts.fields import Array
from dovetail.plugins.transmission.standard_numpy import transmission

if TYPE_CHECKING:
    from dovetail.contracts.types import Model

FIELDS = ("moment_rownnz", "moment_rowadr", "moment_colind")


def moment_structure(model: Model) -> Mapping[str, Array]:
    """Row lengths, row addresses and columns of actuator_moment."""
    data = make_data(model, extra=())
    transmission(model, data)
    return {name: np.array(data.field(name)) for name in FIELDS}
