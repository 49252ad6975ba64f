"""Writes the golden values: what mujoco==3.4.0 computes for a few models, so that conformance is checked without it.

    python tests/conformance/golden/generate.py

One .npz per model: the MJCF text itself, the compiled model, three random states with every field that the smooth
step writes, and the states after a number of steps. Run it again only to add models or fields.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1])]

STATES = 3
STEPS = 50
SEED = 20
MODELS = ("arm", "humanoid", "tumbler", "chain", "loose", "tree")

INPUTS = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")
"""Fields of mjData that are set."""
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


def main() -> None:
    for name, text in texts().items():
        np.savez_compressed(HERE / f"{name}.npz", **golden(text))
        print(f"{name}.npz: {(HERE / f'{name}.npz').stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
