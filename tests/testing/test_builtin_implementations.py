"""The house checks on every built-in implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from lane_backend import LANES

from dovetail.implementation import Implementation
from dovetail.registry import build_registry
from dovetail.testing import parametrize_with_checks

REGISTRY = build_registry(third_party=False)

PULLED = """
<mujoco>
  <option><flag constraint="disable"/></option>
  <worldbody>
    <site name="post" pos="0 0 1.2"/>
    <body pos="0 0 1">
      <joint name="a" axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/>
      <site name="end" pos="0.4 0 0"/>
      <body pos="0.4 0 0"><joint name="b" axis="0 1 1"/><geom name="ball" size="0.1" pos="0.2 0.1 0"/>
        <site name="tip" pos="0.4 0.2 0"/></body>
    </body>
  </worldbody>
  <tendon>
    <spatial stiffness="40" damping="0.7" springlength="0.1">
      <site site="post"/><site site="end"/><geom geom="ball"/><site site="tip"/>
    </spatial>
    <fixed stiffness="5" damping="0.2"><joint joint="a" coef="1"/><joint joint="b" coef="-2"/></fixed>
  </tendon>
</mujoco>"""
"""A model with tendons, which the kit's samples lack."""


def compiles(record: Implementation) -> bool:
    """Whether its checks compile kernels; what it computes is compared with MuJoCo in tests/stages."""
    return getattr(REGISTRY.backend(record.backend), "language", "") == "lanes"


QUICK = [r for r in REGISTRY.implementations if not compiles(r)]
SLOW = [r for r in REGISTRY.implementations if compiles(r) and r.backend == LANES]


@parametrize_with_checks(QUICK, registry=REGISTRY, models={"pulled": PULLED})
def test_every_house_check_passes(implementation: Implementation, check: Callable[[Any], None]) -> None:
    check(implementation)


@pytest.mark.slow
@parametrize_with_checks(SLOW, registry=REGISTRY, models={"pulled": PULLED})
def test_every_house_check_passes_in_kernels(
    implementation: Implementation, check: Callable[[Any], None]
) -> None:
    check(implementation)
