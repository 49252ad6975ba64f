"""Elements of a scene: shapes with pose, size and colour, one record each (mjvGeom).

Everything that is drawn is an element: geoms, sites, tendons, marks of contacts and joints, and one for each flex
and skin, whose triangles the scene holds apart. Elements are kept as arrays, one per attribute, in order of drawing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.enums import GeomType, ObjType
from dovetail.contracts.fields import Array
from dovetail.errors import UnknownFieldError, nearest
from dovetail.visual.cameras import View
from dovetail.visual.materials import OPAQUE, material_rgba
from dovetail.visual.options import Category, Label, VisFlag, VisualOptions
from dovetail.visual.perturbation import Perturb

ELEMENT = np.dtype(
    [
        ("type", np.int32),
        ("dataid", np.int32),
        ("objtype", np.int32),
        ("objid", np.int32),
        ("category", np.int32),
        ("matid", np.int32),
        ("texcoord", np.int32),
        ("segid", np.int32),
        ("size", np.float32, 3),
        ("pos", np.float32, 3),
        ("mat", np.float32, (3, 3)),
        ("rgba", np.float32, 4),
        ("emission", np.float32),
        ("specular", np.float32),
        ("shininess", np.float32),
        ("reflectance", np.float32),
        ("modelrbound", np.float32),
    ]
)
"""What is known of each element. `type` is one of enums.GeomType. `dataid` is a mesh's number twice, and one more for
its hull; a height field's or a plane's number; else -1. `objtype` and `objid` say which object of the model it shows,
`segid` is its place in the scene, `matid` its material (-1: none), `texcoord` whether the texture coordinates are the
object's own."""
GREY = np.array([0.5, 0.5, 0.5, 1.0], np.float32)


class Elements:
    """The elements of a scene as arrays: `elements.pos` is (n, 3), `elements[4]` one record."""

    type: Array
    dataid: Array
    objtype: Array
    objid: Array
    category: Array
    matid: Array
    texcoord: Array
    segid: Array
    size: Array
    pos: Array
    mat: Array
    rgba: Array
    emission: Array
    specular: Array
    shininess: Array
    reflectance: Array
    modelrbound: Array

    def __init__(self, rows: Array | None = None, labels: dict[int, str] | None = None) -> None:
        self.rows = np.zeros(0, ELEMENT) if rows is None else rows
        self.labels = labels or {}
        """Texts by number of the element."""

    def __getattr__(self, name: str) -> Array:
        if name in (ELEMENT.names or ()):
            column: Array = self.rows[name]
            return column
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnknownFieldError(f"elements have no {name!r}{nearest(name, ELEMENT.names or ())}")

    @property
    def transparent(self) -> Array:
        """Whether what is behind each can be seen."""
        clear: Array = self.rows["rgba"][:, 3] < OPAQUE
        return clear

    def label(self, index: int) -> str:
        """The text at an element; empty if it has none."""
        return self.labels.get(index, "")

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"<{len(self)} elements>"


