"""Least squares within bounds, with the interface of mujoco.minimize: `from dovetail.mj import minimize`.

Levenberg and Marquardt's method: the residual is taken as linear, its square (or another norm) as quadratic, and a
multiple mu of the identity, which shortens steps, is added to the curvature. The step is the minimum of that model
inside the bounds (mju_boxQP). mu grows until a step makes the objective smaller, and shrinks the quicker the better
the model foretold how much. `residual` is called with columns, many points at once, so that a rollout can compute
them side by side.
"""

from __future__ import annotations

import abc
import dataclasses
import enum
import time
from collections.abc import Callable, Sequence
from typing import Any, TextIO, TypeAlias

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.mj.functions.boxqp import minimise

__all__ = [
    "IterLog",
    "Norm",
    "Quadratic",
    "Status",
    "Verbosity",
    "check_jacobian",
    "check_norm",
    "jacobian_fd",
    "least_squares",
]

Residual: TypeAlias = Callable[[Array], Array]
Bounds: TypeAlias = Sequence[Array] | None

DERIVATIVE_TOLERANCE = 1e-5
"""Largest difference, relative to the largest entry, between given derivatives and finite differences."""
GOOD = 0.9
"""Part of the foretold reduction from which on the model may be trusted more."""
POOR = 0.5


class Verbosity(enum.Enum):
    """How much is printed and remembered."""

    SILENT = 0
    FINAL = 1
    ITER = 2
    FULLITER = 3


class Status(enum.Enum):
    """Why a search ended."""

    FACTORIZATION_FAILED = enum.auto()
    NO_IMPROVEMENT = enum.auto()
    MAX_ITER = enum.auto()
    DX_TOL = enum.auto()
    G_TOL = enum.auto()


_REASONS = {
    Status.FACTORIZATION_FAILED: "the Hessian is not positive definite, whatever is added to it.",
    Status.NO_IMPROVEMENT: "no step makes the objective smaller.",
    Status.MAX_ITER: "maximum iterations reached.",
    Status.DX_TOL: "norm(dx) < tol.",
    Status.G_TOL: "norm(gradient) < tol.",
}


@dataclasses.dataclass(frozen=True)
class IterLog:
    """One iterate. The last four are there with `Verbosity.FULLITER`."""

    candidate: Array
    objective: float
    reduction: float
    regularizer: float
    residual: Array | None = None
    jacobian: Array | None = None
    grad: Array | None = None
    step: Array | None = None


class Norm(abc.ABC):
    """What is made small of a residual: a smooth, convex function of it."""

    @abc.abstractmethod
    def value(self, r: Array) -> Any:
        """The function of a residual (nr, 1)."""

    @abc.abstractmethod
    def grad_hess(self, r: Array, proj: Array) -> tuple[Array, Array]:
        """Gradient and Hessian of value(r), projected: projᵀ·g and projᵀ·H·proj. `proj` is the Jacobian (nr, nx)."""


class Quadratic(Norm):
    """Half the sum of squares."""

    def value(self, r: Array) -> Any:
        return 0.5 * float((r * r).sum())

    def grad_hess(self, r: Array, proj: Array) -> tuple[Array, Array]:
        return proj.T @ r, proj.T @ proj


def least_squares(
    x0: Array,
    residual: Residual,
    bounds: Bounds = None,
    jacobian: Callable[[Array, Array], Array] | None = None,
    norm: Norm = Quadratic(),  # noqa: B008  it has no state
    eps: float = float(np.finfo(float).eps ** 0.5),
    mu_min: float = 1e-6,
    mu_max: float = 1e8,
    mu_factor: float = 10.0**0.1,
    xtol: float = 1e-8,
    gtol: float = 1e-8,
    max_iter: int = 100,
    verbose: Verbosity | int = Verbosity.ITER,
    output: TextIO | None = None,
    iter_callback: Callable[[list[IterLog]], None] | None = None,
    check_derivatives: bool = False,
) -> tuple[Array, list[IterLog]]:
    """The x that makes norm(residual(x)) smallest, near x0 and within bounds, and the way to it.

    `residual` takes points as columns (nx, n) and gives residuals as columns (nr, n); `jacobian(x, r)` its
    derivatives (nr, nx) at one point (finite differences of size `eps` if none is given). The search ends when the
    gradient is shorter than `gtol`, the step than `xtol`, after `max_iter` iterations, or when nothing helps.
    `iter_callback` sees the way after every iteration. `check_derivatives` compares what was given with finite
    differences first.
    """
    problem = _Problem(x0, residual, bounds, jacobian, norm, eps)
    search = _Search(problem, mu_min, mu_max, mu_factor, xtol, gtol, Verbosity(verbose), output)
    return search.run(max_iter, iter_callback, check_derivatives)


