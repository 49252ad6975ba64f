"""Limbs moved by muscles: a chain of bones with hinges, tendons between neighbours that wrap around the joints."""

from __future__ import annotations

import numpy as np


def limb(count: int) -> str:
    """A model with `count` muscles; every fourth wraps around a cylinder, every fourth around a sphere."""
    bones = max(2, min(12, count // 4))
    random = np.random.default_rng(count)
    spans = [
        (start := int(random.integers(0, bones)), min(bones, start + 1 + int(random.integers(0, 2))))
        for _ in range(count)
    ]
    sites: dict[int, list[str]] = {bone: [] for bone in range(bones + 1)}
    tendons, actuators = [], []
    for number, span in enumerate(spans):
        side = 1 if number % 2 else -1
        for end, bone in enumerate(span):
            x, y = side * random.uniform(0.05, 0.08), random.uniform(-0.05, 0.05)
            z = random.uniform(-0.2, -0.1)
            sites[bone].append(f'<site name="s{number}_{end}" pos="{x:.4f} {y:.4f} {z:.4f}"/>')
        over = {0: f'<geom geom="c{span[1]}"/>', 2: f'<geom geom="p{span[1]}"/>'}.get(number % 4, "")
        tendons.append(
            f'<spatial name="t{number}"><site site="s{number}_0"/>{over}<site site="s{number}_1"/></spatial>'
        )
        actuators.append(f'<muscle name="m{number}" tendon="t{number}"/>')
    return (
        '<mujoco model="limb"><compiler autolimits="true"/><default><joint range="-60 70" damping=".1" '
        'armature=".01"/><geom contype="0" conaffinity="0"/></default><worldbody><body name="b0" pos="0 0 3">'
        f'<geom size=".05"/>{"".join(sites[0])}{_bone(1, bones, sites)}</body></worldbody>'
        f"<tendon>{''.join(tendons)}</tendon><actuator>{''.join(actuators)}</actuator></mujoco>"
    )


def _bone(bone: int, bones: int, sites: dict[int, list[str]]) -> str:
    if bone > bones:
        return ""
    second = '<joint axis="1 0 0"/>' if bone % 2 else ""
    return (
        f'<body name="b{bone}" pos="0 0 -.25"><joint axis="0 1 0"/>{second}'
        '<geom type="capsule" fromto="0 0 -.03 0 0 -.22" size=".03"/>'
        f'<geom name="c{bone}" type="cylinder" size=".03 .05" euler="90 0 0"/><geom name="p{bone}" size=".04"/>'
        f"{''.join(sites[bone])}{_bone(bone + 1, bones, sites)}</body>"
    )
