"""What a run leaves behind: samples of the state over time, named quantities to plot, and the trajectory file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click
import numpy as np

from dovetail.contracts.enums import JointType
from dovetail.errors import listing, nearest, shown

if TYPE_CHECKING:
    from dovetail.contracts.fields import Array
    from dovetail.contracts.types import Model
    from dovetail.simulation import Simulation

_INDEXED = re.compile(r"(?P<field>[\w.:]+)\[(?P<index>-?\d{1,9}(?:\s*,\s*-?\d{1,9})*)\]$")


@attrs.frozen
class Quantity:
    """One number of one world, to be plotted over time."""

    label: str
    field: str
    index: tuple[int, ...] | None
    """None: the sum of the field's entries."""

    def read(self, data: Any) -> float:
        value = np.asarray(data.field(self.field))
        return float(value.sum() if self.index is None else value[self.index])


def parse_quantity(model: Model, text: str) -> Quantity:
    """`height` (of the first free joint), `energy`, `potential`, `kinetic`, a joint's name, or FIELD[i,j]."""
    named = _named_quantities(model)
    if text == "auto":
        return next(iter(named.values()))
    if text in named:
        return named[text]
    if text in model.name_index("joint"):
        return _of_joint(model, model.name_index("joint")[text], text)
    match = _INDEXED.match(text)
    if match is not None:
        index = tuple(int(i) for i in match["index"].split(","))
        return _checked(model, Quantity(text, match["field"], index))
    known = [*named, *model.name_index("joint")]
    raise click.BadParameter(
        f"{shown(text)} is no quantity{nearest(text, known) or '.'} Write FIELD[i] or FIELD[i,j] (as qpos[0]), "
        f"or one of: {listing(known)}",
        param_hint="--plot",
    )


def _of_joint(model: Model, joint: int, name: str) -> Quantity:
    return Quantity(name, "qpos", (int(model.jnt_qposadr[joint]),))


def _named_quantities(model: Model) -> dict[str, Quantity]:
    """Quantities with a name of their own, the one to plot by default first."""
    from dovetail.features import need

    found: dict[str, Quantity] = {}
    free = np.flatnonzero(model.jnt_type == JointType.FREE)
    if free.size:
        address = int(model.jnt_qposadr[free[0]]) + 2
        found["height"] = Quantity("height of the root [m]", "qpos", (address,))
    elif model.nq:
        found["qpos[0]"] = Quantity("qpos[0]", "qpos", (0,))
    if need(model, "energy"):
        found["energy"] = Quantity("energy [J]", "energy", None)
        found["potential"] = Quantity("potential energy [J]", "energy", (0,))
        found["kinetic"] = Quantity("kinetic energy [J]", "energy", (1,))
    return found


def _checked(model: Model, quantity: Quantity) -> Quantity:
    """The quantity, if its field exists and its index is inside."""
    from dovetail.contracts.types import DATA_SPECS

    spec = DATA_SPECS.get(quantity.field)
    if spec is None:
        raise click.BadParameter(
            f"Data has no field {quantity.field!r}{nearest(quantity.field, DATA_SPECS)}", param_hint="--plot"
        )
    shape = spec.dims(dict(model.sizes))
    index = quantity.index or ()
    if len(index) != len(shape) or any(not -n <= i < n for i, n in zip(index, shape, strict=True)):
        raise click.BadParameter(
            f"{quantity.label}: {quantity.field} has shape {shape} in one world", param_hint="--plot"
        )
    return quantity


@attrs.define
class Recorder:
    """Samples of a run. Energy is that of the state before the last step, as MuJoCo computes it, so it has times
    of its own; quantities are those of the first world."""

    sim: Simulation
    quantities: tuple[Quantity, ...] = ()
    whole_state: bool = False
    """Whether to keep qpos and qvel of every world, for a trajectory file."""
    times: list[float] = attrs.field(factory=list)
    states: dict[str, list[Array]] = attrs.field(factory=lambda: {"qpos": [], "qvel": []})
    energy_times: list[float] = attrs.field(factory=list)
    energies: list[Array] = attrs.field(factory=list)
    series: list[list[float]] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.series = [[] for _ in self.quantities]

    def time(self) -> float:
        return float(np.asarray(self.sim.data.time).flat[0])

    def sample(self, *, first: bool = False) -> None:
        """Keep what is now; `first` means nothing has been computed from the state yet."""
        data = self.sim.data
        if self.whole_state:
            self.times.append(self.time())
            for name, rows in self.states.items():
                rows.append(np.array(data.field(name)))
            if not first and "energy" in data:
                self.energy_times.append(self.time() - self.sim.model.opt.timestep)
                self.energies.append(np.array(data.energy))
        if not first:
            world = data.world(0)
            for values, quantity in zip(self.series, self.quantities, strict=True):
                values.append(quantity.read(world))
            if self.quantities and not self.whole_state:
                self.times.append(self.time())

    def plotted_times(self) -> list[float]:
        """Times of the plotted quantities: all samples but the one before the first step."""
        return self.times[1:] if self.whole_state else self.times

    def draw(self, path: Path) -> None:
        """The plotted quantities as charts, one below the other."""
        from dovetail.chart import Chart, Curve, write

        times, name = self.plotted_times(), self.sim.model.modelname
        write(
            path,
            [
                Chart(
                    title=name if number == 0 else "",
                    x_label="time [s]",
                    y_label=quantity.label,
                    curves=[Curve(x=times, y=values, dots=False)],
                )
                for number, (quantity, values) in enumerate(zip(self.quantities, self.series, strict=True))
            ],
        )

    def write(self, path: Path) -> None:
        """Write the trajectory as one .npz file, whole or not at all."""
        from dovetail.contracts.store import TRAJECTORY, write_arrays

        header = {
            "format": TRAJECTORY,
            "model": self.sim.model.modelname,
            "source": self.sim.model.source,
            "timestep": self.sim.model.opt.timestep,
            "nworld": self.sim.nworld,
            "precision": self.sim.plan.precision,
            "implementations": self.sim.plan.implementations,
            "lock": self.sim.plan.lock.as_plain(),
        }
        arrays = {
            "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
            "time": np.array(self.times),
            **{name: np.stack(rows) for name, rows in self.states.items()},
        }
        if self.energies:
            arrays["energy_time"] = np.array(self.energy_times)
            arrays["energy"] = np.stack(self.energies)
        write_arrays(path, arrays)
