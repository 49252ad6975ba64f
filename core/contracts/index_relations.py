"""Relations between the integers of a Model that kernels rely on (see `indices`).

Each check takes a Model whose integers are in their ranges, and tells what does not fit together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

import attrs
import numpy as np

from dovetail.contracts.engine_plugins import ATTRIBUTES, NAMES
from dovetail.contracts.enums import DynType, JointType, ObjType, SensorType, WrapType
from dovetail.contracts.fields import Array
from dovetail.contracts.index_table import OBJECTS, REFERENCES, SENSED
from dovetail.contracts.types import MODEL_SPECS, Model

MOST_TOLD = 3
"""Entries of one field that are named in a message."""

Check = Callable[[Model], Iterable[str]]

UNKNOWN = np.iinfo(np.int64).max
"""The limit of entries that belong to nothing."""


def told(model: Model, name: str, wrong: Array, allowed: Callable[[tuple[int, ...]], str]) -> list[str]:
    """`jnt_qposadr[3] (joint "knee") is 100000000; allowed: 0 to 27` for the first wrong entries."""
    if not wrong.any():
        return []
    values = np.asarray(model.field(name))
    places = [tuple(int(i) for i in place) for place in np.argwhere(wrong)]
    lines = [
        f"{name}{where(model, name, place)} is {values[place]}; allowed: {allowed(place)}"
        for place in places[:MOST_TOLD]
    ]
    rest = len(places) - MOST_TOLD
    return [*lines, f"{name}: {rest} more entries like these"] if rest > 0 else lines


def where(model: Model, name: str, place: tuple[int, ...]) -> str:
    """The index, and the object it belongs to as far as that can be said of a Model that is not well."""
    from dovetail.contracts.derive import describe_index

    try:
        return describe_index(model, MODEL_SPECS[name], place)
    except (IndexError, ValueError):
        return "".join(f"[{i}]" for i in place)


def _trees(model: Model) -> Iterator[str]:
    """Parents come before their children, so that loops over bodies and dofs end."""
    for name, count in (("body_parentid", model.nbody), ("dof_parentid", model.nv)):
        values, own = np.asarray(model.field(name)), np.arange(count)
        late = values >= own
        if name == "body_parentid":
            late[:1] = values[:1] != 0
        yield from told(model, name, late, lambda place: f"an id below {place[0]}, the child's own")
    for name in ("body_rootid", "body_weldid"):
        values = np.asarray(model.field(name))
        late = values > np.arange(model.nbody)
        yield from told(model, name, late, lambda place: f"0 to {place[0]}, an ancestor or the body itself")
    above = _ancestors(model)
    late = np.asarray(model.dof_Madr) + above > model.nM
    yield from told(model, "dof_Madr", late, lambda place: f"0 to {model.nM - above[place[0]]}")
    late = np.asarray(model.dof_simplenum) > model.nv - np.arange(model.nv)
    yield from told(model, "dof_simplenum", late, lambda place: f"0 to {model.nv - place[0]}")


PARTS = (
    ("body", "jnt", "jnt_bodyid"),
    ("body", "dof", "dof_bodyid"),
    ("body", "geom", "geom_bodyid"),
    ("tree", "dof", "dof_treeid"),
)
"""Owners, what they own one after another, and where each says whose it is."""


def _parts(model: Model) -> Iterator[str]:
    """Joints, dofs and geoms of a body follow each other, and belong to the body that counts them."""
    for owner, part, back in PARTS:
        adr, num = (
            np.asarray(model.field(f"{owner}_{part}{which}")).astype(np.int64) for which in ("adr", "num")
        )
        told_of = np.asarray(model.field(back))
        claimed = _claimed(adr, num, len(told_of))
        yield from told(model, back, claimed != told_of, _claim(claimed, owner, part))
    ids = np.asarray(model.body_mocapid)
    driven = ids[ids >= 0]
    if len(driven) != model.nmocap or len(np.unique(driven)) != model.nmocap:
        yield f"body_mocapid has {driven.tolist()}; allowed: each of 0 to {model.nmocap - 1} once, else -1"
    yield from _joints(model)


def _claimed(adr: Array, num: Array, count: int) -> Array:
    """Whose each part is by the addresses; −1 if nobody's."""
    claimed = np.full(count, -1)
    places = np.repeat(adr - np.cumsum(num) + num, num) + np.arange(num.sum())
    claimed[places] = np.repeat(np.arange(len(num)), num)
    return claimed


