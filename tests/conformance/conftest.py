"""Let these tests import tests/trees.py and tests/conformance/zoo.py."""

import sys
from pathlib import Path

_HERE = Path(__file__).parent
sys.path[:0] = [str(_HERE.parent), str(_HERE)]
