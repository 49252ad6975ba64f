"""Elastic constants of one flex: stiffness of elements, bending of edges, stiffness between nodes.

With G the inner products of the gradients of an element's barycentric coordinates, a change of the squared
length of edge (a, b) strains the element by −½·(∇a⊗∇b + ∇b⊗∇a) per unit, so that the energy of St. Venant–Kirchhoff
material is a quadratic form in the squared edge lengths (Weischedel, "A discrete geometric view on
shear-deformable shell models", section 4.1). Bending follows Wardetzky et al., "Discrete quadratic curvature
energies", and Garg et al., "Cubic shells", for surfaces that are curved at rest. Nodes are joined by a trilinear
or triquadratic finite element. See `ComputeStiffness`, `ComputeBending` and `ComputeLinearStiffness` of
MuJoCo's user_mesh.cc.
"""

from __future__ import annotations

import numpy as np

from dovetail.mjcf.geometry.flex_topology import EDGES, Ints, Reals

STIFFNESS_WIDTH = 21
"""Numbers per element: the upper triangle of a form in the six edges of a tetrahedron."""
BENDING_WIDTH = 17
"""Numbers per edge: a form in the four vertices around it, and one for the curvature at rest."""


def element_stiffness(point: Reals, element: Ints, young: float, poisson: float, thickness: float) -> Reals:
    """flex_stiffness (n, 21) of triangles of the given thickness, or of tetrahedra."""
    dim = element.shape[1] - 1
    gram, measure = _gradient_products(point[element])
    scale = measure * thickness / 4 if dim == 2 else measure
    shear = (young / (2 * (1 + poisson)) * scale)[:, None]
    bulk = (young * poisson / ((1 + poisson) * (1 - 2 * poisson)) * scale)[:, None]
    first, second = np.triu_indices(len(EDGES[dim]))
    (a, b), (c, d) = EDGES[dim][first].T, EDGES[dim][second].T
    squared = (gram[:, a, c] * gram[:, b, d] + gram[:, a, d] * gram[:, b, c]) / 2
    stiffness = np.zeros((len(element), STIFFNESS_WIDTH))
    stiffness[:, : len(first)] = shear * squared + bulk * gram[:, a, b] * gram[:, c, d]
    return stiffness


def measures(corner: Reals) -> Reals:
    """Area of triangles or volume of tetrahedra, given by their corners (n, dim+1, 3)."""
    side = corner[:, 1:] - corner[:, :1]
    normal = np.cross(side[:, 0], side[:, 1])
    if corner.shape[1] == 3:
        area: Reals = np.linalg.norm(normal, axis=1) / 2
        return area
    volume: Reals = np.abs(np.einsum("ij,ij->i", normal, side[:, 2])) / 6
    return volume


def _gradient_products(corner: Reals) -> tuple[Reals, Reals]:
    """Inner products of the gradients of barycentric coordinates, and the area or volume of each element."""
    measure = measures(corner)
    if corner.shape[1] == 3:
        opposite = corner[:, [2, 0, 1]] - corner[:, [1, 2, 0]]
        gradient = opposite / (2 * measure)[:, None, None]  # turned by a right angle in the plane, all alike
    else:
        side = corner[:, 1:] - corner[:, :1]
        across = [np.cross(side[:, i], side[:, j]) for i, j in ((1, 2), (2, 0), (0, 1))]
        outer = np.stack([-sum(across), *across], axis=1)
        gradient = outer / (6 * measure)[:, None, None]
    return np.einsum("eik,ejk->eij", gradient, gradient), measure


