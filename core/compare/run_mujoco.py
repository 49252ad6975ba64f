"""MuJoCo beside a plan, step by step from the same state: every field after every slot, as `conform` compares them.

MuJoCo's step cannot be cut, so after the first divergence of a step those that follow may be its echoes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.compare.conform import StageRecorder, _Bench
from dovetail.compare.oracle import read
from dovetail.compare.run_engines import _assign
from dovetail.compare.run_specs import RunSpec
from dovetail.compare.timeline import Timeline
from dovetail.contracts.types import STATE, Data, Model
from dovetail.planning.plan import Plan
from dovetail.simulation import Simulation

ECHOES = "MuJoCo's step runs as a whole: stages after the first divergence of a step may be its echoes"


class MujocoBench:
    """A plan of ours and MuJoCo; the one that is A says where the next step begins."""

    def __init__(
        self,
        spec: RunSpec,
        ours: Model,
        theirs: Any,
        nworld: int | None,
        timeline: Timeline,
        *,
        mujoco_drives: bool,
    ) -> None:
        recorder = StageRecorder()
        sim = Simulation(
            ours,
            nworld=nworld,
            keep="computed",
            wrap=(recorder,),
            missing="skip",
            **spec.simulation_arguments(),
        )
        self.plan: Plan = sim.plan
        self.bench = _Bench(sim.plan, theirs, recorder, timeline)
        self.mujoco_drives = mujoco_drives

    @property
    def data(self) -> Data:
        return self.bench.data

    def begin(self) -> None:
        """MuJoCo takes the state that our Data is in."""
        self._hand_over()

    def step(self) -> None:
        """One step of both from the same state, compared."""
        self.bench.compare_step()
        if not self.mujoco_drives:
            self._hand_over()

    def _hand_over(self) -> None:
        for number, oracle in enumerate(self.bench.oracles):
            for name in STATE:
                value = np.asarray(self.data.field(name))
                if hasattr(oracle, name):
                    _assign(oracle, name, value[number] if self.bench.batch else value)

    def contacts(self) -> int:
        return int(sum(int(read(oracle, "ncon")) for oracle in self.bench.oracles))

    def energy(self) -> float:
        return float(np.sum(self.bench.oracles[0].energy))
