"""Small flexes of every kind that touch nothing: by how vertices move, where they are pinned, what holds them."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from dovetail.compare.states import random_state

ELASTIC = '<elasticity young="3e3" poisson=".2" thickness=".01" elastic2d="{}" damping="{}"/>'


def comp(count: str, dim: int, inside: str = "", *, name: str = "soft", more: str = "") -> str:
    """A flexcomp; `more` has further attributes."""
    kind = "" if "type=" in more else 'type="grid"'
    return (
        f'<flexcomp name="{name}" {kind} count="{count}" spacing=".1 .1 .1" dim="{dim}" radius=".01" mass="1" {more}>'
        f'<contact contype="0" conaffinity="0" selfcollide="none" internal="false"/>{inside}</flexcomp>'
    )


_UNTOUCHED = 'contype="0" conaffinity="0"'


def free(inside: str, name: str = "free") -> str:
    return f'<body name="{name}" pos="0 0 .3"><freejoint/><geom size=".02" {_UNTOUCHED}/>{inside}</body>'


def limb(inside: str) -> str:
    """Two joints above, none of them where the vertices are."""
    return (
        f'<body pos="0 0 .3"><joint axis="1 1 .2" pos=".1 0 .2"/><geom size=".02" {_UNTOUCHED}/><body name="limb">'
        f'<joint type="ball" pos="0 .1 0"/><geom size=".02" pos=".1 .1 0" {_UNTOUCHED}/>{inside}</body></body>'
    )


def mocap(inside: str) -> str:
    return f'<body name="hand" mocap="true" pos="0 0 .3" euler="10 20 30">{inside}</body>'


def _shared() -> tuple[str, str]:
    """Bodies with two vertices or none of their own dofs, one of them welded to its parent."""
    slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    geom = f'<geom size=".1" {_UNTOUCHED}/>'
    bodies = (
        f'<body name="a"><joint type="slide" axis="1 0 0"/><joint axis="0 0 1"/>{geom}</body>'
        f'<body name="b" pos="1 0 0"><freejoint/>{geom}<body name="bb" pos="0 .1 .2">{geom}</body></body>'
        f'<body name="c" pos="1 1 0">{geom}</body><body name="e" pos="0 1 0">{slides}{geom}</body>'
    )
    contact = f"<contact {_UNTOUCHED}/>"
    flexes = (
        '<flex name="sheet" dim="2" body="a a b c e bb" vertex="0 0 0 .1 0 0 0 0 0 0 0 0 0 .2 0 .1 0 0" '
        f'element="0 1 2 1 2 3 0 2 4 2 4 5">{contact}<edge damping="1"/></flex>'
        f'<flex name="line" dim="1" body="a b c" element="0 1 1 2" vertex="0 0 0 0 .1 0 0 0 0">{contact}'
        '<edge stiffness="3"/></flex>'
    )
    return bodies, f"<deformable>{flexes}</deformable>"


_SPRINGS = '<edge stiffness="30" damping=".5"/>'

FLEXES: dict[str, str] = {
    "rope": comp("6 1 1", 1, _SPRINGS),
    "rope pinned to a free body": free(comp("6 1 1", 1, _SPRINGS + '<pin id="0 5"/>')),
    "cloth without forces": comp("4 3 1", 2),
    "cloth with edges damped, on a limb": limb(comp("4 3 1", 2, '<edge damping=".3"/><pin id="0 1"/>')),
    "cloth held by its edges": comp("4 3 1", 2, '<edge equality="true" damping=".01"/><pin id="0 3"/>'),
    "cloth that bends": comp("4 3 1", 2, ELASTIC.format("bend", ".02")),
    "cloth that stretches": comp("4 3 1", 2, ELASTIC.format("stretch", "0")),
    "cloth that does both": comp("4 3 1", 2, ELASTIC.format("both", ".02")),
    "cloth that does both, on a limb": limb(comp("4 3 1", 2, ELASTIC.format("both", ".02"))),
    "cloth that bends, on a mocap body": mocap(comp("4 3 1", 2, ELASTIC.format("bend", ".02"))),
    "cloth pinned to a mocap body": mocap(
        comp("4 3 1", 2, ELASTIC.format("stretch", ".02") + '<pin id="0 3"/>')
    ),
    "cloth pinned to a limb": limb(comp("4 3 1", 2, ELASTIC.format("stretch", ".02") + '<pin id="0 3"/>')),
    "box": comp("3 3 2", 3, ELASTIC.format("none", ".02")),
    "box without damping": comp("3 3 2", 3, ELASTIC.format("none", "0")),
    "box pinned to a limb": limb(
        comp("3 3 2", 3, ELASTIC.format("none", ".02") + '<edge damping=".1"/><pin id="0 1 2"/>')
    ),
    "balloon": free(comp("4 4 4", 3, ELASTIC.format("none", ".01"), more='dof="radial" type="ellipsoid"')),
    "skin of a balloon": free(
        comp("4 4 4", 2, ELASTIC.format("stretch", ".01"), more='dof="radial" type="ellipsoid"')
    ),
    "trilinear": comp("4 4 4", 3, ELASTIC.format("none", ".05"), more='dof="trilinear"'),
    "trilinear on a limb": limb(
        comp("4 4 4", 3, ELASTIC.format("none", ".05") + '<pin id="0 1"/>', more='dof="trilinear"')
    ),
    "trilinear on a mocap body": mocap(
        comp("4 4 4", 3, ELASTIC.format("none", ".05") + '<pin id="0 7"/>', more='dof="trilinear"')
    ),
    "trilinear shell": free(
        comp("4 4 4", 2, ELASTIC.format("stretch", ".02"), more='dof="trilinear" type="ellipsoid"')
    ),
    "quadratic": comp("5 5 5", 3, ELASTIC.format("none", ".05"), more='dof="quadratic"'),
    "quadratic on a limb": limb(
        comp("5 5 5", 3, ELASTIC.format("none", ".05") + '<pin id="0 13"/>', more='dof="quadratic"')
    ),
    "rigid, beside a rope": free(
        comp("3 3 1", 2, more='rigid="true"', name="plate") + comp("3 1 1", 1, _SPRINGS)
    ),
    "bodies of others": "",
}
"""What the world contains."""

SKIPPED = limb(
    comp("4 3 1", 2, '<edge damping=".3"/>', name="first")
    + comp("3 3 1", 2, name="skipped")
    + comp("5 1 1", 1, '<edge stiffness="9"/>', name="last")
)
"""A flex whose edges have no rows between two whose edges have: 3.4.0 writes the last rows over the first."""


def scene(world: str, jacobian: str = "auto", flags: str = "", option: str = "", more: str = "") -> str:
    return (
        f'<mujoco><option timestep=".001" jacobian="{jacobian}" {option}><flag {flags}/></option>'
        f"<worldbody>{world}</worldbody>{more}</mujoco>"
    )


def text_of(name: str, jacobian: str = "auto", flags: str = "", option: str = "") -> str:
    """The model of a name."""
    world, more = (FLEXES[name], "") if FLEXES[name] else _shared()
    return scene(world, jacobian, flags, option, more)


def evaluated(text: str, seed: int) -> tuple[Any, Any]:
    """MuJoCo's model, and its data in a random state."""
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    for name, value in random_state(m, np.random.default_rng(seed)).items():
        getattr(d, name)[...] = value
    mujoco.mj_forward(m, d)
    return m, d
