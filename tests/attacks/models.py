"""Models that ask for too much, in few or in many bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .case import Build, Table

CASES = Table("model")


def text(xml: str, **options: Any) -> Build:
    """Load a text."""

    def build(folder: Path) -> Any:
        import dovetail

        return lambda: dovetail.loads(xml, **options)

    return build


def made(make: Any) -> Build:
    """Load a text that is made only when the case runs, because it is long."""
    return lambda folder: text(make())(folder)


def model(xml: str, error: str, fragment: str, name: str, **options: Any) -> None:
    CASES.add(name, error, fragment, text(f"<mujoco>{xml}</mujoco>", **options))


def long(name: str, error: str, fragment: str, make: Any, *, slow: bool = False) -> None:
    CASES.add(name, error, fragment, made(lambda: f"<mujoco>{make()}</mujoco>"), slow=slow)


BODY = "<body><freejoint/><geom size='.1'/></body>"

# Counts that ask for more than any memory holds

for count in (10**9, 2**31 - 1, 10**6):
    model(
        f"<worldbody><replicate count='{count}'>{BODY}</replicate></worldbody>",
        "MJCFError",
        "elements; the most is",
        f"replicate {count} times",
    )
model(
    "<worldbody>" + "<replicate count='1000'>" * 4 + BODY + "</replicate>" * 4 + "</worldbody>",
    "MJCFError",
    "elements; the most is",
    "nested replicates",
)
model(
    "<worldbody><replicate count='99999999999999999999'><geom size='1'/></replicate></worldbody>",
    "MJCFError",
    "count",
    "replicate with a count beyond 64 bits",
)
for kind, count in (("grid", "30000 30000 1"), ("box", "2000 2000 2000"), ("square", "100000 100000 1")):
    model(
        f"<worldbody><flexcomp name='f' type='{kind}' count='{count}' spacing='.1 .1 .1' dim='2'/></worldbody>",
        "MJCFError",
        "too many points",
        f"flexcomp {kind} of {count}",
    )
model(
    "<worldbody><composite type='cable' prefix='c' count='1000000000 1 1' size='1' curve='s'/></worldbody>",
    "MJCFError",
    "count",
    "cable of a thousand million parts",
)
model(
    "<worldbody><composite type='grid' prefix='c' count='100000 100000 1' spacing='1'/></worldbody>",
    "MJCFError",
    "composite",
    "composite of a removed kind with a huge count",
)
for name in (
    "nuserdata",
    "nkey",
    "nuser_body",
    "nuser_geom",
    "nuser_sensor",
    "nuser_jnt",
    "njmax",
    "nconmax",
):
    model(f"<size {name}='2000000000'/>", "TooLargeError", "absurdly large", f"size {name}")
model("<size memory='900000000000G'/>", "MJCFError", "memory", "size memory beyond 64 bits")
model("<size nstack='99999999999999999999999'/>", "MJCFError", "nstack", "size nstack beyond 64 bits")
model(
    f"<size nkey='1000000'/><worldbody><replicate count='300' offset='1 0 0'>{BODY}</replicate></worldbody>",
    "CapacityError",
    "1,000,000 keyframes of",
    "a million keyframes of a model with 2100 positions",
)
model(
    f"<size nuser_body='9000000'/><worldbody><replicate count='300' offset='1 0 0'>{BODY}</replicate></worldbody>",
    "CapacityError",
    "nuser_body = 9,000,000 for 301 objects",
    "user data of every body",
)
for dim in (2 * 10**9, 10**12):
    model(
        f"<sensor><user dim='{dim}'/></sensor>",
        "TooLargeError" if dim < 2**31 else "MJCFError",
        "dim",
        f"user sensor with {dim} numbers",
    )
model(
    "<sensor>" + "<user dim='16000000'/>" * 200 + "</sensor>",
    "TooLargeError",
    "too many numbers",
    "user sensors that add up",
)
for attribute in ("nrow", "ncol"):
    other = "ncol" if attribute == "nrow" else "nrow"
    model(
        f"<asset><hfield name='h' size='1 1 1 1' {attribute}='2000000000' {other}='1'/></asset>",
        "MJCFError",
        "pixels",
        f"height field with {attribute} of two thousand million",
    )
model(
    "<asset><hfield name='h' size='1 1 1 1' nrow='100000' ncol='100000'/></asset>",
    "MJCFError",
    "pixels",
    "height field of 10^10 samples",
)
model(
    "<asset><hfield name='h' size='1 1 1 1' nrow='8000' ncol='8000' elevation='1 2'/></asset>",
    "MJCFError",
    "elevation has 2 numbers",
    "height field with too few samples",
)
for width, height in ((100000, 100000), (2**31 - 1, 1), (2**31 - 1, 2**31 - 1)):
    model(
        f"<asset><texture name='t' type='2d' builtin='flat' width='{width}' height='{height}'/></asset>",
        "TooLargeError",
        "large",
        f"texture of {width} × {height} pixels",
    )
model(
    "<asset><texture name='t' type='cube' builtin='gradient' width='60000' height='60000'/></asset>",
    "TooLargeError",
    "large",
    "cube texture of 60000 pixels",
)
model(
    "<asset><mesh name='m' builtin='sphere' params='100000'/></asset>",
    "MJCFError",
    "at most",
    "sphere mesh of level 100000",
)
model(
    "<asset><mesh name='m' builtin='supersphere' params='100000 1 1'/></asset>",
    "MJCFError",
    "",
    "supersphere with a huge resolution",
)
model("<custom><numeric name='n' size='2000000000'/></custom>", "MJCFError", "size", "numeric of 2e9 numbers")
model(
    "<worldbody>" + "<body>" * 3 + BODY + "</body>" * 3 + "</worldbody><option iterations='99999999999'/>",
    "MJCFError",
    "iterations",
    "iterations beyond 32 bits",
)
model("<option sdf_initpoints='2000000000'/>", "", "", "many starting points that nothing uses")
model(
    "<worldbody><body><joint/><geom size='1'/></body></worldbody>"
    "<actuator><general joint='j' dyntype='user' actdim='2000000000'/></actuator>",
    "MJCFError",
    "",
    "actuator with 2e9 activations",
)

# Long and deep documents

long("a million unknown elements", "MJCFError", "150,000 elements", lambda: "<x/>" * 1_000_000)
long("140,000 unknown elements", "MJCFError", "unknown element", lambda: "<x/>" * 140_000)
long(
    "100,000 unknown geom attributes",
    "MJCFError",
    "unknown attribute",
    lambda: "<worldbody>" + "<geom a='1'/>" * 100_000 + "</worldbody>",
)
long(
    "an element with 100,000 attributes",
    "MJCFError",
    "200 attributes",
    lambda: "<option " + " ".join(f"a{i}='1'" for i in range(100_000)) + "/>",
)
long(
    "an element with 100,000 attributes that are no XML",
    "MJCFError",
    "",
    lambda: "<option " + " ".join(f"a{i}='1" for i in range(100_000)) + "/>",
)
long("a hundred thousand levels", "MJCFError", "", lambda: "<body>" * 100_000 + "</body>" * 100_000)
long("a hundred thousand levels, never closed", "MJCFError", "", lambda: "<body>" * 100_000)
long(
    "100,000 nested default classes",
    "MJCFError",
    "",
    lambda: "".join(f"<default class='c{i}'>" for i in range(100_000)) + "</default>" * 100_000,
)
long(
    "50,000 default classes of the same name",
    "MJCFError",
    "",
    lambda: "<default><default class='a'/>" + "<default class='a'/>" * 50_000 + "</default>",
)
long("100,000 includes", "MJCFError", "file not found", lambda: "<include file='no.xml'/>" * 100_000)
long("100,000 closing tags without an opening one", "MJCFError", "malformed XML", lambda: "</body>" * 100_000)
long("10 MB of <", "MJCFError", "", lambda: "<" * 10_000_000)
long("10 MB of &", "", "", lambda: "&" * 10_000_000)
long("10 MB of comments that do not end", "MJCFError", "", lambda: "<!--" * 2_500_000)
long("10 MB of white space, then nonsense", "MJCFError", "", lambda: " " * 10_000_000 + "<x>")
long("10 MB of CDATA", "MJCFError", "", lambda: "<![CDATA[" * 1_000_000)
long("10 MB of processing instructions", "MJCFError", "", lambda: "<?x ?>" * 200_000 + "<x/>")
long(
    "a name of 10 MB",
    "MJCFError",
    "",
    lambda: f"<worldbody><geom size='-1' name='{'n' * 10_000_000}'/></worldbody>",
)
long("an element's name of 10 MB", "MJCFError", "", lambda: f"<{'n' * 10_000_000}/>")
long("an attribute's name of 10 MB", "MJCFError", "", lambda: f"<option {'n' * 10_000_000}='1'/>")
long(
    "a million numbers", "MJCFError", "", lambda: f"<worldbody><geom size='{'1 ' * 1_000_000}'/></worldbody>"
)
long("a number of a million digits", "MJCFError", "", lambda: f"<option timestep='{'9' * 1_000_000}x'/>")
long("a number of a million zeros", "MJCFError", "", lambda: f"<option timestep='0.{'0' * 1_000_000}e'/>")
long(
    "a number of 8 kB that almost is one",
    "MJCFError",
    "",
    lambda: f"<option timestep='{'1' * 4000}.{'1' * 4000}.'/>",
)
long("an integer of a million digits", "MJCFError", "", lambda: f"<option iterations='{'9' * 1_000_000}'/>")
long("an exponent of a million digits", "MJCFError", "", lambda: f"<option timestep='1e{'9' * 1_000_000}'/>")
long(
    "20,000 bodies of the same name",
    "MJCFError",
    "",
    lambda: "<worldbody>" + "<body name='b'/>" * 20_000 + "</worldbody>",
)
long(
    "50,000 keyframes of a wrong length",
    "MJCFError",
    "qpos",
    lambda: "<keyframe>" + "<key qpos='1'/>" * 50_000 + "</keyframe>",
)
long(
    "50,000 references to nothing",
    "MJCFError",
    "",
    lambda: (
        "<worldbody>"
        + "".join(f"<site name='s{i}'/>" for i in range(20_000))
        + "</worldbody><sensor>"
        + "<framepos objtype='site' objname='s'/>" * 20_000
        + "</sensor>"
    ),
)
long(
    "a tendon through 50,000 sites that do not exist",
    "MJCFError",
    "",
    lambda: "<tendon><spatial>" + "<site site='a'/>" * 50_000 + "</spatial></tendon>",
)
long(
    "50,000 textures without a file",
    "MJCFError",
    "",
    lambda: "<asset>" + "".join(f"<texture name='t{i}' type='2d'/>" for i in range(50_000)) + "</asset>",
)
long(
    "50,000 excluded pairs of nothing",
    "MJCFError",
    "",
    lambda: "<contact>" + "<exclude body1='a' body2='b'/>" * 50_000 + "</contact>",
)
long(
    "a tuple of 50,000 things that do not exist",
    "MJCFError",
    "",
    lambda: (
        "<custom><tuple name='t'>" + "<element objtype='body' objname='x'/>" * 50_000 + "</tuple></custom>"
    ),
)

# Text that is none, and XML's own traps


def whole(name: str, fragment: str, content: Any, error: str = "MJCFError") -> None:
    CASES.add(name, error, fragment, text(content))


whole("empty text", "empty", "")
whole("white space", "empty", " \n\t ")
whole("NUL bytes", "", "\0" * 1000)
whole("no XML", "", "hello")
whole("half a tag", "", "<mujoco")
whole("UTF-16", "UTF-8", "<mujoco/>".encode("utf-16"))
whole("bytes that are no text", "UTF-8", bytes(range(128, 256)))
whole("a lone surrogate", "UTF-8", "<mujoco model='\ud800'/>")
whole(
    "a thousand million laughs",
    "DOCTYPE",
    "<!DOCTYPE m [<!ENTITY a 'ha'>"
    + "".join(f"<!ENTITY {chr(98 + i)} '{f'&{chr(97 + i)};' * 10}'>" for i in range(9))
    + "]><mujoco model='&j;'/>",
)
whole(
    "an external entity",
    "DOCTYPE",
    "<!DOCTYPE m [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><mujoco model='&a;'/>",
)
whole("an external DTD", "DOCTYPE", "<!DOCTYPE m SYSTEM 'http://localhost/x.dtd'><mujoco/>")
whole("parameter entities", "DOCTYPE", "<!DOCTYPE m [<!ENTITY % a 'x'> %a;]><mujoco/>")
whole("another root element", "", "<nothing/>")
whole("two root elements", "", "<mujoco><x/></mujoco><mujoco/>")
