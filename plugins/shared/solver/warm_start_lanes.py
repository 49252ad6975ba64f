"""What a solver in lanes starts from, where that is not finite.

MuJoCo multiplies last step's acceleration by a dense Jacobian. So if one number of it is not finite, neither is the
next acceleration, and the world is in a bad state. Here products leave out what is zero, so this is said outright.
With a sparse Jacobian MuJoCo drops some of the infinite ones.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel


def spoilt_by_last(k: Kernel) -> Any:
    """0, or NaN in worlds where a number of last step's acceleration is not finite."""
    total = k.local(0.0)
    with k.loop(0, k.model.nv) as dof:
        last = k.data.qacc_warmstart[dof]
        total += last - last
    return total.value


def is_broken(x: Any) -> Any:
    """Mask of the worlds in which a number is NaN."""
    return x != x
