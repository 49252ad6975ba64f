"""Sensors: one row per type, each writing all sensors of its type. Compare mj_sensorPos, mj_sensorVel, mj_sensorAcc.

Begin with `coordinates_{numpy,lanes}.py`, where a sensor is a line; `readings_{numpy,lanes}.py` has what all share:
which sensors are of a type, and how a reading is clamped and stored.

- `coordinates`, `limits`: joints, tendons and actuators.
- `sites`, `frames`, `world`, `camprojection`: instruments at sites, poses and motions of objects, the whole model.
- `touch`, `contact`: contacts, in the volume of a site (`zones`) or between two sides.
- `geometry`: rays and distances. `tactile_numpy.py`, `touch_grid_numpy.py`: MuJoCo's larger ones, NumPy only.

A new type is a row of `SENSORS` below and a function of the type's name in its file, on NumPy and in lanes. Tests:
`tests/stages/sensor`.
"""

from __future__ import annotations

import attrs

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.contacts.pair_types import PRIMITIVE_PAIRS


@attrs.frozen
class SensorRow:
    """A type of sensor: where it is computed, and from what."""

    file: str
    """`<file>_numpy.py` and `<file>_lanes.py`."""
    key: str
    reads: str
    """Data fields."""
    lanes: str | None = attrs.field(default=None, kw_only=True)
    """What it reads in lanes, if that is something else."""
    supports: str = attrs.field(default="", kw_only=True)
    """Features that its function in lanes is limited to."""
    numpy_only: bool = attrs.field(default=False, kw_only=True)
    function: str | None = attrs.field(default=None, kw_only=True)
    """Its name, if not the key."""

    def on_numpy(self) -> Implementation:
        """The reference."""
        return self._record("numpy", self.reads, "")

    def in_lanes(self) -> Implementation:
        """Its sibling."""
        reads = self.reads if self.lanes is None else self.lanes
        return self._record("lanes", f"{reads} sensordata", self.supports)

    def _record(self, language: str, reads: str, supports: str) -> Implementation:
        return Implementation(
            stage="sensor",
            key=self.key,
            name=self.file,
            backend=language,
            target=f"dovetail.plugins.sensor.{self.file}_{language}:{self.function or self.key}",
            default=True,
            reads=reads,
            writes="sensordata",
            supports=supports,
            summary=SUMMARIES[self.file],
        )


SUMMARIES = {
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
    "touch_grid": "MuJoCo's engine plugin touch_grid",
}
"""What the rows of a file are about."""

_SITES = "site_xpos site_xmat"
_POSES = f"xpos xmat xipos ximat geom_xpos geom_xmat {_SITES} cam_xpos cam_xmat"
_VELOCITY = "cvel subtree_com"
_GEOMS = "geom_xpos geom_xmat"
_ROWS = "nefc efc_type efc_id"
_CONTACTS = (
    "ncon contact.dist contact.pos contact.frame contact.geom contact.dim contact.friction contact.efc_address "
    "efc_force"
)

_LANE_CONTACTS = "contact_list.count contact_list.pair contact_list.pos contact_list.frame body_rows.force"
"""In lanes contacts and their forces are kernel fields."""
_LANE_FORCES = "dof_rows.D dof_rows.force"
_LANE_JOINTS = "qpos qvel"
_LANE_TENDONS = "ten_length ten_velocity ten_J ten_J_rownnz ten_J_rowadr ten_J_colind"
"""In lanes limits are read from positions, because constraint rows are no Data there; their forces from kernel
fields."""

_MEASURED = [pair for pair in PRIMITIVE_PAIRS if pair != "box-box"]
_DISTANCES = " ".join(f"distance.{pair}" for pair in (*_MEASURED, "plane-plane", "plane-hfield"))
"""Pairs whose distance has a formula, and those that have none; of the others it is found by iteration."""
_RAYS = "geom.plane geom.sphere geom.capsule geom.ellipsoid geom.cylinder geom.box geom.mesh geom.hfield"

