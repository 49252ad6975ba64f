"""Names of objects and paths of asset files, as bytes.

The name of body i starts at byte name_bodyadr[i] of `names` and ends before the next zero; an object
without a name has the empty one. MuJoCo: mjModel's name_*, names, names_map, paths.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Names:
    """Where each object's name begins, and the bytes."""

    name_bodyadr: Array = array("nbody", dtype="int32", doc="Where each body's name begins in names.")
    name_jntadr: Array = array("njnt", dtype="int32", doc="Where each joint's name begins in names.")
    name_geomadr: Array = array("ngeom", dtype="int32", doc="Where each geom's name begins in names.")
    name_siteadr: Array = array("nsite", dtype="int32", doc="Where each site's name begins in names.")
    name_camadr: Array = array("ncam", dtype="int32", doc="Where each camera's name begins in names.")
    name_lightadr: Array = array("nlight", dtype="int32", doc="Where each light's name begins in names.")
    name_flexadr: Array = array("nflex", dtype="int32", doc="Where each flex's name begins in names.")
    name_meshadr: Array = array("nmesh", dtype="int32", doc="Where each mesh's name begins in names.")
    name_skinadr: Array = array("nskin", dtype="int32", doc="Where each skin's name begins in names.")
    name_hfieldadr: Array = array(
        "nhfield", dtype="int32", doc="Where each height field's name begins in names."
    )
    name_texadr: Array = array("ntex", dtype="int32", doc="Where each texture's name begins in names.")
    name_matadr: Array = array("nmat", dtype="int32", doc="Where each material's name begins in names.")
    name_pairadr: Array = array("npair", dtype="int32", doc="Where each contact pair's name begins in names.")
    name_excludeadr: Array = array(
        "nexclude", dtype="int32", doc="Where each exclusion's name begins in names."
    )
    name_eqadr: Array = array(
        "neq", dtype="int32", doc="Where each equality constraint's name begins in names."
    )
    name_tendonadr: Array = array("ntendon", dtype="int32", doc="Where each tendon's name begins in names.")
    name_actuatoradr: Array = array("nu", dtype="int32", doc="Where each actuator's name begins in names.")
    name_sensoradr: Array = array("nsensor", dtype="int32", doc="Where each sensor's name begins in names.")
    name_numericadr: Array = array(
        "nnumeric", dtype="int32", doc="Where each custom numeric field's name begins in names."
    )
    name_textadr: Array = array("ntext", dtype="int32", doc="Where each custom text's name begins in names.")
    name_tupleadr: Array = array(
        "ntuple", dtype="int32", doc="Where each custom tuple's name begins in names."
    )
    name_keyadr: Array = array("nkey", dtype="int32", doc="Where each keyframe's name begins in names.")
    name_pluginadr: Array = array(
        "nplugin", dtype="int32", doc="Where each engine plugin instance's name begins in names."
    )
    names: Array = array(
        "nnames",
        dtype="uint8",
        doc="Bytes of the model's name, then of all object names, each ended by a zero.",
    )
    names_map: Array = array(
        "nnames_map",
        dtype="int32",
        doc="Hash table from names to ids, one part per object type; -1: empty slot.",
    )
    paths: Array = array("npaths", dtype="uint8", doc="Bytes of all asset file paths, each ended by a zero.")
