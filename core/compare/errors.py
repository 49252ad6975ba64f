"""What "error" means, everywhere in dovetail: one definition, and the tolerances that go with it.

The error of a field in one world is `max|a − b| / max(max|b|, FLOOR)`, a and b the whole field and b the authority:
relative to the field's own size, not entry by entry, because an entry that is nearly zero beside large ones carries
their rounding. NaN or infinity on either side is an infinite error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.contracts.derive import describe_index
from dovetail.contracts.fields import Array, FieldSpec, numpy_dtype

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model

FLOOR = 1e-3
"""Fields smaller than this (in SI units: a millimetre, a millinewton) are measured against it. They are mostly
differences of larger terms that cancel, so their digits are the rounding of those terms and no sign of a mistake."""

FAST = 1e-9
"""Smallest tolerance of an implementation that is not on the reference backend: it may sum in another order."""

SINGLE = 1e-3
"""Smallest tolerance in single precision: 2⁻²⁴ of rounding, grown by the condition of ordinary mass matrices."""

SINGLE_FIELD = 1e-6
"""Tolerance of fields that are single precision in MuJoCo itself (colours)."""


def tolerance_of(spec: FieldSpec, *, precision: str = "f64", reference: bool = True) -> float:
    """The largest error that counts as equal: nothing for integers; the declared tolerance for the reference;
    at least FAST for other backends and at least SINGLE in single precision."""
    if numpy_dtype(spec.dtype).kind in "iu":
        return 0.0
    if spec.dtype == "float32":
        return max(spec.tolerance, SINGLE_FIELD)
    if precision == "f32":
        return max(spec.tolerance, SINGLE)
    return spec.tolerance if reference else max(spec.tolerance, FAST)


def relative_error(a: Any, b: Any) -> float:
    """The error of one field in one world; see the module's definition."""
    return worst_entry(_as_float(a)[None], _as_float(b)[None])[0]


def _as_float(value: Any) -> Array:
    return np.asarray(value, dtype=np.float64)


def worst_entry(a: Array, b: Array) -> tuple[float, tuple[int, ...]]:
    """The largest error over worlds (first axis), and the index of the entry that makes it."""
    if a.size == 0:
        return 0.0, ()
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(a - b)
        rest = tuple(range(1, b.ndim))
        scale = np.maximum(np.abs(b).max(axis=rest, keepdims=True), FLOOR)
        ratio = difference / scale
    ratio[~np.isfinite(a) | ~np.isfinite(b) | np.isnan(ratio)] = np.inf
    place = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
    return float(ratio[place]), tuple(int(i) for i in place)


@attrs.frozen(kw_only=True)
class FieldError:
    """The worst error of one field that one slot wrote."""

    slot: str
    """`stage` or `stage:key`; `compile` for fields of the Model."""
    field: str
    error: float
    tolerance: float
    where: str
    """Index and object name of the worst entry, e.g. `[3][0] (body "torso")`."""
    ours: float
    theirs: float
    note: str = ""

    @property
    def ok(self) -> bool:
        return self.error <= self.tolerance

    def to_dict(self) -> dict[str, Any]:
        return {**attrs.asdict(self), "ok": self.ok}

    def __str__(self) -> str:
        text = f"{self.slot} {self.field}{self.where}: error {self.error:.1e}, tolerance {self.tolerance:.1e}"
        return text + (f" ({self.note})" if self.note else f" ({self.ours!r} instead of {self.theirs!r})")


