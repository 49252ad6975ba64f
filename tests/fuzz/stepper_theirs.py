"""What MuJoCo does with a model in random states: the truth that `stepper_ours` is held against.

A trajectory is a random state and `STEPS` steps from it. Of every step it is recorded where it began, what MuJoCo
gave, and how far MuJoCo's own answer moves when the start is nudged by rounding.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from .fields import distance, noisy

Answer = dict[str, Any]
State = dict[str, Any]

STATES, STEPS = 8, 20
"""Trajectories of a document, and steps of each; fewer steps where the model is large."""
LARGE = ((60, STEPS), (120, 6), (300, 2))
"""Most dofs, and how many steps a model of that size is given. Larger ones are not tried."""
NUDGE = 1e-14
CLOSE = 1e-9
"""Largest difference of a step, relative to the field's largest number (at least 1)."""

PUT_BACK = (
    "time",
    "qpos",
    "qvel",
    "act",
    "qacc_warmstart",
    "ctrl",
    "qfrc_applied",
    "xfrc_applied",
    "eq_active",
    "mocap_pos",
    "mocap_quat",
    "userdata",
)
"""All that a step depends on."""

_COMPARED_TEXT = """
time energy qpos qvel act qacc qacc_warmstart act_dot sensordata ctrl xpos xquat xmat xipos ximat xanchor
xaxis geom_xpos geom_xmat site_xpos site_xmat cam_xpos cam_xmat light_xpos light_xdir subtree_com cdof cinert
flexvert_xpos flexedge_length ten_length wrap_xpos actuator_length crb qM M qLD qLDiagInv flexedge_velocity
ten_velocity actuator_velocity cvel cdof_dot qfrc_bias qfrc_spring qfrc_damper qfrc_gravcomp qfrc_fluid
qfrc_passive subtree_linvel subtree_angmom actuator_force qfrc_actuator qfrc_smooth qacc_smooth
qfrc_constraint qfrc_inverse cacc cfrc_int cfrc_ext ncon ne nf nl nefc contact.geom contact.flex contact.elem
contact.vert contact.exclude contact.dim contact.efc_address contact.dist contact.pos contact.frame
contact.includemargin contact.friction contact.solref contact.solreffriction contact.solimp contact.mu
efc_type efc_id efc_pos efc_margin efc_frictionloss efc_diagApprox efc_KBIP efc_D efc_R efc_vel efc_aref
efc_force
"""
COMPARED = tuple(_COMPARED_TEXT.split())
"""All that a user can read and that MuJoCo fills in every step, whatever the solver."""
STATE_ONLY = ("time", "qpos", "qvel", "act")
"""What is compared of a step in which MuJoCo found a bad state: it began anew in the middle."""
COUNTED = {"contact": "ncon", "efc": "nefc"}
"""Fields of which only so many rows hold something."""

_EDITED_TEXT = """
opt.gravity opt.wind opt.density opt.viscosity opt.timestep body_mass body_inertia body_gravcomp dof_damping
dof_armature dof_frictionloss dof_solref jnt_stiffness jnt_range jnt_margin qpos_spring geom_friction
geom_solref geom_solimp geom_margin geom_gap geom_priority geom_solmix geom_pos geom_quat body_pos body_quat
site_pos actuator_gainprm actuator_biasprm actuator_gear actuator_ctrlrange actuator_forcerange eq_solref
eq_data tendon_stiffness tendon_damping tendon_range tendon_lengthspring wrap_prm sensor_cutoff pair_friction
"""
EDITED = tuple(_EDITED_TEXT.split())
"""Fields of a Model that a user may edit between steps; what needs `mj_setConst` afterwards is not repeated."""
_INERTIAL_TEXT = """
body_mass body_ipos body_iquat body_inertia body_invweight0 dof_M0 dof_invweight0 tendon_invweight0 actuator_acc0
stat.meaninertia jnt_stiffness dof_damping actuator_gainprm actuator_biasprm
"""
INERTIAL = tuple(_INERTIAL_TEXT.split())
"""Numbers of a Model that rounding of principal axes spreads to. Both sides step with MuJoCo's: whether the compiler
gives the same is what the other half of the fuzzer asks."""
FRAMES = ("body_sameframe", "geom_sameframe", "site_sameframe", "body_simple", "dof_simplenum")
"""Choices that follow from them. A model of which they differ has other fields in part."""
SPOILT = ("qpos", "qvel", "ctrl", "act", "qfrc_applied", "xfrc_applied")
"""Fields that get NaN."""
BAD_WARNINGS = ("mjWARN_BADQPOS", "mjWARN_BADQVEL", "mjWARN_BADQACC", "mjWARN_BADCTRL")
"""The first three put a world back to its initial state."""


