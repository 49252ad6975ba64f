"""Scripts that add every kind of element to a spec; each leaves a `spec` behind."""
# ruff: noqa: E501 - lines of scripts and models

BODY = """
spec = mujoco.MjSpec()
world = spec.worldbody
floor = world.add_geom(name='floor', type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2, 2, 0.1])
body = world.add_body(name='body', pos=[0, 0, 1])
geom = body.add_geom(name='geom', type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.2, 0.3])
"""
ARM = (
    BODY
    + """
joint = body.add_joint(name='joint', axis=[0, 1, 0], range=[-90, 90], damping=0.5)
site = body.add_site(name='site', pos=[0, 0, 0.3])
fore = body.add_body(name='fore', pos=[0, 0, 0.5])
fore.add_geom(name='rod', type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0, 0, 0, 0, 0, 0.4], size=[0.05, 0, 0])
elbow = fore.add_joint(name='elbow', type=mujoco.mjtJoint.mjJNT_SLIDE, range=[-0.1, 0.2])
tip = fore.add_site(name='tip', pos=[0, 0, 0.4])
camera = fore.add_camera(name='camera', pos=[1, 0, 0])
"""
)
TENDON = (
    ARM
    + """
tendon = spec.add_tendon(name='tendon', stiffness=2, range=[0.1, 1])
tendon.wrap_site('site')
tendon.wrap_site('tip')
"""
)

