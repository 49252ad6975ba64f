"""A divergence in one file, with everything that reproduces it: model, inputs, both sides, versions.

    from dovetail.compare.dump import replay

    print(replay("first.npz").table())

`Shadow(dump="first.npz")` writes one. It is an ordinary .npz without pickled objects; the model in it needs no asset
files. Implementations are named, not held: a package that brings one must be installed where the dump is replayed.
"""

from __future__ import annotations

import platform
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dovetail.bad_states import StateWarning, bad_worlds
from dovetail.compare.beside import Beside, take_inputs
from dovetail.compare.divergence import WHOLE_STEP, Divergence, as_divergence, first_failure
from dovetail.compare.errors import FieldError, Worst
from dovetail.compare.isolate import Worlds
from dovetail.compare.localise import both_isolated, copy_common, put, slot_errors
from dovetail.compare.reports import Report
from dovetail.compare.sides import Side
from dovetail.compare.tables import error_table
from dovetail.contracts import model_store
from dovetail.contracts.fields import Array
from dovetail.contracts.store import pack, read_archive, write_arrays
from dovetail.contracts.types import Data, Model
from dovetail.errors import FileFormatError
from dovetail.files import checked_path
from dovetail.registry import Registry, default_registry

FORMAT = "dovetail-dump-1"
_MODEL, _INPUT = "model/", "input/"


@attrs.frozen(kw_only=True)
class ReplayReport(Report):
    """What a replayed dump shows now."""

    rows: tuple[FieldError, ...]
    divergence: Divergence | None
    recorded: Divergence | None
    """What the dump was written for; None for a bad state that both sides reached."""
    compared: int
    """Steps, or calls of the slot, that were compared."""
    bad_state: str = ""
    """The state that went bad on the first side, in words."""
    versions: tuple[str, ...] = ()
    """Versions that are not those of the dump."""

    @property
    def reproduced(self) -> bool:
        """Whether the recorded divergence, or else the bad state, shows again in the same slot and field."""
        if self.recorded is None:
            return bool(self.bad_state)
        now = self.divergence
        return now is not None and (now.slot, now.field) == (self.recorded.slot, self.recorded.field)

    @property
    def ok(self) -> bool:
        """Whether both sides agree."""
        return self.divergence is None and not self.failures

    def headline(self) -> str:
        if self.reproduced:
            return f"reproduced: {self.divergence or self.bad_state}"
        was = f"was: {self.recorded}" if self.recorded else "the dump holds no divergence"
        now = f"now: {self.divergence}" if self.divergence else "both sides agree now"
        return f"not reproduced; {now}; {was}"

    def table(self) -> str:
        parts = [self.headline(), *(f"not the version of the dump: {text}" for text in self.versions)]
        return "\n".join([*parts, error_table(self.rows)])

    def to_dict(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "reproduced": self.reproduced,
            "divergence": None if self.divergence is None else self.divergence.to_dict(),
            "recorded": None if self.recorded is None else self.recorded.to_dict(),
            "compared": self.compared,
            "bad_state": self.bad_state,
            "versions": list(self.versions),
            "rows": self.rows_as_dicts(),
        }


