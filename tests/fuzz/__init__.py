"""A fuzzer: damaged and generated models, judged beside MuJoCo 3.4.0; damaged files of every other kind.

    python -m tests.fuzz 5 --seed 3        five minutes; or tox -e fuzz -- 5 --seed 3

`documents` makes what is tried, `mutate` damages it, `worker` runs one side in a process of its own, `judge`
compares the two sides, `minimise` makes a failing document small, `known` lists the disagreements that are
explained in docs/explanation/fuzzing.md.
"""

import sys
from pathlib import Path

_SHARED = str(Path(__file__).resolve().parent.parent / "mjcf")
if _SHARED not in sys.path:  # the generator of random models and the comparison of fields live there
    sys.path.append(_SHARED)
