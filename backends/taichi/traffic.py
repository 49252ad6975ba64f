"""What passes between host and device: launches of kernels, copies and bytes, counted."""

from __future__ import annotations

import attrs


@attrs.define
class Traffic:
    """Counts since a program was compiled."""

    launches: int = 0
    """Launches of kernels that do physics."""
    copies_in: int = 0
    bytes_in: int = 0
    """To the device."""
    copies_out: int = 0
    bytes_out: int = 0
    """From the device."""
    scratch_bytes: int = 0
    """Scratch memory on the device, of all worlds that are run at once."""
    worlds_at_once: int = 0

    def brought(self, nbytes: int) -> None:
        self.copies_in += 1
        self.bytes_in += nbytes

    def fetched(self, nbytes: int) -> None:
        self.copies_out += 1
        self.bytes_out += nbytes
