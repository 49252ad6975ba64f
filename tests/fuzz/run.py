"""One run: documents and other files by number, until the time is over."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from . import documents, minimise
from .documents import Document
from .judge import AGREEMENT, NO_ORACLE, Judge, StepJudge, Verdict
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


def run_native(report: Report, asked: Any, more: Callable[[], bool]) -> None:
    """Step documents as long as `more()` says so; `--documents` counts those that MuJoCo steps."""
    numbers, together = itertools.count(asked.first), threading.Lock()
    wanted = asked.documents if asked.documents is not None else float("inf")
    threads = [
        threading.Thread(
            target=_step_documents,
            args=(report, asked, numbers, together, lambda: more() and report.stepped < wanted),
        )
        for _ in range(asked.jobs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _step_documents(
    report: Report, asked: Any, numbers: Iterator[int], together: threading.Lock, more: Callable[[], bool]
) -> None:
    """What one of several threads does: each has its judge, which works in processes of its own."""
    with StepJudge() as judge:
        while more():
            with together:
                document = documents.to_step(asked.seed, next(numbers))
            _document(report, judge, document, asked.trials, together)


def _document(
    report: Report,
    judge: Judge | StepJudge,
    document: Document,
    trials: int,
    together: threading.Lock | None = None,
) -> None:
    together = together or threading.Lock()
    verdict = judge.verdict(document)
    rule = known(verdict, document)
    with together:
        report.document(verdict, rule)
        if verdict.kind in AGREEMENT or verdict.kind in NO_ORACLE or rule or not report.wanted(verdict):
            return
    smaller = smallest(judge, document, verdict, trials)
    judged = judge.verdict(smaller)
    with together:
        report.keep(judged, smaller, document)
        report.write()


def smallest(judge: Judge | StepJudge, document: Document, verdict: Verdict, trials: int) -> Document:
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
