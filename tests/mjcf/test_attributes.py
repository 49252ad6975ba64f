"""Each attribute and default rule of the supported elements gives MuJoCo's values, all fields compared."""

from __future__ import annotations

import pytest

MASS = '<geom size=".1"/>'


def world(content: str, before: str = "", after: str = "") -> str:
    return f"<mujoco>{before}<worldbody>{content}</worldbody>{after}</mujoco>"


def body(content: str, attributes: str = "") -> str:
    return f"<body {attributes}>{content}</body>"


JOINTS = {
    "hinge": '<joint type="hinge" axis="1 2 0" pos=".1 .2 .3" range="-30 45" ref="10" springref="-5"/>',
    "slide": '<joint type="slide" axis="0 0 2" range="-1 2" ref=".1" springref=".2" limited="true"/>',
    "ball": '<joint type="ball" range="0 60" pos="0 0 .1" axis="1 0 0" ref="4"/>',
    "free": '<joint type="free" pos="1 2 3" axis="1 0 0" armature=".1"/>',
    "freejoint": '<freejoint group="2"/>',
    "aligned free": '<freejoint align="true"/><geom type="box" size=".1 .2 .3" pos="1 0 0" euler="20 0 0"/>'
    '<site pos=".1 .2 .3" euler="0 0 40"/>',
    "unlimited range": '<joint range="0 90" limited="false"/>',
    "dof numbers": '<joint type="ball" damping="1" armature=".2" frictionloss=".3" stiffness="4" margin=".5"/>',
    "solver numbers": '<joint range="0 1" solreflimit=".1" solimplimit=".8 .9" solreffriction=".3 .4" '
    'solimpfriction=".1 .2 .3 .4 .5" frictionloss="1"/>',
    "force range": '<joint actuatorfrcrange="-1 2" actuatorgravcomp="true" group="3" user="1 2"/>',
    "several": '<joint axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint pos="0 0 1"/>',
    "sliders": '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>',
    "hinge then slide": '<joint axis="1 0 0"/><joint type="slide" axis="0 1 0"/>',
}
GEOMS = {
    "sphere": 'type="sphere" size=".1" pos="1 2 3"',
    "capsule": 'type="capsule" size=".1 .2" euler="10 20 30"',
    "ellipsoid": 'type="ellipsoid" size=".1 .2 .3" axisangle="1 1 0 40"',
    "cylinder": 'type="cylinder" size=".1 .2" zaxis="1 1 1"',
    "box": 'type="box" size=".3 .1 .2" xyaxes="1 .1 0 0 1 .3"',
    "capsule fromto": 'type="capsule" size=".1" fromto="0 0 0 1 2 3"',
    "cylinder fromto": 'type="cylinder" size=".1 7" fromto="0 0 1 0 0 -1"',
    "box fromto": 'type="box" size=".1" fromto="0 0 -1 0 0 1"',
    "ellipsoid fromto": 'type="ellipsoid" size=".1" fromto="1 0 0 0 .1 0"',
    "mass": 'type="box" size=".1 .2 .3" mass="3"',
    "density": 'type="box" size=".1 .2 .3" density="20"',
    "massless": 'size=".1" mass="0"',
    "outside the group range": 'size=".1" group="6"',
    "sphere shell": 'size=".1" shellinertia="true"',
    "capsule shell": 'type="capsule" size=".1 .2" shellinertia="true"',
    "cylinder shell": 'type="cylinder" size=".1 .2" shellinertia="true" mass="2"',
    "box shell": 'type="box" size=".1 .2 .3" shellinertia="true"',
    "contact": 'size=".1" contype="6" conaffinity="9" condim="6" priority="-2" margin=".1" gap=".02" solmix="3"',
    "friction": 'size=".1" friction=".5 .1" solref="-100 -3" solimp=".8 .9 .01 .4 3" rgba="1 .5 .2 .1"',
    "user": 'size=".1" user="1 2 3" group="4"',
    "quat": 'type="box" size=".1 .2 .3" quat="1 2 3 4"',
}
INERTIALS = {
    "diagonal": '<inertial pos="1 2 3" mass="2" diaginertia="1 2 2.5"/>',
    "turned": '<inertial pos="0 0 0" mass="2" diaginertia="1 2 2.5" euler="10 20 30"/>',
    "full": '<inertial pos="0 0 0" mass="2" fullinertia="1 2 2.5 .1 -.2 .3"/>',
    "full but diagonal": '<inertial pos="0 0 0" mass="2" fullinertia="1 2 2.5 0 0 0"/>',
    "beside geoms": f'<inertial pos="0 0 1" mass="2" diaginertia="1 2 2.5"/>{MASS}',
    "no inertia, not moving": '<inertial pos="0 0 1" mass="2"/>',
}
COMPILERS = {
    "radians": 'angle="radian"',
    "euler sequence": 'eulerseq="ZyX"',
    "bounds": 'boundmass="20" boundinertia=".5"',
    "total mass": 'settotalmass="3"',
    "balance": 'balanceinertia="true"',
    "inertia from geoms": 'inertiafromgeom="true"',
    "inertia not from geoms": 'inertiafromgeom="false" boundmass=".1" boundinertia=".1"',
    "inertia group range": 'inertiagrouprange="1 6" boundmass=".1" boundinertia=".1"',
    "align free": 'alignfree="true"',
    "ignored": 'strippath="true" fitaabb="true" discardvisual="true" usethread="false" saveinertial="true" '
    'meshdir="a" texturedir="b" assetdir="c" fusestatic="false" coordinate="local"',
}
TREE = world(
    '<geom type="plane" size="0 0 .1" name="floor"/>'
    '<body name="a" pos="0 0 1" euler="10 20 30"><freejoint name="root"/>'
    '<geom type="box" size=".1 .2 .3" group="1"/><geom size=".2" pos=".3 0 0" euler="40 0 0"/>'
    '<body name="b" axisangle="1 1 0 .3" pos="0 .5 0"><joint name="h" range="-.3 .4" axis="0 1 1"/>'
    '<inertial pos=".1 0 0" mass="2" diaginertia=".1 .2 .25" euler=".1 .2 .3"/><geom type="capsule" size=".1 .2"/>'
    '<body pos=".2 0 0"><geom size=".1" group="2"/></body></body></body>'
    '<body pos="3 0 0"><joint type="free"/><geom type="box" size=".1 .2 .3" pos=".1 0 0" euler="10 0 0"/></body>'
    '<body pos="2 0 0"><body quat="1 1 0 0"><joint type="ball" range="0 1"/>'
    '<geom size=".1"/><geom size=".1" pos="0 0 .2"/></body></body>',
    before="<compiler {}/>",
)
OPTIONS = {
    "numbers": 'timestep=".01" impratio="3" tolerance="1e-9" ls_tolerance=".1" noslip_tolerance="1e-3" '
    'ccd_tolerance="1e-3" sleep_tolerance=".5" density="1.2" viscosity="2e-5" o_margin=".1"',
    "vectors": 'gravity="1 2 3" wind="4 5 6" magnetic="7 8 9" o_solref=".5" o_solimp=".1 .2" o_friction=".1 .2 .3"',
    "keywords": 'integrator="RK4" cone="elliptic" jacobian="sparse" solver="CG"',
    "other keywords": 'integrator="implicitfast" cone="pyramidal" jacobian="dense" solver="PGS"',
    "counts": 'iterations="7" ls_iterations="8" noslip_iterations="9" ccd_iterations="10" sdf_iterations="11" '
    'sdf_initpoints="12" actuatorgroupdisable="0 3 30"',
}
DISABLE = (
    "constraint equality frictionloss limit contact spring damper gravity clampctrl warmstart filterparent "
    "actuation refsafe sensor midphase nativeccd eulerdamp autoreset island"
)
ENABLE = "override energy fwdinv invdiscrete multiccd sleep"
DEFAULTS = {
    "main": '<geom type="box" size=".1 .2 .3"/><joint damping="3"/>',
    "partial vectors": '<geom type="box" size=".1 .2 .3" friction=".1 .2 .3" solref=".7"/>',
    "orientation": '<geom type="box" size=".1 .2 .3" euler="10 20 30"/><site euler="10 0 0" size=".2"/>',
    "fromto": '<geom type="capsule" size=".1" fromto="0 0 0 0 1 1"/>',
    "joint type": '<joint type="slide" range="-1 1" axis="1 0 0"/><geom size=".1"/>',
    "user": '<geom size=".1" user="1 2 3"/><joint user="4"/>',
    "density": '<geom size=".1" density="3" rgba="1 0 0 1"/>',
    "kinds nobody uses": '<geom size=".1"/><mesh scale="1 2 3"/><pair condim="1"/><equality solref="1"/>'
    '<tendon width="1"/><muscle force="3"/><adhesion gain="2"/>',
}
ACTUATORS = {
    "motor": '<motor joint="h" name="m" gear="2 3" ctrlrange="-1 1" forcerange="-2 3" group="2" user="1"/>',
    "general": '<general joint="h" dyntype="filter" gaintype="affine" biastype="affine" dynprm=".1 2" '
    'gainprm="1 2 3" biasprm="4 5 6" actrange="-1 1" actearly="true" actdim="1" lengthrange="0 1"/>',
    "in parent": '<general jointinparent="s" dyntype="integrator" ctrllimited="true" ctrlrange="0 1" actdim="1"/>',
    "filterexact": '<general joint="s" dyntype="filterexact"/><motor joint="h"/>',
    "position": '<position joint="h" kp="3" kv="2" timeconst=".1"/><position joint="s" inheritrange=".7"/>',
    "velocity": '<velocity joint="h" kv="3"/><velocity joint="s"/>',
    "intvelocity": '<intvelocity joint="h" kp="3" kv="1" actrange="-1 1"/><intvelocity joint="s" inheritrange="1"/>',
    "damper": '<damper joint="h" kv="3" ctrlrange="0 1"/>',
    "cylinder": '<cylinder joint="h" diameter=".3" bias="1 2 3" timeconst=".2"/><cylinder joint="s" area="2"/>',
}
ACTUATOR_DEFAULTS = {
    "general": '<general gainprm="5 6" dynprm="7 8" biasprm="1 2 -3 4" gear="9"/>',
    "position": '<position kp="9" kv="3" timeconst="2"/>',
    "one after the other": '<general gear="7"/><position kp="3"/><motor ctrlrange="-3 3"/>',
    "velocity": '<velocity kv="4"/>',
    "intvelocity": '<intvelocity kp="4" actrange="-2 2"/>',
    "damper": '<damper kv="4" ctrlrange="0 2"/>',
}
JOINTED = world(
    f'<body><joint name="h" range="-30 50"/><joint name="s" type="slide" axis="1 0 0" range="0 1"/>{MASS}</body>',
    before="{}",
    after="<actuator>{}</actuator>",
)


