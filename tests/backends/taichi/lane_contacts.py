"""Running the collision stages in lanes on given geom poses, beside the NumPy reference."""

from __future__ import annotations

from typing import Any, NamedTuple

import attrs
import numpy as np
from lane_program import compile_lanes, group, with_kernel_fields

import dovetail
from dovetail.backends.lanes.fuse import LaneStage
from dovetail.backends.lanes.kernel import FieldPlace, Kernel
from dovetail.backends.lanes.segments import model_places
from dovetail.backends.taichi.program import FLOAT, Program
from dovetail.contracts.arena import aligned_zeros
from dovetail.plugin import Implementation
from dovetail.plugins.shared.contacts.contacts_lanes import ABSENT, Contacts, Pairs, pairs_of
from dovetail.registry import default_registry

WIDTHS = {
    "dist": 1,
    "pos": 3,
    "frame": 9,
    "friction": 5,
    "solref": 2,
    "solreffriction": 2,
    "solimp": 5,
    "includemargin": 1,
}
"""Numbers of a contact by field."""

RULES = {
    "combine_friction": "max",
    "combine_margin": "max",
    "mix_solver": "solmix",
    "resolve_priority": "higher",
}


class Found(NamedTuple):
    """Contacts of one world: geoms (n, 2) and fields."""

    geoms: np.ndarray
    fields: dict[str, np.ndarray]


def implementation(slot: str, name: str | None = None, backend: str = "taichi") -> Any:
    """The target of a record."""
    records: list[Implementation] = [r for r in default_registry().of(slot) if r.backend == backend]
    return next(r for r in records if name in (None, r.name)).load()


def parts_of(model: Any, backend: str, rules: dict[str, str] | None = None) -> dict[str, Any]:
    """The rules and the collide_pair rows a model needs."""
    chosen = {**RULES, **(rules or {})}
    parts = {slot: implementation(slot, name, backend) for slot, name in chosen.items()}
    rows = {key: implementation(f"collide_pair:{key}", None, backend) for key in pairs_of(model).keys}
    return {**parts, "collide_pair": rows}


def export(k: Kernel) -> None:
    """Copy the list of contacts to Data, by place among those of all pairs."""
    contacts, out = Contacts(k), k.data.extra
    with k.loop(0, contacts.pairs.most_in_all) as place:
        out["found:dist"][place] = ABSENT
    with k.loop(0, contacts.count) as c:
        place = contacts.of_pair("first", contacts.pair[c]) + contacts.index_in_pair[c]
        for name in WIDTHS:
            out[f"found:{name}"][place] = getattr(contacts, name)[c]
    out["found:ncon"][0] = contacts.ncon[0]


