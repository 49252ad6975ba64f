"""A pendulum on a cart, built element by element, then changed and compiled again while it moves."""

import mujoco
import numpy as np

spec = mujoco.MjSpec()
spec.modelname = "cart and pole"
spec.option.timestep = 0.005
spec.default.geom.rgba = [0.8, 0.6, 0.4, 1]

rail = spec.worldbody.add_body(name="rail", pos=[0, 0, 1])
cart = rail.add_body(name="cart")
cart.add_joint(name="slide", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[1, 0, 0], range=[-1, 1], damping=0.1)
cart.add_geom(name="cart", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.2, 0.1, 0.05], mass=1)

pole = cart.add_body(name="pole")
pole.add_joint(name="hinge", axis=[0, 1, 0], damping=0.01)
pole.add_geom(
    name="pole", type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0, 0, 0, 0, 0, -0.6], size=[0.03, 0, 0]
)
tip = pole.add_site(name="tip", pos=[0, 0, -0.6])

servo = spec.add_actuator(name="servo", trntype=mujoco.mjtTrn.mjTRN_JOINT, target="slide")
servo.set_to_position(kp=20, kv=2)
spec.add_sensor(
    name="tip", type=mujoco.mjtSensor.mjSENS_FRAMEPOS, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="tip"
)

model = spec.compile()
data = mujoco.MjData(model)
data.ctrl[0] = 0.3
data.qpos[1] = 0.5
for _ in range(200):
    mujoco.mj_step(model, data)
print("mass", np.round(model.body_mass, 9))
print("state", np.round(data.qpos, 9), np.round(data.qvel, 9))
print("tip", np.round(data.sensordata, 9))

# a heavier tip: the state is kept
pole.add_geom(name="bob", size=[0.08, 0, 0], pos=[0, 0, -0.6], mass=0.5)
tip.pos = [0, 0, -0.7]
model, data = spec.recompile(model, data)
for _ in range(200):
    mujoco.mj_step(model, data)
print("geoms", model.ngeom, "time", round(data.time, 9))
print("state", np.round(data.qpos, 9), np.round(data.qvel, 9))
print("tip", np.round(data.sensordata, 9))
