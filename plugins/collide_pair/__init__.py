"""Contacts of two geoms, by their types. The tables of pairs are in `shared.contacts.pair_types`.

Here: the pairs. `planes`, `spheres`, `capsules`, `boxes` have formulas (NumPy one pair at a time, lanes all worlds of
a tile at once); `convex` and `hfield` iterate on support functions (`shared.geometry`: gjk, epa), in lanes one world
after another; `portal` takes their place where nativeccd is off; `sdf` descends in distance fields. Tests:
tests/stages/collide_pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.contacts.pair_types import (
    CONVEX_PAIRS,
    FORMULAS,
    HFIELD_PAIRS,
    MOST_CONTACTS,
    PLANE_HULL,
    SDF_PAIRS,
)

_POSES = "geom_xpos geom_xmat"
_ITERATED = {
    **dict.fromkeys(CONVEX_PAIRS, "convex:convex"),
    **dict.fromkeys(HFIELD_PAIRS, "hfield:height_field"),
}
"""File and function of each pair that is found by iteration."""


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [*_formulas(), *_iterated(), *_distance_fields(), *_formulas_in_lanes(), *_iterated_in_lanes()]


def _record(key: str, name: str, backend: str, file: str, function: str, **facts: Any) -> Implementation:
    return Implementation(
        stage="collide_pair",
        name=name,
        key=key,
        backend=backend,
        target=f"dovetail.plugins.collide_pair.{file}_{backend}:{function}",
        default=True,
        **facts,
    )


def _function(key: str) -> str:
    return "plane_mesh" if key in PLANE_HULL else key.replace("-", "_")


def _formulas() -> Iterator[Implementation]:
    for file, pairs in FORMULAS.items():
        for key, summary in pairs.items():
            yield _record(key, "analytic", "numpy", file, _function(key), summary=summary)


def _formulas_in_lanes() -> Iterator[Implementation]:
    for file, pairs in FORMULAS.items():
        for key in pairs:
            facts = {"most_contacts": MOST_CONTACTS[key]}
            yield _record(
                key, "analytic", "lanes", file, _function(key), facts=facts, summary="The same in lanes"
            )


def _iterated() -> Iterator[Implementation]:
    for key, place in _ITERATED.items():
        file, function = place.split(":")
        on = "the prisms under the grid" if key in HFIELD_PAIRS else "support functions"
        summary = f"Distance iteration, then expanding polytope, on {on}"
        yield _record(key, "convex", "numpy", file, function, reads=_POSES, summary=summary)


def _iterated_in_lanes() -> Iterator[Implementation]:
    for key, place in _ITERATED.items():
        yield _record(
            key,
            "convex",
            "lanes",
            *place.split(":"),
            supports="ccd.native",
            reads=_POSES,
            facts={"most_contacts": MOST_CONTACTS[key]},
            summary="The same in lane kernels, one world after the other",
        )


def _distance_fields() -> Iterator[Implementation]:
    never = "None, as in MuJoCo: height fields and distance fields do not collide"
    yield _record("hfield-sdf", "sdf", "numpy", "sdf", "hfield_sdf", reads=_POSES, summary=never)
    for key in SDF_PAIRS:
        summary = "Descent from points spread over both bounding boxes"
        yield _record(key, "sdf", "numpy", "sdf", "sdf", reads=_POSES, summary=summary)
