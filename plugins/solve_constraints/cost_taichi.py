"""The cost of constraint rows in lanes, the forces that are minus its slope, and its second derivatives.

As functions of z = J·qacc − aref, one number per base row of a link (the normal, then the tangents multiplied by
their friction coefficients) or per dof row. With the tangents so scaled, a pyramid's edges are z₀ ± z_k, and an
elliptic cone is round: with T = ‖(z₁, …)‖ and m the square of the regularised slope, z₀ ≥ T costs nothing,
m·z₀ + T ≤ 0 costs ½·D·(z₀² + T²/m), and between them the cost is ½·D/(1 + m)·(z₀ − T)². The rules are those of
`cost_numpy`. Compare mj_constraintUpdate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail.backends.taichi.algebra import MINVAL, dot
from dovetail.backends.taichi.lanes import Kernel
from dovetail.plugins.constraint_lanes import ELLIPTIC, EQUALITY, FRICTIONLESS, Form

# ---- links: z has as many numbers as the link has base rows, D the two weights of Links.D


def link_force(k: Kernel, form: Form, z: Any, D: Any) -> np.ndarray:
    """Forces of the base rows."""
    if form.kind == EQUALITY:
        return np.array([-D[row // 3] * x for row, x in enumerate(z)], dtype=object)
    if form.kind == ELLIPTIC:
        return _elliptic_force(k, z, D)
    edges = _edges(k, form, z)
    force = [-D[0] * sum(up + down for up, down in edges)] if edges else [-D[0] * k.min(z[0], 0.0)]
    return np.array([*force, *(D[0] * (down - up) for up, down in edges)], dtype=object)


def link_weight(k: Kernel, form: Form, z: Any, D: Any) -> np.ndarray:
    """Second derivatives of the cost (dim, dim)."""
    W = np.zeros((form.dim, form.dim)).astype(object)
    if form.kind == EQUALITY:
        np.fill_diagonal(W, [D[row // 3] for row in range(form.dim)])
    elif form.kind == ELLIPTIC:
        _elliptic_weight(k, z, D, W)
    elif form.kind == FRICTIONLESS:
        W[0, 0] = k.select(z[0] < 0.0, D[0], 0.0)
    else:
        for n in range(1, form.dim):
            up, down = (k.select(edge < 0.0, D[0], 0.0) for edge in (z[0] + z[n], z[0] - z[n]))
            W[n, n] = up + down
            W[0, 0] = W[0, 0] + W[n, n]
            W[0, n] = W[n, 0] = up - down
    return W


def link_cost(k: Kernel, form: Form, z: Any, D: Any) -> Any:
    """Cost of a link."""
    if form.kind == EQUALITY:
        return 0.5 * dot([D[row // 3] for row in range(form.dim)], z * z)
    if form.kind == ELLIPTIC:
        cone = _cone(k, z, D)
        middle = 0.5 * cone.stiffness * cone.gap * cone.gap
        bottom = 0.5 * D[0] * (z[0] * z[0] + cone.T * cone.T / D[1])
        return k.select(cone.top, 0.0, k.select(cone.bottom, bottom, middle))
    edges = _edges(k, form, z) or [(k.min(z[0], 0.0), 0.0)]
    return 0.5 * D[0] * sum(up * up + down * down for up, down in edges)


def _edges(k: Kernel, form: Form, z: Any) -> list[tuple[Any, Any]]:
    """How far each pair of a pyramid's edges is below zero."""
    return [(k.min(z[0] + z[n], 0.0), k.min(z[0] - z[n], 0.0)) for n in range(1, form.dim)]


class Cone(NamedTuple):
    """Where an elliptic contact is."""

    T: Any
    """Length of the tangential part, not zero."""
    gap: Any
    stiffness: Any
    """Of the middle zone."""
    top: Any
    bottom: Any


def _cone(k: Kernel, z: Any, D: Any) -> Cone:
    T = k.sqrt(dot(z[1:], z[1:]))
    return Cone(k.max(T, MINVAL), z[0] - T, D[0] / (1.0 + D[1]), z[0] >= T, D[1] * z[0] + T <= 0.0)


def _elliptic_force(k: Kernel, z: Any, D: Any) -> np.ndarray:
    cone = _cone(k, z, D)
    push = cone.stiffness * cone.gap
    normal = k.select(cone.bottom, D[0] * z[0], push)
    tangent = k.select(cone.bottom, -D[0] / D[1], push / cone.T)
    force = np.array([-normal, *(tangent * x for x in z[1:])], dtype=object)
    return k.select(cone.top, np.zeros(len(z)).astype(object), force)


def _elliptic_weight(k: Kernel, z: Any, D: Any, W: np.ndarray) -> None:
    cone = _cone(k, z, D)
    direction = z[1:] / cone.T
    slope = np.array([1.0, *(-u for u in direction)], dtype=object)  # of the gap
    bend = cone.gap / cone.T
    none = k.select(cone.top, 0.0, 1.0)
    for i in range(len(z)):
        for j in range(i + 1):
            curved = slope[i] * slope[j]
            if j > 0:
                curved = curved + bend * slope[i] * slope[j] - (bend if i == j else 0.0)
            flat = 0.0 if i != j else (D[0] if i == 0 else D[0] / D[1])
            W[i, j] = W[j, i] = none * k.select(cone.bottom, flat, cone.stiffness * curved)


# ---- dof rows


class DofCost(NamedTuple):
    """Of one dof row."""

    force: Any
    weight: Any
    cost: Any


def equality_cost(k: Kernel, z: Any, D: Any, loss: Any) -> DofCost:
    return DofCost(-D * z, D, 0.5 * D * z * z)


def friction_cost(k: Kernel, z: Any, D: Any, loss: Any) -> DofCost:
    """Quadratic while the force stays below the friction loss, then linear."""
    push = D * z
    slips = k.abs(push) >= loss
    linear = loss * (k.abs(z) - 0.5 * loss / D)
    return DofCost(
        -k.clip(push, -loss, loss), k.select(slips, 0.0, D), k.select(slips, linear, 0.5 * push * z)
    )


def limit_cost(k: Kernel, z: Any, D: Any, loss: Any) -> DofCost:
    push = D * k.min(z, 0.0)
    return DofCost(-push, k.select(z < 0.0, D, 0.0), 0.5 * push * z)
