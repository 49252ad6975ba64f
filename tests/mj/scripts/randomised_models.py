"""Copies of a model with masses and frictions drawn at random: how far does a puck slide?"""

import copy

import mujoco
import numpy as np

XML = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <body name="puck" pos="0 0 0.05">
      <freejoint/><geom name="puck" type="box" size="0.1 0.1 0.05" mass="1" friction="0.3"/>
    </body>
  </worldbody>
</mujoco>
"""
nominal = mujoco.MjModel.from_xml_string(XML)
rng = np.random.default_rng(1)
reach = []
for _ in range(20):
    model = copy.copy(nominal)
    model.geom("puck").friction[0] = rng.uniform(0.2, 0.6)
    model.body("puck").mass = rng.uniform(0.5, 2.0)
    data = mujoco.MjData(model)
    mujoco.mj_setConst(model, data)
    data.qvel[0] = 2.0
    while data.time < 1.5:
        mujoco.mj_step(model, data)
    reach.append(data.qpos[0])
print(*reach)
