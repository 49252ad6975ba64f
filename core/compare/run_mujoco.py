"""MuJoCo beside a plan, step by step from the same state: every field after every slot, as `conform` compares them.

MuJoCo's step cannot be cut, so after the first divergence of a step those that follow may be its echoes. Of a plan in
kernels the blocks of its kernels are compared, and then its own step as a whole.
"""

from __future__ import annotations

import warnings
from typing import Any

import attrs
import numpy as np

from dovetail.bad_states import StateWarning
from dovetail.compare.conform import StageRecorder
from dovetail.compare.errors import getter
from dovetail.compare.mujoco_fields import MujocoFields, pipeline_order, writer_of
from dovetail.compare.mujoco_moves import Oracle, State, state_of
from dovetail.compare.real_steps import put
from dovetail.compare.run_sides import Side
from dovetail.compare.run_specs import RunSpec
from dovetail.compare.stage_bench import (
    InBlocks,
    InPlace,
    Stages,
    finished,
    is_in_place,
    last_writers,
)
from dovetail.compare.timeline import Timeline
from dovetail.contracts.types import DATA_SPECS, STATE, Data, Model
from dovetail.planning.plan import Plan
from dovetail.simulation import Simulation

ECHOES = "MuJoCo's step runs as a whole: stages after the first divergence of a step may be its echoes"
WHOLE = "whole step"
"""The name under which a step that a kernel takes as one is compared."""
ONLY_WHOLE = "no stage shows it by itself, a whole step does"


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
        def plan(**more: Any) -> Plan:
            said = spec.simulation_arguments()
            return Simulation(ours, nworld=nworld, keep="all", missing="skip", **said, **more).plan

        self.plan = plan()
        self._real: Data | None = None
        self._stages: Stages
        if is_in_place(self.plan):
            recorder = StageRecorder()
            self.plan = plan(wrap=(recorder,))
            self._stages = InPlace(self.plan, recorder)
        else:
            self._stages = InBlocks(Side(spec, ours, self.plan))
            self._real = self.plan.make_data()
        self._fields, self._timeline = MujocoFields(theirs), timeline
        self._oracles = [Oracle(self._fields) for _ in range(nworld or 1)]
        self._states: list[State] = []
        self.mujoco_drives = mujoco_drives

    @property
    def data(self) -> Data:
        """Where our plan's steps leave the state."""
        return self._stages.data if self._real is None else self._real

    def begin(self) -> None:
        """MuJoCo takes the state that our Data is in."""
        self._states = self._own_states()

    def _own_states(self) -> list[State]:
        return [
            {name: np.array(world.field(name)) for name in STATE if name in world}
            for world in self.data.worlds()
        ]

    def step(self) -> None:
        """One step of both from the same state, compared."""
        before = self._timeline.beyond
        self._timeline.moves = None
        self._by_stages()
        if self._real is not None:
            self._whole(self._real, tell=self._timeline.beyond == before)
        self._timeline.moves = None
        if self.mujoco_drives:
            self._states = [state_of(oracle.data) for oracle in self._oracles]
        else:
            self._states = self._own_states()

    def _by_stages(self) -> None:
        """Every stage by itself."""
        for world, state in zip(self._stages.data.worlds(), self._states, strict=True):
            put(world, state)
        for oracle, state in zip(self._oracles, self._states, strict=True):
            oracle.forward(state)
        last = last_writers(self._stages.slots)
        for written in self._stages.run():
            if written.integrates:
                for oracle, state in zip(self._oracles, self._states, strict=True):
                    oracle.step(state)
            matrices = not written.reference
            for slot, spec in finished(written, last):
                if not self._fields.has(spec.name, matrices=matrices):
                    continue
                for number, oracle in self._numbered():
                    self._timeline.moves = oracle.move
                    get = written.of_world(number)
                    pair = self._fields.pair(spec, get, oracle.data, matrices=matrices)
                    self._timeline.add(slot.label, spec, *pair, reference=written.reference, world=number)

    def _numbered(self) -> list[tuple[int | None, Oracle]]:
        single = self._stages.data.nworld is None
        return [(None if single else number, oracle) for number, oracle in enumerate(self._oracles)]

    def _whole(self, data: Data, *, tell: bool) -> None:
        """A step of our kernel from the same state."""
        worlds, timeline = list(data.worlds()), self._timeline
        for world, state in zip(worlds, self._states, strict=True):
            put(world, state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StateWarning)
            self.plan.step(data)
        if not tell:
            return
        before = len(timeline.found)
        late = () if self.plan.replay is None else self.plan.replay.fields
        for name in pipeline_order(name for name, _ in data.fields() if name not in late):
            if not self._fields.has(name, matrices=True):
                continue
            for number, oracle in self._numbered():
                world, timeline.moves = worlds[number or 0], oracle.move
                pair = self._fields.pair(DATA_SPECS[name], getter(world), oracle.data, matrices=True)
                timeline.add(WHOLE, DATA_SPECS[name], *pair, reference=False, world=number)
        timeline.found[before:] = [
            attrs.evolve(one, stage=writer_of(one.field), alone=False, how=ONLY_WHOLE)
            for one in timeline.found[before:]
        ]

    def contacts(self) -> int:
        return int(sum(int(oracle.data.ncon) for oracle in self._oracles))

    def energy(self) -> float:
        return float(np.sum(self._oracles[0].data.energy))
