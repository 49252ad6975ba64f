"""Random documents of several files that attach and replicate parts, with elements that refer to them."""

from __future__ import annotations

import random

import attrs

PREFIXES = ("", "p", "q-", "r_")
KINDS = ("body", "joint", "geom", "site")
MATERIALS = """<material name="m1" texture="tx"/><material name="m2"/>
<texture name="tx" type="2d" builtin="flat" width="2" height="2"/>"""


@attrs.define
class Writer:
    """Writes one document; `parts` are the models that it may attach, with the names of their bodies."""

    chance: random.Random
    parts: dict[str, list[str]]
    names: dict[str, list[str]] = attrs.field(factory=lambda: {kind: [] for kind in KINDS})
    classes: list[str] = attrs.field(factory=list)
    count: int = 0

    def document(self) -> str:
        default = self._defaults()
        models = "".join(f'<model name="{name}" file="{name}.xml"/>' for name in self.parts)
        tree = "".join(self._item(2) for _ in range(self.chance.randint(1, 3)))
        elements = "".join(self._element() for _ in range(self.chance.randint(0, 4)))
        key = '<keyframe><key name="k" time="1"/></keyframe>' if self.chance.random() < 0.15 else ""
        return (
            f"<mujoco>{default}<asset>{MATERIALS}{models}</asset>"
            f"<worldbody>{tree}</worldbody>{elements}{key}</mujoco>"
        )

    def _defaults(self) -> str:
        inner = ""
        for name in self.chance.sample(["c1", "c2"], self.chance.randint(0, 2)):
            material = self.chance.choice(["", 'material="m1"'])
            inner += (
                f'<default class="{name}"><geom rgba=".5 0 0 1" {material}/><joint damping=".2"/></default>'
            )
            self.classes.append(name)
        return f'<default><geom size=".1" {self.chance.choice(["", "material=~m2~"])}/>{inner}</default>'.replace(
            "~", '"'
        )

    def _name(self, kind: str) -> str:
        self.count += 1
        name = f"{kind[0]}{self.count}"
        self.names[kind].append(name)
        return f'name="{name}"'

    def _class(self, attribute: str) -> str:
        if not self.classes or self.chance.random() < 0.7:
            return ""
        return f'{attribute}="{self.chance.choice(self.classes)}"'

    def _pose(self) -> str:
        return self.chance.choice(
            ["", 'pos="1 .5 0"', f'pos=".1 .2 .3" euler="0 {self.chance.randint(0, 90)} 10"']
        )

    def _item(self, depth: int) -> str:
        kind = self.chance.choice(["body", "body", "geom", "site", "frame", "replicate", "attach"])
        if kind == "attach" and self.parts:
            return self._attach()
        inside = "".join(self._item(depth - 1) for _ in range(self.chance.randint(1, 2))) if depth else ""
        if kind == "frame":
            return f"<frame {self._pose()} {self._class('childclass')}>{inside}</frame>"
        if kind == "replicate":
            sep = self.chance.choice(["", 'sep="-"', 'sep="_"'])
            turn = self.chance.choice(["", 'euler="0 0 30"', 'offset="1 0 0"'])
            count = self.chance.choice([0, 1, 2, 2, 3])
            return f'<replicate count="{count}" {sep} {turn} {self._class("childclass")}>{inside}</replicate>'
        if kind in ("geom", "site"):
            return f"<{kind} {self._name(kind)} {self._pose()}/>"
        joint = self.chance.choice(["", f"<joint {self._name('joint')} {self._class('class')}/>"])
        geom = f"<geom {self._name('geom')} {self._class('class')}/>"
        head = f"<body {self._name('body')} {self._pose()} {self._class('childclass')}>"
        return f"{head}{joint}{geom}<site {self._name('site')}/>{inside}</body>"

    def _attach(self) -> str:
        model = self.chance.choice(list(self.parts))
        self.count += 1
        prefix = f"{self.chance.choice(PREFIXES)}{self.count}" if self.chance.random() < 0.95 else ""
        bodies = self.parts[model]
        body = f'body="{self.chance.choice(bodies)}"' if bodies and self.chance.random() < 0.6 else ""
        return f'<attach model="{model}" prefix="{prefix}" {body}/>'

    def _element(self) -> str:
        self.count += 1
        name, used = f'name="e{self.count}"', {}
        for kind, names in self.names.items():
            picked = self.chance.sample(names, min(2, len(names)))
            used |= {f"{kind}{place + 1}": name for place, name in enumerate(picked)}
        section, text = self.chance.choice(ELEMENTS)
        try:
            return f"<{section}>{text.format(name=name, **used)}</{section}>"
        except KeyError:  # too few objects of a kind
            return ""


ELEMENTS = [
    ("contact", '<pair {name} geom1="{geom1}" geom2="{geom2}"/>'),
    ("contact", '<exclude {name} body1="{body1}" body2="{body2}"/>'),
    ("tendon", '<spatial {name}><site site="{site1}"/><site site="{site2}"/></spatial>'),
    (
        "tendon",
        '<spatial {name}><site site="{site1}"/><geom geom="{geom1}"/><site site="{site2}"/></spatial>',
    ),
    (
        "tendon",
        '<spatial {name}><site site="{site1}"/><geom geom="{geom1}" sidesite="{site2}"/><site site="{site2}"/>'
        "</spatial>",
    ),
    ("tendon", '<fixed {name}><joint joint="{joint1}" coef="1"/></fixed>'),
    ("equality", '<connect {name} body1="{body1}" body2="{body2}" anchor="0 0 0"/>'),
    ("equality", '<weld {name} body1="{body1}"/>'),
    ("equality", '<joint {name} joint1="{joint1}" joint2="{joint2}"/>'),
    ("actuator", '<motor {name} joint="{joint1}"/>'),
    ("actuator", '<motor {name} site="{site1}" refsite="{site2}"/>'),
    ("sensor", '<framepos {name} objtype="site" objname="{site1}" reftype="body" refname="{body1}"/>'),
    ("sensor", '<framepos {name} objtype="body" objname="{body1}" reftype="body" refname="world"/>'),
    ("sensor", '<jointpos {name} joint="{joint1}"/>'),
    ("sensor", '<distance {name} geom1="{geom1}" geom2="{geom2}"/>'),
    ("sensor", '<contact {name} subtree1="{body1}"/>'),
]


def files(seed: int) -> tuple[str, dict[str, str]]:
    """A main model, and the models that it may attach."""
    chance = random.Random(seed)
    models: dict[str, str] = {}
    parts: dict[str, list[str]] = {}
    for name in ("m", "n")[: chance.randint(1, 2)]:
        writer = Writer(chance, dict(parts) if chance.random() < 0.5 else {})
        models[f"{name}.xml"] = writer.document()
        parts[name] = writer.names["body"]
    return Writer(chance, parts).document(), models
