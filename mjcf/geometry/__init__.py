"""Geometry at compile time: arrays and plain tuples in, arrays and plain tuples out.

- `rotation`: vectors, quaternions and poses as tuples, and the ways of writing an orientation.
- `inertia`: principal axes, and the inertia of several parts together; `fluid`: virtual masses of ellipsoids.
- meshes, in the order of their processing: `builtin_meshes`, `marching_cubes` (shapes made by rule), `mesh_surface`,
  `surfaces` (all steps from a surface to a mesh of the model), `flat_meshes`, `hull` (with `qhull_lists` and
  `own_memory`), `polygons` (with `normal_tree` and `sides`), `bvh`, `octree`.
- flexes: `flex_topology`, `flex_elasticity`.
- `images`: PNG files.

Begin with `surfaces.process`. Tests: `tests/mjcf/test_meshes.py`, `test_hull_order.py`, `test_polygons.py`,
`test_sdf.py`, `test_flex.py`.
"""
