"""Spheres over a plane, with contact parameters of every kind, thrown together."""

from __future__ import annotations

from functools import cache

import numpy as np

NGEOM = 9


NWORLD = 21


def scene(seed: int = 0, *, priorities: bool = True, pairs: bool = True) -> str:
    """Spheres over a plane with parameters of every kind; some are excluded, some named by explicit pairs."""
    rng = np.random.default_rng(seed)
    bodies = [f'<geom name="g0" type="plane" size="1 1 1" {parameters(rng, priorities)}/>']
    for n in range(1, NGEOM):
        sphere = f'<geom name="g{n}" size="{rng.uniform(0.1, 0.2)}" {parameters(rng, priorities)}/>'
        bodies.append(f'<body name="b{n}"><freejoint/>{sphere}</body>')
    contact = '<exclude body1="b1" body2="b2"/>'
    if pairs:
        contact += (
            '<pair geom1="g5" geom2="g3" condim="6" friction="1.5 0.7 0.2 0.01 0.02" margin="0.2" gap="0.05" '
            'solref="0.03 0.9" solimp="0.8 0.9 0.01 0.4 3" solreffriction="0.05 1.1"/>'
            '<pair geom1="g2" geom2="g0" condim="1" margin="0.01"/><pair geom1="g1" geom2="g4"/>'
        )
    body = f"<worldbody>{''.join(bodies)}</worldbody><contact>{contact}</contact>"
    override = '<option o_margin="0.07" o_solref="0.04 0.8" o_friction="0.3 0.4 0.5 0.6 0"/>'
    return f"<mujoco>{override}{body}</mujoco>"


def parameters(rng: np.random.Generator, priorities: bool) -> str:
    friction = " ".join(map(str, rng.choice([0.0, *rng.uniform(0, 2, 3)], 3)))
    solref = "-300 -20" if rng.random() < 0.3 else f"{rng.uniform(0.01, 0.05)} {rng.uniform(0.5, 1.5)}"
    solimp = f"{rng.uniform(0.5, 0.9)} {rng.uniform(0.9, 0.99)} 0.002 0.5 {rng.choice([1, 2])}"
    return (
        f'friction="{friction}" solref="{solref}" solimp="{solimp}" condim="{rng.choice([1, 3, 4, 6])}" '
        f'margin="{rng.choice([0, 0.02, 0.1])}" gap="{rng.choice([0, 0.01])}" solmix="{rng.choice([0, 1, 2.5])}" '
        f'priority="{rng.choice([-1, 0, 1]) if priorities else 0}"'
    )


@cache
def poses(seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    xpos = rng.uniform(-0.35, 0.35, size=(NWORLD, NGEOM, 3))
    xpos[:, 0] = 0.0
    return xpos, np.tile(np.eye(3).ravel(), (NWORLD, NGEOM, 1))
