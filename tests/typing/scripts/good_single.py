"""One world: every field has a name, a number or an array, and takes what can be written into it."""

import numpy as np
from numpy.typing import NDArray

import dovetail

model = dovetail.load("humanoid")
model.opt.timestep = 0.002
model.opt.gravity = (0, 0, -1.62)
model.opt.gravity[2] *= 2
model.vis.map.znear = 0.1
model.geom_friction[:, 0] = 1.5
extent: float = model.stat.extent
bodies: int = model.nbody
geom_id: int = model.geom("floor").id

sim = dovetail.Simulation(
    model, backend="numpy", precision="f64", on_nan="raise", missing="error", keep="all"
)
sim.data.ctrl = 0.1
sim.data.ctrl[:] = 0.1
sim.data.qpos = [0.0] * model.nq
sim.data.qvel += 1.0
sim.step(10)
sim.reset(worlds=[0])

while sim.data.time < 0.1:
    sim.step()
for contact in range(sim.data.ncon):
    print(sim.data.contact.dist[contact], dovetail.contact_force(model, sim.data, contact))
height: float = sim.data.body("torso").xpos[2]
torso: NDArray[np.float64] = sim.data.body("torso").xpos
sim.data.joint("right_knee").qpos = -0.5
model.joint("right_knee").damping = 1.0
print(sim.data.energy.sum(), sim.data.extra, sim.plan.explain(), height, torso, extent, bodies, geom_id)
