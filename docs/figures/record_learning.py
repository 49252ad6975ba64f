"""Trains the policies whose curves the documentation shows, and writes the curves to `data/learning.json`.

    python docs/figures/record_learning.py FOLDER              all of them: half an hour on two cores
    python docs/figures/record_learning.py FOLDER cheetah ant  only these

Each run leaves `result.json` and `policy.npz` in a folder of its own in FOLDER; what is there is not run again.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from record_speed import rounded

RECORD = Path(__file__).parent / "data" / "learning.json"
SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "ppo.py"
WALKS = "--gamma 0.98 --epochs 4 --minibatches 4 --std 0.5"
RUNS = {
    "cheetah": "dovetail/HalfCheetah-v5 --steps 2000000",
    "cheetah-envpool": "HalfCheetah-v5 --engine envpool --steps 2000000",
    "ant": "dovetail/Ant-v5 --steps 2000000",
    "ant-envpool": "Ant-v5 --engine envpool --steps 2000000",
    "quadruped": f"dovetail/QuadrupedVelocity-v0 --steps 4000000 {WALKS}",
}
POINTS = 60
"""Of a curve, at most."""


def recorded() -> dict[str, Any]:
    """Curves by the names above."""
    return dict(json.loads(RECORD.read_text(encoding="utf-8"))) if RECORD.is_file() else {}


def record(folder: Path, name: str) -> dict[str, Any]:
    """One run, with the command and the day."""
    result = folder / name / "result.json"
    if not result.is_file():
        words = [sys.executable, str(SCRIPT), *RUNS[name].split(), "--out", str(folder / name)]
        subprocess.run(words, check=True)
    curve = json.loads(result.read_text(encoding="utf-8"))["curve"]
    every = -(-len(curve) // POINTS)
    points = [row for row in curve[::-1][::every][::-1] if row["return"] == row["return"]]
    return {
        "command": f"python examples/ppo.py {RUNS[name]}",
        "date": time.strftime("%Y-%m-%d", time.gmtime(result.stat().st_mtime)),
        "curve": rounded(points),
    }


def main() -> None:
    folder, wanted = Path(sys.argv[1]), sys.argv[2:] or list(RUNS)
    records = recorded()
    for name in wanted:
        records[name] = record(folder, name)
        RECORD.parent.mkdir(exist_ok=True)
        ordered = {key: records[key] for key in RUNS if key in records}
        RECORD.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
