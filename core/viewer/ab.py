"""Two implementations in one picture.

Both step from the same state under the same controls, and every geom is coloured by how far apart the two have put
it. Where they first part, `dovetail diff` is asked which stage it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dovetail.compare.run_specs import RunSpec
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Data, Model
from dovetail.errors import SelectionError
from dovetail.simulation import Simulation
from dovetail.viewer.watched import Lens, bad_state

if TYPE_CHECKING:
    from dovetail.viewer.viewer import Viewer

INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos", "mocap_quat")
"""What a hand may change while both run; B gets A's."""
PARTED = 1e-10
"""Metres between two geoms from which on the runs have parted."""
NEAR, FAR = 1e-12, 1e-1
"""Distances [m] where the scale of colours begins and ends."""
SCALE = np.array([[0.55, 0.60, 0.66], [0.25, 0.55, 0.90], [0.95, 0.80, 0.20], [0.85, 0.10, 0.10]])
"""Colours from together to apart: grey, blue, yellow, red."""


def divergence_colours(apart: Array) -> Array:
    """Colours (n, 4) of distances in metres (n), on a logarithmic scale."""
    share = np.log(np.clip(np.nan_to_num(apart, nan=FAR), NEAR, FAR) / NEAR) / np.log(FAR / NEAR)
    place = share * (len(SCALE) - 1)
    low = np.minimum(place.astype(int), len(SCALE) - 2)
    part = (place - low)[:, None]
    rgb = (1 - part) * SCALE[low] + part * SCALE[low + 1]
    return np.column_stack([rgb, np.ones(len(apart))])


class SideRun(Protocol):
    """One side of the picture."""

    model: Model

    def step(self) -> None: ...

    def put(self, state: dict[str, Array]) -> None: ...

    def poses(self) -> tuple[Array, Array]: ...

    def state(self) -> dict[str, Array]: ...

    def refresh(self) -> None: ...


class OwnSide:
    """A Simulation of ours."""

    def __init__(self, spec: RunSpec, model: Model) -> None:
        self.model = model
        self.sim = Simulation(model, keep="all", on_nan="raise", **spec.simulation_arguments())

    def step(self) -> None:
        self.sim.step()

    def put(self, state: dict[str, Array]) -> None:
        for name, value in state.items():
            self.sim.data.field(name)[...] = value

    def poses(self) -> tuple[Array, Array]:
        data = self.sim.data
        return np.asarray(data.geom_xpos, float), np.asarray(data.geom_xmat, float)

    def state(self) -> dict[str, Array]:
        return {name: np.array(self.sim.data.field(name)) for name in self.sim.data.state}

    def refresh(self) -> None:
        self.sim.forward()


class MujocoSide:
    """MuJoCo itself."""

    def __init__(self, model: Model) -> None:
        from dovetail.compare.oracle import require_mujoco

        self.model, self._mujoco = model, require_mujoco()
        self._theirs = self._mujoco.MjModel.from_xml_path(str(model.source))
        self.data = self._mujoco.MjData(self._theirs)

    def step(self) -> None:
        self._mujoco.mj_step(self._theirs, self.data)

    def put(self, state: dict[str, Array]) -> None:
        from dovetail.compare.run_engines import _assign

        for name, value in state.items():
            if hasattr(self.data, name):
                _assign(self.data, name, value)

    def poses(self) -> tuple[Array, Array]:
        return np.array(self.data.geom_xpos), np.array(self.data.geom_xmat)

    def state(self) -> dict[str, Array]:
        from dovetail.contracts.types import STATE

        return {name: np.array(getattr(self.data, name)) for name in STATE if hasattr(self.data, name)}

    def refresh(self) -> None:
        self._mujoco.mj_forward(self._theirs, self.data)


