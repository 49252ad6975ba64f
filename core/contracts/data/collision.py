"""Pairs that may touch, of geoms, flex elements and flex vertices: what the broadphase hands to the narrowphase.

MuJoCo keeps this list inside mj_collision; here it is data, so that either stage can be replaced alone.
"""

from dovetail.contracts.fields import Array, array, entity, scalar


@entity
class Collision:
    """One row per candidate pair, in the order in which their contacts are reported."""

    ncandidate: int = scalar(dtype="int32", doc="Number of candidate pairs.", writer="broadphase")
    candidate_geom: Array = array(
        "ncandidate_max",
        2,
        dtype="int32",
        doc="The two geoms, the one of lower type first; -1: that side is a flex.",
        writer="broadphase",
    )
    candidate_pair: Array = array(
        "ncandidate_max",
        dtype="int32",
        doc="Explicit contact pair the candidate comes from; -1: found by its masks.",
        writer="broadphase",
    )
    candidate_flex: Array = array(
        "ncandidate_max",
        2,
        dtype="int32",
        doc="The two flexes; -1: that side is a geom.",
        writer="broadphase",
    )
    candidate_elem: Array = array(
        "ncandidate_max",
        2,
        dtype="int32",
        doc="The two flex elements; -1: that side is a geom or a flex vertex.",
        writer="broadphase",
    )
    candidate_vert: Array = array(
        "ncandidate_max",
        2,
        dtype="int32",
        doc="The two flex vertices; -1: that side is a geom or a flex element.",
        writer="broadphase",
    )
    contact_candidate: Array = array(
        "ncon_max", dtype="int32", doc="Candidate each contact comes from.", writer="narrowphase"
    )