@attrs.define(eq=False)
class Drawing:
    """A scene while it is being filled: what is drawn, and the elements so far."""

    model: Any
    data: Any
    options: VisualOptions
    view: View
    perturb: Perturb
    categories: int = Category.ALL
    blocks: list[Array] = attrs.field(factory=list)
    labels: dict[int, str] = attrs.field(factory=dict)
    count: int = 0

    def shows(self, flag: VisFlag) -> bool:
        """Whether a flag is on."""
        return bool(self.options.flags.values[flag])

    def draws(self, category: int) -> bool:
        """Whether elements of a category are wanted."""
        return bool(self.categories & category)

    def add(
        self,
        kind: Any,
        *,
        pos: Any,
        size: Any,
        mat: Any = None,
        rgba: Any = GREY,
        matid: Any = -1,
        objtype: int = ObjType.UNKNOWN,
        objid: Any = -1,
        category: Any = Category.DECOR,
        label: str | list[str] = "",
        **others: Any,
    ) -> int:
        """Add elements, as many as there are positions, and say how many. Colours are those to be drawn; a material
        adds its lustre. `mat` is a rotation matrix for each, or one for all."""
        places = np.asarray(pos, np.float64).reshape(-1, 3)
        rows = np.zeros(len(places), ELEMENT)
        rows["type"], rows["pos"], rows["size"] = kind, places, size
        rows["mat"] = np.eye(3) if mat is None else np.asarray(mat).reshape(-1, 3, 3)
        rows["rgba"], rows["matid"], rows["objtype"], rows["objid"] = rgba, matid, objtype, objid
        rows["category"], rows["dataid"] = category, -1
        self._lustre(rows)
        for name, value in others.items():
            rows[name] = value
        if not self.shows(VisFlag.TEXTURE):
            rows["matid"] = -1
        rows["segid"] = np.arange(self.count, self.count + len(rows))
        texts = [label] * len(rows) if isinstance(label, str) else label
        self.labels.update({self.count + i: text for i, text in enumerate(texts) if text})
        self.blocks.append(rows)
        self.count += len(rows)
        return len(rows)

    def _lustre(self, rows: Array) -> None:
        """Highlights and mirroring, from materials."""
        rows["specular"] = rows["shininess"] = 0.5
        having = rows["matid"] >= 0
        if having.any():
            material = rows["matid"][having]
            for name in ("emission", "specular", "shininess", "reflectance"):
                rows[name][having] = np.asarray(getattr(self.model, f"mat_{name}"))[material]

    def elements(self) -> Elements:
        """All that was added."""
        rows = np.concatenate(self.blocks) if self.blocks else np.zeros(0, ELEMENT)
        return Elements(rows, self.labels)

    def length(self, name: str) -> float:
        """A length of `model.vis.scale`, in metres."""
        return float(getattr(self.model.vis.scale, name)) * float(self.model.stat.meansize)

    def force_length(self) -> float:
        """Length of arrows per force [m/N]: the heavier bodies are, the shorter."""
        return float(self.model.vis.map.force) / float(self.model.stat.meanmass)

    def text(self, wanted: Label, kind: str, number: int) -> str:
        """The label of an object, if its kind is labelled: its name, or kind and number."""
        if self.options.label != wanted:
            return ""
        return self.name(kind, number)

    def name(self, kind: str, number: int) -> str:
        """An object's name; its kind and number if it has none."""
        return object_name(self.model, kind, number) or f"{kind} {number}"

    def body_categories(self) -> Array:
        """Category of what hangs on each body: static if it cannot move. A mocap body is moved by hand."""
        model = self.model
        still = np.asarray(model.body_weldid) == 0
        moved = np.asarray(model.body_mocapid) >= 0
        return np.where(still & ~moved, Category.STATIC, Category.DYNAMIC).astype(np.int32)

    def colours(self, matid: Any, rgba: Any) -> Array:
        """Colours that materials and objects' own colours give."""
        return material_rgba(self.model, matid, rgba)


ADDRESSES = {"joint": "jnt", "camera": "cam", "equality": "eq"}
"""Kinds whose fields have another prefix."""


def object_name(model: Any, kind: str, number: int) -> str:
    """The name of an object; empty if it has none. Of MuJoCo's own models, too."""
    if hasattr(model, "object_names"):
        names = model.object_names.get(kind, ())
        return names[number] if number < len(names) else ""
    start = int(getattr(model, f"name_{ADDRESSES.get(kind, kind)}adr")[number])
    packed: bytes = model.names
    return packed[start : packed.index(b"\0", start)].decode()


def in_groups(groups: Array, group: Any) -> Array:
    """Whether objects of groups are drawn; what is beyond the last group is in it."""
    chosen: Array = groups[np.clip(np.asarray(group), 0, len(groups) - 1)]
    return chosen


def along(directions: Any) -> Array:
    """Rotation matrices (n, 3, 3) whose z axes point along vectors (n, 3)."""
    return np.stack([_frame_of(vector) for vector in np.asarray(directions, float).reshape(-1, 3)]).reshape(
        -1, 3, 3
    )


def _frame_of(vector: Array) -> Array:
    """The shortest turn from the z axis to a vector (mju_quatZ2Vec); half a turn about x if it is opposite."""
    length = float(np.sqrt(vector @ vector))
    if length < 1e-15:
        return np.eye(3)
    x, y, z = vector / length
    across = np.hypot(x, y)
    if across < 1e-15:
        return np.eye(3) if z > 0 else np.diag([1.0, -1.0, -1.0])
    axis_x, axis_y = -y / across, x / across
    angle = np.arctan2(across, z)
    cosine, sine = np.cos(angle), np.sin(angle)
    rest = 1 - cosine
    return np.array(
        [
            [cosine + axis_x * axis_x * rest, axis_x * axis_y * rest, axis_y * sine],
            [axis_x * axis_y * rest, cosine + axis_y * axis_y * rest, -axis_x * sine],
            [-axis_y * sine, axis_x * sine, cosine],
        ]
    )


def connect(drawing: Drawing, kind: GeomType, width: Any, start: Any, end: Any, **others: Any) -> int:
    """Add shapes from points to points (mjv_connector): arrows and lines begin at the first, round ones reach beyond
    both by their caps."""
    begin, finish = (np.asarray(points, float).reshape(-1, 3) for points in (start, end))
    away = finish - begin
    length = np.linalg.norm(away, axis=-1)
    size = np.stack([np.broadcast_to(width, length.shape)] * 2 + [length], axis=-1)
    place = begin
    if kind in (GeomType.CAPSULE, GeomType.CYLINDER, GeomType.ELLIPSOID, GeomType.BOX, GeomType.LINEBOX):
        size[:, 2] /= 2
        place = (begin + finish) / 2
    return drawing.add(kind, pos=place, size=size, mat=along(away), **others)
