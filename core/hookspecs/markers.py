"""The pluggy markers, and `stage`: a hookspec that is also a row of the pipeline's stage table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import attrs
import pluggy

PROJECT = "dovetail"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

Phase = Literal["compile", "position", "velocity", "acceleration", "observe", "integrate"]
Kind = Literal["one", "table", "all"]
When = Literal["always", "first", "last"]

RULES = "dovetail.plugins.model_rules"
"""Where the rules about MuJoCo's models are that hookspecs name."""

SLEEP = (
    "tree_asleep tree_awake body_awake body_awake_ind parent_awake_ind dof_awake_ind ntree_awake nbody_awake "
    "nparent_awake nv_awake"
)
"""Fields that say what is awake."""
TENDONS = (
    "ten_length ten_J ten_J_rownnz ten_J_rowadr ten_J_colind ten_wrapadr ten_wrapnum wrap_obj wrap_xpos "
    "tendon_efcadr"
)
CONTACT_LIST = (
    "ncon contact_candidate contact.dist contact.pos contact.frame contact.includemargin contact.friction "
    "contact.solref contact.solreffriction contact.solimp contact.mu contact.dim contact.geom1 contact.geom2 "
    "contact.geom contact.flex contact.elem contact.vert contact.exclude contact.efc_address"
)
"""Contacts as the position stages leave them."""
ROW_LIST = (
    "ne nf nl nefc nJ efc_type efc_id efc_J_rownnz efc_J_rowadr efc_J_rowsuper efc_J_colind efc_J efc_pos efc_margin "
    "efc_frictionloss efc_diagApprox efc_KBIP efc_D efc_R"
)
"""Constraint rows as the position stages leave them."""

F = TypeVar("F", bound=Callable[..., Any])
_ATTRIBUTE = "dovetail_stage"


@attrs.frozen(kw_only=True)
class StageMark:
    """What a hookspec says of its stage besides signature and docstring."""

    phase: Phase
    kind: Kind
    reads: tuple[str, ...]
    also_writes: tuple[str, ...]
    accumulates: tuple[str, ...]
    parts: tuple[str, ...]
    part_of: str | None
    when: When
    needed: str
    rows: str
    on_request: bool
    keys: str
    every_key: bool


def stage(
    phase: Phase,
    kind: Kind = "one",
    *,
    reads: str = "",
    also_writes: str = "",
    accumulates: str = "",
    parts: str = "",
    part_of: str | None = None,
    when: When = "always",
    needed: str = "",
    rows: str = "",
    on_request: bool = False,
    keys: str = "",
    every_key: bool = True,
) -> Callable[[F], F]:
    """Mark a function as the specification of a stage.

    `reads`: Data fields an implementation may read, space separated. `also_writes`: fields it may write besides
    those whose declaration names it as their writer. `accumulates`: fields of a table stage that are zeroed
    before its first row and that each row adds to. `parts`: tables this stage dispatches to. `part_of`: the
    stage that calls this one (a part has no place of its own in the sequence). `when`: in which forward
    evaluations of a step it runs (an integrator may need several).

    `needed`: `module:function` of the Model that says why a model needs this stage, or gives an empty string; without
    it every model does. `rows`: `module:TABLE` of such functions by key, for rows that models may ask for whether or
    not somebody implements them; records name the rules of rows they add. `on_request`: whether the stage also runs
    if its results are kept by name. `keys`: of a part table, the group of features that its keys are the members of;
    `every_key`: whether a model must find a row for each it has, or does without those that nobody wrote.
    """
    mark = StageMark(
        phase=phase,
        kind=kind,
        reads=tuple(reads.split()),
        also_writes=tuple(also_writes.split()),
        accumulates=tuple(accumulates.split()),
        parts=tuple(parts.split()),
        part_of=part_of,
        when=when,
        needed=needed,
        rows=rows,
        on_request=on_request,
        keys=keys,
        every_key=every_key,
    )

    def decorate(function: F) -> F:
        setattr(function, _ATTRIBUTE, mark)
        marked: F = hookspec(function)
        return marked

    return decorate


def mark_of(function: Any) -> StageMark | None:
    """The mark `stage` left on a hookspec, or None."""
    mark = getattr(function, _ATTRIBUTE, None)
    return mark if isinstance(mark, StageMark) else None
