"""Both sides on their own from the same state: how fast they part, beside how fast A parts from itself.

A state moved by one unit in its last place drifts away from A, too. As long as B is not much farther from A than such
neighbours of A are, the difference is what rounding grows to (chaos); farther than that it has another cause (error).
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import attrs
import numpy as np

from dovetail.compare.errors import FLOOR, tolerance_of
from dovetail.compare.tables import text_table
from dovetail.contracts.enums import JointType
from dovetail.contracts.fields import Array
from dovetail.contracts.types import DATA_SPECS

FIELDS = ("qpos", "qvel", "act")
"""State fields whose divergence is measured."""
NEIGHBOURS = 3
"""Nudged copies of A: their largest drift is A's own."""
MARGIN = 100.0
"""So many times farther than A's neighbours is another cause: B rounds differently at every step, they once."""
SLACK = 0.1
"""An event (a touch) may come earlier in B than in A's neighbours by this part of the run."""

Kind = Literal["same", "chaos", "error"]


class Runs(Protocol):
    """What can run on its own."""

    precision: str

    def begin(self, state: Mapping[str, Array]) -> None:
        """Take a state: fields with a world axis."""
        ...

    def step(self) -> None: ...

    def read(self, name: str) -> Array:
        """A field with a world axis."""
        ...

    def contacts(self) -> int: ...

    def energy(self) -> float: ...


@attrs.frozen(kw_only=True)
class FreeRun:
    """Divergence over time."""

    times: tuple[float, ...]
    errors: Mapping[str, tuple[float, ...]]
    """Of B, by field and step."""
    growth: Mapping[str, tuple[float, ...]]
    """Of A's neighbours."""
    kinds: tuple[Kind, ...]
    """What the difference is, by step."""
    contacts_a: tuple[int, ...]
    contacts_b: tuple[int, ...]
    energy_a: tuple[float, ...]
    energy_b: tuple[float, ...]
    cause: str = ""
    """Of an error, the first step and the stage that make it, in words."""

    @property
    def verdict(self) -> Kind:
        """`error` if the difference ever was more than rounding grows to."""
        return next((kind for kind in ("error", "chaos") if kind in self.kinds), "same")

    @property
    def first_error(self) -> int | None:
        """The first step with a difference that rounding does not explain."""
        return self.kinds.index("error") if "error" in self.kinds else None

    def sentence(self) -> str:
        """The verdict in words."""
        if self.verdict == "error":
            step = self.kinds.index("error")
            return (
                f"free running: ERROR from step {step + 1} (t = {self.times[step]:g} s): B is farther from A than "
                f"rounding grows to{self._because()}"
            )
        if self.verdict == "chaos":
            step = self.kinds.index("chaos")
            return (
                f"free running: chaos from step {step + 1} (t = {self.times[step]:g} s): B parts from A as A's own "
                "neighbours one ulp away do"
            )
        return "free running: the same within tolerance all the way"

    def _because(self) -> str:
        return f"; {self.cause}" if self.cause else ""

    def table(self) -> str:
        """Some of the steps."""
        count = len(self.times)
        chosen = sorted({*np.linspace(0, count - 1, min(8, count)).astype(int).tolist()})
        fields = [name for name in self.errors if name in ("qpos", "qvel")]
        header = [
            "step",
            "time",
            *(f"{f} B" for f in fields),
            *(f"{f} 1 ulp" for f in fields),
            "contacts",
            "",
        ]
        rows = [
            [
                str(n + 1),
                f"{self.times[n]:.3g}",
                *(f"{self.errors[f][n]:.1e}" for f in fields),
                *(f"{self.growth[f][n]:.1e}" for f in fields),
                f"{self.contacts_a[n]}/{self.contacts_b[n]}",
                self.kinds[n],
            ]
            for n in chosen
        ]
        return f"{textwrap.fill(self.sentence(), 80, subsequent_indent='  ')}\n{text_table(header, rows)}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "first_error": self.first_error,
            **{name: _plain(value) for name, value in attrs.asdict(self, recurse=False).items()},
            "cause": self.cause,
        }


def _plain(value: Any) -> Any:
    return {k: list(v) for k, v in value.items()} if isinstance(value, Mapping) else [*value]


