"""Observing stages (body forces, sensors) in lanes, with the contacts and forces that mujoco found handed to them.

Such stages read the solver's memory in their own kernel. Here a small stage fills that memory from mujoco's Data, so
that each is tried alone, in a kernel that compiles quickly; plans with the real solver are tried elsewhere.
"""

from __future__ import annotations

import copy
from typing import Any

import mujoco
import numpy as np
from lane_constrained import WIDTHS, Worlds, contact_fields, given_contacts
from lane_program import compile_lanes, group

from dovetail import pipeline
from dovetail.backends.lanes.fuse import LaneStage, clear_stage
from dovetail.backends.lanes.kernel import FieldPlace, Kernel, LaneLayout
from dovetail.backends.lanes.segments import features_by_group, initial_numbers, model_places
from dovetail.backends.taichi.program import FLOAT
from dovetail.compare.oracle import model_from_mujoco
from dovetail.contracts.arena import aligned_zeros
from dovetail.contracts.types import DATA_SPECS
from dovetail.implementation import Implementation
from dovetail.plugins.shared.contacts.contacts_lanes import pairs_of
from dovetail.plugins.shared.rows.rows_lanes import BodyRows, DofRows
from dovetail.registry import default_registry

SCENE = """
<mujoco model="observed scene">
  <option timestep=".004" cone="{cone}"/>
  <default><geom condim="3" friction=".8 .02 .001" contype="0" conaffinity="1"/></default>
  <worldbody>
    <camera name="watcher" pos="0 -3 1" xyaxes="1 0 0 0 .3 1" resolution="320 200" fovy="50"/>
    <geom name="floor" type="plane" size="3 3 .1" contype="1" conaffinity="0"/>
    <body name="crate" pos="0 0 .19"><freejoint/>
      <geom name="crate" type="box" size=".2 .15 .2" mass="2" contype="2"/>
      <site name="pad" pos="0 0 -.2" type="box" size=".25 .2 .05"/>
      <site name="ball pad" pos=".1 .1 -.2" type="sphere" size=".12"/>
      <site name="far" pos="0 0 .9" type="cylinder" size=".05 .05"/>
      <site name="egg" pos="-.1 0 -.2" type="ellipsoid" size=".2 .3 .1"/>
      <site name="pill" pos="0 -.09 -.2" type="capsule" size=".1 .1"/>
    </body>
    <body name="roller" pos=".1 0 .52"><freejoint/>
      <geom name="roller" type="sphere" size=".14" condim="{condim}" mass=".5" conaffinity="3"/>
      <site name="skin" type="sphere" size=".2"/>
      <camera name="chip" pos=".3 0 .2" euler="40 0 20" resolution="64 48" sensorsize=".01 .008" focal=".02 .03"/>
    </body>
    <body name="arm" pos="1 0 .2">
      <joint name="arm" axis="0 1 0" range="-20 20" limited="true" margin=".05"/>
      <geom name="arm" type="capsule" fromto="0 0 0 .3 0 -.1" size=".05" mass=".4" conaffinity="0"/>
      <site name="wrist" pos=".3 0 -.1" euler="10 20 30"/>
      <body name="hand" pos=".3 0 -.1">
        <joint name="hand" type="slide" axis="1 0 -1" range="-.05 .05" limited="true"/>
        <geom name="hand" size=".08" mass=".3"/>
        <site name="palm" size=".1"/>
        <body name="tip" pos=".1 0 .2">
          <joint name="tip" type="ball" range="0 20" limited="true"/>
          <geom name="tip" size=".06" pos="0 0 .08" mass=".2" conaffinity="0"/>
          <site name="nail" pos="0 0 .14" size=".05"/>
        </body>
      </body>
    </body>
    <body name="left" pos="-.3 .9 .11"><freejoint/><geom name="left" size=".1" mass=".6"/>
      <site name="hook" pos=".1 0 0"/></body>
    <body name="right" pos="0 .9 .3"><freejoint/>
      <geom name="right" type="cylinder" size=".1 .1" mass=".7" conaffinity="0"/>
      <site name="eye" pos="-.2 0 .05"/></body>
    <body name="hung" pos=".6 .9 .5"><freejoint/><geom name="hung" type="ellipsoid" size=".08 .1 .05" mass=".3"
      conaffinity="0"/></body>
  </worldbody>
  <equality>
    <connect site1="hook" site2="eye"/>
    <weld body1="hung" body2="right" torquescale=".5"/>
    <connect body1="hung" anchor="0 0 .1"/>
  </equality>
  <tendon>
    <fixed name="bar" limited="true" range="-.1 .1">
      <joint joint="arm" coef="1"/><joint joint="hand" coef="-2"/>
    </fixed>
  </tendon>
  {rest}
</mujoco>
"""

