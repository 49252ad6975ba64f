"""Predefined contact pairs, with parameters of their own, and pairs of bodies that never collide.

A pair is always tested and ignores its geoms' own parameters and the exclusions.
MuJoCo: mjModel's pair_*, exclude_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Pair:
    """One row per predefined pair of geoms."""

    pair_dim: Array = array("npair", dtype="int32", doc="Contact dimension of the pair: 1, 3, 4 or 6.")
    pair_geom1: Array = array("npair", dtype="int32", doc="First geom of the pair.")
    pair_geom2: Array = array("npair", dtype="int32", doc="Second geom of the pair.")
    pair_signature: Array = array(
        "npair", dtype="int32", doc="Bodies of the pair in one number: smaller id · 65536 + larger id."
    )
    pair_solref: Array = array(
        "npair", 2, dtype="float64", doc="Solver reference of the pair's contact normals."
    )
    pair_solreffriction: Array = array(
        "npair",
        2,
        dtype="float64",
        doc="Solver reference of the pair's friction rows, elliptic cones only; 0 0: as the normal.",
    )
    pair_solimp: Array = array("npair", 5, dtype="float64", doc="Solver impedance of the pair's contacts.")
    pair_margin: Array = array(
        "npair",
        dtype="float64",
        unit="m",
        doc="Contacts of the pair are detected when the distance is at most this.",
    )
    pair_gap: Array = array(
        "npair",
        dtype="float64",
        unit="m",
        doc="Contacts of the pair push only when closer than margin − gap.",
    )
    pair_friction: Array = array(
        "npair", 5, dtype="float64", doc="Friction of the pair: two tangents [1], spin [m], two rolls [m]."
    )


@entity
class Exclude:
    """One row per pair of bodies that never collide."""

    exclude_signature: Array = array(
        "nexclude", dtype="int32", doc="Excluded bodies in one number: smaller id · 65536 + larger id."
    )
