"""Whether the boxes of two geoms (`geom_aabb`) come near each other.

MuJoCo searches bodies with several geoms by trees of boxes, and in the end compares the two geoms' own boxes, which
turn with them. A box holds its geom as long as nobody edits one without the other; a geom that was made larger is not
found outside of its box. The boxes of a tree above the geoms' own (`bvh_aabb`), in which a geom that was moved is no
longer found, are not looked at. World frame. Compare mj_collideOBB and mj_collideTree.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import DisableBit, GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.vectors_numpy import apply_rows

PLANE = int(GeomType.PLANE)


def searched_by_tree(model: ModelLike, first: Array, second: Array) -> Array:
    """Pairs whose bodies MuJoCo searches by bounding volume trees: the midphase is on and one has several geoms."""
    if model.opt.disableflags & DisableBit.MIDPHASE:
        return np.zeros(len(first), bool)
    count = model.body_geomnum[model.geom_bodyid]
    return (count[first] > 1) | (count[second] > 1)


def boxes_apart(model: ModelLike, data: DataLike, first: Array, second: Array, margin: Array) -> Array:
    """Whether a face of one geom's box separates it from the other's by more than `margin`; of planes, which are the
    first of a pair, the upper face."""
    frames = [data.geom_xmat[geoms].reshape(-1, 3, 3) for geoms in (first, second)]
    centre1, half1, centre2, half2 = (
        model.geom_aabb[geoms, part] for geoms in (first, second) for part in (slice(0, 3), slice(3, 6))
    )
    across = frames[0].transpose(0, 2, 1) @ frames[1]
    shadow1 = apply_rows(np.abs(across), half2)
    offset = data.geom_xpos[second] - data.geom_xpos[first] + apply_rows(frames[1], centre2)
    above_plane = apply_rows(frames[0].transpose(0, 2, 1), offset)[:, 2] - shadow1[:, 2]
    offset = offset - apply_rows(frames[0], centre1)
    shadow2 = apply_rows(np.abs(across).transpose(0, 2, 1), half1)
    apart = np.zeros(len(first), bool)
    for frame, half, shadow in ((frames[0], half1, shadow1), (frames[1], half2, shadow2)):
        along = apply_rows(frame.transpose(0, 2, 1), offset)
        apart |= (np.abs(along) > half + shadow + margin[:, None]).any(axis=1)
    top = centre1[:, 2] + half1[:, 2]
    return np.where(model.geom_type[first] == PLANE, above_plane > top + margin, apart)
