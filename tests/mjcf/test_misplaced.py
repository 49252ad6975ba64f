"""Elements in wrong places: refused where MuJoCo refuses them, ignored with a warning where it ignores them."""

from __future__ import annotations

import pytest
from compiling import compile_text

from dovetail.errors import MJCFError
from dovetail.mjcf.read import schema
from dovetail.mjcf.read.validate import IgnoredWarning

STRAY = {
    "body": '<body name="a"><geom name="g" size="1"/></body>',
    "frame": '<frame pos="1 2 3"><geom name="g" size="1"/></frame>',
    "replicate": "<replicate/>",
    "with values that mean nothing": '<body pos="x"><geom/></body>',
    "twice": "<body/><body/>",
    "beside the world": '<worldbody><geom name="w" size="1"/></worldbody><body><geom name="g" size="1"/></body>',
    "unknown attribute": '<body foo="1"/>',
    "attribute of another": '<replicate count="2"/>',
    "unknown child": "<body><foo/></body>",
    "unknown attribute below": '<body><geom foo="1"/></body>',
    "unchecked frame below": '<body><frame foo="1"><foo/></frame></body>',
    "inertial twice": "<body><inertial/><inertial/></body>",
    "geom": "<geom/>",
    "name that others use": '<body name="a"/><contact><exclude body1="a" body2="world"/></contact>',
}


@pytest.mark.parametrize("case", STRAY)
@pytest.mark.filterwarnings("ignore::dovetail.mjcf.read.validate.IgnoredWarning")
def test_tree_elements_beside_the_sections(case):
    mujoco = pytest.importorskip("mujoco")
    xml = f"<mujoco>{STRAY[case]}</mujoco>"
    try:
        theirs = mujoco.MjModel.from_xml_string(xml)
    except ValueError:
        with pytest.raises(MJCFError):
            compile_text(xml)
    else:
        ours = compile_text(xml)
        assert (ours.sizes["nbody"], ours.sizes["ngeom"]) == (theirs.nbody, theirs.ngeom)


def test_a_warning_says_where_the_body_belongs():
    with pytest.warns(IgnoredWarning, match=r'm\.xml:2: <body name="a">: stands outside <worldbody>'):
        compile_text('<mujoco>\n<body name="a"/></mujoco>', filename="m.xml")


def places() -> list[str]:
    inside = tuple(f"mujoco/worldbody/{tag}/" for tag in ("body", "frame", "replicate"))
    return [path for path, _ in schema.rows() if not path.startswith(inside) and path.count("/") <= 4]


VALUES = {"type": "cable", "count": "2", "pos": "0 0 0", "mass": "1", "size": "1 1 1 1", "kind": "main"}


def written(path: str, inside: str, table: dict[str, schema.Element]) -> str:
    """The element of a path with those around it, required attributes included."""
    parts = path.split("/")
    for depth in range(len(parts), 0, -1):
        row = table["/".join(parts[:depth])]
        attributes = "".join(f' {name}="{VALUES.get(name, "1")}"' for name in sorted(row.required))
        inside = f"<{row.tag}{attributes}>{inside}</{row.tag}>"
    return inside


TAGS = ("body", "geom", "joint", "default", "flag", "plugin", "config", "worldbody", "key", "mujoco", "foo")


def verdict(load, refusal, xml: str) -> str:
    try:
        load(xml)
    except refusal as error:
        words = ("unknown element", "Schema violation: unrecognized element")
        return "misplaced" if any(word in str(error) for word in words) else "refused"
    return "accepted"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dovetail.mjcf.read.validate.IgnoredWarning")
def test_elements_at_every_place():
    """What one calls misplaced the other does not accept; inside frames and replicates MuJoCo does not look."""
    mujoco = pytest.importorskip("mujoco")
    table = dict(schema.rows())
    for place in places():
        if place.rpartition("/")[2] in ("frame", "replicate"):
            continue
        for tag in TAGS:
            xml = written(place, f"<{tag}/>", table)
            both = {
                verdict(compile_text, MJCFError, xml),
                verdict(mujoco.MjSpec.from_string, ValueError, xml),
            }
            assert both != {"misplaced", "accepted"}, xml
