"""Contacts of a sphere with a sphere, capsule, cylinder or box, in lanes: the formulas of
`shared.geometry.balls_lanes` for geoms. Compare mjc_SphereSphere, mjc_SphereCapsule, mjc_SphereCylinder and
mjc_SphereBox.
"""

from __future__ import annotations

from dovetail.plugins.shared.geometry.balls_lanes import (
    sphere_box_shapes,
    sphere_capsule_shapes,
    sphere_cylinder_shapes,
    sphere_sphere_shapes,
)
from dovetail.plugins.shared.geometry.shapes_lanes import of_geoms

sphere_sphere = of_geoms(sphere_sphere_shapes)
sphere_capsule = of_geoms(sphere_capsule_shapes)
sphere_cylinder = of_geoms(sphere_cylinder_shapes)
sphere_box = of_geoms(sphere_box_shapes)
