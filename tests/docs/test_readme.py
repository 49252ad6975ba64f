"""The README's commands are the ones that continuous integration runs."""

from __future__ import annotations

import pages


def test_ci_runs_the_test_command() -> None:
    commands = [b.code.strip() for b in pages.blocks(pages.ROOT / "README.md") if "-m pytest" in b.code]
    script = (pages.ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert len(commands) == 1
    assert commands[0] in script.splitlines()
