"""The engine plugin mujoco.sensor.touch_grid: contact forces in bins of direction around a site.

The site looks along −z. A contact's place is its azimuth (about y, towards x) and elevation (towards y); bins
divide the field of view evenly, or finer in the middle with gamma > 0. Channels are force, then torque, each in
the order z, x, y of the site's axes, one image after another. Contacts of everything welded to the site's body
count, and forces are those on the site's side. Of several sensors with one instance only the first is filled.
"""

from __future__ import annotations

import attrs
import numpy as np

from dovetail.contracts.engine_plugins import leading_number, plugin_config, plugin_name
from dovetail.contracts.enums import SensorType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.sensor.readings_numpy import sensors_of, write
from dovetail.plugins.sensor.touch_numpy import contact_bodies
from dovetail.plugins.shared.rows.contact_forces_numpy import contact_forces, in_world_axes

TOUCH_GRID = "mujoco.sensor.touch_grid"


@attrs.frozen
class TouchGrid:
    """One sensor's bins."""

    channels: int
    azimuth: Array
    """Edges between columns, ascending."""
    elevation: Array
    """Edges between rows, ascending."""


def touch_grid(model: ModelLike, data: DataLike) -> None:
    """Images of forces and torques."""
    sensors = sensors_of(model, SensorType.PLUGIN)
    _, first = np.unique(model.sensor_plugin[sensors], return_index=True)
    sensors = sensors[np.sort(first)]
    wrench = in_world_axes(data, contact_forces(model, data))
    body = contact_bodies(model, data)
    write(model, data, sensors, [images(model, data, int(s), body, wrench).ravel() for s in sensors])


def images(model: ModelLike, data: DataLike, sensor: int, body: Array, wrench: Array) -> Array:
    """The images (channels, rows × columns) of one sensor."""
    grid = grid_of(model, int(model.sensor_plugin[sensor]))
    site = int(model.sensor_objid[sensor])
    touching, force = touching_forces(model, data, site, body, wrench)
    column, row = bins(data, site, grid, data.contact.pos[touching])
    rows, columns = len(grid.elevation) - 1, len(grid.azimuth) - 1
    seen = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
    pixels = np.zeros((rows * columns, grid.channels))
    np.add.at(pixels, (row * columns + column)[seen], force[seen, : grid.channels])
    return pixels.T


def touching_forces(
    model: ModelLike, data: DataLike, site: int, body: Array, wrench: Array
) -> tuple[Array, Array]:
    """The contacts of a site's body and what is welded to it, and their six channels (n, 6)."""
    weld = model.body_weldid[model.site_bodyid[site]]
    touching = np.flatnonzero(((model.body_weldid[body] == weld) & (body >= 0)).any(axis=1))
    # Forces act on the second body; MuJoCo takes the one of larger id for that, and compares it with the
    # site's weld body.
    sign = np.where(weld < body[touching].max(axis=1), -1.0, 1.0)
    rotation = data.site_xmat[site].reshape(3, 3)
    local = sign[:, None, None] * (wrench[touching].reshape(-1, 2, 3) @ rotation)
    return touching, local[:, :, [2, 0, 1]].reshape(-1, 6)


def bins(data: DataLike, site: int, grid: TouchGrid, points: Array) -> tuple[Array, Array]:
    """Column and row of points of the world; outside the image: -1, or one past the last."""
    local = (points - data.site_xpos[site]) @ data.site_xmat[site].reshape(3, 3)
    x, y, z = local.T
    azimuth, elevation = np.arctan2(x, -z), np.arctan2(y, np.hypot(x, z))
    return np.searchsorted(grid.azimuth, azimuth) - 1, np.searchsorted(grid.elevation, elevation) - 1


# ---- configuration ----------------------------------------------------------------------------------------


def grid_of(model: ModelLike, instance: int) -> TouchGrid:
    """The bins that an instance of the engine plugin configures."""
    name = plugin_name(model, instance)
    if name != TOUCH_GRID:
        raise ValueError(f"engine plugin {name} is no sensor; of MuJoCo's engine plugins {TOUCH_GRID} is")
    config = plugin_config(model, instance)
    columns, rows = map(int, numbers(config["size"]))
    width, height = np.radians(numbers(config["fov"]))
    gamma = (*numbers(config["gamma"]), 0.0)[0]
    channels = int((*numbers(config["nchannel"]), 0.0)[0])
    return TouchGrid(channels or 1, width * edges(columns, gamma), height * edges(rows, gamma))


def numbers(text: str) -> list[float]:
    """The number that each word begins with, or zero."""
    return [leading_number(word) or 0.0 for word in text.split()]


def edges(count: int, gamma: float) -> Array:
    """Edges of `count` bins from −1 to 1; with gamma they blend from even to a fifth power, dense at 0."""
    even = -1.0 + np.arange(count + 1) * (2.0 / count)
    return gamma * even**5 + (1.0 - gamma) * even
