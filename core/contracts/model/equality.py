"""Equality constraints: connect, weld, joint, tendon and flex couplings.

MuJoCo: mjModel's eq_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Equality:
    """One row per equality constraint."""

    eq_type: Array = array("neq", dtype="int32", doc="Kind of constraint (enums.EqType).")
    eq_obj1id: Array = array("neq", dtype="int32", doc="First object of the constraint.")
    eq_obj2id: Array = array("neq", dtype="int32", doc="Second object of the constraint; -1: none.")
    eq_objtype: Array = array("neq", dtype="int32", doc="What kind of object both ids are (enums.ObjType).")
    eq_active0: Array = array("neq", dtype="uint8", doc="Whether the constraint is active after reset.")
    eq_solref: Array = array("neq", 2, dtype="float64", doc="Solver reference of the equality constraint.")
    eq_solimp: Array = array("neq", 5, dtype="float64", doc="Solver impedance of the equality constraint.")
    eq_data: Array = array(
        "neq",
        11,
        dtype="float64",
        doc="Numbers by type: anchors and relative pose, or coefficients of the coupling polynomial.",
    )
