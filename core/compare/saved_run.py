"""The results of a run, slot by slot and step by step, in a file: what another revision is compared with.

`dovetail diff --save before.npz` writes one. Read again it stands for a side: in place of computing a block it hands
over what was computed then, so that every block of the other side gets the inputs of that time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dovetail import files
from dovetail.compare.run_sides import ORDER, Block
from dovetail.contracts.fields import Array
from dovetail.contracts.sizes import CAPACITIES
from dovetail.contracts.store import fingerprint, read_archive, write_arrays
from dovetail.contracts.types import DATA_SPECS, STATE, Data, Model
from dovetail.errors import FileFormatError, ValidationError
from dovetail.registry import default_registry

FORMAT = "dovetail-run-1"
SEPARATOR = "|"
LARGEST = 1 << 29
"""Bytes of results that are kept at most: 512 MiB."""


def given_fields(data: Data) -> list[str]:
    """The fields that no stage computes: state, controls, applied forces."""
    return [n for n, _ in data.fields() if n in STATE or (n in DATA_SPECS and not DATA_SPECS[n].writer)]


@attrs.define
class RunRecorder:
    """Collects what the blocks of a run leave."""

    model: Model
    start: dict[str, Array]
    nworld: int | None
    precision: str
    evaluations: int
    implementations: Mapping[str, str]
    blocks: list[tuple[str, ...]]
    values: dict[str, list[Array]] = attrs.field(factory=dict)
    bytes: int = 0

    def keep(self, number: int, evaluation: int, block: Block, data: Data) -> None:
        """What a block of the plan left in a Data."""
        for name in sorted(block.leaves):
            if name in data:
                value = np.array(data.field(name))
                self.bytes += value.nbytes
                key = SEPARATOR.join((str(number), str(evaluation), name))
                self.values.setdefault(key, []).append(value)
        if self.bytes > LARGEST:
            raise ValidationError(
                "saving a run",
                [f"its results take more than {LARGEST >> 20} MiB; take fewer steps or worlds"],
            )

    def save(self, path: str | Path, steps: int) -> None:
        header = {
            "format": FORMAT,
            "model": fingerprint(self.model),
            "modelname": self.model.modelname,
            "nworld": self.nworld,
            "precision": self.precision,
            "steps": steps,
            "evaluations": self.evaluations,
            "implementations": dict(self.implementations),
            "blocks": [list(block) for block in self.blocks],
            "shapes": {key: [value.shape for value in values] for key, values in self.values.items()},
        }
        arrays = {f"start{SEPARATOR}{name}": value for name, value in self.start.items()}
        arrays |= {key: np.concatenate([v.ravel() for v in values]) for key, values in self.values.items()}
        text = np.frombuffer(json.dumps(header).encode(), np.uint8)
        write_arrays(files.checked_path(path), {"header": text, **arrays})


@attrs.define(eq=False)
class SavedRun:
    """A file, as one side of a comparison."""

    path: str
    header: Mapping[str, Any]
    start: Mapping[str, Array]
    values: Mapping[str, list[Array]]
    step: int = 0

    @classmethod
    def read(cls, path: str, model: Model) -> SavedRun:
        """A saved run of this model, or an error that says what it is of."""
        header, arrays = read_archive(path, FORMAT)
        try:
            if header["model"] != fingerprint(model):
                raise ValidationError(
                    f"{path}",
                    [f"it is a run of another model, {header['modelname']!r}, not of {model.modelname!r}"],
                )
            mark = f"start{SEPARATOR}"
            start = {n.removeprefix(mark): v for n, v in arrays.items() if n.startswith(mark)}
            values = {
                key: _split(arrays[key], [tuple(shape) for shape in shapes])
                for key, shapes in header["shapes"].items()
            }
            return cls(path, header, start, values)
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, ValidationError):
                raise
            raise FileFormatError(f"{path}: not a run saved by dovetail diff, or damaged: {error}") from None

    @property
    def steps(self) -> int:
        return int(self.header["steps"])

    @property
    def nworld(self) -> int | None:
        found = self.header["nworld"]
        return None if found is None else int(found)

    @property
    def precision(self) -> str:
        return str(self.header["precision"])

    @property
    def evaluations(self) -> int:
        return int(self.header["evaluations"])

    @property
    def blocks(self) -> list[tuple[str, ...]]:
        return [tuple(block) for block in self.header["blocks"]]

    @property
    def in_place(self) -> bool:
        return all(len(block) == 1 for block in self.blocks)

    def places(self) -> dict[str, tuple[int, int, str]]:
        return {label: _place(label) for block in self.blocks for label in block}

    def can_run(self, labels: Sequence[str]) -> bool:
        """Whether the labels are whole blocks of that time."""
        own = {label for block in self.blocks for label in block} & set(labels)
        return own == {label for block in self.blocks if own & set(block) for label in block}

    def label(self, slot: str) -> str:
        return str(self.header["implementations"].get(slot, "")).partition("/")[0]

    def block(self, labels: Sequence[str]) -> Replayed | None:
        """What was left by these slots."""
        numbers = [n for n, block in enumerate(self.blocks) if set(block) & set(labels)]
        return Replayed(self, numbers) if numbers else None


@attrs.frozen(eq=False)
class Replayed:
    """A block of a saved run."""

    run_of: SavedRun
    numbers: list[int]

    @property
    def leaves(self) -> frozenset[str]:
        keys = (key.split(SEPARATOR) for key in self.run_of.values)
        return frozenset(name for number, _, name in keys if int(number) in self.numbers)

    def run(self, data: Data, evaluation: int) -> None:
        for number in self.numbers:
            prefix = SEPARATOR.join((str(number), str(evaluation), ""))
            for key, values in self.run_of.values.items():
                if key.startswith(prefix):
                    write_field(data, key.removeprefix(prefix), values[self.run_of.step])

    @property
    def is_reference(self) -> bool:
        labels = [label for n in self.numbers for label in self.run_of.blocks[n]]
        return all(self.run_of.label(label).endswith("@numpy") for label in labels)

    @property
    def integrates(self) -> bool:
        return any("integrate" in self.run_of.blocks[n] for n in self.numbers)


def write_field(data: Data, name: str, value: Array) -> None:
    """Put an array into a field that may have more room."""
    if name not in data:
        return
    first = 0 if data.nworld is None else 1
    spec = data.specs[name]
    capacities = [
        (str(size), length)
        for size, length in zip(spec.shape, value.shape[first:], strict=True)
        if size in CAPACITIES
    ]
    data.reserve(**dict(capacities))
    place = data.field(name)
    room = tuple(slice(None) for _ in range(first)) + tuple(slice(n) for n in value.shape[first:])
    place[room] = value


def _split(flat: Array, shapes: list[tuple[int, ...]]) -> list[Array]:
    """The arrays of the steps."""
    sizes = [int(np.prod(shape, dtype=int)) for shape in shapes]
    ends = np.cumsum(sizes)
    if (int(ends[-1]) if len(ends) else 0) != flat.size:
        raise ValueError("an array has another length than its header says")
    return [
        flat[end - size : end].reshape(shape) for end, size, shape in zip(ends, sizes, shapes, strict=True)
    ]


def _place(label: str) -> tuple[int, int, str]:
    """Where a slot stands in the pipeline of this version."""
    stage, _, key = label.partition("#")[0].partition(":")
    keys = default_registry().keys(stage) if stage in ORDER else []
    return ORDER.get(stage, len(ORDER)), keys.index(key) if key in keys else len(keys), label
