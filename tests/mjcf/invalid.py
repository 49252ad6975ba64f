"""Invalid documents: one sound model with a place for a mistake in every section, and the mistakes.

A mistake is one line, so the error must name the line of its section.
"""

from __future__ import annotations

import re

import attrs

LINES = [
    "<mujoco>",
    "{settings}",
    "<default>{default}</default>",
    "<custom>{custom}</custom>",
    "<asset>{asset}</asset>",
    "<worldbody>",
    '<geom name="floor" type="plane" size="1 1 .1"/>',
    "{world}",
    '<body name="a" pos="0 0 1">',
    '<joint name="h" range="0 1"/><joint name="sl" type="slide" axis="1 0 0"/>',
    '<geom name="ga" size=".1"/>',
    '<site name="sa"/>',
    "{body}",
    '<body name="b" pos="1 0 0">',
    '<joint name="bl" type="ball"/><geom name="gb" type="box" size=".1 .1 .1"/><site name="sb"/>',
    "</body></body>",
    "</worldbody>",
    "<deformable>{deformable}</deformable>",
    "<contact>{contact}</contact>",
    '<tendon><fixed name="t"><joint joint="h" coef="1"/></fixed>{tendon}</tendon>',
    "<equality>{equality}</equality>",
    '<actuator><motor name="m" joint="h"/>{actuator}</actuator>',
    "<sensor>{sensor}</sensor>",
    "<keyframe>{keyframe}</keyframe>",
    "</mujoco>",
]
"""The sound model; without a mistake the places in braces are empty."""


@attrs.frozen
class Mistake:
    """One wrong line."""

    section: str
    line: str
    says: str
    """What the message must contain."""
    stricter: str = ""
    """Why dovetail refuses it although MuJoCo 3.4.0 does not; empty if MuJoCo refuses it too."""

    @property
    def number(self) -> int:
        """The line of the file that the error must name."""
        return next(n for n, text in enumerate(LINES, 1) if f"{{{self.section}}}" in text)

    @property
    def document(self) -> str:
        return document(self.section, self.line)


def document(section: str = "", line: str = "") -> str:
    """The sound model with a line put into one of its sections."""
    return "\n".join(_EMPTY.sub("", text.replace(f"{{{section}}}", line)) for text in LINES)


_EMPTY = re.compile(r"\{\w+\}")