@pytest.mark.parametrize("case", JOINTS)
@pytest.mark.parametrize("frame", ["", '<frame pos="1 0 2" euler="10 20 30">'])
def test_joint(same_as_mujoco, case, frame):
    joints = f"{frame}{JOINTS[case]}{frame and '</frame>'}"
    same_as_mujoco(
        world(body(f'{MASS}<geom type="box" size=".1 .2 .3" pos=".1 0 0"/>{joints}', 'pos="0 1 2"'))
    )


@pytest.mark.parametrize("case", JOINTS)
def test_joint_of_a_symmetric_body(same_as_mujoco, case):
    """Bodies with a diagonal mass matrix have their own sparsity."""
    same_as_mujoco(world(body(MASS + JOINTS[case]) + body(body(MASS + JOINTS["sliders"]))))


@pytest.mark.parametrize("case", GEOMS)
@pytest.mark.parametrize(
    "frame", ["", '<frame pos="1 0 2" euler="10 20 30"><frame quat="1 1 0 0" pos="0 1 0">']
)
def test_geom(same_as_mujoco, case, frame):
    geom = f"{frame}<geom {GEOMS[case]}/>{frame and '</frame></frame>'}"
    same_as_mujoco(world(geom + body(geom, 'pos="1 0 0"') + body(f"<joint/>{geom}{MASS}")))


