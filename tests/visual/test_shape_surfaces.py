"""Surfaces are closed, face outwards, and have the size and volume of what they show."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail.contracts.enums import GeomType
from dovetail.errors import ArgumentError
from dovetail.visual import Surface, geom_surface, hfield_surface, mesh_surface, shape_surface

XML = """<mujoco><asset>
  <hfield name="h" nrow="3" ncol="4" size="1 2 .5 .1" elevation="0 .1 .2 .3 .4 .5 .6 .7 .8 .9 .95 1"/>
  <mesh name="t" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 1 2 3 0 3 2"
        texcoord="0 0 1 0 0 1 1 1"/>
</asset><worldbody>
  <geom type="hfield" hfield="h"/><geom type="mesh" mesh="t"/><geom type="sphere" size=".3"/>
  <geom type="capsule" size=".1 .2"/><geom type="cylinder" size=".1 .2"/><geom type="box" size=".1 .2 .3"/>
  <geom type="ellipsoid" size=".1 .2 .3"/><geom type="plane" size="0 2 1"/>
</worldbody></mujoco>"""


def volume(surface: Surface) -> float:
    """Signed, so that it is right only if all faces are turned outwards."""
    first, second, third = np.moveaxis(surface.triangles.astype(float), 1, 0)
    return float(np.einsum("ij,ij->i", first, np.cross(second, third)).sum() / 6)


def assert_good(surface: Surface) -> None:
    """Types, unit normals, and normals on the side that faces are turned to."""
    assert surface.vertices.dtype == surface.normals.dtype == np.float32
    assert surface.faces.dtype == np.int32
    np.testing.assert_allclose(np.linalg.norm(surface.normals, axis=1), 1, atol=1e-5)
    corners = surface.triangles
    turned = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    mean = surface.normals[surface.faces].mean(axis=1)
    flat = np.linalg.norm(turned, axis=1) < 1e-9  # where slices meet at a pole
    assert (np.einsum("ij,ij->i", turned, mean)[~flat] > 0).all()


VOLUMES = {
    GeomType.SPHERE: ((0.3, 0.3, 0.3), 4 / 3 * np.pi * 0.3**3),
    GeomType.ELLIPSOID: ((0.1, 0.2, 0.3), 4 / 3 * np.pi * 0.006),
    GeomType.CAPSULE: ((0.1, 0.1, 0.2), np.pi * 0.01 * 0.4 + 4 / 3 * np.pi * 0.001),
    GeomType.CYLINDER: ((0.1, 0.1, 0.2), np.pi * 0.01 * 0.4),
    GeomType.BOX: ((0.1, 0.2, 0.3), 8 * 0.006),
}


@pytest.mark.parametrize("kind", VOLUMES)
def test_shapes_have_their_volumes(kind: GeomType) -> None:
    size, wanted = VOLUMES[kind]
    surface = shape_surface(kind, size, slices=80, stacks=60)
    assert_good(surface)
    assert volume(surface) == pytest.approx(wanted, rel=5e-3)


@pytest.mark.parametrize(
    ("kind", "low", "high", "width"),
    [
        (GeomType.ARROW, 0, 1, 0.175),
        (GeomType.ARROW1, 0, 1, 0.1),
        (GeomType.ARROW2, -1, 1, 0.175),
        (GeomType.LINE, 0, 2, 0.1),
    ],
)
def test_arrows_and_lines_reach_as_far_as_in_mujocos_pictures(
    kind: GeomType, low: float, high: float, width: float
) -> None:
    surface = shape_surface(kind, (0.1, 0.1, 2.0))
    assert_good(surface)
    assert surface.vertices[:, 2].min() == pytest.approx(low, abs=1e-6)
    assert surface.vertices[:, 2].max() == pytest.approx(high, rel=1e-6)
    assert np.linalg.norm(surface.vertices[:, :2], axis=1).max() == pytest.approx(width, rel=1e-5)
    assert volume(surface) > 0


def test_a_mesh_has_its_own_normals_and_texture_coordinates() -> None:
    model = dovetail.loads(XML)
    surface = mesh_surface(model, 0)
    assert volume(surface) == pytest.approx(1 / 6, rel=1e-5)
    assert surface.texcoords is not None
    start = int(model.mesh_faceadr[0])
    wanted = model.mesh_normal[model.mesh_facenormal[start : start + 4]]
    np.testing.assert_array_equal(surface.normals[surface.faces], wanted)
    coords = model.mesh_texcoord[model.mesh_facetexcoord[start : start + 4]]
    np.testing.assert_array_equal(surface.texcoords[surface.faces], coords)
    hull = mesh_surface(model, 0, hull=True)
    assert_good(hull)
    assert volume(hull) == pytest.approx(1 / 6, rel=1e-5)


def test_a_height_field_is_a_closed_body() -> None:
    model = dovetail.loads(XML)
    surface = hfield_surface(model, 0)
    assert_good(surface)
    heights = model.hfield_data.reshape(3, 4) * 0.5 + 0.1
    cells = (heights[1:, 1:] + heights[:-1, :-1]) / 3 + (heights[1:, :-1] + heights[:-1, 1:]) / 6
    assert volume(surface) == pytest.approx(float(cells.sum()) * (2 / 3) * 2, rel=1e-5)
    top = surface.vertices[:12].reshape(3, 4, 3)
    np.testing.assert_allclose(top[..., 2], heights - 0.1, atol=1e-6)
    assert surface.vertices[:, 2].min() == pytest.approx(-0.1)


def test_geoms_of_every_type_have_surfaces() -> None:
    model = dovetail.loads(XML)
    for geom in range(model.ngeom):
        surface = geom_surface(model, geom)
        assert len(surface.faces)
        if model.geom_type[geom] not in (GeomType.HFIELD, GeomType.MESH, GeomType.PLANE):
            assert np.linalg.norm(surface.vertices, axis=1).max() == pytest.approx(
                model.geom_rbound[geom], rel=1e-5
            )


def test_what_has_no_shape_is_refused() -> None:
    with pytest.raises(ArgumentError, match="skin is no shape"):
        shape_surface(GeomType.SKIN)
