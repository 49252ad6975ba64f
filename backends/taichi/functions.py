"""Functions of lanes the runtimes lack: sine, cosine and their inverses; polynomials, good to a few last places."""

from __future__ import annotations

from collections.abc import Iterator
from math import factorial, log, log2, pi
from typing import Any

from dovetail.backends.taichi.lanes import Kernel

# π/2 in three parts, short enough for their products with quadrant numbers to be exact (fdlibm, e_rem_pio2.c;
# Cephes, sinf.c), and minimax polynomials on |x| ≤ π/4, highest power first (fdlibm, k_sin.c and k_cos.c; sinf.c).
_HALF_PI = {
    "f64": (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21),
    "f32": (1.5703125, 4.837512969970703e-4, 7.549789954891882e-8),
}
_SIN = {
    "f64": (
        1.58969099521155010221e-10,
        -2.50507602534068634195e-08,
        2.75573137070700676789e-06,
        -1.98412698298579493134e-04,
        8.33333333332248946124e-03,
        -1.66666666666666324348e-01,
    ),
    "f32": (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1),
}
_COS = {
    "f64": (
        -1.13596475577881948265e-11,
        2.08757232129817482790e-09,
        -2.75573143513906633035e-07,
        2.48015872894767294178e-05,
        -1.38888888888741095749e-03,
        4.16666666666666019037e-02,
    ),
    "f32": (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2),
}
# arctan(x)/x on |x| ≤ tan(π/8) as a rational function of x² (Cephes, atan.c).
_ATAN_P = (
    -8.750608600031904122785e-1,
    -1.615753718733365076637e1,
    -7.500855792314704667340e1,
    -1.228866684490136173410e2,
    -6.485021904942025371773e1,
)
_ATAN_Q = (
    1.0,
    2.485846490142306297962e1,
    1.650270098316988542046e2,
    4.328810604912902668951e2,
    4.853903996359136964868e2,
    1.945506571482613964425e2,
)
_TAN_PI_8 = 0.41421356237309503


def polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """Horner's rule, highest power first."""
    total: Any = coefficients[0]
    for c in coefficients[1:]:
        total = total * x + c
    return total


def sincos(k: Kernel, x: Any) -> tuple[Any, Any]:
    """(sin x, cos x) for |x| up to about 1e6 (in f32: 1e4)."""
    quadrant = k.floor(x * (2.0 / pi) + 0.5)
    r = x
    for part in _HALF_PI[k.precision]:
        r = r - quadrant * part
    z = r * r
    s = r + r * z * polynomial(z, _SIN[k.precision])
    c = 1.0 - 0.5 * z + z * z * polynomial(z, _COS[k.precision])
    half = k.floor(quadrant * 0.5)
    odd = quadrant - 2.0 * half > 0.5
    # sin has the sign of quadrants 0 and 1, cos that of 0 and 3
    sin_sign = 1.0 - 2.0 * (half - 2.0 * k.floor(half * 0.5))
    next_half = k.floor((quadrant + 1.0) * 0.5)
    cos_sign = 1.0 - 2.0 * (next_half - 2.0 * k.floor(next_half * 0.5))
    return sin_sign * k.select(odd, c, s), cos_sign * k.select(odd, s, c)


def atan_half_plane(k: Kernel, y: Any, x: Any) -> Any:
    """atan2(y, x) for y ≥ 0, so between 0 and π; 0 where both vanish."""
    size = k.abs(x)
    low, high = k.min(y, size), k.max(y, size)
    t = low / k.max(high, 1e-300 if k.precision == "f64" else 1e-37)
    folded = t > _TAN_PI_8
    u = k.select(folded, (t - 1.0) / (t + 1.0), t)
    z = u * u
    angle = u + u * z * polynomial(z, _ATAN_P) / polynomial(z, _ATAN_Q)
    angle = k.select(folded, angle + 0.25 * pi, angle)
    angle = k.select(y > size, 0.5 * pi - angle, angle)
    return k.select(x < 0.0, pi - angle, angle)