CONTACT_SENSORS = """
<sensor>
  <touch site="pad"/><touch site="ball pad"/><touch site="far"/><touch site="egg" cutoff="3"/><touch site="pill"/>
  <touch site="skin"/><touch site="palm"/>
  <force site="wrist"/><torque site="wrist"/><force site="palm"/><torque site="nail"/><accelerometer site="nail"/>
  <jointlimitpos joint="arm"/><jointlimitvel joint="arm"/><jointlimitfrc joint="arm"/>
  <jointlimitfrc joint="hand"/><jointlimitfrc joint="tip"/>
  <tendonlimitpos tendon="bar"/><tendonlimitfrc tendon="bar"/>
  <contact geom1="crate" num="4" data="found force torque dist pos normal tangent"/>
  <contact body1="roller" body2="crate" data="found force torque pos normal tangent" num="2"/>
  <contact body1="crate" body2="roller" data="force torque normal tangent" num="1"/>
  <contact subtree1="crate" reduce="mindist" num="3" data="dist pos"/>
  <contact geom1="floor" reduce="maxforce" num="3" data="found force"/>
  <contact geom1="floor" reduce="netforce" data="found force torque pos normal"/>
  <contact site="pad" reduce="netforce" data="force torque dist" cutoff="5"/>
  <contact site="egg" num="2" data="found pos"/>
  <contact reduce="none" num="9" data="found dist"/>
  <rangefinder site="palm"/><rangefinder site="far"/><rangefinder site="wrist" cutoff=".4"/><rangefinder site="eye"/>
  <camprojection site="nail" camera="watcher"/><camprojection site="pad" camera="chip"/>
  <distance geom1="roller" geom2="crate" cutoff="2"/><distance body1="crate" body2="hand" cutoff=".9"/>
  <distance geom1="arm" geom2="floor" cutoff=".1"/><distance geom1="floor" geom2="roller" cutoff="1"/>
  <normal geom1="crate" geom2="roller" cutoff="2"/><normal geom1="left" geom2="floor" cutoff=".02"/>
  <fromto geom1="crate" geom2="arm" cutoff="3"/><fromto body1="right" body2="world" cutoff=".5"/>
  <fromto geom1="tip" geom2="right" cutoff="9"/>
  <insidesite site="pad" objtype="geom" objname="crate"/><insidesite site="egg" objtype="xbody" objname="crate"/>
  <insidesite site="skin" objtype="body" objname="roller"/><insidesite site="pill" objtype="site" objname="pad"/>
</sensor>
"""


def scene(rest: str = "", cone: str = "pyramidal", condim: int = 3) -> str:
    return SCENE.format(rest=rest, cone=cone, condim=condim)


ADHESION = """
<actuator>
  <adhesion body="crate" ctrlrange="0 1"/><adhesion body="hand" ctrlrange="0 2"/><motor joint="arm" gear="3"/>
  <adhesion body="roller" ctrlrange="0 1"/><adhesion body="hung" ctrlrange="0 1"/>
</actuator>
"""

OBSERVED_KINDS = (
    "touch",
    "contact",
    "force",
    "torque",
    "jointlimitfrc",
    "tendonlimitfrc",
    "camprojection",
    "rangefinder",
    "insidesite",
    "geomdist",
    "geomnormal",
    "geomfromto",
)
"""Types of sensors that CONTACT_SENSORS has for trying them with given contacts."""

LANES = {"f64": 8, "f32": 16}


def record(slot: str, backend: str = "taichi") -> Implementation:
    return next(r for r in default_registry().of(slot) if r.backend == backend)


