"""Saved states and models that are none, are cut or altered, or grow when they are unpacked."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .case import Build, Table

CASES = Table("archive")
MODEL = """<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody>
<actuator><motor joint='j'/></actuator></mujoco>"""

Alter = Callable[[dict[str, bytes]], dict[str, bytes]]


def packed(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array), allow_pickle=True)
    return stream.getvalue()


def described(text: str, data: bytes = b"") -> bytes:
    """An array with a description of one's own."""
    head = text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


def _saved(what: str) -> tuple[bytes, Callable[[], Any]]:
    import dovetail

    model = dovetail.loads(MODEL)
    if what == "model":
        model.save("a.npz")
        return Path("a.npz").read_bytes(), lambda: dovetail.load_model("a.npz")
    data = dovetail.make_data(model)
    data.save("a.npz")
    return Path("a.npz").read_bytes(), lambda: data.load("a.npz")


def altered(alter: Alter, what: str = "state", compression: int = zipfile.ZIP_STORED) -> Build:
    def build(folder: Path) -> Any:
        content, call = _saved(what)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        Path("a.npz").write_bytes(packed(alter(members), compression))
        return call

    return build


def whole(change: Callable[[bytes], bytes], what: str = "state") -> Build:
    def build(folder: Path) -> Any:
        content, call = _saved(what)
        Path("a.npz").write_bytes(change(content))
        return call

    return build


def header(**changes: Any) -> Alter:
    """Other entries in the header; `None` takes one away."""

    def alter(members: dict[str, bytes]) -> dict[str, bytes]:
        told = json.loads(bytes(np.load(io.BytesIO(members["header.npy"]))))
        told.update(changes)
        told = {key: value for key, value in told.items() if value is not None}
        return {**members, "header.npy": npy(np.frombuffer(json.dumps(told).encode(), np.uint8))}

    return alter


def text_header(text: bytes) -> Alter:
    return lambda members: {**members, "header.npy": npy(np.frombuffer(text, np.uint8))}


def both(name: str, fragment: str, alter: Alter, error: str = "FileFormatError", **options: Any) -> None:
    for what in ("state", "model"):
        CASES.add(f"{what}: {name}", error, fragment, altered(alter, what, **options))


def content(name: str, change: Callable[[bytes], bytes]) -> None:
    for what in ("state", "model"):
        CASES.add(f"{what}: {name}", "FileFormatError", "", whole(change, what))


content("empty", lambda old: b"")
content("half of it", lambda old: old[: len(old) // 2])
content("without its end", lambda old: old[:-30])
content("text", lambda old: b"hello")
content("a pickle", lambda old: b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94.")
content("a single array", lambda old: npy(np.zeros(3)))
content("a zip file of 60,000 empty members", lambda old: packed({f"m{i}": b"" for i in range(60_000)}))
content("bytes that are no zip file, with a zip file's end", lambda old: b"x" * 100 + old[-22:])
content("inside another zip file", lambda old: packed({"a.npz": old}))

ZEROS = described("{'descr': '<f8', 'fortran_order': False, 'shape': (200000000,), }", bytes(8))
both(
    "an array that unpacks to 96 MB",
    "unpack to",
    lambda m: {**m, "qpos.npy": npy(np.zeros(12_000_000))},
    compression=zipfile.ZIP_DEFLATED,
)
both(
    "a header that unpacks to 96 MB",
    "header",
    lambda m: {**m, "header.npy": npy(np.zeros(100_000_000, np.uint8))},
    compression=zipfile.ZIP_DEFLATED,
)
both("an array that says it has 1.6 GB", "bytes for its shape", lambda m: {**m, "qpos.npy": ZEROS})
both(
    "an array with a negative shape",
    "",
    lambda m: {**m, "qpos.npy": described("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }")},
)
both(
    "an array of 2^100 numbers",
    "",
    lambda m: {
        **m,
        "qpos.npy": described(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({2**100},), }}"),
    },
)
both("an array with a description of 60 kB", "", lambda m: {**m, "qpos.npy": described("(" * 60_000)})
both("an array with a deep description", "", lambda m: {**m, "qpos.npy": described("[" * 9_000)})
both("an array of Python objects", "not numbers", lambda m: {**m, "qpos.npy": npy(np.array([{}], object))})
both("an array of texts", "not numbers", lambda m: {**m, "qpos.npy": npy(np.array(["a"]))})
both("an array of records", "", lambda m: {**m, "qpos.npy": npy(np.zeros(1, [("a", "f8")]))})
both("an array of complex numbers", "not numbers", lambda m: {**m, "qpos.npy": npy(np.zeros(1, complex))})
both("no header", "", lambda m: {k: v for k, v in m.items() if k != "header.npy"})
both("a header that is no JSON", "", text_header(b"{"))
both("a header that is a list", "format", text_header(b"[]"))
both("a header of 100,000 brackets", "", text_header(b"[" * 100_000))
both("a header with a number of 100,000 digits", "", text_header(b'{"format": ' + b"9" * 100_000 + b"}"))
both("a header of another format", "format", header(format="other"))
both("a header without a format", "format", header(format=None))
both("a header that is no text", "", text_header(bytes(range(128, 200))))
for key, value in {
    "implementations": 5,
    "model": 5,
    "nworld": "x",
    "precision": [],
    "modelname": None,
}.items():
    kind = "FileFormatError" if key == "implementations" else "" if key == "modelname" else "ValidationError"
    CASES.add(f"state: header with {key} = {value!r}", kind, "", altered(header(**{key: value})))
CASES.add(
    "state: header with implementations that are no texts",
    "FileFormatError",
    "",
    altered(header(implementations={"a": 5})),
)
CASES.add("state: a state of another model", "ValidationError", "model", altered(header(model="0" * 16)))
CASES.add("state: 5000 worlds", "ValidationError", "nworld", altered(header(nworld=5000)))
CASES.add(
    "state: another shape", "ValidationError", "qpos", altered(lambda m: {**m, "qpos.npy": npy(np.zeros(7))})
)
CASES.add(
    "state: another type",
    "ValidationError",
    "qpos",
    altered(lambda m: {**m, "qpos.npy": npy(np.zeros(1, np.int32))}),
)
CASES.add(
    "state: an unknown field",
    "ValidationError",
    "nonsense",
    altered(lambda m: {**m, "nonsense.npy": npy(np.zeros(1))}),
)
CASES.add(
    "state: 9,000 unknown fields",
    "ValidationError",
    "more",
    altered(lambda m: {**m, **{f"x{i}.npy": npy(np.zeros(1)) for i in range(9000)}}),
)
for key, value in {
    "sizes": 5,
    "names": [],
    "modelname": 5,
    "source": None,
    "stages": 5,
    "fields": 5,
    "digest": "x",
}.items():
    CASES.add(
        f"model: header with {key} = {value!r}",
        "FileFormatError",
        "",
        altered(header(**{key: value}), "model"),
    )
CASES.add(
    "model: sizes of 2^62",
    "FileFormatError",
    "",
    altered(header(sizes=dict.fromkeys(["nq", "nv"], 2**62)), "model"),
)
CASES.add(
    "model: an altered number",
    "FileFormatError",
    "digest",
    altered(lambda m: {**m, "body_mass.npy": npy(np.array([0.0, 2.0]))}, "model"),
)
