"""Two workers beside one: `python tests/bench/workers.py [WORLDS] [STEPS] [ROUNDS]`.

The same rollout of the humanoid on one worker and on two, in alternation. Wall time counts from when the first worker
is ready; the ratio of wall times says what a second worker brings on a machine that is quiet. Processor
time of a step says whether workers are in each other's way; the share of time in which workers waited for a task is
what Ray and checkpoints cost. Both mean something on a busy machine, too.
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

COUNTS = (1, 2)


def measured(worlds: int, steps: int, rounds: int, **more: Any) -> dict[int, list[Any]]:
    """Rollouts by number of workers."""
    from dovetail.distributed import connect, rollout, shutdown

    connect(max(COUNTS))
    found: dict[int, list[Any]] = {count: [] for count in COUNTS}
    for _ in range(rounds):
        for count in COUNTS:
            result = rollout("humanoid", nworld=worlds, nstep=steps, noise=0.1, workers=count, **more)
            waited = 1 - result.busy_seconds / (count * result.seconds)
            found[count].append((result.seconds, result.processor_seconds, waited, result.startup_seconds))
            del result  # its records leave Ray's store
    shutdown()
    return found


def main(worlds: int = 1024, steps: int = 1000, rounds: int = 5, checkpoint: int = 0, every: int = 1) -> None:
    found = measured(worlds, steps, rounds, checkpoint=checkpoint or None, every=every)
    saved = f"a checkpoint after {checkpoint} steps" if checkpoint else "usual checkpoints"
    print(f"humanoid, {worlds} worlds, {steps} steps, {saved}, a sample after {every} step(s)")
    print("workers  seconds (best)   steps/s  µs of processor/step  waited for tasks  start-up s")
    for count, rows in found.items():
        wall, processor, waited, startup = (statistics.median(column) for column in zip(*rows, strict=True))
        best = min(row[0] for row in rows)
        done = worlds * steps
        print(
            f"{count:7d}  {wall:7.2f} {best:7.2f}  {done / wall:7.0f}  {1e6 * processor / done:20.3f}  "
            f"{waited:16.1%}  {startup:10.2f}"
        )
    pairs = [one[0] / two[0] for one, two in zip(found[1], found[2], strict=True)]
    dear = [two[1] / one[1] for one, two in zip(found[1], found[2], strict=True)]
    print(f"one worker's time over two workers': {', '.join(f'{pair:.2f}' for pair in pairs)}")
    print(f"best over best: {min(r[0] for r in found[1]) / min(r[0] for r in found[2]):.2f}")
    print(f"processor time of two over one: {statistics.median(dear):.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
