"""Reference files: what MuJoCo says of one model, as few arrays as possible, and how dovetail's numbers compare.

A file holds the MJCF text, the files it names, and under `section/field` the compiled Model (`model`), a state
(`state`), every field of Data after an evaluation of it (`forward`), what an integrator leaves besides the state
(`step`), and the state after some steps (`after`). Of fields of many thousand numbers every nth is kept (`sampled`).
What MuJoCo leaves undefined (nan, or as large as numbers get) is kept as nan, and not compared.
Real numbers stand one after the other in one array and whole ones in another; an index says which are whose.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import attrs
import numpy as np

import dovetail
from dovetail.compare.conform import BY_MATRIX, UNCOMPARED
from dovetail.compare.errors import SPARSE, Worst, getter, meaningful, written_out
from dovetail.config import Config
from dovetail.contracts.fields import REAL
from dovetail.contracts.types import DATA_SPECS, MODEL_SPECS, Data, Model

FOLDER = Path(__file__).parent / "collection"
SETTINGS = {"tolerance": 1e-14, "iterations": 300, "jacobian": 1}
"""Both engines solve to the end, so that where a solver stops is no difference; and keep rows sparse, because
MuJoCo otherwise leaves the layout of rows undefined."""
MATRICES = (*BY_MATRIX, "actuator_moment")
"""Kept by rows, and compared written out: MuJoCo's have entries that are zero."""
MOST = 3000
"""Numbers of a field that are kept."""
DERIVATIVE = "qDeriv"
"""Filled by the implicit integrator, from the state before the step."""
AFTER_STEPS = 5e-7
"""Tolerance of the state after the steps: a solver's last digits have had time to grow."""


LOOSER = {"sdf_pairs": 1e-8}
"""Models in which a field's gradients are differences over 1e-8, so that a last digit shows in the eighth."""


def digest(text: str, arrays: Mapping[str, Any]) -> str:
    """Of what is put in and not compared: the text and the state."""
    found = hashlib.sha256(text.encode())
    for name, value in arrays.items():
        if name.startswith("state/"):
            found.update(name.encode() + np.asarray(value, np.float64).tobytes())
    return found.hexdigest()


@attrs.frozen
class Reference:
    """What MuJoCo said of one model."""

    name: str
    text: str
    assets: Mapping[str, bytes]
    version: str
    steps: int
    digest: str
    """Of the inputs, as they were when the file was written."""
    arrays: Mapping[str, Any]

    def section(self, prefix: str) -> dict[str, Any]:
        return {n.removeprefix(f"{prefix}/"): v for n, v in self.arrays.items() if n.startswith(f"{prefix}/")}

    def save(self, path: Path) -> None:
        kinds = {name: "i" if np.asarray(v).dtype.kind in "biu" else "f" for name, v in self.arrays.items()}
        index = {name: [kinds[name], *np.shape(value)] for name, value in self.arrays.items()}

        def joined(kind: str, dtype: type) -> Any:
            parts = [np.ravel(v).astype(dtype) for n, v in self.arrays.items() if kinds[n] == kind]
            return np.concatenate([np.zeros(0, dtype), *parts])

        about = {
            "text": self.text,
            "version": self.version,
            "steps": self.steps,
            "digest": self.digest,
            "index": index,
            "assets": list(self.assets),
        }
        np.savez_compressed(
            path,
            about=np.frombuffer(json.dumps(about).encode(), np.uint8),
            f=joined("f", np.float64),
            i=joined("i", np.int64).astype(np.int32),
            **{
                f"asset{n}": np.frombuffer(content, np.uint8)
                for n, content in enumerate(self.assets.values())
            },
        )

    @classmethod
    def read(cls, path: Path) -> Reference:
        with np.load(path, allow_pickle=False) as archive:
            about = json.loads(archive["about"].tobytes())
            stores = {"f": archive["f"], "i": archive["i"]}
            assets = {name: archive[f"asset{n}"].tobytes() for n, name in enumerate(about["assets"])}
        arrays, used = {}, {"f": 0, "i": 0}
        for name, (kind, *shape) in about["index"].items():
            count = int(np.prod(shape, dtype=int))
            arrays[name] = stores[kind][used[kind] : used[kind] + count].reshape(shape)
            used[kind] += count
        return cls(
            path.stem, about["text"], assets, about["version"], about["steps"], about["digest"], arrays
        )


def files() -> list[Path]:
    return sorted(FOLDER.glob("*.npz"))


def compared(name: str) -> bool:
    """Whether a field of Data means something in MuJoCo, too."""
    layouts = {field for matrix in MATRICES for field in SPARSE[matrix]}
    return name not in layouts and not any(fnmatchcase(name, pattern) for pattern in UNCOMPARED)


def value_of(name: str, get: Any, nv: int) -> Any:
    """The meaningful part of a field; `get` reads fields of one world."""
    if name in MATRICES:
        return written_out(name, get, nv)
    value = np.asarray(get(name))
    return meaningful(DATA_SPECS[name], value, get) if value.ndim else value


