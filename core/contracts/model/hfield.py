"""Height fields: a grid of elevations over a rectangle, with a solid base below.

MuJoCo: mjModel's hfield_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class HField:
    """Rows per height field, and the samples of all."""

    hfield_size: Array = array(
        "nhfield",
        4,
        dtype="float64",
        unit="m",
        doc="Half-size x, half-size y, height of elevation 1, thickness of the base below 0.",
    )
    hfield_nrow: Array = array("nhfield", dtype="int32", doc="Number of grid rows, along y.")
    hfield_ncol: Array = array("nhfield", dtype="int32", doc="Number of grid columns, along x.")
    hfield_adr: Array = array(
        "nhfield", dtype="int32", doc="Where the height field's samples begin in hfield_data."
    )
    hfield_data: Array = array(
        "nhfielddata", dtype="float32", unit="1", doc="Elevations between 0 and 1, row by row."
    )
    hfield_pathadr: Array = array(
        "nhfield", dtype="int32", doc="Where the height field's file path begins in paths; -1: none."
    )