def test_ellipsoid_shell(same_as_mujoco):
    """MuJoCo subtracts two nearly equal solids, which costs ten digits; so the tolerance is wider."""
    geom = '<geom type="ellipsoid" size=".1 .2 .3" shellinertia="true"/>'
    same_as_mujoco(world(body(geom)), relative=1e-8)


@pytest.mark.parametrize("size", ["0 0 .1", "1 2 .1", "0 2 .1"])
def test_plane(same_as_mujoco, size):
    same_as_mujoco(world(f'<geom type="plane" size="{size}" pos="0 0 1" euler="10 0 0"/>{body(MASS)}'))


@pytest.mark.parametrize("case", sorted(set(GEOMS) - {"mass", "density", "massless", "contact", "friction"}))
def test_site(same_as_mujoco, case):
    attributes = GEOMS[case].replace('shellinertia="true"', "").replace('mass="2"', "")
    same_as_mujoco(world(f"<site {attributes}/>{body(MASS + f'<site {attributes}/>')}"))


@pytest.mark.parametrize("case", INERTIALS)
def test_inertial(same_as_mujoco, case):
    moving = "" if "not moving" in case else "<joint/>"
    same_as_mujoco(world(body(moving + INERTIALS[case], 'pos="1 0 0"')))


@pytest.mark.parametrize("case", COMPILERS)
def test_compiler(same_as_mujoco, case):
    same_as_mujoco(TREE.format(COMPILERS[case]))


