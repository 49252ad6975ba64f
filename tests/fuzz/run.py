"""One run: documents and other files by number, until the time is over."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from . import documents, minimise
from .documents import Document
from .judge import AGREEMENT, NO_ORACLE, Judge, Verdict
from .known import known
from .other_files import OtherFiles, bad, model_with
from .report import Report


def run(report: Report, asked: Any, more: Callable[[], bool]) -> None:
    """Try documents and other files as long as `more()` says so."""
    with Judge() as judge:
        files = OtherFiles(judge)
        number = asked.first
        while more() and (asked.documents is None or number < asked.first + asked.documents):
            if Random(f"{asked.seed} {number} kind").random() < asked.files:
                _file(report, files, asked.seed, number)
            else:
                _document(report, judge, documents.document(asked.seed, number), asked.trials)
            number += 1


def _document(report: Report, judge: Judge, document: Document, trials: int) -> None:
    verdict = judge.verdict(document)
    rule = known(verdict, document)
    report.document(verdict, rule)
    if verdict.kind in AGREEMENT or verdict.kind in NO_ORACLE or rule or not report.wanted(verdict):
        return
    smaller = smallest(judge, document, verdict, trials)
    report.keep(judge.verdict(smaller), smaller, document)
    report.write()


def smallest(judge: Judge, document: Document, verdict: Verdict, trials: int) -> Document:
    """A small document with the same class of failure."""
    return minimise.minimised(document, lambda tried: judge.at_once(tried).key == verdict.key, trials)


def _file(report: Report, files: OtherFiles, seed: int, number: int) -> None:
    verdict, kind, content = files.verdict(seed, number)
    report.file(verdict, kind)
    if bad(verdict) and report.wanted(verdict):
        kept = (
            model_with(kind, content)
            if kind in ("obj", "stl", "msh", "png")
            else Document(b"", {kind: content})
        )
        report.keep(verdict, kept)
        report.write()
