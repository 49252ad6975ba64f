"""Solver parameters of a contact without weights: of each entry of solref the smaller, of solimp the larger.

The quicker of two time constants and the stiffer of two impedances count, whatever solmix says; so one hard surface
is enough for a hard contact. Compare mj_contactParam, which takes the mean weighted by solmix.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array


def mix_solver(solmix: Array, solref: Array, solimp: Array) -> tuple[Array, Array]:
    """solref (n, 2) and solimp (n, 5) from the values of both geoms, the second axis the geom."""
    return np.minimum(solref[:, 0], solref[:, 1]), np.maximum(solimp[:, 0], solimp[:, 1])
