"""Comparing implementations with each other and with MuJoCo 3.4.0, stage by stage.

from dovetail.compare import diff_runs          # two runs: where they first part
from dovetail.compare.conform import conform    # a model against MuJoCo
from dovetail.compare.ab import compare         # two implementations of one stage
from dovetail.compare.diff import diff          # two Data, field by field
from dovetail.compare.shadow import Shadow      # a second implementation beside the first, in a running Simulation
from dovetail.compare.dump import replay        # a divergence that a Shadow wrote to a file
from dovetail.compare.minimise import minimise  # the smallest model and state that still show a fault
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dovetail.compare.runs import diff_runs

__all__ = ["diff_runs"]


def __getattr__(name: str) -> Any:
    """Imported when it is asked for, so that the parts of this package stay light."""
    if name != "diff_runs":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dovetail.compare.runs import diff_runs

    return diff_runs
