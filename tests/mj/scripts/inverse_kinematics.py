"""The end of an arm is moved to a target by damped least squares on the Jacobian of a site."""

import mujoco
import numpy as np

XML = """
<mujoco>
  <worldbody>
    <body pos="0 0 0.2">
      <joint axis="0 0 1"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
      <body pos="0.3 0 0">
        <joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
        <body pos="0.3 0 0">
          <joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.03"/>
          <site name="tip" pos="0.2 0 0"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
model = mujoco.MjModel.from_xml_string(XML)
data = mujoco.MjData(model)
site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, "tip")
jacp = np.zeros((3, model.nv))
rng = np.random.default_rng(0)
for _ in range(20):
    target = np.array([0.4, 0.2, 0.4]) + rng.uniform(-0.1, 0.1, 3)
    for _ in range(60):
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        error = target - data.site("tip").xpos
        if np.linalg.norm(error) < 1e-6:
            break
        mujoco.mj_jacSite(model, data, jacp, None, site)
        step = jacp.T @ np.linalg.solve(jacp @ jacp.T + 1e-4 * np.eye(3), error)
        mujoco.mj_integratePos(model, data.qpos, step, 1.0)
    print(np.linalg.norm(error) < 1e-3, *data.qpos)
# The arm holds still against gravity at the last pose, by inverse dynamics.
data.qvel[:], data.qacc[:] = 0, 0
mujoco.mj_inverse(model, data)
print(*data.qfrc_inverse)
