"""The force and torque in each contact, as the solver left them in the memory of a lane kernel.

In the contact's frame: normal force, two tangential forces, torsional torque, two rolling torques; the first object
pushes the second along the normal. Zero in worlds where the contact does not act. Compare mj_contactForce.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.backends.lanes.scopes import walk
from dovetail.plugins.shared.rows.rows_lanes import BodyRows
from dovetail.plugins.shared.vectors_lanes import Vector


@walk
def each_contact(k: Kernel, body_rows: BodyRows) -> Iterator[Any]:
    """`for c in …:` runs its body, at run time, for the contacts of the tile."""
    if body_rows.has_contacts:
        with k.loop(0, body_rows.contacts.count) as contact:
            yield contact


def contact_force(body_rows: BodyRows, contact: Any) -> Vector:
    """Force, then torque (6) in the contact's frame."""
    wrench: Vector = body_rows.force[body_rows.nequality + contact]
    return wrench


def contact_axes(body_rows: BodyRows, contact: Any) -> Vector:
    """Normal and tangents, as rows (3, 3): the rotation from the world to the contact's frame."""
    axes: Vector = body_rows.contacts.frame[contact].reshape(3, 3)
    return axes
