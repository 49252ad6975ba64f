"""The catalogue of flex models has what it is said to have, told from the models as MuJoCo compiles them."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import flex_models
import numpy as np
import pytest
from flex_models import CATALOGUE

mujoco = pytest.importorskip("mujoco")

ENOUGH = 70
LARGEST = 250
"""Most dofs of a model."""


def models() -> list[tuple[str, Any]]:
    return [(name, flex_models.theirs(name)) for name in CATALOGUE]


def written(pattern: str) -> set[Any]:
    """What a pattern finds in the texts."""
    return {found for name in CATALOGUE for found in re.findall(pattern, flex_models.text(name))}


def has(flag: str, m: Any) -> bool:
    return bool(m.opt.disableflags & getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))


def enables(flag: str, m: Any) -> bool:
    return bool(m.opt.enableflags & getattr(mujoco.mjtEnableBit, f"mjENBL_{flag}"))


def test_there_are_enough_and_they_are_small() -> None:
    assert len(CATALOGUE) >= ENOUGH
    assert max(m.nv for _, m in models()) <= LARGEST
    assert all(m.nflex for _, m in models())


def test_types_and_dimensions() -> None:
    found = {(kind, int(dim)) for kind, dim in written(r'<flexcomp name="\w+" type="(\w+)" dim="(\d)"')}
    found |= {("mesh", int(dim)) for dim in written(r'type="mesh" file="[\w.]+" dim="(\d)"')}
    wanted = {
        *product(("grid", "box", "direct"), (1, 2, 3)),
        *product(("cylinder", "ellipsoid", "mesh"), (2, 3)),
        *(("square", 2), ("disc", 2), ("circle", 1)),
    }
    assert found >= wanted
    assert {flex_models.theirs(f"gmsh {shape}").flex_dim[0] for shape in ("line", "surface", "solid")} == {
        1,
        2,
        3,
    }
    assert "<deformable><flex" in "".join(model.xml for model in CATALOGUE.values())


def test_dofs() -> None:
    assert written(r'dof="(\w+)"') == {"radial", "trilinear", "quadratic"}
    assert {int(order) for _, m in models() for order in m.flex_interp} == {0, 1, 2}


def test_pins_and_rigid_flexes() -> None:
    pinned = [m for _, m in models() if (m.flex_centered == 0).any() and not m.flex_rigid.all()]
    assert len(pinned) > 10
    assert {int(dim) for m in pinned for dim in m.flex_dim[m.flex_centered == 0]} == {1, 2, 3}
    assert sum(bool(m.flex_rigid.any()) for _, m in models()) >= 3
    assert any(m.flex_interp[f] and not m.flex_centered[f] for _, m in models() for f in range(m.nflex))


def test_elasticity() -> None:
    assert written(r'elastic2d="(\w+)"') == {"none", "bend", "stretch", "both"}
    for dim in (2, 3):
        assert any(
            m.flex_stiffness[21 * m.flex_elemadr[f]].any() for _, m in models() for f in flexes(m, dim)
        )
    damped = {(int(m.flex_dim[f]), bool(m.flex_damping[f])) for _, m in models() for f in range(m.nflex)}
    assert damped >= set(product((2, 3), (False, True)))
    assert any(m.flex_edgestiffness[f] for _, m in models() for f in flexes(m, 1))
    for dim in (1, 2, 3):
        assert any(m.flex_edgedamping[f] for _, m in models() for f in flexes(m, dim))
        assert any(m.flex_edgeequality[f] for _, m in models() for f in flexes(m, dim))


def flexes(m: Any, dim: int) -> list[int]:
    return np.flatnonzero(m.flex_dim == dim).tolist()


def test_collisions_with_itself() -> None:
    found = {(int(m.flex_selfcollide[f]), int(m.flex_dim[f])) for _, m in models() for f in range(m.nflex)}
    assert found >= set(product(range(5), (1, 2, 3)))
    within = {int(m.flex_dim[f]) for _, m in models() for f in range(m.nflex) if m.flex_internal[f]}
    assert within == {1, 2, 3}
    for name in CATALOGUE:
        if re.match(r"self (narrow|bvh|sap|auto|without)", name):
            assert "self" in CATALOGUE[name].touches
        if name.startswith("internal"):
            assert "internal" in CATALOGUE[name].touches


def test_every_geom_meets_every_dimension() -> None:
    """That they touch is asked of the comparison itself."""
    found = set()
    for name, m in models():
        if " under dim " in name and not name.startswith("dim"):
            (kind,), (dim,) = set(m.geom_type.tolist()), set(m.flex_dim.tolist())
            found.add((kind, dim))
            assert CATALOGUE[name].touches in (("geom",), ("vertex",))
    geoms = range(mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_SDF + 1)
    assert found == set(product(geoms, (1, 2, 3)))


def test_flexes_meet_each_other() -> None:
    pairs = {tuple(m.flex_dim.tolist()) for name, m in models() if re.match(r"dim \d under", name)}
    assert pairs == set(product((1, 2, 3), repeat=2))
    nodes = {tuple((m.flex_interp > 0).tolist()) for name, m in models() if re.match("interpolated", name)}
    assert nodes == {(True, False), (False, True), (True, True)}


def test_parents() -> None:
    kinds = {"free": False, "hinge": False, "mocap": False, "shared": False}
    for _, m in models():
        bodies = {*m.flex_vertbodyid.tolist(), *m.flex_nodebodyid.tolist()} - {-1, 0}
        pins = [int(b) for b in bodies if m.body_dofnum[b] not in (1, 3) or m.body_simple[b] != 2]
        joints = {int(m.jnt_type[m.body_jntadr[b]]) for b in pins if m.body_jntnum[b]}
        kinds["free"] |= int(mujoco.mjtJoint.mjJNT_FREE) in joints
        kinds["hinge"] |= int(mujoco.mjtJoint.mjJNT_HINGE) in joints
        kinds["mocap"] |= any(m.body_mocapid[b] >= 0 for b in bodies)
        counts = np.bincount(m.flex_vertbodyid[m.flex_vertbodyid > 0])
        kinds["shared"] |= bool(
            m.nflex == 1 and not m.flex_rigid[0] and (counts > 1).any() and len(bodies) > 2
        )
    assert all(kinds.values()), kinds


def test_equalities() -> None:
    kinds = {int(kind) for _, m in models() for kind in m.eq_type}
    assert kinds >= {int(getattr(mujoco.mjtEq, f"mjEQ_{kind}")) for kind in ("FLEX", "WELD", "CONNECT")}


def test_settings() -> None:
    options = [m.opt for _, m in models()]
    assert {int(option.integrator) for option in options} == {0, 1, 2, 3}
    assert {(int(o.solver), int(o.cone)) for o in options} >= set(product((0, 1, 2), (0, 1)))
    assert {int(option.jacobian) for option in options} == {0, 1, 2}
    assert {bool(mujoco.mj_isSparse(m)) for _, m in models()} == {False, True}
    dims = {(int(m.flex_condim[0]), int(m.opt.cone)) for name, m in models() if name.startswith("condim")}
    assert dims >= set(product((1, 3, 4, 6), (0, 1)))
    off = ("SPRING", "DAMPER", "CONTACT", "EQUALITY", "MIDPHASE", "NATIVECCD", "FILTERPARENT", "CONSTRAINT")
    assert all(any(has(flag, m) for _, m in models()) for flag in off)
    assert any(has("SPRING", m) and has("DAMPER", m) for _, m in models())
    assert all(any(enables(flag, m) for _, m in models()) for flag in ("MULTICCD", "OVERRIDE", "SLEEP"))


def test_details() -> None:
    def some(field: str, value: Any) -> bool:
        return any((np.asarray(getattr(m, field)) == value).any() for _, m in models())

    assert some("flex_passive", 1)
    assert some("flex_activelayers", 2)
    assert any((m.flex_margin > 0).any() for _, m in models())
    assert any((m.flex_gap > 0).any() for _, m in models())
    assert any((m.geom_group == 4).any() for _, m in models())
    assert max(m.nflex for _, m in models()) >= 4
    assert {kind for model in CATALOGUE.values() for kind in model.touches} == set(flex_models.KINDS)
