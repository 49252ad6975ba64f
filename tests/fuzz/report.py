"""What a run found: counts by class, and every failing document with both sides' words, as JSON and as text."""

from __future__ import annotations

import collections
import json
import re
from pathlib import Path
from typing import Any

import attrs

from .documents import MAIN, Document
from .judge import AGREEMENT, DISAGREEMENT, FAILURE, Verdict
from .known import Rule


@attrs.define
class Report:
    """Gathers verdicts; keeps at most a few documents of each class."""

    folder: Path
    seed: int = 0
    counts: collections.Counter[str] = attrs.field(factory=collections.Counter)
    classes: collections.Counter[tuple[str, str]] = attrs.field(factory=collections.Counter)
    rules: collections.Counter[str] = attrs.field(factory=collections.Counter)
    file_counts: collections.Counter[str] = attrs.field(factory=collections.Counter)
    entries: list[dict[str, Any]] = attrs.field(factory=list)

    def document(self, verdict: Verdict, rule: Rule | None) -> None:
        self.counts[verdict.kind] += 1
        if rule is not None:
            self.rules[rule.reason] += 1
        elif verdict.kind not in AGREEMENT:
            self.classes[verdict.key] += 1

    def file(self, verdict: Verdict, kind: str) -> None:
        self.file_counts[f"{kind}: {verdict.kind}"] += 1
        if verdict.kind in FAILURE:
            self.classes[verdict.key] += 1

    def wanted(self, verdict: Verdict) -> bool:
        """Whether a document of this class is worth keeping: the first few are."""
        return self.classes[verdict.key] <= 2

    def keep(self, verdict: Verdict, smaller: Document, original: Document | None = None) -> None:
        name = (
            f"{re.sub(r'[^a-z0-9]+', '-', '-'.join(verdict.key).lower())[:70].strip('-')}-{len(self.entries)}"
        )
        folder = self.folder / verdict.kind.replace(" ", "-") / name
        for path, content in {MAIN: smaller.text, **smaller.files}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        if original is not None:
            (folder / "original.xml").write_bytes(original.text)
        entry = {
            **attrs.asdict(verdict),
            "folder": str(folder.relative_to(self.folder)),
            "recipe": smaller.recipe,
        }
        (folder / "report.json").write_text(json.dumps(entry, indent=1))
        self.entries.append(entry)

    @property
    def judged(self) -> int:
        """Documents on which both sides had an answer."""
        return sum(n for kind, n in self.counts.items() if kind in AGREEMENT + DISAGREEMENT + FAILURE)

    @property
    def stepped(self) -> int:
        """Documents that the stepper judged: those that MuJoCo takes and steps."""
        return self.judged - self.counts["both refuse"]

    @property
    def agreement(self) -> float:
        return sum(self.counts[kind] for kind in AGREEMENT) / max(1, self.judged)

    @property
    def failures(self) -> int:
        """Untyped exceptions, crashes, hangs and memory, of models and other files."""
        files = sum(n for key, n in self.file_counts.items() if key.partition(": ")[2] in FAILURE)
        return files + sum(self.counts[kind] for kind in FAILURE)

    def text(self) -> str:
        lines = [f"seed {self.seed}: {self.judged} models judged, agreement {self.agreement:.2%}"]
        lines += [f"  {n:6d}  {kind}" for kind, n in self.counts.most_common()]
        lines += ["explained disagreements:"] * bool(self.rules)
        lines += [f"  {n:6d}  {reason}" for reason, n in self.rules.most_common()]
        lines += ["other files:"] + [f"  {n:6d}  {kind}" for kind, n in sorted(self.file_counts.items())]
        lines += ["open classes:"] * bool(self.classes)
        lines += [f"  {n:6d}  {kind}: {detail}" for (kind, detail), n in self.classes.most_common()]
        for entry in self.entries:
            lines += ["", f"{entry['folder']}: {entry['kind']}", f"  {entry['recipe']}"]
            lines += [f"  dovetail: {entry['ours'][:600]}", f"  MuJoCo:   {entry['theirs'][:300]}"]
        return "\n".join(lines)

    def write(self) -> str:
        self.folder.mkdir(parents=True, exist_ok=True)
        summary = {"seed": self.seed, "agreement": self.agreement, "counts": dict(self.counts)}
        summary |= {"files": dict(self.file_counts), "rules": dict(self.rules), "entries": self.entries}
        (self.folder / "report.json").write_text(json.dumps(summary, indent=1))
        (self.folder / "report.txt").write_text(self.text())
        return self.text().partition("\n\n")[0]
