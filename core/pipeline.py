"""The ordered table of stages, derived from the hookspecs and the field declarations.

`STAGES` maps a stage's name to its row; `FORWARD` is the order in which a forward evaluation runs them, `STEP`
adds sleeping and the integrator. A stage writes the fields whose declaration names it as writer, plus what its
hookspec adds.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType
from typing import Any

import attrs

from dovetail.contracts.types import DATA_SPECS
from dovetail.errors import UnknownStageError, listing, nearest
from dovetail.hookspecs import acceleration, compile, observe, position, velocity
from dovetail.hookspecs.markers import Kind, Phase, StageMark, When, mark_of

HOOKSPEC_MODULES: tuple[ModuleType, ...] = (compile, position, velocity, acceleration, observe)


@attrs.frozen
class Stage:
    """One row of the pipeline."""

    name: str
    phase: Phase
    kind: Kind
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    accumulates: tuple[str, ...]
    parts: tuple[str, ...]
    part_of: str | None
    when: When
    """In which forward evaluations of a step it runs."""
    needed: str
    """The rule that says why a model needs it; empty: every model does."""
    rows: str
    """The rules about rows of a table that models may ask for."""
    on_request: bool
    """Whether it also runs if somebody keeps its results by name."""
    keys: str
    """The group of features whose members are the keys of this part table."""
    every_key: bool
    """Whether a model must find a row for each such member that it has."""
    summary: str = attrs.field(repr=False)
    """What it computes, in one paragraph: the hookspec's docstring as written."""
    spec: Callable[..., Any] = attrs.field(repr=False)

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(inspect.signature(self.spec).parameters)

    @property
    def runs(self) -> bool:
        """Whether it has a place of its own at run time (parts run inside their dispatcher)."""
        return self.phase != "compile" and self.part_of is None


def _writes(name: str, mark: StageMark) -> tuple[str, ...]:
    own = [spec.name for spec in DATA_SPECS.values() if spec.writer == name]
    return (*own, *(f for f in (*mark.also_writes, *mark.accumulates) if f not in own))


def _with_fields(summary: str, reads: tuple[str, ...], writes: tuple[str, ...]) -> str:
    """A docstring that also says what a stage reads and writes, so that `help()` shows the whole contract."""
    lines = [
        f"{verb}: {', '.join(names)}." for verb, names in (("Reads", reads), ("Writes", writes)) if names
    ]
    return "\n\n".join([summary, *lines])


def _stage(name: str, function: Callable[..., Any], mark: StageMark) -> Stage:
    for field in (*mark.reads, *mark.also_writes, *mark.accumulates):
        if field not in DATA_SPECS:
            raise ValueError(
                f"hookspec {name} names {field!r}, which is no Data field{nearest(field, DATA_SPECS)}"
            )
    writes = _writes(name, mark)
    summary = " ".join((inspect.getdoc(function) or "").split())
    function.__doc__ = _with_fields(summary, mark.reads, writes)
    return Stage(
        name=name,
        phase=mark.phase,
        kind=mark.kind,
        reads=mark.reads,
        writes=writes,
        accumulates=mark.accumulates,
        parts=mark.parts,
        part_of=mark.part_of,
        when=mark.when,
        needed=mark.needed,
        rows=mark.rows,
        on_request=mark.on_request,
        keys=mark.keys,
        every_key=mark.every_key,
        summary=summary,
        spec=function,
    )


def _collect() -> dict[str, Stage]:
    stages: dict[str, Stage] = {}
    for module in HOOKSPEC_MODULES:
        for name, function in vars(module).items():
            mark = mark_of(function)
            if mark is not None:
                stages[name] = _stage(name, function, mark)
    return stages


STAGES: Mapping[str, Stage] = MappingProxyType(_collect())

FORWARD: tuple[str, ...] = (
    "kinematics",
    "com_position",
    "camera_light",
    "flex_kinematics",
    "tendon",
    "mass_matrix",
    "factor_mass",
    "broadphase",
    "narrowphase",
    "contact_params",
    "constraint_rows",
    "wake",
    "islands",
    "transmission",
    "transmission_velocity",
    "com_velocity",
    "passive_force",
    "constraint_reference",
    "bias_force",
    "actuation",
    "smooth_acceleration",
    "solve_constraints",
    "noslip",
    "subtree_velocity",
    "body_forces",
    "sensor",
    "energy",
    "inverse",
    "rest",
)
STEP: tuple[str, ...] = (*FORWARD, "sleep", "integrate")


def _with_parts(name: str) -> list[str]:
    """A stage, and behind it those that are called by it."""
    parts = [part for part in STAGES[name].parts if STAGES[part].part_of == name]
    return [name, *(inner for part in parts for inner in _with_parts(part))]


def in_order() -> list[str]:
    """Every stage: those of loading, those of a step with their parts, then what runs now and then."""
    loading = [name for name, stage in STAGES.items() if stage.phase == "compile"]
    step = [name for stage in STEP for name in _with_parts(stage)]
    return list(dict.fromkeys((*loading, *step, *STAGES)))


def stage(name: str) -> Stage:
    """The row of a stage, or an error that names the nearest one."""
    try:
        return STAGES[name]
    except KeyError:
        raise UnknownStageError(
            f"there is no stage {name!r}{nearest(name, STAGES) or '.'} Stages: {listing(STAGES)}"
        ) from None
