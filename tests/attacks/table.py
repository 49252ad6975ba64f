"""Runs the table of hostile inputs and prints what came of each, with time and memory.

python -m tests.attacks.table                 all
python -m tests.attacks.table model archive   some subjects
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import access, archives, arguments, assets, commands, configuration, memory, models
from .case import Case
from .driver import Outcome, run, warm_up

SUBJECTS = {
    part.CASES.subject: part.CASES.cases
    for part in (models, assets, access, archives, configuration, arguments, commands, memory)
}


def chosen(subjects: Sequence[str], pattern: str, *, slow: bool) -> list[Case]:
    cases = [case for name in subjects or SUBJECTS for case in SUBJECTS[name]]
    return [case for case in cases if pattern in case.name and (slow or not case.slow)]


def show(outcome: Outcome) -> None:
    verdict = outcome.problem or outcome.excess
    print(
        f"{outcome.seconds:7.3f} s {outcome.bytes / 2**20:7.1f} MB  {outcome.error or 'accepted':22}"
        f" {outcome.case.name}{'   <-- ' + verdict if verdict else ''}",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("subjects", nargs="*", choices=[[], *SUBJECTS], metavar="SUBJECT")
    parser.add_argument("-k", default="", metavar="TEXT", help="only cases whose name has this")
    parser.add_argument("--quick", action="store_true", help="without those that take long")
    parser.add_argument("--factor", type=float, default=1.0, help="times the seconds a case may take")
    asked = parser.parse_args()
    warm_up()
    if not asked.subjects or arguments.CASES.subject in asked.subjects:
        arguments.prepare()
    bad, count, slowest, largest = 0, 0, 0.0, 0
    for outcome in run(chosen(asked.subjects, asked.k, slow=not asked.quick), asked.factor):
        show(outcome)
        count += 1
        bad += bool(outcome.problem or outcome.excess)
        slowest, largest = max(slowest, outcome.seconds), max(largest, outcome.bytes)
    print(f"{count} cases, {bad} bad; slowest {slowest:.2f} s, largest {largest / 2**20:.0f} MB")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
