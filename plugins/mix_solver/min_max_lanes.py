"""Solver parameters of a contact without weights: of each entry of solref the smaller, of solimp the larger.

The quicker of two time constants and the stiffer of two impedances count, whatever solmix says; so one hard surface
is enough for a hard contact. Compare mj_contactParam, which takes the mean weighted by solmix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail.backends.lanes.kernel import Kernel, elementwise


def mix_solver(k: Kernel, solmix: Sequence[Any], solref: Sequence[Any], solimp: Sequence[Any]) -> Any:
    """solref (2) and solimp (5) from the values of both geoms."""
    return elementwise(k.min, solref[0], solref[1]), elementwise(k.max, solimp[0], solimp[1])