@attrs.frozen(kw_only=True, eq=False)
class Dump:
    """A moment of a run that two sides compute differently."""

    model: Model
    ours: Side
    theirs: Side
    inputs: Mapping[str, Array]
    """The state before the step, or what the slot reads; first axis the world, in a batch."""
    nworld: int | None
    worlds: tuple[int, ...]
    """Which worlds of the run these are."""
    step: int
    steps: int = 1
    """Steps from the inputs to the divergence, or to the bad state."""
    slot: str = WHOLE_STEP
    """What is compared: steps as a whole, or one slot."""
    evaluation: int = 0
    tolerance: float | None = None
    divergence: Divergence | None = None
    versions: Mapping[str, str] = attrs.field(factory=lambda: versions())

    def save(self, path: str | Path) -> None:
        """Write it to an .npz file, at once or not at all."""
        header, arrays = model_store.packed(self.model)
        own = attrs.asdict(
            self,
            filter=lambda a, _: a.name not in ("model", "inputs", "ours", "theirs", "divergence"),
        )
        text = {
            "format": FORMAT,
            **own,
            "model": header,
            "ours": self.ours.to_dict(),
            "theirs": self.theirs.to_dict(),
            "divergence": None if self.divergence is None else self.divergence.to_dict(),
        }
        write_arrays(
            checked_path(path),
            {
                "header": pack(text),
                **{_MODEL + name: value for name, value in arrays.items()},
                **{_INPUT + name: np.asarray(value) for name, value in self.inputs.items()},
            },
        )

    @classmethod
    def load(cls, path: str | Path) -> Dump:
        """Read a file that `save` wrote."""
        header, arrays = read_archive(path, FORMAT)
        model = model_store.unpacked(path, header.get("model"), _under(arrays, _MODEL))
        try:
            return cls(
                model=model,
                inputs=_under(arrays, _INPUT),
                ours=Side.from_dict(header["ours"]),
                theirs=Side.from_dict(header["theirs"]),
                divergence=as_divergence(header["divergence"]),
                worlds=tuple(header["worlds"]),
                **{
                    name: header[name]
                    for name in ("nworld", "step", "steps", "slot", "evaluation", "tolerance", "versions")
                },
            )
        except (KeyError, TypeError) as problem:
            raise FileFormatError(
                f"{path}: not in the format {FORMAT}: {type(problem).__name__} {problem}"
            ) from problem

    def replay(self, *, registry: Registry | None = None) -> ReplayReport:
        """Compare both sides again, from the same inputs."""
        registry = registry or default_registry()
        run = self._replay_steps if self.slot == WHOLE_STEP else self._replay_slot
        report = run(registry)
        return attrs.evolve(report, recorded=self.divergence, versions=_changed(self.versions))

    def _replay_steps(self, registry: Registry) -> ReplayReport:
        """Both plans step by step, each step from the state that the first one reached, up to where they part."""
        plan = self.ours.plan(self.model, self.nworld, registry)
        beside = Beside.of(self.model, self.ours, self.theirs, self.nworld, registry, self.tolerance)
        data, specs = plan.make_data(), beside.specs(plan)
        places = tuple(range(self.nworld or 1))
        put(data, {name: value for name, value in self.inputs.items() if name in data})
        worst, bad = Worst(self.model, plan.precision), _Heard()
        for done in range(self.steps):
            inputs = take_inputs(data, places)
            bad.step(plan, data)
            beside.step(inputs)
            errors = beside.errors(data, places, specs)
            for rows in errors:
                for row in rows:
                    worst.keep(row)
            found = beside.first_divergence(data, places, inputs, errors, self.step + done)
            if found is not None or bad.text:
                break
        if found is not None:
            found = attrs.evolve(found, world=self.worlds[found.world])
        return ReplayReport(
            rows=worst.sorted_rows(), divergence=found, recorded=None, compared=done + 1, bad_state=bad.text
        )

    def _replay_slot(self, registry: Registry) -> ReplayReport:
        """The slot of each side, on the inputs that it had."""
        worlds = Worlds(
            nworld=self.nworld,
            precision=self.ours.precision,  # type: ignore[arg-type]
            lanes=self.ours.lanes if self.nworld is not None else 1,
            per_world=self.ours.per_world,
        )
        one, other = both_isolated(self.model, self.slot, self.ours, self.theirs, worlds, registry)
        ahead, behind = one.plan.make_data(), other.plan.make_data()
        put(behind, {name: value for name, value in self.inputs.items() if name in behind})
        copy_common(ahead, behind)
        put(ahead, {name: value for name, value in self.inputs.items() if name in ahead})
        one.run(ahead, self.evaluation)
        other.run(behind, self.evaluation)
        rows = slot_errors(self.slot, one, other, ahead, behind, self.tolerance)
        row, found = first_failure(rows), None
        if row is not None:
            labels = {"first": self.ours.stages[self.slot], "second": self.theirs.stages[self.slot]}
            time = float(np.ravel(self.inputs["time"])[0])
            found = Divergence.of(row, step=self.step, time=time, world=self.worlds[0], **labels)
        return ReplayReport(rows=rows, divergence=found, recorded=None, compared=1)


@attrs.define
class _Heard:
    """Takes steps and remembers the first bad state, in words."""

    text: str = ""

    def step(self, plan: Any, data: Data) -> None:
        from dovetail.errors import BadStateError

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", StateWarning)
            try:
                plan.step(data)
            except BadStateError as error:
                self.text = str(error)
        said = [str(w.message) for w in caught if issubclass(w.category, StateWarning)]
        numbers = list(bad_worlds(data))
        self.text = (
            self.text or "; ".join(said) or (f"the state of world {numbers[0]} is bad" if numbers else "")
        )


def replay(path: str | Path | Dump, *, registry: Registry | None = None) -> ReplayReport:
    """Reproduce the comparison that a dump was written for."""
    dump = path if isinstance(path, Dump) else Dump.load(path)
    return dump.replay(registry=registry)


def versions() -> dict[str, str]:
    """What results depend on."""
    from dovetail import __version__

    return {
        "dovetail": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
    }


def _changed(then: Mapping[str, str]) -> tuple[str, ...]:
    now = versions()
    return tuple(
        f"{name} {now.get(name, 'absent')}, then {was}" for name, was in then.items() if now.get(name) != was
    )


def _under(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
