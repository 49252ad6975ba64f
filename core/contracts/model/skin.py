"""Skins: drawn surfaces that follow several bodies (bones); no part in physics.

MuJoCo: mjModel's skin_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Skin:
    """Rows per skin, and per vertex, face and bone of all skins."""

    skin_matid: Array = array("nskin", dtype="int32", doc="Material of the skin; -1: none.")
    skin_group: Array = array("nskin", dtype="int32", doc="Visibility group of the skin.")
    skin_rgba: Array = array(
        "nskin", 4, dtype="float32", unit="1", doc="Colour of the skin without a material."
    )
    skin_inflate: Array = array(
        "nskin", dtype="float32", unit="m", doc="How far the skin is pushed out along its normals."
    )
    skin_vertadr: Array = array("nskin", dtype="int32", doc="First vertex of the skin.")
    skin_vertnum: Array = array("nskin", dtype="int32", doc="Number of vertices of the skin.")
    skin_texcoordadr: Array = array(
        "nskin", dtype="int32", doc="First texture coordinate of the skin; -1: none."
    )
    skin_faceadr: Array = array("nskin", dtype="int32", doc="First face of the skin.")
    skin_facenum: Array = array("nskin", dtype="int32", doc="Number of faces of the skin.")
    skin_boneadr: Array = array("nskin", dtype="int32", doc="First bone of the skin.")
    skin_bonenum: Array = array("nskin", dtype="int32", doc="Number of bones of the skin.")
    skin_vert: Array = array(
        "nskinvert",
        3,
        dtype="float32",
        unit="m",
        doc="Vertex positions of the skins in the bind pose, world frame.",
    )
    skin_texcoord: Array = array(
        "nskintexvert", 2, dtype="float32", unit="1", doc="Texture coordinates of the skins."
    )
    skin_face: Array = array(
        "nskinface", 3, dtype="int32", doc="Three vertices per skin triangle, counted inside the skin."
    )
    skin_bonevertadr: Array = array("nskinbone", dtype="int32", doc="First vertex influence of the bone.")
    skin_bonevertnum: Array = array(
        "nskinbone", dtype="int32", doc="Number of vertex influences of the bone."
    )
    skin_bonebindpos: Array = array(
        "nskinbone", 3, dtype="float32", unit="m", doc="Position of the bone's body in the bind pose."
    )
    skin_bonebindquat: Array = array(
        "nskinbone",
        4,
        dtype="float32",
        unit="1",
        doc="Orientation of the bone's body in the bind pose (w, x, y, z).",
    )
    skin_bonebodyid: Array = array("nskinbone", dtype="int32", doc="Body the bone follows.")
    skin_bonevertid: Array = array(
        "nskinbonevert", dtype="int32", doc="Vertex that the bone influences, counted inside the skin."
    )
    skin_bonevertweight: Array = array(
        "nskinbonevert", dtype="float32", unit="1", doc="Weight of the bone on that vertex."
    )
    skin_pathadr: Array = array(
        "nskin", dtype="int32", doc="Where the skin's file path begins in paths; -1: none."
    )
