"""What functions of others take.

From Python 3.14 on, annotations are evaluated when they are asked for. Those of a function may name what is imported
for type checkers only, so they are asked for as texts: what a function takes has nothing to do with them.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """Its signature, without a look-up of the names in its annotations."""
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.STRING)
    return inspect.signature(function)
