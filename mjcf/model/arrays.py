"""From the compiled tree to mjModel's arrays: names, shapes and dtypes of MuJoCo 3.4.0."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail.contracts.enums import JointType, TrnType
from dovetail.mjcf.asset_arrays import asset_fields
from dovetail.mjcf.elements.actuator import actuated_bodies
from dovetail.mjcf.elements.plugins import plugin_fields
from dovetail.mjcf.flex_arrays import flex_bodies, flex_fields
from dovetail.mjcf.geometry.bounds import bounding_volumes, dof_lengths, reference_looks
from dovetail.mjcf.geometry.fluid import fluid_coefficients
from dovetail.mjcf.geometry.rotation import EPS, IDENTITY, MINVAL
from dovetail.mjcf.link_arrays import LINK_TABLES, coupled_by_armature, kept_awake, link_arrays
from dovetail.mjcf.model import sparsity
from dovetail.mjcf.model.context import Context
from dovetail.mjcf.model.names import name_fields
from dovetail.mjcf.tree import Body, Joint, Key

INT, BYTE, REAL, COLOR = "int32", "uint8", "float64", "float32"

Column = tuple[str | Callable[[Any], Any], str, int | None]
"""Attribute or function that gives an item's value, dtype, and length of a vector (None for a number)."""

