"""Whole constrained steps in lanes beside mujoco, the contacts taken from mujoco: rows and solvers tested alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import mujoco
import numpy as np
from lane_harness import EULER, FORWARD, PARTS
from lane_program import compile_lanes, group, with_kernel_fields

from dovetail.backends.lanes.fuse import LaneStage
from dovetail.backends.lanes.kernel import FieldPlace, Kernel
from dovetail.backends.lanes.segments import features_by_group, initial_numbers, model_places
from dovetail.backends.taichi.program import FLOAT, Program
from dovetail.compare.oracle import model_from_mujoco
from dovetail.contracts.arena import aligned_zeros
from dovetail.contracts.types import DATA_SPECS
from dovetail.plugins.constraint_reference import spring_damper_lanes as reference
from dovetail.plugins.constraint_rows import contact_lanes, equality_lanes, frictionloss_lanes, limit_lanes
from dovetail.plugins.shared.contacts.contacts_lanes import ABSENT, Contacts, Pairs, pairs_of
from dovetail.plugins.solve_constraints import newton_lanes
from dovetail.plugins.tendon import paths_lanes

STATE = ("time", "qpos", "qvel", "act", "qacc_warmstart")
INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")
CONTACT = {"dist": 1, "pos": 3, "frame": 9, "friction": 5, "solref": 2, "solreffriction": 2, "solimp": 5}
"""Numbers per contact that mujoco's contacts are handed over with, besides includemargin."""
WIDTHS = CONTACT | {"includemargin": 1}


def given_contacts(k: Kernel) -> None:
    """In place of collision: the list of contacts, from fields that hold mujoco's for every place of every pair."""
    contacts = Contacts(k)
    pairs = contacts.pairs
    given = {name: k.data.extra[f"test:{name}"] for name in WIDTHS}
    owner = k.table("test/pair", np.append(np.repeat(np.arange(pairs.count), pairs.most_contacts), 0))
    found = k.local(0)
    with k.loop(0, pairs.most_in_all) as place, k.when(k.any(given["dist"][place, 0] < 0.5 * ABSENT)):
        here = found.value
        contacts.pair[here] = owner[place]
        contacts.index_in_pair[here] = place - contacts.of_pair("first", owner[place])
        contacts.dist[here] = given["dist"][place, 0]
        contacts.includemargin[here] = given["includemargin"][place, 0]
        for name in ("pos", "frame", "friction", "solref", "solreffriction", "solimp"):
            getattr(contacts, name)[here] = given[name][place]
        found += 1
    contacts.count = found.value
    k.set_table_field("contact_list.dim", pairs.dim)


def places_of(pairs: Pairs, data: Any) -> Iterable[tuple[int, int]]:
    """(place, mujoco's contact) of every contact: pairs in order, each pair's contacts one after another."""
    index = {(int(a), int(b)): n for n, (a, b) in enumerate(zip(pairs.geom1, pairs.geom2, strict=True))}
    used: dict[int, int] = {}
    for c in range(data.ncon):
        pair = index[tuple(int(g) for g in data.contact.geom[c])]
        yield int(pairs.first[pair]) + used.get(pair, 0), c
        used[pair] = used.get(pair, 0) + 1


def contact_fields(pairs: Pairs, datas: list[Any]) -> dict[str, np.ndarray]:
    """mujoco's contacts by place (nworld, most, width)."""
    most = max(pairs.most_in_all, 1)
    fields = {f"test:{n}": np.zeros((len(datas), most, w)) for n, w in WIDTHS.items()}
    fields["test:dist"][:] = ABSENT
    for world, data in enumerate(datas):
        for place, c in places_of(pairs, data):
            for name in WIDTHS:
                fields[f"test:{name}"][world, place] = getattr(data.contact, name)[c]
    return fields


def _stage(stage: str, builder: Any, reads: str, writes: str, key: str | None = None) -> LaneStage:
    own = LaneStage(
        stage=stage,
        name="test",
        key=key,
        builder=builder,
        reads=frozenset(reads.split()),
        writes=frozenset(writes.split()),
    )
    return with_kernel_fields(own)


TENDONS = "ten_length ten_J"
TENDON = _stage("tendon", paths_lanes.tendon, "qpos site_xpos geom_xpos geom_xmat subtree_com cdof", TENDONS)
LISTS = " ".join(group("contact_list"))
GIVEN = " ".join(f"test:{name}" for name in WIDTHS)
ROWS = [
    _stage(
        "constraint_rows",
        equality_lanes.equality,
        f"qpos xpos xquat xmat site_xpos subtree_com cdof eq_active {TENDONS}",
        "",
        "equality",
    ),
    _stage("constraint_rows", frictionloss_lanes.frictionloss, TENDONS, "", "frictionloss"),
    _stage("constraint_rows", limit_lanes.limit, f"qpos {TENDONS}", "", "limit"),
    _stage("constraint_rows", contact_lanes.contact, "subtree_com", "", "contact"),
    _stage("constraint_reference", reference.constraint_reference, "qvel cvel", ""),
]
NEWTON = _stage(
    "solve_constraints",
    newton_lanes.solve_constraints,
    "qacc_smooth qfrc_smooth qacc_warmstart M cdof",
    "qacc qfrc_constraint",
)


def constrained_stages(solver: LaneStage = NEWTON, *, step: bool = False) -> list[LaneStage]:
    """The forward evaluation with given contacts, and the step to the next state if asked for."""
    before = [s for s in FORWARD if s.stage not in ("solve_constraints", "energy")]
    stages = [*before, TENDON, _stage("narrowphase", given_contacts, GIVEN, LISTS), *ROWS, solver]
    return [*stages, EULER] if step else stages


