"""What kernels are built of: editing a value of the Model needs no new one, editing what builders looked at does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lane_backend import LANES
from row_zoo import zoo_text
from smooth_models import EVERYTHING

import dovetail
from dovetail.backends.lanes.fuse import fuse
from dovetail.backends.lanes.segments import any_places, sources_of, target_of
from dovetail.backends.lanes.transfers import fetchers
from dovetail.backends.native.kernel_text import kernel_sources
from dovetail.backends.taichi.kernel_text import kernel_source
from dovetail.contracts.sizes import CAPACITIES
from dovetail.contracts.types import MODEL_SPECS
from dovetail.planning.plan import Plan
from dovetail.planning.planner import compile_plan
from dovetail.recorded_model import BY_VALUE

PRINTERS = {
    "native": lambda fused: "".join(kernel_sources(fused)),
    "taichi": lambda fused: kernel_source(fused, "taichi"),
}


def lane_plan(model: dovetail.Model) -> Plan:
    return compile_plan(model, dovetail.Config.of_call(backend=LANES, keep="computed"), nworld=8)


def text(plan: Plan) -> str:
    """The kernels of a plan, printed and not compiled."""
    sizes = {**plan.model.sizes, **dict.fromkeys(CAPACITIES, 1)}
    found = []
    for number, group in enumerate(plan.flow.groups):
        if group[0].record.backend == LANES:
            segment = plan.segment(plan.flow, number, whole=False)
            sources = sources_of(segment, any_places(segment, sizes), sizes, (), fetchers(segment))
            found.append(PRINTERS[LANES](fuse(sources, target_of(segment, LANES))))
    return "\n".join(found)


MESHES = """
<mujoco>
  <asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1 .8 .8 .9" scale=".2 .2 .2"/></asset>
  <worldbody>
    <geom type="plane" size="2 2 1"/>
    <camera name="eye" pos="0 -2 1" sensorsize="1e-2 1e-2" resolution="100 100" focal="2e-2 2e-2"/>
    <body pos="0 0 .3"><freejoint/><geom type="mesh" mesh="m"/><site name="s" pos=".1 0 0"/></body>
    <body pos=".4 0 .3"><freejoint/><geom type="ellipsoid" size=".1 .2 .1"/></body>
  </worldbody>
  <sensor><camprojection site="s" camera="eye"/><rangefinder site="s"/></sensor>
</mujoco>
"""
MODELS = {
    "zoo": zoo_text("elliptic", 4),
    "everything": EVERYTHING,
    "meshes": MESHES,
}


@pytest.fixture(
    params=["humanoid", *(pytest.param(name, marks=pytest.mark.slow) for name in ("arm", "tumbler")), *MODELS]
)
def model(request: Any) -> dovetail.Model:
    name = request.param
    return dovetail.loads(MODELS[name]) if name in MODELS else dovetail.load(name)


def test_values_are_read_at_run_time(model: dovetail.Model) -> None:
    """Every real of the Model a little larger, signs kept: the same kernels, but for what is watched by value."""
    plan, rng = lane_plan(model), np.random.default_rng(0)
    before = text(plan)
    by_value = {name.removesuffix(BY_VALUE) for name in plan.depends_on.model.looked_at if BY_VALUE in name}
    for name, spec in MODEL_SPECS.items():
        if spec.dtype.startswith("float") and name not in by_value:
            old = np.asarray(model.field(name))
            model.field(name)[...] = old * rng.uniform(1.0, 1.02, old.shape)
    assert plan.is_current
    assert text(lane_plan(model)) == before


@pytest.mark.by_default("everything")
def test_what_builders_looked_at_is_watched(model: dovetail.Model) -> None:
    """Integers that give another kernel make the plan stale; none is baked in unseen."""
    plan = lane_plan(model)
    before = text(plan)
    plan.depends_on.settle()
    for name in (
        "geom_condim",
        "geom_priority",
        "geom_contype",
        "jnt_limited",
        "opt.cone",
        "opt.disableflags",
    ):
        field = model.field(name)
        old = np.array(field)
        if old.size == 0:
            continue
        field[...] = {"geom_condim": 6, "opt.cone": 1 - old}.get(name, old ^ 1)
        if not np.array_equal(old, field):
            changed = text(lane_plan(model)) != before
            assert not (changed and plan.is_current), name
        field[...] = old
        assert plan.is_current, name
