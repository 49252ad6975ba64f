"""States of the flex models, and the numbers of both engines in them.

`states(name)` are MuJoCo's, evaluated: the start, two random ones and eight along its own 200 steps, those with the
contacts that the model is about first. `inject` puts one into a Data; `snapshot_ours` and `snapshot_theirs` are the
numbers to compare, matrices written out. `disagreements` says where they differ, and `Nudged` how far MuJoCo itself
moves when its positions change in the last digits.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import flex_models
import numpy as np
import pytest
from fresh_stack import call
from robots import inject

import dovetail
from dovetail.compare.errors import relative_error
from dovetail.compare.oracle import read
from dovetail.compare.states import unit_quaternions
from dovetail.contracts.enums import DisableBit, JointType
from dovetail.contracts.types import Data

mujoco = pytest.importorskip("mujoco")

__all__ = ["call", "inject"]

STEPS = 200
ALONG = 8
"""States along a trajectory."""
NUDGE = 1e-14
NUDGES = 3
WIDER = 10.0
"""How many times MuJoCo's own change under a nudge is allowed."""


class State(NamedTuple):
    """A state that MuJoCo has evaluated."""

    label: str
    data: Any


# ---- states


def states(name: str, *, random: int = 2, along: int = ALONG) -> Iterator[State]:
    """The start, random states, and states along MuJoCo's own trajectory."""
    model = flex_models.theirs(name)
    yield State("start", _evaluated(model, mujoco.MjData(model)))
    for number in range(random):
        yield State(f"random {number}", _evaluated(model, random_data(name, number)))
    yield from trajectory(name, along)


def _evaluated(model: Any, data: Any) -> Any:
    call(mujoco.mj_forward, model, data)
    return data


def random_data(name: str, number: int) -> Any:
    """Points moved by a quarter of an edge, other joints by a fifth of a metre or radian, everything in motion."""
    model = flex_models.theirs(name)
    rng = np.random.default_rng([number, *name.encode()])
    data = mujoco.MjData(model)
    length = np.asarray(model.flexedge_length0)
    reach = 0.25 * (np.median(length[length > 0]) if (length > 0).any() else 0.05)
    points = set(model.flex_vertbodyid.tolist()) | set(model.flex_nodebodyid.tolist())
    for joint, kind in enumerate(model.jnt_type.tolist()):
        place = model.jnt_qposadr[joint]
        slides = kind == JointType.SLIDE and int(model.jnt_bodyid[joint]) in points
        if kind in (JointType.FREE, JointType.BALL):
            turn = place + (3 if kind == JointType.FREE else 0)
            data.qpos[place:turn] += rng.normal(0.0, 0.02, turn - place)
            data.qpos[turn : turn + 4] = unit_quaternions(rng, 1)[0]
        else:
            data.qpos[place] += rng.normal(0.0, reach if slides else 0.2)
    data.qvel[:] = rng.normal(0.0, 0.3, model.nv)
    data.qfrc_applied[:] = rng.normal(0.0, 0.01, model.nv)
    data.mocap_pos[:] += rng.normal(0.0, 0.02, (model.nmocap, 3))
    data.mocap_quat[:] = unit_quaternions(rng, model.nmocap)
    data.time = rng.random()
    return data


class Run(NamedTuple):
    """MuJoCo's own 200 steps of a model; states are counted from 0, the start."""

    state: list[Any]
    asleep: list[Any]
    met: list[set[str]]
    """Kinds of contacts by step."""
    warnings: int


@lru_cache(maxsize=4)
def run(name: str) -> Run:
    """Take the steps; what a test asks of them, it asks in a row."""
    model = flex_models.theirs(name)
    data = mujoco.MjData(model)
    found = Run([], [], [], 0)
    for _ in range(STEPS + 1):
        state = np.zeros(mujoco.mj_stateSize(model, WHOLE))
        mujoco.mj_getState(model, data, state, WHOLE)
        found.state.append(state)
        found.asleep.append(np.array(data.tree_asleep))
        found.met.append(set(kinds(data)))
        call(mujoco.mj_step, model, data)
    return found._replace(warnings=sum(int(warning.number) for warning in data.warning))


WHOLE = mujoco.mjtState.mjSTATE_INTEGRATION


def trajectory(name: str, along: int) -> Iterator[State]:
    """States of 200 steps, those in the midst of the model's contacts first, then evenly spread."""
    model, steps = flex_models.theirs(name), run(name)
    for step in _most_telling(steps.met, flex_models.CATALOGUE[name].touches)[:along]:
        data = mujoco.MjData(model)
        mujoco.mj_setState(model, data, steps.state[step], WHOLE)
        data.tree_asleep[:] = steps.asleep[step]
        yield State(f"step {step}", _evaluated(model, data))