SENSORS = (
    SensorRow("coordinates", "jointpos", "qpos"),
    SensorRow("coordinates", "jointvel", "qvel"),
    SensorRow("coordinates", "ballquat", "qpos"),
    SensorRow("coordinates", "ballangvel", "qvel"),
    SensorRow("coordinates", "jointactfrc", "qfrc_actuator"),
    SensorRow("coordinates", "tendonpos", "ten_length"),
    SensorRow("coordinates", "tendonvel", "ten_velocity"),
    SensorRow("coordinates", "tendonactfrc", "actuator_force"),
    SensorRow("coordinates", "actuatorpos", "actuator_length"),
    SensorRow("coordinates", "actuatorvel", "actuator_velocity"),
    SensorRow("coordinates", "actuatorfrc", "actuator_force"),
    SensorRow("limits", "jointlimitpos", f"{_ROWS} efc_pos efc_margin", lanes=_LANE_JOINTS),
    SensorRow("limits", "jointlimitvel", f"{_ROWS} efc_vel", lanes=_LANE_JOINTS),
    SensorRow("limits", "jointlimitfrc", f"{_ROWS} efc_force", lanes=_LANE_FORCES),
    SensorRow("limits", "tendonlimitpos", f"{_ROWS} efc_pos efc_margin", lanes=_LANE_TENDONS),
    SensorRow("limits", "tendonlimitvel", f"{_ROWS} efc_vel", lanes=_LANE_TENDONS),
    SensorRow("limits", "tendonlimitfrc", f"{_ROWS} efc_force", lanes=_LANE_FORCES),
    SensorRow("sites", "accelerometer", f"{_SITES} {_VELOCITY} cacc"),
    SensorRow("sites", "velocimeter", f"{_SITES} {_VELOCITY}"),
    SensorRow("sites", "gyro", f"{_SITES} {_VELOCITY}"),
    SensorRow("sites", "force", f"{_SITES} subtree_com cfrc_int"),
    SensorRow("sites", "torque", f"{_SITES} subtree_com cfrc_int"),
    SensorRow("sites", "magnetometer", _SITES),
    SensorRow("frames", "framepos", _POSES),
    SensorRow("frames", "framequat", "xquat"),
    SensorRow("frames", "framexaxis", _POSES),
    SensorRow("frames", "frameyaxis", _POSES),
    SensorRow("frames", "framezaxis", _POSES),
    SensorRow("frames", "framelinvel", f"{_POSES} {_VELOCITY}"),
    SensorRow("frames", "frameangvel", f"{_POSES} {_VELOCITY}"),
    SensorRow("frames", "framelinacc", f"{_POSES} {_VELOCITY} cacc"),
    SensorRow("frames", "frameangacc", f"{_POSES} {_VELOCITY} cacc"),
    SensorRow("world", "subtreecom", "subtree_com"),
    SensorRow("world", "subtreelinvel", "subtree_linvel"),
    SensorRow("world", "subtreeangmom", "subtree_angmom"),
    SensorRow("world", "e_potential", "qpos xipos ten_length flexedge_length"),
    SensorRow("world", "e_kinetic", "qvel M"),
    SensorRow("world", "clock", "time"),
    SensorRow("world", "user", ""),
    SensorRow("camprojection", "camprojection", "site_xpos cam_xpos cam_xmat"),
    SensorRow("touch", "touch", f"{_SITES} {_CONTACTS}", lanes=f"{_SITES} {_LANE_CONTACTS}"),
    SensorRow(
        "contact", "contact", f"{_SITES} {_CONTACTS}", lanes=f"{_SITES} {_LANE_CONTACTS} contact_list.dist"
    ),
    SensorRow("geometry", "rangefinder", f"{_SITES} {_GEOMS}", supports=_RAYS),
    SensorRow("geometry", "insidesite", _POSES),
    SensorRow("geometry", "geomdist", _GEOMS, supports=_DISTANCES),
    SensorRow("geometry", "geomnormal", _GEOMS, supports=_DISTANCES),
    SensorRow("geometry", "geomfromto", _GEOMS, supports=_DISTANCES),
    SensorRow("tactile", "tactile", f"{_GEOMS} {_VELOCITY} ncon contact.geom", numpy_only=True),
    SensorRow("touch_grid", "plugin", f"{_SITES} {_CONTACTS}", numpy_only=True, function="touch_grid"),
)
"""Every type; `plugin` are MuJoCo's engine plugins."""


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    in_lanes = [sensor.in_lanes() for sensor in SENSORS if not sensor.numpy_only]
    return in_lanes + [sensor.on_numpy() for sensor in SENSORS]