def _claim(claimed: Array, owner: str, part: str) -> Callable[[tuple[int, ...]], str]:
    """What to say of a part that somebody else claims, or nobody."""
    by = f"by {owner}_{part}adr and {owner}_{part}num"

    def say(place: tuple[int, ...]) -> str:
        number = int(claimed[place[0]])
        return f"nothing, no {owner} has it {by}" if number < 0 else f"{number}, whose it is {by}"

    return say


JOINTS = (("jnt_qposadr", "nq", (7, 4, 1, 1)), ("jnt_dofadr", "nv", (6, 3, 1, 1)))
"""Where joints' numbers begin, of which there are so many in all, and per joint by type."""


def _joints(model: Model) -> Iterator[str]:
    """Numbers of joints follow each other in qpos and in qvel."""
    for name, size, widths in JOINTS:
        width = np.array(widths)[model.jnt_type]
        first = np.cumsum(width) - width
        yield from told(model, name, np.asarray(model.field(name)) != first, _behind(first, "joint"))
        if width.sum() != model.sizes[size]:
            yield f"jnt_type: the joints have {width.sum()} numbers; allowed: {size} = {model.sizes[size]}"
        elif size == "nv":
            yield from _owners_of_dofs(model, np.repeat(np.arange(model.njnt), width))


def _owners_of_dofs(model: Model, owner: Array) -> list[str]:
    wrong = np.asarray(model.dof_jntid) != owner
    return told(model, "dof_jntid", wrong, lambda place: f"{owner[place[0]]}, by jnt_dofadr")


def _behind(first: Array, what: str) -> Callable[[tuple[int, ...]], str]:
    return lambda place: f"{first[place[0]]}, behind the {what} before"


def _ancestors(model: Model) -> Array:
    """How many dofs there are from each to the root, itself included; of a tree that is in order."""
    depth = np.ones(model.nv, np.int64)
    parents = np.asarray(model.dof_parentid).tolist()
    for dof, parent in enumerate(parents):
        if 0 <= parent < dof:
            depth[dof] += depth[parent]
    return depth


def _rows(model: Model) -> Iterator[str]:
    """Rows of the patterns follow each other; those of M end with their diagonal and have columns in order; D says
    where its diagonal is."""
    if not model.nv:
        return
    for matrix, size in (("B", "nB"), ("M", "nC"), ("D", "nD")):
        yield from _one_after_another(model, matrix, model.sizes[size])
    dofs = np.arange(model.nv)
    if model.nC:
        last = np.asarray(model.M_colind)[model.M_rowadr + model.M_rownnz - 1]
        yield from told(
            model, "M_rownnz", last != dofs, lambda place: "as many as end with the row's own column"
        )
        yield from _in_order(model, "M")
    if model.nD:
        beyond = np.asarray(model.D_diag) >= model.D_rownnz
        yield from told(model, "D_diag", beyond, lambda place: f"0 to {int(model.D_rownnz[place[0]]) - 1}")
        if not beyond.any():
            found = np.asarray(model.D_colind)[model.D_rowadr + model.D_diag]
            yield from told(model, "D_diag", found != dofs, lambda place: "where the row's own column is")
        yield from _in_order(model, "D")


def _one_after_another(model: Model, matrix: str, size: int) -> Iterator[str]:
    nnz, adr = (np.asarray(model.field(f"{matrix}_{part}")).astype(np.int64) for part in ("rownnz", "rowadr"))
    first = np.cumsum(nnz) - nnz
    yield from told(model, f"{matrix}_rowadr", adr != first, _behind(first, "row"))
    if nnz.sum() != size:
        yield f"{matrix}_rownnz: the rows have {nnz.sum()} entries; allowed: {size} in all"


