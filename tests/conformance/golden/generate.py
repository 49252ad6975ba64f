"""Writes the golden values: what mujoco==3.4.0 computes for a few models, so that conformance is checked without it.

    python tests/conformance/golden/generate.py [collection | smooth]

smooth: one .npz per model with the MJCF text itself, the compiled model, three random states with every field that
the smooth step writes, and the states after a number of steps. collection: one file per model of `collection.py`, as
`references.py` describes. Run it again only to add models or fields.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

STATES = 3
STEPS = 50
SEED = 20
MODELS = ("arm", "humanoid", "tumbler", "chain", "loose", "tree")

INPUTS = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")
"""Fields of mjData that are set."""
UNDEFINED = 1e300
"""What is larger stands for a division by zero."""
AFTER = ("time", "qpos", "qvel", "act")
"""Fields of mjData after the steps."""


def forward_fields() -> list[str]:
    """Fields of mjData after mj_forward: what the slots of the smooth step write."""
    from dovetail.contracts.types import DATA_SPECS

    stages = (
        "kinematics com_position mass_matrix factor_mass transmission transmission_velocity com_velocity "
        "passive_force bias_force actuation smooth_acceleration energy"
    )
    return [*(name for name, spec in DATA_SPECS.items() if spec.writer in stages.split()), "qacc"]


def texts() -> dict[str, str]:
    """MJCF by name; it goes into the file, so later changes of these models do not matter."""
    from trees import random_tree

    from dovetail.simulation import MODELS as FOLDER
    from dovetail.testing.samples import SAMPLES

    found = {"chain": SAMPLES["chain"], "loose": SAMPLES["loose"], "tree": random_tree(3, 5)}
    return {name: found.get(name) or (FOLDER / f"{name}.xml").read_text() for name in MODELS}


def golden(text: str) -> dict[str, Any]:
    """Everything MuJoCo says about one model."""
    from dovetail.compare.conform import ignored
    from dovetail.compare.oracle import model_from_mujoco, read, require_mujoco
    from dovetail.contracts.types import MODEL_SPECS

    mujoco = require_mujoco()
    theirs = mujoco.MjModel.from_xml_string(text)
    model = model_from_mujoco(theirs)
    arrays: dict[str, Any] = {"mjcf": np.array(text), "mujoco": np.array(mujoco.__version__)}
    for name in MODEL_SPECS:
        value = np.asarray(model.field(name))
        if value.size and not ignored(name):
            arrays[f"model/{name}"] = value
    rng = np.random.default_rng(SEED)
    oracles = [random_oracle(theirs, model, rng) for _ in range(STATES)]

    def record(section: str, names: Sequence[str]) -> None:
        for name in names:
            values = np.stack([np.asarray(read(oracle, name)) for oracle in oracles])
            if values.size:
                arrays[f"{section}/{name}"] = values

    record("state", INPUTS)
    for oracle in oracles:
        mujoco.mj_forward(theirs, oracle)
    record("forward", forward_fields())
    for oracle in oracles:
        mujoco.mj_step(theirs, oracle, STEPS)
    record("after", AFTER)
    return arrays


def random_oracle(theirs: Any, model: Any, rng: np.random.Generator) -> Any:
    """An MjData in a random state, gently pushed."""
    from dovetail.compare.oracle import require_mujoco
    from dovetail.compare.states import random_state

    oracle = require_mujoco().MjData(theirs)
    for name, value in random_state(model, rng).items():
        getattr(oracle, name)[...] = value
    oracle.qfrc_applied[:] *= 0.1
    oracle.xfrc_applied[:] *= 0.1
    return oracle


def compiled(entry: Any) -> Any:
    """MuJoCo's model; flexcomp looks for its files on the disk only."""
    from dovetail.compare.oracle import require_mujoco

    with tempfile.TemporaryDirectory() as folder:
        for name, content in entry.assets.items():
            Path(folder, name).write_bytes(content)
        path = Path(folder, "model.xml")
        path.write_text(entry.text)
        return require_mujoco().MjModel.from_xml_path(str(path))


