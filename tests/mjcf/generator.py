"""Random MJCF documents, with a mistake now and then.

Not generated: composites, attached models, plugins, skins, flexes other than grids, and what needs files.

Attributes come from the schema itself, so those that the schema gains are generated at once. The tables
below hold what the schema does not know: which numbers make sense for an attribute. Everything is decided by
the `random.Random` that is passed in, so a seed names a document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any
from xml.sax.saxutils import quoteattr

import attrs

from dovetail.mjcf.read import kinds
from dovetail.mjcf.read.schema import MUJOCO, Element

MISTAKES = 0.25
"""Share of documents that get a mistake."""


def document(random: Random) -> str:
    """One MJCF document."""
    return Writer(random).document()


# ---- values


def _number(random: Random) -> float:
    return random.choice((0, 0.1, 0.5, 1, 2, -1, -0.3, 0.01, 3, 1e-3, 10))


def _positive(random: Random) -> float:
    return random.choice((0.05, 0.1, 0.2, 0.3, 0.5, 1))


def _uneven(random: Random) -> float:
    """A size of what tendons wrap around; rounding would decide about a site that is right on the surface."""
    return random.choice((0.07, 0.13, 0.29, 0.53))


def _fraction(random: Random) -> float:
    return random.choice((0, 0.1, 0.25, 0.5, 0.9, 1))


def _many(of: Callable[[Random], float], low: int, high: int | None = None) -> Callable[[Random], str]:
    def values(random: Random) -> str:
        return " ".join(f"{of(random):g}" for _ in range(random.randint(low, high or low)))

    return values


def _one_of(*texts: str) -> Callable[[Random], str]:
    return lambda random: random.choice(texts)


def _interval(random: Random) -> str:
    low = random.choice((-2, -1, -0.5, 0))
    return f"{low} {low + random.choice((0.5, 1, 3))}"


_SENSIBLE: dict[str, Callable[[Random], str]] = {
    "quat": lambda r: f"1 {_many(_number, 3)(r)}",
    "bindquat": lambda r: f"1 {_many(_number, 3)(r)}",
    "refquat": lambda r: f"1 {_many(_number, 3)(r)}",
    "axisangle": lambda r: f"1 {_many(_number, 3)(r)}",
    "zaxis": lambda r: f"{_many(_number, 2)(r)} 1",
    "xyaxes": lambda r: f"1 {_many(_number, 2)(r)} 0 0 1",
    "axis": _one_of("0 0 1", "1 0 0", "0 -1 0", "1 2 3"),
    "dir": _one_of("0 0 -1", "1 0 0", "1 2 -3"),
    "range": _interval,
    "ctrlrange": _interval,
    "forcerange": _interval,
    "actrange": _interval,
    "lengthrange": _one_of("0 1", "0.1 0.4"),
    "actuatorfrcrange": _one_of("-1 1", "-5 0.5"),
    "mass": _many(_positive, 1),
    "density": _one_of("0", "100", "1000", "2500"),
    "diaginertia": _one_of("1 1 1", "0.1 0.2 0.15", "2 1.5 1"),
    "fullinertia": _one_of("1 1 1 0 0 0", "1 2 1.5 0.1 -0.2 0.05"),
    "condim": _one_of("1", "3", "4", "6"),
    "solref": _one_of("0.02 1", "0.01", "-100 -10", "0.05 0.5"),
    "solimp": _one_of("0.9 0.95", "0.8 0.9 0.01", "0.9 0.95 0.001 0.3 3"),
    "friction": _many(_fraction, 1, 3),
    "fovy": _one_of("20", "45", "90"),
    "ipd": _many(_positive, 1),
    "springdamper": _one_of("0.1 1", "0.5 0.7"),
    "kp": _one_of("1", "10"),
    "kv": _one_of("1", "0.5"),
    "dampratio": _one_of("1", "0.5"),
    "inheritrange": _one_of("0", "1", "0.5"),
    "gear": _many(_number, 1, 6),
    "divisor": _one_of("1", "2"),
    "count": _one_of("1", "2", "3"),
    "nuser_geom": _one_of("-1", "0", "2", "5"),
    "extent": _many(_positive, 1),
    "znear": _many(_positive, 1),
    "zfar": _one_of("10", "50"),
    "timestep": _one_of("0.001", "0.002", "0.01"),
    "impratio": _one_of("1", "10"),
    "resolution": _one_of("640 480", "1 1"),
    "sensorsize": _one_of("0.1 0.1", "0.02 0.03"),
    "focal": _one_of("0.1 0.2", "0.05 0.05"),
    "attenuation": _one_of("1 0 0", "1 0.1 0.2"),
    "width": _one_of("1", "4", "6"),
    "height": _one_of("1", "4", "6"),
    "nrow": _one_of("2", "3"),
    "ncol": _one_of("2", "3"),
    "nchannel": _one_of("1", "3", "4"),
    "random": _fraction,
    "rgba": _many(_fraction, 4),
    "rgb2": _many(_fraction, 3),
    "markrgb": _many(_fraction, 3),
    "margin": _fraction,
    "gap": _fraction,
    "sleep": _one_of("auto", "never", "allowed", "init"),
    "objtype": _one_of("body", "xbody", "geom", "site", "camera"),
    "euler": _many(_number, 3),
    "dim": _one_of("1", "2", "3"),
    "num": _one_of("1", "2"),
    "data": _one_of("found", "found force", "dist pos normal", "force torque tangent"),
    "timeconst": _one_of("0.1", "1"),
    "dynprm": _many(_positive, 1, 3),
    "gainprm": _many(_number, 1, 3),
    "biasprm": _many(_number, 1, 3),
    "torquescale": _many(_positive, 1),
    "eulerseq": _one_of("xyz", "XYZ", "zyx", "XzY"),
    "memory": _one_of("1M", "10M", "-1"),
    "actuatorgroupdisable": _one_of("1", "0 3"),
    "springlength": _one_of("0.1", "0.1 0.3"),
    "fluidcoef": _one_of("0.5 0.25 1.5 1 1", "1", "0.1 0.2"),
    "gravcomp": _fraction,
    "group": _one_of("0", "1", "5"),
    "cutoff": _one_of("0", "1", "10"),
    "cranklength": _many(_positive, 1),
    "young": _one_of("100", "1000"),
    "poisson": _one_of("0", "0.3"),
    "radius": _many(_positive, 1),
    "settotalmass": _one_of("-1", "3"),
    "inertiagrouprange": _one_of("0 5", "0 0", "1 2"),
    "boundmass": _one_of("0", "0.1"),
    "boundinertia": _one_of("0", "0.01"),
    "maxhullvert": _one_of("-1", "5", "20"),
}
_FILES = """
file fileright fileleft fileup filedown filefront fileback content_type meshdir texturedir assetdir coordinate
plugin instance discardvisual usethread nstack nconmax njmax memory nkey fusestatic
"""
_NEVER = frozenset(_FILES.split())
"""Attributes that other tests cover: they need files, are deprecated, or crash MuJoCo (fusestatic with lights)."""


# ---- documents


@attrs.define
class Writer:
    """Writes one document; remembers names so that later sections can refer to them."""

    random: Random
    names: dict[str, list[str]] = attrs.field(factory=dict)
    joint_types: dict[str, str] = attrs.field(factory=dict)
    across: dict[str, list[tuple[str, str]]] = attrs.field(factory=lambda: {"body": [], "geom": []})
    """Names in a replicate, each with one of before."""
    uncounted: bool = False
    """Whether there are joints beside those of `joint_types`, in copies or flexes."""
    count: int = 0
    """Names given so far."""
    wrong: int = -1
    """Number of elements until the mistake; negative for none."""

    def document(self) -> str:
        if self.random.random() < MISTAKES:
            self.wrong = self.random.randint(0, 25)
        sections = [self.settings(), self.defaults(), self.assets(), self.world(), self.links()]
        return f"<mujoco>\n{''.join(sections)}</mujoco>"

    # -- pieces

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def some(self, low: int, high: int) -> range:
        return range(self.random.randint(low, high))

    def name(self, kind: str) -> str:
        """A new name; it does not end in a digit, to which a replicate's number might be added."""
        self.count += 1
        name = f"{kind}{self.count}_"
        self.names.setdefault(kind, []).append(name)
        return name

    def any(self, kind: str) -> str:
        """A name that exists, if any does."""
        return self.random.choice(self.names.get(kind) or ["absent"])

    def two(self, kind: str) -> tuple[str, str]:
        """Two different names, if there are."""
        known = self.names.get(kind, [])
        first, second = self.random.sample(known, 2) if len(known) > 1 else (self.any(kind), self.any(kind))
        return first, second

    def element(
        self,
        schema: Element,
        fixed: dict[str, str] | None = None,
        content: str = "",
        leave_out: Iterable[str] = (),
        extra: int = 3,
    ) -> str:
        """An element with the given attributes and a few random others."""
        given = dict(fixed or {})
        skipped = {*_NEVER, "name", "class", "childclass", *leave_out, *given}
        possible = [name for name in schema.attributes if name not in skipped and self.exists(schema, name)]
        count = min(len(possible), self.random.randint(0, extra))
        for name in self.random.sample(possible, count):
            given[name] = self.value(name, schema.attributes[name])
        if "class" in schema.attributes and self.names.get("default") and self.chance(0.3):
            given["class"] = self.any("default")
        given, tag = self.mistaken(given, schema)
        written = "".join(f" {name}={quoteattr(text)}" for name, text in given.items())
        return f"<{tag}{written}>{content}</{tag}>\n" if content else f"<{tag}{written}/>\n"

    def exists(self, schema: Element, name: str) -> bool:
        """Whether an attribute has something to refer to."""
        kind = schema.attributes[name]
        return not isinstance(kind, kinds.Reference) or bool(self.names.get(kind.target))

    def value(self, name: str, kind: Any) -> str:
        """A plausible text for an attribute."""
        random = self.random
        if isinstance(kind, kinds.Reference):
            return self.any(kind.target)
        if isinstance(kind, kinds.Keyword):
            unlimited = name.endswith("limited") and self.chance(0.95)
            return random.choice(["auto", "false"] if unlimited else sorted(kind.choices))
        if name in _SENSIBLE:
            return str(_SENSIBLE[name](random))
        if isinstance(kind, kinds.Floats):
            low = kind.size if kind.exact else 1
            return _many(_number, low, kind.size)(random)
        if isinstance(kind, kinds.Int):
            return str(random.choice((0, 1, 2, 3, 5)))
        if isinstance(kind, kinds.Ints):
            return " ".join(str(random.randint(0, 3)) for _ in range(kind.size))
        if isinstance(kind, kinds.FloatList | kinds.IntList):
            return _many(lambda r: r.randint(0, 3), 1, 4)(random)
        if isinstance(kind, kinds.Float):
            return f"{random.choice((_positive, _fraction, _number))(random):g}"
        return "x"

    def mistaken(self, given: dict[str, str], schema: Element) -> tuple[dict[str, str], str]:
        """The attributes and the tag, with a mistake if it is this element's turn."""
        self.wrong -= 1
        if self.wrong != 0 or not given:
            return given, schema.tag
        name = self.random.choice(sorted(given))
        mistakes: list[dict[str, str]] = [
            {**given, name + "x": given[name]},
            {**given, name: given[name] + " 1"},
            {**given, name: "-1"},
            {**given, name: "0"},
            {**given, name: "0 0 0"},
            {**given, name: "1e3"},
            {**given, name: "true"},
            {**given, name: "absent"},
            {**given, name: ""},
            {**given, "name": "body1_"},
            {k: v for k, v in given.items() if k != name},
        ]
        chosen = self.random.randint(0, len(mistakes))
        return (given, schema.tag + "x") if chosen == len(mistakes) else (mistakes[chosen], schema.tag)

    # -- sections

    def settings(self) -> str:
        text = ""
        for tag in ("compiler", "option", "size", "statistic"):
            if self.chance(0.4):
                schema = MUJOCO.children[tag]
                flag = schema.children.get("flag")
                inner = self.element(flag, extra=2) if flag and self.chance(0.5) else ""
                left_out = ["alignfree", "saveinertial"] if tag == "compiler" else []
                text += self.element(schema, content=inner, leave_out=left_out, extra=2)
        if self.chance(0.15):
            group = self.random.choice(sorted(MUJOCO.children["visual"].children))
            text += f"<visual>{self.element(MUJOCO.children['visual'].children[group])}</visual>\n"
        return text

    def defaults(self) -> str:
        if self.chance(0.6):
            return ""
        schema = MUJOCO.children["default"]
        inner = self.default_rows(schema)
        for _ in self.some(0, 2):
            name = self.name("default")
            inner += f'<default class="{name}">{self.default_rows(schema)}</default>\n'
        return f"<default>{inner}</default>\n"

    def default_rows(self, schema: Element) -> str:
        rows = [tag for tag in schema.children if tag not in ("default", "mesh", "material", "general")]
        chosen = self.random.sample(rows, self.random.randint(0, 2))
        return "".join(self.element(schema.children[tag], leave_out=_NO_DEFAULT) for tag in chosen)

    def assets(self) -> str:
        text = ""
        rows = MUJOCO.children["asset"].children
        for _ in self.some(0, 1):
            fixed = {"name": self.name("texture"), "width": "4", "height": "4"}
            fixed |= {"builtin": self.random.choice(("flat", "checker", "gradient")), "type": "2d"}
            fixed |= {"rgb1": _many(_fraction, 3)(self.random), "nchannel": self.random.choice("34")}
            text += self.element(rows["texture"], fixed, leave_out=["gridlayout", "gridsize"], extra=2)
        for _ in self.some(0, 1):
            text += self.element(rows["material"], {"name": self.name("material")})
        if self.chance(0.15):
            text += self.mesh(rows["mesh"])
        if self.chance(0.1):
            fixed = {"name": self.name("hfield"), "nrow": "2", "ncol": "3", "size": "1 1 .5 .1"}
            fixed["elevation"] = _many(_fraction, 6)(self.random)
            text += self.element(rows["hfield"], fixed)
        return f"<asset>{text}</asset>\n" if text else ""

    def mesh(self, schema: Element) -> str:
        points = "0 0 0  1 0 0  0 1 0  0 0 1  1 1 1.5  0.3 0.2 2"
        fixed = {"name": self.name("mesh"), "vertex": points}
        return self.element(
            schema, fixed, leave_out=["builtin", "params", "normal", "texcoord", "face"], extra=2
        )

    def world(self) -> str:
        schema = MUJOCO.children["worldbody"]
        content = "".join(self.part(schema, moving=False) for _ in self.some(0, 3))
        content += "".join(self.body(schema, 0) for _ in self.some(1, 3))
        content += self.flexcomp(schema.children["flexcomp"]) if self.chance(0.1) else ""
        return f"<worldbody>\n{content}</worldbody>\n"

    def body(self, container: Element, depth: int) -> str:
        schema = container.children["body"]
        mocap = depth == 0 and self.chance(0.05)
        fixed = {"name": self.name("body"), **({"mocap": "true"} if mocap else {})}
        content = "" if mocap else self.joints(schema, depth)
        content += self.geom(schema, moving=True)
        if self.chance(0.1):
            content += self.element(
                schema.children["inertial"], _INERTIAL, leave_out=["fullinertia", *_ORIENTED[1:]]
            )
        content += "".join(self.part(schema, moving=True) for _ in self.some(0, 3))
        if depth < 3:
            content += self.framed(schema, depth)
        if depth < 2 and self.chance(0.03):
            content += self.flexcomp(schema.children["flexcomp"])
        one = self.random.sample(_ORIENTED, len(_ORIENTED) - 1)
        roots = [] if depth == 0 and "<joint" in content else ["sleep"]
        return self.element(schema, fixed, content, leave_out=["mocap", "user", *one, *roots])

    def framed(self, schema: Element, depth: int) -> str:
        """Child bodies, sometimes inside a frame or a replicate; only contacts refer into a replicate."""
        tag = self.random.choice(("", "", "", "", "frame", "replicate"))
        names, joints = {kind: list(known) for kind, known in self.names.items()}, dict(self.joint_types)
        below = "".join(self.body(schema, depth + 1) for _ in self.some(0, 2))
        if tag == "replicate":
            for kind in ("body", "geom"):
                new = [name for name in self.names.get(kind, []) if name not in names.get(kind, [])]
                if new and names.get(kind) and self.chance(0.3):
                    self.across[kind].append((self.random.choice(new), self.random.choice(names[kind])))
            self.names, self.joint_types, self.uncounted = names, joints, True
        if not below or not tag:
            return below
        one = self.random.sample(_ORIENTED, len(_ORIENTED) - 1)
        fixed = {"count": self.random.choice("123")} if tag == "replicate" else {}
        return self.element(schema.children[tag], fixed, below, leave_out=[] if fixed else one)

    def flexcomp(self, schema: Element) -> str:
        """A small grid; it cannot be replicated, its flex would have the same name."""
        self.uncounted = True
        dim = self.random.randint(1, 3)
        fixed = {"name": self.name("flex"), "type": "grid", "dim": str(dim)}
        fixed["count"] = " ".join(self.random.choice("234") if axis < dim else "1" for axis in range(3))
        fixed |= {"spacing": _many(_positive, 3)(self.random), "radius": "0.01"}
        rows = schema.children
        content = ""
        for tag, never in _FLEX_PARTS.items():
            content += self.element(rows[tag], leave_out=never) if self.chance(0.3) else ""
        if self.chance(0.3):
            content += self.element(rows["pin"], {"id": self.random.choice(("0", "0 1", "1"))}, extra=0)
        if self.chance(0.1):
            content += self.element(rows["pin"], {"grid": " ".join("1" * dim)}, extra=0)
        one = self.random.sample(_ORIENTED, len(_ORIENTED) - 1)
        left_out = ["point", "element", "texcoord", "origin", *one]
        return self.element(schema, fixed, content, leave_out=left_out, extra=2)

    def joints(self, schema: Element, depth: int) -> str:
        choices = ["", "hinge", "slide", "ball", "hinge hinge", "slide hinge", "slide ball"] + ["free"] * (
            depth == 0
        )
        text = ""
        axes = self.random.sample(["0 0 1", "0 -1 0", "1 2 3"], 3)
        for kind in self.random.choice(choices).split():
            name = self.name("joint")
            self.joint_types[name] = kind
            fixed = {"name": name, "type": kind}
            if kind == "free" and self.chance(0.5):
                text += self.element(schema.children["freejoint"], {"name": name})
                continue
            if kind in ("hinge", "slide"):  # different for each, or else the mass matrix would be singular
                fixed["axis"] = axes.pop()
            left_out = ["range", "springref", "ref"] if kind in ("ball", "free") else ["axis"]
            text += self.element(schema.children["joint"], fixed, leave_out=["user", *left_out])
        return text

    def geom(self, schema: Element, moving: bool) -> str:
        shape = self.random.choice([*_SOLIDS] + ["plane"] * (not moving))
        if self.names.get("mesh") and self.chance(0.3):
            shape = "mesh"
        if self.names.get("hfield") and not moving and self.chance(0.3):
            shape = "hfield"
        fixed = {"name": self.name("geom"), "type": shape, **self.shape(shape)}
        if shape in ("sphere", "cylinder"):
            self.names.setdefault("round", []).append(fixed["name"])
        placed = (
            ["pos", *_ORIENTED] if "fromto" in fixed else self.random.sample(_ORIENTED, len(_ORIENTED) - 1)
        )
        return self.element(schema.children["geom"], fixed, leave_out=[*placed, *_SHAPED])

    def shape(self, shape: str) -> dict[str, str]:
        if shape in ("mesh", "hfield"):
            return {shape: self.any(shape)}
        if shape != "sphere" and shape != "plane" and self.chance(0.2):
            return {
                "size": _many(_positive, 2)(self.random),
                "fromto": "0 0 0 " + _many(_positive, 3)(self.random),
            }
        if shape in ("sphere", "cylinder"):
            return {"size": _many(_uneven, 3)(self.random)}
        return {"size": _many(_positive, 3)(self.random)}

    def part(self, schema: Element, moving: bool) -> str:
        tag = self.random.choice(("geom", "geom", "site", "site", "camera", "light"))
        if tag == "geom":
            return self.geom(schema, moving)
        one = self.random.sample(_ORIENTED, len(_ORIENTED) - 1)
        fixed = {"name": self.name(tag)}
        left_out = [*one, "fromto", "user", "target", "mode", "directional", *_LENS]
        if tag == "light":
            left_out += ["range"]
        if tag == "site":
            left_out += ["size"]
            fixed |= {"type": self.random.choice(_SOLIDS), "size": _many(_positive, 3)(self.random)}
        return self.element(schema.children[tag], fixed, leave_out=left_out)

    def links(self) -> str:
        text = self.section("contact", {"pair": self.pair, "exclude": self.exclude}, 0.3)
        text += self.section("tendon", {"fixed": self.fixed, "spatial": self.spatial}, 0.4)
        text += self.section(
            "equality", dict.fromkeys(("connect", "weld", "joint", "tendon"), self.equality), 0.4
        )
        actuators = MUJOCO.children["actuator"].children
        text += self.section("actuator", {t: self.actuator for t in actuators if t != "plugin"}, 0.7)
        sensors = MUJOCO.children["sensor"].children
        text += self.section(
            "sensor", {t: self.sensor for t in sensors if t not in ("plugin", "tactile")}, 0.5
        )
        return text + self.custom() + self.keyframes()

    def section(self, tag: str, rows: dict[str, Callable[[Element], str]], probability: float) -> str:
        if not self.chance(probability):
            return ""
        schema = MUJOCO.children[tag]
        text = ""
        for _ in self.some(1, 3):
            row = self.random.choice(sorted(rows))
            written = rows[row](schema.children[row])
            text += written if "absent" not in written or self.chance(0.02) else ""
        return f"<{tag}>\n{text}</{tag}>\n"

    def pair(self, schema: Element) -> str:
        first, second = self.partners("geom")
        return self.element(schema, {"geom1": first, "geom2": second}, extra=2)

    def partners(self, kind: str) -> tuple[str, str]:
        """Two names for a contact, in either order."""
        across = self.across[kind]
        first, second = self.random.choice(across) if across and self.chance(0.5) else self.two(kind)
        return (first, second) if self.chance(0.5) else (second, first)

    def exclude(self, schema: Element) -> str:
        first, second = self.partners("body")
        return self.element(schema, {"body1": first, "body2": second})

    def scalar_joints(self, most: int) -> list[str]:
        """At least one of the joints with one degree of freedom, and `absent` if there is none."""
        scalar = [name for name, kind in self.joint_types.items() if kind in ("hinge", "slide")] or ["absent"]
        return self.random.sample(scalar, self.random.randint(1, min(most, len(scalar))))

    def fixed(self, schema: Element) -> str:
        row = schema.children["joint"]
        inner = "".join(self.element(row, {"joint": j, "coef": "0.5"}) for j in self.scalar_joints(2))
        return self.element(schema, {"name": self.name("tendon")}, inner, leave_out=["user"])

    def spatial(self, schema: Element) -> str:
        first, last = self.two("site")
        inner = self.element(schema.children["site"], {"site": first})
        if self.names.get("round") and self.chance(0.5):
            inner += self.element(
                schema.children["geom"], {"geom": self.any("round")}, leave_out=["sidesite"]
            )
        inner += self.element(schema.children["site"], {"site": last})
        if self.chance(0.3):
            inner += self.element(
                schema.children["pulley"], {"divisor": self.random.choice(("1", "2", "0.5"))}
            )
            inner += "".join(self.element(schema.children["site"], {"site": site}) for site in (last, first))
        return self.element(schema, {"name": self.name("tendon")}, inner, leave_out=["user"])

    def equality(self, schema: Element) -> str:
        fixed = {"name": self.name("equality")}
        if schema.tag in ("connect", "weld"):
            kind = self.random.choice(("body", "site"))
            fixed |= dict(zip((f"{kind}1", f"{kind}2"), self.two(kind), strict=True))
            fixed |= {"anchor": _many(_number, 3)(self.random)} if kind == "body" else {}
            left_out = ["body1", "body2", "site1", "site2", "anchor", "relpose"]
            return self.element(schema, fixed, leave_out=left_out)
        one = self.scalar_joints(1)[0] if schema.tag == "joint" else self.any("tendon")
        return self.element(
            schema, {**fixed, f"{schema.tag}1": one}, leave_out=["joint2", "tendon2"], extra=2
        )

    def actuator(self, schema: Element) -> str:
        targets = ["joint", "joint", "joint", "tendon", "site"]
        kind = "body" if schema.tag == "adhesion" else self.random.choice(targets)
        if schema.tag == "muscle" and kind == "site":
            kind = "joint"
        fixed = {"name": self.name("actuator"), kind: self.any(kind)}
        if schema.tag == "muscle":
            fixed["lengthrange"] = "0.1 1"
        if schema.tag == "intvelocity":
            fixed["actrange"] = _interval(self.random)
        if schema.tag in ("damper", "adhesion"):
            fixed["ctrlrange"] = "0 1"
        left_out = [*_TARGETS, "user", "actdim", "dyntype", "gaintype", "biastype", "timeconst", "range"]
        left_out += [
            self.random.choice(("ctrlrange", "inheritrange")),
            "cranklength",
            "actrange",
            "lengthrange",
        ]
        return self.element(schema, fixed, leave_out=left_out)

    def sensor(self, schema: Element) -> str:
        fixed = {name: self.value(name, schema.attributes[name]) for name in sorted(schema.required)}
        if "objname" in schema.attributes and "objtype" in schema.attributes:
            objtype = self.random.choice(("body", "xbody", "geom", "site", "camera"))
            fixed |= {"objtype": objtype, "objname": self.any(objtype.removeprefix("x"))}
        if schema.tag in ("distance", "normal", "fromto", "contact"):
            kind = self.random.choice(("geom", "body"))
            fixed |= dict(zip((f"{kind}1", f"{kind}2"), self.two(kind), strict=True))
        left_out = ["reftype", "refname", "geom1", "geom2", "body1", "body2", "subtree1", "subtree2", "user"]
        return self.element(schema, {"name": self.name("sensor"), **fixed}, leave_out=left_out, extra=2)

    def custom(self) -> str:
        if self.chance(0.8):
            return ""
        rows = MUJOCO.children["custom"].children
        numeric = self.element(rows["numeric"], {"name": self.name("numeric"), "data": "1 2"}, extra=0)
        text = self.element(rows["text"], {"name": self.name("text"), "data": "hello"})
        pairs = [(kind, self.any(kind)) for kind in self.random.sample(_IN_TUPLES, 2)]
        members = "".join(
            self.element(rows["tuple"].children["element"], {"objtype": kind, "objname": name})
            for kind, name in pairs
            if name != "absent"
        )
        bundle = self.element(rows["tuple"], {"name": self.name("tuple")}, members) if members else ""
        return f"<custom>{numeric}{text}{bundle}</custom>\n"

    def keyframes(self) -> str:
        """Keys; the joints are set only where their number is known."""
        if self.chance(0.8):
            return ""
        row = MUJOCO.children["keyframe"].children["key"]
        sizes = [_COORDINATES[kind] for kind in self.joint_types.values()]
        text = ""
        for _ in self.some(1, 2):
            fixed = {"name": self.name("key")}
            for attribute, numbers in zip(("qpos", "qvel"), map(sum, zip(*sizes, strict=True)), strict=False):
                if not self.uncounted and self.chance(0.5):
                    fixed[attribute] = _many(_number, numbers)(self.random)
            text += self.element(row, fixed, leave_out=["qpos", "qvel", "act", "ctrl", "mpos", "mquat"])
        return f"<keyframe>{text}</keyframe>\n"


