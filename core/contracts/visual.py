"""Settings for viewers (`model.vis`, mjVisual): they say how to draw a model and never affect its motion.

Six groups as in MJCF's `<visual>`: `model.vis.map.znear`, `model.vis.rgba.haze`, and `model.vis.global_`, which
has MuJoCo's Python name because `global` is a keyword. Single precision, as in MuJoCo; colours are red, green,
blue and opacity from 0 to 1.
"""

from __future__ import annotations

from typing import Any

from dovetail.contracts.fields import Array, array, entity, scalar


def _number(init: float, doc: str, unit: str = "1") -> Any:
    return scalar(dtype="float32", unit=unit, init=init, doc=doc)


def _count(init: int, doc: str) -> Any:
    return scalar(dtype="int32", init=init, doc=doc)


def _color(red: float, green: float, blue: float, opacity: float, doc: str) -> Any:
    return array(4, dtype="float32", unit="1", init=(red, green, blue, opacity), doc=doc)


def _light(level: float, doc: str) -> Any:
    return array(3, dtype="float32", unit="1", init=(level, level, level), doc=doc)


@entity
class VisualGlobal:
    """The free camera and the off-screen image."""

    cameraid: int = _count(-1, "Camera that a viewer starts with; -1: the free one.")
    orthographic: int = _count(0, "1 if the free camera projects in parallel.")
    fovy: float = _number(
        45.0, "Vertical angle of view of the free camera; its height, if orthographic.", "deg"
    )
    ipd: float = _number(0.068, "Distance between the eyes of the free camera in stereo.", "m")
    azimuth: float = _number(90.0, "First azimuth of the free camera.", "deg")
    elevation: float = _number(-45.0, "First elevation of the free camera.", "deg")
    linewidth: float = _number(1.0, "Width of lines in wire frames and rays, in pixels.")
    glow: float = _number(0.3, "How much a selected body shines.")
    realtime: float = _number(1.0, "Speed that a viewer starts with, relative to real time.")
    offwidth: int = _count(640, "Width of the off-screen image in pixels.")
    offheight: int = _count(480, "Height of the off-screen image in pixels.")
    ellipsoidinertia: int = _count(0, "How inertia is drawn: 0 as boxes, 1 as ellipsoids.")
    bvactive: int = _count(1, "1 if bounding volumes that were tested are marked.")


@entity
class VisualQuality:
    """How finely things are drawn."""

    shadowsize: int = _count(4096, "Side of the shadow image in pixels.")
    offsamples: int = _count(4, "Samples per pixel of the off-screen image.")
    numslices: int = _count(28, "Facets around round shapes.")
    numstacks: int = _count(16, "Facets along round shapes.")
    numquads: int = _count(4, "Squares along each side of a box.")


@entity
class VisualHeadlight:
    """The light that moves with the camera."""

    ambient: Array = _light(0.1, "Light from everywhere, by colour.")
    diffuse: Array = _light(0.4, "Scattered light, by colour.")
    specular: Array = _light(0.5, "Reflected light, by colour.")
    active: int = _count(1, "1 if the headlight is on.")


@entity
class VisualMap:
    """Conversions between what is computed and what is drawn or moved by hand."""

    stiffness: float = _number(100.0, "Stiffness of the spring by which a mouse pulls.")
    stiffnessrot: float = _number(500.0, "Stiffness of the spring by which a mouse turns.")
    force: float = _number(0.005, "Length of arrows per force.", "m/N")
    torque: float = _number(0.1, "Length of arrows per torque.", "1/N")
    alpha: float = _number(0.3, "Opacity of what is shown transparent.")
    fogstart: float = _number(3.0, "Where fog begins, in extents of the model.")
    fogend: float = _number(10.0, "Where fog hides everything, in extents of the model.")
    znear: float = _number(0.01, "Nearest distance that is drawn, in extents of the model.")
    zfar: float = _number(50.0, "Farthest distance that is drawn, in extents of the model.")
    haze: float = _number(0.3, "Share of the way to the horizon that haze takes.")
    shadowclip: float = _number(1.0, "Reach of the shadows of directional lights, in extents of the model.")
    shadowscale: float = _number(0.6, "Share of a spot light's cone that casts shadows.")
    actuatortendon: float = _number(2.0, "Width of an actuated tendon relative to the tendon.")


