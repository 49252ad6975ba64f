"""How the cost of a step grows: with the number of worlds, of degrees of freedom, or of contacts.

One size grows over models made for it (`cases.chains`, `cases.spheres`), the rest stays. A straight line is fitted by
least squares of the relative deviations, so that small sizes count as much as large ones; the largest deviation tells
whether the cost is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from dovetail.bench.cases import Case, chains, spheres
from dovetail.bench.results import BenchResult, BenchRow
from dovetail.bench.speed import Measurement, ShowProgress, measure

WORLDS = (1, 4, 16, 64, 256, 1024, 4096, 16384)
CHAINS = (1, 2, 4, 8, 16)
TOUCHING = (4, 8, 12, 16, 20)
"""None and all would be kernels of another kind: without contacts, without weightless bodies."""

X_LABEL = {"nworld": "worlds", "nv": "degrees of freedom (nv)", "ncon": "contacts per world (ncon)"}


@attrs.frozen(kw_only=True)
class Fit:
    """cost = base + slope · size."""

    base: float
    slope: float
    deviation: float
    """Largest relative deviation of a measured cost from the line."""

    @classmethod
    def of(cls, x: Sequence[float], y: Sequence[float]) -> Fit:
        sizes, costs = np.asarray(x, float), np.asarray(y, float)
        columns = np.stack([1 / costs, sizes / costs], axis=1)
        (base, slope), *_ = np.linalg.lstsq(columns, np.ones(len(costs)), rcond=None)
        deviation = np.abs((base + slope * sizes) / costs - 1).max()
        return cls(base=float(base), slope=float(slope), deviation=float(deviation))

    def at(self, size: float) -> float:
        return self.base + self.slope * size

    def __str__(self) -> str:
        return f"{self.base:.3g} + {self.slope:.3g} · size µs, at most {100 * self.deviation:.0f} % off"


@attrs.frozen(kw_only=True)
class Series:
    """The cost of one configuration over the sizes."""

    name: str
    sizes: tuple[float, ...]
    costs: tuple[float, ...]
    """µs."""
    fit: Fit | None
    """None where there are too few points."""


@attrs.frozen(kw_only=True)
class Sweep:
    """Costs over one size."""

    over: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    results: tuple[BenchResult, ...]

    def to_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)


def sweep(
    over: str,
    case: Case,
    request: Measurement,
    sizes: Sequence[int] = (),
    show: ShowProgress = lambda text: None,
) -> Sweep:
    """Measure over `nworld` (of the given model), `nv` or `ncon` (of generated models); `sizes` None: as listed
    above."""
    return {"nworld": _over_worlds, "nv": _over_dofs, "ncon": _over_contacts}[over](
        case, request, sizes, show
    )


def _over_worlds(case: Case, request: Measurement, sizes: Sequence[int], show: ShowProgress) -> Sweep:
    """One step of the whole batch; a batch smaller than a tile costs as much as a tile, so the line begins there."""
    result = measure(case, attrs.evolve(request, nworld=tuple(sizes or WORLDS)), show)
    points = [(float(row.nworld), row) for row in result.rows]
    return _sweep("nworld", "µs per step of the batch", points, (result,), lambda row: row.nworld)


def _over_dofs(case: Case, request: Measurement, sizes: Sequence[int], show: ShowProgress) -> Sweep:
    results = [measure(chains(count), request, show) for count in sizes or CHAINS]
    return _per_world("nv", results, lambda result: result.nv)


def _over_contacts(case: Case, request: Measurement, sizes: Sequence[int], show: ShowProgress) -> Sweep:
    results = [measure(spheres(count), request, show) for count in sizes or TOUCHING]
    counted = dict(zip((result.model for result in results), sizes or TOUCHING, strict=True))
    return _per_world(
        "ncon", results, lambda result: counted[result.model] if result.contacts is None else result.contacts
    )


def _per_world(over: str, results: Sequence[BenchResult], size: Callable[[BenchResult], float]) -> Sweep:
    points = [(float(size(result)), row) for result in results for row in result.rows]
    return _sweep(over, "µs per step and world", points, tuple(results), lambda row: 1)


def _sweep(
    over: str,
    y_label: str,
    points: Sequence[tuple[float, BenchRow]],
    results: tuple[BenchResult, ...],
    worlds: Callable[[BenchRow], int],
) -> Sweep:
    """Points of all configurations and MuJoCo's, sorted into series."""
    found: dict[str, list[tuple[float, float]]] = {}
    tiles: dict[str, int] = {}
    for size, row in points:
        name = _name(row)
        tiles[name] = row.lanes if over == "nworld" else 0
        found.setdefault(name, []).append((size, row.microseconds * worlds(row)))
        if row.mujoco_microseconds is not None:
            theirs = found.setdefault(f"MuJoCo × {row.threads}", [])
            if size not in (x for x, _ in theirs):  # one for all precisions
                theirs.append((size, row.mujoco_microseconds * worlds(row)))
    series = [_series(name, pairs, tiles.get(name, 0)) for name, pairs in found.items()]
    return Sweep(over=over, x_label=X_LABEL[over], y_label=y_label, series=tuple(series), results=results)


def _name(row: BenchRow) -> str:
    return " ".join(filter(None, (row.precision, row.runtime, f"× {row.threads}")))


def _series(name: str, pairs: Sequence[tuple[float, float]], least: int) -> Series:
    """The series, fitted from size `least` on."""
    sizes, costs = zip(*pairs, strict=True)
    fitted = [(x, y) for x, y in pairs if x >= least]
    fit = Fit.of(*zip(*fitted, strict=True)) if len(fitted) > 2 else None
    return Series(name=name, sizes=tuple(sizes), costs=tuple(costs), fit=fit)
