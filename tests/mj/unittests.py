"""Running the unit tests of other packages: what became of each, by its name."""

from __future__ import annotations

import contextlib
import sys
import types
import unittest
from collections.abc import Iterator, Sequence


def each(tests: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


def name_of(test: unittest.TestCase, words: int = 1) -> str:
    """The last words of its name: 1 for the method, 2 with its class.

    An id may hold the values of a parametrised test, which need not differ and may have dots."""
    if not isinstance(test, unittest.TestCase):
        return str(test.id())  # what stands for a class or a module that could not be set up
    return ".".join((type(test).__name__, test._testMethodName)[-words:])


class Outcomes(unittest.TestResult):
    """What became of each test: `passed`, `skipped`, or how it failed."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.words = words
        self.outcomes: dict[str, str] = {}

    def startTest(self, test: unittest.TestCase) -> None:
        name = name_of(test, self.words)
        if name in self.outcomes:
            raise SystemExit(f"two tests are called {name}")
        self.outcomes[name] = "passed"

    def addError(self, test: unittest.TestCase, err: object) -> None:
        self.outcomes[name_of(test, self.words)] = str(self._exc_info_to_string(err, test))  # type: ignore[attr-defined]

    addFailure = addError  # noqa: N815

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: object) -> None:
        if err is not None:
            self.addError(test, err)

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        self.outcomes[name_of(test, self.words)] = "succeeds, but should not"

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self.outcomes[name_of(test, self.words)] = "skipped"


def outcomes(module: types.ModuleType, chosen: Sequence[str] = (), words: int = 1) -> dict[str, str]:
    """Run the tests of a module, or those with a chosen word in their names; what they print goes to stderr."""
    tests = each(unittest.defaultTestLoader.loadTestsFromModule(module))
    wanted = [test for test in tests if not chosen or any(word in name_of(test, words) for word in chosen)]
    found = Outcomes(words)
    with contextlib.redirect_stdout(sys.stderr):
        unittest.TestSuite(wanted).run(found)
    return found.outcomes
