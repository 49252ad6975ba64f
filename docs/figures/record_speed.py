"""Measures the speeds that the documentation's charts show, and writes them to `speed.json` beside this file.

    python docs/figures/record_speed.py            measure everything: some minutes, on a quiet machine
    python docs/figures/record_speed.py one batch  only these, the others stay as they were recorded

Each record holds the command that gave it, the day, and the command's own JSON, in which the machine is described.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

RECORD = Path(__file__).parent / "speed.json"
MODELS = "humanoid gymnasium/half_cheetah gymnasium/ant suite/quadruped"
COMMANDS = {
    "one": f"dovetail bench {MODELS} --one-world --json",
    "batch": f"dovetail bench {MODELS} --steps 20 --json",
    "worlds": "dovetail bench humanoid --sweep nworld --steps 20 --repeat 5 --budget 20 --json",
    "threads": "dovetail bench humanoid --threads 1 --threads 2 --steps 20 --json",
    "numpy": "dovetail bench humanoid --backend numpy --nworld 1 --precision f64 --steps 10 --repeat 5 --json",
    "taichi": "dovetail bench humanoid --backend taichi --precision f64 --steps 20 --repeat 5 --json",
    "first": "dovetail bench humanoid --first-step --json",
}


def recorded() -> dict[str, Any]:
    """What was measured, by the names above; a name that was never measured is not there."""
    return dict(json.loads(RECORD.read_text(encoding="utf-8"))) if RECORD.is_file() else {}


def measure(command: str) -> dict[str, Any]:
    """One record: what the command prints, with the command and the day."""
    program = Path(sys.executable).with_name("dovetail")
    words = [str(program), *command.split()[1:]]
    printed = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {
        "command": command,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "result": rounded(json.loads(printed)),
    }


def rounded(value: Any) -> Any:
    """Numbers to five digits: more would be noise, and long."""
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def main() -> None:
    wanted = sys.argv[1:] or list(COMMANDS)
    unknown = [name for name in wanted if name not in COMMANDS]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; there are: {', '.join(COMMANDS)}")
    records = recorded()
    for name in wanted:
        print(COMMANDS[name], flush=True)
        records[name] = measure(COMMANDS[name])
        ordered = {key: records[key] for key in COMMANDS if key in records}
        RECORD.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
