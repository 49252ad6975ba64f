"""Words and names that do not exist: every marked line is an error, no other is."""

import dovetail
from dovetail.compare.ab import compare
from dovetail.compare.conform import conform
from dovetail.plugin import DataLike, ModelLike

model = dovetail.laod("humanoid")  # wrong: laod
model = dovetail.load("humanoid", dialect="modern")  # wrong: modern
model = dovetail.loads("<mujoco/>", dialect="modern")  # wrong: modern
sim = dovetail.Simulation(model, precision="f16")  # wrong: f16
sim = dovetail.Simulation(model, on_nan="ignore")  # wrong: ignore
sim = dovetail.Simulation(model, missing="fail")  # wrong: fail
sim = dovetail.Simulation(model, runtime="jax")  # wrong: jax
sim = dovetail.Simulation(model, arch="npu")  # wrong: npu
sim = dovetail.Simulation(model, nworlds=4)  # wrong: nworlds
data = dovetail.make_data(model, precision="double")  # wrong: double
plan = dovetail.compile_plan(model, missing="fail")  # wrong: fail
compare("humanoid", "mass_matrix", "crb@numpy", "crb@taichi", precision="f16")  # wrong: f16
conform("humanoid", precision="f16")  # wrong: f16
conform("humanoid", compiled_by="mojoco")  # wrong: mojoco


def stage(model: ModelLike, data: DataLike) -> None:
    data.qfrc_pasive[:] -= data.qvel  # wrong: qfrc_pasive
    print(model.opt.densty)  # wrong: densty
