"""When there are no passive forces at all.

MuJoCo 3.4 has no flag for gravity compensation, fluid forces and engine plugins of their own; they stop when
springs and dampers are both disabled. Compare mj_passive.
"""

from __future__ import annotations

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.protocols import ModelLike

_BOTH = int(DisableBit.SPRING | DisableBit.DAMPER)


def all_off(model: ModelLike) -> bool:
    """Whether the flags switch every passive force off."""
    return bool(model.opt.disableflags & _BOTH == _BOTH)
