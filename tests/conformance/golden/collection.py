"""The models of the conformance suite: small ones that together use every stage, row and implementation.

`entries()` builds them (it needs the other tests' pieces, not MuJoCo); the reference files hold the texts, so that
later changes of the pieces do not matter. `RULES` are choices under which an implementation that is not MuJoCo's
must nevertheless give MuJoCo's numbers, and the model on which it does.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import attrs
import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent), str(HERE.parents[1] / "stages")]


@attrs.frozen
class Entry:
    """A model, the files it names, and how many steps bring it to the state that is recorded."""

    text: str
    assets: Mapping[str, bytes] = attrs.field(factory=dict)
    warmup: int = 3
    steps: int = 5
    """How many more are compared."""


RULES: dict[str, dict[str, str]] = {
    "all pairs": {"model": "workshop", "broadphase": "all_pairs"},
    "triangles, no mesh near": {"model": "resting", "narrowphase": "triangle"},
    "equal friction": {"model": "equal", "combine_friction": "geometric_mean"},
    "equal priority": {"model": "equal", "resolve_priority": "ignore"},
    "equal solver parameters": {"model": "equal", "mix_solver": "min_max"},
    "one margin of two": {"model": "equal", "combine_margin": "sum"},
    "no gap": {"model": "equal", "contact_range": "outer_gap"},
    "sequential, without friction": {"model": "resting", "solve_constraints": "sequential"},
    "open cylinders that are solid": {"model": "chain", "geom_inertia:cylinder": "open_shell"},
    "similar ellipsoids that are solid": {"model": "chain", "geom_inertia:ellipsoid": "similar_shell"},
    "uniform ellipsoids that are solid": {"model": "chain", "geom_inertia:ellipsoid": "uniform_shell"},
    "boxes of tubes that are solid": {"model": "loose", "geom_inertia:box": "tubes"},
    "signed volume, exact": {"model": "meshes", "mesh_inertia:exact": "signed_volume"},
    "signed volume, legacy": {"model": "meshes", "mesh_inertia:legacy": "signed_volume"},
    "signed volume, convex": {"model": "meshes", "mesh_inertia:convex": "signed_volume"},
}
"""Choices by slot, and the model on which they change nothing."""

GEOMS = {
    "sphere": 'type="sphere" size=".1"',
    "capsule": 'type="capsule" size=".07 .08"',
    "ellipsoid": 'type="ellipsoid" size=".1 .12 .09"',
    "cylinder": 'type="cylinder" size=".1 .08"',
    "box": 'type="box" size=".1 .09 .08"',
    "mesh": 'type="mesh" mesh="cube"',
    "sdf": 'type="sdf" mesh="cube" mass="1"',
}
FIXED = {"plane": 'type="plane" size=".3 .3 .1"', "hfield": 'type="hfield" hfield="hills"', **GEOMS}
ORDER = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
CUBE = " ".join(f"{x} {y} {z}" for x, y, z in product((-0.1, 0.1), (-0.09, 0.09), (-0.08, 0.08)))
HILLS = " ".join(f"{(3 * i * i + 5 * j) % 7 / 7:.3f}" for i, j in product(range(4), repeat=2))
PAIR_ASSETS = (
    f'<asset><mesh name="cube" vertex="{CUBE}"/>'
    f'<hfield name="hills" nrow="4" ncol="4" size=".3 .3 .05 .1" elevation="{HILLS}"/></asset>'
)


def pairs(with_sdf: bool) -> str:
    """Every pair of types of geoms, each pressed together by a slide of its own, far from the others."""
    keys = [
        (first, second)
        for i, first in enumerate(ORDER)
        for second in ORDER[max(i, 2) :]
        if ("sdf" in (first, second)) == with_sdf and (first, second) not in BY_NUMBER
    ]
    bodies, allowed = [], []
    for n, (first, second) in enumerate(keys):
        height = {"plane": 0.07, "hfield": 0.09}.get(first, 0.15)
        place = f"{n % 6} {n // 6}"
        bodies.append(
            f'<geom name="a{n}" {FIXED[first]} pos="{place} 0"/><body pos="{place} {height}" euler="8 {5 + n} 3">'
            f'<joint type="slide" axis=".1 .05 1"/><geom name="b{n}" {GEOMS[second]}/></body>'
        )
        allowed.append(f'<pair geom1="a{n}" geom2="b{n}" condim="1"/>')
    default = '<default><geom contype="0" conaffinity="0"/></default>'
    option = '<option sdf_initpoints="2" sdf_iterations="3"/>'
    return (
        f'<mujoco model="pairs">{option}{default}{PAIR_ASSETS}<worldbody>{"".join(bodies)}</worldbody>'
        f"<contact>{''.join(allowed)}</contact></mujoco>"
    )


BY_NUMBER = (("mesh", "sdf"), ("sdf", "sdf"))
"""MuJoCo 3.4 takes the number of the first geom for that of its mesh, so these stand in models of their own."""


def two_meshes(first: str) -> str:
    """A mesh, or its field, and a field pressed together; geoms and their meshes have the same numbers."""
    wedge = "-.1 -.1 -.1 .12 -.1 -.1 0 .12 -.1 0 0 .13"
    return (
        '<mujoco model="fields"><option sdf_initpoints="4" sdf_iterations="5"/>'
        f'<asset><mesh name="cube" vertex="{CUBE}"/>'
        f'<mesh name="wedge" vertex="{wedge}"/></asset><worldbody><geom type="{first}" mesh="cube" mass="1"/>'
        '<body pos=".01 .02 .12" euler="8 5 3"><joint type="slide" axis=".1 .05 1"/>'
        '<geom type="sdf" mesh="wedge" mass="1"/></body>'
        '<body pos="9 9 9"><geom type="sdf" mesh="cube" mass="1" contype="0" conaffinity="0"/></body>'
        "</worldbody></mujoco>"
    )


def sdf_shapes() -> str:
    """One geom of each shape that MuJoCo's plugins give, on a ball."""
    kinds = ("bolt", "bowl", "gear", "nut", "torus")
    extension = "".join(f'<plugin plugin="mujoco.sdf.{k}"><instance name="{k}"/></plugin>' for k in kinds)
    meshes = "".join(f'<mesh name="{k}"><plugin instance="{k}"/></mesh>' for k in kinds)
    bodies = "".join(
        f'<geom size=".5" pos="{4 * n} 0 -.4"/><body pos="{4 * n} 0 .1"><joint type="slide" axis="0 .1 1"/>'
        f'<geom type="sdf" mesh="{k}" mass="1"><plugin instance="{k}"/></geom></body>'
        for n, k in enumerate(kinds)
    )
    return (
        '<mujoco model="shapes"><option sdf_initpoints="2" sdf_iterations="3"/>'
        f"<extension>{extension}</extension><asset>{meshes}</asset><worldbody>{bodies}</worldbody></mujoco>"
    )


