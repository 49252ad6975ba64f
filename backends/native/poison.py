"""Filling scratch memory of a kernel with numbers that no result survives, wherever a step must not read it.

All memory is filled when a launch begins with a tile, what does not last (`lanes.lifetimes`) before each step and
each forward evaluation. If results change by it, then a step reads what another step, tile or launch has left. Each
program is told whether to do so, so the kernel that is tried out is the one that users run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import attrs
import numpy as np
from numpy.typing import NDArray

from dovetail.backends.lanes.fuse import FusedKernel, kind_of_memory
from dovetail.backends.lanes.lifetimes import Lasts
from dovetail.backends.lanes.memory import PRIVATE
from dovetail.errors import ConfigError, shown

VARIABLE = "DOVETAIL_NATIVE_POISON"


@attrs.frozen
class Poison:
    """What is filled in: one number in place of all reals, and one in place of all integers."""

    real: float
    integer: int


POISONS: Mapping[str, Poison] = {
    "1": Poison(float("nan"), -0x7EADBEEF),
    "2": Poison(1e30, 0x7EADBEEF),
}
"""By what the variable says. NaN spreads, but any comparison with it is false, and a list of less than no entries is
passed over. So the second makes comparisons true, and lists so long that the process ends at a wrong address."""

KINDS = ("numbers", "integers", "reals")
"""What memory holds, by the number that the kernel knows it by."""

FILL = r"""
static __attribute__((noinline)) void fill(const arguments *A, I lasts, V *S, int *SI, fp *R) {
  for (I k = 0; k < 4 * A->npoison; k += 4) {
    const int64_t *p = A->poison + k;
    if (p[0] < lasts) continue;
    const fp real = p[0] ? A->poison_real[0] : (fp)0;
    const int integer = p[0] ? (int)A->poison_integer : 0;
    for (I i = p[2]; i < p[2] + p[3]; i++) {
      if (p[1] == 0) S[i] = SPL(real);
      else if (p[1] == 1) SI[i] = integer;
      else R[i] = real;
    }
  }
}
"""
"""Fill what lasts no longer than that. What lasts as long as the program is filled with what it has at first."""


def wanted() -> Poison | None:
    """What the variable says now."""
    text = os.environ.get(VARIABLE) or "0"
    if text == "0":
        return None
    if text not in POISONS:
        raise ConfigError(f"environment {VARIABLE}: {shown(text)} should be 0, {' or '.join(POISONS)}")
    return POISONS[text]


def table(fused: FusedKernel) -> NDArray[np.int64]:
    """For the kernel: how long memory lasts, its kind, its first place, and how many places."""
    rows = [
        (
            lifetime.lasts,
            KINDS.index(kind_of_memory(name)),
            fused.places[name].offset,
            fused.places[name].count,
        )
        for name, lifetime in fused.lifetimes.items()
        if PRIVATE in name or lifetime.lasts != Lasts.ALWAYS
    ]
    return np.array(sorted(rows), np.int64).reshape(-1, 4)
