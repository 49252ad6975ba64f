"""A batch: arrays have a world axis, scalars are arrays over worlds; names of backends are open."""

import numpy as np

import dovetail


def simulate(model: dovetail.Model, backend: str) -> dovetail.Data:
    sim = dovetail.Simulation(
        model, nworld=64, backend=backend, keep=("xpos", "contact.dist"), precision="f32"
    )
    sim.data.qvel = np.random.default_rng(0).normal(size=(64, model.nv))
    sim.step(100)
    return sim.data


data = simulate(dovetail.loads("<mujoco/>", dialect="legacy"), "taichi")
print(data.time.max(), data.ncon.sum(), data.qpos.shape, data.world(3).time)
own = dovetail.make_data(data.model, 4, precision="f64")
dovetail.forward(data.model, own)
