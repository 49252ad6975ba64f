"""Sums along the kinematic tree, and what kinds of joints there are. In lanes: tree_lanes.py."""

from __future__ import annotations

from dovetail.contracts.enums import JointType
from dovetail.contracts.fields import Array

# As plain integers, because comparing an array with a member of an enum takes five times as long.
FREE, BALL, SLIDE, HINGE = map(int, (JointType.FREE, JointType.BALL, JointType.SLIDE, JointType.HINGE))


def single_dof(jnt_type: Array) -> Array:
    """Which joints are hinges or slides, with one coordinate and one velocity."""
    return (jnt_type == HINGE) | (jnt_type == SLIDE)


def add_from_parents(rows: Array, parents: Array) -> None:
    """Add to each body's row its ancestors' rows, in place; bodies come after their parents."""
    for body, parent in enumerate(parents.tolist()):
        if body:
            rows[body] += rows[parent]


def add_to_parents(rows: Array, parents: Array) -> None:
    """Add to each body's row its descendants' rows, in place."""
    parent_of = parents.tolist()
    for body in range(len(parent_of) - 1, 0, -1):
        rows[parent_of[body]] += rows[body]
