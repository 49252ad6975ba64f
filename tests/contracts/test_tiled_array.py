"""A tiled field behaves like the array (nworld, *shape) it stands for, and no write is lost unnoticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.contracts.arena import TiledArray, aligned_zeros

LANES, NWORLD, SHAPE = 4, 7, (3, 2)
PLAIN = np.zeros((NWORLD, *SHAPE))
Key = Any

KEYS: list[Key] = [
    0,
    -1,
    np.int64(4),
    slice(None),
    slice(1, 5),
    slice(None, None, -2),
    Ellipsis,
    [0, 3, 6],
    np.array([-1, -7, 2]),
    np.array([True, False, True, False, False, True, True]),
    (2, 1),
    (-2, -1, 0),
    (2, slice(None), 1),
    (slice(None), 1),
    (slice(None), [0, 2], 1),
    (slice(2, 6), -1, [0, 1]),
    ([0, 5], [2, 1]),
    (np.array([1, 2]), slice(None), 0),
    (Ellipsis, 0),
]


def tiled(nworld: int = NWORLD) -> tuple[Any, np.ndarray]:
    """A tiled field with distinct numbers, padding NaN, and the plain array it should equal."""
    ntile = -(-nworld // LANES)
    block = aligned_zeros((ntile, int(np.prod(SHAPE)), LANES), np.dtype(np.float64))
    block[...] = np.nan
    plain = np.arange(float(nworld * np.prod(SHAPE))).reshape(nworld, *SHAPE)
    field = TiledArray(block, nworld, SHAPE)
    field[...] = plain
    return field, plain


def test_it_has_an_arrays_attributes() -> None:
    field, plain = tiled()
    assert (field.shape, field.ndim, field.size, len(field)) == (plain.shape, 3, plain.size, NWORLD)
    assert field.dtype == plain.dtype


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_reading_by_any_index_is_numpys(key: Key) -> None:
    field, plain = tiled()
    assert np.array_equal(field[key], plain[key])


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_writing_by_any_index_is_numpys(key: Key) -> None:
    field, plain = tiled()
    value = np.random.default_rng(1).normal(size=plain[key].shape)
    field[key], plain[key] = value, value
    assert np.array_equal(field, plain)


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_adding_in_place_by_any_index_is_numpys(key: Key) -> None:
    field, plain = tiled()
    field[key] += 1.5
    plain[key] += 1.5
    assert np.array_equal(field, plain)


def test_one_world_is_a_true_view() -> None:
    field, plain = tiled()
    field[5][1, 0] = -8.0
    plain[5][1, 0] = -8.0
    assert np.array_equal(field, plain)


def test_writes_leave_padding_lanes_alone() -> None:
    field, _ = tiled()
    field += 1.0
    field[...] = 2.0
    assert np.isnan(field._block[1, :, 3]).all()


@pytest.mark.parametrize("index", [NWORLD, -NWORLD - 1])
def test_a_world_out_of_range_is_an_index_error(index: int) -> None:
    field, _ = tiled()
    with pytest.raises(IndexError, match=f"world {index} is out of range: there are 7"):
        field[index]
    with pytest.raises(IndexError):
        field[index] = 0.0


def test_iterating_gives_each_world() -> None:
    field, plain = tiled()
    assert all(np.array_equal(a, b) for a, b in zip(field, plain, strict=True))


ARITHMETIC: list[Callable[[Any], Any]] = [
    lambda x: x + 1,
    lambda x: 2 - x,
    lambda x: x * x,
    lambda x: -x,
    lambda x: x @ np.ones((2, 4)),
    lambda x: x > 3,
    lambda x: np.sin(x),
    lambda x: np.add.reduce(x, axis=1),
    lambda x: np.multiply.outer(np.ones(2), x),
    lambda x: np.concatenate([x, x]),
    lambda x: x.mean(axis=0),
    lambda x: x.sum(),
    lambda x: x.reshape(7, 6),
    lambda x: x.T,
    lambda x: np.linalg.norm(x, axis=-1),
    lambda x: np.stack(np.modf(x)),
]


@pytest.mark.parametrize("compute", ARITHMETIC)
def test_arithmetic_reductions_and_ufuncs_are_numpys(compute: Callable[[Any], Any]) -> None:
    field, plain = tiled()
    assert np.array_equal(compute(field), compute(plain))
    assert np.array_equal(field, plain)


def test_out_writes_through_and_returns_the_field() -> None:
    field, plain = tiled()
    result = np.multiply(field, 3.0, out=field)
    assert result is field
    assert np.array_equal(field, plain * 3.0)


def test_out_into_a_plain_array_and_into_several_fields() -> None:
    field, plain = tiled()
    into = np.empty_like(plain)
    assert np.add(field, 0.5, out=into) is into
    whole, _ = tiled()
    np.modf(into, out=(field, whole))
    assert np.array_equal(field, np.full_like(plain, 0.5))
    assert np.array_equal(whole, plain)


def test_unbuffered_ufunc_at_writes_through() -> None:
    field, plain = tiled()
    np.add.at(field, [1, 1, 6], 10.0)
    np.add.at(plain, [1, 1, 6], 10.0)
    assert np.array_equal(field, plain)


def test_in_place_operators_keep_the_object() -> None:
    field, plain = tiled()
    same = field
    field *= 2.0
    assert same is field
    assert np.array_equal(field, plain * 2.0)


@pytest.mark.parametrize("key", [k for k in KEYS if np.shares_memory(PLAIN[k], PLAIN)], ids=repr)
def test_what_is_a_view_in_numpy_is_a_view_here(key: Key) -> None:
    field, plain = tiled()
    part, plain_part = field[key], plain[key]
    part[...] = -3.0
    plain_part[...] = -3.0
    part *= 2.0
    plain_part *= 2.0
    part[..., :1] += 7.0
    plain_part[..., :1] += 7.0
    assert part.shape == plain_part.shape
    assert np.array_equal(field, plain)


@pytest.mark.parametrize(
    "key", [k for k in KEYS if PLAIN[k].ndim and not np.shares_memory(PLAIN[k], PLAIN)], ids=repr
)
def test_what_is_a_copy_in_numpy_is_a_copy_here(key: Key) -> None:
    field, plain = tiled()
    field[key][...] = -3.0
    assert np.array_equal(field, plain)


def test_slices_of_slices_write_through_and_single_numbers_are_numbers() -> None:
    field, plain = tiled()
    field[1:6][::2, 1][0, 1:] = 50.0
    plain[1:6][::2, 1][0, 1:] = 50.0
    assert np.array_equal(field, plain)
    assert isinstance(field[1:6][0, 1, 1], float)
    assert isinstance(field[2, 1, 1], float)


@pytest.mark.parametrize("lose", [lambda x: x[1:4].fill(0.0), lambda x: x.sort(), lambda x: x.T.fill(1.0)])
def test_a_write_that_would_be_lost_raises(lose: Callable[[Any], None]) -> None:
    field, plain = tiled()
    with pytest.raises(ValueError, match="read-only"):
        lose(field)
    assert np.array_equal(field, plain)


def test_a_copy_to_work_on_is_writable_and_apart() -> None:
    field, plain = tiled()
    for copy in (np.array(field), field.copy(), field + 0, field[:].copy()):
        copy[...] = -1.0
    assert np.array_equal(field, plain)


@pytest.mark.skipif(np.__version__ < "2", reason="before NumPy 2, copy=False meant: copy only if needed")
def test_a_view_of_all_worlds_is_refused_when_demanded() -> None:
    field, _ = tiled()
    with pytest.raises(ValueError, match="without a copy"):
        np.array(field, copy=False)


def test_conversion_to_another_dtype() -> None:
    field, plain = tiled()
    assert np.asarray(field, np.float32).dtype == np.float32
    assert np.array_equal(np.asarray(field, np.float32), plain)


def test_it_shows_its_numbers() -> None:
    field, plain = tiled(2)
    assert repr(field) == f"TiledArray({plain!r})"


def test_unknown_attributes_are_attribute_errors() -> None:
    field, _ = tiled()
    with pytest.raises(AttributeError):
        field.no_such_method()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 13), st.data())
def test_scatter_and_gather_are_inverse_for_any_number_of_worlds(nworld: int, data: st.DataObject) -> None:
    field, plain = tiled(nworld)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=nworld, max_size=nworld)))
    field[mask] = -plain[mask]
    plain[mask] *= -1
    assert np.array_equal(field, plain)
