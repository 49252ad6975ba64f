"""Damping and stiffness of a joint are found from a recorded motion, by rollouts and least squares."""

import copy

import mujoco
import numpy as np
from mujoco import minimize, rollout

XML = """
<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <body><joint name="j" axis="0 1 0" damping="0.15" stiffness="0.8"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="1"/></body>
  </worldbody>
  <actuator><motor joint="j"/></actuator>
</mujoco>
"""
model = mujoco.MjModel.from_xml_string(XML)
data = mujoco.MjData(model)
rng = np.random.default_rng(2)
control = np.cumsum(rng.normal(0, 0.1, (1, 200, 1)), axis=1)
full = mujoco.mjtState.mjSTATE_FULLPHYSICS
start = np.zeros(mujoco.mj_stateSize(model, full))
mujoco.mj_getState(model, data, start, full)
recorded, _ = rollout.rollout(model, data, start, control)


def residual(parameters):
    models = []
    for damping, stiffness in parameters.T:
        changed = copy.copy(model)
        changed.dof_damping[0], changed.jnt_stiffness[0] = damping, stiffness
        models.append(changed)
    states, _ = rollout.rollout(models, data, np.tile(start, (len(models), 1)), control)
    return (states[:, :, 1] - recorded[0, :, 1]).T


found, _ = minimize.least_squares(
    np.array([0.3, 0.3]), residual, bounds=[np.array([0.01, 0.01]), np.array([1.0, 2.0])], verbose=0
)
print(*np.round(found, 7))
