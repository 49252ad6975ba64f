"""Random robot descriptions that MuJoCo reads."""

from __future__ import annotations

import random

CUBE = "".join(f"v {x} {y} {z}\n" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)) + (
    "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"
)
ASSETS = {"cube.obj": CUBE.encode(), "wedge.obj": CUBE.replace("v 1 1 1", "v .5 .2 .1").encode()}
FILES = ["cube.obj", "wedge.obj", "package://x/meshes/cube.obj", "a/b/wedge.obj"]
SETTINGS = [
    ["", 'fusestatic="false"'],
    ["", 'discardvisual="false"'],
    ["", "", 'balanceinertia="true"'],
    ["", "", "", 'inertiafromgeom="true"', 'boundmass=".5"'],
    ["", "", 'eulerseq="zyx"', 'angle="degree"', 'settotalmass="3"', 'autolimits="false"', 'unknown="1"'],
]


class Writer:
    """Writes one robot."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    def vector(self, size: int, low: float = -1.0, high: float = 1.0) -> str:
        return " ".join(repr(round(self.draw.uniform(low, high), 4)) for _ in range(size))

    def sometimes(self, text: str, share: float = 0.5) -> str:
        return text if self.draw.random() < share else ""

    def origin(self) -> str:
        pose = self.sometimes(f'xyz="{self.vector(3)}" ') + self.sometimes(f'rpy="{self.vector(3, -3, 3)}"')
        return self.sometimes(f"<origin {pose}/>", 0.8)

    def shape(self) -> str:
        kind = self.draw.choice(["sphere", "box", "cylinder", "capsule", "mesh", "box"])
        if kind == "box":
            return f'<box size="{self.vector(3, 0.1, 0.5)}"/>'
        if kind == "mesh":
            scale = self.draw.choice(["", 'scale=".1 .1 .1"', 'scale="1 1 1"', 'scale="1 2 .5"'])
            return f'<mesh filename="{self.draw.choice(FILES)}" {scale}/>'
        return f'<{kind} radius="{self.vector(1, 0.05, 0.5)}" length="{self.vector(1, 0.1, 1)}"/>'

    def material(self) -> str:
        colour = self.sometimes(f'<color rgba="{self.vector(4, 0, 1)}"/>')
        name = self.draw.choice(["red", "green", ""])
        return self.sometimes(f'<material name="{name}">{colour}</material>')

    def geom(self) -> str:
        kind = self.draw.choice(["visual", "collision", "collision"])
        name = self.sometimes(f' name="g{self.draw.randrange(6)}"', 0.3)
        return f"<{kind}{name}>{self.origin()}<geometry>{self.shape()}</geometry>{self.material()}</{kind}>"

    def inertial(self) -> str:
        moments = " ".join(f'{name}="{self.draw.uniform(0.6, 1)}"' for name in ("ixx", "iyy", "izz"))
        others = " ".join(f'{name}="{self.draw.choice([0, 0.05])}"' for name in ("ixy", "ixz", "iyz"))
        mass = f'<mass value="{self.vector(1, 0.1, 3)}"/>'
        return f"<inertial>{self.origin()}{mass}<inertia {moments} {others}/></inertial>"

    def link(self, name: str) -> str:
        solid = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
        mass = self.inertial() if self.draw.random() < 0.8 else solid
        geoms = "".join(self.geom() for _ in range(self.draw.randrange(4)))
        return f'<link name="{name}">{mass}{geoms}</link>'

    def joint(self, number: int) -> str:
        kinds = ["revolute", "continuous", "prismatic", "fixed", "fixed", "planar"]
        limits = [self.sometimes(f'{name}="{self.vector(1, *span)}"') for name, span in LIMITS.items()]
        dynamics = [self.sometimes(f'{name}="{self.vector(1, 0, 2)}"') for name in ("damping", "friction")]
        axis = self.draw.choice(["0 0 1", "0 1 0", "1 0 0", "0 0 -1", self.vector(3)])
        content = [
            f'<parent link="l{self.draw.randrange(number)}"/><child link="l{number}"/>',
            self.origin(),
            self.sometimes(f'<axis xyz="{axis}"/>', 0.7),
            self.sometimes(f"<limit {' '.join(limits)}/>", 0.6),
            self.sometimes(f"<dynamics {' '.join(dynamics)}/>"),
            self.sometimes('<mimic joint="j1"/>', 0.1),
        ]
        return f'<joint name="j{number}" type="{self.draw.choice(kinds)}">{"".join(content)}</joint>'

    def robot(self) -> str:
        count = self.draw.randint(1, 7)
        parts = [self.link(f"l{number}") for number in range(count)]
        parts += [self.joint(number) for number in range(1, count) if self.draw.random() < 0.93]
        if self.draw.random() < 0.3:
            kind = self.draw.choice(["floating", "fixed", "revolute"])
            ends = f'<parent link="world"/><child link="l0"/>{self.origin()}'
            parts += ['<link name="world"/>', f'<joint name="w" type="{kind}">{ends}</joint>']
        parts += [self.material() for _ in range(3)]
        settings = " ".join(self.draw.choice(row) for row in SETTINGS)
        option = self.sometimes('<option density="1"/>', 0.3)
        parts.append(f"<mujoco><compiler {settings}/>{option}</mujoco>")
        self.draw.shuffle(parts)
        return f'<robot name="r">{"".join(parts)}</robot>'


LIMITS = {"lower": (-2.0, 0.0), "upper": (0.0, 2.0), "effort": (-1.0, 9.0)}


def robot(seed: int) -> str:
    """The robot of a seed."""
    return Writer(seed).robot()