def atan2(k: Kernel, y: Any, x: Any) -> Any:
    """The angle of the point (x, y), between -π and π; 0 where both vanish."""
    angle = atan_half_plane(k, k.abs(y), x)
    return k.select(y < 0.0, -angle, angle)


def acos(k: Kernel, x: Any) -> Any:
    """Arc cosine, between 0 and π; beyond ±1 it is that of ±1."""
    return atan_half_plane(k, _other_leg(k, x), x)


def asin(k: Kernel, x: Any) -> Any:
    """Arc sine, between -π/2 and π/2; beyond ±1 it is that of ±1."""
    angle = atan_half_plane(k, k.abs(x), _other_leg(k, x))
    return k.select(x < 0.0, -angle, angle)


def _other_leg(k: Kernel, x: Any) -> Any:
    """√(1 − x²); the factors keep what is left of it near ±1."""
    return k.sqrt(k.max((1.0 - x) * (1.0 + x), 0.0))


_LARGEST_POWER = {"f64": 512.0, "f32": 64.0}
"""With its halves down to 1, exponents of two that together reach every normal number."""
_TINY = {"f64": 2.0**-1022, "f32": 2.0**-126}
_LN2_PARTS = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
"""ln 2 in two parts, the first short (fdlibm, e_exp.c)."""
_ATANH = tuple(1.0 / n for n in range(21, 0, -2))
"""artanh(t)/t as a polynomial of t², |t| ≤ 0.172."""
_EXP = tuple(1.0 / factorial(n) for n in range(13, -1, -1))
"""On |x| ≤ ½ ln 2."""


def power(k: Kernel, x: Any, p: Any) -> Any:
    """x to the power p for 0 ≤ x ≤ 1 and p ≥ 0; 0 where x vanishes (also for p = 0)."""
    mantissa, exponent = k.local(k.max(x, _TINY[k.precision])), k.local(0.0)
    for number, doublings in _powers_of_two(k):
        small = mantissa.value * number <= 1.0
        mantissa.set(k.select(small, mantissa.value * number, mantissa.value))
        exponent.set(k.select(small, exponent.value - doublings, exponent.value))
    low = mantissa.value < 0.5**0.5
    f = k.select(low, mantissa.value * 2.0, mantissa.value)
    whole = k.select(low, exponent.value - 1.0, exponent.value)
    t = (f - 1.0) / (f + 1.0)
    logarithm = whole * log(2.0) + 2.0 * t * polynomial(t * t, _ATANH)
    return k.select(x > 0.0, _exp_negative(k, p * logarithm), 0.0)


def _exp_negative(k: Kernel, x: Any) -> Any:
    """exp(x) for x ≤ 0."""
    halvings = k.min(k.floor(0.5 - x * (1.0 / log(2.0))), 2.0 * _LARGEST_POWER[k.precision] - 1.0)
    r = x + halvings * _LN2_PARTS[0] + halvings * _LN2_PARTS[1]
    scale, left = k.local(1.0), k.local(halvings)
    for number, doublings in _powers_of_two(k):
        more = left.value >= doublings
        scale.set(k.select(more, scale.value / number, scale.value))
        left.set(k.select(more, left.value - doublings, left.value))
    return scale.value * polynomial(r, _EXP)


def _powers_of_two(k: Kernel) -> Iterator[tuple[Any, Any]]:
    """`for number, exponent in …:` runs its body for 2^512, 2^256, … 2^1 (in f32 from 2^64)."""
    largest = _LARGEST_POWER[k.precision]
    number, exponent = k.local(2.0**largest), k.local(largest)
    with k.loop(0, int(log2(largest)) + 1):
        yield number.value, exponent.value
        number.set(k.sqrt(number.value))
        exponent *= 0.5
