"""A gripper attached to the end of an arm: two models become one, twice."""

import mujoco
import numpy as np

ARM = """
<mujoco model="arm">
  <compiler angle="radian"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="upper" pos="0 0 .6">
      <joint name="shoulder" axis="0 1 0" damping="1"/>
      <geom type="capsule" fromto="0 0 0 .4 0 0" size=".04"/>
      <body name="lower" pos=".4 0 0">
        <joint name="elbow" axis="0 1 0" damping="1"/>
        <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
        <site name="flange" pos=".33 0 0" euler="0 1.5707963 0"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="shoulder" joint="shoulder" kp="80"/>
    <position name="elbow" joint="elbow" kp="40"/>
  </actuator>
  <keyframe><key name="home" qpos="-.5 1" ctrl="-.5 1"/></keyframe>
</mujoco>
"""

GRIPPER = """
<mujoco model="gripper">
  <compiler angle="degree"/>
  <default>
    <default class="finger">
      <geom type="box" size=".01 .01 .04" friction="2"/>
      <joint type="slide" damping="2" range="0 .03"/>
    </default>
  </default>
  <worldbody>
    <body name="palm">
      <geom type="box" size=".05 .03 .02" mass=".1"/>
      <body name="left" pos="-.04 0 .06" childclass="finger"><joint name="left" axis="1 0 0"/><geom/></body>
      <body name="right" pos=".04 0 .06" childclass="finger"><joint name="right" axis="-1 0 0"/><geom/></body>
    </body>
  </worldbody>
  <equality><joint joint1="left" joint2="right"/></equality>
  <actuator><position name="grip" joint="left" kp="100"/></actuator>
  <sensor><jointpos name="opening" joint="left"/></sensor>
</mujoco>
"""

arm = mujoco.MjSpec.from_string(ARM)
gripper = mujoco.MjSpec.from_string(GRIPPER)
arm.attach(gripper, prefix="hand-", site="flange")
model = arm.compile()
print("sizes", model.nbody, model.nq, model.nu, model.neq, model.nsensor)
print("bodies", [model.body(i).name for i in range(model.nbody)])
print("palm", np.round(model.body("hand-palm").pos, 9), np.round(model.body("hand-palm").quat, 9))

data = mujoco.MjData(model)
data.ctrl[:2] = [-0.5, 1.0]
data.ctrl[2] = 0.02
for _ in range(300):
    mujoco.mj_step(model, data)
print("joints", np.round(data.qpos, 9))
print("opening", np.round(data.sensordata, 9))
print("palm is at", np.round(data.body("hand-palm").xpos, 9))

# another one, at another place of the same arm
second = mujoco.MjSpec.from_string(GRIPPER)
place = arm.body("upper").add_frame(name="side", pos=[0.2, 0, 0.1], euler=[0, 0, 0.5])
arm.attach(second, prefix="side-", frame="side")
arm.delete(arm.geom("floor"))
model = arm.compile()
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
print("sizes", model.nbody, model.nq, model.nu, model.neq, model.ngeom)
print("mass", round(float(model.body_subtreemass[0]), 9))
print("side palm is at", np.round(data.body("side-palm").xpos, 9))
