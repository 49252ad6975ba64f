"""Contacts of two capsules, and of a capsule with a box.

The formulas are in `shared.geometry.capsules_numpy`, where flexes find them too. Compare mjc_CapsuleCapsule and
mjc_CapsuleBox.
"""

from __future__ import annotations

from dovetail.plugins.shared.geometry.capsules_numpy import capsule_box_shapes, capsule_capsule_shapes
from dovetail.plugins.shared.geometry.shapes_numpy import of_geoms

capsule_capsule = of_geoms(capsule_capsule_shapes)
capsule_box = of_geoms(capsule_box_shapes)
