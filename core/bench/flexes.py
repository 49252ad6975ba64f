"""Deformable objects to measure on: a rope, cloths and soft solids, small for batches and large for one world."""

from __future__ import annotations

from collections.abc import Mapping

_CLOTH = (
    '<flexcomp name="cloth" type="grid" dim="2" count="{n} {n} 1" spacing="{spacing} {spacing} {spacing}" '
    'pos="0 0 {height}" radius="{radius}" mass="{mass}">{inside}</flexcomp>'
)
_ELASTIC = (
    '<elasticity young="3e4" poisson=".2" thickness=".003" elastic2d="both" damping="1e-4"/>'
    '<contact selfcollide="none"/>'
)
_SOLID = (
    '<flexcomp name="solid" type="grid" dim="3" count="{n} {n} {n}" spacing="{spacing} {spacing} {spacing}" '
    'pos="0 0 {height}" radius="{radius}" mass="{mass}"{dof}>'
    '<elasticity young="1e4" poisson=".2" damping="{damping}"/><contact selfcollide="none"/></flexcomp>'
)
_FLOOR = '<geom type="plane" size="9 9 1"/>'
_TILTED = '<geom type="plane" size="9 9 1" euler="0 4 0"/>'


def _model(options: str, *inside: str) -> str:
    return (
        f'<mujoco><option {options}/><size memory="256M"/><worldbody>{"".join(inside)}</worldbody></mujoco>'
    )


def _cloth(n: int, spacing: float, height: float, mass: float, inside: str) -> str:
    return _CLOTH.format(n=n, spacing=spacing, height=height, radius=0.005, mass=mass, inside=inside)


def _solid(n: int, spacing: float, height: float, mass: float, damping: float, dof: str = "") -> str:
    return _SOLID.format(
        n=n, spacing=spacing, height=height, radius=0.005, mass=mass, damping=damping, dof=dof
    )


_HELD = '<edge equality="true" damping=".001"/><contact selfcollide="none"/><pin id="0 29"/>'
_BOX = '<geom type="box" size=".2 .2 .1" pos="0 0 .0"/>'

LARGE: Mapping[str, str] = {
    "flex/cloth_free": _model('timestep=".001"', _cloth(30, 0.03, 1.0, 2.0, _ELASTIC)),
    "flex/cloth_on_plane": _model(
        'timestep=".001" solver="CG"', _TILTED, _cloth(30, 0.03, 0.005, 2.0, _ELASTIC)
    ),
    "flex/cloth_held": _model('solver="CG" tolerance="1e-6"', _cloth(30, 0.03, 1.0, 2.0, _HELD)),
    "flex/solid_free": _model('timestep=".0005"', _solid(10, 0.03, 1.0, 5.0, 5e-4)),
    "flex/solid_on_plane": _model('timestep=".0005" solver="CG"', _FLOOR, _solid(10, 0.03, 0.139, 5.0, 5e-4)),
    "flex/solid_trilinear": _model(
        'timestep=".0005" solver="CG"', _FLOOR, _solid(10, 0.03, 0.139, 5.0, 5e-4, ' dof="trilinear"')
    ),
    "flex/solid_on_box": _model('timestep=".0005" solver="CG"', _BOX, _solid(10, 0.03, 0.239, 5.0, 5e-4)),
}
"""One world at a time: some thousand degrees of freedom."""

SMALL: Mapping[str, str] = {
    "flex/cloth_9": _model('timestep=".001"', _FLOOR, _cloth(9, 0.05, 0.006, 1.0, _ELASTIC)),
    "flex/solid_4": _model('timestep=".001"', _FLOOR, _solid(4, 0.05, 0.079, 1.0, 5e-4)),
    "flex/rope_100": _model(
        'timestep=".001"',
        _FLOOR,
        '<flexcomp name="rope" type="grid" dim="1" count="100 1 1" spacing=".03 .03 .03" pos="0 0 .006" '
        'radius=".005" mass="1"><edge stiffness="500" damping=".02"/><contact selfcollide="none"/></flexcomp>',
    ),
}
"""For batches."""

FLEXES: Mapping[str, str] = {**LARGE, **SMALL}
"""MJCF by the name under which `dovetail bench` knows it."""