@attrs.frozen
class Run:
    """dovetail on the model of a reference."""

    reference: Reference
    model: Model
    sim: dovetail.Simulation

    @classmethod
    def of(cls, reference: Reference, stages: Mapping[str, str] | None = None, backend: str = "numpy") -> Run:
        from dovetail.planning.loading_selection import for_loading, for_running

        model = dovetail.loads(
            reference.text, assets=reference.assets, stages=for_loading(stages), config=Config()
        )
        for option, value in SETTINGS.items():
            setattr(model.opt, option, value)
        running = for_running(stages)
        sim = dovetail.Simulation(model, backend=backend, keep="all", stages=running, config=Config())  # type: ignore[arg-type]
        return cls(reference, model, sim)

    def used(self) -> set[tuple[str, str]]:
        """Slots and implementations that loading and running use."""
        running = {(label, choice.record.label) for label, choice in self.sim.plan.choices.items()}
        loading = {(slot, text.partition("/")[0]) for slot, text in self.model.stages.items() if "@" in text}
        return running | loading

    def worst(self) -> Worst:
        """Every comparison: the compiled model, the evaluation, and the steps."""
        worst = Worst(self.model)
        self.compare_model(worst)
        self.compare_forward(worst)
        self.compare_steps(worst)
        return worst

    def failures(self) -> list[str]:
        """What deviates from the reference by more than it may."""
        most = LOOSER.get(self.reference.name, 0.0)
        return [str(row) for row in self.worst().sorted_rows() if not row.ok and row.error > most]

    def compare_model(self, worst: Worst) -> None:
        for section in ("model", "sampled"):
            for name, value in self.reference.section(section).items():
                ours = np.asarray(self.model.field(name))
                ours = sampled(ours) if section == "sampled" else ours
                spec = MODEL_SPECS[name]
                if spec.dtype == "float32":  # a last digit, and no more
                    spec = attrs.evolve(spec, dtype=REAL, tolerance=2e-7)
                worst.add("compile", spec, *defined(ours, value))

    def set_state(self) -> Data:
        data = self.sim.data
        for name, value in self.reference.section("state").items():
            data.field(name)[...] = value
        return data

    def compare_forward(self, worst: Worst) -> None:
        data = self.set_state()
        self.sim.forward()
        if f"forward/{DERIVATIVE}" in self.reference.arrays:
            self.sim.plan.registry.get("derivative", "analytic@numpy").load()(self.model, data)
        get = getter(data)
        writers = last_writers(self.sim.plan)
        for name, value in self.reference.section("forward").items():
            ours = value_of(name, get, int(self.model.nv))
            if ours.size == value.size:
                ours = ours.reshape(value.shape)
            slot = writers.get(name, DATA_SPECS[name].writer or "")
            worst.add(slot, DATA_SPECS[name], ours, value)

    def compare_steps(self, worst: Worst) -> None:
        self.set_state()
        self.sim.step()
        for name, value in self.reference.section("step").items():
            ours = np.asarray(self.sim.data.field(name))
            worst.add("integrate", DATA_SPECS[name], ours.reshape(value.shape), value)
        self.sim.step(self.reference.steps - 1)
        steps = Worst(self.model, tolerance=AFTER_STEPS)
        for name, value in self.reference.section("after").items():
            row = steps.add("steps", DATA_SPECS[name], np.asarray(self.sim.data.field(name)), value)
            worst.keep(row)


def sampled(value: Any) -> Any:
    """Every nth number of a large field."""
    flat = np.ravel(value)
    return flat[:: -(-flat.size // MOST)]


def defined(ours: Any, theirs: Any) -> tuple[Any, Any]:
    """Both without what MuJoCo leaves undefined."""
    ours = ours.reshape(theirs.shape) if ours.size == theirs.size else ours
    known = np.isfinite(theirs)
    return (ours, theirs) if known.all() else (ours[known], theirs[known])


def last_writers(plan: Any) -> dict[str, str]:
    """The slot after which each field has its final value."""
    return {f: slot.label for slot in plan.slots for f in sorted(slot.in_data) if f in DATA_SPECS}


def contact_keys(model: Model, forward: Mapping[str, Any]) -> Iterator[str]:
    """Slots of collide_pair and collide_flex that made the contacts of a reference."""
    from dovetail.contracts.enums import GeomType

    shapes = ("vertex", "segment", "triangle", "tetrahedron")
    names = {kind.value: kind.name.lower() for kind in GeomType}
    rows = zip(*(forward.get(f"contact.{n}", ()) for n in ("geom", "flex", "elem")), strict=True)
    for geom, flex, elem in rows:
        sides = []
        for side in range(2):
            if geom[side] >= 0:
                kind = int(model.geom_type[geom[side]])
                sides.append((kind, names[kind]))
            else:
                dim = int(model.flex_dim[flex[side]]) if elem[side] >= 0 else 0
                sides.append((100 + dim, shapes[dim]))
        first, second = sorted(sides)
        table = "collide_flex" if second[0] >= 100 else "collide_pair"
        yield f"{table}:{first[1]}-{second[1]}"