@attrs.define
class LaneCollision:
    """The stages from broadphase to contact_params, compiled for a model."""

    model: Any
    pairs: Pairs
    program: Program
    places: dict[str, FieldPlace]
    rows: int

    def __call__(self, xpos: np.ndarray, xmat: np.ndarray) -> list[Found]:
        """Contacts in worlds with these geom poses (worlds, ngeom, 3) and (worlds, ngeom, 9)."""
        worlds, lanes = len(xpos), self.program.lanes
        tiles = -(-worlds // lanes)
        flat = np.zeros((tiles * lanes, self.rows))
        poses = np.concatenate([xpos.reshape(worlds, -1), xmat.reshape(worlds, -1)], axis=1)
        flat[:worlds, : poses.shape[1]] = poses
        flat[worlds:, : poses.shape[1]] = poses[-1]
        buffer = aligned_zeros((tiles, self.rows, lanes), FLOAT[self.program.precision])
        buffer[:] = flat.reshape(tiles, lanes, -1).transpose(0, 2, 1)
        self.program.run(buffer, self.model.buffers, 1)
        flat = buffer.transpose(0, 2, 1).reshape(-1, self.rows)[:worlds]
        return [self._found(world) for world in flat]

    def _found(self, world: np.ndarray) -> Found:
        fields = {name: self._field(world, f"found:{name}") for name in WIDTHS}
        here = fields["dist"] < ABSENT / 2
        pairs = self.pairs
        geoms = np.repeat(np.stack([pairs.geom1, pairs.geom2], axis=1), pairs.most_contacts, axis=0)
        assert self._field(world, "found:ncon") == here.sum()
        here = here[: len(geoms)]
        return Found(geoms[here], {name: value[: len(geoms)][here] for name, value in fields.items()})

    def _field(self, world: np.ndarray, name: str) -> np.ndarray:
        place = self.places[name]
        return world[place.offset : place.offset + place.count].reshape(place.shape)


def compile_collision(
    model: Any, *, precision: str = "f64", lanes: int = 8, rules: dict[str, str] | None = None, **more: Any
) -> LaneCollision:
    """Compile the collision stages for a model."""
    poses = frozenset({"geom_xpos", "geom_xmat"})
    parts = parts_of(model, "taichi", rules)
    pairs = pairs_of(model)
    most = max(pairs.most_in_all, 1)
    shapes: dict[str, tuple[int, ...]] = {"geom_xpos": (model.ngeom, 3), "geom_xmat": (model.ngeom, 9)}
    shapes |= {f"found:{n}": (most, w) if w > 1 else (most,) for n, w in WIDTHS.items()}
    shapes["found:ncon"] = (1,)
    places: dict[str, FieldPlace] = {}
    row = 0
    for name, shape in shapes.items():
        places[name] = FieldPlace(row, shape)
        row += places[name].count

    def stage(name: str, algorithm: str, **given: Any) -> LaneStage:
        builder = implementation(name, algorithm)
        own = LaneStage(stage=name, name=algorithm, builder=builder, reads=poses, writes=frozenset(), **given)
        return with_kernel_fields(own)

    results = frozenset(shapes) - poses
    program = compile_lanes(
        stages=[
            stage("broadphase", "sweep"),
            stage("narrowphase", "convex", parts=parts),
            stage("contact_params", "mujoco", parts=parts),
            LaneStage(
                stage="export",
                name="test",
                builder=export,
                reads=results | group("contact_list"),
                writes=results,
            ),
        ],
        model_places=model_places(model),
        data_places=places,
        data_shapes=shapes,
        initial={},
        load=sorted(poses),
        store=sorted(results),
        sizes=model.sizes,
        frozen_model=model,
        lanes=lanes,
        precision=precision,
        **more,
    )
    return LaneCollision(model, pairs, program, places, row)


def reference(model: Any, xpos: np.ndarray, xmat: np.ndarray, rules: dict[str, str] | None = None) -> Found:
    """Contacts of one world by the NumPy stages."""
    data = dovetail.make_data(model)
    data.geom_xpos = xpos
    data.geom_xmat = xmat.reshape(-1, 9)
    parts = parts_of(model, "numpy", rules)
    implementation("broadphase", "sweep", "numpy")(model, data)
    implementation("narrowphase", "convex", "numpy")(model, data, parts)
    implementation("contact_params", "mujoco", "numpy")(model, data, parts)
    fields = {name: np.array(getattr(data.contact, name)[: data.ncon]) for name in WIDTHS}
    return Found(np.array(data.contact.geom[: data.ncon]).reshape(-1, 2), fields)


def assert_same(ours: Found, wanted: Found, tolerance: float) -> None:
    """Same contacts in the same order; each field to `tolerance` of its largest number, or absolutely."""
    assert ours.geoms.tolist() == wanted.geoms.tolist()
    for name, value in wanted.fields.items():
        value = value.reshape(ours.fields[name].shape)
        scale = max(1.0, float(np.abs(value).max(initial=0.0)))
        error = float(np.abs(ours.fields[name] - value).max(initial=0.0)) / scale
        assert error <= tolerance, f"{name} differs by {error:.1e}"
