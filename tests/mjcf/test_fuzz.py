"""Random documents: dovetail and MuJoCo agree on which are models, and on every number of those that are."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
import whole_model
from generator import document
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from oracle import CRASH, Oracle

import dovetail
from dovetail.errors import DovetailError, UnsupportedMJCFError

STRICTER = {
    r"unknown (attribute|element)": "MuJoCo does not check names in bodies below a frame",
    r"kv and dampratio both|kv cannot be negative|dampratio cannot be negative": (
        "MuJoCo swallows these errors of intvelocity and leaves the actuator half set"
    ),
    r"a built-in texture has at least 3 channels": "MuJoCo writes three channels and corrupts its memory",
}
"""Messages with which dovetail refuses what MuJoCo accepts, and why that is right."""
MORE_LENIENT = {
    r"unknown texture in light": "MuJoCo forgets the texture of a light that is replicated",
    r"were marked as sleep='init'": "MuJoCo tries to put the trees to sleep, which depends on contacts",
    r"engine error: FactorizeHessian": "MuJoCo tries a step of the model; a singular mass matrix stops its solver",
}
"""Messages with which MuJoCo refuses what dovetail accepts, and why that is right."""


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    pytest.importorskip("mujoco")
    asked = Oracle()
    yield asked
    asked.close()


def disagreement(xml: str, oracle: Oracle) -> list[str]:
    """What dovetail and MuJoCo do not agree on, but for the known deviations."""
    verdict = oracle.verdict(xml)
    ours, error, singular = _loaded(xml)
    if verdict == CRASH or (verdict and error):
        return []
    if error:
        return [] if _known(error, STRICTER) else [f"only dovetail refuses: {error}"]
    if verdict:
        return [] if _known(verdict, MORE_LENIENT) else [f"only MuJoCo refuses: {verdict}"]
    found = whole_model.differences_but_axes(ours, oracle.model())
    if singular or noisy(
        oracle.model()
    ):  # whatever comes from the inverse of such a matrix is noise on both sides
        found = [line for line in found if line.partition(":")[0] not in whole_model.FROM_INERTIA]
    if almost_flat(oracle.model()):
        found = [line for line in found if not line.startswith("flex_vert0:")]
    return found


def almost_flat(model: Any) -> bool:
    """Whether a flex is flat but for rounding along some axis: fractions of that extent are noise."""
    import mujoco

    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_flex(model, data)
    flexes = np.split(data.flexvert_xpos, model.flex_vertadr[1:]) if model.nflex else []
    extents = np.array([np.ptp(points, axis=0) for points in flexes])
    return bool(((extents > 0) & (extents < _FLAT)).any())


_FLAT = 1e-12
"""Extent below which a flex is flat, m."""


def noisy(model: Any) -> bool:
    """Whether the mass matrix is so close to singular that its inverse has no correct digits."""
    return bool((model.dof_invweight0 < 0).any() or (model.dof_invweight0 > _LARGEST_INVERSE).any())


_LARGEST_INVERSE = 1e9
"""Inverse inertia of a dof beyond which rounding errors are as large as the inertia itself, 1/(kg·m²)."""


def _loaded(xml: str) -> tuple[dovetail.Model | None, str, bool]:
    """The model, the text of the error, and whether the mass matrix is singular; no other errors may come."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            model, error = dovetail.loads(xml), ""
        except UnsupportedMJCFError:
            raise
        except DovetailError as problem:
            model, error = None, str(problem)
    return model, error, any("singular" in str(warning.message) for warning in told)


def _known(message: str, reasons: dict[str, str]) -> bool:
    return any(re.search(pattern, message, re.DOTALL) for pattern in reasons)


def documents(count: int) -> settings:
    """How many documents a test takes, the same ones every time."""
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )


SEEDS = st.integers(0, 2**32 - 1)


@documents(100)
@given(seed=SEEDS)
def test_random_document(oracle: Oracle, seed: int) -> None:
    assert disagreement(document(Random(seed)), oracle) == []


@pytest.mark.slow
@documents(2000)
@given(seed=SEEDS)
def test_many_random_documents(oracle: Oracle, seed: int) -> None:
    assert disagreement(document(Random(seed)), oracle) == []


def test_enough_documents_are_models(oracle: Oracle) -> None:
    """The comparison would mean little if most documents were refused by both."""
    accepted = sum(not oracle.verdict(document(Random(seed))) for seed in range(60))
    assert accepted >= 20
