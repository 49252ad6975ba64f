"""Principal axes of a symmetric 3×3 tensor in lanes, rotation by rotation as in `principal_axes_numpy` (mju_eig3)."""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel, Variable
from dovetail.plugins.shared.principal_axes_numpy import CONVERGED, MAX_ROTATIONS, QUARTER
from dovetail.plugins.shared.quaternions_lanes import quat_matrix, quat_multiply, quat_normalize
from dovetail.plugins.shared.vectors_lanes import Vector, dot, vector


def principal_axes(k: Kernel, tensor: Vector) -> Vector:
    """The matrix (3, 3) whose columns are the axes, that of the largest moment first; a tensor is six numbers."""
    xx, yy, zz, xy, xz, yz = tensor
    matrix = vector(xx, xy, xz, xy, yy, yz, xz, yz, zz).reshape(3, 3)
    quat, moments = k.local(vector(1.0, 0.0, 0.0, 0.0)), k.local(vector(0.0, 0.0, 0.0))
    live = k.local(1.0)
    with k.loop(0, MAX_ROTATIONS):
        k.leave_when(~k.any(live.value > 0.0))
        rotate(k, matrix, quat, moments, live)
    sort(k, quat, moments)
    return quat_matrix(quat.value)


def rotate(k: Kernel, matrix: Vector, quat: Variable, moments: Variable, live: Variable) -> None:
    """One rotation in the worlds that need it, which removes the largest element beside the diagonal."""
    axes = quat_matrix(quat.value)
    tensor = product(product(axes.T, matrix), axes)
    moments.set(k.select(live.value > 0.0, vector(tensor[0, 0], tensor[1, 1], tensor[2, 2]), moments.value))
    sizes = [k.abs(tensor[row, column]) for row, column in ((0, 1), (0, 2), (1, 2))]
    about_z = (sizes[0] > sizes[1]) & (sizes[0] > sizes[2])
    about_y = ~about_z & (sizes[1] > sizes[2])
    beside = k.select(about_z, tensor[0, 1], k.select(about_y, tensor[0, 2], tensor[1, 2]))
    upper = k.select(about_z | about_y, tensor[0, 0], tensor[1, 1])
    lower = k.select(about_z, tensor[1, 1], tensor[2, 2])
    small = k.abs(beside) < CONVERGED
    tau = (lower - upper) / (2.0 * k.select(small, 1.0, beside))
    root = k.sqrt(1.0 + tau * tau)
    tangent = k.select(tau >= 0.0, 1.0 / (k.abs(tau) + root), -1.0 / (k.abs(tau) + root))
    cosine = 1.0 / k.sqrt(1.0 + tangent * tangent)
    live.set(k.select(small | (cosine > 1.0 - CONVERGED), 0.0, live.value))
    half = k.sqrt(k.max(0.5 - 0.5 * cosine, 0.0)) * k.select(tau >= 0.0, -1.0, 1.0)
    half = k.select(about_y, -half, half)
    turn = vector(
        k.sqrt(1.0 - half * half),
        k.select(about_z | about_y, 0.0, half),
        k.select(about_y, half, 0.0),
        k.select(about_z, half, 0.0),
    )
    turned = quat_normalize(k, quat_multiply(quat.value, quat_normalize(k, turn)))
    quat.set(k.select(live.value > 0.0, turned, quat.value))


def product(a: Vector, b: Vector) -> Vector:
    """Of two matrices, each sum from left to right."""
    return vector(*(dot(row, column) for row in a for column in b.T)).reshape(3, 3)


def sort(k: Kernel, quat: Variable, moments: Variable) -> None:
    """The largest moment first; the frame turns by a right angle at each exchange."""
    for first in (0, 1, 0):
        here, there = moments.value[first], moments.value[first + 1]
        swap = here + CONVERGED < there
        quarter = [QUARTER, 0.0, 0.0, 0.0]
        quarter[(first + 2) % 3 + 1] = QUARTER
        turned = quat_normalize(k, quat_multiply(quat.value, vector(*quarter)))
        swapped = list(moments.value)
        swapped[first], swapped[first + 1] = there, here
        quat.set(k.select(swap, turned, quat.value))
        moments.set(k.select(swap, vector(*swapped), moments.value))