class _Problem:
    """The functions of a search, counted and timed."""

    def __init__(
        self,
        x0: Array,
        residual: Residual,
        bounds: Bounds,
        jacobian: Callable[[Array, Array], Array] | None,
        norm: Norm,
        eps: float,
    ) -> None:
        self.shape = np.shape(x0)
        self.start = np.array(x0, float).reshape(-1, 1)
        self.bounds = _checked_bounds(bounds, self.start.size)
        if self.bounds is not None:
            self.start = np.clip(self.start, *self.bounds)
        self.given, self.own_jacobian, self.norm, self.eps = residual, jacobian, norm, eps
        self.residuals = self.jacobians = 0
        self.residual_time = self.jacobian_time = 0.0

    def residual(self, points: Array) -> Array:
        begin = time.perf_counter()
        found = np.asarray(self.given(points))
        self.residual_time += time.perf_counter() - begin
        self.residuals += points.shape[1]
        if found.ndim != 2 or found.shape[1] != points.shape[1]:
            raise ValueError(
                f"residual gave an array of shape {found.shape} for {points.shape[1]} points in columns; it should "
                f"give as many columns"
            )
        return found

    def jacobian(self, x: Array, r: Array) -> Array:
        if self.own_jacobian is None:
            return jacobian_fd(self.residual, x, r, self.eps, 0, self.bounds)[0]
        begin = time.perf_counter()
        found = np.asarray(self.own_jacobian(x, r))
        self.jacobian_time += time.perf_counter() - begin
        self.jacobians += 1
        return found

    def check(self, x: Array, r: Array, output: TextIO | None) -> None:
        """Compare what the user gave with finite differences."""
        if self.own_jacobian is not None:
            check_jacobian(self.residual, x, r, self.jacobian(x, r), self.eps, 0, self.bounds, output)
        if not isinstance(self.norm, Quadratic):
            check_norm(r, self.norm, self.eps, output)


