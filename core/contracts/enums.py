"""The closed sets of mjModel and mjData: joint types, geom types, flags, …, with MuJoCo 3.4.0's values.

A member's `keyword` is the word MJCF writes for it, and `from_keyword` reads that word back. Where a member
has no word in MJCF (it exists only inside the engine), the keyword is its name in lower case.
"""

from __future__ import annotations

from difflib import get_close_matches
from enum import IntEnum, IntFlag
from typing import Any, Self


class Keyword(IntEnum):
    """An integer with an MJCF word: `NAME = value`, or `NAME = value, "word"` where the word differs."""

    word: str | None

    def __new__(cls, value: int, word: str | None = None) -> Self:
        member = int.__new__(cls, value)
        member._value_ = value
        member.word = word
        return member

    @property
    def keyword(self) -> str:
        return self.word or self.name.lower()

    @classmethod
    def from_keyword(cls, keyword: str) -> Self:
        """The member MJCF calls `keyword`; the error lists the words that exist."""
        for member in cls:
            if member.keyword == keyword:
                return member
        words = [member.keyword for member in cls]
        raise ValueError(_unknown_keyword(cls.__name__, keyword, words))


class Flag(IntFlag):
    """A bit with the name of an attribute of `<option><flag>`."""

    @property
    def keyword(self) -> str:
        return (self.name or "").lower()

    @classmethod
    def from_keyword(cls, keyword: str) -> Self:
        """The bit `<flag>` calls `keyword`; the error lists the bits that exist."""
        for member in cls:
            if member.keyword == keyword:
                return member
        words = [member.keyword for member in cls]
        raise ValueError(_unknown_keyword(cls.__name__, keyword, words))


