"""A short run with fixed seeds: the same documents every time, and what is known to disagree still does."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import documents, minimise
from .documents import Document
from .judge import AGREEMENT, NO_ORACLE, Judge, Verdict, compared, rule
from .known import RULES, Rule, known
from .other_files import KINDS, OtherFiles, bad
from .report import Report

pytest.importorskip("mujoco")
pytest.importorskip("dm_control", reason="real models come from dm_control and gymnasium")

SEED = 13
DOCUMENTS = 40
FILES = 30
PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "fuzzing.md"


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as asked:
        yield asked


@pytest.mark.slow
def test_documents_of_a_fixed_seed_agree(judge: Judge, tmp_path: Path) -> None:
    """No failure at all, no disagreement but those that a rule explains."""
    report = Report(tmp_path)
    unexplained = []
    for number in range(DOCUMENTS):
        document = documents.document(SEED, number)
        verdict = judge.verdict(document)
        explained = known(verdict, document)
        report.document(verdict, explained)
        if verdict.kind not in AGREEMENT + NO_ORACLE and explained is None:
            unexplained.append((number, verdict))
    assert unexplained == []
    assert report.failures == 0
    assert report.counts["same"] >= DOCUMENTS // 5, "most documents are refused: the damage is too great"


def test_damaged_files_give_typed_errors(judge: Judge) -> None:
    files = OtherFiles(judge)
    verdicts = [files.verdict(SEED, number) for number in range(FILES)]
    assert [(kind, verdict) for verdict, kind, _ in verdicts if bad(verdict)] == []
    assert {kind for _, kind, _ in verdicts} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_are_whole_are_taken(judge: Judge, kind: str) -> None:
    """Else every damaged one would be refused for the same reason."""
    files = OtherFiles(judge)
    assert files.of(kind, files.whole(kind)).kind in ("same", "chaos")


@pytest.mark.parametrize("entry", RULES, ids=lambda entry: entry.reason[:60])
def test_a_known_disagreement_is_still_one(judge: Judge, entry: Rule) -> None:
    """A rule whose example agrees again is to be taken out of the list and of the page about fuzzing."""
    verdict = judge.at_once(entry.example)
    assert entry.covers(verdict, entry.example), f"now: {verdict}"


def test_the_page_about_fuzzing_explains_every_rule() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert [entry.reason for entry in RULES if entry.reason not in page] == []


# ---- the fuzzer itself


def test_documents_follow_from_the_seed() -> None:
    """The same in another process with another order of hashes."""
    code = (
        "import hashlib; from fuzz import documents; "
        f"print(hashlib.sha256(b''.join(documents.document({SEED}, n).text for n in range(15))).hexdigest())"
    )
    top = str(Path(__file__).resolve().parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": top, "PYTHONHASHSEED": "7"},
        capture_output=True,
        check=True,
    )
    here = hashlib.sha256(b"".join(documents.document(SEED, n).text for n in range(15))).hexdigest()
    assert done.stdout.decode().strip() == here


def test_real_models_come_with_their_files() -> None:
    names = documents.usual_models()
    assert len(names) > 30
    assert any(documents.real(name).files for name in names)


def test_a_failing_document_becomes_small() -> None:
    body = '<body name="b{}"><geom size=".1" rgba="1 0 0 1"/><joint axis="1 0 0"/></body>'
    text = f"<mujoco><worldbody>{''.join(body.format(i) for i in range(6))}</worldbody></mujoco>"

    def fails(tried: Document) -> bool:
        return b'name="b3"' in tried.text and b"<joint" in tried.text

    smaller = minimise.minimised(Document(text.encode()), fails).text
    assert fails(Document(smaller))
    assert smaller.count(b"<body") <= 2
    assert b"rgba" not in smaller
    assert b"axis" not in smaller


def sphere(size: float) -> Document:
    body = f'<body><joint/><geom size="{size}" pos="1 0 0"/></body>'
    return Document(f"<mujoco><worldbody>{body}</worldbody></mujoco>".encode())


def test_the_judge_sees_every_kind_of_disagreement(judge: Judge) -> None:
    judge.verdict(sphere(1))
    theirs = judge.theirs.ask("theirs", str(sphere(1).write(judge.folder)))
    ours = judge.ours.ask("ours", str(sphere(2).write(judge.folder)), judge.names)
    assert compared(ours, theirs).kind == "field"
    assert compared({**ours, "fields": theirs["fields"]}, theirs).kind in ("steps", "same")
    assert compared({"refused": "no"}, theirs).kind == "only dovetail refuses"
    assert compared(ours, {"refused": "no"}).kind == "only mujoco refuses"
    assert compared({"refused": "no"}, {"refused": "no"}).kind == "both refuse"
    assert (
        compared({"failed": "untyped", "type": "KeyError", "told": ""}, {"refused": "no"}).kind == "untyped"
    )
    assert compared(ours, {"failed": "crash"}).kind == "mujoco fails"
    moved = {
        **ours,
        "fields": theirs["fields"],
        "steps": [{**s, "qpos": s["qpos"] + 1e-3} for s in theirs["steps"]],
    }
    assert compared(moved, theirs).kind == "steps"


def test_a_child_that_dies_or_hangs_is_noticed(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    assert judge.ours.ask("no such work")["failed"] == "crash"
    path = str(Document(b"<mujoco/>").write(judge.folder))
    assert "fields" in judge.ours.ask("ours", path, judge.names or ["nq"])


def test_classes_do_not_depend_on_names_and_numbers() -> None:
    first = Verdict("only dovetail refuses", "MJCFError: /a/b.xml:3: <geom name=\"x\">: unknown material 'y'")
    second = Verdict("only dovetail refuses", "MJCFError: /c.xml:17: <geom>: unknown material 'other'")
    assert first.key == second.key
    assert rule("off by 1.3e-05") == rule("off by 2")