def reference(name: str, entry: Any) -> Any:
    """What MuJoCo says of a model of the collection."""
    import references

    from dovetail.compare.conform import ignored
    from dovetail.compare.oracle import model_from_mujoco, read, require_mujoco
    from dovetail.contracts.enums import Integrator
    from dovetail.contracts.types import DATA_SPECS, MODEL_SPECS, STATE

    mujoco = require_mujoco()
    theirs = compiled(entry)
    for option, setting in references.SETTINGS.items():
        setattr(theirs.opt, option, setting)
    model = model_from_mujoco(theirs)
    arrays: dict[str, Any] = {}
    for field in MODEL_SPECS:
        value = np.asarray(model.field(field))
        if not value.size or ignored(field):
            continue
        if value.dtype.kind == "f":
            raw = np.asarray(read(theirs, field))
            known = raw.size != value.size or np.abs(raw.reshape(value.shape)) < UNDEFINED
            value = np.where(known, value, np.nan)
        large = value.size > references.MOST
        arrays[f"{'sampled' if large else 'model'}/{field}"] = references.sampled(value) if large else value
    oracle = mujoco.MjData(theirs)
    rng = np.random.default_rng(SEED)
    oracle.qvel[:] = 0.05 * rng.normal(size=theirs.nv)
    oracle.ctrl[:] = rng.uniform(0.1, 0.6, size=theirs.nu)
    mujoco.mj_step(theirs, oracle, entry.warmup)
    arrays |= {f"state/{f}": v for f in STATE if (v := np.array(read(oracle, f))).size}

    def get(field: str) -> Any:
        return np.asarray(read(oracle, field))

    mujoco.mj_forward(theirs, oracle)
    run = references.Run.of(references.Reference(name, entry.text, entry.assets, "", 1, "", {}))
    writers = references.last_writers(run.sim.plan)
    for field, spec in DATA_SPECS.items():
        owner, _, own = field.rpartition(".")
        known = hasattr(read(oracle, owner) if owner else oracle, own)
        slot = writers.get(field, "integrate")
        if slot == "integrate" or not known or not references.compared(field) or spec.state:
            continue
        shape = np.shape(run.sim.data.field(field))[1:]
        raw = (
            get(field)
            if field in references.MATRICES
            else get(field).reshape(-1, *shape)
            if shape
            else get(field)
        )
        value = references.value_of(field, _with(get, field, raw), int(theirs.nv))
        if value.size:
            arrays[f"forward/{field}"] = np.array(value)
    mujoco.mj_step(theirs, oracle)
    for field, slot in writers.items():
        spec = DATA_SPECS[field]
        if slot == "integrate" and not spec.state and references.compared(field) and hasattr(oracle, field):
            arrays[f"step/{field}"] = np.array(get(field))
    if int(theirs.opt.integrator) == int(Integrator.IMPLICIT):
        arrays[f"forward/{references.DERIVATIVE}"] = np.array(oracle.qDeriv)
    mujoco.mj_step(theirs, oracle, entry.steps - 1)
    arrays |= {f"after/{f}": v for f in AFTER if (v := np.array(read(oracle, f))).size}
    return references.Reference(
        name,
        entry.text,
        entry.assets,
        mujoco.__version__,
        entry.steps,
        references.digest(entry.text, arrays),
        arrays,
    )


def _with(get: Any, field: str, value: Any) -> Any:
    """A reader that has one field in another shape."""
    return lambda name: value if name == field else get(name)


def smooth() -> None:
    for name, text in texts().items():
        np.savez_compressed(HERE / f"{name}.npz", **golden(text))
        print(f"{name}.npz: {(HERE / f'{name}.npz').stat().st_size / 1024:.0f} kB")


def collection() -> None:
    import collection as models
    import references

    references.FOLDER.mkdir(exist_ok=True)
    for name, entry in models.entries().items():
        path = references.FOLDER / f"{name.replace(' ', '_')}.npz"
        reference(name, entry).save(path)
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")


def main() -> None:
    jobs = {"smooth": smooth, "collection": collection}
    for name in sys.argv[1:] or jobs:
        jobs[name]()


if __name__ == "__main__":
    main()
