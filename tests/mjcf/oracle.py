"""MuJoCo's verdict on a document, from a process of its own: some documents make MuJoCo crash.

The compiled model comes back as a binary file, so that memory which MuJoCo corrupted stays in the other process.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import attrs

CRASH = "crash"
"""The verdict on a document that ends MuJoCo's process."""

_LOOP = """
import json, sys, mujoco
for line in sys.stdin:
    xml, path = json.loads(line)
    try:
        mujoco.mj_saveModel(mujoco.MjModel.from_xml_string(xml), path)
        verdict = ""
    except ValueError as error:
        verdict = str(error) or "rejected"
    print("VERDICT" + json.dumps(verdict), flush=True)
"""


@attrs.define
class Oracle:
    """Asks a child process, which is started again after a crash."""

    folder: Path = attrs.field(factory=lambda: Path(tempfile.mkdtemp()))
    child: Any = None

    def verdict(self, xml: str) -> str:
        """Empty if MuJoCo accepts the document, its message if it refuses, or `CRASH`."""
        answer = self._ask(xml)
        # an earlier document may have left corrupted memory behind: ask a new process before believing a crash
        return self._ask(xml) if answer == CRASH else answer

    def model(self) -> Any:
        """The model that MuJoCo compiled from the last accepted document."""
        import mujoco

        return mujoco.MjModel.from_binary_path(str(self._path))

    @property
    def _path(self) -> Path:
        return self.folder / "model.mjb"

    def _ask(self, xml: str) -> str:
        child = self._running()
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write(json.dumps([xml, str(self._path)]) + "\n")
            child.stdin.flush()
            for line in child.stdout:
                if line.startswith("VERDICT"):
                    return str(json.loads(line.removeprefix("VERDICT")))
        self.close()
        return CRASH

    def _running(self) -> Any:
        if self.child is None:
            self.child = subprocess.Popen(
                [sys.executable, "-c", _LOOP],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                cwd=self.folder,
            )
        return self.child

    def close(self) -> None:
        """End the child process."""
        if self.child is not None:
            self.child.kill()
            self.child.wait()
            for stream in (self.child.stdin, self.child.stdout):
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
            self.child = None
