"""The force and torque in each contact, as the solver left them in the memory of a lane kernel.

In the contact's frame: normal force, two tangential forces, torsional torque, two rolling torques; the first object
pushes the second along the normal. Zero in worlds where the contact does not act. Compare mj_contactForce.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.backends.lanes.scopes import walk
from dovetail.plugins.shared.rows.rows_lanes import Links
from dovetail.plugins.shared.vectors_lanes import Vector


@walk
def each_contact(k: Kernel, links: Links) -> Iterator[Any]:
    """`for c in …:` runs its body, at run time, for the contacts of the tile."""
    if links.has_contacts:
        with k.loop(0, links.contacts.count) as contact:
            yield contact


def contact_force(links: Links, contact: Any) -> Vector:
    """Force, then torque (6) in the contact's frame."""
    wrench: Vector = links.force[links.nequality + contact]
    return wrench


def contact_axes(links: Links, contact: Any) -> Vector:
    """Normal and tangents, as rows (3, 3): the rotation from the world to the contact's frame."""
    axes: Vector = links.contacts.frame[contact].reshape(3, 3)
    return axes
