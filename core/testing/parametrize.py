"""A test per implementation and house check, in the manner of scikit-learn's estimator checks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from dovetail.implementation import Implementation
from dovetail.registry import Registry, default_registry
from dovetail.testing.cases import NotApplicableError, Subject
from dovetail.testing.checks import Check, checks_for


def parametrize_with_checks(
    records: Iterable[Implementation],
    *,
    models: Mapping[str, str] | None = None,
    expected_failures: Mapping[str, str] | None = None,
    registry: Registry | None = None,
    backends: Iterable[str] | None = None,
) -> pytest.MarkDecorator:
    """Parametrise a test over `implementation` and `check`; the test calls `check(implementation)`.

    `models`: further MJCF texts by name, for implementations that the samples do not exercise.
    `backends`: only these, where a record in lanes would be tried on every backend that prints them.
    `expected_failures`: reasons by `slot name@backend check_name`; such a check must fail.
    """
    expected = dict(expected_failures or {})
    parameters = []
    known = registry or default_registry()
    wanted = None if backends is None else set(backends)
    for record in [one for given in records for one in known.on_each_backend(given)]:
        if wanted is not None and record.backend not in wanted:
            continue
        subject = Subject.of(record, registry=registry, models=models)
        for check in checks_for(subject):
            name = f"{record.slot} {record.label} {check.__name__}"
            reason = expected.pop(name, None)
            marks = [] if reason is None else [pytest.mark.xfail(reason=reason, strict=True)]
            parameters.append(
                pytest.param(
                    record,
                    _for_pytest(check, subject),
                    id=f"{record.slot}-{record.label}-{check.__name__}",
                    marks=marks,
                )
            )
    if expected:
        raise ValueError(f"expected_failures names checks that do not exist: {', '.join(sorted(expected))}")
    return pytest.mark.parametrize(("implementation", "check"), parameters)


def _for_pytest(check: Check, subject: Subject) -> Callable[[Implementation], Any]:
    """The check as the test calls it: what cannot run here is skipped, with the reason."""

    @functools.wraps(check)
    def run(implementation: Implementation) -> None:
        missing = subject.registry.backend(implementation.backend).missing()
        if missing:
            pytest.skip(f"backend {implementation.backend} needs {missing}")
        try:
            check(subject)
        except NotApplicableError as reason:
            pytest.skip(str(reason))

    return run
