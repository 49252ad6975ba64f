"""The command line with hostile models, files and options: one message, a code other than 0, no traceback."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from .case import NO_ORACLE, Table

CASES = Table("command")
COMMANDS = ("run", "check", "info", "plan", "bench", "compare") + ("conform",) * (not NO_ORACLE)
MOST_TEXT = 40_000
"""Characters that a command may print about what is wrong."""


class UnexpectedError(Exception):
    """What a command did with hostile input; not an error of dovetail's, which a command never lets out."""


def command(*words: str, name: str, fragment: str = "", code: int = 2) -> None:
    """Run a command; `{folder}` stands for the folder of the case."""

    def build(folder: Path) -> Any:
        _prepare(folder)
        said = [word.replace("{folder}", str(folder)) for word in words]
        return lambda: _check(said, fragment, code)

    CASES.add(name, "", "", build)


def _prepare(folder: Path) -> None:
    (folder / "good.xml").write_text(
        "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"
    )
    (folder / "bad.xml").write_text("<mujoco><worldbody><geom size='x'/></worldbody></mujoco>")
    (folder / "unknown.xml").write_text("<mujoco>" + "<x/>" * 3000 + "</mujoco>")
    (folder / "binary.xml").write_bytes(bytes(range(256)))
    (folder / "root").mkdir()
    (folder / "root" / "out.xml").write_text("<mujoco><include file='../good.xml'/></mujoco>")
    os.mkfifo(folder / "pipe.xml")


def _check(words: list[str], fragment: str, code: int) -> None:
    from dovetail.cli import main

    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main(words)
        found: Any = "no exit"
    except SystemExit as end:
        found = end.code
    text = out.getvalue() + err.getvalue()
    if found != code or fragment not in text or len(text) > MOST_TEXT or "Traceback" in text:
        raise UnexpectedError(f"exit {found}, {len(text)} letters: {text[:300]}")


for one in COMMANDS:
    rest = ("--stage", "kinematics", "--a", "tree@numpy", "--b", "tree@numpy") if one == "compare" else ()
    wrong = 1 if one == "check" else 2
    command(
        one,
        "/dev/zero",
        *rest,
        name=f"{one} of a device",
        code=wrong,
        fragment="" if one == "bench" else "/dev/zero",
    )
    command(one, "{folder}/pipe.xml", *rest, name=f"{one} of a pipe", code=wrong, fragment="pipe")
    command(one, "{folder}", *rest, name=f"{one} of a directory", code=wrong)
    command(one, "nothing.xml", *rest, name=f"{one} of nothing", code=wrong, fragment="neither a file")
    command(one, "n" * 10_000, *rest, name=f"{one} of a name of 10,000 letters", code=wrong)
    command(one, "a\0b", *rest, name=f"{one} of a NUL character", code=wrong)
    command(one, "{folder}/bad.xml", *rest, name=f"{one} of a bad model", code=wrong, fragment="bad.xml:1")
    command(one, "{folder}/binary.xml", *rest, name=f"{one} of a binary file", code=wrong, fragment="UTF-8")
    command(one, "{folder}/unknown.xml", *rest, name=f"{one} of 3000 unknown elements", code=wrong)
    command(
        *(one, "{folder}/root/out.xml", *rest, "--asset-root", "{folder}/root"),
        name=f"{one} of a file outside of --asset-root",
        code=wrong,
        fragment="outside asset_root",
    )
    command(
        *(one, "{folder}/good.xml", *rest, "--asset-root", "/nothing"),
        name=f"{one} with a missing --asset-root",
        code=wrong,
    )
GOOD = "{folder}/good.xml"
for words in (
    ("run", GOOD, "--steps", "-5"),
    ("run", GOOD, "--steps", "many"),
    ("run", GOOD, "--duration", "nan"),
    ("run", GOOD, "--duration", "inf"),
    ("run", GOOD, "--duration", "-1"),
    ("run", GOOD, "--duration", "1e300"),
    ("run", GOOD, "--noise", "nan"),
    ("run", GOOD, "--seed", "-1"),
    ("run", GOOD, "--keyframe", "9"),
    ("run", GOOD, "--keyframe", "9" * 5000),
    ("run", GOOD, "--nworld", "0"),
    ("run", GOOD, "--nworld", "1000000000000"),
    ("run", GOOD, "--threads", "1000000000"),
    ("run", GOOD, "--backend", "nothing"),
    ("run", GOOD, "--precision", "f16"),
    ("run", GOOD, "--stage", "nothing"),
    ("run", GOOD, "--stage", "nothing=x"),
    ("run", GOOD, "--stage", "integrate=@@"),
    ("run", GOOD, "--keep", "nothing"),
    ("run", GOOD, "--plugin", "nothing"),
    ("run", GOOD, "--runtime", "os"),
    ("run", GOOD, "--output", "/nothing/a.npz"),
    ("run", GOOD, "--output", "{folder}"),
    ("run", GOOD, "--plot", "nothing"),
    ("run", GOOD, "--plot", "qpos[99]"),
    ("run", GOOD, "--plot", "qpos[" + "9" * 5000 + "]"),
    ("run", GOOD, "--every", "0"),
    ("run", GOOD, "--video", "/nothing/a.gif"),
    ("run", GOOD, "--video", "{folder}/a.gif", "--size", "0x0"),
    ("run", GOOD, "--video", "{folder}/a.gif", "--size", "99999x99999"),
    ("run", GOOD, "--video", "{folder}/a.gif", "--fps", "nan"),
    ("run", GOOD, "--video", "{folder}/a.gif", "--fps", "1e300"),
    ("run", GOOD, "--video", "{folder}/a.gif", "--camera", "9" * 5000),
    ("run", GOOD, "--video", "{folder}/a.gif", "--world", "9"),
    ("run", GOOD, "--frames", "{folder}"),
    ("run",),
    ("run", GOOD, "--nonsense"),
    ("plan", GOOD, "--nworld", "x"),
    ("stages", "nothing"),
    ("fields", "nothing-at-all"),
    ("fields", "[" * 1000),
    ("bench", GOOD, "--history", "/nothing/a"),
    ("bench", GOOD, "--history", "/dev/zero"),
    ("bench", GOOD, "--plot", "a.gif"),
    ("bench", GOOD, "--plot", "/nothing/a.svg"),
    ("bench", GOOD, "--budget", "nan"),
    ("bench", GOOD, "--roll-in", "nan"),
    ("bench", GOOD, "--backend", "nothing"),
    ("compare", GOOD, "--stage", "nothing", "--a", "x", "--b", "y"),
    ("compare", GOOD, "--stage", "kinematics", "--a", "x", "--b", "@@"),
    ("compare", GOOD, "--stage", "kinematics", "--a", "tree@numpy", "--b", "tree@numpy", "--seed", "-1"),
    ("conform", GOOD, "--disable", "nothing"),
    ("conform", GOOD, "--stage", "nothing"),
    ("conform", GOOD, "--seed", "-1"),
    ("nothing",),
    ("x" * 10_000,),
    ("\0",),
    ("--nonsense",),
):
    shown = " ".join(word if len(word) < 30 else f"{word[:10]}…" for word in words).replace(GOOD, "MODEL")
    command(*words, name=repr(shown))