def _in_order(model: Model, matrix: str) -> Iterator[str]:
    columns = np.asarray(model.field(f"{matrix}_colind"))
    adr, nnz = (np.asarray(model.field(f"{matrix}_{part}")).astype(np.int64) for part in ("rowadr", "rownnz"))
    falls = np.zeros(columns.shape, bool)
    falls[1:] = columns[1:] <= columns[:-1]
    falls[adr] = False  # where rows begin
    used = np.zeros(len(columns) + 1, np.int64)
    np.add.at(used, adr, 1)
    np.add.at(used, adr + nnz, -1)
    falls &= np.cumsum(used)[:-1] > 0
    yield from told(model, f"{matrix}_colind", falls, lambda place: "columns of a row in increasing order")


@attrs.frozen
class Owned:
    """Entries counted inside the object they belong to: a mesh's faces name vertices of that mesh."""

    name: str
    first: str
    """Where an object's entries begin."""
    number: Callable[[Model], Array]
    """How many each has."""
    limit: Callable[[Model], Array]
    """How many things they can name."""
    low: int = 0
    column: int | None = None


def _field(name: str) -> Callable[[Model], Array]:
    return lambda model: np.asarray(getattr(model, name)).astype(np.int64)


def _where(present: str, name: str) -> Callable[[Model], Array]:
    """A count, of objects that have such entries at all."""
    return lambda model: np.where(getattr(model, present) >= 0, getattr(model, name), 0).astype(np.int64)


OWNED = (
    Owned("mesh_face", "mesh_faceadr", _field("mesh_facenum"), _field("mesh_vertnum")),
    Owned("mesh_facenormal", "mesh_faceadr", _field("mesh_facenum"), _field("mesh_normalnum"), low=-1),
    Owned(
        "mesh_facetexcoord",
        "mesh_faceadr",
        _where("mesh_texcoordadr", "mesh_facenum"),
        _field("mesh_texcoordnum"),
        low=-1,
    ),
    Owned("skin_face", "skin_faceadr", _field("skin_facenum"), _field("skin_vertnum")),
    Owned("flex_edge", "flex_edgeadr", _field("flex_edgenum"), _field("flex_vertnum")),
    Owned(
        "flex_edgeflap",
        "flex_edgeadr",
        lambda m: np.where(m.flex_dim == 2, m.flex_edgenum, 0),
        _field("flex_vertnum"),
        low=-1,
    ),
    Owned(
        "flex_elem", "flex_elemdataadr", lambda m: m.flex_elemnum * (m.flex_dim + 1), _field("flex_vertnum")
    ),
    Owned(
        "flex_elemedge",
        "flex_elemedgeadr",
        lambda m: m.flex_elemnum * np.array([0, 1, 3, 6])[m.flex_dim],
        _field("flex_edgenum"),
    ),
    Owned("flex_shell", "flex_shelldataadr", lambda m: m.flex_shellnum * m.flex_dim, _field("flex_vertnum")),
    Owned("flex_evpair", "flex_evpairadr", _field("flex_evpairnum"), _field("flex_elemnum"), column=0),
    Owned("flex_evpair", "flex_evpairadr", _field("flex_evpairnum"), _field("flex_vertnum"), column=1),
    Owned("oct_child", "mesh_octadr", _field("mesh_octnum"), _field("mesh_octnum"), low=-1),
)


def _owned(model: Model) -> Iterator[str]:
    """What is counted inside an object names things of that object."""
    for rule in OWNED:
        yield from _owned_problems(model, rule)
    yield from _polygons(model)
    yield from _bones(model)


def _owned_problems(model: Model, rule: Owned) -> list[str]:
    values = np.asarray(model.field(rule.name))
    limits = np.full(len(values), UNKNOWN)
    spans = zip(_field(rule.first)(model), rule.number(model), rule.limit(model), strict=True)
    for first, number, limit in spans:
        limits[max(first, 0) : max(first, 0) + number] = limit
    return _beyond(model, rule.name, limits, rule.low, rule.column)