def test_total_mass_of_nothing(same_as_mujoco):
    same_as_mujoco(world(body(""), before='<compiler settotalmass="2"/>'))


@pytest.mark.parametrize("case", OPTIONS)
def test_option(same_as_mujoco, case):
    same_as_mujoco(f"<mujoco><option {OPTIONS[case]}/></mujoco>")


@pytest.mark.parametrize("flag", (DISABLE + " " + ENABLE).split())
def test_flag(same_as_mujoco, flag):
    for value in ("enable", "disable"):
        same_as_mujoco(f'<mujoco><option><flag {flag}="{value}"/></option><option timestep=".1"/></mujoco>')


def test_size_and_statistic(same_as_mujoco):
    sizes = '<size memory="3M" nuserdata="4" nkey="2" nuser_geom="3" nuser_body="1"/>'
    numbers = '<statistic meaninertia="2" meanmass="3" meansize="4" extent="5" center="6 7 8"/>'
    same_as_mujoco(world(body('<geom size=".1" user="1"/>', 'user="7"'), before=sizes + numbers))


def test_legacy_sizes(same_as_mujoco):
    same_as_mujoco('<mujoco><size njmax="30" nconmax="20" nstack="1000"/></mujoco>')


@pytest.mark.parametrize("case", DEFAULTS)
def test_default(same_as_mujoco, case):
    parts = (
        "" if case == "fromto" else '<geom quat="1 1 0 0" friction=".9"/><geom zaxis="1 1 0" pos="0 0 1"/>'
    )
    content = body(f'<joint/><geom/>{parts}<site/><site zaxis="1 0 0"/>', 'pos="0 1 0"')
    same_as_mujoco(world(content, before=f"<default>{DEFAULTS[case]}</default>"))


def test_default_classes_nest_and_childclass_applies(same_as_mujoco):
    classes = (
        '<default><geom size=".1" rgba="1 0 0 1"/><default class="a"><geom density="3"/><joint damping="1"/>'
        '<default class="b"><geom size=".2" type="box"/><geom/></default></default><joint armature="5"/></default>'
    ).replace('<geom size=".2" type="box"/><geom/>', '<geom size=".2 .2 .2" type="box"/>')
    content = (
        '<body childclass="b"><joint/><geom/><geom class="main"/><frame childclass="a"><geom/><joint class="b"/>'
        '<body><geom/><frame><body childclass="b"><geom/></body></frame></body></frame><body><geom/></body></body>'
    )
    same_as_mujoco(world(content, after=classes))


def test_later_top_level_default_does_not_reach_existing_classes(same_as_mujoco):
    blocks = '<default><geom size=".1"/><default class="a"/></default><default><geom size=".7"/></default>'
    same_as_mujoco(world('<geom class="a"/><geom/>', before=blocks))