EQUAL = """<mujoco model="equal"><option timestep=".002" {option}><flag energy="enable" {flags}/></option>
<default><geom friction=".5 .01 .001" solref=".02 1" solimp=".9 .95 .001 .5 2"/></default><worldbody>
<geom type="plane" size="2 2 .1"/>
<body pos="0 0 .099"><freejoint/><geom type="box" size=".1 .1 .1" margin=".01"/></body>
<body pos=".4 0 .098"><joint type="slide" axis="0 0 1" range="-.1 .2" limited="true" damping=".4"/>
<joint axis="1 .2 0" damping=".1" frictionloss=".05"/><geom size=".1"/></body></worldbody>
<actuator><motor joint="{joint}"/></actuator></mujoco>"""
ARMED = EQUAL.replace('<joint axis="1 .2 0"', '<joint name="turn" axis="1 .2 0"').replace("{joint}", "turn")

SOLVING = {
    "newton pyramidal": "",
    "newton elliptic": 'cone="elliptic" impratio="3"',
    "cg pyramidal": 'solver="CG"',
    "cg elliptic": 'solver="CG" cone="elliptic"',
    "pgs pyramidal": 'solver="PGS"',
    "pgs elliptic": 'solver="PGS" cone="elliptic"',
    "rk4": 'integrator="RK4"',
    "implicit": 'integrator="implicit"',
    "implicitfast": 'integrator="implicitfast"',
    "noslip": 'noslip_iterations="5" cone="elliptic"',
}

ACTUATORS = """
<general joint="a" dyntype="integrator" gainprm="3"/><general joint="a" dyntype="filter" dynprm=".1" gaintype="affine"
 gainprm="1 2 3" biastype="affine" biasprm=".1 -2 -.3"/><general joint="b" dyntype="filterexact" dynprm=".1"/>
<muscle joint="a" lengthrange="-.5 1.5"/><general joint="b" dyntype="user" actdim="1"/>
<general joint="b" gaintype="user"/><general joint="c" biastype="user"/><motor site="s" gear="0 0 1 .1 0 0"/>
<motor site="s" refsite="w" gear="1 0 0 0 0 1"/><motor tendon="t"/><position tendon="f" kp="3"/>
<plugin plugin="mujoco.pid" joint="a" actdim="2"><config key="kp" value="10"/><config key="ki" value="4"/>
<config key="kd" value="1"/><config key="slewmax" value="5"/></plugin>
"""

INERTIAS = """<mujoco model="inertias"><asset><mesh name="cube" vertex="{cube}"/></asset>
<worldbody>{bodies}</worldbody></mujoco>"""