@entity
class VisualScale:
    """Sizes of marks, relative to the mean size of the bodies."""

    forcewidth: float = _number(0.1, "Width of force and torque arrows.")
    contactwidth: float = _number(0.3, "Radius of contact discs.")
    contactheight: float = _number(0.1, "Height of contact discs.")
    connect: float = _number(0.2, "Width of the lines that connect bodies and joints.")
    com: float = _number(0.4, "Radius of centres of mass.")
    camera: float = _number(0.3, "Size of cameras.")
    light: float = _number(0.3, "Size of lights.")
    selectpoint: float = _number(0.2, "Radius of the selected point.")
    jointlength: float = _number(1.0, "Length of joint axes.")
    jointwidth: float = _number(0.1, "Width of joint axes.")
    actuatorlength: float = _number(0.7, "Length of actuators.")
    actuatorwidth: float = _number(0.2, "Width of actuators.")
    framelength: float = _number(1.0, "Length of the axes of frames.")
    framewidth: float = _number(0.1, "Width of the axes of frames.")
    constraint: float = _number(0.1, "Width of violated constraints.")
    slidercrank: float = _number(0.2, "Width of slider-cranks.")
    frustum: float = _number(10.0, "Distance of the far plane of camera frusta.")


@entity
class VisualRgba:
    """Colours of marks."""

    fog: Array = _color(0, 0, 0, 1, "Colour of fog.")
    haze: Array = _color(1, 1, 1, 1, "Colour of haze.")
    force: Array = _color(1, 0.5, 0.5, 1, "Colour of forces from outside.")
    inertia: Array = _color(0.8, 0.2, 0.2, 0.6, "Colour of inertia of bodies.")
    joint: Array = _color(0.2, 0.6, 0.8, 1, "Colour of joints.")
    actuator: Array = _color(0.2, 0.25, 0.2, 1, "Colour of actuators at rest.")
    actuatornegative: Array = _color(0.2, 0.6, 0.9, 1, "Colour of actuators at their lowest control.")
    actuatorpositive: Array = _color(0.9, 0.4, 0.2, 1, "Colour of actuators at their highest control.")
    com: Array = _color(0.9, 0.9, 0.9, 1, "Colour of centres of mass.")
    camera: Array = _color(0.6, 0.9, 0.6, 1, "Colour of cameras.")
    light: Array = _color(0.6, 0.6, 0.9, 1, "Colour of lights.")
    selectpoint: Array = _color(0.9, 0.9, 0.1, 1, "Colour of the selected point.")
    connect: Array = _color(0.2, 0.2, 0.8, 1, "Colour of lines that connect bodies and joints.")
    contactpoint: Array = _color(0.9, 0.6, 0.2, 1, "Colour of contact points.")
    contactforce: Array = _color(0.7, 0.9, 0.9, 1, "Colour of contact forces.")
    contactfriction: Array = _color(0.9, 0.8, 0.4, 1, "Colour of friction forces.")
    contacttorque: Array = _color(0.9, 0.7, 0.9, 1, "Colour of contact torques.")
    contactgap: Array = _color(0.5, 0.8, 0.9, 1, "Colour of contact points that push nothing yet.")
    rangefinder: Array = _color(1, 1, 0.1, 1, "Colour of rays of range finders.")
    constraint: Array = _color(0.9, 0, 0, 1, "Colour of violated constraints.")
    slidercrank: Array = _color(0.5, 0.3, 0.8, 1, "Colour of slider-cranks.")
    crankbroken: Array = _color(0.9, 0, 0, 1, "Colour of cranks that cannot reach their slider.")
    frustum: Array = _color(1, 1, 0, 0.2, "Colour of frusta of cameras.")
    bv: Array = _color(0, 1, 0, 0.5, "Colour of bounding volumes.")
    bvactive: Array = _color(1, 0, 0, 0.5, "Colour of bounding volumes that were tested.")


VISUAL_GROUPS: dict[str, type] = {
    "vis.global_": VisualGlobal,
    "vis.quality": VisualQuality,
    "vis.headlight": VisualHeadlight,
    "vis.map": VisualMap,
    "vis.scale": VisualScale,
    "vis.rgba": VisualRgba,
}
"""The groups by the attribute they are reached through."""
