"""What flexes of a model are like, and between which of their shapes and others contacts can appear."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, combinations_with_replacement

import numpy as np

from dovetail.contracts.enums import FlexSelf, GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.flex.shapes import ELEMENTS, VERTEX, shapes_key

PLANE = int(GeomType.PLANE)


def every_meeting() -> tuple[str, ...]:
    """All keys of `collide_flex`."""
    solids = [kind.name.lower() for kind in GeomType if GeomType.PLANE < kind <= GeomType.SDF]
    return (
        f"plane-{VERTEX}",
        *(f"{solid}-{element}" for solid in solids for element in ELEMENTS),
        *(f"{VERTEX}-{element}" for element in ELEMENTS),
        *(f"{first}-{second}" for first, second in combinations_with_replacement(ELEMENTS, 2)),
    )


def kinds(model: ModelLike) -> Iterable[str]:
    """How vertices move, and which contacts flexes have beside those with others."""
    if not model.nflex:
        return ["none"]
    interpolated = model.flex_interp != 0
    used = {
        "vertices": not interpolated.all(),
        "interpolated": interpolated.any(),
        "passive": (model.flex_passive != 0).any(),
        "self": collides_with_itself(model).any(),
        "internal": keeps_its_shape(model).any(),
    }
    return [kind for kind, has in used.items() if has]


def meeting(model: ModelLike) -> frozenset[str]:
    """The keys of `collide_flex` that the model can meet."""
    return frozenset((*_with_geoms(model), *_with_flexes(model), *_with_itself(model)))


def _with_geoms(model: ModelLike) -> Iterator[str]:
    for flex in range(model.nflex):
        for kind in np.unique(model.geom_type[geoms_that_meet(model, flex)]).tolist():
            shape = VERTEX if kind == PLANE else element_of(model, flex)
            yield f"{GeomType(kind).name.lower()}-{shape}"


def _with_flexes(model: ModelLike) -> Iterator[str]:
    for one, other in combinations(range(model.nflex), 2):
        if (model.flex_contype[one] & model.flex_conaffinity[other]) | (
            model.flex_contype[other] & model.flex_conaffinity[one]
        ):
            yield shapes_key(element_of(model, one), element_of(model, other))


def _with_itself(model: ModelLike) -> Iterator[str]:
    for flex in np.flatnonzero(collides_with_itself(model)).tolist():
        yield shapes_key(element_of(model, flex), element_of(model, flex))
    for flex in np.flatnonzero(keeps_its_shape(model)).tolist():
        yield f"{VERTEX}-{element_of(model, flex)}"


def geoms_that_meet(model: ModelLike, flex: int) -> Array:
    """Which geoms have masks that meet those of a flex. Of a plane the masks of its body count, too: a search by
    trees asks for nothing else."""
    contype, conaffinity = int(model.flex_contype[flex]), int(model.flex_conaffinity[flex])
    own = (model.geom_contype & conaffinity) | (model.geom_conaffinity & contype)
    body = (model.body_contype & conaffinity) | (model.body_conaffinity & contype)
    return (own != 0) | ((body[model.geom_bodyid] != 0) & (model.geom_type == PLANE))


def element_of(model: ModelLike, flex: int) -> str:
    """The shape of a flex's elements."""
    return ELEMENTS[int(model.flex_dim[flex]) - 1]


def looks_at_itself(model: ModelLike) -> Array:
    """Flexes that can have contacts with themselves at all: deformable ones whose type meets their affinity."""
    masks = (model.flex_contype & model.flex_conaffinity) != 0
    return masks & (model.flex_rigid == 0) & (model.flex_interp == 0)


def collides_with_itself(model: ModelLike) -> Array:
    """Flexes whose elements collide with each other."""
    return looks_at_itself(model) & (model.flex_selfcollide != int(FlexSelf.NONE))


def keeps_its_shape(model: ModelLike) -> Array:
    """Flexes whose elements collide with vertices next to them."""
    return looks_at_itself(model) & (model.flex_internal != 0)