SLEEPING = """<mujoco model="sleeping"><option timestep=".005" sleep_tolerance="10"><flag sleep="enable"/></option>
<worldbody><geom type="plane" size="3 3 .1"/>
<body pos="0 0 .0999" sleep="init"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos="1 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos="2 0 .5" sleep="never"><joint axis="0 1 0"/><geom size=".05" pos=".2 0 0"/></body></worldbody></mujoco>"""

MEASURED = """<mujoco model="measured"><option timestep=".002"/><worldbody>
<geom type="plane" size="2 2 .1"/><site name="peg" pos="0 .3 .8"/>
<body pos="0 0 .5"><joint name="swing" axis="0 1 0" stiffness="2"/>
<geom type="capsule" size=".05" fromto="0 0 0 .3 0 0"/>
<site name="hook" pos=".3 0 0"/><geom name="drum" type="cylinder" size=".06 .1" pos=".15 .1 0" contype="0"
 conaffinity="0"/></body></worldbody>
<tendon><spatial name="rope" stiffness="3" damping=".2" springlength=".3" width=".01"><site site="peg"/>
<geom geom="drum"/><site site="hook"/></spatial></tendon>
<actuator><muscle tendon="rope"/></actuator></mujoco>"""


FELT = """<mujoco model="felt"><extension><plugin plugin="mujoco.sensor.touch_grid"/></extension>
<asset><mesh name="plate" builtin="plate" params="4 5" scale=".15 .15 .15"/></asset><worldbody>
<geom type="plane" size="5 5 .1" pos="0 0 -.04"/>
<body><freejoint/><geom name="pad" type="box" size=".2 .2 .05"/><site name="skin" pos="0 0 .05"/></body>
<body pos="0 0 .14"><freejoint/><geom size=".1"/></body></worldbody>
<sensor><tactile mesh="plate" geom="pad"/><plugin plugin="mujoco.sensor.touch_grid" objtype="site" objname="skin">
<config key="size" value="3 3"/><config key="fov" value="90 60"/><config key="nchannel" value="3"/></plugin></sensor>
</mujoco>"""


def inertias() -> str:
    """A body of each type of geom, some of them hollow, and a plane that has no mass."""
    kinds = [*GEOMS.values()][:5]
    hollow = [f'{kind} shellinertia="true"' for kind in kinds]
    bodies = "".join(
        f'<body pos="{n} 0 1"><joint axis="0 1 1"/><geom {kind}/></body>'
        for n, kind in enumerate([*kinds, *hollow])
    )
    plane = '<body pos="0 0 -5"><geom type="plane" size="1 1 .1" mass="1"/></body>'
    return INERTIAS.format(cube=CUBE, bodies=bodies + plane)


def stl(points: np.ndarray, faces: list[tuple[int, ...]]) -> bytes:
    """A binary STL file."""
    rows = [struct.pack("<12fH", 0, 0, 0, *points[list(face)].ravel(), 0) for face in faces]
    return b"\0" * 80 + struct.pack("<I", len(faces)) + b"".join(rows)


def msh(points: np.ndarray, faces: list[tuple[int, ...]]) -> bytes:
    """A mesh in MuJoCo's own binary format."""
    vertices = np.asarray(points, "<f4").tobytes()
    return struct.pack("<4i", len(points), 0, 0, len(faces)) + vertices + np.asarray(faces, "<i4").tobytes()


def meshes() -> Entry:
    """Convex mesh files of every format, in every mode of inertia."""
    from flex_models import files

    text = files()["stone.obj"].decode()
    lines = [line.split() for line in text.splitlines()]
    points = np.array([[float(x) for x in line[1:4]] for line in lines if line and line[0] == "v"])
    faces = [tuple(int(x.split("/")[0]) - 1 for x in line[1:4]) for line in lines if line and line[0] == "f"]
    assets = {"stone.obj": text.encode(), "stone.stl": stl(points, faces), "stone.msh": msh(points, faces)}
    modes = ("exact", "legacy", "convex", "shell")
    named = [
        (f"{suffix}_{mode}", f"stone.{suffix}", mode) for suffix in ("obj", "stl", "msh") for mode in modes
    ][::1]
    asset = "".join(f'<mesh name="{n}" file="{f}" inertia="{m}"/>' for n, f, m in named)
    bodies = "".join(
        f'<body pos="{i} 0 1"><joint axis="0 1 1"/><geom type="mesh" mesh="{n}"/></body>'
        for i, (n, _, _) in enumerate(named)
    )
    return Entry(
        f'<mujoco model="meshes"><asset>{asset}</asset><worldbody>{bodies}</worldbody></mujoco>', assets
    )


