"""What goes wrong with devices, as errors that say first what is missing and then what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dovetail.errors import DovetailError

ON_PROCESSOR = 'run on the processor: arch="cpu" (DOVETAIL_TAICHI_ARCH=cpu), or backend="native"'


class DeviceError(DovetailError, RuntimeError):
    """A device failed while it compiled or ran a kernel."""


class DeviceMemoryError(DeviceError, MemoryError):
    """The device has not enough memory."""


class DeviceMismatchError(DeviceError):
    """A device does not compute what the processor computes."""


@contextmanager
def failures(arch: str) -> Iterator[None]:
    """A runtime's exceptions as ours: a device that was lost, or that cannot do something."""
    try:
        yield
    except DovetailError:
        raise
    except RuntimeError as problem:
        text = str(problem).strip().splitlines()
        raise DeviceError(
            f"the {arch} device failed: {text[-1] if text else 'it does not say why'}. Worlds that were not run to "
            "the end are as they were. If the device was lost, start a new process; else use fewer worlds, or "
            f"{ON_PROCESSOR}"
        ) from problem