class Pair:
    """A and B as two worlds that are watched; what is shown in full, and pulled at, is A."""

    nworld: int | None = 2

    def __init__(self, source: str | Path | Model, a: RunSpec, b: RunSpec) -> None:
        self.specs = (a, b)
        models = [self._load(source, spec) for spec in self.specs]
        if models[0].ngeom != models[1].ngeom:
            raise SelectionError(
                f"a and b are models with {models[0].ngeom} and {models[1].ngeom} geoms; one picture compares geom "
                "by geom. `dovetail diff` compares their fields"
            )
        self.model = models[0]
        self.sides: list[SideRun] = [
            MujocoSide(model) if spec.kind == "mujoco" else OwnSide(spec, model)
            for spec, model in zip(self.specs, models, strict=True)
        ]
        self._lens = Lens(self.model, backend="numpy")
        self.front: Data = self._front()
        self.steps = 0
        self.parted_at: float | None = None
        """When the two were first apart [s]."""
        self.before: dict[str, Array] = {}
        """The state of A at the beginning of the step in which they parted."""
        self.reset(None)

    @staticmethod
    def _load(source: str | Path | Model, spec: RunSpec) -> Model:
        if spec.kind == "saved":
            raise SelectionError(
                f"{spec.text} is the result of an earlier run, which cannot be stepped; `dovetail diff` compares it"
            )
        return spec.load(source)

    def _front(self) -> Data:
        first = self.sides[0]
        return first.sim.data if isinstance(first, OwnSide) else self._lens.look(self._blank())

    def _blank(self) -> Data:
        from dovetail.contracts.derive import make_data

        return make_data(self.model)

    @property
    def timestep(self) -> float:
        return float(self.model.opt.timestep)

    @property
    def time(self) -> float:
        return float(self.sides[0].state()["time"])

    def step(self, count: int) -> None:
        for _ in range(count):
            inputs = {name: np.array(self.front.field(name)) for name in INPUTS}
            before = self.sides[0].state() if self.parted_at is None else {}
            for side in self.sides:
                side.put(inputs)
                side.step()
            if self.parted_at is None and float(self.apart().max(initial=0.0)) > PARTED:
                self.parted_at, self.before = float(before["time"]), before
            self.steps += 1

    def reset(self, keyframe: int | None) -> None:
        """Both to the same state: A's model's start or keyframe."""
        from dovetail.contracts.derive import reset

        blank = self._blank()
        reset(self.model, blank, keyframe)
        state = {name: np.array(blank.field(name)) for name in blank.state}
        for side in self.sides:
            side.put({name: value for name, value in state.items() if name != "plugin_state" or value.size})
        for name in INPUTS:
            self.front.field(name)[...] = state[name]
        self.steps, self.parted_at, self.before = 0, None, {}

    def refresh(self) -> None:
        """After an edit of A, B begins at the same place."""
        state = self.sides[0].state()
        self.sides[1].put(state)
        for side in self.sides:
            side.refresh()

    def bad_state(self) -> str:
        for word, side in zip("AB", self.sides, strict=True):
            data = side.sim.data if isinstance(side, OwnSide) else None
            bad = bad_state(data) if data is not None else ""
            if not bad and data is None and not np.isfinite(side.state()["qpos"]).all():
                bad = "qpos is not finite"
            if bad:
                return f"{word}: {bad}"
        return ""

    def poses(self) -> tuple[Array, Array]:
        both = [side.poses() for side in self.sides]
        pos, mat = (np.stack([np.asarray(pair[i], float) for pair in both]) for i in (0, 1))
        return pos, mat.reshape(2, -1, 9)

    def shown(self, world: int) -> Data:
        side = self.sides[world]
        if isinstance(side, OwnSide):
            return side.sim.data
        state = side.state()
        blank = self._blank()
        for name, value in state.items():
            blank.field(name)[...] = np.reshape(value, np.shape(blank.field(name)))
        return self._lens.look(blank)

    def edited(self, world: int) -> Data | None:
        return self.front

    def apart(self) -> Array:
        """Distance of each geom in A from the same geom in B [m]."""
        pos, _ = self.poses()
        distance: Array = np.linalg.norm(pos[0] - pos[1], axis=-1)
        return distance

    def colours(self) -> Array:
        """Colours of all geoms of A and B; what cannot move keeps its own."""
        from dovetail.viewer.geoms import geom_colours, moving_geoms

        own = geom_colours(self.model)
        moving = moving_geoms(self.model)
        found = own.copy()
        found[moving] = divergence_colours(self.apart()[moving])
        both = np.concatenate([found, found])
        both[:, 3] = np.concatenate([own[:, 3], 0.45 * own[:, 3]])
        return both


def pair_viewer(
    source: str | Path | Model,
    a: str | RunSpec = "",
    b: str | RunSpec = "",
    *,
    port: int | None = None,
    paused: bool = False,
) -> Viewer:
    """A viewer of two implementations of one model, given in the words of `dovetail diff`."""
    from dovetail.viewer.extra import require_viser

    require_viser()
    from dovetail.viewer.panels.comparison import ComparisonPanel
    from dovetail.viewer.viewer import Viewer

    pair = Pair(source, RunSpec.of(a, "a"), RunSpec.of(b, "b"))
    return Viewer(
        pair,
        port=port,
        paused=paused,
        panels=(ComparisonPanel(pair, None if isinstance(source, Model) else str(source)),),
        colours=pair.colours,
        ghost=True,
    )
