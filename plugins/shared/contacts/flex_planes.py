"""Which planes the vertices of a flex may touch, wherever they are."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import DisableBit, GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike

PLANE = int(GeomType.PLANE)


def planes_that_meet(model: ModelLike, flex: int) -> Array:
    """Planes on bodies whose masks meet those of a flex, if their own do, too; of a body that is searched with the
    flex by trees of boxes, all planes, as long as it is static."""
    contype, conaffinity = int(model.flex_contype[flex]), int(model.flex_conaffinity[flex])
    body = model.geom_bodyid
    own = ((model.geom_contype & conaffinity) | (model.geom_conaffinity & contype)) != 0
    of_body = ((model.body_contype & conaffinity) | (model.body_conaffinity & contype)) != 0
    searched = not model.opt.disableflags & DisableBit.MIDPHASE and model.flex_bvhadr[flex] >= 0
    tree = (model.body_bvhadr[body] >= 0) & bool(searched)
    wanted = np.where(tree, model.body_weldid[body] == 0, own)
    return np.flatnonzero(wanted & of_body[body] & (model.geom_type == PLANE))