@attrs.define
class Worlds:
    """A program with worlds of its own."""

    model: Any
    pairs: Pairs
    program: Program
    places: dict[str, FieldPlace]
    buffer: np.ndarray
    active: np.ndarray
    """eq_active as the program takes it."""
    nworld: int

    def __setitem__(self, name: str, value: np.ndarray) -> None:
        place = self.places[name]
        self.buffer[:, place.offset : place.offset + place.count] = self.tiled(value)

    def tiled(self, value: np.ndarray) -> np.ndarray:
        """(nworld, …) as tiles; the last world fills up the last tile."""
        tiles, _, lanes = self.buffer.shape
        flat = np.reshape(value, (self.nworld, -1))
        full = flat[np.minimum(np.arange(tiles * lanes), self.nworld - 1)]
        return full.reshape(tiles, lanes, -1).transpose(0, 2, 1)

    def __getitem__(self, name: str) -> np.ndarray:
        place = self.places[name]
        rows = self.buffer[:, place.offset : place.offset + place.count]
        flat = rows.transpose(0, 2, 1).reshape(-1, place.count)[: self.nworld]
        return flat.reshape(self.nworld, *place.shape)

    def run(self, nstep: int = 1) -> None:
        self.program.run(self.buffer, self.model.buffers, nstep, converted=self.active)


def make_worlds(
    mj_model: Any,
    nworld: int,
    *,
    stages: list[LaneStage] | None = None,
    keep: Iterable[str] = ("qacc", "qfrc_constraint", "qacc_smooth"),
    added: Mapping[str, tuple[int, ...]] | None = None,
    precision: str = "f64",
    lanes: int | None = None,
    threads: int = 1,
    runtime: str = "auto",
) -> Worlds:
    """Compile the constrained step of a mujoco model; `added` are shapes of fields of the stages' own."""
    model = model_from_mujoco(mj_model)
    pairs = pairs_of(model)
    lanes = lanes or {"f64": 8, "f32": 16}[precision]
    used = features_by_group(model)
    groups = {"actuator_gain": "gain", "actuator_bias": "bias", "actuator_dynamics": "dyn"}
    parts = {
        table: {n: f for n, f in PARTS[table].items() if n in used.get(g, set())}
        for table, g in groups.items()
    }
    stages = [attrs.evolve(s, parts=parts) if s.parts else s for s in stages or constrained_stages()]
    shapes = {n: spec.dims(dict(model.sizes)) for n, spec in DATA_SPECS.items() if _plain(spec, model)}
    shapes["eq_active"] = (model.neq,)
    shapes |= {f"test:{n}": (max(pairs.most_in_all, 1), w) for n, w in WIDTHS.items()}
    given = [f"test:{n}" for n in WIDTHS]
    shapes |= added or {}
    kept = [*STATE, *INPUTS, *given, *(n for n in keep if n not in STATE)]
    places: dict[str, FieldPlace] = {}
    row = 0
    for name in kept:
        places[name] = FieldPlace(row, shapes[name])
        row += places[name].count
    program = compile_lanes(
        stages=stages,
        model_places=model_places(model),
        data_places=places,
        data_shapes=shapes,
        initial=initial_numbers(model, {n: s for n, s in shapes.items() if n in DATA_SPECS}),
        load=[*STATE, *INPUTS, *given],
        store=[*STATE, *keep],
        converted=["eq_active"],
        sizes=model.sizes,
        features=used,
        frozen_model=model,
        lanes=lanes,
        precision=precision,
        threads=threads,
        runtime=runtime,
    )
    buffer = aligned_zeros((-(-nworld // lanes), row, lanes), FLOAT[precision])
    active = aligned_zeros((len(buffer), model.neq, lanes), FLOAT[precision])
    return Worlds(model, pairs, program, places, buffer, active, nworld)


def _plain(spec: Any, model: Any) -> bool:
    try:
        spec.dims(dict(model.sizes))
    except KeyError:
        return False
    return bool(spec.dtype == "real")


def set_from(worlds: Worlds, datas: list[Any]) -> None:
    """Take over the states, inputs and contacts of mujoco's worlds."""
    for name in (*STATE, *INPUTS):
        worlds[name] = np.array([np.ravel(getattr(data, name)) for data in datas])
    worlds.active[:] = worlds.tiled(np.array([data.eq_active for data in datas], float))
    for name, value in contact_fields(worlds.pairs, datas).items():
        worlds[name] = value


def answers(datas: list[Any], *names: str) -> Mapping[str, np.ndarray]:
    return {name: np.array([np.array(getattr(data, name)) for data in datas]) for name in names}


def states_in_contact(mj_model: Any, count: int, *, seed: int = 0, warmup: int = 40) -> list[Any]:
    """mujoco's worlds after trajectories of different lengths under random forces, each evaluated afresh."""
    rng = np.random.default_rng(seed)
    found = []
    for world in range(count):
        data = mujoco.MjData(mj_model)
        data.qvel[:] = 0.3 * rng.normal(size=mj_model.nv)
        for _ in range(warmup + 7 * world):
            data.ctrl[:] = 0.4 * rng.normal(size=mj_model.nu)
            mujoco.mj_step(mj_model, data)
        data.qfrc_applied[:] = 0.2 * rng.normal(size=mj_model.nv)
        mujoco.mj_forward(mj_model, data)
        found.append(data)
    return found
