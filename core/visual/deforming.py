"""Skins: surfaces that hang on several bodies, as triangles in the world. Flexes are in `flexes`."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.visual.elements import in_groups
from dovetail.visual.options import VisFlag, VisualOptions
from dovetail.visual.surfaces import Surface, smooth_normals


@attrs.frozen(eq=False)
class SkinSurface:
    """A skin as it hangs on its bones."""

    skinid: int
    surface: Surface


def skin_surfaces(model: Any, data: Any, options: VisualOptions) -> list[SkinSurface]:
    """The skins of the groups that are drawn."""
    if not model.nskin or not options.shows(VisFlag.SKIN):
        return []
    chosen = np.flatnonzero(in_groups(options.skingroup, model.skin_group))
    return [SkinSurface(int(i), skin_surface(model, data, int(i))) for i in chosen]


def skin_surface(model: Any, data: Any, skin: int) -> Surface:
    """A skin in the world: every vertex is the weighted mean of where its bones carry it, then pushed out along its
    normal."""
    first, count = int(model.skin_vertadr[skin]), int(model.skin_vertnum[skin])
    start, number = int(model.skin_faceadr[skin]), int(model.skin_facenum[skin])
    bind = np.asarray(model.skin_vert[first : first + count], float)
    faces = np.array(model.skin_face[start : start + number], np.int32)
    vertices = np.zeros_like(bind)
    bone0 = int(model.skin_boneadr[skin])
    for bone in range(bone0, bone0 + int(model.skin_bonenum[skin])):
        turn, shift = bone_motion(model, data, bone)
        adr, num = int(model.skin_bonevertadr[bone]), int(model.skin_bonevertnum[bone])
        moved = np.asarray(model.skin_bonevertid[adr : adr + num])
        weight = np.asarray(model.skin_bonevertweight[adr : adr + num], float)
        np.add.at(vertices, moved, weight[:, None] * (bind[moved] @ turn.T + shift))
    normals = smooth_normals(vertices, faces)
    inflated = vertices + float(model.skin_inflate[skin]) * normals
    texcoord = int(model.skin_texcoordadr[skin])
    return Surface(
        inflated.astype(np.float32),
        faces,
        normals,
        None if texcoord < 0 else np.array(model.skin_texcoord[texcoord : texcoord + count], np.float32),
    )


def bone_motion(model: Any, data: Any, bone: int) -> tuple[Array, Array]:
    """How a bone carries points from the bind pose to where its body is: a rotation, then a shift."""
    body = int(model.skin_bonebodyid[bone])
    turn = np.asarray(data.xmat[body], float).reshape(3, 3) @ rotation(model.skin_bonebindquat[bone]).T
    return turn, np.asarray(data.xpos[body], float) - turn @ np.asarray(model.skin_bonebindpos[bone], float)


def rotation(quat: Any) -> Array:
    """The rotation matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = (float(part) for part in quat)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
