"""Where the bodies of an equality are held, in lanes: tables over bonds, and the anchors in the world."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.rows.rows_lanes import BodyRows, ends_of
from dovetail.plugins.shared.vectors_lanes import dot


class Columns:
    """Tables over the bonds of equality constraints."""

    def __init__(self, k: Kernel, body_rows: BodyRows) -> None:
        table = body_rows.equalities
        weld = table.weld.astype(int)
        ends = ends_of(k.frozen_model, table.body1, table.body2)
        self._columns = {
            **table._asdict(),
            **ends._asdict(),
            "dim": 3 + 3 * weld,
            # eq_data of a weld holds the second body's anchor before the first one's
            "anchor1": 3 * weld,
            "anchor2": 3 - 3 * weld,
        }
        self._k = k
        self.welds = bool(weld.any())
        self.sites = bool(table.on_sites.any())

    def __call__(self, name: str, bond: Any) -> Any:
        return self._k.table(f"bonds/equality_{name}", self._columns[name])[bond]


def anchor(k: Kernel, bond: Any, column: Columns, side: int) -> Any:
    """The anchor on one side, world frame."""
    m, d = k.model, k.data
    body, equality_id = column(f"body{side + 1}", bond), column("ids", bond)
    place = column(f"anchor{side + 1}", bond)
    local = [m.eq_data[equality_id, place + i] for i in range(3)]
    rotation = d.xmat[body].reshape(3, 3)
    point = k.local(d.xpos[body] + np.array([dot(row, local) for row in rotation], dtype=object))
    if column.sites:
        objects = (m.eq_obj1id, m.eq_obj2id)[side]
        with k.when(column("on_sites", bond) > 0):
            point.set(d.site_xpos[objects[equality_id]])
    return point.value