_JOINT_COLUMNS: dict[str, Column] = {
    "jnt_type": ("type", INT, None),
    "jnt_qposadr": ("qposadr", INT, None),
    "jnt_dofadr": ("dofadr", INT, None),
    "jnt_bodyid": ("bodyid", INT, None),
    "jnt_group": ("group", INT, None),
    "jnt_limited": ("limited", BYTE, None),
    "jnt_actfrclimited": ("actuatorfrclimited", BYTE, None),
    "jnt_actgravcomp": ("actuatorgravcomp", BYTE, None),
    "jnt_solref": ("solreflimit", REAL, 2),
    "jnt_solimp": ("solimplimit", REAL, 5),
    "jnt_pos": ("pos", REAL, 3),
    "jnt_axis": ("axis", REAL, 3),
    "jnt_stiffness": ("stiffness", REAL, None),
    "jnt_range": ("range", REAL, 2),
    "jnt_actfrcrange": ("actuatorfrcrange", REAL, 2),
    "jnt_margin": ("margin", REAL, None),
}
_DOF_COLUMNS: dict[str, Column] = {
    "dof_bodyid": ("bodyid", INT, None),
    "dof_jntid": ("id", INT, None),
    "dof_solref": ("solreffriction", REAL, 2),
    "dof_solimp": ("solimpfriction", REAL, 5),
    "dof_frictionloss": ("frictionloss", REAL, None),
    "dof_armature": ("armature", REAL, None),
    "dof_damping": ("damping", REAL, None),
}
_BODY_COLUMNS: dict[str, Column] = {
    "body_parentid": ("parentid", INT, None),
    "body_weldid": ("weldid", INT, None),
    "body_mocapid": ("mocapid", INT, None),
    "body_jntnum": (lambda body: len(body.joints), INT, None),
    "body_jntadr": (lambda body: body.joints[0].id if body.joints else -1, INT, None),
    "body_dofnum": ("dofnum", INT, None),
    "body_dofadr": (lambda body: body.joints[0].dofadr if body.joints else -1, INT, None),
    "body_geomnum": (lambda body: len(body.geoms), INT, None),
    "body_geomadr": (lambda body: body.geoms[0].id if body.geoms else -1, INT, None),
    "body_sameframe": (sparsity.body_sameframe, BYTE, None),
    "body_pos": ("pos", REAL, 3),
    "body_quat": ("quat", REAL, 4),
    "body_ipos": ("ipos", REAL, 3),
    "body_iquat": ("iquat", REAL, 4),
    "body_mass": ("mass", REAL, None),
    "body_inertia": ("inertia", REAL, 3),
    "body_gravcomp": ("gravcomp", REAL, None),
    "body_margin": (lambda body: max((0.0, *(geom.margin for geom in body.geoms))), REAL, None),
    "body_plugin": ("plugin", INT, None),
    "body_contype": (lambda body: _union(geom.contype for geom in body.geoms), INT, None),
    "body_conaffinity": (lambda body: _union(geom.conaffinity for geom in body.geoms), INT, None),
}
_GEOM_COLUMNS: dict[str, Column] = {
    "geom_type": ("type", INT, None),
    "geom_contype": ("contype", INT, None),
    "geom_conaffinity": ("conaffinity", INT, None),
    "geom_condim": ("condim", INT, None),
    "geom_bodyid": ("bodyid", INT, None),
    "geom_dataid": ("dataid", INT, None),
    "geom_matid": ("matid", INT, None),
    "geom_group": ("group", INT, None),
    "geom_priority": ("priority", INT, None),
    "geom_plugin": ("plugin", INT, None),
    "geom_solmix": ("solmix", REAL, None),
    "geom_solref": ("solref", REAL, 2),
    "geom_solimp": ("solimp", REAL, 5),
    "geom_size": ("size", REAL, 3),
    "geom_aabb": ("aabb", REAL, 6),
    "geom_rbound": ("rbound", REAL, None),
    "geom_pos": ("pos", REAL, 3),
    "geom_quat": ("quat", REAL, 4),
    "geom_friction": ("friction", REAL, 3),
    "geom_margin": ("margin", REAL, None),
    "geom_gap": ("gap", REAL, None),
    "geom_fluid": (fluid_coefficients, REAL, 12),
    "geom_rgba": ("rgba", COLOR, 4),
}
_SITE_COLUMNS: dict[str, Column] = {
    "site_type": ("type", INT, None),
    "site_bodyid": ("bodyid", INT, None),
    "site_matid": ("matid", INT, None),
    "site_group": ("group", INT, None),
    "site_size": ("size", REAL, 3),
    "site_pos": ("pos", REAL, 3),
    "site_quat": ("quat", REAL, 4),
    "site_rgba": ("rgba", COLOR, 4),
}
_CAMERA_COLUMNS: dict[str, Column] = {
    "cam_mode": ("mode", INT, None),
    "cam_bodyid": ("bodyid", INT, None),
    "cam_targetbodyid": ("targetbodyid", INT, None),
    "cam_pos": ("pos", REAL, 3),
    "cam_quat": ("quat", REAL, 4),
    "cam_orthographic": ("orthographic", INT, None),
    "cam_fovy": ("fovy", REAL, None),
    "cam_ipd": ("ipd", REAL, None),
    "cam_resolution": ("resolution", INT, 2),
    "cam_sensorsize": ("sensorsize", COLOR, 2),
    "cam_intrinsic": ("intrinsic", COLOR, 4),
}
_LIGHT_COLUMNS: dict[str, Column] = {
    "light_mode": ("mode", INT, None),
    "light_bodyid": ("bodyid", INT, None),
    "light_targetbodyid": ("targetbodyid", INT, None),
    "light_type": ("type", INT, None),
    "light_texid": ("texid", INT, None),
    "light_castshadow": ("castshadow", BYTE, None),
    "light_bulbradius": ("bulbradius", COLOR, None),
    "light_intensity": ("intensity", COLOR, None),
    "light_range": ("range", COLOR, None),
    "light_active": ("active", BYTE, None),
    "light_pos": ("pos", REAL, 3),
    "light_dir": ("dir", REAL, 3),
    "light_attenuation": ("attenuation", COLOR, 3),
    "light_cutoff": ("cutoff", COLOR, None),
    "light_exponent": ("exponent", COLOR, None),
    "light_ambient": ("ambient", COLOR, 3),
    "light_diffuse": ("diffuse", COLOR, 3),
    "light_specular": ("specular", COLOR, 3),
}
_TEXTURE_COLUMNS: dict[str, Column] = {
    "tex_type": ("type", INT, None),
    "tex_colorspace": ("colorspace", INT, None),
    "tex_height": ("height", INT, None),
    "tex_width": ("width", INT, None),
    "tex_nchannel": ("nchannel", INT, None),
}
_MATERIAL_COLUMNS: dict[str, Column] = {
    "mat_texid": ("texid", INT, 10),
    "mat_texuniform": ("texuniform", BYTE, None),
    "mat_texrepeat": ("texrepeat", COLOR, 2),
    "mat_emission": ("emission", COLOR, None),
    "mat_specular": ("specular", COLOR, None),
    "mat_shininess": ("shininess", COLOR, None),
    "mat_reflectance": ("reflectance", COLOR, None),
    "mat_metallic": ("metallic", COLOR, None),
    "mat_roughness": ("roughness", COLOR, None),
    "mat_rgba": ("rgba", COLOR, 4),
}
_ACTUATOR_COLUMNS: dict[str, Column] = {
    "actuator_trntype": ("trntype", INT, None),
    "actuator_dyntype": ("dyntype", INT, None),
    "actuator_gaintype": ("gaintype", INT, None),
    "actuator_biastype": ("biastype", INT, None),
    "actuator_trnid": ("trnid", INT, 2),
    "actuator_actadr": ("actadr", INT, None),
    "actuator_actnum": ("actdim", INT, None),
    "actuator_group": ("group", INT, None),
    "actuator_ctrllimited": ("ctrllimited", BYTE, None),
    "actuator_forcelimited": ("forcelimited", BYTE, None),
    "actuator_actlimited": ("actlimited", BYTE, None),
    "actuator_dynprm": ("dynprm", REAL, 10),
    "actuator_gainprm": ("gainprm", REAL, 10),
    "actuator_biasprm": ("biasprm", REAL, 10),
    "actuator_actearly": ("actearly", BYTE, None),
    "actuator_ctrlrange": ("ctrlrange", REAL, 2),
    "actuator_forcerange": ("forcerange", REAL, 2),
    "actuator_actrange": ("actrange", REAL, 2),
    "actuator_gear": ("gear", REAL, 6),
    "actuator_cranklength": ("cranklength", REAL, None),
    "actuator_lengthrange": ("lengthrange", REAL, 2),
    "actuator_plugin": ("plugin", INT, None),
}


