"""Measuring: speed beside MuJoCo, how cost grows, where the time of a fused kernel goes, the time to the first step.

    bench("humanoid", nworld=1024, precisions=("f64", "f32")).row("f64").ratio

`speed` measures, `cases` knows the models, `results` keeps the figures, `sweeps`, `stages` and `startup` answer the
other questions, `chart` says what is drawn. The command is `dovetail bench`.
"""

from dovetail.bench.cases import SUITE, Case, find
from dovetail.bench.results import BenchResult, BenchRow, read_history
from dovetail.bench.speed import Measurement, ShowProgress, bench, measure

__all__ = [
    "SUITE",
    "BenchResult",
    "BenchRow",
    "Case",
    "Measurement",
    "ShowProgress",
    "bench",
    "find",
    "measure",
    "read_history",
]