def _beyond(model: Model, name: str, limits: Array, low: int = 0, column: int | None = None) -> list[str]:
    """Entries not below the limit of their row."""
    values = np.asarray(model.field(name))
    spread = limits.reshape(-1, *(1,) * (values.ndim - 1))
    wrong = ((values < low) | (values >= spread)) & (spread != UNKNOWN)
    if column is not None:
        wrong[:, [c for c in range(values.shape[1]) if c != column]] = False
    return told(model, name, wrong, lambda place: f"{low} to {limits[place[0]] - 1}")


def _polygons(model: Model) -> Iterator[str]:
    """Polygons name vertices of their mesh, and vertices polygons of theirs."""
    for name, owner, entries, limit in (
        ("mesh_polyvert", "poly", "mesh_polyvert", "mesh_vertnum"),
        ("mesh_polymap", "vert", "mesh_polymap", "mesh_polynum"),
    ):
        per_row = np.full(model.sizes[f"nmesh{owner}"], UNKNOWN)
        for mesh in range(model.nmesh):
            first = max(0, int(model.field(f"mesh_{owner}adr")[mesh]))
            per_row[first : first + int(model.field(f"mesh_{owner}num")[mesh])] = model.field(limit)[mesh]
        adr, num = (np.asarray(model.field(f"{entries}{part}")).astype(np.int64) for part in ("adr", "num"))
        limits = np.full(len(model.field(name)), UNKNOWN)
        places = np.repeat(adr - np.cumsum(num) + num, num) + np.arange(num.sum())
        limits[places] = np.repeat(per_row, num)
        yield from _beyond(model, name, limits)


def _bones(model: Model) -> Iterator[str]:
    """Bones influence vertices of their skin."""
    limits = np.full(len(model.skin_bonevertid), UNKNOWN)
    for skin in range(model.nskin):
        first = int(model.skin_boneadr[skin])
        for bone in range(first, first + int(model.skin_bonenum[skin])):
            start = int(model.skin_bonevertadr[bone])
            limits[start : start + int(model.skin_bonevertnum[bone])] = model.skin_vertnum[skin]
    yield from _beyond(model, "skin_bonevertid", limits)


def _hulls(model: Model) -> Iterator[str]:
    """A hull's graph: counts, then edge addresses, vertices, edge ends (each vertex' list ends with −1), faces."""
    for mesh in np.flatnonzero(np.asarray(model.mesh_graphadr) >= 0).tolist():
        why = _graph_problem(model, mesh)
        if why:
            first = int(model.mesh_graphadr[mesh])
            yield f"mesh_graph from {first} on, of mesh {mesh}{_named(model, mesh)}: {why}"


def _named(model: Model, mesh: int) -> str:
    names = model.object_names.get("mesh", ())
    return f" ({names[mesh]})" if mesh < len(names) and names[mesh] else ""


def _graph_problem(model: Model, mesh: int) -> str:
    graph = np.asarray(model.mesh_graph)[int(model.mesh_graphadr[mesh]) :].astype(np.int64)
    if len(graph) < 2:
        return "it has no counts"
    vertices, faces = int(graph[0]), int(graph[1])
    ends = vertices + 3 * faces
    if vertices < 1 or faces < 0 or 2 + 2 * vertices + ends + 3 * faces > len(graph):
        return f"{vertices} vertices and {faces} faces do not fit into the {len(graph)} entries there are"
    parts = np.split(graph, np.cumsum([2, vertices, vertices, ends, 3 * faces]))
    _, addresses, ids, edges, corners = parts[:5]
    count = int(model.mesh_vertnum[mesh])
    if (addresses < 0).any() or (addresses >= max(ends, 1)).any():
        return f"edges of a vertex begin at {_extreme(addresses, ends)}; allowed: 0 to {ends - 1}"
    if (edges < -1).any() or (edges >= vertices).any():
        return f"an edge ends at {_extreme(edges, vertices)}; allowed: -1 to {vertices - 1}"
    if len(edges) and edges[-1] != -1:
        return "the last list of edges is not ended by -1"
    for name, values in (("a hull vertex", ids), ("a corner of a face", corners)):
        if (values < 0).any() or (values >= count).any():
            return f"{name} is vertex {_extreme(values, count)}; allowed: 0 to {count - 1}"
    return ""


