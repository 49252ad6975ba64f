"""Rotations at random: any, and those that map axes to axes."""

from __future__ import annotations

from itertools import permutations

import numpy as np

QUARTER_TURNS = [
    np.array([np.eye(3)[row] * s for row, s in zip(order, signs, strict=True)])
    for order in permutations(range(3))
    for signs in ((1, 1, 1), (-1, 1, -1), (1, -1, -1))
]


def rotation(rng: np.random.Generator) -> np.ndarray:
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else q[:, [1, 0, 2]]


def quarter_turn(rng: np.random.Generator) -> np.ndarray:
    turn = QUARTER_TURNS[rng.integers(len(QUARTER_TURNS))]
    return turn if np.linalg.det(turn) > 0 else -turn
