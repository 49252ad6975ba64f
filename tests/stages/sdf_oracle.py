"""Pairs with a signed distance field, in MuJoCo 3.4.0 and in the rows of `collide_pair`, at the same poses."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from pair_oracle import CUBE, SIZES, TETRAHEDRON, frame, random_quat

from dovetail.contracts.pairs import PairContacts
from dovetail.plugins.collide_pair import dovetail_implementations
from dovetail.plugins.sdf_shape import dovetail_implementations as shape_records

POSES = 30
MANY = 100
EXACT = 1e-12
"""The operations are MuJoCo's, only the last digits of the frames differ."""
DIFFERENCES = 1e-6
"""Two fields whose gradients are forward differences over 1e-8: a last digit may show in the eighth of a direction,
and descent carries it on."""

PARTS = {"sdf_shape": {record.key: record.load() for record in shape_records()}}
ROWS = {record.key: record.load() for record in dovetail_implementations()}


def model(first: str, second: str, extension: str = "", option: str = "") -> Any:
    """Two geoms that always meet the narrow phase; geom and mesh numbers agree (see `mesh_field`)."""
    shape = '<mesh name="shape"><plugin instance="i"/></mesh>' if extension else ""
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco>{option}{extension}<asset><mesh name="cube" vertex="{CUBE}"/>
        <mesh name="tetrahedron" vertex="{TETRAHEDRON}"/>{shape}</asset>
        <worldbody><body><freejoint/>{first}</body><body><freejoint/>{second}</body>
        <body pos="9 9 9"><geom type="sdf" mesh="cube" mass="1" contype="0" conaffinity="0"/></body></worldbody>
        <contact><pair geom1="first" geom2="second"/></contact></mujoco>"""
    )


def geom(name: str, kind: str, mesh: str = "cube", plugin: str = "") -> str:
    shape = f'mesh="{mesh}"' if kind in ("mesh", "sdf") else f'size="{SIZES[kind]}"'
    return f'<geom name="{name}" type="{kind}" {shape} mass="1">{plugin}</geom>'


def place(data: Any, rng: np.random.Generator, reach: float) -> None:
    """Both geoms anywhere near the origin."""
    for number in range(2):
        data.geom_xpos[number] = rng.uniform(-reach, reach, 3)
        mujoco.mju_quat2Mat(data.geom_xmat[number], random_quat(rng))


def compare(mj_model: Any, key: str, reach: float, tolerance: float, poses: int = POSES) -> int:
    """Check all contacts at many poses; returns how many there were."""
    data = mujoco.MjData(mj_model)
    rng = np.random.default_rng(list(key.encode()))
    total = 0
    for _ in range(poses):
        place(data, rng, reach)
        mujoco.mj_collision(mj_model, data)
        theirs = data.contact
        ours: PairContacts = ROWS[key](mj_model, data, 0, 1, 0.0, PARTS)
        assert len(ours.dist) == len(theirs.dist)
        total += len(ours.dist)
        if not len(ours.dist):
            continue
        frames = np.array([frame(n, t) for n, t in zip(ours.normal, ours.tangent, strict=True)]).reshape(
            -1, 9
        )
        np.testing.assert_allclose(ours.dist, theirs.dist, rtol=0, atol=tolerance)
        np.testing.assert_allclose(ours.pos, theirs.pos, rtol=0, atol=tolerance)
        np.testing.assert_allclose(frames[:, :3], theirs.frame[:, :3], rtol=0, atol=tolerance)
    return total


def plugin(shape: str) -> str:
    return f'<extension><plugin plugin="mujoco.sdf.{shape}"><instance name="i"/></plugin></extension>'


INSTANCE = '<plugin instance="i"/>'
