"""Functions on plain arrays give mujoco's numbers, for arguments drawn at random."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

MODULES = ("vectors", "poses", "matrices", "boxqp", "numbers")


def ours(name: str) -> Any:
    for module in MODULES:
        found = getattr(importlib.import_module(f"dovetail.mj.functions.{module}"), name, None)
        if found is not None:
            return found
    raise AttributeError(name)


def vector(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape)


def unit(rng: np.random.Generator) -> np.ndarray:
    quat = rng.normal(size=4)
    return quat / np.linalg.norm(quat)


def rotation(rng: np.random.Generator) -> np.ndarray:
    mat = np.zeros(9)
    mujoco.mju_quat2Mat(mat, unit(rng))
    return mat


def positive(rng: np.random.Generator, n: int) -> np.ndarray:
    root = rng.normal(size=(n, n))
    return root @ root.T + 0.1 * np.eye(n)


def symmetric(rng: np.random.Generator) -> np.ndarray:
    root = rng.normal(size=(3, 3))
    return (root + root.T).reshape(-1)


BAND = (7, 3, 2)
BAND_SIZE = (7 - 2) * 3 + 2 * 7


def band(rng: np.random.Generator) -> np.ndarray:
    dense = positive(rng, 7) + 10 * np.eye(7)
    stored = np.zeros(BAND_SIZE)
    mujoco.mju_dense2Band(stored, dense, *BAND)
    return stored


def muscle(rng: np.random.Generator) -> list[Any]:
    return [
        np.array([0.2, 0.9]),
        3.0,
        np.array([0.75, 1.05, rng.choice([-1, 5.0]), 200, 0.5, 1.6, 1.5, 1.3, 1.2]),
    ]


CASES: dict[str, Any] = {
    "mju_zero3": lambda r: [vector(r, 3)],
    "mju_copy3": lambda r: [vector(r, 3), vector(r, 3)],
    "mju_scl3": lambda r: [vector(r, 3), vector(r, 3), 1.7],
    "mju_add3": lambda r: [vector(r, 3), vector(r, 3), vector(r, 3)],
    "mju_sub3": lambda r: [vector(r, 3), vector(r, 3), vector(r, 3)],
    "mju_addTo3": lambda r: [vector(r, 3), vector(r, 3)],
    "mju_subFrom3": lambda r: [vector(r, 3), vector(r, 3)],
    "mju_addToScl3": lambda r: [vector(r, 3), vector(r, 3), -0.3],
    "mju_addScl3": lambda r: [vector(r, 3), vector(r, 3), vector(r, 3), -0.3],
    "mju_normalize3": lambda r: [r.choice([0.0, 1.0, 1e-20]) * vector(r, 3)],
    "mju_norm3": lambda r: [vector(r, 3)],
    "mju_dot3": lambda r: [vector(r, 3), vector(r, 3)],
    "mju_dist3": lambda r: [vector(r, 3), vector(r, 3)],
    "mju_mulMatVec3": lambda r: [vector(r, 3), vector(r, 9), vector(r, 3)],
    "mju_mulMatTVec3": lambda r: [vector(r, 3), vector(r, 9), vector(r, 3)],
    "mju_cross": lambda r: [vector(r, 3), vector(r, 3), vector(r, 3)],
    "mju_zero4": lambda r: [vector(r, 4)],
    "mju_unit4": lambda r: [vector(r, 4)],
    "mju_copy4": lambda r: [vector(r, 4), vector(r, 4)],
    "mju_normalize4": lambda r: [r.choice([0.0, 1.0, 1e-20]) * vector(r, 4)],
    "mju_zero": lambda r: [vector(r, 5)],
    "mju_fill": lambda r: [vector(r, 5), 2.5],
    "mju_copy": lambda r: [vector(r, 5), vector(r, 5)],
    "mju_sum": lambda r: [vector(r, 5)],
    "mju_L1": lambda r: [vector(r, 5)],
    "mju_scl": lambda r: [vector(r, 5), vector(r, 5), 1.7],
    "mju_add": lambda r: [vector(r, 5), vector(r, 5), vector(r, 5)],
    "mju_sub": lambda r: [vector(r, 5), vector(r, 5), vector(r, 5)],
    "mju_addTo": lambda r: [vector(r, 5), vector(r, 5)],
    "mju_subFrom": lambda r: [vector(r, 5), vector(r, 5)],
    "mju_addToScl": lambda r: [vector(r, 5), vector(r, 5), 1.7],
    "mju_addScl": lambda r: [vector(r, 5), vector(r, 5), vector(r, 5), 1.7],
    "mju_normalize": lambda r: [r.choice([0.0, 1.0, 1e-20]) * vector(r, 5)],
    "mju_norm": lambda r: [vector(r, 5)],
    "mju_dot": lambda r: [vector(r, 5), vector(r, 5)],
    "mju_isZero": lambda r: [r.choice([0.0, 1.0]) * vector(r, 5)],
    "mju_f2n": lambda r: [vector(r, 5), vector(r, 5).astype(np.float32)],
    "mju_n2f": lambda r: [vector(r, 5).astype(np.float32), vector(r, 5)],
    "mju_d2n": lambda r: [vector(r, 5), vector(r, 5)],
    "mju_n2d": lambda r: [vector(r, 5), vector(r, 5)],
    "mju_insertionSort": lambda r: [vector(r, 9)],
    "mju_insertionSortInt": lambda r: [r.integers(0, 5, 9).astype(np.int32)],
    "mju_rotVecQuat": lambda r: [vector(r, 3), vector(r, 3), unit(r)],
    "mju_negQuat": lambda r: [vector(r, 4), unit(r)],
    "mju_mulQuat": lambda r: [vector(r, 4), vector(r, 4), vector(r, 4)],
    "mju_mulQuatAxis": lambda r: [vector(r, 4), vector(r, 4), vector(r, 3)],
    "mju_axisAngle2Quat": lambda r: [vector(r, 4), vector(r, 3), r.choice([0.0, 2.1])],
    "mju_quat2Vel": lambda r: [vector(r, 3), r.choice([-1, 1]) * unit(r), 0.01],
    "mju_subQuat": lambda r: [vector(r, 3), unit(r), unit(r)],
    "mju_quat2Mat": lambda r: [vector(r, 9), unit(r)],
    "mju_mat2Quat": lambda r: [vector(r, 4), rotation(r)],
    "mju_mat2Rot": lambda r: [unit(r), rotation(r) + 0.1 * vector(r, 9)],
    "mju_derivQuat": lambda r: [vector(r, 4), unit(r), vector(r, 3)],
    "mju_quatIntegrate": lambda r: [unit(r), r.choice([0.0, 1.0]) * vector(r, 3), 0.3],
    "mju_quatZ2Vec": lambda r: [
        vector(r, 4),
        r.choice([0.0, 1.0]) * vector(r, 3) + [0, 0, r.choice([0, -1])],
    ],
    "mju_euler2Quat": lambda r: [vector(r, 4), vector(r, 3), str(r.choice(["xyz", "XYZ", "zxZ", "YyX"]))],
    "mju_mulPose": lambda r: [vector(r, 3), vector(r, 4), vector(r, 3), unit(r), vector(r, 3), unit(r)],
    "mju_negPose": lambda r: [vector(r, 3), vector(r, 4), vector(r, 3), unit(r)],
    "mju_trnVecPose": lambda r: [vector(r, 3), vector(r, 3), unit(r), vector(r, 3)],
    "mju_transformSpatial": lambda r: [
        *(vector(r, 6), vector(r, 6), int(r.integers(0, 2)), vector(r, 3), vector(r, 3), rotation(r))
    ],
    "mju_eig3": lambda r: [vector(r, 3), vector(r, 9), vector(r, 4), symmetric(r)],
    "mjd_subQuat": lambda r: [unit(r), unit(r), vector(r, 9), vector(r, 3, 3)],
    "mjd_quatIntegrate": lambda r: [
        vector(r, 3),
        r.choice([0.0, 1e-6, 0.3]),
        vector(r, 9),
        vector(r, 9),
        vector(r, 3),
    ],
    "mju_eye": lambda r: [vector(r, 3, 3)],
    "mju_transpose": lambda r: [vector(r, 4, 3), vector(r, 3, 4)],
    "mju_symmetrize": lambda r: [vector(r, 3, 3), vector(r, 3, 3)],
    "mju_mulMatVec": lambda r: [vector(r, 4), vector(r, 4, 3), vector(r, 3)],
    "mju_mulMatTVec": lambda r: [vector(r, 3), vector(r, 4, 3), vector(r, 4)],
    "mju_mulVecMatVec": lambda r: [vector(r, 4), vector(r, 4, 4), vector(r, 4)],
    "mju_mulMatMat": lambda r: [vector(r, 4, 2), vector(r, 4, 3), vector(r, 3, 2)],
    "mju_mulMatMatT": lambda r: [vector(r, 4, 2), vector(r, 4, 3), vector(r, 2, 3)],
    "mju_mulMatTMat": lambda r: [vector(r, 4, 2), vector(r, 3, 4), vector(r, 3, 2)],
    "mju_sqrMatTD": lambda r: [vector(r, 3, 3), vector(r, 4, 3), vector(r, 4)],
    "mju_dense2sparse": lambda r: [
        *(np.zeros(6), r.integers(0, 2, (3, 4)) * vector(r, 3, 4)),
        *(np.zeros(n, np.int32) for n in (3, 3, 6)),
    ],
    "mju_sparse2dense": lambda r: [
        *(vector(r, 2, 3), vector(r, 3)),
        *(np.array(x, np.int32) for x in ([1, 2], [0, 1], [1, 0, 2])),
    ],
    "mju_cholFactor": lambda r: [positive(r, 5) - r.choice([0.0, 2.0]) * np.eye(5), 1e-3],
    "mju_cholSolve": lambda r: [vector(r, 4), positive(r, 4), vector(r, 4)],
    "mju_cholUpdate": lambda r: [
        np.linalg.cholesky(positive(r, 4) + 3 * np.eye(4)),
        0.3 * vector(r, 4),
        int(r.integers(0, 2)),
    ],
    "mju_bandDiag": lambda r: [int(r.integers(0, 7)), *BAND],
    "mju_dense2Band": lambda r: [vector(r, BAND_SIZE), vector(r, 7, 7), *BAND],
    "mju_band2Dense": lambda r: [vector(r, 7, 7), vector(r, BAND_SIZE), *BAND, int(r.integers(0, 2))],
    "mju_bandMulMatVec": lambda r: [
        vector(r, 7),
        vector(r, BAND_SIZE),
        vector(r, 7),
        *BAND,
        1,
        int(r.integers(2)),
    ],
    "mju_cholFactorBand": lambda r: [band(r), *BAND, 0.1, 0.2],
    "mju_cholSolveBand": lambda r: [vector(r, 7), np.abs(band(r)) + 1, vector(r, 7), *BAND],
    "mju_min": lambda r: [*vector(r, 2).tolist()],
    "mju_max": lambda r: [*vector(r, 2).tolist()],
    "mju_clip": lambda r: [float(r.normal()), -0.5, 0.5],
    "mju_sign": lambda r: [float(r.choice([-2.0, 0.0, 3.0]))],
    "mju_round": lambda r: [float(r.choice([-2.5, 2.5, 0.49, -0.5, 7.0]))],
    "mju_isBad": lambda r: [float(r.choice([np.nan, np.inf, 2e10, -2e10, 1.0]))],
    "mju_sigmoid": lambda r: [float(r.normal(0.5))],
    "mju_Halton": lambda r: [int(r.integers(0, 50)), int(r.choice([2, 3, 5]))],
    "mju_springDamper": lambda r: [1.0, 0.5, float(r.choice([1.0, 4.0, 25.0])), 4.0, 0.2],
    "mju_muscleGain": lambda r: [float(r.uniform(0.1, 1.2)), float(r.normal()), *muscle(r)],
    "mju_muscleBias": lambda r: [float(r.uniform(0.1, 1.6)), *muscle(r)],
    "mju_muscleDynamics": lambda r: [
        *r.uniform(-0.2, 1.2, 2).tolist(),
        np.array([0.01, 0.04, r.choice([0.0, 0.5])]),
    ],
    "mju_encodePyramid": lambda r: [vector(r, 6), np.array([5.0, 0.3, -0.2, 0.1]), np.array([0.5, 0.4, 0.3])],
    "mju_decodePyramid": lambda r: [vector(r, 4), vector(r, 6), np.array([0.5, 0.4, 0.3])],
    "mju_writeNumBytes": lambda r: [int(r.choice([0, 5, 1024, 1025, 1 << 20, 3 << 30, 10**12]))],
}
"""Arguments of every function."""


@pytest.mark.parametrize("name", CASES)
def test_results_are_mujocos(name: str) -> None:
    for seed in range(12):
        arguments = CASES[name](np.random.default_rng(seed))
        wanted = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
        expected = getattr(mujoco, name)(*wanted)
        given = ours(name)(*arguments)
        if isinstance(expected, float):
            assert given == pytest.approx(expected, rel=1e-12, abs=1e-13), seed
        else:
            assert given == expected, seed
        for mine, theirs in zip(arguments, wanted, strict=True):
            if isinstance(theirs, np.ndarray):
                np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12, err_msg=f"seed {seed}")


@pytest.mark.parametrize("name", CASES)
def test_every_function_refuses_what_mujoco_refuses(name: str) -> None:
    """One argument too few, too many, unknown; each array with another size, type and number of axes."""
    arguments = CASES[name](np.random.default_rng(0))
    calls = [arguments[:-1], [*arguments, 1.0]]
    for place, value in enumerate(arguments):
        wrong = [3.5] if isinstance(value, str) else ["text", None]  # mujoco crashes at no text
        if isinstance(value, np.ndarray):
            wrong += [np.zeros(17), value[None], value.astype(complex), [["a"]]]
        calls += [[*arguments[:place], bad, *arguments[place + 1 :]] for bad in wrong]
    for call in calls:
        outcome = []
        for function in (getattr(mujoco, name), ours(name)):
            copies = [np.array(a) if isinstance(a, np.ndarray) else a for a in call]
            try:
                function(*copies)
                outcome.append(None)
            except Exception as problem:
                outcome.append(type(problem).__name__)
        assert outcome[0] == outcome[1], call


def test_box_qp_finds_the_minimum() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 8))
        hessian, gradient = positive(rng, n), rng.normal(size=n)
        low, high = -rng.uniform(0.01, 1, n), rng.uniform(0.01, 1, n)
        found = []
        for function in (mujoco.mju_boxQP, ours("mju_boxQP")):
            x, index = np.zeros(n), np.zeros(n, np.int32)
            free = function(x, np.zeros((n, n + 7)), index, hessian, gradient, low, high)
            found.append((x, free, index[:free]))
        np.testing.assert_allclose(found[1][0], found[0][0], atol=1e-8)
        assert found[1][1] == found[0][1]
        np.testing.assert_array_equal(found[1][2], found[0][2])


def test_a_box_without_bounds_and_one_that_is_empty() -> None:
    x = np.zeros(2)
    assert ours("mju_boxQP")(x, np.zeros((2, 9)), None, 2 * np.eye(2), [1.0, -1.0], None, None) == 2
    np.testing.assert_allclose(x, [-0.5, 0.5])
    assert ours("mju_boxQP")(x, np.zeros((2, 9)), None, np.eye(2), [1.0, 1.0], [1.0, 1.0], [0.0, 0.0]) == -1
    assert ours("mju_boxQP")(x, np.zeros((2, 9)), None, -np.eye(2), [1.0, 1.0], None, None) == -1


def test_an_error_names_the_argument_and_what_it_should_be() -> None:
    with pytest.raises(TypeError, match=r"res should be a writable, contiguous float64 array of 3 numbers"):
        ours("mju_rotVecQuat")(np.zeros(4), np.zeros(3), np.zeros(4))
    with pytest.raises(TypeError, match="it has none called q; arguments: res, vec, quat"):
        ours("mju_rotVecQuat")(np.zeros(3), np.zeros(3), quat=np.zeros(4), q=1)


class Guarded(np.ndarray):
    """An array that refuses to be written to item by item, as dm_control's are that were made like others."""

    def __setitem__(self, key: Any, value: Any) -> None:
        raise AttributeError("it was made without its owner")


def test_results_go_into_the_memory_of_an_array_whatever_its_class_does() -> None:
    for module in (ours, lambda name: getattr(mujoco, name)):
        vector, matrix = np.zeros(3).view(Guarded), np.zeros((2, 2)).view(Guarded)
        module("mju_rotVecQuat")(vector, [1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0])
        module("mju_transpose")(matrix, np.array([[1.0, 2.0], [3.0, 4.0]]))
        assert np.asarray(vector).tolist() == [-1, 0, 0]
        assert np.asarray(matrix).tolist() == [[1, 3], [2, 4]]
