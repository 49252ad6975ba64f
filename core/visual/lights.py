"""Lights of a scene: those of the model that are on, and the headlight, which moves with the camera."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dovetail.contracts.enums import LightType
from dovetail.contracts.fields import Array
from dovetail.visual.cameras import View

HEADLIGHT_BULB = 0.02
"""Radius of the headlight's source [m], and its range below; as in MuJoCo's scenes."""
HEADLIGHT_RANGE = 10.0


@attrs.frozen(eq=False)
class Light:
    """A light in the world (mjvLight)."""

    id: int
    """The model's light; -1: the headlight."""
    pos: Array
    dir: Array
    type: int
    """enums.LightType."""
    texid: int
    attenuation: Array
    cutoff: float
    """Half-angle of a spot light's cone [deg]."""
    exponent: float
    ambient: Array
    diffuse: Array
    specular: Array
    headlight: bool
    castshadow: bool
    bulbradius: float
    intensity: float
    range: float


def lights(model: Any, data: Any, view: View) -> list[Light]:
    """The lights that are on: the headlight first."""
    found = [headlight(model, view)] if model.vis.headlight.active else []
    return found + [_light(model, data, int(i)) for i in np.flatnonzero(np.asarray(model.light_active))]


def headlight(model: Any, view: View) -> Light:
    """The light at the camera, which shines along the line of sight and casts no shadow."""
    look = model.vis.headlight
    return Light(
        id=-1,
        pos=view.pos.copy(),
        dir=view.forward.copy(),
        type=int(LightType.DIRECTIONAL),
        texid=-1,
        attenuation=np.zeros(3, np.float32),
        cutoff=0.0,
        exponent=0.0,
        ambient=np.array(look.ambient, np.float32),
        diffuse=np.array(look.diffuse, np.float32),
        specular=np.array(look.specular, np.float32),
        headlight=True,
        castshadow=False,
        bulbradius=HEADLIGHT_BULB,
        intensity=0.0,
        range=HEADLIGHT_RANGE,
    )


def _light(model: Any, data: Any, light: int) -> Light:
    """A light of the model; one that shines from everywhere alike has neither fall-off nor cone."""
    local = float(model.light_type[light] != LightType.DIRECTIONAL)
    return Light(
        id=int(light),
        pos=np.array(data.light_xpos[light], float),
        dir=np.array(data.light_xdir[light], float),
        type=int(model.light_type[light]),
        texid=int(model.light_texid[light]),
        attenuation=np.array(model.light_attenuation[light], np.float32) * np.float32(local),
        cutoff=float(model.light_cutoff[light]) * local,
        exponent=float(model.light_exponent[light]) * local,
        ambient=np.array(model.light_ambient[light], np.float32),
        diffuse=np.array(model.light_diffuse[light], np.float32),
        specular=np.array(model.light_specular[light], np.float32),
        headlight=False,
        castshadow=bool(model.light_castshadow[light]),
        bulbradius=float(model.light_bulbradius[light]),
        intensity=float(model.light_intensity[light]),
        range=float(model.light_range[light]),
    )
