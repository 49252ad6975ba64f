"""Damaged files of other kinds: meshes and images in a model, states, saved Models, configuration.

Here MuJoCo is asked only about meshes and images, and only for the record: what counts is that dovetail takes the
file or refuses it with an error of its own, in the limits of time and memory.
"""

from __future__ import annotations

import functools
import io
import struct
from pathlib import Path
from random import Random
from typing import Any

import attrs
import numpy as np

from . import mutate
from .documents import Document
from .judge import FAILURE, Judge, Verdict, place, words
from .worker import Answer

KINDS = ("obj", "stl", "msh", "png", "state", "model", "config")

_MESH = """<mujoco>
  <asset><mesh name="m" file="m.{}"/></asset>
  <worldbody><body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody>
</mujoco>"""
_IMAGE = """<mujoco>
  <asset><texture name="t" type="2d" file="t.png"/><material name="m" texture="t"/></asset>
  <worldbody><geom size="1" material="m"/></worldbody>
</mujoco>"""

_POINTS = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
_FACES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)]
_FACES += [(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]

_TOML = b"""backend = "numpy"
precision = "f64"
threads = 2
keep = ["sensordata"]
on_nan = "reset"

[stages]
integrate = "euler@numpy"
"passive_force:spring" = "@numpy"
"""


def _obj() -> bytes:
    lines = [f"v {x} {y} {z}" for x, y, z in _POINTS] + ["vn 0 0 1", "vt 0 0"]
    return "\n".join(lines + [f"f {a + 1}/1/1 {b + 1}//1 {c + 1}" for a, b, c in _FACES]).encode()


def _stl() -> bytes:
    body = b"".join(
        struct.pack("<12fH", 0, 0, 1, *(v for corner in face for v in _POINTS[corner]), 0) for face in _FACES
    )
    return b"solid".ljust(80) + struct.pack("<I", len(_FACES)) + body


def _msh() -> bytes:
    points = struct.pack(f"<{3 * len(_POINTS)}f", *(v for point in _POINTS for v in point))
    faces = struct.pack(f"<{3 * len(_FACES)}i", *(i for face in _FACES for i in face))
    return struct.pack("<4i", len(_POINTS), 0, 0, len(_FACES)) + points + faces


def _png() -> bytes:
    from PIL import Image

    image, stream = Image.new("RGB", (4, 4), (10, 200, 30)), io.BytesIO()
    image.save(stream, "png")
    return stream.getvalue()


_WHOLE = {"obj": _obj, "stl": _stl, "msh": _msh, "png": _png}


@functools.cache
def whole(kind: str) -> bytes:
    """A file that is well."""
    return _WHOLE[kind]()


# ---- damage that gets further than a checksum


def damaged(kind: str, content: bytes, random: Random) -> bytes:
    """A file with other bytes, or one that is well made of the wrong things."""
    if kind == "config" and random.random() < 0.6:
        return _strange_settings(random)
    if kind in ("state", "model") and random.random() < 0.7:
        return _strange_arrays(content, random)
    return mutate.damaged_bytes(content, random)


_KEYS = [
    "backend",
    "precision",
    "threads",
    "keep",
    "plugins",
    "lanes",
    "runtime",
    "arch",
    "on_nan",
    "stages",
    "tool",
    "stages.integrate",
    "x",
]
_VALUES = ["1", "-1", "0", "2.5", "true", '"numpy"', '"taichi"', '""', "[]", '["qpos"]', "{}", "inf", "nan"]
_VALUES += ['"rk4@numpy"', '"@"', "[[[]]]", "{a = 1}", "9" * 30, '"f32"', "0x10", "1979-05-27", '"é"']


def _strange_settings(random: Random) -> bytes:
    lines = [f"{random.choice(_KEYS)} = {random.choice(_VALUES)}" for _ in range(random.randint(1, 3))]
    if random.random() < 0.5:
        lines.append(random.choice(("[stages]", "[tool.dovetail]", "[[stages]]", "[stages.integrate]")))
        lines.append(f"{random.choice(_KEYS)} = {random.choice(_VALUES)}")
    return "\n".join(lines).encode()


def _strange_arrays(content: bytes, random: Random) -> bytes:
    """An archive with one or two of its arrays changed, left out or added."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for _ in range(random.randint(1, 2)):
        name = random.choice(sorted(arrays))
        arrays[name] = _changed(arrays[name], random)
        if random.random() < 0.1:
            del arrays[name]
        if random.random() < 0.1:
            arrays["strange"] = np.zeros(3)
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def _changed(array: Any, random: Random) -> Any:
    """The array with other numbers, of another shape, or of another type."""
    kind = random.randrange(8)
    if not array.size or kind == 4:
        return np.zeros((0, 3)) if array.size else np.zeros(1)
    flat = array.reshape(-1)
    if kind == 1:
        return np.concatenate([flat, flat[:1]])
    if kind == 2:
        return flat[:-1]
    if kind == 3:
        types = ("float32", "int8", "bool", "complex128") if array.dtype.kind in "fiub" else ("S4",)
        return array.astype(random.choice(types))
    if kind == 5:
        return np.full(array.shape, _number_for(array.dtype, random), array.dtype)
    flat = flat.copy()
    flat[random.randrange(flat.size)] = _number_for(flat.dtype, random)
    return flat.reshape(array.shape)


def _number_for(dtype: Any, random: Random) -> Any:
    if dtype.kind == "f":
        return random.choice((np.nan, np.inf, -1.0, 1e30, 0.0))
    if dtype.kind in "iu":
        most = np.iinfo(dtype)
        return random.choice((most.max, most.min, 1, 0, most.max // 2))
    return np.zeros(1, dtype)[0]


@attrs.define
class OtherFiles:
    """Judges damaged files; the whole ones of dovetail's own formats are written by dovetail."""

    judge: Judge
    made: dict[str, Any] = attrs.field(factory=dict)

    def verdict(self, seed: int, number: int) -> tuple[Verdict, str, bytes]:
        """The verdict on the file of that number, its kind and its bytes."""
        random = Random(f"file {seed} {number}")
        kind = random.choice(KINDS)
        content = damaged(kind, self.whole(kind), random)
        return self.of(kind, content), kind, content

    def whole(self, kind: str) -> bytes:
        if kind == "config":
            return _TOML
        return whole(kind) if kind in _WHOLE else self._made()[kind]

    def of(self, kind: str, content: bytes) -> Verdict:
        if kind in _WHOLE:
            return self.judge.verdict(model_with(kind, content))
        path = self.judge.folder / {"state": "s.npz", "model": "m.npz", "config": "c.toml"}[kind]
        path.write_bytes(content)
        extra = [self._made()["pendulum"]] if kind == "state" else []
        answer = self.judge.ours.ask(kind, str(path), *extra)
        if "failed" in answer:  # once more, alone: memory of earlier files may have been the reason
            self.judge.ours.close()
            answer = self.judge.ours.ask(kind, str(path), *extra)
        return _alone(answer)

    def _made(self) -> dict[str, Any]:
        if not self.made:
            answer = self.judge.ours.ask("make", str(self.judge.folder))
            self.made = {"pendulum": answer["model"]}
            for kind in ("state", "model"):
                self.made[kind] = Path(self.judge.folder / f"{kind}.npz").read_bytes()
        return self.made


def model_with(kind: str, content: bytes) -> Document:
    """A model that uses a mesh or an image."""
    if kind == "png":
        return Document(_IMAGE.encode(), {"over/here/t.png": content}, "a damaged png")
    return Document(_MESH.format(kind).encode(), {f"over/here/m.{kind}": content}, f"a damaged {kind}")


def _alone(answer: Answer) -> Verdict:
    if "failed" in answer:
        return Verdict(answer["failed"], place(answer), words(answer), "")
    return Verdict("both refuse" if "refused" in answer else "same", "", answer.get("refused", ""), "")


def bad(verdict: Verdict) -> bool:
    """Whether a damaged file did what none may do."""
    return verdict.kind in FAILURE
