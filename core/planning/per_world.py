"""Model fields that have a value of their own in every world of a batch (domain randomisation).

Such a field lives in Data, beside the state, under the name `model:<field>`: so it is saved and resumed with the
state, kernels load it like any other lane numbers, and the NumPy backend puts each world's values into a copy of
the Model before it runs that world. Which fields can be so is listed here; structure (ids, types, sizes) cannot. What
follows from masses and the like (inverse weights) becomes per-world with them; `Simulation.set_constants`
recomputes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.contracts.assigned import assign
from dovetail.contracts.derive import OF_MODEL
from dovetail.contracts.fields import REAL, Array, FieldSpec
from dovetail.contracts.types import MODEL_SPECS, Data, Model
from dovetail.errors import PerWorldError, nearest

if TYPE_CHECKING:
    from dovetail.contracts.bound import View

INERTIAL = ("body_mass", "body_inertia", "body_ipos", "body_iquat", "dof_armature")
"""Fields that the mass matrix depends on."""

GEOMETRIC = ("body_pos", "body_quat", "jnt_pos", "jnt_axis", "qpos0", "site_pos", "site_quat")
"""Fields that the reference configuration depends on."""

FROM_INERTIA = (
    *("body_subtreemass", "body_invweight0", "dof_invweight0", "dof_M0"),
    *("tendon_invweight0", "actuator_acc0", "stat.meaninertia"),
)
"""What follows from the mass matrix at the reference configuration."""

FROM_GEOMETRY = (*FROM_INERTIA, "tendon_length0", "tendon_lengthspring", "actuator_length0", "eq_data")
"""What follows from the reference configuration."""

SURFACES = (
    *(f"geom_{name}" for name in ("friction", "solref", "solimp", "solmix", "margin", "gap", "pos", "quat")),
    *(f"pair_{name}" for name in ("friction", "solref", "solreffriction", "solimp", "margin", "gap")),
)
JOINTS = (
    *(f"dof_{name}" for name in ("damping", "frictionloss", "solref", "solimp")),
    *(f"jnt_{name}" for name in ("stiffness", "range", "margin", "solref", "solimp", "actfrcrange")),
    "qpos_spring",
)
TENDONS = tuple(
    f"tendon_{name}"
    for name in (
        *("stiffness", "damping", "range", "margin", "frictionloss", "actfrcrange"),
        *("solref_lim", "solimp_lim", "solref_fri", "solimp_fri"),
    )
)
ACTUATORS = tuple(
    f"actuator_{name}"
    for name in (
        *("gainprm", "biasprm", "dynprm", "gear", "ctrlrange", "forcerange", "actrange", "lengthrange"),
        *("cranklength",),
    )
)
OTHERS = ("eq_solref", "eq_solimp", "opt.gravity", "opt.timestep", "opt.wind", "opt.magnetic", "opt.impratio")

POSSIBLE = frozenset(
    (*INERTIAL, *GEOMETRIC, *FROM_GEOMETRY, *SURFACES, *JOINTS, *TENDONS, *ACTUATORS, *OTHERS)
)
"""Every field that may be chosen."""

PATTERNS: Mapping[str, Callable[[Array], Array]] = {
    "dof_frictionloss": lambda values: values > 0,
    "tendon_frictionloss": lambda values: values > 0,
    "tendon_stiffness": lambda values: values > 0,
}
"""Fields whose zeros are structure: there is no row or force where the Model itself has none."""


def data_name(field: str) -> str:
    """The name in Data of a Model field's values of all worlds."""
    return OF_MODEL + field


def chosen_fields(wanted: Iterable[str]) -> tuple[str, ...]:
    """The fields to have per world: the wanted ones and what follows from them, in the Model's order."""
    names = set((wanted,) if isinstance(wanted, str) else wanted)
    problems = [_impossible(name) for name in sorted(names - POSSIBLE)]
    if problems:
        raise PerWorldError("\n".join(problems))
    if names.intersection(INERTIAL):
        names.update(FROM_INERTIA)
    if names.intersection(GEOMETRIC):
        names.update(FROM_GEOMETRY)
    return tuple(name for name in MODEL_SPECS if name in names)