CORNERS = {
    1: "-.12 0 0 .12 .02 0",
    2: "-.12 -.08 0 .12 -.07 .01 0 .12 0",
    3: "-.12 -.08 0 .12 -.07 .01 0 .12 0 0 .01 .1",
}
"""Of one segment, triangle or tetrahedron."""


def element(name: str, dim: int) -> str:
    """A single rigid element."""
    return (
        f'<flexcomp name="{name}" type="direct" dim="{dim}" rigid="true" radius=".01" mass="1" '
        f'point="{CORNERS[dim]}" '
        f'element="{" ".join(map(str, range(dim + 1)))}"><contact condim="1" selfcollide="none"/></flexcomp>'
    )


MASS = '<inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>'


def flex_pairs() -> str:
    """An element of each dimension on a geom of each type, and on an element of each dimension."""
    bodies = []
    for n, (kind, dim) in enumerate(product((*ORDER, *CORNERS), CORNERS)):
        place = f"{n % 6} {n // 6}"
        if isinstance(kind, int):
            if kind < dim:
                continue
            still = (
                f'<body name="s{n}" pos="{place} 0" euler="0 0 70"><joint type="slide"/>{MASS}'
                f"{element(f's{n}', kind)}</body>"
            )
            height = 0.015 + 0.05 * (kind == 3)
        else:
            still = f'<geom {FIXED[kind]} pos="{place} 0" condim="1"/>'
            height = {"plane": 0.005, "hfield": 0.04, "capsule": 0.14}.get(kind, 0.085)
        bodies.append(
            f'{still}<body name="b{n}" pos="{place} {height}" euler="3 4 {n}"><joint type="slide" axis=".1 .05 1"/>'
            f"{MASS}{element(f'f{n}', dim)}</body>"
        )
    return (
        f'<mujoco model="elements"><option sdf_initpoints="2" sdf_iterations="3"/>{PAIR_ASSETS}'
        f"<worldbody>{''.join(bodies)}</worldbody></mujoco>"
    )


FLEXES = {
    "passive rope on a rope": 8,
    "internal and self dim 1": 8,
    "internal and self dim 2": 46,
    "internal and self dim 3": 8,
    "circle springs": 8,
    "box wires": 8,
    "square both": 8,
    "ellipsoid radial": 8,
    "disc both": 8,
    "cylinder shell": 8,
    "interpolated second": 8,
    "gmsh line": 8,
    "mesh shell": 8,
}
"""Of the catalogue of deformables, those that between them build in every way, and the step that is recorded."""


def entries() -> dict[str, Entry]:
    """All models by name."""
    import driven_arm
    import scenes
    from flex_models import CATALOGUE, FOLDER, files

    from dovetail.testing.samples import FURTHER, LIGHT, SAMPLES

    cable = (
        '<mujoco model="cable"><extension><plugin plugin="mujoco.elasticity.cable"/></extension><worldbody>'
        '<composite type="cable" curve="cos(s) sin(s) s" count="5 1 1" size="1 .3 2" offset="0 0 1" initial="ball">'
        '<plugin plugin="mujoco.elasticity.cable"><config key="twist" value="4e5"/><config key="bend" value="7e6"/>'
        '</plugin><joint kind="main" damping=".01"/><geom type="capsule" size=".02"/></composite>'
        "</worldbody></mujoco>"
    )
    plain = {**SAMPLES, **FURTHER, **LIGHT, "workshop": scenes.WORKSHOP.format(option="")}
    found = {name: Entry(text) for name, text in plain.items() if name != "slippery"}
    found["touching"] = Entry(plain["touching"], warmup=0)
    found |= {
        "equal": Entry(ARMED.format(option="", flags='fwdinv="enable"')),
        **{name: Entry(ARMED.format(option=option, flags="")) for name, option in SOLVING.items()},
        "pairs": Entry(pairs(False), warmup=0),
        "sdf pairs": Entry(pairs(True), warmup=0, steps=1),
        "mesh and field": Entry(two_meshes("mesh"), warmup=0),
        "two fields": Entry(two_meshes("sdf"), warmup=0),
        "sdf shapes": Entry(sdf_shapes(), warmup=0),
        "actuators": Entry(driven_arm.arm(ACTUATORS)),
        "inertias": Entry(inertias()),
        "meshes": meshes(),
        "sleeping": Entry(SLEEPING, warmup=0, steps=30),
        "measured": Entry(MEASURED),
        "cable": Entry(cable),
        "elements": Entry(flex_pairs(), warmup=0),
        "felt": Entry(FELT),
    }
    for name, steps in FLEXES.items():
        text, named = CATALOGUE[name].xml, {}
        if FOLDER in text:
            named = {f: content for f, content in files().items() if f in text}
            text = text.replace(f'<compiler meshdir="{FOLDER}"/>', "")
        found[f"flex {name}"] = Entry(text, named, warmup=steps)
    return found
