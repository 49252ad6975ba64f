"""Textures give MuJoCo's pixels: images of every PNG kind, cubes from files and grids, random marks."""

from __future__ import annotations

import struct
import time

import numpy as np
import pytest
from asset_files import chunk, picture, png
from compiling import compile_text

from dovetail.errors import MJCFError

RNG = np.random.default_rng(3)
PIXELS = RNG.integers(0, 256, (12, 16, 3), dtype=np.uint8)
PALETTE = chunk(b"PLTE", bytes([10, 20, 30, 40, 50, 60, 70, 80, 90]))
KINDS = {
    "rgb": picture(PIXELS),
    "rgba": picture(RNG.integers(0, 256, (8, 8, 4), dtype=np.uint8)),
    "grey": png(7, 5, 8, 0, [RNG.bytes(7) for _ in range(5)]),
    "grey16": png(3, 2, 16, 0, [RNG.bytes(6) for _ in range(2)]),
    "rgb16": png(3, 2, 16, 2, [RNG.bytes(18) for _ in range(2)]),
    "grey_alpha": png(3, 2, 8, 4, [RNG.bytes(6) for _ in range(2)]),
    "grey1": png(8, 2, 1, 0, [b"\xa5", b"\x0f"]),
    "grey4": png(2, 2, 4, 0, [b"\x1b", b"\xe4"]),
    "palette": png(4, 2, 8, 3, [b"\0\1\2\1", b"\2\2\0\1"], PALETTE),
    "transparent": png(4, 2, 8, 3, [b"\0\1\2\1", b"\2\2\0\1"], PALETTE + chunk(b"tRNS", bytes([0, 128]))),
    "colour_key": png(2, 1, 8, 2, [bytes([1, 2, 3, 4, 5, 6])], chunk(b"tRNS", bytes([0, 1, 0, 2, 0, 3]))),
    "srgb": png(2, 1, 8, 2, [bytes([1, 2, 3, 4, 5, 6])], chunk(b"sRGB", b"\0")),
}
SQUARE, OTHER = picture(PIXELS[:, :12]), picture(PIXELS[::-1, 4:])
CUSTOM = struct.pack("<2i", 4, 3) + RNG.bytes(36)
ASSETS = {
    "grid.png": KINDS["rgb"],
    "square.png": SQUARE,
    "other.png": OTHER,
    "small.png": picture(PIXELS[:8, :8]),
    "own.bin": CUSTOM,
    "own.png": CUSTOM,
    "hidden.bin": SQUARE,
}


def scene(texture: str) -> str:
    return f'<mujoco><compiler texturedir="t"/><asset>\n<texture {texture}/></asset></mujoco>'


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_png(same_as_mujoco, kind, channels):
    name = f"{kind}{channels}.png"
    same_as_mujoco(scene(f'type="2d" file="{name}" nchannel="{channels}"'), assets={name: KINDS[kind]})


@pytest.mark.parametrize(
    "attributes",
    [
        'type="2d" file="grid.png" hflip="true"',
        'type="2d" file="grid.png" vflip="true" hflip="true" colorspace="sRGB"',
        'type="2d" file="own.bin"',
        'type="2d" file="own.png" content_type="image/vnd.mujoco.texture"',
        'type="2d" file="hidden.bin" content_type="image/png"',
        'file="square.png"',
        'type="skybox" file="square.png" vflip="true"',
        'file="grid.png" gridsize="3 4" gridlayout=".U..LFRB.D.." rgb1=".1 .2 .3"',
        'file="grid.png" gridsize="3 4" rgb1=".1 .2 .3"',
        'name="s" fileup="square.png" fileright="other.png" rgb1="1 .5 0"',
        'name="s" builtin="flat" width="4" file="missing.png"',
    ],
)
def test_flat_and_cube(same_as_mujoco, attributes):
    same_as_mujoco(scene(attributes), assets=ASSETS)


def test_ktx_is_kept_as_it_is(same_as_mujoco):
    texture = 'type="2d" file="a.ktx" nchannel="1" content_type="image/ktx"'
    same_as_mujoco(scene(texture), assets={"a.ktx": b"\xabKTX 11" + RNG.bytes(50)})


@pytest.mark.parametrize(
    "kind", ['type="2d" width="40" height="30"', 'width="20"', 'type="skybox" width="20"']
)
def test_random_marks(same_as_mujoco, kind):
    same_as_mujoco(scene(f'name="r" builtin="checker" mark="random" random=".1" markrgb="1 1 1" {kind}'))
    same_as_mujoco(scene(f'name="r" builtin="flat" nchannel="4" {kind}'))


BAD = {
    "missing": ('type="2d" file="no.png"', "file not found"),
    "content type": ('type="2d" file="own.bin" content_type="image/jpeg"', "unknown content type"),
    "neither": ('name="s" type="2d"', "neither builtin nor file"),
    "flat from faces": ('name="s" type="2d" fileup="square.png"', "neither builtin nor file"),
    "not square": ('file="grid.png"', "does not divide"),
    "uneven grid": ('file="grid.png" gridsize="2 4" gridlayout="RLUDFB.."', "does not divide"),
    "no grid": ('file="grid.png" gridsize="0 4"', "gridsize must be positive"),
    "large grid": ('file="grid.png" gridsize="5 4"', "at most 12"),
    "layout": ('file="grid.png" gridsize="3 4" gridlayout=".U..LFRX.D.."', "gridlayout has 'X'"),
    "short layout": ('file="grid.png" gridsize="3 4" gridlayout=".U.."', "4 letters for 3 × 4"),
    "face sizes": ('name="s" fileup="square.png" filedown="small.png"', "squares of one size"),
    "face shape": ('name="s" fileup="grid.png"', "squares of one size"),
    "channels": ('type="2d" file="square.png" nchannel="2"', "2 channels are impossible"),
    "own channels": ('type="2d" file="own.bin" nchannel="4"', "3 channels"),
    "no name": ('builtin="flat" width="4"', "needs a name"),
    "huge": ('name="a" builtin="flat" width="100000"', "absurdly large"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_texture(case):
    attributes, message = BAD[case]
    start = time.process_time()
    with pytest.raises(MJCFError) as caught:
        compile_text(scene(attributes), assets=ASSETS)
    assert time.process_time() - start < 1.0
    assert str(caught.value).startswith("<string>:2: <texture")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", CUSTOM[:-1], struct.pack("<2i", -4, 3) + CUSTOM[8:], struct.pack("<2i", 2**30, 2**30)]
)
def test_damaged_file_of_our_own_format(content):
    with pytest.raises(MJCFError, match=r"<string>:2: <texture"):
        compile_text(scene('type="2d" file="x.bin"'), assets={"x.bin": content})
