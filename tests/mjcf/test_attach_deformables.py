"""`<attach>` of models with flexes and skins: they come along if all their bodies do, under their old names."""

from __future__ import annotations

import pytest
from comparing import differences
from compiling import compile_file

from dovetail.errors import MJCFError

FLEXCOMP = '<flexcomp name="f" type="grid" count="2 2 1" spacing=".1 .1 .1" radius=".01" dim="2" mass="1"{}'
PLAIN = FLEXCOMP.format("/>")
PINNED = FLEXCOMP.format('><pin id="0"/></flexcomp>')
HELD = FLEXCOMP.format('><edge equality="true"/></flexcomp>')
NODES = (
    '<flexcomp name="f" type="grid" count="3 3 3" spacing=".1 .1 .1" dim="3" dof="trilinear" radius=".01">'
    '<contact selfcollide="none"/></flexcomp>'
)
BODIES = '<body name="b"><joint/><geom size=".1"/></body><body name="b2" pos="1 0 0"><joint/><geom size=".1"/></body>'
BONE = '<bone body="{}" bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/>'
SKIN = f'<skin name="k" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2">{BONE.format("b")}{{}}</skin>'
FLEX = '<flex name="f" dim="1" body="b b2" element="0 1" radius=".01" vertex="0 0 0 1 0 0"{}/>'
MATERIAL = '<asset><material name="mt"/></asset>'


def part(tree: str, rest: str = "") -> str:
    return f"<mujoco>{rest}<worldbody>{tree}</worldbody></mujoco>"


def deformable(content: str) -> str:
    return f"<deformable>{content}</deformable>"


WHOLE = '<attach model="m" prefix="p_"/>'
GOOD = {
    "flexcomp": (part(f'<body name="r">{PLAIN}</body>'), WHOLE, ""),
    "flexcomp in the world": (part(PLAIN), WHOLE, ""),
    "flexcomp with nodes": (part(f'<body name="r">{NODES}</body>'), WHOLE, ""),
    "pinned flexcomp": (part(f'<body name="r">{PINNED}</body>'), WHOLE, ""),
    "flexcomp for a nameless body": (part(PLAIN), f"<body>{WHOLE}</body>", ""),
    "flexcomp in a body": (part(f'<body name="r">{PLAIN}</body>'), WHOLE.replace("/>", ' body="r"/>'), ""),
    "edge equality stays behind": (part(HELD), WHOLE, ""),
    "flexcomp and one of its own": (part(PLAIN), WHOLE + PLAIN.replace('"f"', '"g"'), ""),
    "skin": (part(BODIES, deformable(SKIN.format(""))), WHOLE, ""),
    "skin among assets": (part(BODIES, f"<asset>{SKIN.format('')}</asset>"), WHOLE, ""),
    "skin of the attached body": (
        part(BODIES, deformable(SKIN.format(""))),
        '<attach model="m" prefix="p_" body="b"/>',
        "",
    ),
    "skin of another body": (
        part(BODIES, deformable(SKIN.format(""))),
        '<attach model="m" prefix="p_" body="b2"/>',
        "",
    ),
    "skin of two bodies": (
        part(BODIES, deformable(SKIN.format(BONE.format("b2")))),
        '<attach model="m" prefix="p_" body="b"/>',
        "",
    ),
    "flex": (part(BODIES, deformable(FLEX.format(""))), WHOLE, ""),
    "flex of another body": (
        part(BODIES, deformable(FLEX.format(""))),
        '<attach model="m" prefix="p_" body="b"/>',
        "",
    ),
    "flex on the world": (part(BODIES, deformable(FLEX.format("").replace("b b2", "b world"))), WHOLE, ""),
    "material of the main model": (
        part(BODIES, deformable(FLEX.format(' material="mt"')) + MATERIAL),
        WHOLE,
        MATERIAL,
    ),
    "material of a flexcomp": (
        part(PLAIN.replace("/>", ' material="mt"/>'), MATERIAL),
        WHOLE,
        MATERIAL,
    ),
    "own flexcomp after attached ones": (
        part(BODIES, deformable(FLEX.format(""))),
        WHOLE + PLAIN.replace('"f"', '"g"'),
        "",
    ),
    "own deformables first": (
        part(BODIES, deformable(FLEX.format("") + SKIN.format(""))),
        WHOLE + BODIES,
        deformable((FLEX.format("") + SKIN.format("")).replace('"f"', '"h"').replace('"k"', '"l"')),
    ),
}
BAD = {
    "flex name twice": (
        part(PLAIN),
        WHOLE + '<body name="x"><attach model="m" prefix="q_"/></body>',
        "used twice",
    ),
    "skin name twice": (
        part(BODIES, deformable(SKIN.format(""))),
        WHOLE + '<body><attach model="m" prefix="q_"/></body>',
        "used twice",
    ),
    "material of the attached model": (
        part(BODIES, deformable(FLEX.format(' material="mt"')) + MATERIAL),
        WHOLE,
        "unknown material 'mt'",
    ),
    "material of an attached flexcomp": (
        part(PLAIN.replace("/>", ' material="mt"/>'), MATERIAL),
        WHOLE,
        "unknown material 'mt'",
    ),
}


def write(folder, attached: str, tree: str, rest: str = "") -> str:
    (folder / "sub.xml").write_text(attached)
    main = folder / "main.xml"
    main.write_text(
        f'<mujoco><asset><model name="m" file="sub.xml"/></asset>{rest}<worldbody>{tree}</worldbody></mujoco>'
    )
    return str(main)


@pytest.mark.parametrize("name", GOOD)
def test_as_mujoco(tmp_path, name):
    mujoco = pytest.importorskip("mujoco")
    path = write(tmp_path, *GOOD[name])
    assert differences(compile_file(path), mujoco.MjModel.from_xml_path(path)) == []


def test_flexes_come_before_flexcomps(same_as_mujoco):
    tree = BODIES + PLAIN.replace('"f"', '"g"')
    equality = '<equality><flex flex="g"/><flex flex="f"/></equality>'
    same_as_mujoco(part(tree, deformable(FLEX.format("")) + equality))


@pytest.mark.parametrize("flexcomp", [PINNED, NODES, FLEXCOMP.format(' rigid="true"/>')])
def test_what_is_fixed_to_the_attached_world_is_refused(tmp_path, flexcomp):
    """MuJoCo 3.4 drops the flex and keeps its bodies."""
    with pytest.raises(MJCFError, match=r"sub.xml:1: <flexcomp .*put the flexcomp in a body"):
        compile_file(write(tmp_path, part(f"<frame>{flexcomp}</frame>"), WHOLE))


@pytest.mark.parametrize("name", BAD)
def test_refused_as_by_mujoco(tmp_path, name):
    mujoco = pytest.importorskip("mujoco")
    attached, tree, message = BAD[name]
    path = write(tmp_path, attached, tree)
    with pytest.raises(MJCFError, match=message):
        compile_file(path)
    with pytest.raises(ValueError, match="Error"):
        mujoco.MjModel.from_xml_path(path)
