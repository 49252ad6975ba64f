"""A body is dragged by a mocap body through a weld."""

import mujoco
import numpy as np

XML = """
<mujoco>
  <worldbody>
    <geom type="plane" size="3 3 0.1"/>
    <body name="hand" mocap="true" pos="0 0 0.5"><geom type="sphere" size="0.03" contype="0" conaffinity="0"/></body>
    <body name="load" pos="0 0 0.5"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="0.5"/></body>
  </worldbody>
  <equality><weld body1="hand" body2="load" solref="0.02 1"/></equality>
</mujoco>
"""
model = mujoco.MjModel.from_xml_string(XML)
data = mujoco.MjData(model)
for step in range(6000):
    phase = 2 * np.pi * data.time
    data.mocap_pos[0] = 0.3 * np.sin(phase), 0.2 * np.cos(phase), 0.5 + 0.1 * np.sin(2 * phase)
    mujoco.mju_axisAngle2Quat(data.mocap_quat[0], np.array([0.0, 0.0, 1.0]), 0.5 * phase)
    mujoco.mj_step(model, data)
    if step % 1000 == 999:
        print(*data.body("load").xpos, *data.body("load").xquat)
data.eq_active[0] = 0
mujoco.mj_step(model, data, nstep=300)
print(*data.qpos)
