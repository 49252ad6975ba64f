"""What a run is watched for: where the root went, or the joint that moved most; energy; contacts.

While it runs only numbers that are there anyway are kept, at some 150 moments. What they mean is computed afterwards,
by the reference's stages of positions, in a Data of its own: so it costs no time that is measured, needs no stage
that the plan does not have, and is there for every backend. In a batch these are of the first world; of the positions
themselves the least, the mean and the largest of all worlds are kept.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.contracts.enums import JointType
from dovetail.errors import DovetailError
from dovetail.posed import Posed, state_of

if TYPE_CHECKING:
    from dovetail.contracts.fields import Array
    from dovetail.contracts.types import Model
    from dovetail.simulation import Simulation

SAMPLES = 144
"""Moments of a run that are looked at: one for each dot of a plot."""
SEEN = ("time", "qpos", "qvel", "act", "mocap_pos", "mocap_quat")
"""Of the state, what positions and energy follow from."""
COLLISION = ("broadphase", "narrowphase")
PATIENCE = 1.0
"""Seconds that may be spent on looking; of large models fewer moments are looked at."""
MOST_TOUCHING = 200
"""Contacts of which it is told who touches whom."""


@attrs.frozen(kw_only=True)
class Curve:
    """A quantity over time, of one world or of all."""

    name: str
    unit: str
    time: Sequence[float]
    value: Sequence[float]
    """Of the world, or the mean of all."""
    least: Sequence[float] | None = None
    most: Sequence[float] | None = None
    """Over all worlds."""
    world: int | None = None
    """Which one, if there are several and this is of one."""

    @property
    def label(self) -> str:
        return f"{self.name} [{self.unit}]"


@attrs.frozen(kw_only=True)
class Contacts:
    """Who touches whom."""

    count: int
    pairs: tuple[tuple[str, str, int], ...]
    """Names of what touches, and in how many points; most points first."""
    deepest: float | None
    """Largest depth, in m."""


@attrs.define
class Watch:
    """Samples of a run that are always taken."""

    sim: Simulation
    total: int
    states: list[dict[str, Array]] = attrs.field(factory=list)
    """Of the first world."""
    spread: list[Array] = attrs.field(factory=list)
    """Least, mean and largest of each number of qpos over the worlds of a batch."""
    counts: list[Array] = attrs.field(factory=list)
    """Contacts of every world in the last step before a sample."""

    @property
    def every(self) -> int:
        return max(1, self.total // SAMPLES)

    def sample(self, *, first: bool = False) -> None:
        """Keep what is now; `first` means that no step has been taken yet."""
        data = self.sim.data
        world = data.world(0)
        self.states.append(state_of(world, SEEN))
        if data.nworld is not None:
            qpos = np.asarray(data.qpos, np.float64)
            self.spread.append(np.stack([qpos.min(axis=0), qpos.mean(axis=0), qpos.max(axis=0)]))
        if not first and "ncon" in data:
            self.counts.append(np.atleast_1d(np.array(data.ncon)))

    @property
    def times(self) -> list[float]:
        return [float(state["time"]) for state in self.states]

    def seen(self) -> Seen:
        """What the samples mean."""
        model = self.sim.model
        try:
            observer = Observer(model)
        except DovetailError:  # a model that needs what nothing implements runs only on request
            observer = None
        good = [s for s in self.states if all(np.isfinite(s[name]).all() for name in SEEN)]
        times, observed = _looks(observer, good) if observer is not None and model.nv else ([], [])
        world = None if self.sim.nworld is None else 0
        energies = [look.energy for look in observed]
        return Seen(
            motion=self._motion(times, [look.height for look in observed], world),
            energy=Curve(name="energy", unit="J", time=times, value=energies, world=world)
            if observed
            else None,
            moved=_moved(model, good),
            contacts=self._contacts(observer, good),
            most_contacts=int(max((c.max() for c in self.counts), default=0)),
            worlds_contacts=_spread(self.counts[-1]) if self.counts and world is not None else None,
        )

    def _contacts(self, observer: Observer | None, states: Sequence[dict[str, Array]]) -> Contacts | None:
        """Who touches whom at the end; of very many only how many, because the reference would take long."""
        count = int(self.counts[-1][0]) if self.counts else 0
        if count > MOST_TOUCHING:
            return Contacts(count=count, pairs=(), deepest=None)
        return None if observer is None or not states else observer.touching(states[-1])

    def _motion(self, times: list[float], heights: list[float], world: int | None) -> Curve | None:
        """Height of the one free body, or of the centre of mass where many move freely; else the joint that moved
        most."""
        model = self.sim.model
        free = np.flatnonzero(model.jnt_type == JointType.FREE)
        if len(free) == 1 and not model.nflex:
            body = named(model, "body", int(model.jnt_bodyid[free[0]]))
            return self._coordinate(f"height of {body}", "m", int(model.jnt_qposadr[free[0]]) + 2)
        if len(free) or model.nflex:
            name = "height of the centre of mass"
            return Curve(name=name, unit="m", time=times, value=heights, world=world) if heights else None
        scalar = np.flatnonzero(np.isin(model.jnt_type, (JointType.HINGE, JointType.SLIDE)))
        if not len(scalar):
            return None
        path = np.stack([state["qpos"][model.jnt_qposadr[scalar]] for state in self.states])
        joint = int(scalar[np.argmax(np.nan_to_num(np.ptp(path, axis=0), posinf=0.0))])
        unit = "rad" if model.jnt_type[joint] == JointType.HINGE else "m"
        return self._coordinate(named(model, "joint", joint), unit, int(model.jnt_qposadr[joint]))

    def _coordinate(self, name: str, unit: str, address: int) -> Curve:
        if not self.spread:
            values = [float(state["qpos"][address]) for state in self.states]
            return Curve(name=name, unit=unit, time=self.times, value=values)
        least, mean, most = np.stack(self.spread)[:, :, address].T.tolist()
        return Curve(name=name, unit=unit, time=self.times, value=mean, least=least, most=most)


@attrs.frozen(kw_only=True)
class Seen:
    """What a run was seen to do."""

    motion: Curve | None
    energy: Curve | None
    moved: float | None
    """How far the one free body is from where it began, along the floor, in m."""
    contacts: Contacts | None
    """At the end, in the first world."""
    most_contacts: int
    """In any sampled step of any world."""
    worlds_contacts: dict[str, float] | None
    """Over the worlds of a batch, in the last step."""


@attrs.frozen
class _Look:
    height: float
    energy: float


class Observer:
    """The reference's positions, energy and contacts of a state of one world."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._posed = Posed(model)

    def look(self, state: dict[str, Array]) -> _Look:
        """Height of the centre of mass, and mechanical energy."""
        from dovetail.plugins.shared.energy_numpy import kinetic_energy, potential_energy

        data = self._posed.put(state, further=("mass_matrix",))
        energy = potential_energy(self._model, data) + kinetic_energy(self._model, data)
        return _Look(float(data.subtree_com[0, 2]), float(energy))

    def touching(self, state: dict[str, Array]) -> Contacts:
        """The contacts of a state."""
        data = self._posed.put(state, further=COLLISION)
        count, contact = int(data.ncon), data.contact
        found = Counter(
            tuple(self._name(int(contact.geom[i, k]), int(contact.flex[i, k])) for k in (0, 1))
            for i in range(count)
        )
        pairs = tuple((a, b, number) for (a, b), number in found.most_common())
        return Contacts(
            count=count, pairs=pairs, deepest=float(max([0.0, *(-np.asarray(contact.dist[:count]))]))
        )

    def _name(self, geom: int, flex: int) -> str:
        """The body that a geom belongs to, or what of the world it is; or a flex."""
        if geom < 0:
            return named(self._model, "flex", flex)
        body = int(self._model.geom_bodyid[geom])
        return named(self._model, "body", body) if body else named(self._model, "geom", geom)