def worlds_in_contact(text: str, count: int, seed: int = 0) -> tuple[Any, list[Any]]:
    """mujoco's model, and worlds after trajectories of different lengths; with what observing stages computed."""
    rng = np.random.default_rng(seed)
    m = mujoco.MjModel.from_xml_string(text)
    found = []
    for _ in range(count):
        d = mujoco.MjData(m)
        d.qvel[:] = rng.normal(size=m.nv) * 0.5
        d.ctrl[:] = rng.normal(size=m.nu)
        for _ in range(int(rng.integers(1, 60))):
            mujoco.mj_step(m, d)
        d.xfrc_applied[:] = rng.normal(size=(m.nbody, 6)) * 0.2
        mujoco.mj_forward(m, d)
        mujoco.mj_rnePostConstraint(m, d)
        mujoco.mj_subtreeVel(m, d)
        found.append(d)
    return m, found


# ---- what the solver leaves behind, from mujoco


def given_forces(k: Kernel) -> None:
    """Fill the forces of bonds and dof rows."""
    body_rows, rows, given = BodyRows(k), DofRows(k), k.data.extra
    with k.loop(0, body_rows.nequality) as bond:
        body_rows.D[bond, 0] = given["test:active"][bond]
        body_rows.force[bond] = given["test:equality"][bond]
    if body_rows.has_contacts:
        with k.loop(0, body_rows.contacts.count) as c:
            first = k.table("test/first", np.append(body_rows.contacts.pairs.first, 0))[
                body_rows.contacts.pair[c]
            ]
            body_rows.force[body_rows.nequality + c] = given["test:force"][
                first + body_rows.contacts.index_in_pair[c]
            ]
    with k.loop(0, rows.count) as row:
        rows.D[row] = given["test:row_active"][row]
        rows.force[row] = given["test:row_force"][row]


GIVEN_FORCES = ("test:active", "test:equality", "test:force", "test:row_active", "test:row_force")


def force_fields(model: Any, mj_model: Any, datas: list[Any], pairs: Any) -> dict[str, np.ndarray]:
    """The numbers of GIVEN_FORCES in every world."""
    kernel = Kernel(LaneLayout({}, {}, frozen_model=model))
    body_rows, rows = BodyRows(kernel), DofRows(kernel)
    sizes = (body_rows.nequality, body_rows.nequality, pairs.most_in_all, rows.count, rows.count)
    widths = ((), (6,), (6,), (), ())
    out = {
        name: np.zeros((len(datas), max(1, size), *width))
        for name, size, width in zip(GIVEN_FORCES, sizes, widths, strict=True)
    }
    for world, data in enumerate(datas):
        _equality_forces(body_rows, data, out, world)
        _contact_forces(mj_model, pairs, data, out["test:force"][world])
        _limit_forces(rows, data, out, world)
    return out


def _equality_forces(body_rows: BodyRows, data: Any, out: dict[str, np.ndarray], world: int) -> None:
    for bond, equality in enumerate(body_rows.equalities.ids.tolist()):
        mine = np.flatnonzero(data.efc_id[: data.ne] == equality)
        out["test:active"][world, bond] = float(len(mine) > 0)
        out["test:equality"][world, bond, : len(mine)] = data.efc_force[mine]


def _contact_forces(m: Any, pairs: Any, data: Any, force: np.ndarray) -> None:
    from lane_constrained import places_of

    for place, c in places_of(pairs, data):
        mujoco.mj_contactForce(m, data, c, force[place])


def _limit_forces(rows: DofRows, data: Any, out: dict[str, np.ndarray], world: int) -> None:
    kinds = {"scalar_limits": 3, "ball_limits": 3, "tendon_limits": 4}  # mjCNSTR_LIMIT_JOINT, _TENDON
    for source, kind in kinds.items():
        table = rows.tables[source]
        for n, obj in enumerate(table.ids.tolist()):
            mine = np.flatnonzero((data.efc_type[: data.nefc] == kind) & (data.efc_id[: data.nefc] == obj))
            upper = source != "ball_limits" and n % 2
            for row in mine:
                sign = data.efc_J.reshape(data.nefc, -1)[row, table.dofs[n, 0]] * _sense(
                    data, source, obj, table, n
                )
                if source == "ball_limits" or (sign < 0) == bool(upper):
                    out["test:row_active"][world, rows.first(source) + n] = 1.0
                    out["test:row_force"][world, rows.first(source) + n] = data.efc_force[row]