@attrs.define
class Worst:
    """Collects comparisons and keeps the worst one per slot and field."""

    model: Model
    precision: str = "f64"
    tolerance: float | None = attrs.field(default=None, kw_only=True)
    """Replaces the tolerances of the fields."""
    rows: dict[tuple[str, str], FieldError] = attrs.field(factory=dict)

    def add(
        self,
        slot: str,
        spec: FieldSpec,
        ours: Array,
        theirs: Array,
        *,
        reference: bool = True,
        batch: bool = False,
        world: int | None = None,
        note: str = "",
    ) -> FieldError:
        """Compare two arrays of a field; in a batch the first axis is the world, else `world` may say which it is."""
        tolerance = self.tolerance
        if tolerance is None:
            tolerance = tolerance_of(spec, precision=self.precision, reference=reference)
        a, b = _as_float(ours), _as_float(theirs)
        if a.shape != b.shape:
            shapes = f"shape {a.shape} instead of {b.shape}"
            row = FieldError(
                slot=slot,
                field=spec.name,
                error=np.inf,
                tolerance=tolerance,
                where="",
                ours=np.nan,
                theirs=np.nan,
                note=shapes,
            )
            return self.keep(row)
        if not batch:
            a, b = a[None], b[None]
        error, place = worst_entry(a, b)
        known = self.rows.get((slot, spec.name))
        if known is not None and error <= known.error:
            return known
        return self.keep(
            FieldError(
                slot=slot,
                field=spec.name,
                error=error,
                tolerance=tolerance,
                where=self._where(spec, place, batch, world),
                ours=float(a[place]) if place else 0.0,
                theirs=float(b[place]) if place else 0.0,
                note=note,
            )
        )

    def keep(self, row: FieldError) -> FieldError:
        key = (row.slot, row.field)
        known = self.rows.get(key)
        if known is None or row.error > known.error:
            self.rows[key] = row
        return self.rows[key]

    def _where(self, spec: FieldSpec, place: tuple[int, ...], batch: bool, world: int | None = None) -> str:
        if not place:
            return ""
        text = describe_index(self.model, spec, place[1:]) if len(place) > 1 else ""
        which = place[0] if batch else world
        return text if which is None else f"{text} in world {which}"

    def sorted_rows(self) -> tuple[FieldError, ...]:
        """In the order slots and fields were first seen."""
        return tuple(self.rows.values())


Getter = Callable[[str], Array]


def _edge_entries(get: Getter) -> int:
    """Entries of flexedge_J in use: those of its rows, or full rows; none while all of it is zero."""
    stored = int(get("flexedge_J_rownnz").sum())
    if stored or not get("flexedge_J").any():
        return stored
    return len(get("flexedge_J_rownnz")) * len(get("qvel"))


_FILLED: Mapping[str, Callable[[Getter], Any]] = {
    "ncandidate_max": lambda get: get("ncandidate"),
    "ncon_max": lambda get: get("ncon"),
    "nefc_max": lambda get: get("nefc"),
    "nJ_max": lambda get: get("nJ"),
    "nA_max": lambda get: get("nA"),
    "nisland_max": lambda get: get("nisland"),
    "nJmom": lambda get: get("moment_rownnz").sum(),
    "nJfe": _edge_entries,
}
"""How many entries of an array of this size are meaningful; the rest is room, and never compared."""


_ISLAND_DOFS = frozenset(
    (
        "map_idof2dof",
        "ifrc_smooth",
        "iacc_smooth",
        "iM_rownnz",
        "iM_rowadr",
        "iLDiagInv",
        "iacc",
        "ifrc_constraint",
    )
)
"""Fields with room for every dof that hold only those in islands."""

_ISLAND_MAPS = frozenset(("tree_island", "dof_island", "map_itree2tree", "map_dof2idof"))
"""Fields that mean nothing while there is no island."""

_ISLAND_MATRIX = frozenset(("iM", "iLD", "iM_colind"))
"""Those that hold the rows of the mass matrix for dofs in islands."""


def _length(spec: FieldSpec, get: Getter) -> int | None:
    """How many entries of a field are meaningful, None if all are."""
    if spec.name in _ISLAND_DOFS:
        return int(get("nidof"))
    if spec.name in _ISLAND_MAPS:
        return None if int(get("nisland")) else 0
    if spec.name in _ISLAND_MATRIX:
        return int(get("iM_rownnz")[: int(get("nidof"))].sum())
    count = _FILLED.get(str(spec.shape[0])) if spec.shape else None
    return None if count is None else int(count(get))