class _Search:
    """The way from the start to a minimum."""

    def __init__(
        self,
        problem: _Problem,
        mu_min: float,
        mu_max: float,
        mu_factor: float,
        xtol: float,
        gtol: float,
        verbose: Verbosity,
        output: TextIO | None,
    ) -> None:
        self.problem, self.verbose, self.output = problem, verbose, output
        self.mu_min, self.mu_max, self.factor = mu_min, mu_max, mu_factor
        self.xtol, self.gtol = xtol, gtol
        self.mu = 0.0
        count = problem.start.size
        self.low, self.high = problem.bounds or (np.full((count, 1), -np.inf), np.full((count, 1), np.inf))
        self.trace: list[IterLog] = []

    def run(
        self, max_iter: int, callback: Callable[[list[IterLog]], None] | None, check: bool
    ) -> tuple[Array, list[IterLog]]:
        begin = time.perf_counter()
        problem, x = self.problem, self.problem.start
        r = problem.residual(x)
        if check:
            problem.check(x, r, self.output)
        y = float(problem.norm.value(r))
        status, count = Status.MAX_ITER, 0
        for count in range(max_iter + 1):
            jac = problem.jacobian(x, r)
            grad, hess = problem.norm.grad_hess(r, jac)
            length = self._projected_norm(x, grad)
            if length < self.gtol:
                if length == 0.0:
                    self._say(Verbosity.ITER, "Zero gradient norm: exact minimum found?")
                status = Status.G_TOL
                break
            if count == max_iter:
                break
            found = self._improve(x, y, grad, hess)
            if isinstance(found, Status):
                status = found
                break
            step, new_x, new_r, new_y, ratio = found
            self._note(x, y, y - new_y, r, jac, grad, step)
            dx = float(np.linalg.norm(step))
            self._tell(count, y, ratio, dx, y - new_y)
            x, r, y = new_x, new_r, new_y
            if callback is not None:
                callback(self.trace)
            if dx < self.xtol:
                jac = problem.jacobian(x, r)
                grad = problem.norm.grad_hess(r, jac)[0]
                status = Status.DX_TOL
                count += 1
                break
        self._note(x, y, 0.0, r, jac, grad, None)
        self._conclude(status, count, y, time.perf_counter() - begin)
        return x.reshape(problem.shape), self.trace

    def _projected_norm(self, x: Array, grad: Array) -> float:
        """Length of the gradient where it does not press against a bound."""
        held = ((x <= self.low) & (grad > 0.0)) | ((x >= self.high) & (grad < 0.0))
        return float(np.linalg.norm(np.where(held, 0.0, grad)))

    def _improve(self, x: Array, y: float, grad: Array, hess: Array) -> Any:
        """A step that makes the objective smaller, with where it leads; or why there is none."""
        while True:
            step = self._step(x, grad, hess)
            if step is not None:
                new_x = np.clip(x + step, self.low, self.high)
                step = new_x - x
                new_r = self.problem.residual(new_x)
                new_y = float(self.problem.norm.value(new_r))
                foretold = -float((grad.T @ step + 0.5 * step.T @ hess @ step).item())
                if new_y < y:
                    ratio = (y - new_y) / foretold if foretold > 0.0 else 0.0
                    self._adapt(ratio)
                    return step, new_x, new_r, new_y, ratio
                if float(np.linalg.norm(step)) < self.xtol:
                    return Status.DX_TOL
            if self.mu >= self.mu_max:
                return Status.FACTORIZATION_FAILED if step is None else Status.NO_IMPROVEMENT
            self.mu = max(self.mu * self.factor**4, self.mu_min)

    def _step(self, x: Array, grad: Array, hess: Array) -> Array | None:
        """The minimum of the model inside the bounds; None if the model has none."""
        curvature = hess + self.mu * np.eye(len(x))
        step = np.zeros(len(x))
        low, high = (self.low - x).reshape(-1), (self.high - x).reshape(-1)
        found = minimise(step, curvature, grad.reshape(-1), np.minimum(low, 0.0), np.maximum(high, 0.0))
        return None if found is None else step.reshape(-1, 1)

    def _adapt(self, ratio: float) -> None:
        """Trust the model more if it foretold the reduction well, less if not."""
        if ratio > GOOD:
            self.mu = self.mu / self.factor**8 if self.mu > self.mu_min else 0.0
        elif ratio < POOR:
            self.mu = max(self.mu * self.factor**2, self.mu_min)

    # ---- telling

    def _note(
        self, x: Array, y: float, reduction: float, r: Array, jac: Array, grad: Array, step: Array | None
    ) -> None:
        full = (r, jac, grad, step) if self.verbose is Verbosity.FULLITER else ()
        self.trace.append(IterLog(x, y, reduction, self.mu, *full))

    def _tell(self, count: int, y: float, ratio: float, dx: float, reduction: float) -> None:
        mu = f"{np.log10(self.mu):4.1f}" if self.mu else "-inf"
        self._say(
            Verbosity.ITER,
            f"iter: {count:<4} y: {y:<10.4g} log10mu: {mu}  ratio: {ratio:<7.2g}  dx: {dx:<7.2g}  "
            f"reduction: {reduction:<7.2g}",
        )

    def _conclude(self, status: Status, count: int, y: float, total: float) -> None:
        problem = self.problem
        jacobians = f", Jacobian evals: {problem.jacobians}" if problem.jacobians else ""
        self._say(
            Verbosity.FINAL,
            f"Terminated after {count} iterations: {_REASONS[status]} y: {y:.4g}, "
            f"Residual evals: {problem.residuals}{jacobians}",
        )
        share = f"residual {100 * problem.residual_time / total:.1f}%"
        if problem.jacobians:
            share += f", Jacobian {100 * problem.jacobian_time / total:.1f}%"
        self._say(Verbosity.FINAL, f"total time {1e3 * total:.1f}ms of which {share}")

    def _say(self, least: Verbosity, text: str) -> None:
        if self.verbose.value >= least.value:
            print(text, file=self.output)