def _extreme(values: Array, end: int) -> int:
    """The first value that is not from 0 up to `end`."""
    return int(values[np.argmax((values < 0) | (values >= end))])


def _volumes(model: Model) -> Iterator[str]:
    """Trees of bounding volumes: children lie in the same tree behind their parent, leaves hold what there is."""
    child = np.asarray(model.bvh_child)
    own = np.full(len(child), UNKNOWN)
    number = np.full(len(child), UNKNOWN)
    local = np.zeros(len(child), np.int64)
    for kind, things in (("body", None), ("mesh", "mesh_facenum"), ("flex", "flex_elemnum")):
        adr, num = (np.asarray(model.field(f"{kind}_{part}")).tolist() for part in ("bvhadr", "bvhnum"))
        limit = [model.ngeom] * len(adr) if things is None else np.asarray(model.field(things)).tolist()
        for first, count, most in zip(adr, num, limit, strict=True):
            if count > 0:
                own[first : first + count] = count
                number[first : first + count] = most
                local[first : first + count] = np.arange(count)
    known = own[:, None] != UNKNOWN
    back = (child >= 0) & known & ((child >= own[:, None]) | (child <= local[:, None]))
    yield from told(model, "bvh_child", back, lambda p: f"-1, or {local[p[0]] + 1} to {own[p[0]] - 1}")
    yield from _beyond(model, "bvh_nodeid", number, low=-1)


def _sensors(model: Model) -> Iterator[str]:
    """Sensors measure objects of kinds that they can, and contact sensors write what fits."""
    types = np.asarray(model.sensor_type)
    for sensor, kind in enumerate(types.tolist()):
        yield from _object_problems(model, sensor, "obj", SENSED.get(kind, ()))
        yield from _object_problems(model, sensor, "ref", REFERENCES.get(kind, ()))
        if kind in (SensorType.BALLQUAT, SensorType.BALLANGVEL):
            joint = int(model.sensor_objid[sensor])
            if model.jnt_type[joint] != JointType.BALL:
                yield f"sensor_objid[{sensor}] is {joint}; allowed: a ball joint"
        if kind == SensorType.CONTACT and not 0 <= model.sensor_intprm[sensor, 1] <= 3:
            yield f"sensor_intprm[{sensor}][1] is {model.sensor_intprm[sensor, 1]}; allowed: 0 to 3"
        if kind == SensorType.CONTACT:
            yield from _report_problems(model, sensor)
        if kind == SensorType.PLUGIN and model.sensor_plugin[sensor] < 0:
            yield f"sensor_plugin[{sensor}] is -1; allowed: 0 to {model.nplugin - 1}"


def _object_problems(model: Model, sensor: int, role: str, kinds: tuple[ObjType, ...]) -> Iterator[str]:
    if not kinds:
        return
    names = f"sensor_{role}type", f"sensor_{role}id"
    kind, number = (int(model.field(name)[sensor]) for name in names)
    if kind not in kinds:
        yield f"{names[0]}[{sensor}] is {kind}; allowed: {', '.join(f'{k:d} ({k.keyword})' for k in kinds)}"
    elif number < 0:
        yield f"{names[1]}[{sensor}] is {number}; allowed: 0 to {model.sizes[OBJECTS[kind]] - 1}"


_REPORT = (1, 3, 3, 1, 3, 3, 3)
"""Numbers of each field that a contact sensor can report."""