def recorded(path: str, seed: int, nudges: int) -> Answer:
    """All that MuJoCo says about a model: the steps as they are, with an edited Model, and with NaN."""
    import mujoco

    try:
        model = mujoco.MjModel.from_xml_path(path)
    except ValueError as error:
        return {"refused": str(error) or "refused without a word"}
    steps = next((steps for most, steps in LARGE if model.nv <= most), 0)
    reason = _unsuited(model, steps)
    if reason:
        return {"unsuited": reason}
    random = np.random.default_rng(seed)
    inertial = {name: np.array(operator.attrgetter(name)(model)) for name in (*INERTIAL, *FRAMES)}
    try:
        starts = [_state(model, random, number) for number in range(STATES)]
        runs = [_trajectory(model, start, steps, nudges) for start in starts]
        spoilt = list(_spoilt(model, random, runs, nudges))
        edits = _edits(model, random)
        apply(model, edits)
        edited = [_trajectory(model, start, min(steps, 3), nudges) for start in starts[:3]]
    except mujoco.FatalError as error:
        return {"stopped": str(error)}
    return {"inertial": inertial, "runs": runs, "edits": edits, "edited": edited, "spoilt": spoilt}


def _unsuited(model: Any, steps: int) -> str:
    if not model.nv:
        return "nothing moves"
    if not steps:
        return "too large"
    if noisy({"dof_invweight0": model.dof_invweight0}):
        return "singular"
    finite = all(np.isfinite(value).all() for value in (model.qpos0, model.body_mass, model.geom_size))
    return "" if finite else "not finite"


def _state(model: Any, random: np.random.Generator, number: int) -> State:
    """A random state. Half of them are near the start, one comes from a keyframe, and some are pushed."""
    import mujoco

    data = mujoco.MjData(model)
    if model.nkey and number == STATES - 1:
        mujoco.mj_resetDataKeyframe(model, data, int(random.integers(model.nkey)))
    apart = 0.2 if number % 2 == 0 else 0.03
    mujoco.mj_integratePos(model, data.qpos, random.normal(0, apart, model.nv), 1.0)
    data.qvel[:] = random.normal(0, 0.3, model.nv)
    data.act[:] = random.uniform(0, 0.1, model.na)
    data.ctrl[:] = _controls(model, random)
    data.mocap_pos[:] += random.normal(0, 0.05, (model.nmocap, 3))
    if number % 4 == 1:
        data.qfrc_applied[:] = random.normal(0, 0.3, model.nv)
        data.xfrc_applied[1:] = random.normal(0, 0.3, (model.nbody - 1, 6))
    if number % 4 == 2:
        data.eq_active[:] = random.integers(0, 2, model.neq)
    return _start(data)


def _controls(model: Any, random: np.random.Generator) -> Any:
    """Inside the range, but some of them well outside of it."""
    controls = random.uniform(-1, 1, model.nu)
    low, high = np.asarray(model.actuator_ctrlrange).reshape(-1, 2).T
    limited = np.asarray(model.actuator_ctrllimited, bool)
    inside = np.where(limited, low + (controls + 1) / 2 * (high - low), controls)
    return np.where(random.random(model.nu) < 0.1, 3 * inside, inside)


def _start(data: Any) -> State:
    return {name: np.array(getattr(data, name)) for name in PUT_BACK}


def put(data: Any, state: State) -> None:
    for name, value in state.items():
        if name == "time":
            data.time = float(value)
        else:
            getattr(data, name)[...] = value


