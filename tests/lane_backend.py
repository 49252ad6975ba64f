"""The backend on which tests run what is written in lanes: `native`, or the second opinion that
`TEST_LANES` names.

    TEST_LANES=taichi pytest tests/backends/lanes

runs the same tests on Taichi, `quadrants` on its fork; `tox -e second-opinion` does both.
"""

from __future__ import annotations

import os

from dovetail.backends.native.compilers import choose_compiler
from dovetail.registry import default_registry

WANTED = os.environ.get("TEST_LANES", "native")
BACKENDS = {"native": "native", "taichi": "taichi", "quadrants": "taichi"}
"""The backend of each name; two are runtimes of one."""

LANES = BACKENDS[WANTED]
"""What tests mean by the lane backend."""

if LANES != WANTED or WANTED == "taichi":
    os.environ["DOVETAIL_TAICHI_RUNTIME"] = WANTED

OTHERS = tuple(name for name in dict.fromkeys(BACKENDS.values()) if name != LANES)
"""Lane backends that the default suite leaves to the second opinion."""

NO_COMPILER = choose_compiler() is None


def lanes_missing() -> str:
    """What the lane backend lacks here, or an empty string."""
    return default_registry().backend(LANES).missing()


def taichi_missing() -> str:
    """What the Taichi backend lacks here, or an empty string."""
    return default_registry().backend("taichi").missing()
