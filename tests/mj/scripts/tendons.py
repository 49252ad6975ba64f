"""A finger is bent by a tendon over a pulley; muscle and spring work against each other."""

import mujoco
import numpy as np

XML = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <site name="s0" pos="-0.2 0 0.05"/>
    <body>
      <joint name="j1" axis="0 1 0" damping="0.02" range="-90 90"/>
      <geom name="drum" type="cylinder" size="0.03 0.02" euler="90 0 0" mass="0.05"/>
      <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.015" mass="0.1"/>
      <site name="s1" pos="0.1 0 0.04"/>
      <body pos="0.2 0 0">
        <joint name="j2" axis="0 1 0" damping="0.02" stiffness="0.2"/>
        <geom type="capsule" fromto="0 0 0 0.15 0 0" size="0.012" mass="0.05"/>
        <site name="s2" pos="0.1 0 0.03"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="flexor" stiffness="5" damping="0.1">
      <site site="s0"/><geom geom="drum"/><site site="s1"/><site site="s2"/>
    </spatial>
    <fixed name="sum"><joint joint="j1" coef="1"/><joint joint="j2" coef="0.5"/></fixed>
  </tendon>
  <actuator>
    <motor name="pull" tendon="flexor" gear="2"/>
    <position name="hold" tendon="sum" kp="0.5"/>
  </actuator>
</mujoco>
"""
model = mujoco.MjModel.from_xml_string(XML)
data = mujoco.MjData(model)
for step in range(10000):
    data.actuator("pull").ctrl = -0.5 * (1 + np.sin(3 * data.time))
    data.actuator("hold").ctrl = 0.3
    mujoco.mj_step(model, data)
    if step % 2000 == 1999:
        print(data.tendon("flexor").length, data.tendon("sum").length, *data.qpos, *data.actuator_force)
