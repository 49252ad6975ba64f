"""Fixtures for tests of implementations and models, found by pytest through its entry point.

Importing this module costs nothing: numpy, mujoco and the engine are imported by the fixture that needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dovetail.contracts.types import Model


@pytest.fixture(scope="session")
def dovetail_model() -> Callable[[str], Model]:
    """`dovetail_model(xml_or_name)`: a Model from MJCF text, or from a file's or built-in model's name."""

    def load(text: str) -> Model:
        import dovetail

        return dovetail.loads(text) if text.lstrip().startswith("<") else dovetail.load(text)

    return load