def fields_of(data: Any, names: Any = COMPARED) -> State:
    """Copies of the fields; of lists, as many rows as there are."""
    return {name: _field(data, name) for name in names}


def _field(data: Any, name: str) -> Any:
    value = np.array(operator.attrgetter(name)(data))
    size = COUNTED.get(name.partition(".")[0].partition("_")[0])
    return value[: int(getattr(data, size))] if size else value


def _trajectory(model: Any, start: State, steps: int, nudges: int) -> list[Answer]:
    """Steps from a state: each with its start, MuJoCo's answer, and how far nudges move that."""
    import mujoco

    data = mujoco.MjData(model)
    put(data, start)
    records = []
    for _ in range(steps):
        before, warned = _start(data), _warnings(data)
        mujoco.mj_step(model, data)
        told = _warnings(data) != warned or data.time <= before["time"]
        anew = told and any(_warnings(data)[:3]) and _resets(model)
        after = fields_of(data, STATE_ONLY if told else COMPARED)
        stepped = _start(mujoco.MjData(model)) if anew else before
        spread = _spread(model, data, stepped, after, nudges)
        records.append({"start": before, "after": after, "spread": spread})
        if not all(np.isfinite(value).all() for value in (data.qpos, data.qvel, data.act)):
            break
    return records


def _warnings(data: Any) -> list[int]:
    import mujoco

    return [int(data.warning[getattr(mujoco.mjtWarning, name)].number) for name in BAD_WARNINGS]


def _resets(model: Any) -> bool:
    """Whether a bad state begins anew."""
    import mujoco

    return not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_AUTORESET


def _spread(model: Any, data: Any, start: State, after: State, nudges: int) -> dict[str, float]:
    """How far each field of a step moves when its start is nudged. `data`: as the step left it."""
    import mujoco

    near = mujoco.MjData(model)
    noise = _resolution(model, data, start) if data.nefc else {}
    lost = max(noise.get("qfrc_constraint", 0.0), noise.get("qvel", 0.0)) > CLOSE
    spread = dict.fromkeys(after, np.inf if lost else 0.0)
    if "efc_force" in spread:
        spread["efc_force"] += noise.get("efc_force", 0.0)
    taken = {_iterations(data)}
    answers = []
    for seed in range(nudges):
        answers.append(_nudged(model, near, start, seed, after))
        taken.add(_iterations(near))
    answers += _stopped_sooner(model, near, start, taken, after)
    for answer in answers:
        spread = {name: max(spread[name], distance(answer[name], value)) for name, value in after.items()}
    return spread


def _iterations(data: Any) -> tuple[int, ...]:
    """Those of the solver, of each island."""
    return tuple(data.solver_niter[: max(1, data.nisland)].tolist())


def _stopped_sooner(
    model: Any, near: Any, start: State, taken: set[tuple[int, ...]], names: Any
) -> list[State]:
    """Where nudges change after how many iterations the solver stops, its answer one iteration sooner: the path is
    chaos, and no nudge is certain to find the shortest. Of several islands it is the longest that is asked."""
    import mujoco

    if len({max(counts) for counts in taken}) == 1 or len({len(counts) for counts in taken}) > 1:
        return []
    least = min(max(counts) for counts in taken) - 1
    others = max(sorted(counts)[-2] if len(counts) > 1 else 0 for counts in taken)
    if not max(1, others) <= least < model.opt.iterations:
        return []
    kept, model.opt.iterations = model.opt.iterations, least
    mujoco.mj_resetData(model, near)
    put(near, start)
    mujoco.mj_step(model, near)
    model.opt.iterations = kept
    return [fields_of(near, names)]


def _nudged(model: Any, data: Any, start: State, seed: int, names: Any) -> State:
    import mujoco

    random = np.random.default_rng(seed)
    mujoco.mj_resetData(model, data)
    put(data, start)
    size = NUDGE * 10.0 ** (seed % 3 - 1)
    mujoco.mj_integratePos(model, data.qpos, size * random.standard_normal(model.nv), 1.0)
    for name in ("qvel", "act", "qacc_warmstart"):
        value = getattr(data, name)
        value += size * np.maximum(1.0, np.abs(value)) * random.standard_normal(value.shape)
    mujoco.mj_step(model, data)
    return fields_of(data, names)


