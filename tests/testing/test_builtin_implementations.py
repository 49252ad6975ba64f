"""The house checks on every built-in implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dovetail import pipeline
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


def shares_kernel_fields(record: Implementation) -> bool:
    return not REGISTRY.kernel_fields.keys().isdisjoint((*(record.reads or ()), *(record.writes or ())))


SHARING = {r.stage for r in REGISTRY.implementations if shares_kernel_fields(r)}


def in_large_kernels(record: Implementation) -> bool:
    """Whether it is checked in kernels with the solver, or in one of the many small ones of sensors."""
    part_of = pipeline.stage(record.stage).part_of
    return record.backend == "taichi" and (
        record.stage in SHARING or part_of in SHARING or record.stage == "sensor"
    )


QUICK = [r for r in REGISTRY.implementations if not in_large_kernels(r)]
SLOW = [r for r in REGISTRY.implementations if in_large_kernels(r)]


@parametrize_with_checks(QUICK, registry=REGISTRY, models={"pulled": PULLED})
def test_builtin_implementation(implementation: Implementation, check: Callable[[Any], None]) -> None:
    check(implementation)


@pytest.mark.slow
@parametrize_with_checks(SLOW, registry=REGISTRY, models={"pulled": PULLED})
def test_builtin_implementation_in_large_kernels(
    implementation: Implementation, check: Callable[[Any], None]
) -> None:
    check(implementation)
