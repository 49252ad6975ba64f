"""The short tests of devices, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from device import DEVICE, why_no_device


@pytest.mark.slow
@pytest.mark.skipif(bool(DEVICE), reason="this is that process")
def test_the_short_tests_of_devices_pass(tmp_path: Path) -> None:
    missing = why_no_device("vulkan")
    if missing:
        pytest.skip(missing)
    here = Path(__file__).parent
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0", str(here)]
    environment = {**os.environ, "TEST_DEVICE": "vulkan", "DOVETAIL_PROGRESS": "off"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(
        command,
        env=environment,
        cwd=here.parents[2],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
