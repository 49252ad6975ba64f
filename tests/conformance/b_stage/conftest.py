"""Let these tests import tests/trees.py and tests/stages/smooth_reference.py."""

import sys
from pathlib import Path

_TESTS = Path(__file__).parents[2]
sys.path[:0] = [str(_TESTS), str(_TESTS / "stages")]
