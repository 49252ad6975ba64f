"""Damaging a model: elements and attributes are deleted, repeated, moved, exchanged, wrapped, or get other values.

Values come from the schema: a number gets a number of another size, a reference the name of something else, a
vector a component too many. Everything is decided by the `random.Random` that is passed in.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any

from lxml import etree

from dovetail.mjcf.read import kinds
from dovetail.mjcf.read.schema import MUJOCO, Element

Donor = Callable[[], Any]

PLAUSIBLE = ["0", "1", "-1", "0.5", "2", "-0.3", "0.01", "0.001", "3", "10", "0.1", "5", "90", "-45", "100"]
EXTREME = [
    "1e-8",
    "1e6",
    "-1e6",
    "1e300",
    "1e-300",
    "1e-15",
    "1e15",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1.",
    ".5",
    "+2",
    "-0",
    "007",
    "1e5",
]
BROKEN = ["", "x", "1e", "0x10", "1,2", "--1", "1 ", " 1", "1;", "true", "1.5.2", "1e+", "٣"]
INTEGERS = ["0", "1", "2", "3", "-1", "4", "5", "6", "7", "10"]
EXTREME_INTEGERS = [
    "-2",
    "100",
    "1000",
    "2147483647",
    "-2147483648",
    "4294967296",
    "1e3",
    "1.5",
    "31",
    "32",
    "255",
]


# ---- the schema of an element in a document


def schema_of(element: Any) -> Element | None:
    """The row of the schema for an element, found by the way from the root; None if there is none."""
    parent = element.getparent()
    if parent is None:
        return MUJOCO if element.tag == "mujoco" else None
    above = schema_of(parent)
    return above.children.get(element.tag) if above is not None else None


def names_of(root: Any, target: str) -> list[str]:
    """Names that an attribute with references to `target` may hold."""
    if target == "default":
        return [e.get("class") for e in root.iter("default") if e.get("class")]
    tags = {"body": "body", "actuator": None, "sensor": None, "tendon": None, "equality": None}
    tag = tags.get(target, target)
    section = f"{target}/*" if tag is None else f".//{tag}"
    return [e.get("name") for e in root.iterfind(section) if e.get("name")]


# ---- values


def value(random: Random, name: str, kind: Any, root: Any) -> str:
    """A text for an attribute: mostly plausible, sometimes extreme, now and then broken."""
    fate = random.random()
    if fate < 0.01:
        return random.choice(BROKEN)
    if isinstance(kind, kinds.Reference):
        return _reference(random, kind, root)
    if isinstance(kind, kinds.Keyword):
        return (
            random.choice(sorted(kind.choices))
            if fate < 0.95
            else random.choice(("none", "0", "TRUE", "auto"))
        )
    if isinstance(kind, kinds.Keywords):
        return " ".join(random.choice(kind.choices) for _ in range(random.randint(1, 3)))
    if isinstance(kind, kinds.Floats):
        least = kind.size if kind.exact else 1
        count = random.randint(least, kind.size) if fate < 0.97 else random.choice((0, 1, kind.size + 1))
        return " ".join(_number(random) for _ in range(count))
    if isinstance(kind, kinds.Ints):
        count = kind.size if fate < 0.97 else random.choice((0, 1, kind.size + 1))
        return " ".join(_integer(random) for _ in range(count))
    if isinstance(kind, kinds.FloatList):
        return " ".join(_number(random) for _ in range(random.choice((1, 2, 3, 4, 6, 9, 12))))
    if isinstance(kind, kinds.IntList):
        return " ".join(_integer(random) for _ in range(random.choice((1, 2, 3, 6))))
    if isinstance(kind, kinds.Int):
        return _integer(random)
    if isinstance(kind, kinds.Float):
        return _number(random)
    return _other(random, kind, root)


def _other(random: Random, kind: Any, root: Any) -> str:
    if isinstance(kind, kinds.MemorySize):
        return random.choice(("-1", "1M", "10K", "100", "1x", "-2", "0"))
    if isinstance(kind, kinds.EulerSeq):
        return random.choice(("xyz", "ZYX", "xyX", "xy", "abc"))
    if isinstance(kind, kinds.Name):
        taken = [e.get("name") for e in root.iter() if e.get("name")]
        return random.choice([*taken[:20], "fresh", "a b", "", "x/y"])
    return random.choice(("", "x", "absent.png", "hello world", "."))


def _reference(random: Random, kind: Any, root: Any) -> str:
    known = names_of(root, kind.target)
    if known and random.random() < 0.95:
        return random.choice(known)
    named = [e.get("name") for e in root.iter() if e.get("name")]
    return random.choice([*named[:10], "absent", "world", "", "main"])


def _number(random: Random) -> str:
    fate = random.random()
    if fate < 0.6:
        return random.choice(PLAUSIBLE)
    if fate < 0.96:
        return f"{random.uniform(-0.5, 2):.4g}"
    return random.choice(EXTREME) if fate < 0.995 else random.choice(BROKEN)


def _integer(random: Random) -> str:
    fate = random.random()
    if fate < 0.95:
        return random.choice(INTEGERS)
    return random.choice(EXTREME_INTEGERS) if fate < 0.985 else random.choice(BROKEN)


# ---- what is done to a document


def damage(root: Any, random: Random, donor: Donor) -> list[str]:
    """Do one to five things to a document, in place; says which."""
    count = random.choice((1, 1, 1, 1, 1, 2, 2, 3))
    return [_one(root, random, donor) for _ in range(count)]


def _one(root: Any, random: Random, donor: Donor) -> str:
    for _ in range(20):
        name = random.choice(_WEIGHTED)
        if _DEEDS[name](root, random, donor):
            return name
    return "nothing"


def _elements(root: Any) -> list[Any]:
    return [e for e in root.iter() if e is not root and isinstance(e.tag, str)]


def _any(root: Any, random: Random) -> Any:
    everything = _elements(root)
    return random.choice(everything) if everything else None


def _delete(root: Any, random: Random, donor: Donor) -> bool:
    element = _any(root, random)
    if element is None:
        return False
    element.getparent().remove(element)
    return True


def _repeat(root: Any, random: Random, donor: Donor) -> bool:
    """A copy beside the element, with other names most of the time."""
    element = _any(root, random)
    if element is None or sum(1 for _ in element.iter()) > 60:
        return False
    again = copy.deepcopy(element)
    if random.random() < 0.7:
        for part in again.iter():
            if part.get("name"):
                part.set("name", part.get("name") + "_again")
    element.addnext(again)
    return True


def _move(root: Any, random: Random, donor: Donor) -> bool:
    """To another place where the schema has such an element, or to any place."""
    element = _any(root, random)
    if element is None:
        return False
    inside = set(element.iter())
    places = [e for e in root.iter() if e not in inside and isinstance(e.tag, str)]
    fitting = [e for e in places if (s := schema_of(e)) is not None and element.tag in s.children]
    target = random.choice(fitting if fitting and random.random() < 0.9 else places)
    target.insert(random.randint(0, len(target)), element)
    return True


def _swap(root: Any, random: Random, donor: Donor) -> bool:
    """Two neighbours change places."""
    parents = [e for e in root.iter() if len(e) > 1]
    if not parents:
        return False
    parent = random.choice(parents)
    first, second = sorted(random.sample(range(len(parent)), 2))
    a, b = parent[first], parent[second]
    parent.insert(first, b)
    parent.insert(second, a)
    return True


def _unset(root: Any, random: Random, donor: Donor) -> bool:
    having = [e for e in _elements(root) if e.attrib]
    if not having:
        return False
    element = random.choice(having)
    del element.attrib[random.choice(list(element.attrib))]
    return True


def _change(root: Any, random: Random, donor: Donor) -> bool:
    """Another value for an attribute that is there."""
    having = [e for e in _elements(root) if e.attrib]
    if not having:
        return False
    element = random.choice(having)
    name, schema = random.choice(list(element.attrib)), schema_of(element)
    kind = schema.attributes.get(name) if schema is not None else None
    element.set(name, value(random, name, kind, root))
    return True


def _tweak(root: Any, random: Random, donor: Donor) -> bool:
    """One number of a vector is changed, left out or repeated."""
    having = [(e, n) for e in _elements(root) for n, text in e.attrib.items() if _numeric(text)]
    if not having:
        return False
    element, name = random.choice(having)
    words = element.get(name).split()
    at, fate = random.randrange(len(words)), random.random()
    if fate < 0.8:
        words[at] = _number(random)
    elif fate < 0.9:
        del words[at]
    else:
        words.insert(at, words[at])
    element.set(name, " ".join(words))
    return True


def _numeric(text: str) -> bool:
    try:
        return bool([float(word) for word in text.split()])
    except ValueError:
        return False


def _set(root: Any, random: Random, donor: Donor) -> bool:
    """An attribute that is not there."""
    element = _any(root, random)
    schema = schema_of(element) if element is not None else None
    if schema is None or not schema.attributes:
        return False
    possible = [
        n for n in sorted(schema.attributes) if _first_of_its_sort(element, n) or random.random() < 0.1
    ]
    name = random.choice(possible or sorted(schema.attributes)) if random.random() < 0.97 else "strange"
    element.set(name, value(random, name, schema.attributes.get(name), root))
    return True


_SORTS = (
    frozenset(["quat", "axisangle", "xyaxes", "zaxis", "euler"]),
    frozenset(["joint", "jointinparent", "tendon", "site", "body", "cranksite"]),
    frozenset(["ctrlrange", "inheritrange"]),
)
"""Attributes of which an element may have one."""


def _first_of_its_sort(element: Any, name: str) -> bool:
    return not any(name in sort and sort & set(element.attrib) for sort in _SORTS)


def _add(root: Any, random: Random, donor: Donor) -> bool:
    """A new element that the schema allows, with some attributes."""
    parent = random.choice([root, *_elements(root)])
    schema = schema_of(parent)
    if schema is None or not schema.children:
        return False
    row = schema.children[random.choice(sorted(schema.children))]
    element = etree.SubElement(parent, row.tag)
    wanted = set(row.required) if random.random() < 0.9 else set()
    wanted |= set(random.sample(sorted(row.attributes), min(len(row.attributes), random.randint(0, 4))))
    for name in sorted(wanted):
        if _first_of_its_sort(element, name) or random.random() < 0.1:
            element.set(name, value(random, name, row.attributes[name], root))
    parent.insert(random.randint(0, len(parent)), element)
    return True


def _transplant(root: Any, random: Random, donor: Donor) -> bool:
    """An element of another model, where the schema has a place for it."""
    other = _elements(donor())
    if not other:
        return False
    chosen = random.choice(other)
    element = copy.deepcopy(chosen)
    if sum(1 for _ in element.iter()) > 60:
        return False
    if random.random() < 0.8:
        _forget(element, schema_of(chosen), root)
    places = [e for e in root.iter() if (s := schema_of(e)) is not None and element.tag in s.children]
    if not places:
        return False
    random.choice(places).append(element)
    return True


def _forget(element: Any, schema: Element | None, root: Any) -> None:
    """Leave out references to what the document does not have, and names that it has already."""
    taken = {e.get("name") for e in root.iter() if e.get("name")}
    for name in list(element.attrib):
        kind = schema.attributes.get(name) if schema is not None else None
        absent = isinstance(kind, kinds.Reference) and element.get(name) not in names_of(root, kind.target)
        if absent or (name == "name" and element.get(name) in taken):
            del element.attrib[name]
    for child in element:
        _forget(child, schema.children.get(child.tag) if schema is not None else None, root)


def _combine(root: Any, random: Random, donor: Donor) -> bool:
    """The sections of another model beside those of this one, its names changed in most cases."""
    other = copy.deepcopy(donor())
    if sum(1 for _ in other.iter()) > 120 or sum(1 for _ in root.iter()) > 250:
        return False
    if random.random() < 0.8:
        _rename(other)
    for section in list(other):
        root.append(section)
    return True


def _rename(root: Any) -> None:
    """Every name and every word that is one gets a prefix."""
    for element in root.iter():
        schema = schema_of(element)
        for name, text in element.attrib.items():
            kind = schema.attributes.get(name) if schema is not None else None
            if isinstance(kind, kinds.Reference | kinds.Name) and text not in ("main", "world", ""):
                element.set(name, "two_" + text)


def _wrap(root: Any, random: Random, donor: Donor) -> bool:
    """A frame or a replicate around elements of a body."""
    inside = [e for e in _elements(root) if e.tag in _WRAPPED and e.getparent().tag in _HOLDERS]
    if not inside:
        return False
    element = random.choice(inside)
    tag = random.choice(("frame", "replicate"))
    schema = MUJOCO.children["worldbody"].children[tag]
    around = etree.Element(tag)
    if tag == "replicate":
        around.set("count", random.choice("12234"))
    for name in random.sample(sorted(schema.attributes), random.randint(0, 3)):
        if name not in ("count", "name") and _first_of_its_sort(around, name):
            around.set(name, value(random, name, schema.attributes[name], root))
    element.addprevious(around)
    around.append(element)
    return True


_WRAPPED = ("body", "geom", "site", "joint", "camera", "light", "frame", "replicate", "composite", "flexcomp")
_HOLDERS = ("body", "worldbody", "frame", "replicate")


def _attach(root: Any, random: Random, donor: Donor) -> bool:
    """A body of the model itself moves to a model of its own, written in the asset section, and is attached."""
    if any(True for _ in root.iter("attach")):
        return False
    other = copy.deepcopy(donor())
    bodies = [b for b in other.iterfind("worldbody/body") if b.get("name")]
    places = [e for e in root.iter() if e.tag in ("worldbody", "body", "frame")]
    if not bodies or not places or any(e.get("file") for e in other.iter()):
        return False
    folder_of_files = etree.SubElement(root, "asset")
    model = etree.SubElement(folder_of_files, "model")
    model.set("name", "attached")
    model.set("file", "attached.xml")
    where = etree.SubElement(random.choice(places), "attach")
    where.set("model", "attached")
    if random.random() < 0.8:
        where.set("body", random.choice(bodies).get("name"))
    where.set("prefix", random.choice(("two_", "two_", "", "a/")))
    root.set("attached", etree.tostring(other).decode())  # a note for `separate`
    return True


def _default(root: Any, random: Random, donor: Donor) -> bool:
    """A default for a kind of element that is there, in a class or in main, perhaps used."""
    section = root.find("default")
    if section is None:
        section = etree.Element("default")
        root.insert(0, section)
    kinds_here = [e.tag for e in _elements(root) if e.tag in MUJOCO.children["default"].children]
    tag = random.choice(kinds_here or ["geom"])
    row = MUJOCO.children["default"].children[tag]
    holder = section
    if random.random() < 0.5:
        holder = etree.SubElement(section, "default")
        holder.set("class", random.choice(("fresh", "fresh", "world")))
        users = [e for e in _elements(root) if e.tag == tag and e.getparent().tag != "default"]
        for user in users[: random.randint(0, 3)]:
            user.set("class", holder.get("class"))
    element = etree.SubElement(holder, tag)
    for name in random.sample(sorted(row.attributes), min(2, len(row.attributes))):
        element.set(name, value(random, name, row.attributes[name], root))
    return True


def _include(root: Any, random: Random, donor: Donor) -> bool:
    """An include of a file that is not there, or of the model itself."""
    element = etree.SubElement(random.choice([root, *_elements(root)]), "include")
    element.set("file", random.choice(("model.xml", "absent.xml", "", ".")))
    return True


_DEEDS: dict[str, Callable[[Any, Random, Donor], bool]] = {
    "delete": _delete,
    "repeat": _repeat,
    "move": _move,
    "swap": _swap,
    "unset": _unset,
    "change": _change,
    "tweak": _tweak,
    "set": _set,
    "add": _add,
    "transplant": _transplant,
    "combine": _combine,
    "wrap": _wrap,
    "default": _default,
    "include": _include,
    "attach": _attach,
}
_WEIGHTS = {
    "set": 6,
    "change": 3,
    "tweak": 6,
    "add": 3,
    "transplant": 3,
    "wrap": 3,
    "default": 2,
    "attach": 2,
}
_WEIGHTED = [name for name in _DEEDS for _ in range(_WEIGHTS.get(name, 1)) if name != "include"]
_WEIGHTED = _WEIGHTED * 3 + ["include"]


def separate(root: Any) -> bytes | None:
    """The attached model that `attach` left in the root, taken out of it; None if there is none."""
    text = root.attrib.pop("attached", None)
    return None if text is None else text.encode()


# ---- text


SCRAPS = [
    b'"',
    b"<",
    b">",
    b"/>",
    b" ",
    b"&",
    b"&amp;",
    b"=",
    b"'",
    b"<!--",
    b"-->",
    b"\x00",
    b"\xff",
    b"\xc3",
    b"<a>",
]
SCRAPS += [b"]]>", b"<![CDATA[", b"<?x?>", b"1", b"-", b"&#65;", b"&#0;", b"\r", b"\t", b"<!DOCTYPE mujoco>"]


def damaged_text(text: bytes, random: Random) -> tuple[bytes, str]:
    """A byte changed, a scrap put in, a piece cut out or repeated elsewhere."""
    at = random.randrange(len(text)) if text else 0
    kind = random.randrange(5)
    if kind == 0:
        return text[:at] + random.choice(SCRAPS) + text[at:], "scrap"
    if kind == 1:
        return text[:at] + text[at + random.randrange(1, 30) :], "cut"
    if kind == 2:
        source = random.randrange(len(text))
        return text[:at] + text[source : source + random.randrange(1, 40)] + text[at:], "paste"
    if kind == 3:
        return text[:at] + bytes([random.randrange(256)]) + text[at + 1 :], "byte"
    return text[:at], "end"


def damaged_bytes(content: bytes, random: Random) -> bytes:
    """A file of any kind with some of its bytes changed, cut, repeated or put in the way of a number."""
    for _ in range(random.choice((1, 1, 2, 4, 8))):
        at, kind = random.randrange(len(content) + 1), random.randrange(7)
        piece = content[at : at + random.choice((1, 4, 8, 50))]
        if kind == 0:
            content = content[:at] + bytes([random.randrange(256)]) + content[at + 1 :]
        elif kind == 1:
            content = content[:at] + content[at + len(piece) :]
        elif kind == 2:
            content = content[:at] + piece * random.choice((2, 10)) + content[at:]
        elif kind == 3:
            content = (
                content[:at]
                + random.choice((b"\xff\xff\xff\x7f", b"\0\0\0\0", b"\0\0\xc0\x7f", b"\xff" * 4))
                + content[at + 4 :]
            )
        elif kind == 4:
            content = content[:at] + random.choice(_WORDS) + content[at + random.choice((0, 1, 4)) :]
        elif kind == 5:
            content = content[: random.choice((at, len(content)))]
        else:
            bit = 1 << random.randrange(8)
            content = content[:at] + bytes(b ^ bit for b in content[at : at + 1]) + content[at + 1 :]
    return content


_WORDS = [
    b" nan ",
    b" 1e400 ",
    b" -1 ",
    b" 999999999 ",
    b"\n",
    b"\nf 1 2 3\n",
    b"\nv 0 0 0\n",
    b" 1//2 ",
    b"[[",
    b'"',
    b" = ",
]
