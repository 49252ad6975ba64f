"""A third party's forces of flexes that are wrong in one term are found by every comparison, by stage and field."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.compare.ab import compare
from dovetail.compare.conform import conform
from dovetail.compare.shadow import Shadow
from dovetail.config import Config
from dovetail.implementation import Implementation
from dovetail.plugins.passive_force import flex_bending_numpy, flex_elements_numpy, flex_numpy
from dovetail.registry import Registry, build_registry

SLOT = "passive_force:flex"

CLOTH = """
<mujoco model="cloth">
  <option timestep=".001"/>
  <worldbody>
    <flexcomp name="cloth" type="grid" dim="2" count="4 3 1" spacing=".1 .1 .1" radius=".01" mass=".5">
      <elasticity young="1e4" poisson=".2" thickness=".01" elastic2d="both" damping="1e-3"/>
      <edge damping=".1"/>
      <contact contype="0" conaffinity="0" selfcollide="none"/>
    </flexcomp>
    <flexcomp name="shell" type="ellipsoid" dim="2" count="4 4 4" spacing=".1 .1 .1" radius=".01" mass=".5">
      <elasticity young="1e4" poisson=".2" thickness=".01" elastic2d="bend" damping="1e-3"/>
      <contact contype="0" conaffinity="0" selfcollide="none"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""
"""Flat, and curved at rest: only the second has the bending term of curvature."""

Spoil = Callable[[pytest.MonkeyPatch], None]


def sign_of_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dampers of edges push where they should brake."""
    right = flex_numpy.edge_forces
    monkeypatch.setattr(flex_numpy, "edge_forces", lambda m, d: tuple(-part for part in right(m, d)))


def no_element_damping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elongations without what the edges' velocities add."""

    def elongations(model: Any, data: Any) -> Any:
        return data.flexedge_length**2 - model.flexedge_length0**2

    monkeypatch.setattr(flex_elements_numpy, "elongations", elongations)


def no_curvature(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bending as if every flap were flat at rest."""
    monkeypatch.setattr(flex_bending_numpy, "curvature_slopes", np.zeros_like)


SPOILS: dict[str, tuple[Spoil, str]] = {
    "sign": (sign_of_edges, "qfrc_damper"),
    "element damping": (no_element_damping, "qfrc_spring"),
    "curvature": (no_curvature, "qfrc_spring"),
}
"""What is wrong, and the field that shows it."""


def spoiled(spoil: Spoil) -> Callable[[Any, Any], None]:
    """The reference with one term spoiled, while it runs only."""

    def flex(model: Any, data: Any) -> None:
        with pytest.MonkeyPatch.context() as monkeypatch:
            spoil(monkeypatch)
            flex_numpy.flex(model, data)

    return flex


@pytest.fixture(params=SPOILS)
def wrong(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[Registry, str]:
    """The built-in records and `passive_force:flex wrong@numpy`; the field that is wrong."""
    spoil, field = SPOILS[request.param]
    module = ModuleType("wrong_flex")
    module.flex = spoiled(spoil)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wrong_flex", module)
    registry = build_registry(third_party=False)
    right = next(r for r in registry.of(SLOT) if r.backend == "numpy")
    registry.add(
        Implementation(
            stage="passive_force",
            key="flex",
            name="wrong",
            backend="numpy",
            target="wrong_flex:flex",
            reads=right.reads,
            writes=right.writes,
        )
    )
    monkeypatch.setattr("dovetail.registry._cached", ("", registry))
    monkeypatch.delenv("DOVETAIL_DISABLED_PLUGINS", raising=False)
    return registry, field


def reference_label(registry: Registry) -> str:
    return next(r.label for r in registry.of(SLOT) if r.backend == "numpy" and r.default)


def test_compare_names_the_field(wrong: tuple[Registry, str]) -> None:
    registry, field = wrong
    right = reference_label(registry)
    model = dovetail.loads(CLOTH)
    assert compare(model, SLOT, right, right, steps=2, registry=registry).ok
    report = compare(model, SLOT, right, "wrong@numpy", steps=2, registry=registry)
    assert field in {row.field for row in report.failures}
    assert {row.field for row in report.failures} <= {field, "qfrc_passive"}


def test_conform_names_stage_and_field(wrong: tuple[Registry, str]) -> None:
    pytest.importorskip("mujoco")
    _, field = wrong
    config = Config.of_call(stages={SLOT: "wrong"})
    report = conform(CLOTH, steps=1, states=2, config=config, backend="numpy")
    assert (SLOT, field) in {(row.slot, row.field) for row in report.failures}
    earlier = {"kinematics", "com_position", "flex_kinematics", "transmission_velocity", "compile"}
    assert not earlier & {row.slot for row in report.failures}
    assert conform(CLOTH, steps=1, states=2, backend="numpy").ok


def test_a_shadow_names_the_field(wrong: tuple[Registry, str]) -> None:
    registry, field = wrong
    shadow = Shadow(SLOT, reference_label(registry), registry=registry)
    sim = dovetail.Simulation(dovetail.loads(CLOTH), stages={SLOT: "wrong"}, wrap=[shadow], backend="numpy")
    sim.data.qpos[:] += 0.01 * np.random.default_rng(0).normal(size=sim.model.nq)
    sim.data.qvel[:] = np.random.default_rng(1).normal(size=sim.model.nv)
    sim.step(2)
    assert field in {row.field for row in shadow.failures}
