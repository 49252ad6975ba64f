"""Bounding volume trees of bodies, meshes and flexes, and octrees of signed distance fields.

Trees lie one after another; an object's *_bvhadr is its root and children are counted from there.
Boxes are centre and half-sizes. MuJoCo: mjModel's bvh_*, oct_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Bvh:
    """One row per bounding volume."""

    bvh_depth: Array = array("nbvh", dtype="int32", doc="Depth of the volume in its tree; the root has 0.")
    bvh_child: Array = array(
        "nbvh", 2, dtype="int32", doc="Two children, counted from the tree's root; -1: none."
    )
    bvh_nodeid: Array = array(
        "nbvh", dtype="int32", doc="Geom, mesh face or flex element inside a leaf; -1: not a leaf."
    )
    bvh_aabb: Array = array(
        "nbvhstatic",
        6,
        dtype="float64",
        unit="m",
        doc="Box of a static volume in the frame of its body or mesh: centre, half-sizes.",
    )


@entity
class Octree:
    """One row per octree cell."""

    oct_depth: Array = array("noct", dtype="int32", doc="Depth of the cell in its octree; the root has 0.")
    oct_child: Array = array("noct", 8, dtype="int32", doc="Eight children of the cell; -1: none.")
    oct_aabb: Array = array(
        "noct", 6, dtype="float64", unit="m", doc="Box of the cell in the mesh frame: centre, half-sizes."
    )
    oct_coeff: Array = array(
        "noct",
        8,
        dtype="float64",
        unit="m",
        doc="Signed distance at the cell's eight corners, interpolated inside.",
    )
