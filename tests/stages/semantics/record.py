"""Writes mujoco4.json: what an installed mujoco 4 says of a few models, for tests that run without it.

python tests/stages/semantics/record.py        in an environment with mujoco==4.0.0; needs no dovetail
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("mujoco4.json")
VERSION = "4.0.0"

SPHERES = """<mujoco><option {option}><flag {flags}/></option><worldbody>
<geom name="a" size=".1" margin="{m1}" gap="{g1}"/>
<body pos="0 0 {height}"><freejoint/><geom name="b" size=".1" margin="{m2}" gap="{g2}"/></body></worldbody>
<contact>{pair}</contact></mujoco>"""
PAIR = '<pair geom1="a" geom2="b" margin=".005" gap=".002"/>'
PLAIN = {"option": "", "flags": "", "m1": 0.002, "g1": 0.001, "m2": 0.003, "g2": 0.002, "pair": ""}
OVERRIDE = {**PLAIN, "option": 'o_margin=".02"', "flags": 'override="enable"', "m1": 0, "m2": 0}
BOX_ON_MESH = """<mujoco><asset><mesh name="slab" vertex="-.3 -.3 -.1 .3 -.3 -.1 -.3 .3 -.1 .3 .3 -.1 -.3 -.3 0
.3 -.3 0 -.3 .3 0 .3 .3 0"/></asset><worldbody><geom type="mesh" mesh="slab"/>
<body pos="0 0 .029"><joint type="slide" axis="0 0 1"/><geom type="mesh" mesh="slab"/></body></worldbody></mujoco>"""


def texts() -> dict[str, str]:
    """Models by name."""
    found = {}
    for millimetres in (-1, 0.5, 3.5, 4.5, 5.5, 6.5, 8.5):
        height = round(0.2 + millimetres / 1000, 6)
        found[f"margins and gaps at {millimetres} mm"] = SPHERES.format(**PLAIN, height=height)
        found[f"a pair's own at {millimetres} mm"] = SPHERES.format(**{**PLAIN, "pair": PAIR}, height=height)
    for millimetres in (19.8, 20.2, 20.6, 23.5):
        height = round(0.2 + millimetres / 1000, 6)
        found[f"override at {millimetres} mm"] = SPHERES.format(**OVERRIDE, height=height)
    found["mesh on mesh"] = BOX_ON_MESH
    found["nothing said"] = "<mujoco/>"
    found["sleep tolerance said"] = '<mujoco><option sleep_tolerance=".5"/></mujoco>'
    return found


def said(text: str) -> dict[str, Any]:
    """Options, contacts and acceleration, by an installed mujoco."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return {
        "sleep_tolerance": model.opt.sleep_tolerance,
        "ncon": data.ncon,
        "nefc": data.nefc,
        "includemargin": data.contact.includemargin.tolist(),
        "exclude": data.contact.exclude.tolist(),
        "dist": data.contact.dist.tolist(),
        "qacc": data.qacc.tolist(),
    }


def main() -> None:
    import mujoco

    if mujoco.__version__ != VERSION:
        raise SystemExit(f"needs mujoco {VERSION}, not {mujoco.__version__}: pip install mujoco=={VERSION}")
    found = {name: {"text": text, **said(text)} for name, text in texts().items()}
    FILE.write_text(json.dumps({"mujoco": VERSION, "models": found}, indent=1) + "\n")
    print(f"{FILE.name}: {len(found)} models")


if __name__ == "__main__":
    main()
