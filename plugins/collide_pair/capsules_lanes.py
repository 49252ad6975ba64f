"""Contacts of two capsules, and of a capsule with a box, in lanes: the formulas of `shared.geometry.capsules_lanes`
for geoms. Compare mjc_CapsuleCapsule and mjc_CapsuleBox.
"""

from __future__ import annotations

from dovetail.plugins.shared.geometry.capsules_lanes import capsule_box_shapes, capsule_capsule_shapes
from dovetail.plugins.shared.geometry.shapes_lanes import of_geoms

capsule_capsule = of_geoms(capsule_capsule_shapes)
capsule_box = of_geoms(capsule_box_shapes)
