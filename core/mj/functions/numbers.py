"""mju_*: single numbers, muscles, friction pyramids, texts about types and warnings."""

from __future__ import annotations

import datetime
from math import cos as cosine
from math import cosh, exp, floor, isnan, sinh, sqrt
from math import sin as sine
from pathlib import Path

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.mj.functions.binding import function, need
from dovetail.mj.functions.vectors import MINVAL

MAXVAL = 1e10
"""mjMAXVAL: numbers beyond it are bad."""


@function("a: float, b: float", "float")
def mju_min(a: float, b: float) -> float:
    """The smaller one."""
    return a if a <= b else b


@function("a: float, b: float", "float")
def mju_max(a: float, b: float) -> float:
    """The larger one."""
    return a if a >= b else b


@function("x: float, min: float, max: float", "float")
def mju_clip(x: float, min: float, max: float) -> float:
    """x, but not below min nor above max."""
    return min if x < min else max if x > max else x


@function("x: float", "float")
def mju_sign(x: float) -> float:
    """−1, 0 or 1."""
    return float((x > 0.0) - (x < 0.0))


@function("x: float", "int")
def mju_round(x: float) -> int:
    """The nearest whole number."""
    low = floor(x)
    return low if x - low < 0.5 else low + 1


@function("x: float", "int")
def mju_isBad(x: float) -> int:
    """1 if a number is not one, or too large, else 0."""
    return int(isnan(x) or x > MAXVAL or x < -MAXVAL)


@function("x: float", "float")
def mju_sigmoid(x: float) -> float:
    """A smooth step from 0 to 1 with two continuous derivatives."""
    if x <= 0.0:
        return 0.0
    return 1.0 if x >= 1.0 else x * x * x * (3.0 * x * (2.0 * x - 5.0) + 10.0)


@function("index: int, base: int", "float")
def mju_Halton(index: int, base: int) -> float:
    """A number of Halton's sequence: the digits of the index, mirrored behind the point."""
    total, weight = 0.0, 1.0 / base
    while index > 0:
        index, digit = divmod(index, base)
        total += weight * digit
        weight /= base
    return total


_normal = np.random.default_rng(1)


@function("num2: float?", "float")
def mju_standardNormal(num2: float | None) -> float:
    """A random number of the normal distribution. (A float cannot be written to, so num2 gets no second one; neither
    does it in MuJoCo's bindings.)"""
    return float(_normal.standard_normal())


@function("pos0: float, vel0: float, Kp: float, Kv: float, dt: float", "float")
def mju_springDamper(pos0: float, vel0: float, Kp: float, Kv: float, dt: float) -> float:
    """Where x″ = −Kp·x − Kv·x′ is after a time dt."""
    half = 0.5 * Kv
    discriminant = half * half - Kp
    rise = vel0 + half * pos0
    if discriminant < -MINVAL:
        rate = sqrt(-discriminant)
        return exp(-half * dt) * (pos0 * cosine(rate * dt) + rise / rate * sine(rate * dt))
    if discriminant < MINVAL:
        return exp(-half * dt) * (pos0 + rise * dt)
    rate = sqrt(discriminant)
    return exp(-half * dt) * (pos0 * cosh(rate * dt) + rise / rate * sinh(rate * dt))


# ---- muscles ----------------------------------------------------------------------------------------------------


def _muscle_length(length: float, lengthrange: list[float], low: float, high: float) -> tuple[float, float]:
    """In units of the resting length, and that."""
    rest = (lengthrange[1] - lengthrange[0]) / max(MINVAL, high - low)
    return low + (length - lengthrange[0]) / max(MINVAL, rest), rest


@function("len: float, vel: float, lengthrange: v2, acc0: float, prm: v9", "float")
def mju_muscleGain(len: float, vel: float, lengthrange: Array, acc0: float, prm: Array) -> float:
    """Force of a muscle that is fully active (negative: it pulls)."""
    from dovetail.plugins.shared.muscle_numpy import force_by_length, force_by_velocity

    low, high, force, scale, lmin, lmax, vmax, _, fvmax = prm.tolist()
    if force < 0.0:
        force = scale / max(MINVAL, acc0)
    length, rest = _muscle_length(len, lengthrange.tolist(), low, high)
    speed = vel / max(MINVAL, rest * vmax)
    by_length = force_by_length(*(np.array(x) for x in (length, lmin, lmax)))
    return -force * float(by_length * force_by_velocity(np.array(speed), np.array(fvmax)))


