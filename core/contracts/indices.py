"""Checking that the integers of a Model point at what exists.

Kernels take ids, addresses and counts as they are: one that points outside its array reads or writes foreign memory.
`check_indices` is asked before anything runs on a Model that was loaded from a file or edited (see
`planning.dependencies.IndexCheck`). This module is the door; behind it are

    `index_rules`       kinds of rules: an id, an address, a count, a member of a set
    `index_table`       the rule of every integer field, and what types of objects and sensors refer to
    `index_relations`   relations between fields, as that a parent comes before its child; looked at where each value
                        is in its range
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.index_relations import CHECKS, MOST_TOLD, told
from dovetail.contracts.index_rules import Free, Rule
from dovetail.contracts.index_table import RULES, WATCHED
from dovetail.errors import ValidationError

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model

__all__ = ["RULES", "WATCHED", "check_indices", "check_rings", "index_problems"]


def check_indices(model: Model) -> None:
    """Raise a ValidationError that lists every id, address and count that points nowhere."""
    problems = index_problems(model)
    if problems:
        raise ValidationError(f"model {model.modelname or model.source}", problems)


def index_problems(model: Model) -> list[str]:
    """What is wrong with the integers of a Model; relations between them are looked at where each is in its range."""
    found = [problem for name, rule in RULES.items() for problem in _field_problems(model, name, rule)]
    return found or [problem for check in CHECKS for problem in check(model)]


def check_rings(data: Data) -> None:
    """Raise a ValidationError where `tree_asleep` of sleeping trees does not make rings: following it would not
    end."""
    count = data.model.ntree
    rings = np.atleast_2d(np.asarray(data.tree_asleep))
    problems = [
        f"{'' if data.nworld is None else f'world {world}: '}tree_asleep is {ring.tolist()}; allowed: below 0 for an "
        f"awake tree, else the next of a ring of sleeping trees, 0 to {count - 1}"
        for world, ring in enumerate(rings)
        if not _is_rings(ring)
    ]
    if problems:
        raise ValidationError("data", problems[:MOST_TOLD])


def _is_rings(following: Array) -> bool:
    """Whether each sleeping tree is followed by another, and follows one."""
    asleep = np.flatnonzero(following >= 0)
    return bool(np.array_equal(np.sort(following[asleep]), asleep))


def _field_problems(model: Model, name: str, rule: Rule) -> list[str]:
    if isinstance(rule, Free):
        return []
    values = np.asarray(model.field(name))
    if not values.size:
        return []
    signed = values.astype(np.int64) if values.dtype.kind == "u" else values
    wrong = rule.wrong(model, signed)
    return told(model, name, wrong, lambda place: rule.allowed(model, place))
