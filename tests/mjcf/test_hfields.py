"""Height fields give MuJoCo's values: PNG images, files of numbers, written elevations, and geoms."""

from __future__ import annotations

import struct
import time

import numpy as np
import pytest
from asset_files import picture, png
from compiling import compile_text

from dovetail.errors import MJCFError

RNG = np.random.default_rng(3)
ELEVATION = 'nrow="2" ncol="3" elevation="1 2 3 4 5 6"'
GEOM = 'type="hfield" hfield="h" pos="1 2 3" euler="10 0 0"'
SAMPLES = struct.pack("<2i", 3, 4) + RNG.normal(size=12).astype("<f4").tobytes()
FILES = {
    "grey.png": png(7, 5, 8, 0, [RNG.bytes(7) for _ in range(5)]),
    "grey16.png": png(3, 2, 16, 0, [RNG.bytes(6) for _ in range(2)]),
    "bits.png": png(8, 2, 1, 0, [b"\xa5", b"\x0f"]),
    "colour.png": picture(RNG.integers(0, 256, (4, 6, 3), dtype=np.uint8)),
    "samples.bin": SAMPLES,
}


def scene(hfield: str, geom: str = GEOM) -> str:
    asset = f'<asset>\n<hfield name="h" size="1 2 .5 .1" {hfield}/></asset>'
    body = f"<body><freejoint/><geom {geom}/></body>"
    return f"<mujoco>{asset}<worldbody>\n<geom {geom}/>{body}</worldbody></mujoco>"


@pytest.mark.parametrize(
    "attributes",
    [ELEVATION, 'nrow="2" ncol="3"', 'nrow="2" ncol="2" elevation="5 5 5 5"', 'nrow="1" ncol="1"'],
)
def test_written_elevations(same_as_mujoco, attributes):
    same_as_mujoco(scene(attributes))


@pytest.mark.parametrize("name", FILES)
def test_files(same_as_mujoco, name):
    same_as_mujoco(scene(f'file="{name}"'), assets={name: FILES[name]})
    same_as_mujoco(scene(f'file="{name}" {ELEVATION}'), assets={name: FILES[name]})


def test_content_type_and_name_from_the_file(same_as_mujoco):
    same_as_mujoco(
        '<mujoco><compiler meshdir="d"/><asset><hfield file="x/hill.bin" content_type="image/png" size="1 1 1 1"/>'
        '</asset><worldbody><geom type="hfield" hfield="hill"/></worldbody></mujoco>',
        assets={"hill.bin": FILES["grey.png"]},
    )


@pytest.mark.parametrize("extra", ['mass="3"', 'shellinertia="true"', 'density="7" size="9"'])
def test_geom_weighs_like_a_box(same_as_mujoco, extra):
    same_as_mujoco(scene(ELEVATION, f"{GEOM} {extra}"))


BAD = {
    "nothing": ("", GEOM, 2, "needs file"),
    "one size": ('nrow="2"', GEOM, 2, "needs file"),
    "wrong length": ('nrow="2" ncol="2" elevation="1 2 3"', GEOM, 2, "3 numbers for 2 rows"),
    "huge": ('nrow="40000" ncol="40000"', GEOM, 2, "the most is"),
    "unknown": (ELEVATION, 'type="hfield" hfield="q"', 3, "unknown hfield 'q'"),
    "another type": (ELEVATION, 'type="box" size="1 1 1" hfield="h"', 3, "belong together"),
    "no hfield": (ELEVATION, 'type="hfield"', 3, "belong together"),
    "missing file": ('file="no.png"', GEOM, 2, "file not found"),
    "content type": ('file="no.png" content_type="image/jpeg"', GEOM, 2, "unknown content type"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_hfield(case):
    attributes, geom, line, message = BAD[case]
    with pytest.raises(MJCFError) as caught:
        compile_text(scene(attributes, geom))
    assert str(caught.value).startswith(f"<string>:{line}: <")
    assert message in str(caught.value)


def test_size_must_be_positive():
    with pytest.raises(MJCFError, match="four positive numbers"):
        compile_text('<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 0 1"/></asset></mujoco>')


DAMAGED = {
    "h.bin": {
        "empty": (b"", "too short"),
        "short": (SAMPLES[:-1], "should have 56 bytes"),
        "negative": (struct.pack("<2i", -3, -4) + SAMPLES[8:], "needs at least one"),
        "huge": (struct.pack("<2i", 2**30, 2**30) + SAMPLES[8:], "the most is"),
        "not finite": (struct.pack("<2i2f", 1, 2, np.nan, 1), "not a finite number"),
    },
    "h.png": {
        "empty": (b"", "is no PNG"),
        "jpeg": (b"\xff\xd8\xff\xe0" + bytes(100), "is no PNG"),
        "truncated": (FILES["grey.png"][:-20], "truncated"),
        "wrong checksum": (FILES["grey.png"].replace(b"IDAT", b"IDBT"), "checksum"),
        "huge": (png(40000, 40000, 8, 0, [b"\0"]), "has 40000 × 40000 pixels"),
        "too little data": (png(100, 100, 8, 0, [b"\0"]), "cannot be decoded"),
    },
}


@pytest.mark.parametrize(
    ("file", "case"), [(file, case) for file, cases in DAMAGED.items() for case in cases]
)
def test_damaged_file(file, case):
    content, message = DAMAGED[file][case]
    start = time.process_time()
    with pytest.raises(MJCFError) as caught:
        compile_text(scene(f'file="{file}"'), assets={file: content})
    assert time.process_time() - start < 1.0
    assert str(caught.value).startswith("<string>:2: <hfield")
    assert message in str(caught.value)
