"""The verdict on a document: what the two sides say about it, and whether that is the same."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import attrs

from . import fields
from .documents import Document
from .stepper_ours import KINDS, Finding
from .worker import MORE_NUDGES, NUDGES, Answer, Worker

AGREEMENT = ("same", "both refuse", "chaos")
"""`chaos`: the motions part, but no further than MuJoCo's own when nudged, or the mass matrix is singular but for
rounding and its inverse is noise."""
NO_ORACLE = ("mujoco fails", "unsuited")
"""MuJoCo crashed, hung or ran out of memory, so there is nothing to agree with; or nothing in the model moves, or it
is too large to be stepped often."""
DISAGREEMENT = ("only dovetail refuses", "only mujoco refuses", "field", "steps", *KINDS)
FAILURE = ("untyped", "crash", "hang", "memory")
"""What must never happen, whatever MuJoCo does."""


@attrs.frozen
class Verdict:
    """A class, what tells this case from others of the class, and both sides' words."""

    kind: str
    detail: str = ""
    ours: str = ""
    theirs: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Class of failure: what stays the same while a document is made smaller."""
        return self.kind, rule(self.detail)


def rule(message: str) -> str:
    """A message without what belongs to the document: names, numbers, places."""
    text = message.splitlines()[0] if message else ""
    text = re.sub(r"^\w+Error: \S*?(?::\d+)?: ", "", text)
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "'…'", text)
    text = re.sub(r"<(\w+)[^>]*>", r"<\1>", text)
    return re.sub(r"[-+]?\d[\d.e+-]*", "0", text)[:160]


@attrs.define
class Judge:
    """Asks both sides about documents."""

    folder: Path = attrs.field(factory=lambda: Path(tempfile.mkdtemp(prefix="fuzz-")))
    ours: Worker = attrs.field(init=False)
    theirs: Worker = attrs.field(init=False)
    names: list[str] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.ours, self.theirs = Worker("ours", self.folder), Worker("theirs", self.folder)

    def verdict(self, document: Document) -> Verdict:
        """The verdict; a disagreement is asked again of new processes before it is believed."""
        first = self.at_once(document)
        if first.kind in AGREEMENT:
            return first
        self.close()
        return self.at_once(document, MORE_NUDGES)

    def at_once(self, document: Document, nudges: int = NUDGES) -> Verdict:
        """The verdict of the processes as they are."""
        self._know_names()
        path = str(document.write(self.folder))
        self.theirs.send("theirs", path, nudges)
        self.ours.send("ours", path, self.names)
        ours, theirs = self.ours.receive(), self.theirs.receive()
        return compared(ours, theirs)

    def _know_names(self) -> None:
        if not self.names:
            plain = Document(b"<mujoco/>").write(self.folder)
            self.names = list(self.theirs.ask("theirs", str(plain))["fields"])

    def close(self) -> None:
        self.ours.close()
        self.theirs.close()

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()


SEED = 1
"""Of the random states of a document: they belong to it, however it was come by."""


@attrs.define
class StepJudge:
    """Asks both sides to step a document from random states. Kernels of a document get a process of their own."""

    folder: Path = attrs.field(factory=lambda: Path(tempfile.mkdtemp(prefix="fuzz-")))
    native: Worker = attrs.field(init=False)
    theirs: Worker = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.native = Worker("native", self.folder, most=1)
        self.theirs = Worker("theirs", self.folder)

    def verdict(self, document: Document) -> Verdict:
        """The verdict; a disagreement is asked again, with more nudges, before it is believed."""
        first = self.at_once(document)
        if first.kind in (*AGREEMENT, *NO_ORACLE):
            return first
        self.close()
        return self.at_once(document, MORE_NUDGES)

    def at_once(self, document: Document, nudges: int = NUDGES) -> Verdict:
        path = str(document.write(self.folder))
        theirs = self.theirs.ask("recorded", path, SEED, nudges)
        for key, kind in (("failed", "mujoco fails"), ("stopped", "mujoco fails"), ("unsuited", "unsuited")):
            if key in theirs:
                return Verdict(kind, theirs[key].splitlines()[0])
        if "refused" in theirs:  # whether dovetail refuses it too is the affair of the other judge
            return Verdict("both refuse", theirs="refused")
        ours = self.native.ask("stepped", path, theirs, SEED)
        if "failed" in ours:
            return Verdict(ours["failed"], place(ours), words(ours))
        if "refused" in ours:
            return Verdict("only dovetail refuses", ours["refused"], words(ours))
        return wrong(ours["findings"]) if ours["steps"] else Verdict("chaos", "principal axes")

    def close(self) -> None:
        self.native.close()
        self.theirs.close()

    def __enter__(self) -> StepJudge:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()


def wrong(findings: list[dict[str, Any]]) -> Verdict:
    """The verdict on what a stepper was caught at: the plainest kind gives it its class."""
    if not findings:
        return Verdict("same")
    found = sorted((Finding(**finding) for finding in findings), key=lambda f: KINDS.index(f.kind))
    return Verdict(found[0].kind, found[0].field, "\n".join(finding.words() for finding in found))


def compared(ours: Answer, theirs: Answer) -> Verdict:
    """The verdict on two answers."""
    said = {"ours": words(ours), "theirs": words(theirs)}
    if "failed" in ours:
        return Verdict(ours["failed"], place(ours), **said)
    if "failed" in theirs:
        return Verdict("mujoco fails", theirs["failed"], **said)
    if "refused" in ours and "refused" in theirs:
        return Verdict("both refuse", **said)
    if "refused" in ours:
        return Verdict("only dovetail refuses", ours["refused"], **said)
    if "refused" in theirs:
        return Verdict("only mujoco refuses", theirs["refused"], **said)
    return _same(ours, theirs, said)


def _same(ours: Answer, theirs: Answer, said: dict[str, str]) -> Verdict:
    found = fields.differences(ours["fields"], theirs["fields"], theirs["almost flat"])
    if found:
        return Verdict("field", found[0].partition(":")[0], "\n".join(line[:400] for line in found[:20]), "")
    if "stopped" in theirs:
        return Verdict("mujoco fails", "step", **said)
    apart, chaos = fields.moved_apart(ours["steps"], theirs["steps"], theirs["nudged"])
    if apart and fields.noisy(theirs["fields"]):
        return Verdict("chaos", "singular", apart, "")
    if apart:
        return Verdict("steps", apart.partition("[")[0], apart, "")
    return Verdict("chaos" if chaos else "same")


def words(answer: Answer) -> str:
    for key in ("refused", "told", "stopped"):
        if key in answer:
            return str(answer[key])
    return "accepted"


def place(answer: Answer) -> str:
    """Where an untyped exception came from: the last line of ours in the traceback, and its type."""
    lines = re.findall(r'File "[^"]*?([^/"]+/[^/"]+\.py)", line \d+, in (\w+)', answer.get("told", ""))
    return f"{answer.get('type', answer['failed'])} in {' '.join(lines[-1])}" if lines else answer["failed"]