def _most_telling(met: list[set[str]], touches: tuple[str, ...]) -> list[int]:
    """Eight steps: in the middle of each kind of contacts, then evenly over those with contacts and over all."""
    having = {kind: [step for step in range(1, STEPS) if kind in met[step]] for kind in touches}
    every = list(range(1, STEPS + 1))
    order = [steps[len(steps) // 2] for steps in having.values() if steps]
    among = sorted({step for steps in having.values() for step in steps}) or every
    order += [among[len(among) * part // 5] for part in (1, 4)]
    order += [every[STEPS * part // 7 - 1] for part in range(7, 0, -1)]
    return list(dict.fromkeys(order))[:ALONG]


def kinds(data: Any) -> list[str]:
    """What each contact with a flex is; a passive one is listed twice."""
    found = []
    contact = data.contact
    for flex, vert, exclude in zip(contact.flex, contact.vert, contact.exclude, strict=True):
        sides = int((flex >= 0).sum())
        if not sides:
            continue
        if sides == 1:
            found.append("vertex" if vert.max() >= 0 else "geom")
        elif flex[0] != flex[1]:
            found.append("other")
        else:
            found.append("internal" if vert.max() >= 0 else "self")
        if exclude == 4:
            found.append("passive")
    return found


# ---- numbers

IDS = ("geom", "flex", "elem", "vert")
SMOOTH = (
    *("flexvert_xpos", "flexelem_aabb", "bvh_aabb_dyn", "flexedge_length", "flexedge_velocity", "flexedge_J"),
    *("qfrc_spring", "qfrc_damper", "qfrc_passive", "energy"),
)
SHAPE = ("contact.dist", "contact.pos", "contact.normal")
PARAMETERS = tuple(
    f"contact.{name}" for name in ("friction", "solref", "solreffriction", "solimp", "includemargin")
)
EXACT = ("contact.dim", "contact.exclude", "efc_type", "efc_id")
ROWS = ("efc_J", "efc_pos", "efc_D", "efc_aref")
TOLERANCES = {
    **dict.fromkeys(SMOOTH, 1e-10),
    **dict.fromkeys(EXACT, 0.0),
    **dict.fromkeys(SHAPE, 1e-9),
    **dict.fromkeys(PARAMETERS, 1e-10),
    **dict.fromkeys(ROWS, 1e-9),
    "qacc": 1e-7,
}
"""In the order of the computation: what disagrees first is the cause of the rest."""
NEVER_WIDENED = {*SMOOTH, *EXACT, *PARAMETERS} - {"qfrc_spring", "qfrc_passive"}
"""Fields that no iteration decides. Passive contacts push by their depth, which may come from one; and at rest the
force of a flex is what rounding leaves of tensions that cancel."""

Numbers = Mapping[str, Any]


def edge_jacobian(data: Any, nv: int) -> Any:
    """flexedge_J written out, from either layout."""
    values = np.asarray(data.flexedge_J).reshape(-1)
    lengths = np.asarray(data.flexedge_J_rownnz).reshape(-1)
    if not lengths.any():
        return values[: len(lengths) * nv].reshape(-1, nv) if values.size else np.zeros((len(lengths), nv))
    starts, columns = (
        np.asarray(getattr(data, f"flexedge_J_{part}")).reshape(-1) for part in ("rowadr", "colind")
    )
    matrix = np.zeros((len(lengths), nv))
    for row, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
        matrix[row, columns[start : start + length]] = values[start : start + length]
    return matrix


def snapshot_ours(data: Data) -> dict[str, Any]:
    """Our numbers."""
    model = data.model
    rows = dovetail.dense_jacobian(model, data)
    return _snapshot(data, int(data.ncon), int(data.nefc), rows, edge_jacobian(data, model.nv), _boxes(model))


def snapshot_theirs(model: Any, data: Any) -> dict[str, Any]:
    """MuJoCo's."""
    rows = np.zeros((data.nefc, model.nv))
    if data.nefc and mujoco.mj_isSparse(model):
        layout = [np.asarray(getattr(data, f"efc_J_{part}")) for part in ("rownnz", "rowadr", "colind")]
        mujoco.mju_sparse2dense(rows, np.asarray(data.efc_J).reshape(-1), *layout)
    elif data.nefc:
        rows = np.array(data.efc_J).reshape(-1)[: rows.size].reshape(rows.shape)
    return _snapshot(data, data.ncon, data.nefc, rows, edge_jacobian(data, model.nv), _boxes(model))


def _boxes(model: Any) -> bool:
    """Whether boxes of trees are computed."""
    return not int(model.opt.disableflags) & DisableBit.MIDPHASE


def _snapshot(data: Any, ncon: int, nefc: int, rows: Any, edges: Any, boxes: bool) -> dict[str, Any]:
    found = {
        name: np.array(read(data, name), np.float64)
        for name in SMOOTH
        if name != "flexedge_J" and (boxes or name != "bvh_aabb_dyn")
    }
    found["flexedge_J"] = edges
    found["contacts"] = np.hstack(
        [np.array(getattr(data.contact, name))[:ncon].reshape(ncon, 2) for name in IDS]
    )
    for name in (*SHAPE[:2], *PARAMETERS, *EXACT[:2]):
        found[name] = np.array(read(data, name))[:ncon]
    found["contact.normal"] = np.array(data.contact.frame)[:ncon].reshape(ncon, 9)[:, :3]
    found["efc_J"] = rows
    for name in ("efc_type", "efc_id", *ROWS[1:]):
        found[name] = np.array(read(data, name))[:nefc]
    found["qacc"] = np.array(data.qacc)
    return found


class Nudged:
    """MuJoCo's numbers in a state whose positions have changed in the last digits; computed when first asked for."""

    def __init__(self, model: Any, data: Any) -> None:
        self.model, self.data = model, data
        self.found: list[Numbers] = []

    def numbers(self) -> list[Numbers]:
        if not self.found:
            rng = np.random.default_rng(0)
            for _ in range(NUDGES):
                other = copy.copy(self.data)
                other.qpos[:] += NUDGE * rng.choice([-1.0, 1.0], self.model.nq)
                call(mujoco.mj_forward, self.model, other)
                self.found.append(snapshot_theirs(self.model, other))
        return self.found

    def change(self, field: str, theirs: Numbers) -> float:
        """How far the field moves where the list of contacts stays; infinite if it never does."""
        alike = [other for other in self.numbers() if np.array_equal(other["contacts"], theirs["contacts"])]
        return max((error(field, other[field], theirs[field]) for other in alike), default=np.inf)

    def other_contacts(self, theirs: Numbers) -> bool:
        """Whether MuJoCo's own list of contacts changes."""
        return any(not np.array_equal(other["contacts"], theirs["contacts"]) for other in self.numbers())


def error(field: str, ours: Any, theirs: Any) -> float:
    """Relative to the field's largest number; absolute, in metres or of a unit vector, where a contact is."""
    if np.shape(ours) != np.shape(theirs):
        return np.inf
    if field in SHAPE:
        worst = float(np.abs(np.asarray(ours) - theirs).max(initial=0.0))
        return worst if np.isfinite(worst) else np.inf
    return relative_error(ours, theirs)


def disagreements(
    ours: Numbers,
    theirs: Numbers,
    nudged: Nudged,
    *,
    unlike: Collection[str] = (),
    say: Callable[[str], None] = print,
) -> list[str]:
    """Fields that differ by more than they may, in the order in which they are computed, but for `unlike`; `say` is
    told of every tolerance that was widened."""
    smooth = [
        line for field in SMOOTH if field in theirs for line in _differs(field, ours, theirs, nudged, say)
    ]
    if not np.array_equal(ours["contacts"], theirs["contacts"]):
        if nudged.other_contacts(theirs):
            say(
                f"contacts: MuJoCo's own list changes under a nudge of {NUDGE:g}; {len(ours['contacts'])} of ours"
            )
            return smooth
        return [*smooth, _other_contacts(ours["contacts"], theirs["contacts"])]
    if len(ours["efc_pos"]) != len(theirs["efc_pos"]):
        return [*smooth, f"nefc: {len(ours['efc_pos'])} instead of {len(theirs['efc_pos'])}"]
    rest = (field for field in TOLERANCES if field not in SMOOTH and field not in unlike)
    return smooth + [line for field in rest for line in _differs(field, ours, theirs, nudged, say)]


def _differs(
    field: str, ours: Numbers, theirs: Numbers, nudged: Nudged, say: Callable[[str], None]
) -> list[str]:
    found, allowed = error(field, ours[field], theirs[field]), TOLERANCES[field]
    if found <= allowed:
        return []
    if field not in NEVER_WIDENED:
        own = nudged.change(field, theirs)
        if found <= WIDER * own:
            say(f"{field}: error {found:.1e}; MuJoCo's own change under a nudge of {NUDGE:g} is {own:.1e}")
            return []
        return [f"{field}: error {found:.1e}, allowed {max(allowed, WIDER * own):.1e}"]
    return [f"{field}: error {found:.1e}, allowed {allowed:.1e}"]


def _other_contacts(ours: Any, theirs: Any) -> str:
    """How two lists of contacts differ."""
    mine, other = ({tuple(row): i for i, row in enumerate(side.tolist())} for side in (ours, theirs))
    head = f"contacts: {len(ours)} instead of {len(theirs)}"
    lost = [row for row in other if row not in mine][:3]
    more = [row for row in mine if row not in other][:3]
    if not lost and not more:
        return f"{head}: another order, or one twice"
    return f"{head}: lost {lost}, too many {more} (geom geom flex flex elem elem vert vert)"
