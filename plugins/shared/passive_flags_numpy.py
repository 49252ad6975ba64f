"""When there are no passive forces at all.

MuJoCo 3.4 has no flag for gravity compensation, fluid forces and engine plugins of their own; they stop when
springs and dampers are both disabled. Compare mj_passive.
"""

from __future__ import annotations

from typing import Any

from dovetail.contracts.enums import DisableBit

_BOTH = int(DisableBit.SPRING | DisableBit.DAMPER)


def all_off(model: Any) -> bool:
    """Whether the flags switch every passive force off."""
    return bool(model.opt.disableflags & _BOTH == _BOTH)