def bending(point: Reals, flap: Ints, young: float, poisson: float, thickness: float) -> Reals:
    """flex_bending (n, 17); zero for edges of one triangle only."""
    result = np.zeros((len(flap), BENDING_WIDTH))
    inner = np.flatnonzero(flap[:, 3] >= 0)
    if not len(inner):
        return result
    start, end, left, right = (point[flap[inner, i]] for i in range(4))
    cot_left, cot_right = _cotangent(start, end, left), _cotangent(start, right, end)
    cot_left_end, cot_right_end = _cotangent(end, left, start), _cotangent(end, start, right)
    weight = np.stack(
        [
            cot_left_end + cot_right_end,
            cot_left + cot_right,
            -(cot_left + cot_left_end),
            -(cot_right + cot_right_end),
        ],
        axis=1,
    )
    area = _area(start, end, left) + _area(end, start, right)
    rigidity = young / (2 * (1 + poisson)) * thickness**3 / (8 * area)
    along = end - start
    squared = np.einsum("ij,ij->i", along, along)
    height_left = -(cot_left_end[:, None] * (left - start) + cot_left[:, None] * (left - end))
    height_right = -(cot_right_end[:, None] * (right - start) + cot_right[:, None] * (right - end))
    cosine = -np.einsum("ij,ij->i", height_left, height_right) / squared
    form = weight[:, :, None] * weight[:, None, :] * (cosine * rigidity)[:, None, None]
    result[inner, :16] = form.reshape(-1, 16)
    lifted = np.einsum("ij,ij->i", np.cross(along, left - start), right - start)
    skew = (cot_left - cot_left_end) * (cot_right_end - cot_right)
    result[inner, 16] = lifted * skew * rigidity / (squared * np.sqrt(squared))
    return result


def _cotangent(apex: Reals, one: Reals, other: Reals) -> Reals:
    """Cotangent of the angle at the apex."""
    a, b = one - apex, other - apex
    return np.einsum("ij,ij->i", a, b) / np.linalg.norm(np.cross(a, b), axis=1)


def _area(a: Reals, b: Reals, c: Reals) -> Reals:
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def node_stiffness(node: Reals, young: float, poisson: float, order: int) -> Reals:
    """Minus the stiffness matrix of one box-shaped element between (order+1)³ nodes, flattened."""
    place, weight = _quadrature(order)
    size = node[-1] - node[0]
    value, slope = _basis(place, order)
    grids = [[slope if axis == other else value for axis in range(3)] for other in range(3)]
    gradient = np.stack([np.einsum("pa,qb,rc->pqrabc", *grid) for grid in grids], axis=-1)
    gradient = gradient.reshape(len(place) ** 3, -1, 3) / size
    volume = np.einsum("p,q,r->pqr", weight, weight, weight).reshape(-1) * np.prod(size)
    bulk = young * poisson / (1 + poisson) / (1 - 2 * poisson)
    shear = young / (2 * (1 + poisson))
    outer = np.einsum("q,qik,qjl->ikjl", volume, gradient, gradient)
    inner = np.einsum("ikjk->ij", outer)
    turned = outer.transpose(0, 3, 2, 1)
    stretch = inner[:, None, :, None] * np.eye(3)[None, :, None, :]
    result: Reals = -(bulk * outer + shear / 2 * (stretch + turned))
    return result.reshape(-1)


def _quadrature(order: int) -> tuple[Reals, Reals]:
    """Points and weights on [0, 1]: Gauss–Legendre for two points.

    For three, the outer points are where MuJoCo puts them: at ½ ± ½·√(5/3), which is outside the interval (Gauss
    has ½ ± ½·√(3/5)).
    """
    if order == 1:
        offset = 0.5 / np.sqrt(3)
        return np.array([0.5 - offset, 0.5 + offset]), np.array([0.5, 0.5])
    offset = 0.5 / np.sqrt(3 / 5)
    return np.array([0.5, 0.5 - offset, 0.5 + offset]), np.array([8, 5, 5]) / 18


def _basis(s: Reals, order: int) -> tuple[Reals, Reals]:
    """Lagrange polynomials of the nodes on [0, 1] and their slopes, (points, nodes)."""
    if order == 1:
        return np.stack([1 - s, s], axis=1), np.stack([-np.ones_like(s), np.ones_like(s)], axis=1)
    value = np.stack([2 * s * s - 3 * s + 1, 4 * (s - s * s), 2 * s * s - s], axis=1)
    return value, np.stack([4 * s - 3, 4 * (1 - 2 * s), 4 * s - 1], axis=1)
