"""Collision stages beside MuJoCo: random scenes, poses taken over from it, and rows that answer with its contacts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.contracts.enums import GeomType
from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.plugins.broadphase.sweep_numpy import broadphase
from dovetail.plugins.combine_friction.max_numpy import combine_friction
from dovetail.plugins.combine_margin.max_numpy import combine_margin
from dovetail.plugins.contact_params.mujoco_numpy import contact_params
from dovetail.plugins.contact_range.inner_gap_numpy import contact_range
from dovetail.plugins.mix_solver.solmix_numpy import mix_solver
from dovetail.plugins.narrowphase.convex_numpy import narrowphase
from dovetail.plugins.resolve_priority.higher_numpy import resolve_priority

mujoco = pytest.importorskip("mujoco")

RULES: dict[str, Any] = {
    "collide_flex": {},
    "combine_friction": combine_friction,
    "combine_margin": combine_margin,
    "contact_range": contact_range,
    "mix_solver": mix_solver,
    "resolve_priority": resolve_priority,
}
GEOMETRY = ("dist", "pos", "frame", "geom", "geom1", "geom2", "flex", "elem", "vert")
PARAMETERS = ("dim", "friction", "solref", "solreffriction", "solimp", "includemargin", "exclude")


def mujoco_of(xml: str, assets: dict[str, bytes] | None = None) -> tuple[Any, Any]:
    model = mujoco.MjModel.from_xml_string(xml, assets)
    return model, mujoco.MjData(model)


def collided(mj_model: Any, mj_data: Any) -> None:
    """MuJoCo's contacts at the data's state."""
    mujoco.mj_fwdPosition(mj_model, mj_data)


def data_like(model: dovetail.Model, mj_data: Any) -> dovetail.Data:
    """A Data with MuJoCo's geom poses."""
    data = dovetail.make_data(model)
    data.geom_xpos = mj_data.geom_xpos
    data.geom_xmat = mj_data.geom_xmat
    return data


class RecordedRows(Mapping[str, Any]):
    """A collide_pair table that answers with the contacts MuJoCo found, so that candidates, order, frames and
    parameters can be compared apart from geometry. Geoms named by several explicit pairs share them evenly."""

    def __init__(self, model: Any, data: dovetail.Data, mj_data: Any) -> None:
        self.contacts: dict[tuple[int, int], list[int]] = defaultdict(list)
        for index, pair in enumerate(mj_data.contact.geom.tolist()):
            self.contacts[tuple(pair)].append(index)
        self.mj_data = mj_data
        self.asked: Counter[tuple[int, int]] = Counter()
        self.share = Counter(map(tuple, data.candidate_geom[: data.ncandidate].tolist()))

    def __getitem__(self, key: str) -> Any:
        first, second = key.split("-")
        if GeomType[first.upper()] > GeomType[second.upper()]:
            raise KeyError(key)
        return self.collide

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0

    def collide(self, model: Any, data: Any, geom1: int, geom2: int, margin: float) -> PairContacts:
        pair = (geom1, geom2)
        turn = self.asked[pair]
        self.asked[pair] += 1
        found = self.contacts.get(pair, [])
        each = len(found) // self.share[pair]
        mine = found[turn * each : (turn + 1) * each]
        if not mine:
            return NO_CONTACTS
        contact = self.mj_data.contact
        return PairContacts.of(
            contact.dist[mine], contact.pos[mine], contact.frame[mine][:, :3], contact.frame[mine][:, 3:6]
        )


def run(
    model: dovetail.Model, data: dovetail.Data, mj_data: Any, rules: dict[str, Any] | None = None
) -> None:
    """Broadphase, narrowphase with recorded rows, and parameters."""
    rules = RULES if rules is None else {**RULES, **rules}
    broadphase(model, data)
    narrowphase(model, data, {**rules, "collide_pair": RecordedRows(model, data, mj_data)})
    contact_params(model, data, rules)


def contact_fields(data: dovetail.Data, names: tuple[str, ...] = (*GEOMETRY, *PARAMETERS)) -> dict[str, Any]:
    """The first ncon rows of contact fields."""
    return {name: np.array(getattr(data.contact, name)[: data.ncon]) for name in names}


def assert_contacts_equal(
    data: dovetail.Data, mj_data: Any, names: tuple[str, ...] = (*GEOMETRY, *PARAMETERS), atol: float = 1e-12
) -> None:
    """Same contacts in the same order, every field to `atol`."""
    assert contact_fields(data, ("geom",))["geom"].tolist() == mj_data.contact.geom.tolist()
    for name, ours in contact_fields(data, names).items():
        theirs = np.asarray(getattr(mj_data.contact, name)).reshape(ours.shape)
        if ours.dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol, err_msg=name)
        else:
            np.testing.assert_array_equal(ours, theirs, err_msg=name)


