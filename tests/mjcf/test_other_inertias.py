"""Second implementations of inertias, against integrals computed in another way."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail.implementation import Implementation
from dovetail.mjcf.geometry.hull import convex_hull
from dovetail.plugins.geom_inertia import (
    open_shell_numpy,
    primitives_numpy,
    similar_shell_numpy,
    tubes_numpy,
    uniform_shell_numpy,
)
from dovetail.plugins.mesh_inertia.integrals_numpy import shell as triangles
from dovetail.plugins.mesh_inertia.signed_volume_numpy import signed_volume
from dovetail.registry import default_registry

SIZE = np.array([0.3, 0.5, 0.7])

# ---- shells of primitives, against fine triangle meshes


def surface(point, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """A triangle mesh of the points that a function gives for two parameters from 0 to 1."""
    u, v = np.meshgrid(np.linspace(0, 1, steps), np.linspace(0, 1, steps), indexing="ij")
    vertices = np.stack(point(u.ravel(), v.ravel()), axis=1)
    corner = (np.arange(steps - 1)[:, None] * steps + np.arange(steps - 1)).ravel()
    lower = np.stack([corner, corner + steps, corner + 1], axis=1)
    upper = np.stack([corner + 1, corner + steps, corner + steps + 1], axis=1)
    return vertices, np.vstack([lower, upper])


def tube(u, v):
    angle = 2 * np.pi * u
    return SIZE[0] * np.cos(angle), SIZE[0] * np.sin(angle), SIZE[1] * (2 * v - 1)


def egg(u, v):
    angle, height = 2 * np.pi * u, np.pi * v
    return (
        SIZE[0] * np.sin(height) * np.cos(angle),
        SIZE[1] * np.sin(height) * np.sin(angle),
        SIZE[2] * np.cos(height),
    )


@pytest.mark.parametrize(
    ("row", "shape"), [(open_shell_numpy.cylinder, tube), (uniform_shell_numpy.ellipsoid, egg)]
)
def test_shell_is_the_integral_over_its_surface(row, shape):
    area, centre, inertia = triangles(*surface(shape, 400))
    found_area, found = row(SIZE, True)
    assert centre == pytest.approx(np.zeros(3), abs=1e-10)
    assert found_area == pytest.approx(area, rel=1e-4)
    assert found == pytest.approx(np.diag(inertia), rel=1e-4)


def test_open_shell_is_the_closed_one_without_its_discs():
    closed, with_ends = primitives_numpy.cylinder(SIZE, True)
    opened, without = open_shell_numpy.cylinder(SIZE, True)
    radius, half = SIZE[:2]
    disc = np.pi * radius**2
    assert closed - opened == pytest.approx(2 * disc)
    across = 2 * disc * (radius**2 / 4 + half**2)
    assert with_ends - without == pytest.approx([across, across, disc * radius**2])


def test_uniform_shell_of_a_ball_is_the_spheres():
    ball = np.full(3, 0.4)
    area, moments = uniform_shell_numpy.ellipsoid(ball, True)
    expected, expected_moments = primitives_numpy.sphere(ball, True)
    assert area == pytest.approx(expected, rel=1e-12)
    assert moments == pytest.approx(expected_moments, rel=1e-12)


def test_uniform_shell_has_the_area_of_a_spheroid():
    """Long spheroids have a closed formula."""
    a, c = 0.2, 1.1
    eccentricity = np.sqrt(1 - (a / c) ** 2)
    area = 2 * np.pi * a**2 * (1 + c / a / eccentricity * np.arcsin(eccentricity))
    assert uniform_shell_numpy.ellipsoid(np.array([a, a, c]), True)[0] == pytest.approx(area, rel=1e-9)


def test_similar_shell_is_the_growth_of_a_solid_by_a_factor():
    """Between two similar ellipsoids: what the larger solid has more, per mass."""
    thin = 1e-6
    (inner, small), (outer, large) = (
        primitives_numpy.ellipsoid(SIZE * (1 + step), False) for step in (0.0, thin)
    )
    area, moments = similar_shell_numpy.ellipsoid(SIZE, True)
    assert moments / area == pytest.approx((large - small) / (outer - inner), rel=1e-5)
    assert area == primitives_numpy.ellipsoid(SIZE, True)[0]


def test_tubes_are_square_tubes_about_their_axes():
    """Four plates of side 2 about the axis, by points on one of them."""
    cube = np.full(3, 1.0)
    area, moments = tubes_numpy.box(cube, True)
    across = (np.arange(1000) + 0.5) / 500 - 1
    assert moments / area == pytest.approx(np.full(3, np.mean(1 + across**2)), rel=1e-5)
    assert moments == pytest.approx(6 / 5 * primitives_numpy.box(cube, True)[1])


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (open_shell_numpy.cylinder, "cylinder"),
        (similar_shell_numpy.ellipsoid, "ellipsoid"),
        (uniform_shell_numpy.ellipsoid, "ellipsoid"),
        (tubes_numpy.box, "box"),
    ],
)
def test_solids_are_the_references(row, kind):
    measure, moments = row(SIZE, False)
    expected, expected_moments = primitives_numpy.ROWS[kind](SIZE, False)
    assert (measure, moments.tolist()) == (expected, expected_moments.tolist())


# ---- meshes


def random_hull(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A closed mesh, its faces outward."""
    from scipy.spatial import ConvexHull

    points = np.random.default_rng(seed).normal(size=(30, 3)) + np.array([5.0, -2.0, 1.0])
    hull = ConvexHull(points)
    a, b, c = (points[hull.simplices[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - points.mean(axis=0)) < 0
    faces = np.where(inward[:, None], hull.simplices[:, [0, 2, 1]], hull.simplices)
    return points, faces


def sampled(vertices: np.ndarray, faces: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, centre and inertia of a convex mesh by counting cells of a grid."""
    cells = 120
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    axes = [low[k] + (np.arange(cells) + 0.5) / cells * (high - low)[k] for k in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    inside = np.ones(len(grid), bool)
    for corner, away in zip(a, normal, strict=True):
        inside &= (grid - corner) @ away <= 0
    kept = grid[inside]
    cell = np.prod((high - low) / cells)
    centre = kept.mean(axis=0)
    second = np.einsum("ni,nj->ij", kept - centre, kept - centre) * cell
    return len(kept) * cell, centre, np.trace(second) * np.eye(3) - second


@pytest.mark.by_default("1")
@pytest.mark.parametrize("seed", range(3))
def test_signed_volume_is_the_volume_integral(seed):
    vertices, faces = random_hull(seed)
    volume, centre, inertia = signed_volume(vertices, faces)
    expected = sampled(vertices, faces)
    assert volume == pytest.approx(expected[0], rel=1e-2)
    assert centre == pytest.approx(expected[1], abs=1e-2)
    assert inertia == pytest.approx(expected[2], rel=3e-2, abs=3e-2 * np.trace(expected[2]))


def test_signed_volume_of_a_hollow_box_leaves_out_the_hole():
    """A box with a smaller one cut out, which looks inward."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    faces = np.array([int(digit) for digit in "013032467475045051237276026064157173"]).reshape(-1, 3)
    sizes = np.array([3.0, 2.0, 1.0])
    hole = np.array([1.0, 0.5, 0.5])
    vertices = np.vstack([corners * sizes, corners * hole])
    volume, centre, inertia = signed_volume(vertices, np.vstack([faces, faces[:, ::-1] + 8]))

    def box(half):
        measure = 8 * np.prod(half)
        return measure, measure / 3 * ((half**2).sum() - half**2)

    (whole, outer), (cut, inner) = box(sizes), box(hole)
    assert volume == pytest.approx(whole - cut)
    assert centre == pytest.approx(np.zeros(3), abs=1e-12)
    assert np.diag(inertia) == pytest.approx(outer - inner)


def test_signed_volume_does_not_mind_which_way_round_faces_are():
    vertices, faces = random_hull(4)
    out, turned = signed_volume(vertices, faces), signed_volume(vertices, faces[:, ::-1])
    for one, other in zip(out, turned, strict=True):
        assert np.asarray(one) == pytest.approx(np.asarray(other), rel=1e-12)


def test_signed_volume_of_nothing_is_nothing():
    flat = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], float)
    volume, _, inertia = signed_volume(flat, np.array([[0, 1, 2], [1, 3, 2]]))
    assert (volume, np.abs(inertia).max()) == (0.0, 0.0)


CUP = """<mujoco><asset><mesh name="m" inertia="{mode}"
  vertex="0 0 0 3 0 0 3 1 0 1 1 0 1 3 0 0 3 0 0 0 1 3 0 1 3 1 1 1 1 1 1 3 1 0 3 1"
  face="0 2 1 0 3 2 0 5 3 3 5 4 6 7 8 6 8 9 6 9 11 9 10 11 0 1 7 0 7 6 1 2 8 1 8 7 2 3 9 2 9 8 3 4 10 3 10 9
        4 5 11 4 11 10 5 0 6 5 6 11"/></asset>
<worldbody><body><geom type="mesh" mesh="m" density="1"/></body></worldbody></mujoco>"""


def test_signed_volume_is_the_same_in_every_mode():
    """An L of volume 5 in a hull of volume 7; the legacy mode counts more, too."""
    exact = dovetail.loads(CUP.format(mode="exact"))
    masses = {mode: dovetail.loads(CUP.format(mode=mode)).body_mass[1] for mode in ("legacy", "convex")}
    assert masses["legacy"] > 5.001
    assert masses["convex"] == pytest.approx(7.0)
    for mode in ("legacy", "exact", "convex"):
        model = dovetail.loads(CUP.format(mode=mode), stages={"mesh_inertia": "signed_volume"})
        assert model.body_mass[1] == pytest.approx(5.0, rel=1e-12)
        assert model.body_inertia[1] == pytest.approx(exact.body_inertia[1], rel=1e-10)
        assert model.body_ipos[1] == pytest.approx(exact.body_ipos[1], rel=1e-10)


def test_a_hull_is_what_others_get_in_mode_convex():
    """Only a record that asks for them gets the mesh's own faces."""
    seen = []

    def counting(vertices, faces):
        seen.append(len(faces))
        return 1.0, np.zeros(3), np.eye(3)

    dovetail.loads(CUP.format(mode="convex"), stages={"mesh_inertia:convex": counting})
    records: list[Implementation] = default_registry().of("mesh_inertia:convex")
    assert seen == [16]
    assert {r.name: r.facts.get("faces", "hull") for r in records} == {
        "pyramids": "both",
        "signed_volume": "own",
    }


def test_the_first_apex_in_mode_convex_is_the_centroid_of_the_own_faces() -> None:
    """Whatever the apex, the mass is that of the hull; a row that gets both kinds of faces is told which is which."""
    (record,) = [r for r in default_registry().of("mesh_inertia:convex") if r.name == "pyramids"]
    vertices = np.random.default_rng(0).normal(size=(40, 3))
    hull = convex_hull(vertices).faces
    row = record.load()
    assert row(vertices, hull, hull[:4])[0] == pytest.approx(row(vertices, hull)[0], rel=1e-12)
    np.testing.assert_allclose(row(vertices, hull, hull[:4])[1], row(vertices, hull)[1], atol=1e-12)


def test_open_shell_in_a_model():
    xml = "<mujoco><worldbody><body><geom type='cylinder' size='.5 1' {}/></body></worldbody></mujoco>"
    hollow = dovetail.loads(
        xml.format("shellinertia='true' density='1'"), stages={"geom_inertia": "open_shell"}
    )
    assert hollow.body_mass[1] == pytest.approx(2 * np.pi * 0.5 * 2)
    assert hollow.body_inertia[1][2] == pytest.approx(hollow.body_mass[1] * 0.25)
