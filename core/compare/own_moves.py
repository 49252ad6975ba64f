"""How far a side's own answer moves when what it is computed from is nudged by rounding.

Small forces between large ones, contacts of parts that lie flat on each other, solvers that stop after two iterations
magnify rounding. So where B's answer is beyond its tolerance, A computes its own again from nudged inputs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from dovetail.compare.errors import relative_error
from dovetail.compare.run_sides import Block, transfer
from dovetail.contracts.fields import REAL, Array
from dovetail.contracts.types import Data, Model
from dovetail.planning.plan import Plan

NUDGE = 1e-14
"""About the rounding of one operation, relative to each number."""
NUDGES = 4

Moves = Mapping[str, float]
NUDGED_STATE = ("qpos", "qvel", "act", "qacc_warmstart")


def cache_moves(find: Callable[[], Moves]) -> Callable[[str], float]:
    """Moves by field, found out when one is first asked for."""
    found = cache(find)
    return lambda field: found().get(field, 0.0)


def moves_of_block(
    block: Block, given: Data, copy: Data, evaluation: int, clears: Sequence[str] = ()
) -> Moves:
    """Of what a block leaves, when the numbers that it reads are nudged."""
    reads = sorted(frozenset[str]().union(*(slot.reads for slot in block.slots)))
    real = [name for name in reads if name in copy and copy.specs[name].dtype == REAL]
    names = [name for name in sorted(block.leaves) if name in copy]

    def run(random: np.random.Generator | None) -> dict[str, Array]:
        transfer(copy, given)
        for name in clears:
            copy.field(name)[...] = 0
        for name in real if random is not None else ():
            view = copy.field(name)
            view[...] = _nudged(np.asarray(view), random)
        block.run(copy, evaluation)
        return {name: np.array(copy.field(name)) for name in names}

    return _largest(run)


def moves_of_step(plan: Plan, model: Model, given: Mapping[str, Array]) -> Moves:
    """Of all that a plan's step leaves, when its state is nudged."""
    data = plan.make_data()

    def run(random: np.random.Generator | None) -> dict[str, Array]:
        for name, value in given.items():
            if name in data:
                nudged = random is not None and name in NUDGED_STATE
                data.field(name)[...] = _nudged(value, random) if nudged else value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            plan.step(data)
        return {name: np.array(value) for name, value in data.fields()}

    return _largest(run)


def _nudged(value: Array, random: np.random.Generator | None) -> Array:
    """Each number moved by rounding; what is zero stays so."""
    assert random is not None
    return np.array(value * (1.0 + NUDGE * random.standard_normal(value.shape)))


def _largest(run: Callable[[np.random.Generator | None], dict[str, Array]]) -> Moves:
    """The largest move of each field over some nudges; infinite where they change how many entries there are. What is
    lost, NaN or infinite, tells nothing of rounding."""
    wanted = run(None)
    moves = dict.fromkeys(wanted, 0.0)
    for number in range(NUDGES):
        for name, value in run(np.random.default_rng(number)).items():
            if not np.isfinite(wanted[name]).all():
                continue
            same = value.shape == wanted[name].shape
            moves[name] = max(moves[name], relative_error(value, wanted[name]) if same else np.inf)
    return moves
