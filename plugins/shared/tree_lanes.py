"""Sums along the kinematic tree, in lanes, with the names of tree_numpy.py."""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel, LaneField


def add_to_parents(k: Kernel, rows: LaneField) -> None:
    """Add to each body's row its descendants' rows, in place; the world's row stays as it is."""
    m = k.model
    with k.loop(1, m.nbody, reverse=True) as body:
        parent = m.body_parentid[body]
        with k.when(parent > 0):
            rows[parent] += rows[body]
