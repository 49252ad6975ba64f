"""Tests on a device: one process runs on one device, so they have a process of their own.

    TEST_DEVICE=vulkan pytest tests/backends/gpu

runs them; `tox -e gpu` does so with those that take long. In other runs `test_own_process.py` starts that process
with the short ones, where there is a device.
"""

from __future__ import annotations

import pytest
from device import DEVICE, why_no_device


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = why_no_device()
    for item in items:
        if item.get_closest_marker("device") is None:
            continue
        if not DEVICE:
            item.add_marker(pytest.mark.skip(reason="has a process of its own: TEST_DEVICE=vulkan"))
        elif missing:
            item.add_marker(pytest.mark.skip(reason=missing))
