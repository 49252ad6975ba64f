"""Ten models for conformance: built-in ones, gymnasium's, the kit's samples, and a random tree.

All run without constraints. `ours(name)` is dovetail's Model, `source(name)` what to give to MuJoCo.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from trees import random_tree

import dovetail
from dovetail.contracts.enums import DisableBit
from dovetail.contracts.types import Model
from dovetail.simulation import MODELS
from dovetail.testing.samples import SAMPLES

BUILT_IN = ("arm", "humanoid", "pendulum", "tumbler")
GYMNASIUM = ("inverted_double_pendulum", "inverted_pendulum", "reacher")
INLINE = {"chain": SAMPLES["chain"], "loose": SAMPLES["loose"], "tree": random_tree(3, 5)}
TEN = (*BUILT_IN, *GYMNASIUM, *INLINE)


def source(name: str) -> str | Path:
    """A path, or MJCF text."""
    if name in INLINE:
        return INLINE[name]
    if name in BUILT_IN:
        return MODELS / f"{name}.xml"
    gymnasium = pytest.importorskip("gymnasium")
    return Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / f"{name}.xml"


@cache
def ours(name: str) -> Model:
    """dovetail's Model, constraints off; compiled once, so treat it as read-only."""
    where = source(name)
    model = dovetail.load(where) if isinstance(where, Path) else dovetail.loads(where)
    model.opt.disableflags = int(model.opt.disableflags) | int(DisableBit.CONSTRAINT)
    return model