@function("len: float, lengthrange: v2, acc0: float, prm: v9", "float")
def mju_muscleBias(len: float, lengthrange: Array, acc0: float, prm: Array) -> float:
    """Force of a muscle that is stretched (negative: it pulls)."""
    low, high, force, scale, _, lmax, _, fpmax, _ = prm.tolist()
    if force < 0.0:
        force = scale / max(MINVAL, acc0)
    length, _ = _muscle_length(len, lengthrange.tolist(), low, high)
    middle = 0.5 * (1.0 + lmax)
    if length <= 1.0:
        return 0.0
    if length <= middle:
        part = (length - 1.0) / max(MINVAL, middle - 1.0)
        return -force * fpmax * 0.5 * part * part
    return -force * fpmax * (0.5 + (length - middle) / max(MINVAL, middle - 1.0))


@function("ctrl: float, act: float, prm: v3", "float")
def mju_muscleDynamics(ctrl: float, act: float, prm: Array) -> float:
    """How the activation of a muscle changes with time."""
    rise, fall, smooth = prm.tolist()
    ctrl, kept = min(1.0, max(0.0, ctrl)), min(1.0, max(0.0, act))
    rise, fall = rise * (0.5 + 1.5 * kept), fall / (0.5 + 1.5 * kept)
    change = ctrl - act
    if smooth < MINVAL:
        tau = rise if change > 0.0 else fall
    else:
        x = change / smooth + 0.5
        step = 0.0 if x <= 0.0 else 1.0 if x >= 1.0 else x * x * x * (3.0 * x * (2.0 * x - 5.0) + 10.0)
        tau = fall + (rise - fall) * step
    return change / max(MINVAL, tau)


# ---- friction pyramids ------------------------------------------------------------------------------------------


@function("pyramid: w, force: v, mu: v")
def mju_encodePyramid(pyramid: Array, force: Array, mu: Array) -> None:
    """A contact force as a sum of edges of a friction pyramid. The contact's dimension is the size of mu, as in
    MuJoCo's bindings: the last tangent of force has no edges."""
    need(len(pyramid) == 2 * len(mu), "size of pyramid should be twice as large as size of mu")
    need(len(force) == len(mu) + 1, "size of force should be exactly one larger than size of mu")
    tangents = len(mu) - 1
    if tangents < 1:
        pyramid[:1] = force[0]
        return
    normal = force[0] / tangents
    side = np.minimum(normal, force[1:-1] / mu[:-1])
    edges = pyramid[: 2 * tangents]
    edges[0::2], edges[1::2] = 0.5 * (normal + side), 0.5 * (normal - side)


@function("force: w, pyramid: v, mu: v")
def mju_decodePyramid(force: Array, pyramid: Array, mu: Array) -> None:
    """The contact force of edges of a friction pyramid; the contact's dimension is the size of mu."""
    need(len(pyramid) == 2 * len(mu), "size of pyramid should be twice as large as size of mu")
    need(len(force) == len(mu) + 1, "size of force should be exactly one larger than size of mu")
    tangents = len(mu) - 1
    if tangents < 1:
        force[0] = pyramid[:1].sum()
        return
    edges = pyramid[: 2 * tangents]
    force[0] = edges.sum()
    force[1:-1] = mu[:-1] * (edges[0::2] - edges[1::2])


# ---- texts ------------------------------------------------------------------------------------------------------


@function("nbytes: int", "str")
def mju_writeNumBytes(nbytes: int) -> str:
    """A number of bytes in the largest unit that leaves no rest."""
    units = ["", "K", "M", "G", "T", "P", "E"]
    while nbytes and nbytes % 1024 == 0 and len(units) > 1:
        nbytes //= 1024
        units.pop(0)
    return f"{nbytes}{units[0]}"


@function("type: str, msg: str")
def mju_writeLog(type: str, msg: str) -> None:
    """Add a message with its time to the file MUJOCO_LOG.TXT in the working directory."""
    with Path("MUJOCO_LOG.TXT").open("a", encoding="utf-8") as log:
        log.write(f"{datetime.datetime.now().astimezone():%c}\n{type}: {msg}\n\n")


__all__ = [name for name in globals() if name.startswith(("mju_", "mjd_"))]