def _unknown_keyword(kind: str, keyword: Any, words: list[str]) -> str:
    near = get_close_matches(str(keyword), words, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"{kind} has no keyword {keyword!r}.{hint} It has: {', '.join(words)}."


class DisableBit(Flag):
    """Standard features that `opt.disableflags` switches off (mjtDisableBit)."""

    CONSTRAINT = 1 << 0
    EQUALITY = 1 << 1
    FRICTIONLOSS = 1 << 2
    LIMIT = 1 << 3
    CONTACT = 1 << 4
    SPRING = 1 << 5
    DAMPER = 1 << 6
    GRAVITY = 1 << 7
    CLAMPCTRL = 1 << 8
    WARMSTART = 1 << 9
    FILTERPARENT = 1 << 10
    ACTUATION = 1 << 11
    REFSAFE = 1 << 12
    SENSOR = 1 << 13
    MIDPHASE = 1 << 14
    EULERDAMP = 1 << 15
    AUTORESET = 1 << 16
    NATIVECCD = 1 << 17
    ISLAND = 1 << 18


class EnableBit(Flag):
    """Optional features that `opt.enableflags` switches on (mjtEnableBit)."""

    OVERRIDE = 1 << 0
    ENERGY = 1 << 1
    FWDINV = 1 << 2
    INVDISCRETE = 1 << 3
    MULTICCD = 1 << 4
    SLEEP = 1 << 5


class Integrator(Keyword):
    """How a step advances the state (mjtIntegrator)."""

    EULER = 0, "Euler"
    RK4 = 1, "RK4"
    IMPLICIT = 2
    IMPLICITFAST = 3


class Solver(Keyword):
    """Constraint solver (mjtSolver)."""

    PGS = 0, "PGS"
    CG = 1, "CG"
    NEWTON = 2, "Newton"


class Cone(Keyword):
    """Shape of the friction cone (mjtCone)."""

    PYRAMIDAL = 0
    ELLIPTIC = 1


class Jacobian(Keyword):
    """Storage of the constraint Jacobian (mjtJacobian)."""

    DENSE = 0
    SPARSE = 1
    AUTO = 2


class JointType(Keyword):
    """Joint types (mjtJoint); FREE has 7 positions and 6 dofs, BALL 4 and 3, the others one each."""

    FREE = 0
    BALL = 1
    SLIDE = 2
    HINGE = 3


class GeomType(Keyword):
    """Geom types (mjtGeom); values from 100 on are only drawn, never collided, except FLEX in look-ups."""

    PLANE = 0
    HFIELD = 1
    SPHERE = 2
    CAPSULE = 3
    ELLIPSOID = 4
    CYLINDER = 5
    BOX = 6
    MESH = 7
    SDF = 8
    ARROW = 100
    ARROW1 = 101
    ARROW2 = 102
    LINE = 103
    LINEBOX = 104
    FLEX = 105
    SKIN = 106
    LABEL = 107
    TRIANGLE = 108
    NONE = 1001


class TrnType(Keyword):
    """What an actuator pulls on (mjtTrn); the keyword is the attribute that names it."""

    JOINT = 0
    JOINTINPARENT = 1
    SLIDERCRANK = 2, "cranksite"
    TENDON = 3
    SITE = 4
    BODY = 5
    UNDEFINED = 1000


class DynType(Keyword):
    """Activation dynamics of an actuator (mjtDyn)."""

    NONE = 0
    INTEGRATOR = 1
    FILTER = 2
    FILTEREXACT = 3
    MUSCLE = 4
    USER = 5


class GainType(Keyword):
    """How an actuator's gain is computed (mjtGain)."""

    FIXED = 0
    AFFINE = 1
    MUSCLE = 2
    USER = 3


class BiasType(Keyword):
    """How an actuator's bias force is computed (mjtBias)."""

    NONE = 0
    AFFINE = 1
    MUSCLE = 2
    USER = 3


class ObjType(Keyword):
    """Kinds of named object (mjtObj); BODY means the inertial frame of a body, XBODY its own frame."""

    UNKNOWN = 0
    BODY = 1
    XBODY = 2
    JOINT = 3
    DOF = 4
    GEOM = 5
    SITE = 6
    CAMERA = 7
    LIGHT = 8
    FLEX = 9
    MESH = 10
    SKIN = 11
    HFIELD = 12
    TEXTURE = 13
    MATERIAL = 14
    PAIR = 15
    EXCLUDE = 16
    EQUALITY = 17
    TENDON = 18
    ACTUATOR = 19
    SENSOR = 20
    NUMERIC = 21
    TEXT = 22
    TUPLE = 23
    KEY = 24
    PLUGIN = 25
    FRAME = 100
    DEFAULT = 101
    MODEL = 102


class EqType(Keyword):
    """Equality constraints (mjtEq); DISTANCE keeps its number but is no longer accepted in MJCF."""

    CONNECT = 0
    WELD = 1
    JOINT = 2
    TENDON = 3
    FLEX = 4
    DISTANCE = 5


class WrapType(Keyword):
    """Objects along a tendon's path (mjtWrap); MJCF writes `geom` for both SPHERE and CYLINDER."""

    NONE = 0
    JOINT = 1
    PULLEY = 2
    SITE = 3
    SPHERE = 4
    CYLINDER = 5


class SensorType(Keyword):
    """Sensors (mjtSensor); the keyword is the element's tag inside `<sensor>`."""

    TOUCH = 0
    ACCELEROMETER = 1
    VELOCIMETER = 2
    GYRO = 3
    FORCE = 4
    TORQUE = 5
    MAGNETOMETER = 6
    RANGEFINDER = 7
    CAMPROJECTION = 8
    JOINTPOS = 9
    JOINTVEL = 10
    TENDONPOS = 11
    TENDONVEL = 12
    ACTUATORPOS = 13
    ACTUATORVEL = 14
    ACTUATORFRC = 15
    JOINTACTFRC = 16, "jointactuatorfrc"
    TENDONACTFRC = 17, "tendonactuatorfrc"
    BALLQUAT = 18
    BALLANGVEL = 19
    JOINTLIMITPOS = 20
    JOINTLIMITVEL = 21
    JOINTLIMITFRC = 22
    TENDONLIMITPOS = 23
    TENDONLIMITVEL = 24
    TENDONLIMITFRC = 25
    FRAMEPOS = 26
    FRAMEQUAT = 27
    FRAMEXAXIS = 28
    FRAMEYAXIS = 29
    FRAMEZAXIS = 30
    FRAMELINVEL = 31
    FRAMEANGVEL = 32
    FRAMELINACC = 33
    FRAMEANGACC = 34
    SUBTREECOM = 35
    SUBTREELINVEL = 36
    SUBTREEANGMOM = 37
    INSIDESITE = 38
    GEOMDIST = 39, "distance"
    GEOMNORMAL = 40, "normal"
    GEOMFROMTO = 41, "fromto"
    CONTACT = 42
    E_POTENTIAL = 43
    E_KINETIC = 44
    CLOCK = 45
    TACTILE = 46
    PLUGIN = 47
    USER = 48


class DataType(Keyword):
    """What a sensor's numbers are, which decides how the cutoff applies (mjtDataType)."""

    REAL = 0
    POSITIVE = 1
    AXIS = 2
    QUATERNION = 3


class NeedStage(Keyword):
    """The part of forward a sensor has to wait for (mjtStage)."""

    NONE = 0
    POS = 1
    VEL = 2
    ACC = 3


class ContactData(Keyword):
    """Fields a contact sensor can report; bit numbers of `sensor_intprm[0]` (mjtConDataField)."""

    FOUND = 0
    FORCE = 1
    TORQUE = 2
    DIST = 3
    POS = 4
    NORMAL = 5
    TANGENT = 6


class CamLight(Keyword):
    """How a camera or light follows bodies (mjtCamLight)."""

    FIXED = 0
    TRACK = 1
    TRACKCOM = 2
    TARGETBODY = 3
    TARGETBODYCOM = 4


class LightType(Keyword):
    """Light sources (mjtLightType)."""

    SPOT = 0
    DIRECTIONAL = 1
    POINT = 2
    IMAGE = 3


class TextureType(Keyword):
    """Texture types (mjtTexture)."""

    TWO_D = 0, "2d"
    CUBE = 1
    SKYBOX = 2


class TextureRole(Keyword):
    """What a material uses a texture for; column of `mat_texid` (mjtTextureRole)."""

    USER = 0
    RGB = 1
    OCCLUSION = 2
    ROUGHNESS = 3
    METALLIC = 4
    NORMAL = 5
    OPACITY = 6
    EMISSIVE = 7
    RGBA = 8
    ORM = 9


class ColorSpace(Keyword):
    """Encoding of texture pixels (mjtColorSpace)."""

    AUTO = 0
    LINEAR = 1
    SRGB = 2, "sRGB"


class TextureBuiltin(Keyword):
    """Procedural texture patterns (mjtBuiltin)."""

    NONE = 0
    GRADIENT = 1
    CHECKER = 2
    FLAT = 3


class MeshBuiltin(Keyword):
    """Procedural mesh shapes (mjtMeshBuiltin)."""

    NONE = 0
    SPHERE = 1
    HEMISPHERE = 2
    CONE = 3
    SUPERSPHERE = 4
    SUPERTORUS = 5
    WEDGE = 6
    PLATE = 7


class MeshInertia(Keyword):
    """How the compiler integrates a mesh's mass (mjtMeshInertia)."""

    CONVEX = 0
    EXACT = 1
    LEGACY = 2
    SHELL = 3


class GeomInertia(Keyword):
    """Whether a geom's mass fills it or covers its surface (mjtGeomInertia)."""

    VOLUME = 0
    SHELL = 1


class AutoBool(Keyword):
    """A yes or no that the compiler may decide (mjtLimited, mjtAlignFree, mjtInertiaFromGeom)."""

    FALSE = 0
    TRUE = 1
    AUTO = 2


class SameFrame(Keyword):
    """Which frame an object's frame coincides with, so that its pose is copied (mjtSameFrame).

    BODY and INERTIA: the whole frame; BODYROT and INERTIAROT: only the orientation.
    """

    NONE = 0
    BODY = 1
    INERTIA = 2
    BODYROT = 3
    INERTIAROT = 4


class SleepPolicy(Keyword):
    """Whether a kinematic tree may sleep (mjtSleepPolicy); the AUTO_ ones are the compiler's own verdicts."""

    AUTO = 0
    AUTO_NEVER = 1
    AUTO_ALLOWED = 2
    NEVER = 3
    ALLOWED = 4
    INIT = 5


class SleepState(Keyword):
    """Sleep state of a body (mjtSleepState)."""

    STATIC = -1
    ASLEEP = 0
    AWAKE = 1


class FlexSelf(Keyword):
    """How a flex looks for contacts with itself (mjtFlexSelf)."""

    NONE = 0
    NARROW = 1
    BVH = 2
    SAP = 3
    AUTO = 4


class LengthRangeMode(Keyword):
    """Which actuators get their length range computed by the compiler (mjtLRMode)."""

    NONE = 0
    MUSCLE = 1
    MUSCLEUSER = 2
    ALL = 3


class ConstraintType(Keyword):
    """What a constraint row comes from; value of `efc_type` (mjtConstraint)."""

    EQUALITY = 0
    FRICTION_DOF = 1
    FRICTION_TENDON = 2
    LIMIT_JOINT = 3
    LIMIT_TENDON = 4
    CONTACT_FRICTIONLESS = 5
    CONTACT_PYRAMIDAL = 6
    CONTACT_ELLIPTIC = 7


class ConstraintState(Keyword):
    """Which piece of its cost a constraint row is on; value of `efc_state` (mjtConstraintState)."""

    SATISFIED = 0
    QUADRATIC = 1
    LINEARNEG = 2
    LINEARPOS = 3
    CONE = 4
