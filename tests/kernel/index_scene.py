"""Models with something in almost every integer field, and a child that gives fields values that point nowhere.

`python index_scene.py numpy 0 4` edits every fourth field from the first on, in a process of its own: a crash is then
seen as one. It prints what was neither refused by a ValidationError nor gave a result.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import dovetail
from dovetail.contracts.index_rules import Free
from dovetail.contracts.indices import RULES
from dovetail.errors import DovetailError

# ruff: noqa: E501
RICH = """
<mujoco model="rich">
  <compiler autolimits="true"/>
  <option timestep="0.005" integrator="implicitfast" noslip_iterations="2"><flag energy="enable" multiccd="enable"/></option>
  <extension><plugin plugin="mujoco.pid"><instance name="pid"><config key="kp" value="1"/></instance></plugin></extension>
  <custom>
    <numeric name="n" data="1 2"/><text name="t" data="hello"/>
    <tuple name="tu"><element objtype="body" objname="torso" prm="1"/><element objtype="geom" objname="ball"/></tuple>
  </custom>
  <asset>
    <texture name="tex" type="2d" builtin="checker" width="4" height="4"/>
    <material name="mat" texture="tex"/>
    <mesh name="tetra" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .2 .2 .2 .2"/>
    <hfield name="hf" nrow="3" ncol="3" size="1 1 .1 .1" elevation="0 0 0 0 1 0 0 0 0"/>
  </asset>
  <worldbody>
    <light name="l" pos="0 0 3" mode="targetbody" target="torso"/>
    <camera name="c" pos="0 -2 1" mode="targetbody" target="torso"/>
    <geom name="floor" type="plane" size="3 3 .1" material="mat"/>
    <geom name="hill" type="hfield" hfield="hf" pos="2 2 0"/>
    <body name="mo" mocap="true" pos="0 1 1"><geom size=".05" contype="0" conaffinity="0"/></body>
    <body name="torso" pos="0 0 .3">
      <freejoint name="root"/>
      <geom name="ball" size=".1"/>
      <geom name="solid" type="mesh" mesh="tetra" pos=".3 0 -.2"/>
      <site name="s0" size=".05"/><site name="s1" pos=".2 0 .1" size=".02"/>
      <body name="leg" pos="0 .2 0">
        <joint name="hinge" axis="0 1 0" range="-30 30" damping=".1" stiffness="1" frictionloss=".01"/>
        <geom name="bone" type="capsule" fromto="0 0 0 0 .3 0" size=".03"/>
        <site name="s2" pos="0 .2 0"/>
        <body name="foot" pos="0 .3 0">
          <joint name="ankle" type="ball"/><geom name="sole" type="box" size=".05 .05 .02"/><site name="s3"/>
        </body>
      </body>
    </body>
    <body name="cart" pos="2 2 .5"><joint name="slide" type="slide" axis="0 0 1"/><geom name="egg" type="ellipsoid" size=".1 .1 .15"/><site name="s4"/></body>
    <body name="drop" pos="2.1 2 .9"><freejoint/><geom name="can" type="cylinder" size=".1 .1"/></body>
  </worldbody>
  <contact><pair name="p" geom1="ball" geom2="floor" condim="4"/><exclude name="e" body1="torso" body2="foot"/></contact>
  <equality>
    <connect name="ec" body1="foot" body2="cart" anchor="0 0 0" active="false"/>
    <weld name="ew" body1="mo" body2="drop" active="false"/>
    <weld name="es" site1="s3" site2="s4" active="false"/>
    <joint name="ej" joint1="hinge" joint2="slide" polycoef="0 .1 0 0 0"/>
    <tendon name="et" tendon1="fixed" active="false"/>
  </equality>
  <tendon>
    <spatial name="rope" range="0 .3"><site site="s1"/><geom geom="ball" sidesite="s0"/><site site="s2"/><pulley divisor="2"/><site site="s2"/><site site="s3"/></spatial>
    <fixed name="fixed" stiffness="1"><joint joint="hinge" coef="1"/><joint joint="slide" coef="2"/></fixed>
  </tendon>
  <actuator>
    <motor name="m0" joint="hinge"/>
    <general name="m1" joint="ankle" gear="0 1 0 0 0 0"/>
    <position name="m2" tendon="rope"/>
    <general name="m3" site="s3" refsite="s4" gear="1 0 0 0 0 0"/>
    <general name="m4" joint="slide" dyntype="filter" dynprm=".1"/>
    <general name="m5" cranksite="s2" slidersite="s4" cranklength="3"/>
    <adhesion name="m6" body="foot" ctrlrange="0 1" gain="1"/>
    <plugin name="m7" joint="slide" plugin="mujoco.pid" instance="pid"/>
  </actuator>
  <sensor>
    <accelerometer site="s3"/><touch site="s0"/><jointpos joint="hinge"/><ballquat joint="ankle"/><tendonpos tendon="rope"/>
    <actuatorfrc actuator="m0"/><framepos objtype="geom" objname="sole" reftype="site" refname="s4"/><framequat objtype="body" objname="leg"/>
    <rangefinder site="s4"/><subtreecom body="torso"/><distance geom1="ball" geom2="can" cutoff="5"/><fromto body1="foot" body2="drop" cutoff="5"/>
    <jointlimitpos joint="hinge"/><tendonlimitpos tendon="rope"/><camprojection site="s0" camera="c"/><clock/><e_kinetic/>
    <insidesite site="s0" objtype="body" objname="leg"/><contact geom1="ball" num="2" data="found force dist"/><user dim="2"/>
    <magnetometer site="s0"/><jointactuatorfrc joint="hinge"/>
  </sensor>
  <keyframe><key name="k0" time="1"/></keyframe>
