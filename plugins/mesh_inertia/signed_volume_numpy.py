"""Exact mass properties of a closed triangle mesh, whatever its inertia mode: signed tetrahedra from one point.

Each face spans a tetrahedron with a common apex; its determinant, positive if the face looks away, weighs integrals
of 1, x and x xᵀ, and what lies outside the mesh cancels (B. Mirtich, Fast and accurate computation of polyhedral mass
properties, 1996). One pass gives all moments about the apex, which then move to the centre of mass. Any apex would
do; the mean of the vertices keeps the numbers small. A mesh whose faces look inward is taken as turned round.

MuJoCo has this for `exact` alone: `legacy` counts every pyramid positive and `convex` integrates the hull. In those
modes this gives the volume inside the mesh's own faces instead.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL


def signed_volume(vertices: Array, faces: Array) -> tuple[float, Array, Array]:
    """Volume, centre (3) and inertia about it (3, 3), for unit density."""
    apex = vertices.mean(axis=0)
    corners = (vertices - apex)[faces]
    determinant = np.linalg.det(corners)
    volume = determinant.sum() / 6
    if abs(volume) < MINVAL:
        return 0.0, apex, np.zeros((3, 3))
    added = corners.sum(axis=1)
    centre = determinant @ added / (24 * volume)
    about_apex = (
        np.einsum("f,fki,fkj->ij", determinant, corners, corners)
        + np.einsum("f,fi,fj->ij", determinant, added, added)
    ) / 120
    second = np.sign(volume) * (about_apex - volume * np.outer(centre, centre))
    return float(abs(volume)), apex + centre, np.trace(second) * np.eye(3) - second