_TABLES: dict[str, dict[str, Column]] = {
    "body": _BODY_COLUMNS,
    "joint": _JOINT_COLUMNS,
    "geom": _GEOM_COLUMNS,
    "site": _SITE_COLUMNS,
    "camera": _CAMERA_COLUMNS,
    "light": _LIGHT_COLUMNS,
    "texture": _TEXTURE_COLUMNS,
    "material": _MATERIAL_COLUMNS,
    "actuator": _ACTUATOR_COLUMNS,
    **LINK_TABLES,
}


def _union(bits: Any) -> int:
    total = 0
    for bit in bits:
        total |= bit
    return total


def _columns(items: Sequence[Any], columns: dict[str, Column]) -> dict[str, Any]:
    """One array per column, one row per item."""
    return {
        name: _column([getattr(i, get) if isinstance(get, str) else get(i) for i in items], dtype, width)
        for name, (get, dtype, width) in columns.items()
    }


def _column(values: list[Any], dtype: str, width: int | None) -> np.ndarray:
    shape = (len(values),) if width is None else (len(values), width)
    return np.array(values, dtype=dtype).reshape(shape)


def assign_addresses(joints: list[Joint]) -> tuple[int, int]:
    """Give every joint its place in qpos and qvel; returns nq and nv."""
    nq = nv = 0
    for joint in joints:
        joint.qposadr, joint.dofadr = nq, nv
        nq, nv = nq + joint.nq, nv + joint.nv
    return nq, nv


def build(context: Context) -> dict[str, Any]:
    """All arrays of the model; `context.sizes` must hold the numbers of objects already."""
    bodies: list[Body] = context.bodies
    values: dict[str, Any] = {}
    values.update(_settings(context))
    values.update(_visual(context))
    for kind, columns in _TABLES.items():
        values.update(_columns(context.objects[kind], columns))
    values.update(_user_data(context))
    values.update(_same_frames(context))
    values.update(_dofs(context))
    values.update(link_arrays(context, values["body_treeid"]))
    values.update(_reference_pose(context))
    values["body_rootid"] = _roots(bodies)
    values["body_subtreemass"] = _subtree_masses(bodies)
    values.update(bounding_volumes(bodies))
    values.update(asset_fields(context, values))
    values.update(flex_fields(context, values))
    values["dof_length"] = dof_lengths(context)
    values.update(reference_looks(context))
    values.update(_pixels(context))
    values.update(_custom(context))
    values.update(_keys(context, values))
    values.update(plugin_fields(context))
    values.update(name_fields(context))
    return values


