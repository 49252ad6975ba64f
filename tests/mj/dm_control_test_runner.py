"""Runs test modules of the installed dm_control, on mujoco or on the drop-in; prints what became of each test.

    python dm_control_test_runner.py FOLDER [drop-in] mjcf.debugging mujoco.engine … [--only WORD …]

FOLDER is an empty one, in which the tests write. Nothing of dm_control is copied.
"""

from __future__ import annotations

import importlib
import json
import os
import sys

from unittests import outcomes


def main(folder: str, words: list[str], only: list[str]) -> None:
    os.environ["TEST_TMPDIR"] = folder  # absl's name for it
    if words[0] == "drop-in":
        import dovetail.mj

        dovetail.mj.install()
        words = words[1:]
    modules = {word: importlib.import_module(f"dm_control.{word}_test") for word in words}
    from absl import flags

    flags.FLAGS(["dm_control"])  # some tests read settings, which are known once the modules are there
    found = {word: outcomes(module, only, words=2) for word, module in modules.items()}
    print(json.dumps({"on": sys.modules["mujoco"].__name__, "found": found}))


if __name__ == "__main__":
    words, _, only = " ".join(sys.argv[2:]).partition(" --only ")
    main(sys.argv[1], words.split(), only.split())
