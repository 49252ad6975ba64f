"""One Ray of this machine for the tests of a file, with room for four workers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def local_ray() -> Iterator[object]:
    pytest.importorskip("ray")
    from dovetail.distributed import connect, shutdown

    yield connect(4)
    shutdown()
