"""The arena: aligned buffers, fields at fixed offsets, views that share memory."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail import Model
from dovetail.contracts.arena import ALIGNMENT, Arena, ArenaLayout, aligned_zeros
from dovetail.contracts.types import DATA_SPECS, Data
from dovetail.errors import CapacityError


def base(view: np.ndarray) -> int:
    return int(view.__array_interface__["data"][0])


@pytest.mark.parametrize(("nworld", "lanes", "precision"), [(None, 1, "f64"), (5, 8, "f64"), (20, 16, "f32")])
def test_every_buffer_starts_at_a_cache_line(
    pendulum: Model, nworld: int, lanes: int, precision: str
) -> None:
    data = dovetail.make_data(pendulum, nworld, lanes=lanes, precision=precision)
    for buffer in (*data.arena.buffers.values(), *pendulum.buffers.values()):
        assert base(buffer) % ALIGNMENT == 0 or not buffer.size


def test_copies_are_aligned_too(pendulum: Model) -> None:
    clone = dovetail.make_data(pendulum).copy()
    assert all(base(b) % ALIGNMENT == 0 for b in clone.arena.buffers.values() if b.size)


def test_alignment_holds_for_any_size() -> None:
    for count in range(1, 70):
        assert base(aligned_zeros((count,), np.dtype(np.float32))) % ALIGNMENT == 0


def test_fields_of_a_dtype_fill_their_buffer_without_gap_or_overlap(zoo: Model) -> None:
    layout = dovetail.make_data(zoo).arena.layout
    rows = dict.fromkeys(layout.rows, 0)
    for place in layout.places.values():
        assert place.offset == rows[place.dtype]
        rows[place.dtype] += place.count
    assert rows == layout.rows


def test_a_field_is_the_arena_at_its_offset(zoo: Model) -> None:
    data = dovetail.make_data(zoo)
    place = data.arena.layout.places["xpos"]
    data.arena.buffers["real"][0, place.offset + 4, 0] = 7.5
    assert data.xpos[1, 1] == 7.5
    data.xpos[2, 0] = -1.0
    assert data.arena.buffers["real"][0, place.offset + 6, 0] == -1.0


def test_one_world_has_ordinary_contiguous_arrays(zoo: Model) -> None:
    data = dovetail.make_data(zoo)
    for name, view in data.fields():
        assert isinstance(view, np.ndarray), name
        assert view.flags.c_contiguous, name
        assert (
            np.shares_memory(view, data.arena.buffers[data.arena.layout.places[name].dtype]) or not view.size
        )


def test_worlds_of_a_tile_stand_side_by_side(zoo: Model) -> None:
    data = dovetail.make_data(zoo, 11, lanes=8)
    data.world(9).qvel[3] = 5.0
    place = data.arena.layout.places["qvel"]
    assert data.arena.buffers["real"].shape[0::2] == (2, 8)
    assert data.arena.buffers["real"][1, place.offset + 3, 1] == 5.0


def test_without_tiles_a_batch_is_a_plain_view(zoo: Model) -> None:
    data = dovetail.make_data(zoo, 3)
    assert isinstance(data.xpos, np.ndarray)
    assert data.xpos.shape == (3, zoo.nbody, 3)
    data.xpos[1, 2] = 4.0
    assert data.world(1).xpos[2].tolist() == [4.0, 4.0, 4.0]


def test_the_model_has_one_packed_buffer_per_dtype(zoo: Model) -> None:
    zoo.geom_friction[1, 0] = 0.123
    assert 0.123 in zoo.buffers["float64"]
    assert all(b.ndim == 1 for b in zoo.buffers.values())


def test_single_precision_makes_real_fields_float32_only(zoo: Model) -> None:
    data = dovetail.make_data(zoo, precision="f32")
    assert data.qpos.dtype == np.float32
    assert {np.asarray(data.field(n)).dtype.name for n, s in DATA_SPECS.items() if s.dtype == "int32"} == {
        "int32"
    }


def test_a_precision_that_does_not_exist_is_refused(zoo: Model) -> None:
    with pytest.raises(dovetail.DovetailError, match=r"precision = 'f16' should be one of \('f64', 'f32'\)"):
        dovetail.make_data(zoo, precision="f16")


def test_memory_beyond_max_bytes_is_refused_before_it_is_allocated(zoo: Model) -> None:
    with pytest.raises(CapacityError, match=r"needs [\d,.]+ MiB for 8000000 world.*max_bytes=1048576.*raise"):
        dovetail.make_data(zoo, 8_000_000, max_bytes=1 << 20)


def test_layout_and_allocation_agree_on_bytes(zoo: Model) -> None:
    data = dovetail.make_data(zoo, 5, lanes=8)
    layout = ArenaLayout.of((s for s in DATA_SPECS.values() if s.name in data), data.sizes)
    again = Arena.allocate(layout, ntile=1, lanes=8)
    assert again.nbytes <= data.arena.nbytes  # Data has the plugins' own fields besides


@pytest.mark.parametrize("nworld", [0, -3])
def test_a_batch_has_at_least_one_world(zoo: Model, nworld: int) -> None:
    with pytest.raises(dovetail.DovetailError, match="should be at least 1, or None"):
        dovetail.make_data(zoo, nworld)


def test_padding_lanes_hold_initial_values_not_zeros(zoo: Model) -> None:
    data = dovetail.make_data(zoo, 3, lanes=8)
    lanes = data.arena.block(data.arena.layout.places["qpos"])
    assert np.array_equal(lanes[0].T, np.tile(zoo.qpos0, (8, 1)))


def test_a_world_number_outside_the_batch_is_an_error(zoo: Model) -> None:
    data: Data = dovetail.make_data(zoo, 3)
    with pytest.raises(IndexError, match="world 3 is out of range: there are 3"):
        data.world(3)
    with pytest.raises(IndexError, match="there is no world 1"):
        dovetail.make_data(zoo).world(1)
