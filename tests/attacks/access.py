"""Paths to what is no file, is not there, may not be read, never ends, or lies outside."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .case import Build, Table

CASES = Table("access")
PART = "<mujoco><worldbody><geom size='1'/></worldbody></mujoco>"

Opener = Callable[[Any, Path], Callable[[], Any]]


def _load(path: Any, folder: Path) -> Callable[[], Any]:
    import dovetail

    return lambda: dovetail.load(path)


def _include(path: Any, folder: Path) -> Callable[[], Any]:
    import dovetail

    return lambda: dovetail.loads(f"<mujoco><include file='{path}'/></mujoco>")


def _texture(path: Any, folder: Path) -> Callable[[], Any]:
    import dovetail

    xml = f"<mujoco><asset><texture name='t' type='2d' file='{path}' content_type='image/png'/></asset></mujoco>"
    return lambda: dovetail.loads(xml)


def _attach(path: Any, folder: Path) -> Callable[[], Any]:
    import dovetail

    return lambda: dovetail.loads(f"<mujoco><asset><model name='m' file='{path}'/></asset></mujoco>")


def _load_model(path: Any, folder: Path) -> Callable[[], Any]:
    import dovetail

    return lambda: dovetail.load_model(path)


def _load_state(path: Any, folder: Path) -> Callable[[], Any]:
    import dovetail

    data = dovetail.make_data(dovetail.loads(PART))
    return lambda: data.load(path)


def _save_state(path: Any, folder: Path) -> Callable[[], Any]:
    import dovetail

    data = dovetail.make_data(dovetail.loads(PART))
    return lambda: data.save(path)


def _save_model(path: Any, folder: Path) -> Callable[[], Any]:
    import dovetail

    return dovetail.loads(PART).save if path is None else lambda: dovetail.loads(PART).save(path)


def _history(path: Any, folder: Path) -> Callable[[], Any]:
    from dovetail.bench.results import read_history

    return lambda: read_history(path)


def _config(path: Any, folder: Path) -> Callable[[], Any]:
    from dovetail import Config

    return lambda: Config.of_file(path)


READERS: dict[str, tuple[Opener, str]] = {
    "load": (_load, "MJCFError"),
    "include": (_include, "MJCFError"),
    "texture": (_texture, "MJCFError"),
    "attach": (_attach, "MJCFError"),
    "load_model": (_load_model, "FileFormatError"),
    "Data.load": (_load_state, "FileFormatError"),
    "read_history": (_history, "FileError"),
    "Config.of_file": (_config, "ConfigError"),
}


def _made(make: Callable[[Path], Any], entry: Opener) -> Build:
    return lambda folder: entry(make(folder), folder)


def _fifo(folder: Path) -> str:
    os.mkfifo(folder / "pipe")
    return "pipe"


def _socket(folder: Path) -> str:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
    return "socket"


def _closed(folder: Path) -> str:
    """A file that may not be read: of somebody else, if this runs as one who may read everything."""
    (folder / "closed").write_text(PART)
    (folder / "closed").chmod(0)
    if os.geteuid() == 0:
        folder.chmod(0o777)
        os.setegid(65534)
        os.seteuid(65534)
    return "closed"


def _loop(folder: Path) -> str:
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    return "a"


def _sparse(folder: Path) -> str:
    """A file of 100 GB that takes no room."""
    with open(folder / "sparse", "wb") as stream:
        stream.truncate(100 << 30)
    return "sparse"


def _through_file(folder: Path) -> str:
    (folder / "f").write_text("")
    return "f/g"


PLACES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a device without end": (lambda folder: "/dev/zero", "device"),
    "a pipe nobody writes to": (_fifo, "pipe"),
    "a socket": (_socket, "socket"),
    "a directory": (lambda folder: ".", "is a directory"),
    "a file that may not be read": (_closed, "permission denied"),
    "a loop of links": (_loop, "circle"),
    "a name of 10,000 letters": (lambda folder: "n" * 10_000, ""),
    "a path through a file": (_through_file, "no"),
    "100 GB": (_sparse, ""),
}
for place, (make, fragment) in PLACES.items():
    for reader, (entry, error) in READERS.items():
        CASES.add(f"{reader} of {place}", error, fragment, _made(make, entry))
for reader, (entry, error) in READERS.items():
    if reader not in ("include", "texture", "attach"):
        kind = "FileError" if reader in ("load", "read_history", "Config.of_file") else error
        CASES.add(f"{reader} of a NUL character", kind, "NUL", _made(lambda folder: "a\0b", entry))
for writer, entry in {"Data.save": _save_state, "Model.save": _save_model}.items():
    CASES.add(
        f"{writer} into a missing folder", "FileError", "no such file", _made(lambda f: "no/a.npz", entry)
    )
    CASES.add(f"{writer} onto a directory", "FileError", "directory", _made(lambda f: str(f), entry))
    CASES.add(f"{writer} with a NUL character", "FileError", "NUL", _made(lambda f: "a\0b", entry))
    CASES.add(
        f"{writer} with a name of 10,000 letters",
        "FileError",
        "too long",
        _made(lambda f: "n" * 10_000, entry),
    )
    CASES.add(f"{writer} to nothing", "ArgumentError", "path", _made(lambda f: 5, entry))

# The jail: the same words for what exists and what does not


def _jailed(file: str, kind: str = "include") -> Build:
    def build(folder: Path) -> Any:
        import dovetail

        root = folder / "root"
        root.mkdir()
        (folder / "secret.xml").write_text(PART)
        (folder / "beside").mkdir()
        (root / "link").symlink_to(folder)
        (root / "gone").symlink_to(folder / "nothing.xml")
        (root / "direct").symlink_to(folder / "secret.xml")
        (root / "ok.xml").write_text(PART)
        inner = {
            "include": f"<include file='{file}'/>",
            "mesh": f"<asset><mesh file='{file}' content_type='model/obj'/></asset>",
            "texture": f"<asset><texture name='t' type='2d' file='{file}' content_type='image/png'/></asset>",
            "attach": f"<asset><model name='m' file='{file}'/></asset>",
        }[kind]
        xml = f"<mujoco>{inner}</mujoco>"
        (root / "main.xml").write_text(xml)
        if kind == "texture":
            return lambda: dovetail.load(root / "main.xml", asset_root=root)
        return lambda: dovetail.loads(xml, asset_root=root)

    return build


OUTSIDE = {
    "a file above": "../secret.xml",
    "a missing file above": "../missing.xml",
    "an absolute path": "/etc/passwd",
    "an absolute path to nothing": "/etc/nothing-at-all",
    "a link to a folder outside": "link/secret.xml",
    "a link to a folder outside, and nothing there": "link/missing.xml",
    "a link to a file outside": "direct",
    "a link to nothing outside": "gone",
    "a directory outside": "..",
}
for name, file in OUTSIDE.items():
    for kind in ("include", "attach", "texture"):
        CASES.add(f"jail: {kind} of {name}", "MJCFError", "is outside asset_root", _jailed(file, kind))
for name in ("beside", "missing"):  # whether there is such a folder makes no difference
    CASES.add(f"jail: a way through {name}", "", "", _jailed(f"../{name}/../root/ok.xml"))
CASES.add("jail: a file inside", "", "", _jailed("ok.xml"))
CASES.add("jail: out and in again by its own name", "", "", _jailed("../root/ok.xml"))