</mujoco>
"""

DEFORMABLE = """
<mujoco model="deformable">
  <asset><mesh name="tetra" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .2"/></asset>
  <worldbody>
    <body name="a"><joint/><geom type="mesh" mesh="tetra"/></body>
    <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" radius=".01" mass=".1"><edge equality="true"/></flexcomp>
  </worldbody>
  <deformable>
    <skin name="s" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"><bone body="a" bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/></skin>
  </deformable>
</mujoco>
"""

FAR = (10**8, -(10**8), -2, 2**31 - 1)


def fields(model: dovetail.Model) -> list[str]:
    """Integer fields that have entries."""
    return [name for name in RULES if np.asarray(model.field(name)).size]


def beyond(model: dovetail.Model, name: str) -> int | None:
    """The first value above what a field may have."""
    rule = RULES[name]
    if isinstance(rule, Free):
        return None
    try:
        return min(int(np.max(np.asarray(rule.bounds(model)[1]))), 2**31 - 1)
    except NotImplementedError:
        return 99


def spoilt(model: dovetail.Model, name: str, more: tuple[int, ...] = ()) -> Iterator[str]:
    """The Model with one entry of a field changed, again and again; afterwards it is as it was."""
    entries = np.asarray(model.field(name)).reshape(-1)
    extra = beyond(model, name)
    for place in {0, len(entries) - 1}:
        before = entries[place]
        for value in (*FAR, *more, *(() if extra is None else (extra,))):
            new = value if entries.dtype != np.uint8 or 0 <= value < 255 else 255
            if new != before:
                entries[place] = new
                yield f"{name}[{place}] = {new}"
                entries[place] = before


def tried(kind: str, model: dovetail.Model, sim: dovetail.Simulation | None) -> str:
    """What happens with a Model whose integers were edited."""
    if kind == "file":
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder, "m.npz"))
            dovetail.load_model(Path(folder, "m.npz"))
        return "fine"
    (sim or dovetail.Simulation(model, backend="numpy")).step(1)
    return "fine"


def main(kind: str, first: int, every: int) -> None:
    warnings.simplefilter("ignore")
    model = dovetail.loads(RICH)
    sim = dovetail.Simulation(model, backend="numpy") if kind == "numpy" else None
    if sim is not None:
        sim.step(2)
    count = {"fine": 0, "refused": 0}
    for name in fields(model)[first::every]:
        for what in spoilt(model, name, more=(0, 1, 2, 5) if kind == "numpy" else ()):
            print(what, file=sys.stderr, flush=True)  # the last line tells where it died
            try:
                count[tried(kind, model, sim)] += 1
            except DovetailError:
                count["refused"] += 1
            except Exception as problem:
                print("NOT TYPED", what, repr(problem))
    print(f"refused {count['refused']} of {sum(count.values())}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
