"""What became of each check of each implementation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs

from dovetail.testing.measured import Measured, worst

Verdict = Literal["pass", "fail", "not applicable"]


@attrs.frozen(kw_only=True)
class Outcome:
    """One check of one implementation."""

    check: str
    verdict: Verdict
    measured: tuple[Measured, ...] = ()
    text: str = ""
    """Why it failed, or why it says nothing here."""

    @property
    def worst(self) -> Measured | None:
        return worst(list(self.measured))

    def to_dict(self) -> dict[str, Any]:
        return {
            "check": self.check,
            "verdict": self.verdict,
            "text": self.text,
            "measured": [attrs.asdict(one) for one in self.measured],
        }


@attrs.frozen(kw_only=True)
class Examined:
    """All checks of one implementation, and its cost."""

    slot: str
    implementation: str
    version: str
    target: str
    outcomes: tuple[Outcome, ...]
    cost: Mapping[str, float] | None = None
    """Processor time of a call in microseconds, beside that of the reference; None if it ran nowhere."""

    def count(self, verdict: Verdict) -> int:
        return sum(outcome.verdict == verdict for outcome in self.outcomes)

    @property
    def ran(self) -> bool:
        """Whether any model made it run (what takes part in loading runs in no check)."""
        return any(outcome.measured for outcome in self.outcomes)

    @property
    def ok(self) -> bool:
        return not self.count("fail")

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(m.model for o in self.outcomes for m in o.measured))

    def to_dict(self) -> dict[str, Any]:
        return {
            "slot": self.slot,
            "implementation": self.implementation,
            "version": self.version,
            "target": self.target,
            "ran": self.ran,
            "ok": self.ok,
            "models": list(self.models),
            "cost": None if self.cost is None else dict(self.cost),
            "checks": [outcome.to_dict() for outcome in self.outcomes],
        }