def _impossible(name: str) -> str:
    spec = MODEL_SPECS.get(name)
    if spec is None:
        return f"per_world: the Model has no field {name!r}{nearest(name, POSSIBLE)}"
    why = (
        "it is structure, the same for all worlds of a kernel"
        if spec.dtype != "float64"
        else "stages take it as the same for all worlds"
    )
    return (
        f"per_world: {name} cannot differ between worlds: {why}. Make one Simulation for each value, or "
        f"choose among: "
        f"{', '.join(sorted(POSSIBLE))}"
    )


def specs_of(fields: Iterable[str]) -> tuple[FieldSpec, ...]:
    """Data fields for Model fields."""
    return tuple(
        attrs.evolve(MODEL_SPECS[name], name=data_name(name), dtype=REAL, state=True, writer=None, init=0)
        for name in fields
    )


@attrs.define(eq=False)
class WorldModel:
    """A copy of a Model that takes on the values of one world after another."""

    original: Model
    fields: tuple[str, ...]
    model: Model = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.model = self.original.copy()

    def refresh(self) -> None:
        """Take over what was edited in the original."""
        self.model.arena.copy_from(self.original.arena)

    def take(self, world: Data) -> Model:
        """The Model of one world."""
        for name in self.fields:
            self.model.field(name)[...] = world.field(data_name(name))
        return self.model


def check_patterns(model: Model, data: Data, fields: Iterable[str]) -> None:
    """Where the Model has no friction loss there is no row for one; a world that has some there is an error."""
    for name in fields:
        pattern = PATTERNS.get(name)
        if pattern is None:
            continue
        extra = pattern(np.asarray(data.field(data_name(name)))) & ~pattern(np.asarray(model.field(name)))
        if extra.any():
            world, *index = (int(i) for i in np.argwhere(extra)[0])
            place = "".join(f"[{i}]" for i in index)
            raise PerWorldError(
                f"{name}{place} is zero in the Model but not in world {world}: whether there is one is "
                f"structure. Give "
                f"model.{name}{place} a value above zero; worlds without it may set theirs to zero"
            )


class PerWorld(Mapping[str, Any]):
    """The fields of a simulation that have values per world: `sim.per_world["geom_friction"]` is (nworld, ngeom,
    3)."""

    def __init__(self, data: Callable[[], Data], fields: tuple[str, ...]) -> None:
        self._data, self._fields = data, fields

    def __getitem__(self, name: str) -> View:
        if name not in self._fields:
            raise KeyError(
                f"{name!r} is the same in all worlds; make the simulation with per_world=({name!r}, …)"
                f"{nearest(name, self._fields)}"
            )
        return self._data().field(data_name(name))

    def __setitem__(self, name: str, value: Any) -> None:
        assign(name, self[name], value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"<per world: {', '.join(self._fields) or 'nothing'}>"


NOT_PHYSICS = ("stat.extent", "stat.center", "stat.meansize", "stat.meanmass")
"""Statistics that no stage reads."""


def set_world_constants(
    world_model: WorldModel,
    data: Data,
    worlds: Iterable[int],
    finalize: Callable[[Model], Mapping[str, Any]],
) -> None:
    """Recompute in some worlds what derives from their values; see `Simulation.set_constants`."""
    fields = set(world_model.fields)
    world_model.refresh()
    for number in worlds:
        world = data.world(number)
        model = world_model.take(world)
        for name, value in finalize(model).items():
            if name in fields:
                world.field(data_name(name))[...] = value
            elif name not in NOT_PHYSICS and not _same(value, world_model.original.field(name)):
                raise PerWorldError(
                    f"world {number} has its own {name}, which follows from its values: add {name!r} to per_world"
                )


def _same(value: Any, known: Any) -> bool:
    value, known = np.asarray(value, float), np.asarray(known, float)
    scale = np.abs(known).max(initial=1.0)
    return bool(np.allclose(value.reshape(known.shape), known, rtol=0.0, atol=1e-9 * scale))
