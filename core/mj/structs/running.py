"""Where the functions of the drop-in find what runs: the plan of a model, and a step that is kept ready.

One world, double precision, every field readable, on the fastest backend: fields that kernels keep to themselves are
filled when somebody reads them. Configuration files and the environment may choose another backend.
"""

from __future__ import annotations

from dovetail.config import Config
from dovetail.mj.structs.data import MjData
from dovetail.mj.structs.model import MjModel
from dovetail.planning.loading_selection import over_configuration
from dovetail.planning.plan import Plan
from dovetail.planning.planner import compile_plan


def plan_of(m: MjModel) -> Plan:
    """The plan that steps a model as it is now; compiled anew when options that it depends on were edited."""
    for plan in m._plans:
        if plan.is_current:
            return plan
    call = Config.of_call(precision="f64", lanes=1, keep="all")
    plan = compile_plan(m._model, over_configuration(call))
    m._plans[:] = [plan, *m._plans[:3]]
    return plan


def step(m: MjModel, d: MjData, nstep: int = 1) -> None:
    """Advance the state: one foreign call where nothing has changed since the last one."""
    ready = d._ready
    if ready is not None and ready.plan.model is m._model and ready.step(d._data, nstep):
        return
    data, plan = d.seen_by(m), plan_of(m)
    plan.step(data, nstep)
    d._ready = plan.execution.ready(data) if data is d._data else None


def forward(m: MjModel, d: MjData) -> None:
    """Compute everything that follows from the state."""
    plan_of(m).forward(d.seen_by(m))