def _looks(observer: Observer, states: Sequence[dict[str, Array]]) -> tuple[list[float], list[_Look]]:
    """Times and looks, at as many of the states as there is patience for, the first and the last among them."""
    if not states:
        return [], []
    began = time.perf_counter()
    observer.look(states[0])
    each = max(time.perf_counter() - began, 1e-6)
    count = min(len(states), max(2, int(PATIENCE / each)))
    chosen = [states[i] for i in sorted({*np.linspace(0, len(states) - 1, count).astype(int).tolist()})]
    return [float(s["time"]) for s in chosen], [observer.look(state) for state in chosen]


def named(model: Model, kind: str, index: int) -> str:
    """An object by its name, or by its kind and number."""
    names = model.object_names.get(kind, ())
    return (names[index] if index < len(names) else "") or f"{kind} {index}"


def _moved(model: Model, states: Sequence[dict[str, Array]]) -> float | None:
    free = np.flatnonzero(model.jnt_type == JointType.FREE)
    if len(free) != 1 or not states:
        return None
    at = slice(int(model.jnt_qposadr[free[0]]), int(model.jnt_qposadr[free[0]]) + 2)
    return float(np.linalg.norm(states[-1]["qpos"][at] - states[0]["qpos"][at]))


def _spread(values: Array) -> dict[str, float]:
    return {"least": float(values.min()), "mean": float(values.mean()), "most": float(values.max())}


def extremes(curve: Curve) -> dict[str, Any]:
    """A curve as first, last, least and largest value; in a batch with the spread over the worlds at the end."""
    low = curve.value if curve.least is None else curve.least
    high = curve.value if curve.most is None else curve.most
    found: dict[str, Any] = {
        "name": curve.name,
        "unit": curve.unit,
        "world": curve.world,
        "first": curve.value[0],
        "last": curve.value[-1],
        "least": float(np.nanmin(low)),
        "most": float(np.nanmax(high)),
    }
    if curve.least is not None and curve.most is not None:
        found["worlds"] = {"least": curve.least[-1], "mean": curve.value[-1], "most": curve.most[-1]}
    return found