def _resolution(model: Any, data: Any, start: State) -> dict[str, float]:
    """How far rounding of the accelerations that the solver begins and ends with moves the forces of rows, their sum
    on the dofs, and the velocities that follow, relative to the largest. A contact between parts that cannot part has
    D = 5·10¹⁴: the last bit of what it sees is a large force."""
    import mujoco

    J = np.abs(_jacobian(model, data))
    bit = np.finfo(float).eps * np.where(data.efc_force, data.efc_D, 0.0)
    here, before = (J @ np.abs(qacc) for qacc in (data.qacc, start["qacc_warmstart"]))
    aref = np.abs(data.efc_aref)
    pull, turn = (bit * (here + aref)) @ J, np.zeros((1, model.nv))
    mujoco.mj_solveM(model, data, turn, pull.reshape(1, -1))
    noise = {"efc_force": bit * (np.maximum(here, before) + aref), "qfrc_constraint": pull}
    noise["qvel"] = model.opt.timestep * np.abs(turn)
    return {n: float(v.max()) / max(1.0, float(np.abs(getattr(data, n)).max())) for n, v in noise.items()}


def _jacobian(model: Any, data: Any) -> Any:
    """Dense, however it is stored."""
    import mujoco

    if not mujoco.mj_isSparse(model):
        return data.efc_J[: data.nefc * model.nv].reshape(data.nefc, model.nv)
    J = np.zeros((data.nefc, model.nv))
    rows = np.repeat(np.arange(data.nefc), data.efc_J_rownnz)
    J[rows, data.efc_J_colind[: rows.size]] = data.efc_J[: rows.size]
    return J


def _spoilt(
    model: Any, random: np.random.Generator, runs: list[list[Answer]], nudges: int
) -> Iterator[Answer]:
    """Steps from states with a NaN or an infinity in them; what follows is the state alone. Nudged is what MuJoCo
    steps from: the initial state, if it began anew."""
    import mujoco

    for name in SPOILT:
        start = dict(runs[int(random.integers(len(runs)))][0]["start"])
        if not start[name].size:
            continue
        start[name] = np.array(start[name])
        start[name].flat[int(random.integers(start[name].size))] = random.choice([np.nan, np.inf, -np.inf])
        data = mujoco.MjData(model)
        put(data, start)
        with np.errstate(all="ignore"):
            mujoco.mj_step(model, data)
            after = fields_of(data, (*STATE_ONLY, "ctrl"))
            anew = any(_warnings(data)[:3]) and _resets(model)
            stepped = _start(mujoco.MjData(model)) if anew else start
            spread = _spread(model, data, stepped, after, nudges)
        yield {"what": name, "start": start, "after": after, "spread": spread}


def _edits(model: Any, random: np.random.Generator) -> dict[str, Any]:
    """New values of some fields of a Model, not far from the old ones."""
    present = [name for name in EDITED if np.size(operator.attrgetter(name)(model))]
    chosen = random.choice(present, size=min(4, len(present)), replace=False)
    edits = {}
    for name in chosen:
        old = np.array(operator.attrgetter(name)(model))
        if old.dtype.kind in "iub":
            edits[str(name)] = old + random.integers(0, 2, old.shape).astype(old.dtype)
        else:
            new = old * (1 + 0.1 * random.uniform(-1, 1, old.shape))
            edits[str(name)] = new / np.linalg.norm(new, axis=-1, keepdims=True) if "quat" in name else new
    return edits


def apply(model: Any, edits: dict[str, Any]) -> None:
    """Give fields of a Model, of either side, other values."""
    for name, value in edits.items():
        group, _, last = name.rpartition(".")
        holder = operator.attrgetter(group)(model) if group else model
        if np.ndim(value):
            getattr(holder, last)[...] = value
        else:
            setattr(holder, last, value.item())