# ---- random scenes ----------------------------------------------------------------------------------------


class Scene:
    """A random tree of bodies with many geoms each, some static, some mocap, with masks, margins, pairs, excludes."""

    SHAPES = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")

    def __init__(self, seed: int, *, bodies: int = 6, flags: str = "", spread: float = 0.35) -> None:
        self.random = np.random.default_rng(seed)
        self.flags, self.spread = flags, spread
        self.geoms: list[str] = []
        self.bodies: list[str] = []
        self.count = bodies

    def vector(self, scale: float) -> str:
        return " ".join(f"{x:.6f}" for x in self.random.normal(size=3) * scale)

    def numbers(self, low: float, high: float, count: int) -> str:
        return " ".join(f"{x:.6f}" for x in self.random.uniform(low, high, count))

    def geom(self, *, plane: bool = False) -> str:
        name = f"g{len(self.geoms)}"
        self.geoms.append(name)
        kind = "plane" if plane else str(self.random.choice(self.SHAPES))
        size = "5 5 1" if plane else self.numbers(0.05, 0.2, 3)
        shape = 'mesh="wedge"' if kind == "mesh" else f'size="{size}"'
        place = "" if plane else f'pos="{self.vector(0.12)}" euler="{self.vector(60)}"'
        return f'<geom name="{name}" type="{kind}" {shape} {place} {self.settings()}/>'

    def settings(self) -> str:
        random = self.random
        text = f'friction="{self.numbers(0, 1, 3)}" solimp="{self.numbers(0.5, 0.95, 2)} 0.002 0.4 2"'
        text += f' condim="{random.choice([1, 3, 4, 6])}" priority="{random.choice([-1, 0, 0, 0, 1])}"'
        text += f' solmix="{random.choice([0, 0.5, 1, 3])}"'
        text += f' solref="{random.choice(["0.02 1", "0.05 0.7", "-100 -5", "-30 -9"])}"'
        if random.random() < 0.4:
            text += f' margin="{random.uniform(0, 0.05):.4f}" gap="{random.uniform(0, 0.05):.4f}"'
        if random.random() < 0.3:
            text += f' contype="{random.integers(4)}" conaffinity="{random.integers(4)}"'
        return text

    def body(self, depth: int = 0) -> str:
        name = f"b{len(self.bodies)}"
        self.bodies.append(name)
        random = self.random
        joint = random.choice(["<freejoint/>", "", "mocap"], p=[0.7, 0.2, 0.1]) if depth == 0 else ""
        if depth:
            joint = random.choice(["", f'<joint axis="{self.vector(1)}"/>', '<joint type="ball"/>'])
        mocap = ' mocap="true"' if joint == "mocap" else ""
        inside = "" if joint == "mocap" else joint
        inside += "".join(self.geom() for _ in range(random.choice([1, 1, 2, 4])))
        if depth < 2:
            inside += "".join(self.body(depth + 1) for _ in range(random.choice([0, 0, 1, 2])))
        place = f'pos="{self.vector(self.spread if depth == 0 else 0.2)}" euler="{self.vector(60)}"'
        return f'<body name="{name}" {place}{mocap}>{inside}</body>'

    def contact(self) -> str:
        random, text = self.random, ""
        for _ in range(random.integers(6)):
            first, second = random.choice([name for name in self.geoms[1:] if name], 2, replace=False)
            text += f'<pair geom1="{first}" geom2="{second}" friction="{self.numbers(0, 1, 5)}"'
            text += f' margin="{random.uniform(0, 0.1):.4f}" gap="{random.uniform(0, 0.05):.4f}"'
            text += f' condim="{random.choice([1, 3, 4, 6])}" solreffriction="{random.choice(["0 0", "0.05 0.8"])}"/>'
        for _ in range(random.integers(4)):
            first, second = random.choice([*self.bodies, "world"], 2, replace=False)
            text += f'<exclude body1="{first}" body2="{second}"/>'
        return text

    def xml(self) -> str:
        world = self.geom(plane=True)
        world += "".join(self.geom() for _ in range(self.random.integers(4)))
        if self.random.random() < 0.5:
            world += f'<geom type="hfield" hfield="hills" pos="0 0 -0.3" {self.settings()}/>'
            self.geoms.append("")
        world += "".join(self.body() for _ in range(self.count))
        return f"""<mujoco>
          <option jacobian="sparse"><flag {self.flags}/></option>
          <asset><mesh name="wedge" vertex="0 0 0 .2 0 0 0 .3 0 0 0 .2 .1 .1 .2"/>
            <hfield name="hills" nrow="3" ncol="3" size="1 1 0.2 0.1" elevation="0 1 0 1 0 1 0 1 0"/></asset>
          <worldbody>{world}</worldbody><contact>{self.contact()}</contact>
        </mujoco>"""
