"""Custom numbers, texts and tuples that MJCF carries for the user.

MuJoCo: mjModel's numeric_*, text_*, tuple_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Numeric:
    """Custom numeric fields."""

    numeric_adr: Array = array(
        "nnumeric", dtype="int32", doc="Where the field's numbers begin in numeric_data."
    )
    numeric_size: Array = array("nnumeric", dtype="int32", doc="How many numbers the field has.")
    numeric_data: Array = array("nnumericdata", dtype="float64", doc="Numbers of all custom fields.")


@entity
class Text:
    """Custom text fields."""

    text_adr: Array = array("ntext", dtype="int32", doc="Where the text begins in text_data.")
    text_size: Array = array("ntext", dtype="int32", doc="Bytes of the text, its terminating zero included.")
    text_data: Array = array(
        "ntextdata", dtype="uint8", doc="Bytes of all custom texts, each ended by a zero."
    )


@entity
class Tuple:
    """Custom tuples of objects."""

    tuple_adr: Array = array(
        "ntuple",
        dtype="int32",
        doc="Where the tuple's objects begin in tuple_objtype, tuple_objid and tuple_objprm.",
    )
    tuple_size: Array = array("ntuple", dtype="int32", doc="How many objects the tuple has.")
    tuple_objtype: Array = array(
        "ntupledata", dtype="int32", doc="What kind each object in a tuple is (enums.ObjType)."
    )
    tuple_objid: Array = array("ntupledata", dtype="int32", doc="Id of each object in a tuple.")
    tuple_objprm: Array = array(
        "ntupledata", dtype="float64", doc="Number the user gave with each object in a tuple."
    )