CASES = {
    "nothing": "spec = mujoco.MjSpec()",
    "body": BODY,
    "body with inertia": """
spec = mujoco.MjSpec()
b = spec.worldbody.add_body(name='b', mass=2, ipos=[0, 0, .1], inertia=[1, 2, 2.5], iquat=[.8, .6, 0, 0], gravcomp=1)
b.add_freejoint(name='free')
c = b.add_body(mass=1, ipos=[0, 0, 0], fullinertia=[1, 1.5, 2, .1, .2, .3], userdata=[1, 2])
d = b.add_body(mass=1, ipos=[0, 0, 0], inertia=[1, 1, 1], ieuler=[0, 30, 0])
""",
    "mocap body": BODY + "hand = world.add_body(name='hand', mocap=True, pos=[1, 0, 0], euler=[0, 0, 45])",
    "orientations": """
spec = mujoco.MjSpec()
b = spec.worldbody.add_body(axisangle=[0, 1, 0, 30])
b.add_geom(size=[1, 1, 1], type=mujoco.mjtGeom.mjGEOM_BOX, xyaxes=[1, 1, 0, -1, 1, 0])
b.add_geom(size=[1, 2, 1], type=mujoco.mjtGeom.mjGEOM_CYLINDER, zaxis=[1, 2, 3])
b.add_site(euler=[10, 20, 30]); b.add_camera(axisangle=[1, 2, 3, 40]); b.add_frame(euler=[0, 90, 0]).add_site(pos=[1, 0, 0])
""",
    "another Euler sequence": """
spec = mujoco.MjSpec()
spec.compiler.eulerseq = ['Z', 'y', 'x']
spec.compiler.degree = False
spec.worldbody.add_body(euler=[.1, .2, .3]).add_geom(size=[1, 0, 0])
""",
    "geom numbers": BODY
    + """
geom.friction = [2, .1, .2]; geom.solref[0] = .03; geom.margin = .01; geom.gap = .005; geom.priority = 2
geom.condim = 6; geom.rgba = [1, 0, 0, .5]; geom.mass = 3; geom.userdata = [1, 2, 3]; geom.group = 2; geom.solmix = .5
shell = body.add_geom(size=[.2, 0, 0], typeinertia=mujoco.mjtGeomInertia.mjINERTIA_SHELL, density=10)
fish = body.add_geom(size=[.2, .1, .3], type=mujoco.mjtGeom.mjGEOM_ELLIPSOID, fluid_ellipsoid=1, fluid_coefs=[1, 2, 3, 4, 5])
""",
    "joints": """
spec = mujoco.MjSpec()
for kind in ('FREE', 'BALL', 'SLIDE', 'HINGE'):
    b = spec.worldbody.add_body()
    b.add_geom(size=[.1, 0, 0])
    j = b.add_joint(name=kind, type=getattr(mujoco.mjtJoint, 'mjJNT_' + kind), damping=.1, armature=.2)
j.ref = 10; j.springref = 20; j.stiffness = 3; j.frictionloss = .1; j.range = [-30, 40]; j.solref_limit[0] = .1
j.actfrcrange = [-1, 2]; j.actgravcomp = 1; j.userdata = [5]
b = spec.worldbody.add_body(pos=[0, 0, 1]); b.add_geom(size=[.1, .2, .3], type=mujoco.mjtGeom.mjGEOM_BOX, pos=[.1, 0, 0])
b.add_freejoint(align=True, group=2)
""",
    "sites": BODY
    + """
body.add_site(name='a', type=mujoco.mjtGeom.mjGEOM_BOX, size=[.1, .2, .3], rgba=[0, 1, 0, 1], group=3, userdata=[4, 5])
body.add_site(fromto=[0, 0, 0, 0, 0, 1], type=mujoco.mjtGeom.mjGEOM_CAPSULE, size=[.1, .1, .1])
""",
    "cameras and lights": BODY
    + """
body.add_camera(name='c', fovy=30, ipd=.1, mode=mujoco.mjtCamLight.mjCAMLIGHT_TARGETBODY, targetbody='body', pos=[1, 0, 0])
body.add_camera(sensor_size=[.02, .01], resolution=[640, 480], focal_length=[.01, .01], principal_length=[.001, 0])
world.add_camera(orthographic=1, userdata=[7])
body.add_light(pos=[0, 0, 3], dir=[0, 1, -1], type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, castshadow=0)
world.add_light(attenuation=[1, .1, .01], diffuse=[.5, .6, .7], cutoff=30, exponent=5, active=0, bulbradius=.1)
""",
    "frames": BODY
    + """
outer = body.add_frame(name='outer', pos=[1, 2, 3], quat=[1, 1, 0, 0])
inner = outer.add_frame(name='inner', euler=[0, 0, 90], pos=[0, 1, 0])
first = body.add_geom(name='first', size=[.1, 0, 0])
second = inner.add_geom(name='second', size=[.1, 0, 0], pos=[1, 0, 0])
third = body.add_geom(name='third', size=[.1, 0, 0])
fourth = outer.add_geom(name='fourth', size=[.1, 0, 0])
inner.add_body(name='child', pos=[0, 0, 1]).add_geom(size=[.2, 0, 0])
outer.add_site(name='s'); inner.add_camera(); outer.add_light(pos=[0, 0, 1])
first.set_frame(inner)
""",
    "meshes": """
spec = mujoco.MjSpec()
cube = [-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1, -1, -1, 1, 1, -1, 1, -1, 1, 1, 1, 1, 1.5]
spec.add_mesh(name='cube', uservert=cube, scale=[.1, .2, .3], inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
spec.add_mesh(name='ball').make_sphere(subdivision=1)
spec.add_mesh(name='torus').make_supertorus(resolution=6, radius=.5, s=1, t=1)
m = spec.add_mesh(name='hat', smoothnormal=1, maxhullvert=20); m.make_cone(nedge=8, radius=.5)
for k, name in enumerate(('cube', 'ball', 'torus', 'hat')):
    b = spec.worldbody.add_body(pos=[k, 0, 0])
    b.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name)
b.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, meshname='cube', fitscale=2)
""",
    "height field": """
spec = mujoco.MjSpec()
spec.add_hfield(name='h', size=[1, 2, .5, .1], nrow=2, ncol=3, userdata=[0, .1, .2, .3, .4, .5])
spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname='h')
""",
    "textures and materials": """
spec = mujoco.MjSpec()
spec.add_texture(name='check', type=mujoco.mjtTexture.mjTEXTURE_2D, builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
                 width=8, height=6, rgb1=[.1, .2, .3], rgb2=[.4, .5, .6], mark=mujoco.mjtMark.mjMARK_EDGE, markrgb=[1, 1, 1])
spec.add_texture(name='sky', type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, width=4)
raw = spec.add_texture(name='raw', type=mujoco.mjtTexture.mjTEXTURE_2D, width=2, height=2)
raw.data = bytes(range(12))
spec.add_material(name='m', texrepeat=[2, 3], emission=.2, rgba=[1, 0, 0, 1], reflectance=.1).textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = 'check'
n = spec.add_material(name='n', metallic=.5, roughness=.2, texuniform=1)
n.textures[mujoco.mjtTextureRole.mjTEXROLE_ROUGHNESS] = 'raw'
spec.worldbody.add_geom(size=[1, 0, 0], material='m'); spec.worldbody.add_site(material='n')
""",
    "skin": ARM
    + """
spec.add_skin(name='skin', vert=[0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], face=[0, 1, 2, 0, 2, 3], inflate=.1, group=1,
              rgba=[0, 0, 1, 1], bodyname=['body', 'fore'], bindpos=[0, 0, 1, 0, 0, 1.5], bindquat=[1, 0, 0, 0] * 2,
              vertid=[[0, 1, 2], [2, 3]], vertweight=[[1, 1, .5], [.5, 1]])
""",
    "flex": """
spec = mujoco.MjSpec()
for k, pos in enumerate(([0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1])):
    b = spec.worldbody.add_body(name='v%d' % k, pos=pos, mass=.1, ipos=[0, 0, 0], inertia=[.01, .01, .01])
    for axis in ([1, 0, 0], [0, 1, 0], [0, 0, 1]):
        b.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
spec.add_flex(name='cloth', dim=2, vertbody=['v0', 'v1', 'v2', 'v3'], elem=[0, 1, 2, 1, 3, 2], young=100, poisson=.2,
              thickness=.01, damping=.1, elastic2d=3, edgestiffness=0, edgedamping=.5, radius=.02, friction=[.5, .1, .1],
              selfcollide=0, rgba=[1, 0, 0, 1], group=2)
""",
    "pairs and excludes": ARM
    + """
spec.add_pair(name='pair', geomname1='floor', geomname2='rod', condim=4, margin=.1, gap=.01, friction=[.1, .2, .3, .4, .5])
spec.add_exclude(name='no', bodyname1='body', bodyname2='fore')
""",
    "equalities": TENDON
    + """
data = np.zeros(11); data[:3] = [.1, .2, .3]; data[10] = 1
spec.add_equality(name='c', type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY, name1='body', name2='fore', data=data)
data[3:10] = [0, 0, 1, 1, 0, 0, 0]; data[10] = 2
spec.add_equality(name='w', type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY, name1='body', data=data, active=False)
spec.add_equality(name='s', type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_SITE, name1='site', name2='tip', solref=[.1, 1])
spec.add_equality(name='j', type=mujoco.mjtEq.mjEQ_JOINT, name1='joint', name2='elbow', data=[.1, 2] + [0] * 8 + [1])
spec.add_equality(name='t', type=mujoco.mjtEq.mjEQ_TENDON, name1='tendon', data=[.3] + [0] * 9 + [1])
""",
    "tendons": ARM
    + """
ball = world.add_geom(name='ball', size=[.1, 0, 0], pos=[0, 0, 1.4])
tendon = spec.add_tendon(name='t', stiffness=2, springlength=[.1, .2], damping=.5, frictionloss=.1, width=.01, rgba=[1, 0, 0, 1])
tendon.wrap_site('site'); tendon.wrap_geom('ball', ''); tendon.wrap_site('tip'); tendon.wrap_pulley(2)
tendon.wrap_site('tip'); tendon.wrap_geom('ball', 'site'); tendon.wrap_site('site')
fixed = spec.add_tendon(name='f', range=[-1, 1], armature=.1, actfrclimited=1, actfrcrange=[-2, 3], userdata=[1])
fixed.wrap_joint('joint', 2.0); fixed.wrap_joint('elbow', -1)
""",
    "actuators": TENDON
    + """
def add(name, **more):
    return spec.add_actuator(name=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target='joint', **more)
add('motor', gear=[3, 0, 0, 0, 0, 0], ctrlrange=[-1, 1]).set_to_motor()
add('position').set_to_position(kp=5, kv=.5, inheritrange=1)
add('damped').set_to_position(kp=5, dampratio=1, timeconst=.1)
add('velocity', forcerange=[-2, 2]).set_to_velocity(kv=2)
add('integrated').set_to_intvelocity(kp=3, kv=1, inheritrange=.5)
add('damper', ctrlrange=[0, 1]).set_to_damper(kv=2)
add('cylinder').set_to_cylinder(timeconst=.2, bias=.1, area=2)
muscle = add('muscle', lengthrange=[.1, .5])
muscle.dyntype = mujoco.mjtDyn.mjDYN_MUSCLE; muscle.gaintype = mujoco.mjtGain.mjGAIN_MUSCLE; muscle.biastype = mujoco.mjtBias.mjBIAS_MUSCLE
muscle.dynprm[:2] = [.01, .04]; muscle.gainprm[:9] = [.75, 1.05, 100, 200, .5, 1.6, 1.5, 1.3, 1.2]; muscle.biasprm[:] = muscle.gainprm
sticky = spec.add_actuator(name='sticky', trntype=mujoco.mjtTrn.mjTRN_BODY, target='fore', ctrlrange=[0, 1]); sticky.set_to_adhesion(gain=2)
spec.add_actuator(name='pull', trntype=mujoco.mjtTrn.mjTRN_TENDON, target='tendon', group=2, userdata=[1, 2])
spec.add_actuator(name='push', trntype=mujoco.mjtTrn.mjTRN_SITE, target='tip', refsite='site', gear=[0, 0, 1, 0, 0, 0])
spec.add_actuator(name='crank', trntype=mujoco.mjtTrn.mjTRN_SLIDERCRANK, target='tip', slidersite='site', cranklength=.5)
spec.add_actuator(name='inparent', trntype=mujoco.mjtTrn.mjTRN_JOINTINPARENT, target='joint', actlimited=1, actrange=[-1, 1],
                  dyntype=mujoco.mjtDyn.mjDYN_INTEGRATOR, actearly=True)
""",
    "sensors": TENDON
    + """
motor = spec.add_actuator(name='motor', trntype=mujoco.mjtTrn.mjTRN_JOINT, target='joint')
S, O = mujoco.mjtSensor, mujoco.mjtObj
def on(kind, objtype, what, **more):
    spec.add_sensor(type=getattr(S, 'mjSENS_' + kind), objtype=getattr(O, 'mjOBJ_' + objtype), objname=what, **more)
for kind in ('TOUCH', 'ACCELEROMETER', 'VELOCIMETER', 'GYRO', 'FORCE', 'TORQUE', 'MAGNETOMETER', 'RANGEFINDER'):
    on(kind, 'SITE', 'site', name=kind, cutoff=2, noise=.1)
for kind in ('JOINTPOS', 'JOINTVEL', 'JOINTACTFRC', 'JOINTLIMITPOS', 'JOINTLIMITVEL', 'JOINTLIMITFRC'):
    on(kind, 'JOINT', 'joint')
for kind in ('TENDONPOS', 'TENDONVEL', 'TENDONACTFRC', 'TENDONLIMITPOS', 'TENDONLIMITVEL', 'TENDONLIMITFRC'):
    on(kind, 'TENDON', 'tendon')
for kind in ('ACTUATORPOS', 'ACTUATORVEL', 'ACTUATORFRC'):
    on(kind, 'ACTUATOR', 'motor')
for kind in ('FRAMEPOS', 'FRAMEQUAT', 'FRAMEXAXIS', 'FRAMELINVEL', 'FRAMEANGVEL'):
    on(kind, 'BODY', 'fore', reftype=O.mjOBJ_SITE, refname='site')
on('FRAMELINACC', 'XBODY', 'fore'); on('FRAMEANGACC', 'GEOM', 'rod')
for kind in ('SUBTREECOM', 'SUBTREELINVEL', 'SUBTREEANGMOM'):
    on(kind, 'BODY', 'body')
on('CAMPROJECTION', 'SITE', 'tip', reftype=O.mjOBJ_CAMERA, refname='camera')
on('INSIDESITE', 'BODY', 'fore', reftype=O.mjOBJ_SITE, refname='site')
for kind in ('GEOMDIST', 'GEOMNORMAL', 'GEOMFROMTO'):
    on(kind, 'GEOM', 'rod', reftype=O.mjOBJ_GEOM, refname='floor', cutoff=1)
on('CONTACT', 'GEOM', 'rod', reftype=O.mjOBJ_BODY, refname='world', intprm=[1 | 2 | 16, 1, 2])
for kind in ('E_POTENTIAL', 'E_KINETIC', 'CLOCK'):
    spec.add_sensor(type=getattr(S, 'mjSENS_' + kind))
spec.add_sensor(name='mine', type=S.mjSENS_USER, dim=3, needstage=mujoco.mjtStage.mjSTAGE_POS, userdata=[1, 2])
""",
    "custom data and keys": ARM
    + """
spec.add_numeric(name='n', data=[1, 2, 3], size=5); spec.add_text(name='t', data='hello & "bye"')
spec.add_tuple(name='u', objtype=[int(mujoco.mjtObj.mjOBJ_BODY), int(mujoco.mjtObj.mjOBJ_SITE)], objname=['body', 'tip'], objprm=[1, 2])
spec.add_key(name='k', time=1.5, qpos=[.1, .2], qvel=[.3, .4]); spec.add_key(name='l')
""",
    "settings": BODY
    + """
spec.option.timestep = .01; spec.option.gravity = [0, 1, -2]; spec.option.integrator = int(mujoco.mjtIntegrator.mjINT_RK4)
spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT); spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
spec.option.disableactuator = 5; spec.option.o_margin = .1; spec.stat.meansize = .3; spec.stat.center = [1, 2, 3]
spec.visual.global_.fovy = 30; spec.visual.map.znear = .02; spec.visual.rgba.haze = [1, 0, 0, 1]; spec.visual.quality.numslices = 10
spec.nuserdata = 3; spec.nuser_geom = 2; spec.njmax = 100; spec.modelname = 'mine'
spec.compiler.boundmass = 2; spec.compiler.settotalmass = 7; spec.compiler.inertiagrouprange = [0, 2]
""",
    "defaults": """
spec = mujoco.MjSpec()
main = spec.default
main.geom.rgba = [1, 0, 0, 1]; main.joint.damping = .5; main.geom.friction[0] = .7; main.actuator.ctrlrange = [-1, 1]
leg = spec.add_default('leg', main)
leg.geom.type = mujoco.mjtGeom.mjGEOM_CAPSULE; leg.geom.size = [.1, .2, 0]; leg.joint.range = [-10, 10]; leg.site.group = 4
b = spec.worldbody.add_body(leg, name='b')
b.add_geom(name='from class'); b.add_geom(main, name='other', size=[.3, 0, 0]); b.add_joint(name='j'); b.add_site()
leg.geom.size[0] = .5
c = b.add_body(name='c'); c.add_geom(name='later'); c.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE)
own = c.add_geom(name='own', rgba=[0, 0, 1, 1]); own.classname = main; own.size = [.1, 0, 0]; own.type = mujoco.mjtGeom.mjGEOM_SPHERE
spec.add_actuator(name='a', trntype=mujoco.mjtTrn.mjTRN_JOINT, target='j')
""",
    "engine plugin": """
spec = mujoco.MjSpec()
spec.activate_plugin('mujoco.elasticity.cable')
plugin = spec.add_plugin(name='cable', plugin_name='mujoco.elasticity.cable', active=True)
plugin.config = {'twist': '10', 'bend': '1'}
b = spec.worldbody.add_body(name='b'); b.plugin = plugin; b.plugin.name = 'cable'; b.plugin.active = True
b.add_geom(size=[.1, .1, .1], type=mujoco.mjtGeom.mjGEOM_BOX)
""",
    "deleted parts": TENDON
    + """
spec.add_actuator(name='m', trntype=mujoco.mjtTrn.mjTRN_JOINT, target='elbow')
spec.add_actuator(name='keep', trntype=mujoco.mjtTrn.mjTRN_JOINT, target='joint')
spec.add_sensor(type=mujoco.mjtSensor.mjSENS_JOINTPOS, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname='elbow')
spec.delete(fore); spec.delete(floor)
""",
    "a body that became a frame": BODY
    + """
body.add_body(name='inner', pos=[0, 0, 1]).add_geom(size=[.1, 0, 0], pos=[1, 0, 0])
body.to_frame()
""",
}
# single precision: vertices, and what follows from the elastic constants
TOLERANCES = {"meshes": 1e-6, "flex": 1e-8}
