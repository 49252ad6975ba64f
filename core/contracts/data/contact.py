"""Contacts as a struct of arrays: `data.contact.dist[i]` for i below `data.ncon`.

A contact's frame has its normal as first row, from the first object towards the second. Objects are
geoms or flexes; the ids of the other kind are -1. MuJoCo: mjContact.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Contact:
    """One row per contact."""

    dist: Array = array(
        "ncon_max",
        unit="m",
        doc="Distance between the surfaces; negative when they overlap.",
        writer="narrowphase",
    )
    pos: Array = array(
        "ncon_max", 3, unit="m", doc="Point midway between the surfaces, world frame.", writer="narrowphase"
    )
    frame: Array = array(
        "ncon_max",
        9,
        unit="1",
        doc="Rotation matrix contact←world by row: normal, first tangent, second tangent.",
        writer="narrowphase",
    )
    includemargin: Array = array(
        "ncon_max",
        unit="m",
        doc="The contact pushes when dist is below this: margin − gap.",
        writer="contact_params",
    )
    friction: Array = array(
        "ncon_max", 5, doc="Friction: two tangents [1], spin [m], two rolls [m].", writer="contact_params"
    )
    solref: Array = array(
        "ncon_max", 2, doc="Solver reference of the contact's normal.", writer="contact_params"
    )
    solreffriction: Array = array(
        "ncon_max",
        2,
        doc="Solver reference of the friction rows, elliptic cones only; 0 0: as the normal.",
        writer="contact_params",
    )
    solimp: Array = array("ncon_max", 5, doc="Solver impedance of the contact.", writer="contact_params")
    mu: Array = array(
        "ncon_max",
        unit="1",
        doc="Friction of the regularised cone, √(1/impratio) × the first friction.",
        writer="constraint_rows",
    )
    H: Array = array(
        "ncon_max",
        36,
        doc="Hessian of an elliptic cone's cost, 6×6 by row.",
        writer="solve_constraints",
        tolerance=1e-8,
    )
    dim: Array = array(
        "ncon_max", dtype="int32", doc="Contact dimension: 1, 3, 4 or 6.", writer="contact_params"
    )
    geom1: Array = array(
        "ncon_max", dtype="int32", doc="First geom; the same as geom[0].", writer="narrowphase"
    )
    geom2: Array = array(
        "ncon_max", dtype="int32", doc="Second geom; the same as geom[1].", writer="narrowphase"
    )
    geom: Array = array(
        "ncon_max", 2, dtype="int32", doc="Two geoms; -1: that side is a flex.", writer="narrowphase"
    )
    flex: Array = array(
        "ncon_max", 2, dtype="int32", doc="Two flexes; -1: that side is a geom.", writer="narrowphase"
    )
    elem: Array = array(
        "ncon_max",
        2,
        dtype="int32",
        doc="Two flex elements; -1: that side is a geom or a flex vertex.",
        writer="narrowphase",
    )
    vert: Array = array(
        "ncon_max",
        2,
        dtype="int32",
        doc="Two flex vertices; -1: that side is a geom or a flex element.",
        writer="narrowphase",
    )
    exclude: Array = array(
        "ncon_max",
        dtype="int32",
        doc="Why there are no rows: 0 there are, 1 in the gap, 2 fused, 3 no dofs, 4 passive flex.",
        writer="contact_params",
    )
    efc_address: Array = array(
        "ncon_max",
        dtype="int32",
        doc="First constraint row of the contact; -1: none.",
        writer="constraint_rows",
    )
