"""Let tests of single stages import tests/trees.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