_ORIENTED = ["quat", "axisangle", "xyaxes", "zaxis", "euler"]
_SHAPED = ["fromto", "mesh", "hfield", "user", "fitscale", "shellinertia", "size"]
_SOLIDS = ["sphere", "capsule", "cylinder", "ellipsoid", "box"]
_LENS = ["sensorsize", "focal", "focalpixel", "principal", "principalpixel"]
_NO_DEFAULT = [
    "range",
    "limited",
    "actuatorfrclimited",
    *_ORIENTED,
    *_LENS,
    *_SHAPED,
    "type",
    "directional",
    "cranklength",
    "inheritrange",
    "ctrlrange",
]
_COORDINATES = {"hinge": (1, 1), "slide": (1, 1), "ball": (4, 3), "free": (7, 6)}
"""Numbers in qpos and in qvel."""
_IN_TUPLES = ["body", "geom", "site", "joint", "camera", "tendon", "actuator", "sensor"]
_FLEX_PARTS = {"edge": ["stiffness"], "elasticity": ["elastic2d"], "contact": []}
"""Parts of a flexcomp, with attributes that only make sense together with others."""
_INERTIAL = {"pos": "0 0.1 0", "mass": "1", "diaginertia": "1 1.2 1.5"}
_TARGETS = ["joint", "jointinparent", "tendon", "cranksite", "slidersite", "site", "refsite", "body"]
