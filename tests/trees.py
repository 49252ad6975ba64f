"""Random kinematic trees as MJCF text, for tests that compare with MuJoCo on models nobody thought of.

`random_tree(seed, nbody)` writes a model; `tree_models()` is the hypothesis strategy over it; `random_state`
fills a state that exercises it. Elements used: compiler option default body frame joint freejoint geom
(primitives) site inertial actuator (motor, general on joints) keyframe custom. Constraints are disabled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Rng = np.random.Generator

ACTUATED = ("hinge", "slide", "ball", "free")
POSITIONS = {"hinge": 1, "slide": 1, "ball": 4, "free": 7}


def tree_models(max_bodies: int = 8) -> st.SearchStrategy[str]:
    """Strategy for MJCF texts; failures shrink towards few bodies."""
    seeds = st.integers(min_value=0, max_value=2**32 - 1)
    return st.builds(random_tree, seeds, st.integers(min_value=1, max_value=max_bodies))


def random_tree(seed: int, nbody: int) -> str:
    """MJCF of a random tree with about `nbody` moving bodies, the same for the same arguments."""
    return Writer(np.random.default_rng(seed)).model(nbody)


def random_state(mjmodel: Any, rng: Rng) -> dict[str, NDArray[Any]]:
    """Values of the state and of what a user sets; quaternions are deliberately not normalised."""
    return {
        "qpos": mjmodel.qpos0 + rng.normal(0.0, 0.5, mjmodel.nq),
        "qvel": rng.normal(0.0, 1.0, mjmodel.nv),
        "act": rng.normal(0.0, 0.5, mjmodel.na),
        "ctrl": rng.normal(0.0, 1.5, mjmodel.nu),
        "qfrc_applied": rng.normal(0.0, 1.0, mjmodel.nv),
        "xfrc_applied": rng.normal(0.0, 1.0, (mjmodel.nbody, 6)) * (rng.random((mjmodel.nbody, 1)) < 0.3),
        "mocap_pos": rng.normal(0.0, 1.0, (mjmodel.nmocap, 3)),
        "mocap_quat": rng.normal(0.0, 1.0, (mjmodel.nmocap, 4)),
    }


class Writer:
    """Writes one model, keeping count of what later sections refer to."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        self.joints: list[tuple[str, str]] = []
        self.names = 0
        self.activations = 0
        self.degrees = bool(rng.random() < 0.5)

    # ---- numbers ------------------------------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def one_of(self, *choices: str) -> str:
        return str(self.rng.choice(choices))

    def name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}{self.names}"

    def normal(self, count: int, scale: float = 1.0) -> str:
        return text(self.rng.normal(0.0, scale, count))

    def positive(self, count: int, low: float, high: float) -> str:
        return text(self.rng.uniform(low, high, count))

    def angle(self, scale: float) -> str:
        return text(self.rng.normal(0.0, scale * (57.29577951308232 if self.degrees else 1.0), 1))

    def interval(self, scale: float) -> str:
        return text(self.rng.uniform(0.1, scale, 2) * [-1.0, 1.0])

    def pose(self) -> str:
        """pos, and one of the five ways of giving an orientation, each sometimes left out."""
        parts = [f'pos="{self.normal(3, 0.3)}"'] if self.chance(0.8) else []
        if self.chance(0.7):
            parts.append(self.orientation())
        return " ".join(parts)

    def orientation(self) -> str:
        kind = self.one_of("quat", "axisangle", "euler", "xyaxes", "zaxis")
        if kind == "euler":
            return f'euler="{" ".join(self.angle(1.0) for _ in range(3))}"'
        if kind == "axisangle":
            return f'axisangle="{self.normal(3)} {self.angle(1.0)}"'
        return f'{kind}="{self.normal({"quat": 4, "xyaxes": 6, "zaxis": 3}[kind])}"'

    # ---- sections -----------------------------------------------------------------------------------------

    def model(self, nbody: int) -> str:
        bodies = self.worldbody(nbody)
        return "\n".join(
            [
                '<mujoco model="tree">',
                self.compiler(),
                self.option(),
                self.defaults(),
                bodies,
                self.actuators(),
                self.keyframes(),
                '<custom><numeric name="gain" data="1 2 3"/><text name="note" data="a tree"/></custom>',
                "</mujoco>",
            ]
        )

    def compiler(self) -> str:
        angle = "degree" if self.degrees else "radian"
        order = self.one_of("xyz", "zyx", "XYZ", "zXy")
        return f'<compiler angle="{angle}" eulerseq="{order}"/>'

    def option(self) -> str:
        off = [
            name
            for name in ("gravity", "spring", "damper", "clampctrl", "eulerdamp", "actuation")
            if self.chance(0.12)
        ]
        flags = " ".join(f'{name}="disable"' for name in ["constraint", *off])
        energy = ' energy="enable"' if self.chance(0.7) else ""
        groups = ' actuatorgroupdisable="1 3"' if self.chance(0.3) else ""
        return (
            f'<option timestep="{self.positive(1, 0.001, 0.01)}" gravity="{self.normal(3, 5.0)}" '
            f'integrator="{self.one_of("Euler", "RK4")}"{groups}><flag {flags}{energy}/></option>'
        )

    def defaults(self) -> str:
        return (
            f'<default><joint armature="{self.positive(1, 0.0, 0.1)}"/>'
            f'<geom density="{self.positive(1, 200, 2000)}"/><default class="soft">'
            f'<joint damping="{self.positive(1, 0.1, 2)}" stiffness="{self.positive(1, 1, 9)}"/>'
            f'<general gainprm="{self.positive(1, 0.5, 3)}"/></default></default>'
        )

    def worldbody(self, nbody: int) -> str:
        lines = ["<worldbody>", '<geom type="plane" size="2 3 .1"/>', self.site()]
        if self.chance(0.5):
            lines.append(f'<body mocap="true" {self.pose()}>{self.geom()}{self.site()}</body>')
        if self.chance(0.5):
            lines.append(f"<body {self.pose()}>{self.geom()}<body {self.pose()}>{self.geom()}</body></body>")
        if self.chance(0.4):
            lines.append(self.plain_body())
        left = nbody
        while left > 0:
            size = int(self.rng.integers(1, left + 1))
            lines.append(self.body(size, depth=0))
            left -= size
        lines.append("</worldbody>")
        return "\n".join(lines)

    def plain_body(self) -> str:
        """A body whose mass matrix is diagonal and constant: nothing turned, nothing off centre."""
        ball = f'<geom type="sphere" size="{self.positive(1, 0.1, 0.3)}"/>'
        pos = f'pos="{self.normal(3)}"'
        if self.chance(0.5):
            return f"<body {pos}>{self.freejoint()}{ball}</body>"
        slides = []
        for axis in ("1 0 0", "0 1 0", "0 0 1")[: int(self.rng.integers(1, 4))]:
            name = self.name("joint")
            self.joints.append((name, "slide"))
            slides.append(f'<joint name="{name}" type="slide" axis="{axis}"/>')
        return f"<body {pos}>{''.join(slides)}{ball}</body>"

    def body(self, size: int, depth: int) -> str:
        """A body that carries size − 1 others, in one or several branches."""
        childclass = ' childclass="soft"' if self.chance(0.2) else ""
        opening = f'<body name="{self.name("body")}"{childclass} {self.pose()}>'
        parts = [opening, self.motion(depth), self.matter()]
        left = size - 1
        while left > 0:
            branch = int(self.rng.integers(1, left + 1))
            child = self.body(branch, depth + 1)
            parts.append(f"<frame {self.pose()}>{child}</frame>" if self.chance(0.3) else child)
            left -= branch
        parts.append("</body>")
        return "\n".join(parts)

    def motion(self, depth: int) -> str:
        """No joint, a free joint, or any mix of slides with hinges or with one ball."""
        kind = self.rng.random()
        if depth == 0 and kind < 0.3:
            return self.freejoint()
        if depth > 0 and kind < 0.1:
            return ""
        kinds = ["slide"] * int(self.rng.integers(0, 3))
        if self.chance(0.3):
            kinds.append("ball")
        else:
            kinds += ["hinge"] * int(self.rng.integers(0 if kinds else 1, 4))
            self.rng.shuffle(kinds)
        return "".join(self.joint(kind) for kind in kinds)

    def freejoint(self) -> str:
        name = self.name("joint")
        self.joints.append((name, "free"))
        if self.chance(0.5):
            return f'<freejoint name="{name}"/>'
        spring = f' stiffness="{self.positive(1, 1, 5)}"' if self.chance(0.3) else ""
        damping = f' damping="{self.positive(1, 0.1, 2)}"' if self.chance(0.3) else ""
        return f'<joint name="{name}" type="free"{spring}{damping}/>'

    def joint(self, kind: str) -> str:
        name = self.name("joint")
        self.joints.append((name, kind))
        parts = [f'<joint name="{name}" type="{kind}"']
        if kind != "slide" or self.chance(0.5):
            parts.append(f'pos="{self.normal(3, 0.2)}"')
        if kind != "ball":
            axis = self.normal(3) if self.chance(0.8) else self.one_of("1 0 0", "0 1 0", "0 0 1")
            parts.append(f'axis="{axis}"')
            for attribute in ("ref", "springref"):
                if self.chance(0.3):
                    value = self.angle(0.5) if kind == "hinge" else self.normal(1, 0.5)
                    parts.append(f'{attribute}="{value}"')
            if self.chance(0.3):
                parts.append(f'actuatorfrcrange="{self.interval(2.0)}"')
        for attribute, high in (("stiffness", 5.0), ("damping", 2.0), ("armature", 0.2)):
            if self.chance(0.4):
                parts.append(f'{attribute}="{self.positive(1, 0.0, high)}"')
        if self.chance(0.2):
            parts.append('class="soft"')
        return " ".join(parts) + "/>"

    def matter(self) -> str:
        """Geoms, sites and sometimes an explicit inertia; every body has mass."""
        parts = [self.geom() for _ in range(int(self.rng.integers(1, 3)))]
        parts += [self.site() for _ in range(int(self.rng.integers(0, 3)))]
        if self.chance(0.3):
            parts.append(self.inertial())
        if self.chance(0.3):
            inner = f"<frame {self.orientation()}>{self.geom()}{self.site()}</frame>"
            parts.append(f"<frame {self.pose()}>{inner}</frame>")
        return "".join(parts)

    def geom(self) -> str:
        kind = self.one_of("sphere", "capsule", "ellipsoid", "cylinder", "box")
        mass = f' mass="{self.positive(1, 0.5, 3)}"' if self.chance(0.3) else ""
        if kind in ("capsule", "cylinder", "box") and self.chance(0.3):
            ends = f'size="{self.positive(1, 0.05, 0.2)}" fromto="{self.normal(6, 0.4)}"'
            return f'<geom name="{self.name("geom")}" type="{kind}" {ends}{mass}/>'
        sizes = {"sphere": 1, "capsule": 2, "cylinder": 2}.get(kind, 3)
        return f'<geom type="{kind}" size="{self.positive(sizes, 0.05, 0.3)}" {self.pose()}{mass}/>'

    def site(self) -> str:
        return f'<site name="{self.name("site")}" {self.pose()}/>'

    def inertial(self) -> str:
        """A mass with an inertia that real matter could have, diagonal or full."""
        spread = self.rng.uniform(0.05, 0.2, 3)
        moments = spread.sum() - spread
        mass = self.positive(1, 0.5, 3)
        pos = self.normal(3, 0.1)
        if self.chance(0.5):
            return f'<inertial pos="{pos}" {self.orientation()} mass="{mass}" diaginertia="{text(moments)}"/>'
        turn = np.linalg.qr(self.rng.normal(size=(3, 3)))[0]
        full = turn @ np.diag(moments) @ turn.T
        entries = text(full[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
        return f'<inertial pos="{pos}" mass="{mass}" fullinertia="{entries}"/>'

    # ---- actuators and keyframes --------------------------------------------------------------------------

    def actuators(self) -> str:
        lines = [
            self.actuator(name, kind) for name, kind in self.joints for _ in range(2) if self.chance(0.35)
        ]
        self.controls = len(lines)
        return f"<actuator>{''.join(lines)}</actuator>"

    def actuator(self, joint: str, kind: str) -> str:
        target = self.one_of("joint", "joint", "jointinparent")
        count = {"hinge": 1, "slide": 1, "ball": 3, "free": 6}[kind]
        parts = [f'name="{self.name("actuator")}" {target}="{joint}" gear="{self.normal(count)}"']
        if self.chance(0.4):
            parts.append(f'ctrlrange="{self.interval(1.5)}"')
        if self.chance(0.4):
            parts.append(f'forcerange="{self.interval(3.0)}"')
        if self.chance(0.4):
            parts.append(f'group="{self.one_of("0", "1", "2", "3")}"')
        if self.chance(0.4):
            return f"<motor {' '.join(parts)}/>"
        return f"<general {' '.join(parts + self.laws())}/>"

    def laws(self) -> list[str]:
        parts = ['class="soft"'] if self.chance(0.2) else []
        if self.chance(0.5):
            parts.append(f'gaintype="{self.one_of("fixed", "affine")}" gainprm="{self.normal(3)}"')
        if self.chance(0.5):
            parts.append(f'biastype="affine" biasprm="{self.normal(2)} {text(-self.rng.uniform(0, 1, 1))}"')
        dynamics = self.one_of("none", "integrator", "filter", "filterexact")
        if dynamics == "none":
            return parts
        self.activations += 1
        parts.append(f'dyntype="{dynamics}" dynprm="{self.positive(1, 0.01, 0.1)}"')
        if self.chance(0.4):
            parts.append('actearly="true"')
        if self.chance(0.4):
            parts.append(f'actrange="{self.interval(1.0)}"')
        return parts

    def keyframes(self) -> str:
        nq = sum(POSITIONS[kind] for _, kind in self.joints)
        keys = [f'<key name="a" qpos="{self.normal(nq)}" time="0.5"/>'] if nq else []
        if self.controls:
            keys.append(f'<key name="b" ctrl="{self.normal(self.controls)}"/>')
        return f"<keyframe>{''.join(keys)}</keyframe>"


def text(numbers: NDArray[Any]) -> str:
    """Numbers as MJCF writes them, with every digit."""
    return " ".join(repr(float(number)) for number in numbers)