def _sense(data: Any, source: str, obj: int, table: Any, n: int) -> float:
    """How the limited value changes with the row's first dof."""
    return (
        float(np.reshape(data.ten_J, (-1, data.qvel.size))[obj, table.dofs[n, 0]])
        if "tendon" in source
        else 1.0
    )


# ---- programs


def lane_stage(implementation: Implementation) -> LaneStage:
    return LaneStage(
        stage=implementation.stage,
        name=implementation.name,
        key=implementation.key,
        builder=implementation.load(),
        reads=frozenset(implementation.reads or ()).union(*implementation.reads_with.values()),
        writes=frozenset(implementation.writes or pipeline.stage(implementation.stage).writes),
    )


def _given(builder: Any, reads: tuple[str, ...], *groups: str) -> LaneStage:
    return LaneStage(
        stage="given",
        name=builder.__name__,
        builder=builder,
        reads=frozenset(reads) | group("contact_list"),
        writes=group(*groups),
    )


def run_lanes(
    m: Any, datas: list[Any], slots: list[str], outputs: tuple[str, ...], precision: str = "f64"
) -> dict[str, np.ndarray]:
    """What observing stages leave in fields, all of mujoco's results at hand before them."""
    model = model_from_mujoco(m)
    pairs, nworld, lanes = pairs_of(model), len(datas), LANES[precision]
    given = contact_fields(pairs, datas) | force_fields(model, m, datas, pairs)
    stages = [lane_stage(record(slot)) for slot in slots]
    inputs = sorted({name for stage in stages for name in stage.reads if is_real(name)} - set(outputs))
    values = {name: np.array([getattr(d, name) for d in datas], float) for name in inputs}
    shapes = {n: v.shape[1:] or (1,) for n, v in {**values, **given}.items()}
    shapes |= {n: DATA_SPECS[n].dims(dict(model.sizes)) for n in outputs}
    places, row = {}, 0
    for name, shape in shapes.items():
        places[name] = FieldPlace(row, shape)
        row += places[name].count
    program = compile_lanes(
        stages=[
            _given(given_contacts, tuple(f"test:{n}" for n in WIDTHS), "contact_list"),
            _given(given_forces, GIVEN_FORCES, "body_rows", "dof_rows"),
            *([clear_stage("sensordata")] if "sensordata" in outputs else []),
            *stages,
        ],
        model_places=model_places(model),
        data_places=places,
        data_shapes=shapes,
        initial=initial_numbers(model, {n: s for n, s in shapes.items() if n in DATA_SPECS}),
        load=[*values, *given],
        store=list(outputs),
        sizes=model.sizes,
        features=features_by_group(model),
        frozen_model=model,
        lanes=lanes,
        precision=precision,
        threads=1,
        runtime="auto",
    )
    buffer = aligned_zeros((-(-nworld // lanes), row, lanes), FLOAT[precision])
    worlds = Worlds(model, pairs, program, places, buffer, buffer[:, :0], nworld)
    for name, value in {**values, **given}.items():
        worlds[name] = value
    program.run(buffer, model.buffers, 1)
    return {name: worlds[name].copy() for name in outputs}


def is_real(name: str) -> bool:
    return name in DATA_SPECS and DATA_SPECS[name].dtype == "real"


def run_reference(
    m: Any, datas: list[Any], slots: list[str], outputs: tuple[str, ...]
) -> dict[str, np.ndarray]:
    """The same by the NumPy implementations, on copies of mujoco's Data."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in outputs}
    for data in datas:
        own = copy.copy(data)
        own.sensordata[:] = 0.0
        for slot in slots:
            record(slot, "numpy").load()(m, own)
        for name, values in found.items():
            values.append(np.array(getattr(own, name)))
    return {name: np.array(values) for name, values in found.items()}
