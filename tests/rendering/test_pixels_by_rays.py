"""Without graphics at all: the ray through each pixel meets what the queries for rays say."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_scenes import SHAPES, TERRAIN

import dovetail
from dovetail.contracts.enums import ObjType
from dovetail.visual import FreeCamera, view

HEIGHT, WIDTH = 18, 24


@pytest.mark.parametrize("xml", [SHAPES, TERRAIN], ids=["shapes", "terrain"])
def test_depth_and_segmentation_are_those_of_rays(xml: str) -> None:
    model = dovetail.loads(xml)
    data = dovetail.make_data(model)
    dovetail.forward(model, data)
    camera = FreeCamera(lookat=(0, 0, 0.4), distance=4, azimuth=70, elevation=-35)
    depth = dovetail.render(model, data, HEIGHT, WIDTH, camera=camera, mode="depth")
    objects = dovetail.render(model, data, HEIGHT, WIDTH, camera=camera, mode="segmentation")
    seen = view(model, data, camera)
    origins, directions = seen.rays(WIDTH, HEIGHT)
    agree = 0
    for row in range(HEIGHT):
        for column in range(WIDTH):
            met = dovetail.ray(model, data, origins[row, column], directions[row, column])
            distance, geom = float(met[0]), int(met[1])
            if geom < 0:
                agree += objects[row, column, 0] == -1 and depth[row, column] == pytest.approx(seen.zfar)
                continue
            ahead = distance * float(directions[row, column] @ seen.forward)
            agree += (
                tuple(objects[row, column]) == (geom, ObjType.GEOM)
                and abs(depth[row, column] - ahead) < 1e-4 * ahead
            )
    assert agree >= 0.99 * HEIGHT * WIDTH
    assert np.unique(objects[..., 0]).size > 2
