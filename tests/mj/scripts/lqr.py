"""A pole is balanced by a linear quadratic regulator about a state that is linearised by finite differences."""

import mujoco
import numpy as np
import scipy.linalg

XML = """
<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <body>
      <joint type="slide" axis="1 0 0" damping="0.1"/>
      <geom type="box" size="0.2 0.1 0.05" mass="1"/>
      <body>
        <joint axis="0 1 0" damping="0.01"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.6" size="0.03" mass="0.3"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="" gear="10"/></actuator>
</mujoco>
""".replace('joint=""', 'joint="slider"').replace('<joint type="slide"', '<joint name="slider" type="slide"')
model = mujoco.MjModel.from_xml_string(XML)
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
nx = 2 * model.nv
A, B = np.zeros((nx, nx)), np.zeros((nx, model.nu))
mujoco.mjd_transitionFD(model, data, 1e-6, True, A, B, None, None)
Q, R = np.diag([1.0, 10.0, 0.1, 0.1]), np.eye(1)
P = scipy.linalg.solve_discrete_are(A, B, Q, R)
K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
print(*K.ravel())
data.qpos[:] = 0.1, 0.15
dq = np.zeros(model.nv)
for _ in range(6000):
    mujoco.mj_differentiatePos(model, dq, 1.0, np.zeros(model.nq), data.qpos)
    data.ctrl[:] = -K @ np.concatenate([dq, data.qvel])
    mujoco.mj_step(model, data)
print(*data.qpos, *data.qvel)