def free_run(
    a: Runs,
    b: Runs,
    neighbours: Sequence[Runs],
    state: Mapping[str, Array],
    steps: int,
    *,
    model: Any,
    seed: int = 0,
) -> FreeRun:
    """Run all from a state and measure; `neighbours` are further copies of A, `b` has begun already."""
    a.begin(state)
    rng = np.random.default_rng(seed + 1)
    for neighbour in neighbours:
        neighbour.begin(nudged(state, model, rng, a.precision))
    fields = [name for name in FIELDS if name in state and state[name].size]
    errors: dict[str, list[float]] = {name: [] for name in fields}
    growth: dict[str, list[float]] = {name: [] for name in fields}
    seen: dict[str, list[Any]] = {name: [] for name in ("time", "ca", "cb", "ea", "eb")}
    for _ in range(steps):
        for run in (a, b, *neighbours):
            run.step()
        for name in fields:
            here = a.read(name)
            errors[name].append(distance(b.read(name), here))
            growth[name].append(max((distance(n.read(name), here) for n in neighbours), default=0.0))
        for key, value in zip(
            seen,
            (float(a.read("time").flat[0]), a.contacts(), b.contacts(), a.energy(), b.energy()),
            strict=True,
        ):
            seen[key].append(value)
    single = "f32" in (a.precision, b.precision)
    return FreeRun(
        times=tuple(seen["time"]),
        errors={name: tuple(values) for name, values in errors.items()},
        growth={name: tuple(values) for name, values in growth.items()},
        kinds=judged(errors, growth, single=single),
        contacts_a=tuple(seen["ca"]),
        contacts_b=tuple(seen["cb"]),
        energy_a=tuple(seen["ea"]),
        energy_b=tuple(seen["eb"]),
    )


def distance(ours: Array, theirs: Array) -> float:
    """The error of a field, the largest over worlds."""
    a, b = (np.asarray(v, np.float64).reshape(len(v), -1) for v in (ours, theirs))
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return np.inf
    scale = np.maximum(np.abs(b).max(axis=1), FLOOR)
    return float((np.abs(a - b).max(axis=1) / scale).max())


def judged(
    errors: Mapping[str, Sequence[float]], growth: Mapping[str, Sequence[float]], *, single: bool = False
) -> tuple[Kind, ...]:
    """What the difference is at each step: of all fields the worst."""
    names: tuple[Kind, ...] = ("same", "chaos", "error")
    ranks = [
        [names.index(kind) for kind in _judged_field(name, errors[name], growth[name], single)]
        for name in errors
    ]
    return tuple(names[max(column)] for column in zip(*ranks, strict=True))


def _judged_field(name: str, errors: Sequence[float], growth: Sequence[float], single: bool) -> list[Kind]:
    count = len(errors)
    ahead = max(1, int(SLACK * count))
    envelope = np.maximum.accumulate(np.asarray(growth)) if count else np.zeros(0)
    tolerance = tolerance_of(DATA_SPECS[name], precision="f32" if single else "f64")
    unit = float(np.finfo(np.float32 if single else np.float64).eps)
    kinds: list[Kind] = []
    for n, error in enumerate(errors):
        allowed = MARGIN * max(float(envelope[min(n + ahead, count - 1)]), unit)
        kinds.append("same" if error <= min(tolerance, allowed) else "chaos" if error <= allowed else "error")
    return kinds


def nudged(
    state: Mapping[str, Array], model: Any, rng: np.random.Generator, precision: str, ulps: int = 1
) -> dict[str, Array]:
    """A state whose positions and velocities are moved by units in the last place of the field's largest value, up or
    down at random; quaternions stay as they are."""
    kind = np.float32 if precision == "f32" else np.float64
    moved = {name: np.array(value) for name, value in state.items()}
    for name in ("qpos", "qvel"):
        value = moved[name]
        if not value.size:
            continue
        scale = np.maximum(np.abs(value).max(axis=1, keepdims=True), FLOOR)
        unit = np.spacing(scale.astype(kind)).astype(np.float64)
        change = rng.choice((-1.0, 1.0), value.shape) * unit * ulps
        if name == "qpos":
            change[:, ~_plain_positions(model)] = 0.0
        moved[name] = value + change
    return moved


def _plain_positions(model: Any) -> Array:
    """Which numbers of qpos are no part of a quaternion."""
    plain = np.ones(model.nq, bool)
    for kind, address in zip(model.jnt_type.tolist(), model.jnt_qposadr.tolist(), strict=True):
        start = {JointType.FREE: address + 3, JointType.BALL: address}.get(kind)
        if start is not None:
            plain[start : start + 4] = False
    return plain
