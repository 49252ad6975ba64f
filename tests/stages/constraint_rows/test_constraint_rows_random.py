"""Constraint rows are MuJoCo's on random trees with every kind of constraint, at random states."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from constraint_rows_reference import compare  # noqa: E402


class Builder:
    """A crowd of overlapping bodies with random joints, tendons, constraints and contact parameters."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.bodies: list[str] = []
        self.scalars: list[str] = []

    def numbers(self, count: int, scale: float = 1.0) -> str:
        return " ".join(f"{x:.17g}" for x in self.random.normal(size=count) * scale)

    def between(self, low: float, high: float) -> float:
        return float(self.random.uniform(low, high))

    def soft(self, ref: str = "solref", imp: str = "solimp") -> str:
        """solref in either format, and a solimp that may be flat, linear or out of bounds."""
        if self.random.random() < 0.5:
            solref = f"{self.between(0.001, 0.1)} {self.between(0.1, 2)}"
        else:
            solref = f"{-self.between(0, 1000)} {-self.between(0, 50)}"
        width = self.random.choice([0.0, 0.001, 0.2])
        power = self.random.choice([1.0, 2.0, 3.7])
        solimp = f"{self.between(-0.1, 1)} {self.between(0, 1.1)} {width} {self.between(0, 1)} {power}"
        return f'{ref}="{solref}" {imp}="{solimp}"'

    def limits(self, low: float, high: float) -> str:
        return f'limited="true" range="{low} {high}" margin="{self.random.choice([0, 0.3])}"'

    def joints(self, body: str, depth: int) -> str:
        kind = self.random.choice(["free", "ball", "scalar", "welded"], p=[0.15, 0.2, 0.5, 0.15])
        friction = (
            f'frictionloss="{self.random.choice([0, 0.2])}" {self.soft("solreffriction", "solimpfriction")}'
        )
        if kind == "free" and depth == 0:
            return f'<joint name="j{body}" type="free" {friction}/>'
        if kind == "ball":
            limits = f"{self.limits(0, self.between(0.3, 2))} {self.soft('solreflimit', 'solimplimit')}"
            return f'<joint name="j{body}" type="ball" {friction} {limits}/>'
        if kind == "welded" and depth:
            return ""
        return "".join(self.scalar(f"j{body}_{i}") for i in range(self.random.integers(1, 3)))

    def scalar(self, name: str) -> str:
        self.scalars.append(name)
        low = self.between(-1.0, 0.2)
        return (
            f'<joint name="{name}" type="{self.random.choice(["hinge", "slide"])}" axis="{self.numbers(3)}" '
            f'{self.limits(low, low + self.between(0.01, 1))} frictionloss="{self.random.choice([0, 0.1])}" '
            f"{self.soft('solreflimit', 'solimplimit')} {self.soft('solreffriction', 'solimpfriction')}/>"
        )

    def body(self, name: str, depth: int = 0) -> str:
        self.bodies.append(name)
        geom = (
            f'<geom name="g{name}" size="{self.between(0.1, 0.25)}" pos="{self.numbers(3, 0.1)}" '
            f'condim="{self.random.choice([1, 1, 1, 3, 4, 6])}" margin="{self.random.choice([0, 0.05])}" '
            f'gap="{self.random.choice([0, 0.03])}" friction="{self.between(0, 1)} {self.between(0, 0.1)} 0.01" '
            f"{self.soft()}/>"
        )
        site = f'<site name="s{name}" pos="{self.numbers(3, 0.2)}" euler="{self.numbers(3, 40)}"/>'
        count = self.random.integers(0, 3) if depth < 2 else 0
        children = "".join(self.body(f"{name}{i}", depth + 1) for i in range(count))
        place = f'pos="{self.numbers(3, 0.2)}" euler="{self.numbers(3, 40)}"'
        return f'<body name="{name}" {place}>{self.joints(name, depth)}{geom}{site}{children}</body>'

    def two(self, names: list[str]) -> list[str]:
        return [str(n) for n in self.random.choice(names, size=2, replace=False)]

    def tendons(self) -> str:
        parts = []
        for i in range(4):
            kind = "fixed" if i < 2 else "spatial"
            objects = (
                "".join(f'<joint joint="{j}" coef="{self.between(-2, 2)}"/>' for j in self.two(self.scalars))
                if kind == "fixed"
                else "".join(f'<site site="s{b}"/>' for b in self.two(self.bodies))
            )
            low = self.between(-0.5, 0.3)
            parts.append(
                f'<{kind} name="t{i}" {self.limits(low, low + self.between(0.01, 0.6))} '
                f'frictionloss="{self.random.choice([0, 0.1])}" {self.soft("solreflimit", "solimplimit")} '
                f"{self.soft('solreffriction', 'solimpfriction')}>{objects}</{kind}>"
            )
        return "".join(parts)

    def equality(self) -> str:
        kind = self.random.choice(["connect", "weld", "connect site", "weld site", "joint", "tendon"])
        first, second = self.two(self.bodies)
        rest = f'{self.soft()} active="{"false" if self.random.random() < 0.15 else "true"}"/>'
        scale = f'torquescale="{self.between(0.1, 3)}"'
        if kind == "connect":
            other = f'body2="{second}"' if self.random.random() < 0.7 else ""
            return f'<connect body1="{first}" {other} anchor="{self.numbers(3, 0.3)}" {rest}'
        if kind == "weld":
            pose = self.random.choice(["", f'relpose="{self.numbers(3, 0.2)} {self.numbers(4)}"'])
            return f'<weld body1="{first}" body2="{second}" {pose} anchor="{self.numbers(3, 0.3)}" {scale} {rest}'
        if kind == "connect site":
            return f'<connect site1="s{first}" site2="s{second}" {rest}'
        if kind == "weld site":
            return f'<weld site1="s{first}" site2="s{second}" {scale} {rest}'
        names = self.two(self.scalars) if kind == "joint" else self.two(["t0", "t1", "t2", "t3"])
        other = f'{kind}2="{names[1]}"' if self.random.random() < 0.7 else ""
        return f'<{kind} {kind}1="{names[0]}" {other} polycoef="{self.numbers(5, 0.5)}" {rest}'

    def pair(self) -> str:
        first, second = self.two(self.bodies)
        solreffriction = self.random.choice(['solreffriction="0.05 1.2"', 'solreffriction="-30 -4"', ""])
        return (
            f'<pair geom1="g{first}" geom2="g{second}" condim="{self.random.choice([1, 1, 1, 3, 4, 6])}" '
            f'margin="0.5" friction="0.3 0.7 0.02 0.003 0.004" {solreffriction} {self.soft()}/>'
        )

    def model(self, cone: str, jacobian: str) -> Any:
        bodies = "".join(self.body(f"b{i}") for i in range(3)) + self.fallback()
        xml = f"""<mujoco><option cone="{cone}" jacobian="{jacobian}" impratio="{self.random.choice([1, 0.3, 7])}"/>
        <worldbody><geom type="plane" size="5 5 .1" pos="0 0 -.2" condim="1"/>{bodies}</worldbody>
        <tendon>{self.tendons()}</tendon>
        <equality>{"".join(self.equality() for _ in range(9))}</equality>
        <contact>{"".join(self.pair() for _ in range(3))}</contact></mujoco>"""
        return mujoco.MjModel.from_xml_string(xml)

    def fallback(self) -> str:
        """Two more hinges, for trees that have none."""
        joints = self.scalar("last0") + self.scalar("last1")
        self.bodies.append("last")
        return f'<body name="last">{joints}<geom name="glast" size=".2"/><site name="slast"/></body>'