def _report_problems(model: Model, sensor: int) -> Iterator[str]:
    bits, _, reports = np.asarray(model.sensor_intprm[sensor]).tolist()
    width = sum(size for bit, size in enumerate(_REPORT) if bits >> bit & 1)
    dim = int(model.sensor_dim[sensor])
    if not 0 < bits < 1 << len(_REPORT):
        yield f"sensor_intprm[{sensor}][0] is {bits}; allowed: 1 to {(1 << len(_REPORT)) - 1}"
    elif reports < 1 or width * reports != dim:
        yield (
            f"sensor_intprm[{sensor}][2] is {reports}; allowed: {dim // width}, as sensor_dim[{sensor}] is {dim}"
        )


def _activations(model: Model) -> Iterator[str]:
    """Who has dynamics has an activation."""
    lacking = (np.asarray(model.actuator_dyntype) != DynType.NONE) & (np.asarray(model.actuator_actnum) < 1)
    yield from told(
        model,
        "actuator_dyntype",
        lacking,
        lambda place: f"{DynType.NONE:d}, as the actuator has no activation",
    )


def _configurations(model: Model) -> Iterator[str]:
    """Instances of engine plugins have a text for each attribute."""
    for instance, number in enumerate(np.asarray(model.plugin).tolist()):
        first = int(model.plugin_attradr[instance])
        texts = bytes(model.plugin_attr[first:]).split(b"\0")
        wanted = len(ATTRIBUTES[NAMES[number]])
        if len(texts) <= wanted or not all(text.isascii() for text in texts[:wanted]):
            yield (
                f"plugin_attr from {first} on, of plugin instance {instance}; allowed: {wanted} ASCII texts, each "
                "ended by a zero"
            )


ROUND = (WrapType.SPHERE, WrapType.CYLINDER)


def _paths(model: Model) -> Iterator[str]:
    """A tendon is a sum of joints, or runs from site to site; what it bends around stands between two sites."""
    kinds = np.asarray(model.wrap_type).tolist()
    for tendon, (first, number) in enumerate(
        zip(model.tendon_adr.tolist(), model.tendon_num.tolist(), strict=True)
    ):
        path = kinds[first : first + number]
        if not all(kind == WrapType.JOINT for kind in path) and not _runs(path):
            yield (
                f"wrap_type from {first} on, of tendon {tendon}, is {path}; allowed: joints ({WrapType.JOINT:d}) "
                f"only, or a path that begins and ends with a site ({WrapType.SITE:d}), as each part between pulleys "
                f"({WrapType.PULLEY:d}) does, with geoms ({ROUND[0]:d}, {ROUND[1]:d}) between sites"
            )


def _runs(path: list[int]) -> bool:
    """Whether a path of wrap types can be followed."""
    branch: list[int] = []
    for kind in [*path, int(WrapType.PULLEY)]:
        if kind != WrapType.PULLEY:
            branch.append(kind)
            continue
        if branch and not (branch[0] == branch[-1] == WrapType.SITE and _alternates(branch)):
            return False
        branch = []
    return True


def _alternates(branch: list[int]) -> bool:
    """Only sites, and geoms that have sites for neighbours."""
    if not set(branch) <= {WrapType.SITE, *ROUND}:
        return False
    return not any(a in ROUND and b in ROUND for a, b in pairwise(branch))


def _sides_of_wraps(model: Model) -> Iterator[str]:
    """Beside a geom on a tendon's path stands the id of its side site as a real number."""
    round_ones = np.isin(model.wrap_type, [WrapType.SPHERE, WrapType.CYLINDER])
    values = np.asarray(model.wrap_prm)
    good = (values >= -1) & (values < model.nsite) & (values == np.floor(values))
    yield from told(model, "wrap_prm", round_ones & ~good, lambda place: f"-1 to {model.nsite - 1}")


CHECKS: tuple[Check, ...] = (
    _trees,
    _parts,
    _rows,
    _owned,
    _hulls,
    _volumes,
    _sensors,
    _activations,
    _configurations,
    _paths,
    _sides_of_wraps,
)
"""All of them."""
