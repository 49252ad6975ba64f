"""Elements of flexes: which vertices and edges they have."""

from __future__ import annotations

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike

EDGES_OF_ELEMENT = (0, 1, 3, 6)
"""By dimension."""


def elements_of(model: ModelLike, flex: int) -> slice:
    """The elements of a flex, counted through all flexes."""
    return slice(int(model.flex_elemadr[flex]), int(model.flex_elemadr[flex] + model.flex_elemnum[flex]))


def corners_of(model: ModelLike, flex: int) -> Array:
    """Vertices (n, dim + 1) of a flex's elements, counted through all flexes."""
    corners, first = int(model.flex_dim[flex]) + 1, int(model.flex_elemdataadr[flex])
    count = int(model.flex_elemnum[flex])
    inside = model.flex_elem[first : first + count * corners].reshape(count, corners)
    return inside + model.flex_vertadr[flex]


def edges_of_elements(model: ModelLike, flex: int) -> Array:
    """Edges (n, 1, 3 or 6) of a flex's elements, counted through all flexes."""
    edges, first = EDGES_OF_ELEMENT[int(model.flex_dim[flex])], int(model.flex_elemedgeadr[flex])
    count = int(model.flex_elemnum[flex])
    inside = model.flex_elemedge[first : first + count * edges].reshape(count, edges)
    return inside + model.flex_edgeadr[flex]