@pytest.mark.parametrize("case", ACTUATORS)
def test_actuator(same_as_mujoco, case):
    same_as_mujoco(JOINTED.format("", ACTUATORS[case]))


@pytest.mark.parametrize("default", ACTUATOR_DEFAULTS)
@pytest.mark.parametrize("tag", ["general", "motor", "position", "velocity", "damper", "cylinder"])
def test_actuator_defaults_are_shared(same_as_mujoco, default, tag):
    if (default, tag) == ("one after the other", "damper"):
        pytest.skip("a damper refuses the negative control range of that class, in MuJoCo too")
    limits = ' dyntype="filter"' if default == "intvelocity" and tag == "general" else ""
    if default == "intvelocity" and tag not in ("general", "cylinder"):
        pytest.skip("the class's activation range needs an activation, in MuJoCo too")
    before = f"<default>{ACTUATOR_DEFAULTS[default]}</default>"
    extra = ' ctrlrange="0 1"' if tag == "damper" else ""
    same_as_mujoco(JOINTED.format(before, f'<{tag} joint="h"{extra}{limits}/>'))


def test_keyframe(same_as_mujoco):
    content = (
        f'<body pos="1 2 3"><freejoint/>{MASS}</body><body>{MASS}<joint type="ball"/><joint type="slide" ref="2"/>'
        '</body><body mocap="true" pos="4 5 6" euler="10 0 0"/>'
    )
    keys = (
        '<keyframe><key/><key name="k" time="2" qpos="1 2 3 4 5 6 7 8 9 10 11 12"/>'
        '<key qvel="1 2 3 4 5 6 7 8 9 10" mpos="1 1 1" mquat="1 1 1 1"/></keyframe>'
    )
    same_as_mujoco(world(content, after=keys, before='<size nkey="5"/>'))


def test_keyframe_of_controls(same_as_mujoco):
    keys = '</actuator><keyframe><key ctrl="1 2" act="3"/></keyframe><actuator>'
    same_as_mujoco(JOINTED.format("", f'<motor joint="h"/>{keys}<general joint="s" dyntype="filter"/>'))


def test_custom(same_as_mujoco):
    custom = (
        '<custom><numeric name="n" data="1 2 3"/><numeric name="o" size="4" data="5"/><numeric name="p" size="2"/>'
        '<text name="t" data="some text"/><tuple name="u"><element objtype="body" objname="b"/>'
        '<element objtype="xbody" objname="world" prm="3"/><element objtype="numeric" objname="n"/></tuple></custom>'
    )
    ours = same_as_mujoco(world(body(MASS, 'name="b"'), after=custom))
    assert bytes(ours.values["text_data"]) == b"some text\0"


def test_mocap_gravcomp_and_sleep(same_as_mujoco):
    content = (
        f'<body mocap="true" name="m">{MASS}</body><body gravcomp=".5" sleep="never"><joint name="j"/>{MASS}</body>'
        f'<body sleep="allowed"><freejoint/>{MASS}</body><body><joint/>{MASS}<body gravcomp="1"/></body>'
    )
    same_as_mujoco(world(content, after='<actuator><motor joint="j"/></actuator>'))


def test_colliding_geoms_form_a_hierarchy(same_as_mujoco):
    geoms = "".join(
        f'<geom size=".{1 + i % 3}" pos="{i * 37 % 11} {i * 17 % 7} {i % 2}" contype="{i % 5}" conaffinity="0"/>'
        for i in range(23)
    )
    same_as_mujoco(world(geoms + body(geoms)))


def test_sections_may_repeat_and_come_in_any_order(same_as_mujoco):
    same_as_mujoco(
        '<mujoco><actuator><motor joint="j"/></actuator><worldbody><body><joint name="j"/><geom/></body></worldbody>'
        '<worldbody><geom/></worldbody><default><geom size=".3"/></default><compiler angle="radian"/><tendon/>'
        "<sensor/><asset/><contact/><equality/><visual/><deformable/><extension/><compiler/></mujoco>"
    )


def test_empty_model(same_as_mujoco):
    same_as_mujoco("<mujoco/>")
    same_as_mujoco('<mujoco model="my model"><worldbody/></mujoco>')
