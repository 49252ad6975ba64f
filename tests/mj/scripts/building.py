"""A chain of links is built with MjSpec, compiled and let swing."""

import mujoco
import numpy as np

spec = mujoco.MjSpec()
spec.option.timestep = 0.004
spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[3, 3, 0.1], pos=[0, 0, -1.5])
body = spec.worldbody
for link in range(6):
    body = body.add_body(name=f"link{link}", pos=[0.2 if link else 0, 0, 0])
    body.add_joint(name=f"joint{link}", axis=[0, 1, 0], damping=0.01)
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0, 0, 0, 0.2, 0, 0], size=[0.02, 0, 0])
body.add_site(name="end", pos=[0.2, 0, 0])
sensor = spec.add_sensor(name="where", type=mujoco.mjtSensor.mjSENS_FRAMEPOS)
sensor.objtype, sensor.objname = mujoco.mjtObj.mjOBJ_SITE, "end"
model = spec.compile()
data = mujoco.MjData(model)
print(model.nbody, model.nv, model.body_mass.sum())
path = []
while data.time < 3.0:
    mujoco.mj_step(model, data)
    path.append(data.sensor("where").data.copy())
print(*np.mean(path, axis=0), *np.min(path, axis=0))
