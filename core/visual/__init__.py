"""What a Model and Data look like, as plain arrays: surfaces, materials, cameras, and scenes of elements.

`surfaces` triangles of shapes, meshes, height fields; `deforming` of skins, `flexes` of flexes; `materials` colours
and textures; `cameras` where pictures are taken from; `options` what is drawn; `elements` and `markers/` every mark
that MuJoCo draws; `lights`; `scene` all of it at one time. Needs NumPy only; nothing here draws.
"""

from __future__ import annotations

from dovetail.visual.cameras import FreeCamera, TrackingCamera, View, default_free_camera, view
from dovetail.visual.deforming import SkinSurface, skin_surface
from dovetail.visual.elements import Elements
from dovetail.visual.flexes import FlexSurface, flex_surface
from dovetail.visual.lights import Light
from dovetail.visual.materials import (
    Appearance,
    appearance,
    cube_directions,
    cube_faces,
    cube_lookup,
    planar_texcoords,
    skybox,
    texture_image,
)
from dovetail.visual.options import Category, Frame, Label, VisFlag, VisualOptions
from dovetail.visual.perturbation import Perturb, PerturbBit
from dovetail.visual.scene import Scene, geom_poses
from dovetail.visual.surfaces import Surface, geom_surface, hfield_surface, mesh_surface, shape_surface
from dovetail.visual.worlds import FIELDS

__all__ = [
    "FIELDS",
    "Appearance",
    "Category",
    "Elements",
    "FlexSurface",
    "Frame",
    "FreeCamera",
    "Label",
    "Light",
    "Perturb",
    "PerturbBit",
    "Scene",
    "SkinSurface",
    "Surface",
    "TrackingCamera",
    "View",
    "VisFlag",
    "VisualOptions",
    "appearance",
    "cube_directions",
    "cube_faces",
    "cube_lookup",
    "default_free_camera",
    "flex_surface",
    "geom_poses",
    "geom_surface",
    "hfield_surface",
    "mesh_surface",
    "planar_texcoords",
    "shape_surface",
    "skin_surface",
    "skybox",
    "texture_image",
    "view",
]
