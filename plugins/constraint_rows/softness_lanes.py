"""How soft a constraint row is, in lanes: from solref and solimp to stiffness, damping, impedance, regularisation.

The formulas of `impedance.py`, for one row at a time; parameters are uniform (of the Model) or lanes (of contacts).
Mixed signs of solref give the default without a warning: kernels cannot speak.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dovetail.backends.lanes.functions import power
from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.shared.constants import MAXIMP, MINIMP, MINVAL
from dovetail.plugins.shared.rows.impedance_numpy import DEFAULT_SOLREF


class Softness(NamedTuple):
    """What a row needs besides its Jacobian."""

    stiffness: Any
    damping: Any
    impedance: Any
    dmax: Any

    def regularisation(self, k: Kernel, inverse_inertia: Any) -> Any:
        """R from an approximate inverse inertia."""
        return k.max((1.0 - self.impedance) * inverse_inertia / self.impedance, MINVAL)


def softness(k: Kernel, solref: Any, solimp: Any, violation: Any = None) -> Softness:
    """Of a row at a violation (pos − margin, or a norm); None for one that has none."""
    dmax = k.clip(solimp[1], MINIMP, MAXIMP)
    stiffness, damping = stiffness_damping(k, safe_solref(k, solref), dmax)
    value = impedance(k, solimp, violation)
    return Softness(stiffness, damping, value, dmax)


def safe_solref(k: Kernel, solref: Any, default: tuple[float, float] = DEFAULT_SOLREF) -> tuple[Any, Any]:
    """The default in place of mixed signs, and time constants of at least two time steps."""
    first, second = solref
    mixed = ((first > 0.0) & ~(second > 0.0)) | (~(first > 0.0) & (second > 0.0))
    first, second = k.select(mixed, default[0], first), k.select(mixed, default[1], second)
    slowest = k.select(k.disabled(DisableBit.REFSAFE), 0.0, 2.0 * k.model.opt.timestep)
    return k.select(first > 0.0, k.max(first, slowest), first), second


def stiffness_damping(k: Kernel, solref: tuple[Any, Any], dmax: Any) -> tuple[Any, Any]:
    """Stiffness [1/s²] and damping [1/s]; solref is safe."""
    first, second = solref
    standard = first > 0.0
    scale = k.select(standard, dmax * dmax * first * first * second * second, dmax * dmax)
    stiffness = k.select(standard, 1.0, -first) / k.max(MINVAL, scale)
    scale = k.select(standard, dmax * first, dmax)
    return stiffness, k.select(standard, 2.0, -second) / k.max(MINVAL, scale)


def impedance(k: Kernel, solimp: Any, violation: Any) -> Any:
    """Grows from d0 without violation to dmax where it is `width`."""
    d0, dmax = (k.clip(solimp[n], MINIMP, MAXIMP) for n in (0, 1))
    width = k.max(0.0, solimp[2])
    flat = (d0 == dmax) | (width <= MINVAL)
    if violation is None:
        none = k.select(width == width, d0, width)  # a width that is NaN is no width at which it is d0
        return k.select(flat, 0.5 * (d0 + dmax), none)
    x = k.min(1.0, k.abs(violation) / k.select(flat, 1.0, width))
    curved = d0 + sigmoid(k, x, solimp[3], solimp[4]) * (dmax - d0)
    return k.select(flat, 0.5 * (d0 + dmax), k.select(x >= 1.0, dmax, curved))


def sigmoid(k: Kernel, x: Any, midpoint: Any, exponent: Any) -> Any:
    """A curve from (0, 0) to (1, 1): powers of x up to the midpoint, of 1 − x beyond it."""
    midpoint, exponent = k.clip(midpoint, MINIMP, MAXIMP), k.max(1.0, exponent)
    lower = x <= midpoint
    reach = k.select(lower, x, 1.0 - x)
    part = reach / k.select(lower, midpoint, 1.0 - midpoint)
    share = k.local(part)
    with k.when(k.any(exponent != 2.0)):
        # far from cheap, and nearly every model has 2
        share.set(k.select(exponent == 2.0, part, power(k, part, exponent - 1.0)))
    y = k.select(lower, share.value * reach, 1.0 - share.value * reach)
    return k.select(exponent == 1.0, x, y)
