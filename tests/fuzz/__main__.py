"""Run the fuzzer for some minutes; what fails is made small and kept with a report.

python -m tests.fuzz 10 --seed 3 --keep findings
python -m tests.fuzz 10 --seed 3 --native
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from pathlib import Path

from .report import Report
from .run import run, run_native


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("minutes", nargs="?", type=float, default=5.0, help="how long, 5 unless told")
    parser.add_argument(
        "--seed", type=int, default=0, help="which documents; the same ones for the same seed"
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first document")
    parser.add_argument("--documents", type=int, help="stop after so many, however long it takes")
    parser.add_argument(
        "--files", type=float, default=0.2, help="share of tries that damage other files than models"
    )
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="folder of what failed")
    parser.add_argument(
        "--least", type=float, default=0.995, help="share of agreement below which the run fails"
    )
    parser.add_argument(
        "--trials", type=int, default=200, help="how often a failing document is tried smaller"
    )
    parser.add_argument(
        "--native", action="store_true", help="step the models instead: kernels beside MuJoCo"
    )
    parser.add_argument("--jobs", type=int, default=2, help="models that are stepped at the same time")
    asked = parser.parse_args()
    report = Report(asked.keep, seed=asked.seed)
    end = time.monotonic() + 60 * asked.minutes
    with contextlib.suppress(KeyboardInterrupt):  # what was found so far is worth a report
        (run_native if asked.native else run)(report, asked, lambda: time.monotonic() < end)
    print(report.write())
    return 0 if report.agreement >= asked.least and not report.failures else 1


if __name__ == "__main__":
    sys.exit(main())
