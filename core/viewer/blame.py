"""Which stage parts two runs: asked of `dovetail diff`, in a process of its own, so that the picture goes on."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from dovetail.viewer.ab import Pair

STEPS = 5
"""Steps that are compared, stage by stage, from the state before the runs parted."""


class Blame:
    """A running question, and its answer."""

    def __init__(self, pair: Pair, source: str | None) -> None:
        self.answer = ""
        self._process: subprocess.Popen[str] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="dovetail-view-")
        if source is None:
            self.answer = "The stage can be found for models that are files: `dovetail diff` says it."
            return
        state = os.path.join(self._folder.name, "before.npz")
        data = pair._blank()
        for name, value in pair.before.items():
            data.field(name)[...] = value
        data.save(state)
        a, b = (spec.text for spec in pair.specs)
        command = [sys.executable, "-m", "dovetail", "diff", source, "--a", a, "--b", b, "--json"]
        command += ["--steps", str(STEPS), "--start", state]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def words(self) -> str:
        """The answer as HTML, or that it is being looked for."""
        if not self.answer and self._process is not None and self._process.poll() is not None:
            out, err = self._process.communicate()
            self.answer = _answer(out, err)
        return self.answer or "<i>looking for the first stage that differs …</i>"

    def close(self) -> None:
        """End the question."""
        if self._process is not None:
            if self._process.poll() is None:
                self._process.kill()
            self._process.communicate()
        self._folder.cleanup()


def _answer(out: str, err: str) -> str:
    """What the report says, in a sentence."""
    try:
        report: dict[str, Any] = json.loads(out)
    except ValueError:
        return f"The stage could not be found: {html.escape((err or out).strip()[-200:])}"
    if "error" in report:
        return f"The stage could not be found: {html.escape(str(report['error'])[:300])}"
    first = report.get("first")
    if not first:
        return "No stage is beyond its tolerance by itself: rounding has grown."
    where = html.escape(f"{first['field']} {first.get('object') or ''}".strip())
    return f"First stage that differs: <b>{html.escape(str(first['stage']))}</b> ({where})."
