"""Fixtures for tests of implementations and models, found by pytest through its entry point.

Importing this module costs nothing: numpy, mujoco and the engine are imported by the fixture that needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dovetail.compare.ab import ABReport
    from dovetail.compare.conform import ConformReport
    from dovetail.contracts.types import Model


@pytest.fixture(scope="session")
def dovetail_model() -> Callable[[str], Model]:
    """`dovetail_model(text_or_name)`: a Model from MJCF text, or from a file's or a built-in model's name."""

    def load(text: str) -> Model:
        import dovetail

        return dovetail.loads(text) if text.lstrip().startswith("<") else dovetail.load(text)

    return load


@pytest.fixture(scope="session")
def conform_model() -> Callable[..., ConformReport]:
    """`conform_model(model, **options)`: compare with MuJoCo (skipped if it is not installed), fail if out of
    tolerance; options as of dovetail.compare.conform.conform."""

    def check(model: Any, **options: Any) -> ConformReport:
        pytest.importorskip("mujoco")
        from dovetail.compare.conform import conform

        report = conform(model, **options)
        assert report.ok, report.table()
        return report

    return check


@pytest.fixture(scope="session")
def compare_stage() -> Callable[..., ABReport]:
    """`compare_stage(model, stage, a, b, **options)`: fail if two implementations of a stage disagree; options as
    of dovetail.compare.ab.compare."""

    def check(model: Any, stage: str, a: str, b: str, **options: Any) -> ABReport:
        from dovetail.compare.ab import compare

        report = compare(model, stage, a, b, **options)
        assert report.ok, report.table()
        return report

    return check