def _visual(context: Context) -> dict[str, Any]:
    """What the file says of `vis.…`, in single precision."""
    fields: dict[str, Any] = {}
    for tag, settings in context.visual.items():
        group = "vis.global_" if tag == "global" else f"vis.{tag}"
        for name, value in settings.items():
            fields[f"{group}.{name}"] = int(value) if isinstance(value, int) else np.array(value, COLOR)
    return fields


def _settings(context: Context) -> dict[str, Any]:
    """`opt.…`, and of `stat.…` what the file says; vectors as arrays."""
    groups = {"opt": context.option, "stat": context.statistic}
    return {
        f"{group}.{name}": np.array(value) if isinstance(value, tuple) else value
        for group, settings in groups.items()
        for name, value in settings.items()
    }


def _user_data(context: Context) -> dict[str, Any]:
    lists = {"body": "body", "jnt": "joint", "geom": "geom", "site": "site"}
    lists |= {"cam": "camera", "tendon": "tendon", "actuator": "actuator", "sensor": "sensor"}
    return {
        f"{short}_user": _column(
            [item.user for item in context.objects[kind]], REAL, context.sizes[f"nuser_{short}"]
        )
        for short, kind in lists.items()
    }


def _same_frames(context: Context) -> dict[str, Any]:
    bodies = context.bodies
    return {
        f"{kind}_sameframe": _column(
            [sparsity.sameframe(item, bodies[item.bodyid]) for item in context.objects[kind]], BYTE, None
        )
        for kind in ("geom", "site")
    }


def _dofs(context: Context) -> dict[str, Any]:
    bodies = context.bodies
    owners = [joint for joint in context.joints for _ in range(joint.nv)]
    parents = sparsity.dof_parents(bodies)
    simple = sparsity.body_simple(bodies)
    simple[list(coupled_by_armature(context))] = 0
    actuated = actuated_bodies(context) | flex_bodies(context)
    runs = sparsity.simple_runs([bool(simple[joint.bodyid]) for joint in owners])
    return {
        **_columns(owners, _DOF_COLUMNS),
        "body_simple": simple.astype(BYTE),
        "dof_parentid": np.array(parents, np.int32),
        "dof_simplenum": runs,
        **sparsity.tree_fields(
            bodies, parents, [joint.bodyid for joint in owners], actuated, kept_awake(context)
        ),
        **sparsity.sparsity(bodies, parents, runs),
    }


def _reference_pose(context: Context) -> dict[str, Any]:
    """qpos0 and qpos_spring: free joints at their body's pose, ball joints unturned."""
    qpos0: list[float] = []
    spring: list[float] = []
    for joint in context.joints:
        body = context.bodies[joint.bodyid]
        if joint.type == JointType.FREE:
            pose = (*body.pos, *body.quat)
        elif joint.type == JointType.BALL:
            pose = (1.0, 0.0, 0.0, 0.0)
        else:
            pose = (joint.ref,)
        qpos0.extend(pose)
        spring.extend((joint.springref,) if len(pose) == 1 else pose)
    return {"qpos0": np.array(qpos0, REAL), "qpos_spring": np.array(spring, REAL)}


def _roots(bodies: list[Body]) -> np.ndarray:
    """The ancestor of each body that is a child of the world."""
    roots: list[int] = []
    for body in bodies:
        roots.append(body.id if body.parentid == 0 else roots[body.parentid])
    return np.array(roots, np.int32)


def _subtree_masses(bodies: list[Body]) -> np.ndarray:
    masses = np.array([body.mass for body in bodies])
    for body in reversed(bodies[1:]):
        masses[body.parentid] += masses[body.id]
    return masses


