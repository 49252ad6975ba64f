"""discardvisual leaves out what MuJoCo leaves out, and keeps masses."""

from __future__ import annotations

import pytest
from asset_files import CUBE, numbers
from compiling import compile_text

from dovetail.errors import MJCFError

VISUAL = 'contype="0" conaffinity="0"'
MESH = f'vertex="{numbers(0.1 * CUBE)}"'
ASSETS = (
    '<texture name="t" builtin="flat" width="4"/><texture name="missing" file="missing.png"/>'
    '<material name="k" texture="t"/><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/>'
    + "".join(f'<mesh name="{name}" {MESH}/>' for name in ("seen", "hit", "unused", "fitted"))
)
GEOMS = (
    f'<body name="b"><freejoint/><geom name="v" type="mesh" mesh="seen" {VISUAL} material="k"/><geom name="c" '
    f'type="mesh" mesh="hit" material="k"/><geom name="s" {VISUAL} size=".1" pos="1 0 0"/><geom type="box" '
    f'mesh="fitted" {VISUAL}/><geom type="box" mesh="fitted"/></body><geom name="w" size="1" {VISUAL}/>'
    f'<geom type="hfield" hfield="h" {VISUAL}/><site name="s1" pos="1 1 1"/><site name="s2"/>'
)
USERS = {
    "nobody": "",
    "sensors": '<sensor><distance geom1="s" geom2="w"/><framepos objtype="geom" objname="v"/></sensor>',
    "a pair": '<contact><pair geom1="s" geom2="w"/></contact>',
    "a tuple": '<custom><tuple name="t"><element objtype="geom" objname="s"/></tuple></custom>',
    "a tuple of a body": '<custom><tuple name="t"><element objtype="body" objname="b"/></tuple></custom>',
    "a key": '<keyframe><key qpos="0 0 0 1 0 0 0"/></keyframe>',
}


def scene(extra: str = "", worldbody: str = GEOMS) -> str:
    return (
        f'<mujoco><compiler discardvisual="true"/><asset>{ASSETS}</asset><worldbody>\n{worldbody}</worldbody>'
        f"{extra}</mujoco>"
    )


@pytest.mark.parametrize("user", USERS)
def test_named_geoms_stay(same_as_mujoco, user):
    same_as_mujoco(scene(USERS[user]), 1e-10)


def test_body_of_visual_geoms_keeps_its_mass(same_as_mujoco):
    same_as_mujoco(scene(worldbody=f'<body><freejoint/><geom {VISUAL} size="1"/></body>'), 1e-10)


def test_material_of_a_site_is_missed():
    with pytest.raises(MJCFError, match=r"<string>:2: <site material=.*removes all materials"):
        compile_text(scene(worldbody='<site material="k"/>'))
