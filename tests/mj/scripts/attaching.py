"""A gripper is attached to an arm; both close on a ball."""

import mujoco

ARM = """
<mujoco model="arm">
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" damping="1"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.04"/>
      <site name="wrist" pos="0.45 0 0"/>
    </body>
  </worldbody>
  <actuator><position name="shoulder" joint="shoulder" kp="80"/></actuator>
</mujoco>
"""
GRIPPER = """
<mujoco model="gripper">
  <worldbody>
    <body name="palm">
      <geom type="box" size="0.02 0.06 0.02" mass="0.1"/>
      <body name="left" pos="0.02 0.05 0">
        <joint name="left" type="slide" axis="0 -1 0" range="0 0.04" damping="2"/>
        <geom type="box" size="0.03 0.005 0.015" pos="0.03 0 0" mass="0.02"/>
      </body>
      <body name="right" pos="0.02 -0.05 0">
        <joint name="right" type="slide" axis="0 1 0" range="0 0.04" damping="2"/>
        <geom type="box" size="0.03 0.005 0.015" pos="0.03 0 0" mass="0.02"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="left" joint="left" kp="100"/>
    <position name="right" joint="right" kp="100"/>
  </actuator>
</mujoco>
"""
arm = mujoco.MjSpec.from_string(ARM)
gripper = mujoco.MjSpec.from_string(GRIPPER)
arm.attach(gripper, site=arm.site("wrist"), prefix="grip/")
model = arm.compile()
data = mujoco.MjData(model)
print(model.nbody, model.njnt, model.nu, model.actuator(1).name)
for step in range(2000):
    data.actuator("shoulder").ctrl = 0.3
    data.actuator("grip/left").ctrl = data.actuator("grip/right").ctrl = 0.03
    mujoco.mj_step(model, data)
    if step % 500 == 499:
        print(data.time, *data.qpos, *data.body("grip/palm").xpos)
