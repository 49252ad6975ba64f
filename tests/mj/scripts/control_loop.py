"""A pendulum on a cart is swung by a PD controller in a control loop."""

import mujoco
import numpy as np

XML = """
<mujoco>
  <option timestep="0.005" integrator="implicitfast"/>
  <worldbody>
    <body name="cart">
      <joint name="slider" type="slide" axis="1 0 0" damping="0.5"/>
      <geom type="box" size="0.2 0.1 0.05" mass="1"/>
      <body name="pole">
        <joint name="hinge" axis="0 1 0" damping="0.02"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.6" size="0.03" mass="0.3"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="slider" gear="20" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
model = mujoco.MjModel.from_xml_string(XML)
data = mujoco.MjData(model)
data.joint("hinge").qpos = 0.2
angle = []
while data.time < 60.0:
    lean, speed = data.joint("hinge").qpos[0], data.joint("hinge").qvel[0]
    data.ctrl[0] = np.clip(4.0 * lean + 0.6 * speed + 0.1 * data.qpos[0], -1, 1)
    mujoco.mj_step(model, data)
    angle.append(lean)
print(data.time, *data.qpos, *data.qvel)
print(np.mean(angle), np.std(angle))