def randomise(builder: Builder, model: Any, data: Any) -> None:
    data.qpos[:] = model.qpos0
    mujoco.mj_integratePos(model, data.qpos, builder.random.normal(size=model.nv) * 0.6, 1.0)
    data.qvel[:] = builder.random.normal(size=model.nv)


@pytest.mark.covering
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_rows_are_mujocos(cone: str, jacobian: str) -> None:
    seen: Counter[int] = Counter()
    for seed in range(15):
        builder = Builder(seed)
        model = builder.model(cone, jacobian)
        data = mujoco.MjData(model)
        for _ in range(3):
            randomise(builder, model, data)
            compare(model, data)
            seen.update(data.efc_type.tolist())
    # every type of row, many times
    assert set(seen) == {0, 1, 2, 3, 4, 5, 7 if cone == "elliptic" else 6}
    assert min(seen.values()) >= 20


@pytest.mark.parametrize(
    "flag", ["constraint", "equality", "frictionloss", "limit", "contact", "refsafe", "filterparent"]
)
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_rows_agree_with_a_flag_disabled(flag: str, jacobian: str) -> None:
    builder = Builder(3)
    model = builder.model("elliptic", jacobian)
    model.opt.timestep = 0.02  # so that refsafe matters for most time constants
    model.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag.upper()}")
    data = mujoco.MjData(model)
    randomise(builder, model, data)
    compare(model, data)
