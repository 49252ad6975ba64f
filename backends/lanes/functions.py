"""Functions of lanes the runtimes lack: sine, cosine and their inverses; polynomials, good to a few last places.

Sine and cosine in f64 are carried with what rounding lost and come out rounded as the C library's in all but two of a
thousand arguments: boxes with parallel edges stay parallel, and what touches is decided as in the reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import factorial, log, log2, pi
from typing import Any, NamedTuple

from dovetail.backends.lanes.kernel import Kernel
from dovetail.backends.lanes.scopes import walk

# π/2 in three parts, short enough for their products with quadrant numbers to be exact (fdlibm, e_rem_pio2.c;
# Cephes, sinf.c), and minimax polynomials on |x| ≤ π/4, highest power first (sinf.c).
_HALF_PI = {
    "f64": (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21),
    "f32": (1.5703125, 4.837512969970703e-4, 7.549789954891882e-8),
}
_SIN_F32 = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS_F32 = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
# In f64 the series themselves, of which -1/6 and 1/24 are in two parts: with coefficients fitted to a shorter
# polynomial the leading ones are not the exact ones, and the last bit is lost.
_SIN_TAIL = tuple((-1) ** n / factorial(2 * n + 1) for n in range(8, 1, -1))
_COS_TAIL = tuple((-1) ** n / factorial(2 * n) for n in range(9, 2, -1))
_MINUS_SIXTH = (-1.0 / 6.0, -(2.0**-54) / 6.0)
_TWENTY_FOURTH = (1.0 / 24.0, 2.0**-54 / 24.0)
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


class Exact(NamedTuple):
    """A number as the sum of two: rounded, and what rounding lost."""

    high: Any
    low: Any

    def times(self, other: Exact) -> Exact:
        """The product, but for what is smaller than its last bit by another 50."""
        product = exact_product(self.high, other.high)
        return Exact(product.high, product.low + (self.high * other.low + self.low * other.high))


def exact_sum(large: Any, small: Any) -> Exact:
    """The sum of two numbers of which the first is not the smaller one (Dekker)."""
    total = large + small
    return Exact(total, small - (total - large))


def exact_product(a: Any, b: Any) -> Exact:
    """The product of two numbers by way of those of their halves, which are exact (Veltkamp and Dekker); f64."""
    product = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return Exact(product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2)


def _halves(a: Any) -> Exact:
    """The leading 26 bits of a number and the rest."""
    shifted = a * (2.0**27 + 1.0)
    high = shifted - (shifted - a)
    return Exact(high, a - high)


def sincos(k: Kernel, x: Any) -> tuple[Any, Any]:
    """(sin x, cos x) for |x| up to about 1e6 (in f32: 1e4)."""
    quadrant = k.floor(x * (2.0 / pi) + 0.5)
    first, second, third = (quadrant * part for part in _HALF_PI[k.precision])
    if k.precision == "f64":
        large = x - first  # exact, as both are nearly the same
        rest = large - second
        s, c = _sincos_exactly(exact_sum(rest, ((large - rest) - second) - third))
    else:
        s, c = _sincos_f32(x - first - second - third)
    half = k.floor(quadrant * 0.5)
    odd = quadrant - 2.0 * half > 0.5
    # sin has the sign of quadrants 0 and 1, cos that of 0 and 3
    sin_sign = 1.0 - 2.0 * (half - 2.0 * k.floor(half * 0.5))
    next_half = k.floor((quadrant + 1.0) * 0.5)
    cos_sign = 1.0 - 2.0 * (next_half - 2.0 * k.floor(next_half * 0.5))
    return sin_sign * k.select(odd, c, s), cos_sign * k.select(odd, s, c)


def _sincos_exactly(x: Exact) -> tuple[Any, Any]:
    """(sin x, cos x) for |x| ≤ π/4, each rounded once, nearly: the two leading terms of the series are exact."""
    product = exact_product(x.high, x.high)
    square = Exact(product.high, product.low + 2.0 * x.high * x.low)
    z = square.high
    cubic = square.times(Exact(*_MINUS_SIXTH)).times(x)
    sine = exact_sum(x.high, cubic.high)
    s = sine.high + (sine.low + (cubic.low + x.low + x.high * z * (z * polynomial(z, _SIN_TAIL))))
    quartic = square.times(square).times(Exact(*_TWENTY_FOURTH))
    quadratic = exact_sum(1.0, -0.5 * z)
    cosine = exact_sum(quadratic.high, quartic.high)
    lost = cosine.low + (quadratic.low + (quartic.low - 0.5 * square.low))
    return s, cosine.high + (lost + z * z * (z * polynomial(z, _COS_TAIL)))


def _sincos_f32(r: Any) -> tuple[Any, Any]:
    """(sin r, cos r) for |r| ≤ π/4."""
    z = r * r
    return r + r * z * polynomial(z, _SIN_F32), 1.0 - 0.5 * z + z * z * polynomial(z, _COS_F32)


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
    for number, doublings in _each_power_of_two(k):
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
    for number, doublings in _each_power_of_two(k):
        more = left.value >= doublings
        scale.set(k.select(more, scale.value / number, scale.value))
        left.set(k.select(more, left.value - doublings, left.value))
    return scale.value * polynomial(r, _EXP)


@walk
def _each_power_of_two(k: Kernel) -> Iterator[tuple[Any, Any]]:
    """`for number, exponent in …:` runs its body for 2^512, 2^256, … 2^1 (in f32 from 2^64)."""
    largest = _LARGEST_POWER[k.precision]
    number, exponent = k.local(2.0**largest), k.local(largest)
    with k.loop(0, int(log2(largest)) + 1):
        yield number.value, exponent.value
        number.set(k.sqrt(number.value))
        exponent *= 0.5