MISTAKES = [
    Mistake(
        "settings",
        '<compiler angle="grad"/>',
        "attribute 'angle': 'grad' is not a keyword here; did you mean 'radian'?",
    ),
    Mistake("settings", '<compiler eulerseq="xy"/>', "attribute 'eulerseq': 'xy' is not an Euler sequence"),
    Mistake("settings", '<compiler boundmass="-x"/>', "attribute 'boundmass': '-x' is not a number"),
    Mistake(
        "settings",
        '<compiler inertiafromgeom="maybe"/>',
        "attribute 'inertiafromgeom': 'maybe' is not a keyword here",
    ),
    Mistake(
        "settings", '<compiler inertiagrouprange="1 2 3"/>', "attribute 'inertiagrouprange': has 3 values"
    ),
    Mistake(
        "settings",
        '<compiler coordinate="global"/>',
        "global coordinates are no longer MJCF; convert the model to local",
    ),
    Mistake(
        "settings",
        '<compiler autolimit="true"/>',
        "unknown attribute 'autolimit'; did you mean 'autolimits'?",
    ),
    Mistake(
        "settings",
        '<compiler><lengthrange mode="most"/></compiler>',
        "attribute 'mode': 'most' is not a keyword here",
    ),
    Mistake(
        "settings",
        "<compiler><lengthrange/><lengthrange/></compiler>",
        "<lengthrange> appears 2 times in <compiler>",
    ),
    Mistake(
        "settings", '<compiler settotalmass="heavy"/>', "attribute 'settotalmass': 'heavy' is not a number"
    ),
    Mistake("settings", '<option timestep="fast"/>', "attribute 'timestep': 'fast' is not a number"),
    Mistake("settings", '<option gravity="0 0"/>', "attribute 'gravity': has 2 values"),
    Mistake("settings", '<option gravity="0 0 -9.81 0"/>', "attribute 'gravity': has 4 values"),
    Mistake("settings", '<option integrator="rk5"/>', "attribute 'integrator': 'rk5' is not a keyword here"),
    Mistake(
        "settings",
        '<option solver="newtown"/>',
        "attribute 'solver': 'newtown' is not a keyword here; did you mean 'Newton'?",
    ),
    Mistake("settings", '<option cone="round"/>', "attribute 'cone': 'round' is not a keyword here"),
    Mistake("settings", '<option iterations="10.5"/>', "attribute 'iterations': '10.5' is not an integer"),
    Mistake("settings", '<option jacobian="thin"/>', "attribute 'jacobian': 'thin' is not a keyword here"),
    Mistake(
        "settings",
        '<option><flag contact="off"/></option>',
        "attribute 'contact': 'off' is not a keyword here",
    ),
    Mistake(
        "settings",
        '<option><flag gravty="disable"/></option>',
        "unknown attribute 'gravty'; did you mean 'gravity'?",
    ),
    Mistake("settings", "<option><flag/><flag/></option>", "<flag> appears 2 times in <option>"),
    Mistake(
        "settings",
        '<option actuatorgroupdisable="-1"/>',
        "actuator group -1 is out of range; groups are 0 to 30",
    ),
    Mistake(
        "settings",
        '<option actuatorgroupdisable="31"/>',
        "actuator group 31 is out of range; groups are 0 to 30",
    ),
    Mistake("settings", '<option collision="all"/>', "unknown attribute 'collision'"),
    Mistake("settings", '<size njmax="many"/>', "attribute 'njmax': 'many' is not an integer"),
    Mistake("settings", '<size memory="1X"/>', "attribute 'memory': '1X' is not an amount of memory"),
    Mistake("settings", '<size nuserdata="-2"/>', "nuserdata cannot be below 0"),
    Mistake("settings", '<size nuser_geom="-2"/>', "nuser_geom cannot be below -1"),
    Mistake(
        "settings", '<size memory="1M" nstack="10"/>', "memory and nstack both give the amount of memory"
    ),
    Mistake("settings", '<statistic extent="-1"/>', "extent must be positive"),
    Mistake("settings", '<statistic center="0 0"/>', "attribute 'center': has 2 values"),
    Mistake("settings", '<statistic size="1"/>', "unknown attribute 'size'; did you mean 'meansize'?"),
    Mistake("settings", '<visual><map znear="-1"/></visual>', "znear must be positive"),
    Mistake(
        "settings", '<visual><global fov="45"/></visual>', "unknown attribute 'fov'; did you mean 'fovy'?"
    ),
    Mistake("settings", '<visual><rgba haze="1 1 1"/></visual>', "attribute 'haze': has 3 values"),
    Mistake("settings", "<visual><lamp/></visual>", "unknown element in <visual>"),
    Mistake(
        "settings",
        '<visual><headlight active="yes"/></visual>',
        "attribute 'active': 'yes' is not an integer",
    ),
    Mistake("settings", "<settings/>", "unknown element in <mujoco>"),
    Mistake("settings", "<extension><plugin/></extension>", "required attribute 'plugin' is missing"),
    Mistake(
        "settings",
        '<extension><plugin plugin="no.such.plugin"/></extension>',
        "there is no engine plugin 'no.such.plugin'",
    ),
    Mistake(
        "settings",
        '<extension><plugin plugin="mujoco.elasticity.cable"><instance/></plugin></extension>',
        "required attribute 'name' is missing",
    ),
    Mistake("default", '<geom name="g"/>', "unknown attribute 'name'"),
    Mistake("default", '<geom siez="1"/>', "unknown attribute 'siez'; did you mean 'size'?"),
    Mistake("default", '<geom class="main"/>', "unknown attribute 'class'; did you mean 'mass'?"),
    Mistake(
        "default",
        '<joint type="hinj"/>',
        "attribute 'type': 'hinj' is not a keyword here; did you mean 'hinge'?",
    ),
    Mistake("default", "<default/>", "a nested default class needs a name"),
    Mistake(
        "default",
        '<default class="d"/><default class="d"/>',
        "default class 'd' exists already; give it another name",
    ),
    Mistake(
        "default", '<default class="main"/>', "default class 'main' exists already; give it another name"
    ),
    Mistake("default", '<body mass="1"/>', "unknown element in <default>"),
    Mistake("default", '<geom size="1 2 3 4"/>', "attribute 'size': has 4 values"),
    Mistake("default", '<geom rgba="1 1 1"/>', "attribute 'rgba': has 3 values"),
    Mistake("default", '<tendon width="thin"/>', "attribute 'width': 'thin' is not a number"),
    Mistake("default", '<motor joint="h"/>', "unknown attribute 'joint'"),
    Mistake("default", '<position kp="1" kv="1" dampratio="1"/>', "kv and dampratio both give the damping"),
    Mistake("default", '<camera fovy="x"/>', "attribute 'fovy': 'x' is not a number"),
    Mistake("default", '<pair geom1="ga"/>', "unknown attribute 'geom1'"),
    Mistake("default", '<equality solref="1 2 3"/>', "attribute 'solref': has 3 values"),
    Mistake("default", '<mesh scale="1"/>', "attribute 'scale': has 1 values"),
    Mistake("custom", '<numeric data="1"/>', "required attribute 'name' is missing"),
    Mistake("custom", '<numeric name="n"/>', "a numeric has 1 to 500 numbers; give data, or size"),
    Mistake("custom", '<numeric name="n" size="501"/>', "a numeric has 1 to 500 numbers; give data, or size"),
    Mistake("custom", '<numeric name="n" size="1" data="1 2"/>', "data has 2 numbers but size is 1"),
    Mistake(
        "custom", '<numeric name="n" data="1"/><numeric name="n" data="1"/>', "numeric name 'n' is used twice"
    ),
    Mistake("custom", '<text name="t"/>', "required attribute 'data' is missing"),
    Mistake("custom", '<text name="t" data=""/>', "the text is empty"),
    Mistake("custom", '<text data="x"/>', "required attribute 'name' is missing"),
    Mistake("custom", '<tuple name="u"/>', "the tuple is empty"),
    Mistake(
        "custom",
        '<tuple name="u"><element objtype="body" objname="zz"/></tuple>',
        "unknown body 'zz'; body names: a, b, world",
    ),
    Mistake(
        "custom",
        '<tuple name="u"><element objtype="thing" objname="a"/></tuple>',
        "no keyword 'thing'",
    ),
    Mistake(
        "custom", '<tuple name="u"><element objname="a"/></tuple>', "required attribute 'objtype' is missing"
    ),
    Mistake("custom", '<number name="n"/>', "unknown element in <custom>; did you mean 'numeric'?"),
    Mistake("asset", '<texture builtin="flat" width="4" height="4"/>', "a texture needs a name"),
    Mistake(
        "asset",
        '<texture name="t" builtin="flat" width="0" height="4"/>',
        "a built-in texture needs a positive width",
    ),
    Mistake("asset", '<texture name="t"/>', "says neither builtin nor a file"),
    Mistake(
        "asset",
        '<texture name="t" type="3d" builtin="flat" width="4"/>',
        "attribute 'type': '3d' is not a keyword here",
    ),
    Mistake(
        "asset",
        '<texture name="t" builtin="plaid" width="4"/>',
        "attribute 'builtin': 'plaid' is not a keyword here",
    ),
    Mistake(
        "asset",
        '<texture name="t" file="missing.png"/>',
        "file not found, looked for missing.png; check the path",
    ),
    Mistake("asset", "<material/>", "a material needs a name"),
    Mistake("asset", '<material name="m"/><material name="m"/>', "material name 'm' is used twice"),
    Mistake("asset", '<material name="m" texture="none"/>', "unknown texture 'none'; texture names: none"),
    Mistake("asset", '<material name="m" shiny="1"/>', "unknown attribute 'shiny'"),
    Mistake("asset", '<mesh name="me"/>', "a mesh needs at least 4 vertices, it has 0"),
    Mistake(
        "asset",
        '<mesh name="me" file="missing.stl"/>',
        "file not found, looked for missing.stl; check the path",
    ),
    Mistake("asset", '<mesh name="me" file="missing.xyz"/>', "unknown kind of mesh file '.xyz'"),
    Mistake(
        "asset", '<mesh name="me" vertex="0 0 0 1 0 0 0 1 0"/>', "a mesh needs at least 4 vertices, it has 3"
    ),
    Mistake("asset", '<mesh name="me" vertex="0 0 0 1 0 0 0 1 0 0 0"/>', "vertex has 11 numbers"),
    Mistake(
        "asset",
        '<mesh name="me" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 9"/>',
        "face 0 uses index 9, which does not exist; indices are 0 to 3",
    ),
    Mistake("asset", '<mesh name="me" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1"/>', "face has 2 numbers"),
    Mistake(
        "asset",
        '<mesh name="me" vertex="0 0 0 1 0 0 0 1 0 0 0 1" maxhullvert="2"/>',
        "maxhullvert must be at least 4, or -1 for no limit",
    ),
    Mistake(
        "asset",
        '<mesh name="me" vertex="0 0 0 1 0 0 0 1 0 0 0 1" inertia="solid"/>',
        "attribute 'inertia': 'solid' is not a keyword here",
    ),
    Mistake("asset", '<mesh name="me" builtin="cube"/>', "attribute 'builtin': 'cube' is not a keyword here"),
    Mistake("asset", '<hfield name="hf" nrow="2" ncol="2"/>', "required attribute 'size' is missing"),
    Mistake(
        "asset",
        '<hfield name="hf" nrow="2" ncol="2" size="1 1 0 1"/>',
        "size needs four positive numbers: half-sizes along x and y, height, thickness of the base",
    ),
    Mistake(
        "asset",
        '<hfield name="hf" size="1 1 1 1" file="missing.png"/>',
        "file not found, looked for missing.png; check the path",
    ),
    Mistake(
        "asset",
        '<hfield name="hf" nrow="2" ncol="2" size="1 1 1 1" elevation="1 2 3"/>',
        "elevation has 3 numbers for 2 rows and 2 columns",
    ),
    Mistake("asset", '<sound name="s"/>', "unknown element in <asset>"),
    Mistake("world", "<joint/>", "the world cannot move; put joints in a body"),
    Mistake("world", "<freejoint/>", "the world cannot move; put joints in a body"),
    Mistake(
        "world", '<inertial pos="0 0 0" mass="1"/>', "the world has no inertia; put <inertial> in a body"
    ),
    Mistake("world", '<geom type="box" size="1 1"/>', "a box needs 3 positive size numbers"),
    Mistake("world", '<geom size="-1"/>', "a sphere needs 1 positive size number"),
    Mistake("world", '<geom type="cube" size="1"/>', "attribute 'type': 'cube' is not a keyword here"),
    Mistake("world", '<geom size="1" condim="5"/>', "condim 5 does not exist; it is 1, 3, 4 or 6"),
    Mistake("world", '<geom type="mesh"/>', "a geom of type mesh needs a mesh"),
    Mistake("world", '<geom type="mesh" mesh="none"/>', "unknown mesh 'none'; mesh names: none"),
    Mistake("world", '<geom type="hfield" hfield="none"/>', "unknown hfield 'none'; hfield names: none"),
    Mistake("world", '<geom size="1" class="none"/>', "unknown default class 'none'"),
    Mistake("world", '<geom size="1" material="none"/>', "unknown material 'none'; material names: none"),
    Mistake(
        "world",
        '<geom type="capsule" size="1" fromto="0 0 0 0 0 0"/>',
        "the two points of fromto coincide; move them apart",
    ),
    Mistake(
        "world", '<geom size="1" fromto="0 0 0 1 0 0"/>', "fromto is for capsule, cylinder, ellipsoid and box"
    ),
    Mistake("world", '<geom size="1" quat="0 0 0 0"/>', "a zero quaternion is no orientation"),
    Mistake(
        "world",
        '<geom size="1" quat="1 0 0 0" euler="0 0 0"/>',
        "has several orientations (quat, euler); keep one",
    ),
    Mistake("world", '<geom size="1" pos="0 0 zero"/>', "attribute 'pos': 'zero' is not a number"),
    Mistake("world", '<geom size="1" rgba="1 1 1"/>', "attribute 'rgba': has 3 values"),
    Mistake("world", '<site type="plane"/>', "a site cannot be a plane; use a primitive shape"),
    Mistake("world", '<site type="box" size="1 -1 1"/>', "a box needs 3 positive size numbers"),
    Mistake("world", '<camera fovy="200"/>', "fovy must be below 180 degrees"),
    Mistake(
        "world", '<camera mode="targetbody" target="none"/>', "unknown body 'none'; body names: a, b, world"
    ),
    Mistake("world", '<camera focal="1 1"/>', "focal needs sensorsize"),
    Mistake("world", '<camera sensorsize="1 1"/>', "sensorsize needs resolution"),
    Mistake("world", '<camera name="c"/><camera name="c"/>', "camera name 'c' is used twice"),
    Mistake("world", '<light dir="0 0 0"/>', "the direction has no length"),
    Mistake(
        "world", '<light mode="targetbody" target="none"/>', "unknown body 'none'; body names: a, b, world"
    ),
    Mistake("world", '<light type="spot" directional="true"/>', "type and directional both give the type"),
    Mistake("world", '<light color="1 1 1"/>', "unknown attribute 'color'"),
    Mistake("world", '<body name="world"/>', "body name 'world' is used twice; names must be unique"),
    Mistake("world", '<body pos="1 2"/>', "attribute 'pos': has 2 values"),
    Mistake("world", '<body childclass="none"/>', "unknown default class 'none'"),
    Mistake("world", '<body mocap="maybe"/>', "attribute 'mocap': 'maybe' is not a keyword here"),
    Mistake("world", '<body sleep="never"/>', "a sleep policy is only possible for a moving root body"),
    Mistake("world", "<body><joint/></body>", "a body that moves must have mass and inertia"),
    Mistake(
        "world",
        '<body><joint/><geom size=".1" mass="0"/></body>',
        "a body that moves must have mass and inertia",
    ),
    Mistake("world", '<body><geom size=".1" mass="-1"/></body>', "mass cannot be negative"),
    Mistake("world", '<body><geom size=".1" density="-1"/></body>', "density cannot be negative"),
    Mistake("world", '<body><inertial pos="0 0 0"/></body>', "required attribute 'mass' is missing"),
    Mistake("world", '<body><inertial mass="1"/></body>', "required attribute 'pos' is missing"),
    Mistake(
        "world",
        '<body><inertial pos="0 0 0" mass="1" diaginertia="1 1 5"/></body>',
        "inertia 1 1 5 is impossible: no moment can exceed the sum of the others",
    ),
    Mistake(
        "world",
        '<body><inertial pos="0 0 0" mass="1" fullinertia="1 1 1 9 9 9"/></body>',
        "fullinertia must have positive principal moments",
    ),
    Mistake(
        "world",
        '<body><inertial pos="0 0 0" mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/></body>',
        "fullinertia and diaginertia exclude each other",
    ),
    Mistake(
        "world", '<frame name="f"/><frame name="f"/>', "frame name 'f' is used twice; names must be unique"
    ),
    Mistake("world", "<replicate/>", "required attribute 'count' is missing"),
    Mistake(
        "world",
        '<replicate count="2" offset="1 0"><geom size="1"/></replicate>',
        "attribute 'offset': has 2 values",
    ),
    Mistake("world", '<attach model="none" body="x" prefix="p"/>', "unknown model 'none'"),
    Mistake("world", '<composite type="cable"/>', "a cable has two or more points in one direction"),
    Mistake("world", '<flexcomp type="grid"/>', "required attribute 'name' is missing"),
    Mistake("world", '<flexcomp name="fl" type="blob"/>', "'blob' is not a type"),
    Mistake(
        "world",
        '<flexcomp name="fl" type="grid" count="2 2 2" spacing="1 1 1" dim="4"/>',
        "dim must be 1, 2 or 3, it is 4",
    ),
    Mistake("world", "<robot/>", "unknown element in <worldbody>"),
    Mistake("body", '<joint axis="0 0 0"/>', "the axis has no direction; give it a length"),
    Mistake("body", '<joint range="1 0" limited="true"/>', "range must increase, it is 1 0"),
    Mistake("body", '<joint limited="true"/>', "range must increase, it is 0 0"),
    Mistake("body", '<joint name="h"/>', "joint name 'h' is used twice"),
    Mistake("body", '<joint type="free"/>', "a free joint must be the only joint of its body"),
    Mistake(
        "body",
        '<joint type="slide" axis="0 1 0"/><joint type="slide"/><joint axis="1 0 0"/><joint axis="0 1 0"/><joint/>',
        "a body can have at most 6 degrees of freedom",
    ),
    Mistake(
        "body",
        '<joint springdamper="1 -1"/>',
        "springdamper needs two positive numbers: time constant, ratio",
    ),
    Mistake("body", '<joint damping="a"/>', "attribute 'damping': 'a' is not a number"),
    Mistake("body", '<joint actuatorfrclimited="true"/>', "range must increase, it is 0 0"),
    Mistake("body", "<freejoint/>", "a free joint must be the only joint of its body"),
    Mistake(
        "body",
        '<inertial pos="0 0 0" mass="1"/><inertial pos="0 0 0" mass="1"/>',
        "<inertial> appears 2 times in <body>",
    ),
    Mistake("body", '<geom type="plane" size="1 1 1"/>', "a plane can only stand in a body that cannot move"),
    Mistake("body", '<body mocap="true"/>', "a mocap body must be a fixed child of the world"),
    Mistake(
        "body",
        '<body><freejoint/><geom size=".1"/></body>',
        "a free joint is only possible in a child of the world",
    ),
    Mistake(
        "body",
        '<body><joint type="ball" range="1 2"/><geom size=".1"/></body>',
        "a ball joint's range is the largest angle: it must start at 0",
    ),
    Mistake("body", '<geom size=".1" solimp="1 2 3 4 5 6"/>', "attribute 'solimp': has 6 values"),
    Mistake("body", '<geom size=".1" friction="1 1 1 1"/>', "attribute 'friction': has 4 values"),
    Mistake("body", '<geom size=".1" user="1 2 a"/>', "attribute 'user': 'a' is not a number"),
    Mistake("body", '<plugin plugin="none"/>', "plugin 'none' is not declared"),
    Mistake("contact", '<pair geom1="ga"/>', "a pair needs two geoms"),
    Mistake("contact", '<pair geom1="ga" geom2="none"/>', "unknown geom 'none'; geom names: floor, ga, gb"),
    Mistake(
        "contact", '<pair geom1="ga" geom2="gb" condim="2"/>', "condim 2 does not exist; it is 1, 3, 4 or 6"
    ),
    Mistake(
        "contact",
        '<pair geom1="ga" geom2="gb" friction="1 1 1 1 1 1"/>',
        "attribute 'friction': has 6 values",
    ),
    Mistake("contact", '<exclude body1="a"/>', "required attribute 'body2' is missing"),
    Mistake("contact", '<exclude body1="a" body2="none"/>', "unknown body 'none'; body names: a, b, world"),
    Mistake("contact", "<ignore/>", "unknown element in <contact>"),
    Mistake("deformable", "<flex/>", "required attribute 'body' is missing"),
    Mistake(
        "deformable",
        '<flex name="f" body="none" vertex="0 0 0" element="0 1" dim="1"/>',
        "unknown body 'none'; body names: a, b, world",
    ),
    Mistake(
        "deformable", '<skin name="s"/>', "has no vertex; a skin needs vertices, faces and bones, or file=…"
    ),
    Mistake(
        "deformable",
        '<skin name="s" file="missing.skn"/>',
        "file not found, looked for missing.skn; check the path",
    ),
    Mistake("deformable", "<cloth/>", "unknown element in <deformable>"),
    Mistake("tendon", "<fixed/>", "the path is empty"),
    Mistake("tendon", "<spatial/>", "the path is empty"),
    Mistake("tendon", '<spatial><site site="sa"/></spatial>', "a spatial tendon needs at least two objects"),
    Mistake(
        "tendon",
        '<spatial><site site="sa"/><site site="none"/></spatial>',
        "unknown site 'none'; site names: sa, sb",
    ),
    Mistake(
        "tendon",
        '<spatial><site site="sa"/><site site="sa"/></spatial>',
        "the site is repeated; a path needs different sites",
    ),
    Mistake(
        "tendon",
        '<spatial><geom geom="ga"/><site site="sa"/></spatial>',
        "a wrapping geom must stand between two sites",
    ),
    Mistake(
        "tendon",
        '<spatial><site site="sa"/><geom geom="gb"/><site site="sb"/></spatial>',
        "a tendon cannot wrap around a box; use a sphere or a cylinder",
    ),
    Mistake(
        "tendon",
        '<spatial><site site="sa"/><pulley divisor="-1"/><site site="sb"/></spatial>',
        "divisor cannot be negative",
    ),
    Mistake("tendon", '<spatial><site/><site site="sb"/></spatial>', "required attribute 'site' is missing"),
    Mistake(
        "tendon",
        '<fixed><joint joint="none" coef="1"/></fixed>',
        "unknown joint 'none'; joint names: bl, h, sl",
    ),
    Mistake("tendon", '<fixed><joint joint="h"/></fixed>', "required attribute 'coef' is missing"),
    Mistake("tendon", '<fixed name="t"><joint joint="h" coef="1"/></fixed>', "tendon name 't' is used twice"),
    Mistake(
        "tendon",
        '<fixed limited="true" range="1 0"><joint joint="h" coef="1"/></fixed>',
        "range must increase, it is 1 0",
    ),
    Mistake(
        "tendon",
        '<fixed springlength="2 1"><joint joint="h" coef="1"/></fixed>',
        "springlength must not decrease: slack length, then taut length",
    ),
    Mistake("tendon", '<fixed width="1"><joint joint="h" coef="1"/></fixed>', "unknown attribute 'width'"),
    Mistake("tendon", "<rope/>", "unknown element in <tendon>"),
    Mistake(
        "equality",
        '<connect body1="a"/>',
        "write body1 and anchor (body2 may be left out), or site1 and site2",
    ),
    Mistake(
        "equality", '<connect body1="none" anchor="0 0 0"/>', "unknown body 'none'; body names: a, b, world"
    ),
    Mistake(
        "equality",
        '<connect body1="a" body2="a" anchor="0 0 0"/>',
        "an equality needs two different objects; name another one",
    ),
    Mistake(
        "equality",
        '<connect site1="sa"/>',
        "write body1 and anchor (body2 may be left out), or site1 and site2",
    ),
    Mistake(
        "equality",
        '<connect body1="a" site2="sb" anchor="0 0 0"/>',
        "site2 and body1 exclude each other; use bodies or sites",
    ),
    Mistake(
        "equality",
        '<connect anchor="0 0 0"/>',
        "write body1 and anchor (body2 may be left out), or site1 and site2",
    ),
    Mistake("equality", "<weld/>", "write body1 (body2 may be left out), or site1 and site2"),
    Mistake("equality", '<weld body1="a" relpose="0 0 0"/>', "attribute 'relpose': has 3 values"),
    Mistake("equality", '<joint joint2="h"/>', "required attribute 'joint1' is missing"),
    Mistake("equality", '<joint joint1="none"/>', "unknown joint 'none'; joint names: bl, h, sl"),
    Mistake("equality", '<joint joint1="bl"/>', "only hinge and slide joints can be coupled"),
    Mistake("equality", '<joint joint1="h" polycoef="1 2 3 4 5 6"/>', "attribute 'polycoef': has 6 values"),
    Mistake("equality", '<tendon tendon1="none"/>', "unknown tendon 'none'; tendon names: t"),
    Mistake("equality", '<flex flex="none"/>', "unknown flex 'none'; flex names: none"),
    Mistake("equality", '<distance geom1="ga" geom2="gb"/>', "unknown element in <equality>"),
    Mistake(
        "equality",
        '<joint joint1="h" joint2="h"/>',
        "an equality needs two different objects; name another one",
    ),
    Mistake("actuator", "<motor/>", "has no transmission target"),
    Mistake("actuator", '<motor joint="none"/>', "unknown joint 'none'; joint names: bl, h, sl"),
    Mistake("actuator", '<motor joint="h" tendon="t"/>', "has several transmission targets; keep one"),
    Mistake("actuator", '<motor name="m" joint="h"/>', "actuator name 'm' is used twice"),
    Mistake(
        "actuator",
        '<motor joint="h" ctrlrange="1 0" ctrllimited="true"/>',
        "ctrlrange must increase, it is 1 0",
    ),
    Mistake("actuator", '<motor joint="h" ctrllimited="true"/>', "ctrlrange must increase, it is 0 0"),
    Mistake("actuator", '<motor joint="h" gear="1 2 3 4 5 6 7"/>', "attribute 'gear': has 7 values"),
    Mistake(
        "actuator",
        '<motor joint="h" forcerange="1 0" forcelimited="true"/>',
        "forcerange must increase, it is 1 0",
    ),
    Mistake("actuator", '<motor site="none"/>', "unknown site 'none'; site names: sa, sb"),
    Mistake("actuator", '<motor cranksite="sa" slidersite="sb"/>', "a slider-crank needs a rod"),
    Mistake("actuator", '<motor cranksite="sa" cranklength="1"/>', "a slider-crank needs two sites"),
    Mistake("actuator", '<motor joint="h" refsite="sa"/>', "refsite needs a target given as site"),
    Mistake(
        "actuator", '<general joint="h" dyntype="slow"/>', "attribute 'dyntype': 'slow' is not a keyword here"
    ),
    Mistake(
        "actuator",
        '<general joint="h" actdim="2"/>',
        'actdim 2 does not fit; above 1 it needs dyntype="user"',
    ),
    Mistake(
        "actuator",
        '<general joint="h" actlimited="true" actrange="0 1"/>',
        'actrange needs an activation, but dyntype is "none"',
    ),
    Mistake(
        "actuator",
        '<position joint="h" kp="1" kv="1" dampratio="1"/>',
        "kv and dampratio both give the damping",
    ),
    Mistake("actuator", '<position joint="h" kv="-1"/>', "kv cannot be negative"),
    Mistake("actuator", '<position joint="h" timeconst="-1"/>', "timeconst cannot be negative"),
    Mistake(
        "actuator",
        '<position joint="h" inheritrange="1" ctrlrange="0 1"/>',
        "ctrlrange and inheritrange both give the range",
    ),
    Mistake(
        "actuator", '<position joint="sl" inheritrange="1"/>', "inheritrange needs a joint that has a range"
    ),
    Mistake("actuator", '<velocity joint="h" kp="1"/>', "unknown attribute 'kp'"),
    Mistake("actuator", '<intvelocity joint="h"/>', "actrange must increase, it is 0 0"),
    Mistake("actuator", '<damper joint="h"/>', "ctrlrange must increase, it is 0 0"),
    Mistake("actuator", '<damper joint="h" kv="-1" ctrlrange="0 1"/>', "kv cannot be negative"),
    Mistake("actuator", '<cylinder joint="h" area="big"/>', "attribute 'area': 'big' is not a number"),
    Mistake("actuator", '<muscle joint="h" timeconst="1"/>', "attribute 'timeconst': has 1 values"),
    Mistake(
        "actuator",
        '<muscle joint="h" lmin="2" lengthrange="0 1"/>',
        "a muscle needs lmin below 1 and lmax above 1",
    ),
    Mistake("actuator", '<muscle site="sa"/>', "unknown attribute 'site'"),
    Mistake("actuator", "<adhesion/>", "has no transmission target"),
    Mistake(
        "actuator", '<adhesion body="none" ctrlrange="0 1"/>', "unknown body 'none'; body names: a, b, world"
    ),
    Mistake(
        "actuator",
        '<adhesion body="a" ctrlrange="-1 1"/>',
        "the control range of adhesion cannot be negative; start it at 0",
    ),
    Mistake("actuator", '<rocket joint="h"/>', "unknown element in <actuator>"),
    Mistake("sensor", "<accelerometer/>", "required attribute 'site' is missing"),
    Mistake("sensor", '<accelerometer site="none"/>', "unknown site 'none'; site names: sa, sb"),
    Mistake("sensor", "<jointpos/>", "required attribute 'joint' is missing"),
    Mistake("sensor", '<jointpos joint="none"/>', "unknown joint 'none'; joint names: bl, h, sl"),
    Mistake("sensor", '<jointpos joint="bl"/>', "needs a hinge or slide joint"),
    Mistake("sensor", '<ballquat joint="h"/>', "needs a ball joint"),
    Mistake("sensor", '<jointlimitpos joint="sl"/>', "needs a joint with a limit"),
    Mistake("sensor", '<tendonpos tendon="none"/>', "unknown tendon 'none'; tendon names: t"),
    Mistake("sensor", '<tendonlimitpos tendon="t"/>', "needs a tendon with a limit"),
    Mistake("sensor", '<actuatorpos actuator="none"/>', "unknown actuator 'none'; actuator names: m"),
    Mistake("sensor", '<framepos objtype="body"/>', "required attribute 'objname' is missing"),
    Mistake("sensor", '<framepos objtype="thing" objname="a"/>', "'thing' has no pose"),
    Mistake(
        "sensor", '<framepos objtype="body" objname="none"/>', "unknown body 'none'; body names: a, b, world"
    ),
    Mistake(
        "sensor",
        '<framepos objtype="body" objname="a" reftype="body"/>',
        "reftype needs refname; name the object",
    ),
    Mistake("sensor", '<subtreecom body="none"/>', "unknown body 'none'; body names: a, b, world"),
    Mistake("sensor", '<gyro site="sa" noise="-1"/>', "noise cannot be negative"),
    Mistake("sensor", '<gyro site="sa" cutoff="-1"/>', "cutoff cannot be negative"),
    Mistake(
        "sensor",
        '<framequat objtype="body" objname="a" cutoff="1"/>',
        "cutoff would spoil an axis or a quaternion; remove it",
    ),
    Mistake(
        "sensor", '<touch site="sa" name="s"/><touch site="sb" name="s"/>', "sensor name 's' is used twice"
    ),
    Mistake("sensor", '<distance geom1="ga"/>', "write either geom2 or body2"),
    Mistake("sensor", '<distance geom1="ga" geom2="ga"/>', "both ends are the same object"),
    Mistake(
        "sensor",
        '<contact geom1="ga" data="found fund"/>',
        "attribute 'data': 'fund' is not a keyword here; did you mean 'found'?",
    ),
    Mistake(
        "sensor", '<contact geom1="ga" reduce="most"/>', "attribute 'reduce': 'most' is not a keyword here"
    ),
    Mistake(
        "sensor",
        '<contact geom1="ga" body1="a"/>',
        "at most one of geom1, body1, subtree1, site can be given",
    ),
    Mistake("sensor", "<user/>", "required attribute 'dim' is missing"),
    Mistake("sensor", '<rangefinder joint="h"/>', "unknown attribute 'joint'"),
    Mistake("sensor", '<camprojection site="sa"/>', "required attribute 'camera' is missing"),
    Mistake("sensor", '<insidesite site="sa"/>', "required attribute 'objname' is missing"),
    Mistake("sensor", '<tactile geom="ga"/>', "required attribute 'mesh' is missing"),
    Mistake(
        "sensor", '<thermometer site="sa"/>', "unknown element in <sensor>; did you mean 'accelerometer'?"
    ),
    Mistake("keyframe", '<key ctrl="1 2 3"/>', "ctrl has 3 numbers; this model needs 1"),
    Mistake("keyframe", '<key act="1"/>', "act has 1 numbers; this model needs 0"),
    Mistake("keyframe", '<key mpos="1 2 3"/>', "mpos has 3 numbers; this model needs 0"),
    Mistake("keyframe", '<key time="noon"/>', "attribute 'time': 'noon' is not a number"),
    Mistake("keyframe", '<key pos="1"/>', "unknown attribute 'pos'; did you mean 'qpos'?"),
    Mistake("keyframe", '<key name="k"/><key name="k"/>', "key name 'k' is used twice"),
    Mistake("keyframe", "<frame/>", "unknown element in <keyframe>"),
]
"""All mistakes."""
