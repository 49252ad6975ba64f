"""Tactile sensors: pressure and slip at the vertices of a mesh that is laid over a geom.

Where a vertex is inside another geom that touches the sensor's body, its pressure is depth / (5 cm + depth),
negative as depths are, and its slip along the two tangents of its surface is the speed of the body there relative
to the other geom's centre. Readings are all pressures, then all slips along the first tangents, then along the
second. If several geoms hold a vertex the last one counts. Compare the tactile case of mj_computeSensorAcc.

Geoms of type sdf count by their own distance: that of a plugin's shape, or of the mesh's octree, where MuJoCo 3.4
ends with an error because it looks for a plugin.

As in MuJoCo, each vertex takes three normals of the mesh in turn (meshes made for the purpose have normal and
tangents there), turned by the mesh's orientation but not by the geom's, and velocities are in world axes.
"""

from __future__ import annotations

import attrs
import numpy as np

from dovetail.contracts.enums import GeomType, SensorType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.sensor.readings_numpy import sensors_of, write
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.distance_fields_numpy import has_field
from dovetail.plugins.shared.geometry.sdf_fields_numpy import known_field
from dovetail.plugins.shared.motion_numpy import velocities
from dovetail.plugins.shared.quaternions_numpy import quat_matrix_rows

MAX_DEPTH = 0.05
"""Depth scale of the pressure [m]: kMaxDepth in MuJoCo 3.4."""


@attrs.frozen
class TactileSkin:
    """The vertices of one sensor."""

    body: int
    """Body they move with."""
    position: Array
    """(n, 3), world frame."""
    axes: Array
    """Normal and two tangents (n, 3, 3), one per row."""


def tactile(model: ModelLike, data: DataLike) -> None:
    """Pressures and slips."""
    sensors = sensors_of(model, SensorType.TACTILE)
    write(model, data, sensors, [reading(model, data, int(sensor)) for sensor in sensors])


def reading(model: ModelLike, data: DataLike, sensor: int) -> Array:
    """The three channels of one sensor, one after another."""
    mesh, geom = int(model.sensor_objid[sensor]), int(model.sensor_refid[sensor])
    skin = skin_of(model, data, mesh, geom)
    channels = np.zeros((3, len(skin.position)))
    for other in touching_geoms(model, data, skin.body):
        if has_field(model, other):
            press(model, data, skin, other, channels)
    return channels.ravel()


def skin_of(model: ModelLike, data: DataLike, mesh: int, geom: int) -> TactileSkin:
    """The vertices of a mesh in the frame of a geom."""
    start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    vertex = model.mesh_vert[start : start + count].astype(float)
    rotation = data.geom_xmat[geom].reshape(3, 3)
    turn = quat_matrix_rows(model.mesh_quat[mesh][None])[0]
    axes = normal_triples(model, mesh, count) @ turn.T
    body = int(model.body_weldid[model.geom_bodyid[geom]])
    return TactileSkin(body, data.geom_xpos[geom] + vertex @ rotation.T, axes)


def normal_triples(model: ModelLike, mesh: int, count: int) -> Array:
    """Three normals (count, 3, 3) for each vertex from the mesh's first on; none left: zero."""
    start = int(model.mesh_normaladr[mesh])
    available = model.mesh_normal[start : start + 3 * count]
    triples = np.zeros((3 * count, 3))
    triples[: len(available)] = available
    return triples.reshape(count, 3, 3)


def touching_geoms(model: ModelLike, data: DataLike, weld: int) -> list[int]:
    """Geoms in contact with a body and all that is welded to it, in the order of contacts."""
    geom = data.contact.geom[: data.ncon]
    geom = geom[(geom >= 0).all(axis=1)]
    own = model.body_weldid[model.geom_bodyid[geom]] == weld if len(geom) else np.zeros(geom.shape, bool)
    return list(dict.fromkeys(geom[:, ::-1][own].tolist()))


def press(model: ModelLike, data: DataLike, skin: TactileSkin, other: int, channels: Array) -> None:
    """Fill the channels of the vertices that are inside a geom."""
    depth = distance(model, data, other, skin.position)
    inside = np.flatnonzero(depth < 0)
    depth, axes = depth[inside], skin.axes[inside]
    pressure = depth / np.maximum(MAX_DEPTH - depth, MINVAL)
    slip = skin_velocity(model, data, skin)[inside] - centre_velocity(model, data, other)
    channels[0, inside] = pressure * np.square(axes[:, 0]).sum(axis=1)
    channels[1:, inside] = np.abs(np.einsum("nij,nj->in", axes[:, 1:], slip))


def distance(model: ModelLike, data: DataLike, geom: int, points: Array) -> Array:
    """Distance of points (n, 3) in the world to a geom. The shape of a plugin is where its mesh was made."""
    local = (points - data.geom_xpos[geom]) @ data.geom_xmat[geom].reshape(3, 3)
    if model.geom_type[geom] == GeomType.SDF and model.geom_plugin[geom] >= 0:
        mesh = int(model.geom_dataid[geom])
        local = local @ quat_matrix_rows(model.mesh_quat[mesh][None])[0].T + model.mesh_pos[mesh]
    return known_field(model, data, geom).distance(local)


def skin_velocity(model: ModelLike, data: DataLike, skin: TactileSkin) -> Array:
    """Velocity (n, 3) of the vertices."""
    count = len(skin.position)
    frames = (skin.position, np.tile(np.eye(3), (count, 1, 1)), np.full(count, skin.body))
    return velocities(model, data, frames)[:, 3:]


def centre_velocity(model: ModelLike, data: DataLike, geom: int) -> Array:
    """Velocity (3,) of a geom's centre."""
    frames = (data.geom_xpos[geom][None], np.eye(3)[None], model.geom_bodyid[[geom]])
    centre: Array = velocities(model, data, frames)[0, 3:]
    return centre
