"""Sensors: one row per type, each writing all sensors of its type."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.contacts.pair_types import PRIMITIVE_PAIRS

_SITES = "site_xpos site_xmat"
_POSES = f"xpos xmat xipos ximat geom_xpos geom_xmat {_SITES} cam_xpos cam_xmat"
_VELOCITY = "cvel subtree_com"
_CONTACTS = (
    "ncon contact.dist contact.pos contact.frame contact.geom contact.dim contact.friction contact.efc_address "
    "efc_force"
)
_ROWS = "nefc efc_type efc_id"
_GEOMS = "geom_xpos geom_xmat"

_READS = {
    "coordinates": {
        "jointpos": "qpos",
        "jointvel": "qvel",
        "ballquat": "qpos",
        "ballangvel": "qvel",
        "jointactfrc": "qfrc_actuator",
        "tendonpos": "ten_length",
        "tendonvel": "ten_velocity",
        "tendonactfrc": "actuator_force",
        "actuatorpos": "actuator_length",
        "actuatorvel": "actuator_velocity",
        "actuatorfrc": "actuator_force",
    },
    "limits": {
        "jointlimitpos": f"{_ROWS} efc_pos efc_margin",
        "jointlimitvel": f"{_ROWS} efc_vel",
        "jointlimitfrc": f"{_ROWS} efc_force",
        "tendonlimitpos": f"{_ROWS} efc_pos efc_margin",
        "tendonlimitvel": f"{_ROWS} efc_vel",
        "tendonlimitfrc": f"{_ROWS} efc_force",
    },
    "sites": {
        "accelerometer": f"{_SITES} {_VELOCITY} cacc",
        "velocimeter": f"{_SITES} {_VELOCITY}",
        "gyro": f"{_SITES} {_VELOCITY}",
        "force": f"{_SITES} subtree_com cfrc_int",
        "torque": f"{_SITES} subtree_com cfrc_int",
        "magnetometer": _SITES,
    },
    "frames": {
        "framepos": _POSES,
        "framequat": "xquat",
        "framexaxis": _POSES,
        "frameyaxis": _POSES,
        "framezaxis": _POSES,
        "framelinvel": f"{_POSES} {_VELOCITY}",
        "frameangvel": f"{_POSES} {_VELOCITY}",
        "framelinacc": f"{_POSES} {_VELOCITY} cacc",
        "frameangacc": f"{_POSES} {_VELOCITY} cacc",
    },
    "world": {
        "subtreecom": "subtree_com",
        "subtreelinvel": "subtree_linvel",
        "subtreeangmom": "subtree_angmom",
        "e_potential": "qpos xipos ten_length flexedge_length",
        "e_kinetic": "qvel M",
        "clock": "time",
        "user": "",
    },
    "camprojection": {"camprojection": "site_xpos cam_xpos cam_xmat"},
    "touch": {"touch": f"{_SITES} {_CONTACTS}"},
    "contact": {"contact": f"{_SITES} {_CONTACTS}"},
    "geometry": {
        "rangefinder": f"{_SITES} {_GEOMS}",
        "insidesite": _POSES,
        "geomdist": _GEOMS,
        "geomnormal": _GEOMS,
        "geomfromto": _GEOMS,
    },
    "tactile": {"tactile": f"{_GEOMS} {_VELOCITY} ncon contact.geom"},
}
"""Module and type: what each row reads."""

_SUMMARY = {
    "coordinates": "Joints, tendons and actuators",
    "limits": "Constraint rows of limits",
    "sites": "Instruments mounted at sites",
    "frames": "Frames of bodies, geoms, sites and cameras",
    "world": "Subtrees, energy, time",
    "camprojection": "Pixel of a site in a camera's image",
    "touch": "Normal forces in a site's volume",
    "contact": "Contacts between two sides, in reports",
    "geometry": "Rays, volumes and distances",
    "tactile": "Pressure and slip on a mesh",
}


def _rows() -> Iterator[tuple[str, str, str, str]]:
    """File, key, function and reads of every row."""
    for file, rows in _READS.items():
        for key, reads in rows.items():
            yield file, key, key, reads
    yield "touch_grid", "plugin", "touch_grid", f"{_SITES} {_CONTACTS}"


_JACOBIAN = "ten_J ten_J_rownnz ten_J_rowadr ten_J_colind"
_LANE_LIMITS = {
    "jointlimitpos": "qpos qvel",
    "jointlimitvel": "qpos qvel",
    "jointlimitfrc": "dof_rows.D dof_rows.force",
    "tendonlimitpos": f"ten_length ten_velocity {_JACOBIAN}",
    "tendonlimitvel": f"ten_length ten_velocity {_JACOBIAN}",
    "tendonlimitfrc": "dof_rows.D dof_rows.force",
}
"""In lanes limits are read from positions, because constraint rows are no Data there; their forces from kernel
fields."""

_LANE_LIST = "contact_list.count contact_list.pair contact_list.pos contact_list.frame body_rows.force"
_LANE_CONTACTS = {"touch": f"{_SITES} {_LANE_LIST}", "contact": f"{_SITES} {_LANE_LIST} contact_list.dist"}
"""In lanes contacts and their forces are kernel fields."""

_IN_LANES = {
    "coordinates": tuple(_READS["coordinates"]),
    "limits": tuple(_READS["limits"]),
    "sites": tuple(_READS["sites"]),
    "frames": tuple(_READS["frames"]),
    "world": tuple(_READS["world"]),
    "camprojection": ("camprojection",),
    "touch": ("touch",),
    "contact": ("contact",),
    "geometry": tuple(_READS["geometry"]),
}
"""Rows that Taichi has too."""

_MEASURED = [pair for pair in PRIMITIVE_PAIRS if pair != "box-box"]
_DISTANCES = " ".join(f"distance.{pair}" for pair in (*_MEASURED, "plane-plane", "plane-hfield"))
"""Pairs whose distance has a formula, and those that have none; of the others it is found by iteration."""

_LANE_SUPPORTS = {
    **dict.fromkeys(("geomdist", "geomnormal", "geomfromto"), _DISTANCES),
    "e_potential": "flex.none",
    "rangefinder": "geom.plane geom.sphere geom.capsule geom.ellipsoid geom.cylinder geom.box",
}


def _lane_rows() -> list[Implementation]:
    read = {**_LANE_LIMITS, **_LANE_CONTACTS}
    return [
        Implementation(
            stage="sensor",
            key=key,
            name=file,
            backend="lanes",
            target=f"dovetail.plugins.sensor.{file}_lanes:{key}",
            default=True,
            reads=f"{read.get(key, _READS[file][key])} sensordata",
            writes="sensordata",
            supports=_LANE_SUPPORTS.get(key, ""),
            summary=_SUMMARY[file],
        )
        for file, keys in _IN_LANES.items()
        for key in keys
    ]


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return _lane_rows() + [
        Implementation(
            stage="sensor",
            key=key,
            name=file,
            backend="numpy",
            target=f"dovetail.plugins.sensor.{file}_numpy:{function}",
            default=True,
            reads=reads,
            writes="sensordata",
            summary=_SUMMARY.get(file, "MuJoCo's engine plugin touch_grid"),
        )
        for file, key, function, reads in _rows()
    ]
