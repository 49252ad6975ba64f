"""What goes wrong on workers."""

from __future__ import annotations

from dovetail.errors import DovetailError


class WorkerError(DovetailError):
    """Something failed on a worker, or there is none; the message says in which worlds and steps."""
