"""What is watched: something with a Model that can be stepped, put back and looked at.

A `Watched` hides from the rest of the viewer whether one world runs or many, in which engine, or whether a recording
is played. `poses` gives the geoms of all worlds, for drawing; `shown` gives one world with every field, for whatever
else is drawn, plotted or pulled at.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from dovetail.contracts.derive import bad_numbers
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Data, Model
from dovetail.errors import NotKeptError
from dovetail.simulation import Simulation

DRAWN = ("geom_xpos", "geom_xmat")
"""Fields of every world that a batch must keep to be drawn."""


class Watched(Protocol):
    """What the viewer needs of whatever it shows."""

    model: Model
    nworld: int | None

    @property
    def timestep(self) -> float: ...

    @property
    def time(self) -> float: ...

    def step(self, count: int) -> None:
        """Advance every world."""

    def reset(self, keyframe: int | None) -> None:
        """Put every world back to the start or to a keyframe."""

    def refresh(self) -> None:
        """Compute what follows from a state that was edited."""

    def bad_state(self) -> str:
        """What is wrong with the state, in words; empty if nothing is."""

    def poses(self) -> tuple[Array, Array]:
        """Positions (worlds, ngeom, 3) and rotation matrices (worlds, ngeom, 9) of all geoms."""

    def shown(self, world: int) -> Data:
        """One world with all fields, to read."""

    def edited(self, world: int) -> Data | None:
        """The same world to write to: controls, applied forces, poses. None: nothing of it can be changed."""


class Lens:
    """One world of a batch, or of a Data that lacks fields, with everything computed: a Simulation of its own that
    takes over the state and goes forward. The state that is looked at stays untouched."""

    def __init__(self, model: Model, **settings: Any) -> None:
        self._settings = {**settings, "keep": "all", "on_nan": "freeze"}
        self._model = model
        self._sim: Simulation | None = None
        self._of: Data | None = None

    def look(self, world: Data) -> Data:
        """The whole of a world."""
        if self._sim is None:
            self._sim = Simulation(self._model, **self._settings)
        own = self._sim.data
        for name in own.state:
            if name in world:
                own.field(name)[...] = world.field(name)
        self._sim.forward()
        return own


class Live:
    """A Simulation: one world or a batch."""

    def __init__(self, sim: Simulation, **settings: Any) -> None:
        self.sim, self.model, self.nworld = sim, sim.model, sim.nworld
        self._lens = Lens(sim.model, **settings)
        self._seen: tuple[float, int] | None = None
        self._world: Data | None = None

    @property
    def timestep(self) -> float:
        return float(self.model.opt.timestep)

    @property
    def time(self) -> float:
        return first_time(self.sim.data)

    def step(self, count: int) -> None:
        self._world = None
        self.sim.step(count)

    def reset(self, keyframe: int | None) -> None:
        self._world = None
        self.sim.reset(keyframe)

    def refresh(self) -> None:
        self._world = None
        self.sim.forward()

    def bad_state(self) -> str:
        return bad_state(self.sim.data)

    def poses(self) -> tuple[Array, Array]:
        return geom_poses(self.sim.data)

    def shown(self, world: int) -> Data:
        if self.nworld is None:
            return self.sim.data
        if self._world is None or self._seen != (self.time, world):
            self._world, self._seen = self._lens.look(self.sim.data.world(world)), (self.time, world)
        return self._world

    def edited(self, world: int) -> Data | None:
        self._world = None
        return self.sim.data.world(world)


class Passive:
    """A Data that somebody else steps; what it lacks for drawing is computed beside it."""

    def __init__(self, model: Model, data: Data) -> None:
        self.model, self.data, self.nworld = model, data, data.nworld
        self._lens = Lens(model)
        self._batch: Simulation | None = None

    @property
    def timestep(self) -> float:
        return float(self.model.opt.timestep)

    @property
    def time(self) -> float:
        return first_time(self.data)

    def step(self, count: int) -> None:
        """Steps are the owner's."""

    def reset(self, keyframe: int | None) -> None:
        from dovetail.contracts.derive import reset

        reset(self.model, self.data, keyframe)

    def refresh(self) -> None:
        from dovetail.simulation import forward

        forward(self.model, self.data)

    def bad_state(self) -> str:
        return bad_state(self.data)

    def poses(self) -> tuple[Array, Array]:
        return geom_poses(self.data if has_poses(self.data) else self._computed())

    def shown(self, world: int) -> Data:
        if self.nworld is None and is_whole(self.data):
            return self.data
        return self._lens.look(self.data.world(world))

    def edited(self, world: int) -> Data | None:
        return self.data.world(world)

    def _computed(self) -> Data:
        """A batch of our own in the state of the owner's, forward."""
        if self.nworld is None:
            return self._lens.look(self.data)
        if self._batch is None:
            self._batch = Simulation(self.model, nworld=self.nworld, keep=DRAWN, on_nan="freeze")
        own = self._batch.data
        for name in own.state:
            if name in self.data:
                own.field(name)[...] = np.asarray(self.data.field(name))
        self._batch.forward()
        return own


def geom_poses(data: Data) -> tuple[Array, Array]:
    """Of every world, with a world axis."""
    pos, mat = (np.asarray(data.field(name)) for name in DRAWN)
    count = data.nworld or 1
    return pos.reshape(count, -1, 3), mat.reshape(count, -1, 9)


def has_poses(data: Data) -> bool:
    """Whether a Data holds where its geoms are."""
    return all(name in data for name in DRAWN)


def is_whole(data: Data) -> bool:
    """Whether every declared field is there to read."""
    try:
        return all(name in data for name in data.specs)
    except NotKeptError:
        return False


def first_time(data: Data) -> float:
    """The time of the first world."""
    return float(np.asarray(data.time).flat[0])


def bad_state(data: Data) -> str:
    """NaN and infinity in positions and velocities, by joint and world; empty if there is none."""
    fine = all(np.isfinite(np.asarray(data.field(name))).all() for name in ("qpos", "qvel"))
    if fine:
        return ""
    return "; ".join([problem for name in ("qpos", "qvel") for problem in bad_numbers(data, name)][:3])
