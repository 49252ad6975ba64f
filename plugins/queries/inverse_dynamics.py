"""Inverse dynamics of a model: which forces give the accelerations in data.qacc. Compare mj_inverse."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dovetail.contracts.types import Data, Model
from dovetail.planning.plan import Plan
from dovetail.plugins.inverse.newton_euler_numpy import inverse_dynamics
from dovetail.plugins.queries.partial import OBSERVE, POSITION, VELOCITY, plan_of_one_world, run_stages


def inverse(model: Model, data: Data) -> None:
    """Write qfrc_inverse for the state and qacc of one world, and all that leads to it: what follows from positions
    and velocities, constraint forces (efc_force, efc_state, qfrc_constraint), sensors and energy."""
    inverse_with(plan_of_one_world(model, data), data, POSITION | VELOCITY)


def inverse_with(plan: Plan, data: Data, before: Iterable[str], *, observe: bool = True) -> None:
    """The same with the stages of a plan, of which only those named in `before` still have to run; `observe`: also
    what looks at the result."""
    model = plan.model
    if before:
        run_stages(plan, data, before)
    found = inverse_dynamics(model, data)
    nefc = len(found.efc_force)
    data.efc_force[:nefc], data.efc_state[:nefc] = found.efc_force, found.efc_state
    data.qfrc_constraint[:], data.qfrc_inverse[:] = found.qfrc_constraint, found.qfrc_inverse
    if not observe:
        return
    # Sensors see the acceleration in continuous time, which differs from qacc under the flag invdiscrete.
    given = np.array(data.qacc)
    data.qacc[:] = found.qacc
    run_stages(plan, data, OBSERVE)
    data.qacc[:] = given
