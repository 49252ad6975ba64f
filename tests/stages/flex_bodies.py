"""Small models with flexes whose vertices sit on bodies: a sheet, a solid, a rope, pins, other dofs than slides."""

from __future__ import annotations


def scene(*inside: str, option: str = "", flag: str = "") -> str:
    return (
        f'<mujoco><option timestep=".001" {option}><flag {flag}/></option><size memory="20M"/>'
        f"<worldbody>{''.join(inside)}</worldbody></mujoco>"
    )


def grid(count: str, dim: int, inside: str, *, pos: str = "0 0 1", attributes: str = "") -> str:
    return (
        f'<flexcomp name="flex" type="grid" count="{count}" dim="{dim}" spacing=".05 .05 .05" pos="{pos}" '
        f'radius=".01" mass="1" {attributes}>{inside}</flexcomp>'
    )


FLOOR = '<geom type="plane" size="2 2 .1"/>'
ALONE = '<contact selfcollide="none"/>'
SHEET = f'{ALONE}<elasticity young="3e4" poisson=".2" thickness=".003" elastic2d="both" damping="1e-3"/>'
SOLID = f'{ALONE}<elasticity young="1e4" poisson=".2" damping="5e-4"/>'
ROPE = f'{ALONE}<edge stiffness="100" damping=".5"/>'
HELD = f'{ALONE}<edge equality="true" damping=".01"/>'

_LIMB = '<body name="limb" pos="0 0 1"><joint type="ball"/><geom size=".02"/>{}</body>'

IN_AIR = {
    "sheet": scene(grid("4 3 1", 2, SHEET + '<edge damping=".01"/>'), flag='contact="disable"'),
    "sheet_sparse": scene(grid("4 3 1", 2, SHEET), option='jacobian="sparse"', flag='contact="disable"'),
    "undamped": scene(grid("3 3 1", 2, SHEET.replace('"1e-3"', '"0"')), flag='contact="disable"'),
    "solid_pinned": scene(grid("3 2 2", 3, SOLID + '<pin id="0 5"/>'), flag='contact="disable"'),
    "on_a_limb": scene(
        _LIMB.format(grid("3 2 2", 3, SOLID + '<pin id="0 1"/><edge damping=".02"/>', pos=".1 0 0")),
        option='jacobian="sparse"',
        flag='contact="disable"',
    ),
    "rope": scene(grid("6 1 1", 1, ROPE), flag='contact="disable"'),
    "radial": scene(
        '<flexcomp name="flex" type="ellipsoid" count="3 3 3" spacing=".05 .05 .05" dof="radial" pos="0 0 1" '
        f'radius=".01" dim="3" mass="1">{SOLID}</flexcomp>',
        flag='contact="disable"',
    ),
}
"""Models without contacts."""