def _starts(lengths: list[int]) -> np.ndarray:
    """Where each piece begins when pieces of these lengths follow one another."""
    return (np.cumsum(lengths) - np.array(lengths, np.int64)).astype(np.int32)


def _addresses(lengths: list[int], prefix: str) -> dict[str, Any]:
    return {
        f"{prefix}_adr": _starts(lengths),
        f"{prefix}_size": np.array(lengths, np.int32),
    }


def _pixels(context: Context) -> dict[str, Any]:
    """Pixels of all textures, one after the other."""
    images = [texture.data.reshape(-1) for texture in context.objects["texture"]]
    data = np.concatenate(images) if images else np.zeros(0, np.uint8)
    return {"tex_adr": _starts([len(image) for image in images]), "tex_data": data}


def _custom(context: Context) -> dict[str, Any]:
    numerics, texts, tuples = (context.objects[kind] for kind in ("numeric", "text", "tuple"))
    encoded = [text.data.encode() + b"\0" for text in texts]
    rows = [(row, objid) for field in tuples for row, objid in zip(field.elements, field.objid, strict=True)]
    return {
        **_addresses([len(numeric.data) for numeric in numerics], "numeric"),
        "numeric_data": np.array([x for numeric in numerics for x in numeric.data], REAL),
        **_addresses([len(data) for data in encoded], "text"),
        "text_data": np.frombuffer(b"".join(encoded), np.uint8).copy(),
        **_addresses([len(field.elements) for field in tuples], "tuple"),
        "tuple_objtype": np.array([row[0] for row, _ in rows], np.int32),
        "tuple_objid": np.array([objid for _, objid in rows], np.int32),
        "tuple_objprm": np.array([row[2] for row, _ in rows], REAL),
    }


def _keys(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """Keyframes, with quaternions normalised."""
    keys: list[Key] = context.objects["key"]
    mocap = [body for body in context.bodies if body.mocap]
    rest = {
        "qpos": values["qpos0"],
        "qvel": np.zeros(context.sizes["nv"]),
        "act": np.zeros(context.sizes["na"]),
        "ctrl": np.zeros(context.sizes["nu"]),
        "mpos": np.array([x for body in mocap for x in body.pos], REAL),
        "mquat": np.array([x for body in mocap for x in body.quat], REAL),
    }
    fields: dict[str, Any] = {"key_time": np.array([key.time for key in keys], REAL)}
    for name, default in rest.items():
        rows = [default if getattr(key, name) is None else getattr(key, name) for key in keys]
        column = _column(rows, REAL, len(default))
        # NaN marks what rests: parts of the model that the key, written in another document, does not know
        fields[f"key_{name}"] = np.where(np.isnan(column), default, column)
    for joint in context.joints:
        if joint.type in (JointType.FREE, JointType.BALL):
            start = joint.qposadr + (3 if joint.type == JointType.FREE else 0)
            _normalize_rows(fields["key_qpos"][:, start : start + 4], MINVAL)
            _replace_zeros(fields["key_qpos"][:, start : start + 4])
    for index in range(len(mocap)):
        _normalize_rows(fields["key_mquat"][:, 4 * index : 4 * index + 4], math.sqrt(EPS))
    return fields


def _normalize_rows(quats: np.ndarray, least: float) -> None:
    """Make unit quaternions of all that are not shorter than `least`."""
    length = np.linalg.norm(quats, axis=1, keepdims=True)
    np.divide(quats, length, out=quats, where=length >= least)


def _replace_zeros(quats: np.ndarray) -> None:
    """What has no length is no rotation (mju_normalize4)."""
    quats[np.linalg.norm(quats, axis=1) < MINVAL] = IDENTITY


def moment_nonzeros(context: Context) -> int:
    """nJmom: room for the actuator moment matrix; what acts on anything but a joint may move every dof."""
    joints, nv = {int(TrnType.JOINT), int(TrnType.JOINTINPARENT)}, context.sizes["nv"]
    return sum(context.joints[a.trnid[0]].nv if a.trntype in joints else nv for a in context.actuators)
