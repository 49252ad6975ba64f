"""How soft a constraint row is: from solref and solimp to stiffness, damping, impedance and regularisation.

A row acts as a spring-damper in constraint space with acceleration −B v − K I r, where r is the violation
(pos − margin) and the impedance I in (0, 1) is how much of that acceleration the constraint can enforce; it grows
from d0 at r = 0 to dmax at |r| = width along a curve of two power functions that meet at `midpoint`. The
regularisation R = (1 − I)/I · (approximate inverse inertia) makes the solver respect it.
Compare getsolparam, getimpedance and mj_makeImpedance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.constants import MAXIMP, MINIMP, MINVAL
from dovetail.plugins.shared.ordered_numpy import larger
from dovetail.warned import warn

DEFAULT_SOLREF = (0.02, 1.0)
"""Time constant [s] and damping ratio (mj_defaultSolRefImp)."""
DEFAULT_SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
"""d0, dmax, width, midpoint, power."""

REFSAFE = int(DisableBit.REFSAFE)


def safe_solref(
    model: ModelLike,
    solref: Array,
    describe: Callable[[int], str],
    *,
    name: str = "solref",
    default: tuple[float, float] = DEFAULT_SOLREF,
) -> Array:
    """solref (n, 2) with the default in place of mixed signs, and time constants of at least two time steps.
    `describe(i)` names the i-th object in the warning."""
    positive = solref > 0
    mixed = positive[:, 0] != positive[:, 1]
    if mixed.any():
        _warn_of_mixed(solref, np.flatnonzero(mixed), describe, name, default)
        solref = np.where(mixed[:, None], default, solref)
    if model.opt.disableflags & REFSAFE:
        return solref
    slow_enough = larger(solref[:, 0], 2.0 * model.opt.timestep)
    return np.stack([np.where(solref[:, 0] > 0, slow_enough, solref[:, 0]), solref[:, 1]], axis=1)


def _warn_of_mixed(
    solref: Array, mixed: Array, describe: Callable[[int], str], name: str, default: tuple[float, float]
) -> None:
    # the rows of one object share its solref, and it is named once
    for text in dict.fromkeys(
        f"{describe(index)}: {name} {solref[index, 0]:g} {solref[index, 1]:g}" for index in mixed.tolist()
    ):
        warn(
            f"{text} mixes the two formats (both positive: time constant and damping ratio; both negative: "
            f"−stiffness and −damping); {default[0]:g} {default[1]:g} is used",
            RuntimeWarning,
            stacklevel=4,
        )


def safe_solimp(solimp: Array) -> Array:
    """solimp (n, 5) within its bounds: impedances and midpoint inside (0, 1), width ≥ 0, power ≥ 1."""
    safe = np.array(solimp)
    safe[:, [0, 1, 3]] = np.clip(safe[:, [0, 1, 3]], MINIMP, MAXIMP)
    safe[:, 2] = np.maximum(safe[:, 2], 0.0)
    safe[:, 4] = np.maximum(safe[:, 4], 1.0)
    return safe


def impedance(solimp: Array, violation: Array) -> tuple[Array, Array]:
    """Impedance and its slope (n) at each violation; solimp is safe."""
    d0, dmax, width, midpoint, power = solimp.T
    flat = (d0 == dmax) | (width <= MINVAL)
    x = np.abs(violation) / np.where(flat, 1.0, width)
    y, rise = _sigmoid(np.clip(x, 0.0, 1.0), midpoint, power)
    curved = ~flat & (x > 0) & (x < 1)
    value = np.where(flat, 0.5 * (d0 + dmax), d0 + y * (dmax - d0))
    slope = np.sign(violation) * rise * (dmax - d0) / np.where(flat, 1.0, width)
    value = np.where(~flat & (x <= 0), d0, value)
    return np.where(~flat & (x >= 1), dmax, value), np.where(curved, slope, 0.0)


def _sigmoid(x: Array, midpoint: Array, power: Array) -> tuple[Array, Array]:
    """A curve from (0, 0) to (1, 1) and its slope: powers of x up to the midpoint, of 1 − x beyond it."""
    lower = x <= midpoint
    span = np.where(lower, midpoint, 1.0 - midpoint)
    reach = np.where(lower, x, 1.0 - x)
    share = (reach / span) ** (power - 1.0)
    y = np.where(lower, share * reach, 1.0 - share * reach)
    linear = power == 1.0
    return np.where(linear, x, y), np.where(linear, 1.0, power * share)


def stiffness_damping(solref: Array, dmax: Array) -> tuple[Array, Array]:
    """Stiffness [1/s²] and damping [1/s] (n); solref is safe."""
    first, second = solref.T
    standard = first > 0
    with np.errstate(over="ignore"):  # an endless time constant is no stiffness
        scale = np.where(standard, dmax * dmax * first * first * second * second, dmax * dmax)
    stiffness = np.where(standard, 1.0, -first) / np.maximum(scale, MINVAL)
    scale = np.where(standard, dmax * first, dmax)
    damping = np.where(standard, 2.0, -second) / np.maximum(scale, MINVAL)
    return stiffness, damping


def regularisation(value: Array, inverse_inertia: Array) -> Array:
    """R (n) from impedances and approximate inverse inertias."""
    return np.maximum((1.0 - value) * inverse_inertia / value, MINVAL)
