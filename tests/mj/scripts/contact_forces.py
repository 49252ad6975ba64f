"""Boxes fall on a table; the forces of their contacts are summed up."""

import mujoco
import numpy as np

XML = """
<mujoco>
  <worldbody>
    <geom name="table" type="plane" size="2 2 0.1"/>
    <body name="a" pos="0 0 0.12"><freejoint/><geom name="a" type="box" size="0.1 0.1 0.1" mass="2"/></body>
    <body name="b" pos="0.5 0 0.3"><freejoint/><geom name="b" type="sphere" size="0.1" mass="1"/></body>
  </worldbody>
</mujoco>
"""
model = mujoco.MjModel.from_xml_string(XML)
data = mujoco.MjData(model)
force = np.zeros(6)
total = np.zeros(3)
for step in range(8000):
    mujoco.mj_step(model, data)
    if step % 500 == 499:
        for i in range(data.ncon):
            mujoco.mj_contactForce(model, data, i, force)
            frame = data.contact[i].frame.reshape(3, 3)
            total += frame.T @ force[:3]
        print(step, data.ncon, *np.round(total, 9))
mujoco.mj_forward(model, data)
names = sorted({mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, g) for c in data.contact for g in c.geom})
print(names)
