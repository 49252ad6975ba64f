"""Engines that run freely: a Simulation of ours, and MuJoCo; both with a world axis on everything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dovetail.compare.oracle import read, require_mujoco
from dovetail.compare.run_specs import RunSpec
from dovetail.contracts.enums import EnableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Data, Model
from dovetail.simulation import Simulation

OBSERVED = ("ncon", "energy")


def state_of(data: Data, names: list[str]) -> dict[str, Array]:
    """Fields of a Data with a world axis, in double precision where they are real."""
    return {name: _with_worlds(data, name) for name in names}


def _with_worlds(data: Data, name: str) -> Array:
    value = np.array(data.field(name))
    return value[None] if data.nworld is None else value


class OwnRun:
    """A plan of ours as it would run anywhere: fused where it fuses."""

    def __init__(self, spec: RunSpec, model: Model, nworld: int | None) -> None:
        self.sim = Simulation(
            model, nworld=nworld, keep=OBSERVED, missing="skip", **spec.simulation_arguments()
        )
        self.precision: str = self.sim.plan.precision

    def begin(self, state: Mapping[str, Array]) -> None:
        data = self.sim.data
        for name, value in state.items():
            if name in data:
                data.field(name)[...] = value if data.nworld is not None else value[0]

    def step(self) -> None:
        self.sim.step()

    def read(self, name: str) -> Array:
        return _with_worlds(self.sim.data, name)

    def contacts(self) -> int:
        return int(np.sum(self.sim.data.field("ncon"))) if "ncon" in self.sim.data else 0

    def energy(self) -> float:
        on = int(self.sim.model.opt.enableflags) & int(EnableBit.ENERGY)
        return float(self.read("energy")[0].sum()) if on and "energy" in self.sim.data else np.nan


class MujocoRun:
    """MuJoCo, a world after the other."""

    precision = "f64"

    def __init__(self, model: Any, nworld: int | None) -> None:
        self.mujoco, self.model = require_mujoco(), model
        self.worlds = [self.mujoco.MjData(model) for _ in range(nworld or 1)]

    def begin(self, state: Mapping[str, Array]) -> None:
        for number, world in enumerate(self.worlds):
            for name, value in state.items():
                if hasattr(world, name):
                    _assign(world, name, value[number])

    def step(self) -> None:
        for world in self.worlds:
            self.mujoco.mj_step(self.model, world)

    def read(self, name: str) -> Array:
        return np.stack([np.array(read(world, name)) for world in self.worlds])

    def contacts(self) -> int:
        return int(sum(world.ncon for world in self.worlds))

    def energy(self) -> float:
        on = int(self.model.opt.enableflags) & int(EnableBit.ENERGY)
        return float(np.sum(self.worlds[0].energy)) if on else np.nan


def _assign(world: Any, name: str, value: Array) -> None:
    """One field of an MjData; numbers are attributes, arrays are views."""
    if np.ndim(getattr(world, name)):
        getattr(world, name)[...] = np.reshape(value, np.shape(getattr(world, name)))
    else:
        setattr(world, name, np.asarray(value).item())
