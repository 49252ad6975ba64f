"""When there are no passive forces at all, in lanes: as passive_flags_numpy.py says."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import DisableBit

_BOTH = int(DisableBit.SPRING | DisableBit.DAMPER)


def all_off(k: Kernel) -> Any:
    """Whether the flags switch every passive force off."""
    return (k.model.opt.disableflags & _BOTH) == _BOTH