def meaningful(spec: FieldSpec, value: Array, get: Getter) -> Array:
    """One world's field without the entries that are only room; `get` reads other fields of that world."""
    return value[: _length(spec, get)]


def has_room(spec: FieldSpec) -> bool:
    """Whether the field's meaningful length varies, so that worlds must be compared one by one."""
    islands = _ISLAND_DOFS | _ISLAND_MAPS | _ISLAND_MATRIX
    return bool(spec.shape) and (spec.shape[0] in _FILLED or spec.name in islands)


SPARSE = {
    "actuator_moment": ("moment_rownnz", "moment_rowadr", "moment_colind"),
    "ten_J": ("ten_J_rownnz", "ten_J_rowadr", "ten_J_colind"),
    "flexedge_J": ("flexedge_J_rownnz", "flexedge_J_rowadr", "flexedge_J_colind"),
}
"""Matrices over dofs kept by rows, and what says where their entries stand: backends lay the same matrix out with
zeros or without, so between backends the matrices are compared and the layouts are not."""


def dense(name: str, data: Data) -> Array:
    """A matrix of SPARSE in one world, written out."""
    return written_out(name, getter(data), data.model.nv)


def written_out(name: str, get: Getter, nv: int) -> Array:
    """A matrix of SPARSE (rows, nv), whether it is kept by rows or in full; `get` reads fields of one world."""
    values, (lengths, starts, columns) = get(name).reshape(-1), (get(field) for field in SPARSE[name])
    full = len(lengths) * nv
    if not np.any(lengths) and values.size >= full:
        return values[:full].reshape(len(lengths), nv)
    before = np.cumsum(lengths) - lengths
    at = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
    matrix = np.zeros((len(lengths), nv))
    np.add.at(matrix, (np.repeat(np.arange(len(lengths)), lengths), columns.reshape(-1)[at]), values[at])
    return matrix


def compare_data(
    worst: Worst, slot: str, specs: Iterable[FieldSpec], ours: Data, theirs: Data, *, reference: bool = True
) -> None:
    """Compare fields of two Data with as many worlds each, `theirs` the authority. `reference`: both are computed by
    the reference backend, so that they agree in layout too."""
    fields = list(specs)
    matrices = set() if reference else {spec.name for spec in fields} & set(SPARSE)
    layouts = {field for name in matrices for field in SPARSE[name]}
    for spec in fields:
        if spec.name in matrices:
            for world, one, other in _pairs(ours, theirs):
                a, b = dense(spec.name, one), dense(spec.name, other)
                worst.add(slot, spec, a, b, reference=reference, world=world)
        elif spec.name not in layouts:
            _compare_field(worst, slot, spec, ours, theirs, reference)


def _compare_field(
    worst: Worst, slot: str, spec: FieldSpec, ours: Data, theirs: Data, reference: bool
) -> None:
    """Compare one field: all worlds at once, or world by world where each has its own number of entries."""
    if not has_room(spec):
        pair = [np.asarray(data.field(spec.name)) for data in (ours, theirs)]
        worst.add(slot, spec, *pair, reference=reference, batch=ours.nworld is not None)
        return
    for world, one, other in _pairs(ours, theirs):
        pair = [meaningful(spec, np.asarray(data.field(spec.name)), getter(data)) for data in (one, other)]
        worst.add(slot, spec, *pair, reference=reference, world=world)


def _pairs(ours: Data, theirs: Data) -> Iterator[tuple[int | None, Data, Data]]:
    """The worlds of both, with their number if there are several."""
    batch = ours.nworld is not None
    for number, (one, other) in enumerate(zip(ours.worlds(), theirs.worlds(), strict=True)):
        yield number if batch else None, one, other


def getter(data: Data) -> Getter:
    """Reads fields of one world."""
    return lambda name: np.asarray(data.field(name))


def comparable(specs: Sequence[FieldSpec], reference: bool) -> list[FieldSpec]:
    """The fields that two sides must agree in: between backends not the candidates of a collision, which each finds
    in its own way and of which only contacts come."""
    return [s for s in specs if reference or (s.writer != "broadphase" and s.name != "contact_candidate")]