def _checked_bounds(bounds: Bounds, count: int) -> tuple[Array, Array] | None:
    if bounds is None:
        return None
    if len(bounds) != 2:
        raise ValueError("bounds must have 2 elements.")
    low, high = (np.asarray(bound, float) for bound in bounds)
    if low.size != count or high.size != count:
        raise ValueError("bounds must have the same size as x0.")
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ValueError("bounds must be finite.")
    if not (low < high).all():
        raise ValueError("bounds[0] must be smaller than bounds[1].")
    return low.reshape(-1, 1), high.reshape(-1, 1)


# ---- derivatives by finite differences --------------------------------------------------------------------------


def jacobian_fd(
    residual: Residual, x: Array, r: Array, eps: float, n_res: int, bounds: Bounds = None
) -> tuple[Array, int]:
    """Derivatives (nr, nx) of a residual at x, all nudged points in one call; and n_res + nx, for who counts calls.
    Near an upper bound the nudge goes downwards."""
    x = np.reshape(x, (-1, 1))
    nudge = np.full(x.shape, eps)
    if bounds is not None:
        middle = 0.5 * (np.reshape(bounds[0], x.shape) + np.reshape(bounds[1], x.shape))
        nudge = np.where(x > middle, -eps, eps)
    changed = residual(x + np.diag(nudge[:, 0]))
    return (changed - r) / nudge.T, n_res + x.size


def check_jacobian(
    residual: Residual,
    x: Array,
    r: Array,
    jac: Array,
    eps: float,
    n_res: int,
    bounds: Bounds = None,
    output: TextIO | None = None,
    name: str | None = "Jacobian",
) -> int:
    """A ValueError if a Jacobian is not that of finite differences."""
    expected, n_res = jacobian_fd(residual, x, r, eps, n_res, bounds)
    if expected.shape != jac.shape:
        raise ValueError(f"User-provided {name} has shape {jac.shape}, should be {expected.shape}.")
    _compare(name or "Jacobian", jac, expected, DERIVATIVE_TOLERANCE, output)
    return n_res


def check_norm(r: Array, norm: Norm, eps: float, output: TextIO | None = None) -> None:
    """A ValueError if gradient or Hessian of a norm are not those of finite differences, or it is not convex."""
    r = np.reshape(r, (-1, 1))
    eye = np.eye(r.size)
    grad, hess = norm.grad_hess(r, eye)
    if np.shape(grad) != (r.size, 1):
        raise ValueError(f"User-provided norm gradient has shape {np.shape(grad)}, should be {(r.size, 1)}.")
    if np.shape(hess) != (r.size, r.size):
        raise ValueError(
            f"User-provided norm Hessian has shape {np.shape(hess)}, should be {(r.size, r.size)}."
        )
    ways = [eps * column.reshape(-1, 1) for column in eye]
    slopes = [(float(norm.value(r + way)) - float(norm.value(r - way))) / (2.0 * eps) for way in ways]
    _compare("norm gradient", grad, np.reshape(slopes, (-1, 1)), DERIVATIVE_TOLERANCE, output)
    if not np.allclose(hess, hess.T, rtol=1e-10, atol=1e-14):
        raise ValueError("User-provided norm Hessian is not symmetric.")
    if np.linalg.eigvalsh(hess).min() < 0.0:
        raise ValueError("User-provided norm Hessian is not positive definite.")
    bends = [norm.grad_hess(r + w, eye)[0] - norm.grad_hess(r - w, eye)[0] for w in ways]
    _compare("norm Hessian", hess, np.hstack(bends) / (2.0 * eps), DERIVATIVE_TOLERANCE, output)


def _compare(name: str, given: Array, expected: Array, tolerance: float, output: TextIO | None) -> None:
    scale = max(float(np.abs(expected).max(initial=0.0)), float(np.finfo(float).tiny))
    if float(np.abs(given - expected).max(initial=0.0)) > tolerance * scale:
        raise ValueError(
            f"User-provided {name} does not match finite differences to {tolerance:g} of its largest entry."
        )
    print(f"User-provided {name} matches finite differences.", file=output)
