"""Calls of MuJoCo 3.4.0 on a stack that nobody has used, for models in which a height field meets a flex."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any


def call(function: Callable[..., None], model: Any, *arguments: Any) -> None:
    """Call MuJoCo; for models with height fields, on a stack of its own.

    Between a height field and a flex, 3.4.0 asks for the type of a shape that it never set. What an earlier call left
    on the stack may look like a sphere or a capsule: then contacts are wrong, or the process dies. A thread with a
    stack that nobody has used finds zeros there. Each is larger than those before, since used ones are kept.
    """
    if not model.nhfield:
        function(model, *arguments)
        return
    before = threading.stack_size(next(_STACKS))
    try:
        with ThreadPoolExecutor(1) as alone:
            alone.submit(function, model, *arguments).result()
    finally:
        threading.stack_size(before)


_STACKS = count(1 << 20, 1 << 12)
"""Sizes of stacks in bytes."""
