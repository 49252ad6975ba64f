"""Packing mujoco's compiled models for lane programs, and running both on the same states."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs
import mujoco
import numpy as np
from lane_program import compile_lanes

from dovetail.backends.lanes.fuse import LaneStage, clear_stage
from dovetail.backends.lanes.kernel import FieldPlace
from dovetail.backends.lanes.program import FLOAT
from dovetail.backends.taichi.program import Program
from dovetail.contracts.arena import aligned_zeros
from dovetail.contracts.enums import BiasType, DynType, GainType, JointType, TrnType
from dovetail.plugins.actuation import gain_bias_lanes as actuation
from dovetail.plugins.actuator_bias import affine_lanes as bias_affine
from dovetail.plugins.actuator_bias import none_lanes as bias_none
from dovetail.plugins.actuator_dynamics import filter_lanes, filterexact_lanes, integrator_lanes
from dovetail.plugins.actuator_dynamics import none_lanes as dynamics_none
from dovetail.plugins.actuator_gain import affine_lanes as gain_affine
from dovetail.plugins.actuator_gain import fixed_lanes as gain_fixed
from dovetail.plugins.bias_force import rne_lanes
from dovetail.plugins.com_position import tree_lanes as com_position
from dovetail.plugins.com_velocity import tree_lanes as com_velocity
from dovetail.plugins.energy import mechanical_lanes as energy
from dovetail.plugins.factor_mass import ldl_lanes
from dovetail.plugins.integrate import euler_lanes, rk4_lanes
from dovetail.plugins.kinematics import tree_lanes as kinematics
from dovetail.plugins.mass_matrix import crb_lanes
from dovetail.plugins.passive_force import damper_joint_lanes, spring_joint_lanes
from dovetail.plugins.smooth_acceleration import mass_solve_lanes as smooth_acceleration
from dovetail.plugins.solve_constraints import unconstrained_lanes
from dovetail.plugins.tendon import paths_lanes as tendon
from dovetail.plugins.transmission import moment_arms_lanes as transmission
from dovetail.plugins.transmission_velocity import moment_product_lanes as transmission_velocity

STATE = ("time", "qpos", "qvel", "act", "qacc_warmstart")
INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")
COMPUTED = [
    "xpos",
    "xquat",
    "xmat",
    "xipos",
    "ximat",
    "xanchor",
    "xaxis",
    "geom_xpos",
    "geom_xmat",
    "site_xpos",
    "site_xmat",
    "subtree_com",
    "cinert",
    "cdof",
    "crb",
    "qM",
    "M",
    "qLD",
    "qLDiagInv",
    "cvel",
    "cdof_dot",
    "qfrc_bias",
    "qfrc_spring",
    "qfrc_damper",
    "qfrc_passive",
    "ten_length",
    "ten_J",
    "ten_velocity",
    "actuator_length",
    "actuator_moment",
    "actuator_velocity",
    "actuator_force",
    "qfrc_actuator",
    "act_dot",
    "qfrc_smooth",
    "qacc_smooth",
    "qacc",
    "qfrc_constraint",
    "energy",
]

PARTS = {
    "actuator_gain": {"fixed": gain_fixed.gain, "affine": gain_affine.gain},
    "actuator_bias": {"none": bias_none.bias, "affine": bias_affine.bias},
    "actuator_dynamics": {
        "none": dynamics_none.dynamics,
        "integrator": integrator_lanes.dynamics,
        "filter": filter_lanes.dynamics,
        "filterexact": filterexact_lanes.dynamics,
    },
}


def _stage(stage: str, builder: Any, reads: str, writes: str, **more: Any) -> LaneStage:
    return LaneStage(
        stage=stage,
        name="test",
        builder=builder,
        reads=frozenset(reads.split()),
        writes=frozenset(writes.split()),
        **more,
    )


POSES = "xpos xquat xmat xipos ximat xanchor xaxis geom_xpos geom_xmat site_xpos site_xmat"
FORWARD = [
    _stage("kinematics", kinematics.kinematics, "qpos mocap_pos mocap_quat", POSES),
    _stage("com_position", com_position.com_position, POSES, "subtree_com cinert cdof"),
    _stage(
        "tendon",
        tendon.tendon,
        "qpos site_xpos geom_xpos geom_xmat subtree_com cdof",
        "ten_length ten_J",
    ),
    _stage("mass_matrix", crb_lanes.mass_matrix, "cinert cdof ten_J", "crb M qM"),
    _stage("factor_mass", ldl_lanes.factor_mass, "M", "qLD qLDiagInv"),
    _stage(
        "transmission",
        transmission.transmission,
        "qpos xquat site_xpos site_xmat ten_length ten_J subtree_com cdof",
        "actuator_length actuator_moment",
    ),
    _stage(
        "transmission_velocity",
        transmission_velocity.transmission_velocity,
        "actuator_moment qvel ten_J",
        "actuator_velocity ten_velocity",
    ),
    _stage("com_velocity", com_velocity.com_velocity, "cdof qvel", "cvel cdof_dot"),
    clear_stage("qfrc_passive"),
    _stage("passive_force", spring_joint_lanes.spring, "qpos", "qfrc_spring qfrc_passive", key="spring"),
    _stage("passive_force", damper_joint_lanes.damper, "qvel", "qfrc_damper qfrc_passive", key="damper"),
    _stage(
        "bias_force",
        rne_lanes.bias_force,
        "cinert cvel cdof cdof_dot qvel ten_J site_xpos subtree_com",
        "qfrc_bias",
    ),
    _stage(
        "actuation",
        actuation.actuation,
        "time ctrl act actuator_length actuator_velocity actuator_moment",
        "act_dot actuator_force qfrc_actuator",
        parts=PARTS,
    ),
    _stage(
        "smooth_acceleration",
        smooth_acceleration.smooth_acceleration,
        "qfrc_passive qfrc_bias qfrc_applied qfrc_actuator xfrc_applied xipos subtree_com cdof qLD qLDiagInv",
        "qfrc_smooth qacc_smooth",
    ),
    _stage("solve_constraints", unconstrained_lanes.solve_constraints, "qacc_smooth", "qacc qfrc_constraint"),
    _stage(
        "energy",
        energy.energy,
        "xipos qpos qvel M ten_length",
        "energy",
    ),
]
_ADVANCE = "qpos qvel act time qacc_warmstart"
EULER = _stage(
    "integrate",
    euler_lanes.integrate,
    "M qfrc_smooth qfrc_constraint qacc act_dot",
    _ADVANCE,
    integrate=True,
)
RK4_FIELDS = {
    "time0": None,
    "qpos0": "nq",
    "qvel0": "nv",
    "act0": "na",
    "qvel": "nv",
    "qacc": "nv",
    "act_dot": "na",
}
_KEPT = " ".join(f"rk4:{name}" for name in RK4_FIELDS)
RK4 = _stage("integrate", rk4_lanes.integrate, "qacc act_dot", f"{_ADVANCE} {_KEPT}", integrate=True)


def model_places(m: mujoco.MjModel) -> tuple[dict[str, tuple[str, FieldPlace]], dict[str, np.ndarray]]:
    """Places and packed buffers of every numeric array of the model, dtype by dtype."""
    places: dict[str, tuple[str, FieldPlace]] = {}
    chunks: dict[str, list[np.ndarray]] = {"float64": [], "int32": [], "uint8": []}
    sizes = dict.fromkeys(chunks, 0)
    for name, value in _model_arrays(m):
        array = np.asarray(value)
        dtype = "uint8" if array.dtype == bool else array.dtype.name
        if dtype not in chunks:
            continue
        places[name] = (dtype, FieldPlace(sizes[dtype], array.shape))
        chunks[dtype].append(array.astype(dtype).ravel())
        sizes[dtype] += array.size
    return places, {d: np.concatenate([*c, np.zeros(1, d)]).astype(d) for d, c in chunks.items()}


def _model_arrays(m: mujoco.MjModel) -> Iterable[tuple[str, Any]]:
    for name in dir(m):
        if isinstance(getattr(m, name), np.ndarray):
            yield name, getattr(m, name)
    for name in ("timestep", "gravity"):
        yield f"opt.{name}", np.asarray(getattr(m.opt, name), np.float64)
    for name in ("disableflags", "enableflags", "disableactuator"):
        yield f"opt.{name}", np.asarray(getattr(m.opt, name), np.int32)


def model_sizes(m: mujoco.MjModel) -> dict[str, int]:
    return {n: getattr(m, n) for n in dir(m) if n.startswith("n") and isinstance(getattr(m, n), int)}


def features(m: mujoco.MjModel) -> dict[str, set[str]]:
    kinds = {
        "joint": (JointType, m.jnt_type),
        "dyn": (DynType, m.actuator_dyntype),
        "gain": (GainType, m.actuator_gaintype),
        "bias": (BiasType, m.actuator_biastype),
        "trn": (TrnType, m.actuator_trntype),
    }
    found = {group: {enum(int(v)).name.lower() for v in values} for group, (enum, values) in kinds.items()}
    return {**found, "tendon": {"present" if m.ntendon else "none"}, "actuator": {"native"}}


def used_parts(m: mujoco.MjModel) -> dict[str, dict[str, Any]]:
    used = features(m)
    groups = {"actuator_gain": "gain", "actuator_bias": "bias", "actuator_dynamics": "dyn"}
    return {table: {k: v for k, v in PARTS[table].items() if k in used[g]} for table, g in groups.items()}


@attrs.define
class Batch:
    """A program for one model with worlds of its own."""

    model: mujoco.MjModel
    program: Program
    places: dict[str, FieldPlace]
    buffer: np.ndarray
    packed: dict[str, np.ndarray]
    nworld: int

    def __getitem__(self, name: str) -> np.ndarray:
        place = self.places[name]
        rows = self.buffer[:, place.offset : place.offset + place.count]
        worlds = rows.shape[0] * rows.shape[2]
        flat = rows.transpose(0, 2, 1).reshape(worlds, place.count)[: self.nworld]
        return flat.reshape(self.nworld, *place.shape)

    def __setitem__(self, name: str, value: np.ndarray) -> None:
        place = self.places[name]
        tiles, _, lanes = self.buffer.shape
        full = np.zeros((tiles * lanes, place.count))
        full[:] = np.ravel(initial_values(self.model)[name])
        full[: self.nworld] = np.reshape(value, (self.nworld, place.count))
        self.buffer[:, place.offset : place.offset + place.count] = full.reshape(tiles, lanes, -1).transpose(
            0, 2, 1
        )

    def run(self, nstep: int = 1) -> None:
        self.packed = model_places(self.model)[1]
        self.program.run(self.buffer, self.packed, nstep)


def initial_values(m: mujoco.MjModel) -> dict[str, np.ndarray]:
    d = mujoco.MjData(m)
    zero = {n: np.zeros(np.shape(getattr(d, n))) for n in COMPUTED}
    return zero | {n: np.array(getattr(d, n), dtype=float) for n in (*STATE, *INPUTS)}


def make_batch(
    m: mujoco.MjModel,
    nworld: int,
    *,
    stages: list[LaneStage] | None = None,
    keep: Iterable[str] = (),
    precision: str = "f64",
    lanes: int | None = None,
    threads: int = 1,
    runtime: str = "auto",
) -> Batch:
    """Compile the model's step and give it `nworld` worlds at the reset state."""
    rk4 = m.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
    stages = stages or [*FORWARD, RK4 if rk4 else EULER]
    stages = [attrs.evolve(s, parts=used_parts(m)) if s.parts else s for s in stages]
    lanes = lanes or {"f64": 8, "f32": 16}[precision]
    initial = initial_values(m)
    kept = (*STATE, *INPUTS, *keep)
    places: dict[str, FieldPlace] = {}
    row = 0
    for name in kept:
        places[name] = FieldPlace(row, initial[name].shape)
        row += places[name].count
    modelled, packed = model_places(m)
    extra = {f"rk4:{n}": (getattr(m, size) if size else 1,) for n, size in RK4_FIELDS.items()}
    program = compile_lanes(
        stages=stages,
        model_places=modelled,
        data_places=places,
        data_shapes={n: v.shape for n, v in initial.items()} | extra,
        initial=initial,
        load=[*STATE, *INPUTS],
        store=[n for n in kept if n not in INPUTS],
        sizes=model_sizes(m),
        features=features(m),
        frozen_model=m,
        evaluations=4 if stages[-1].builder is rk4_lanes.integrate else 1,
        lanes=lanes,
        precision=precision,
        threads=threads,
        runtime=runtime,
    )
    buffer = aligned_zeros((-(-nworld // lanes), row, lanes), FLOAT[precision])
    batch = Batch(m, program, places, buffer, packed, nworld)
    for name in kept:
        batch[name] = np.broadcast_to(initial[name], (nworld, *initial[name].shape))
    return batch


def random_states(m: mujoco.MjModel, nworld: int, seed: int = 0) -> dict[str, np.ndarray]:
    """States with every part of them different from its default."""
    rng = np.random.default_rng(seed)
    qpos = np.tile(m.qpos0, (nworld, 1))
    for world in range(nworld):
        mujoco.mj_integratePos(m, qpos[world], rng.normal(size=m.nv) * 0.7, 1.0)
    free = rng.normal(size=(nworld, m.nmocap, 4))
    return {
        "qpos": qpos,
        "qvel": rng.normal(size=(nworld, m.nv)),
        "act": rng.normal(size=(nworld, m.na)) * 0.3,
        "ctrl": rng.normal(size=(nworld, m.nu)),
        "qfrc_applied": rng.normal(size=(nworld, m.nv)) * 0.1,
        "xfrc_applied": rng.normal(size=(nworld, m.nbody, 6)) * (rng.random((nworld, 1, 1)) < 0.5),
        "mocap_pos": rng.normal(size=(nworld, m.nmocap, 3)),
        "mocap_quat": free,
    }


def set_states(batch: Batch, states: dict[str, np.ndarray]) -> None:
    for name, value in states.items():
        batch[name] = value


def run_mujoco(
    m: mujoco.MjModel, states: dict[str, np.ndarray], nstep: int, fields: Iterable[str]
) -> dict[str, np.ndarray]:
    """The same worlds through mj_step, one after another."""
    d = mujoco.MjData(m)
    out: dict[str, list[np.ndarray]] = {n: [] for n in fields}
    for world in range(len(states["qpos"])):
        mujoco.mj_resetData(m, d)
        for name, value in states.items():
            getattr(d, name)[:] = value[world]
        for _ in range(nstep):
            mujoco.mj_step(m, d)
        for name, values in out.items():
            values.append(np.array(getattr(d, name), dtype=float))
    return {n: np.array(v) for n, v in out.items()}
