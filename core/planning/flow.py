"""What passes between the slots of a plan: Data fields, and kernel fields, which exist only while a kernel runs.

One rule holds it together: a kernel field is written and read in one segment. Where the writer is elsewhere, kernel
fields may be made of Data when the segment begins (an import), and Data fields of kernel fields when it ends (an
export), as far as a `Transfer` says how. What remains is a conflict: somebody reads what nobody leaves for them.
The planner resolves conflicts by choosing otherwise, or reports them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import attrs

from dovetail.backend import Slot, Wrapper, group_slots
from dovetail.contracts.kernel_fields import KERNEL_SIZES, KernelField, Transfer

Fields = frozenset[str]


@attrs.frozen(kw_only=True)
class Contracts:
    """The kernel fields of a registry, and how they pass to and from Data."""

    fields: Mapping[str, KernelField]
    transfers: tuple[Transfer, ...]
    out: Mapping[str, tuple[str, ...]]
    """Data fields by the kernel fields they are made of."""
    into: Mapping[str, tuple[str, ...]]
    """Kernel fields by the Data fields they are made of."""
    constant: Fields
    """Data fields that follow from the Model alone."""

    @classmethod
    def of(cls, fields: Mapping[str, KernelField], transfers: Iterable[Transfer]) -> Contracts:
        transfers = tuple(transfers)
        return cls(
            fields=fields,
            transfers=transfers,
            out={field: made for t in transfers for field, made in t.out.items()},
            into={field: made for t in transfers for field, made in t.into.items()},
            constant=frozenset(field for t in transfers for field in t.constant),
        )

    def is_empty(self, field: str, absent: Iterable[str]) -> bool:
        """Whether a kernel field holds nothing because the model does without the stage that writes it, or without
        the one that makes its rows."""
        spec = self.fields[field]
        makers = {KERNEL_SIZES[str(size)].maker for size in spec.shape if size in KERNEL_SIZES}
        return not {spec.writer, *makers}.isdisjoint(absent)


@attrs.frozen(kw_only=True)
class Conflict:
    """A field that a slot reads, or that is to be kept, and that is not where it is wanted."""

    field: str
    kind: Literal["kernel", "data", "kept"]
    reader: Slot | None
    """None: the user keeps the field."""
    writers: tuple[Slot, ...]
    """Who would have to be elsewhere."""

    @property
    def text(self) -> str:
        """What is wrong, as part of a sentence about the plan."""
        writers = _named(self.writers)
        if self.reader is None:
            return f"{self.field} is to be kept, which {writers} keeps to its kernel"
        what = f"{self.reader.label} ({self.reader.record.label}) reads {self.field}"
        if self.kind == "kernel":
            return f"{what}, a field of one kernel, which {writers} does not leave in that kernel"
        return f"{what}, which {writers} keeps to its kernel"


def _named(slots: Sequence[Slot]) -> str:
    """Slots in a sentence: the last of them, since it is the nearest, and how many others."""
    if not slots:
        return "nothing"
    others = f" and {len(slots) - 1} more of {slots[-1].stage.name}" if len(slots) > 1 else ""
    return f"{slots[-1].label} ({slots[-1].record.label}){others}"


@attrs.define(kw_only=True)
class Flow:
    """Slots in an order, cut into segments, and what passes between these."""

    groups: list[list[Slot]]
    imports: list[set[str]]
    """By segment: kernel fields that are made of Data when it begins."""
    exports: list[set[str]]
    """By segment: Data fields that are made of kernel fields when it ends."""
    empty: set[str]
    """Kernel fields that are read and hold nothing in this plan."""
    hidden: dict[str, tuple[int, Slot]]
    """Data fields that only a kernel had at the end: its segment, and the slot that stands for them."""
    conflicts: list[Conflict]

    @property
    def cost(self) -> tuple[int, int]:
        """What to have little of: conflicts, then segments."""
        return len(self.conflicts), len(self.groups)

    @classmethod
    def of(
        cls,
        slots: Iterable[Slot],
        wrappers: Sequence[Wrapper],
        contracts: Contracts,
        *,
        absent: Iterable[str] = (),
        earlier: Iterable[Slot] = (),
        wanted: Fields = frozenset(),
    ) -> Flow:
        """Follow the fields. `absent`: stages that the model does without; `earlier`: slots that have run before, and
        have left in Data what they write; `wanted`: Data fields that are kept, or read later."""
        groups = group_slots(slots, wrappers)
        walk = _Walk(contracts, groups, frozenset(absent), earlier)
        walk.run()
        walk.keep(wanted)
        return cls(
            groups=groups,
            imports=walk.imports,
            exports=walk.exports,
            empty=walk.empty,
            hidden=walk.hidden,
            conflicts=walk.conflicts,
        )


_EARLIER = -1
"""The segment of slots that have run before."""


class _Walk:
    """Goes through the slots in order and notes where every field is."""

    def __init__(
        self, contracts: Contracts, groups: list[list[Slot]], absent: Fields, earlier: Iterable[Slot]
    ) -> None:
        self.contracts, self.groups, self.absent = contracts, groups, absent
        self.inside: list[set[str]] = [set() for _ in groups]
        self.made: list[set[str]] = [set() for _ in groups]
        self.imports: list[set[str]] = [set() for _ in groups]
        self.exports: list[set[str]] = [set() for _ in groups]
        self.empty: set[str] = set()
        self.hidden: dict[str, tuple[int, Slot]] = {}
        self.conflicts: list[Conflict] = []
        self.before: list[tuple[int, Slot]] = [(_EARLIER, slot) for slot in earlier]

    def run(self) -> None:
        for number, group in enumerate(self.groups):
            for slot in group:
                for field in sorted(slot.needs):
                    if field in self.contracts.fields:
                        self._read_in_kernel(number, slot, field)
                    else:
                        self._read_in_data(number, slot, field)
                self._write(number, slot)
                self.before.append((number, slot))

    def _read_in_kernel(self, number: int, slot: Slot, field: str) -> None:
        if field in self.inside[number]:
            strangers = self._writers(field, elsewhere=number) if field in self.made[number] else []
            if strangers:
                self._conflict("kernel", slot, field, strangers)
        elif self.contracts.is_empty(field, self.absent):
            self.empty.add(field)
        elif self._can_be_imported(number, field):
            self._import(number, slot, field)
        else:
            self._conflict("kernel", slot, field, self._writers(field))

    def _import(self, number: int, slot: Slot, field: str) -> None:
        """Have a kernel field made of Data when a segment begins."""
        for source in self.contracts.into[field]:
            self._read_in_data(number, slot, source)
        self.imports[number].add(field)
        self.inside[number].add(field)

    def _writers(self, field: str, elsewhere: int | None = None) -> list[Slot]:
        """Slots of the stage that writes a kernel field, so far; or those of other segments."""
        stage = self.contracts.fields[field].writer
        return [s for number, s in self.before if s.stage.name == stage and number != elsewhere]

    def _can_be_imported(self, number: int, field: str) -> bool:
        """Whether a transfer makes the field, of Data that an earlier segment filled. One that its own writer in this
        segment left out is not had from Data: it would be that of an earlier step."""
        writers = [n for n, s in self.before if s.stage.name == self.contracts.fields[field].writer]
        return field in self.contracts.into and bool(writers) and max(writers) < number

    def _read_in_data(self, number: int, slot: Slot, field: str) -> None:
        if field not in self.hidden:
            return
        where, holder = self.hidden[field]
        if where != number and self._is_exportable(where, field):
            self._export(where, holder, field)
        else:
            self._conflict("data", slot, field, [holder])

    def _export(self, number: int, holder: Slot, field: str) -> None:
        """Have a Data field made when a segment ends; what that needs and the segment lacks is imported."""
        self.exports[number].add(field)
        del self.hidden[field]
        for source in self.contracts.out[field]:
            if source not in self.inside[number] and not self.contracts.is_empty(source, self.absent):
                self._import(number, holder, source)

    def _is_exportable(self, number: int, field: str) -> bool:
        """Whether a Data field can be made of what a segment has when it ends."""
        return field in self.contracts.out and all(
            source in self.inside[number]
            or self.contracts.is_empty(source, self.absent)
            or self._can_be_imported(number, source)
            for source in self.contracts.out[field]
        )

    def _write(self, number: int, slot: Slot) -> None:
        own = {field for field in slot.writes if field in self.contracts.fields}
        self.inside[number] |= own
        self.made[number] |= own
        for field in slot.stands_for | slot.leaves:
            if field not in slot.leaves and field not in self.contracts.constant:
                self.hidden[field] = (number, slot)
            elif not self._lacks_a_row(slot, field):
                self.hidden.pop(field, None)

    def _lacks_a_row(self, slot: Slot, field: str) -> bool:
        """Whether another row of the same table keeps its part of a field to a kernel."""
        return (
            slot.stage.kind == "table" and field in self.hidden and self.hidden[field][1].stage is slot.stage
        )

    def keep(self, wanted: Fields) -> None:
        """Export what is wanted and can be had."""
        for field in sorted(wanted & self.hidden.keys()):
            where, holder = self.hidden[field]
            if self._is_exportable(where, field):
                self._export(where, holder, field)

    def _conflict(
        self, kind: Literal["kernel", "data"], reader: Slot, field: str, writers: Sequence[Slot]
    ) -> None:
        self.conflicts.append(Conflict(field=field, kind=kind, reader=reader, writers=tuple(writers)))


# ---- another order


def regrouped(slots: Sequence[Slot], contracts: Contracts, *, through_data: bool) -> list[Slot]:
    """The slots in an order in which those that share kernel fields stand together, as far as what they read and
    write allows: a stage of another backend moves before them or behind them. Where it makes no difference the
    order stays. With `through_data`, fields that can pass through Data tie nobody together."""
    order = _Order(slots, contracts, through_data)
    return [slots[n] for n in order.sorted()]


class _Order:
    """Slots by number, and which must come before which."""

    def __init__(self, slots: Sequence[Slot], contracts: Contracts, through_data: bool) -> None:
        self.slots, self.contracts = slots, contracts
        self.tying = {f for f in contracts.fields if not through_data or f not in contracts.into}
        self.after: list[set[int]] = [set() for _ in slots]
        """For each slot, those that must come before it."""
        reads, writes = [self._reads(s) for s in slots], [self._writes(s) for s in slots]
        for late in range(len(slots)):
            for early in range(late):
                if _pinned(slots[early], slots[late]) or not (
                    writes[early].isdisjoint(reads[late] | writes[late])
                    and reads[early].isdisjoint(writes[late])
                ):
                    self.after[late].add(early)
        for bundle in self._bundles():
            self._wait_for_others(bundle)

    def _reads(self, slot: Slot) -> Fields:
        sources = [self.contracts.into.get(field, ()) for field in slot.reads]
        return slot.reads.union(*sources)

    def _writes(self, slot: Slot) -> Fields:
        """Whatever its stage stands for, in Data or in a kernel."""
        kernel = {f for f, spec in self.contracts.fields.items() if spec.writer == slot.stage.name}
        return slot.leaves | slot.stands_for | kernel

    def _bundles(self) -> list[set[int]]:
        """Slots tied together by kernel fields."""
        bundles: list[tuple[Fields, set[int]]] = []
        for number, slot in enumerate(self.slots):
            tied = (slot.reads | slot.writes) & self.tying
            if not tied:
                continue
            joined = [b for b in bundles if not b[0].isdisjoint(tied)]
            bundles = [b for b in bundles if b not in joined]
            bundles.append((tied.union(*(b[0] for b in joined)), {number}.union(*(b[1] for b in joined))))
        return [numbers for _, numbers in bundles]

    def _wait_for_others(self, bundle: set[int]) -> None:
        """Let a bundle begin when all slots of other backends that any of it waits for have run."""
        backend = self.slots[min(bundle)].record.backend
        earlier = self._all_before(bundle)
        for number, slot in enumerate(self.slots):
            waits = not self._all_before({number}).isdisjoint(bundle)
            if slot.record.backend != backend and number in earlier and not waits:
                for member in bundle:
                    self.after[member].add(number)

    def _all_before(self, numbers: set[int]) -> set[int]:
        """Every slot that must come before one of these."""
        found: set[int] = set()
        todo = set(numbers)
        while todo:
            todo = set().union(*(self.after[n] for n in todo)) - found
            found |= todo
        return found

    def sorted(self) -> list[int]:
        """An order that changes the backend seldom, else as given."""
        left, order = list(range(len(self.slots))), list[int]()
        backend = ""
        while left:
            ready = [n for n in left if self.after[n].isdisjoint(left)]
            same = [n for n in ready if self.slots[n].record.backend == backend]
            chosen = (same or ready)[0]
            order.append(chosen)
            left.remove(chosen)
            backend = self.slots[chosen].record.backend
        return order


def _pinned(early: Slot, late: Slot) -> bool:
    """Callbacks at both ends of a step stay there: what they touch is not declared."""
    return "all" in (early.stage.kind, late.stage.kind)
