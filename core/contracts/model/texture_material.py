"""Textures and materials: how surfaces look; no part in physics.

MuJoCo: mjModel's tex_*, mat_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Texture:
    """Rows per texture, and the pixels of all."""

    tex_type: Array = array("ntex", dtype="int32", doc="Texture type (enums.TextureType).")
    tex_colorspace: Array = array("ntex", dtype="int32", doc="Encoding of the pixels (enums.ColorSpace).")
    tex_height: Array = array(
        "ntex", dtype="int32", unit="pixel", doc="Rows of the image; six faces stacked for cube and skybox."
    )
    tex_width: Array = array("ntex", dtype="int32", unit="pixel", doc="Columns of the image.")
    tex_nchannel: Array = array("ntex", dtype="int32", doc="Bytes per pixel.")
    tex_adr: Array = array("ntex", dtype="int32", doc="Where the texture's pixels begin in tex_data.")
    tex_data: Array = array("ntexdata", dtype="uint8", doc="Pixels of all textures.")
    tex_pathadr: Array = array(
        "ntex", dtype="int32", doc="Where the texture's file path begins in paths; -1: none."
    )


@entity
class Material:
    """One row per material."""

    mat_texid: Array = array(
        "nmat", 10, dtype="int32", doc="Texture for each role (enums.TextureRole); -1: none."
    )
    mat_texuniform: Array = array(
        "nmat", dtype="uint8", doc="Whether the texture repeats per unit of length rather than per object."
    )
    mat_texrepeat: Array = array(
        "nmat", 2, dtype="float32", unit="1", doc="How often a 2d texture repeats along x and y."
    )
    mat_emission: Array = array(
        "nmat", dtype="float32", unit="1", doc="Light the surface gives off, as a share of its colour."
    )
    mat_specular: Array = array("nmat", dtype="float32", unit="1", doc="Strength of highlights.")
    mat_shininess: Array = array("nmat", dtype="float32", unit="1", doc="Sharpness of highlights.")
    mat_reflectance: Array = array(
        "nmat", dtype="float32", unit="1", doc="Strength of mirror images; 0: none."
    )
    mat_metallic: Array = array(
        "nmat", dtype="float32", unit="1", doc="Metallic share, for physically based renderers."
    )
    mat_roughness: Array = array(
        "nmat", dtype="float32", unit="1", doc="Roughness, for physically based renderers."
    )
    mat_rgba: Array = array("nmat", 4, dtype="float32", unit="1", doc="Colour of the material.")
