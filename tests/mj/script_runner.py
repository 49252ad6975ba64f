"""Runs a script that was written for mujoco, on mujoco or with only the import changed; prints what it prints, and
how long it took.

    python script_runner.py scripts/mocap.py [drop-in]

The script runs three times in one process: the first time includes making plans, the least of the others does not.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import time
from pathlib import Path


def changed(text: str) -> str:
    """The script with only the import changed."""
    text = re.sub(r"^import mujoco$", "import dovetail.mj as mujoco", text, flags=re.MULTILINE)
    return re.sub(r"^from mujoco import", "from dovetail.mj import", text, flags=re.MULTILINE)


def main(path: str, drop_in: bool, times: int) -> None:
    text = Path(path).read_text()
    code = compile(changed(text) if drop_in else text, path, "exec")
    printed, seconds = [], []
    for _ in range(times):
        out = io.StringIO()
        begin = time.process_time()
        with contextlib.redirect_stdout(out):
            exec(code, {"__name__": "__main__"})
        seconds.append(time.process_time() - begin)
        printed.append(out.getvalue())
    print(json.dumps({"printed": printed, "seconds": seconds, "mujoco": "mujoco" in sys.modules}))


if __name__ == "__main__":
    main(sys.argv[1], "drop-in" in sys.argv[2:], next((int(n) for n in sys.argv[2:] if n.isdigit()), 3))
