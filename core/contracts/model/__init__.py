"""The fields of Model, one small file per entity; names, shapes and dtypes are mjModel's (MuJoCo 3.4.0)."""

from dovetail.contracts.model.actuator import Actuator
from dovetail.contracts.model.body import Body
from dovetail.contracts.model.bvh import Bvh, Octree
from dovetail.contracts.model.camera import Camera
from dovetail.contracts.model.custom import Numeric, Text, Tuple
from dovetail.contracts.model.equality import Equality
from dovetail.contracts.model.flex import Flex
from dovetail.contracts.model.geom import Geom
from dovetail.contracts.model.hfield import HField
from dovetail.contracts.model.joint import Dof, Joint, ReferencePose, Tree
from dovetail.contracts.model.keyframe import Key
from dovetail.contracts.model.light import Light
from dovetail.contracts.model.mesh import Mesh
from dovetail.contracts.model.names import Names
from dovetail.contracts.model.pair_exclude import Exclude, Pair
from dovetail.contracts.model.plugin import Plugin
from dovetail.contracts.model.sensor import Sensor
from dovetail.contracts.model.site import Site
from dovetail.contracts.model.skin import Skin
from dovetail.contracts.model.sparse import Sparse
from dovetail.contracts.model.tendon import Tendon, Wrap
from dovetail.contracts.model.texture_material import Material, Texture
from dovetail.contracts.option import Option, Statistic
from dovetail.contracts.visual import VISUAL_GROUPS

__all__ = [
    "MODEL_GROUPS",
    "MODEL_PARTS",
    "Actuator",
    "Body",
    "Bvh",
    "Camera",
    "Dof",
    "Equality",
    "Exclude",
    "Flex",
    "Geom",
    "HField",
    "Joint",
    "Key",
    "Light",
    "Material",
    "Mesh",
    "Names",
    "Numeric",
    "Octree",
    "Option",
    "Pair",
    "Plugin",
    "ReferencePose",
    "Sensor",
    "Site",
    "Skin",
    "Sparse",
    "Statistic",
    "Tendon",
    "Text",
    "Texture",
    "Tree",
    "Tuple",
    "Wrap",
]

MODEL_PARTS: tuple[type, ...] = (
    ReferencePose,
    Body,
    Bvh,
    Octree,
    Joint,
    Dof,
    Tree,
    Geom,
    Site,
    Camera,
    Light,
    Flex,
    Mesh,
    Skin,
    HField,
    Texture,
    Material,
    Pair,
    Exclude,
    Equality,
    Tendon,
    Wrap,
    Actuator,
    Sensor,
    Plugin,
    Numeric,
    Text,
    Tuple,
    Key,
    Names,
    Sparse,
)
"""In mjModel's order."""

MODEL_GROUPS: dict[str, type] = {"opt": Option, "stat": Statistic, **VISUAL_GROUPS}
"""Sub-structures, by the attribute they are reached through; a dotted one stands in another (`vis.map`)."""
