"""Every mistake is refused at its line with a message that helps; MuJoCo refuses the same documents."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from compiling import compile_text
from invalid import MISTAKES, Mistake, document
from oracle import Oracle

import dovetail
from dovetail.errors import MJCFError, UnsupportedMJCFError


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    pytest.importorskip("mujoco")
    asked = Oracle()
    yield asked
    asked.close()


def test_the_model_without_mistakes_is_sound(oracle: Oracle) -> None:
    assert oracle.verdict(document()) == ""
    assert dovetail.loads(document()).nbody == 3


def test_there_are_many_mistakes() -> None:
    assert len({mistake.document for mistake in MISTAKES}) >= 150


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: f"{mistake.section}: {mistake.line}"[:80])
def test_mistake(mistake: Mistake, oracle: Oracle) -> None:
    start = time.process_time()
    with pytest.raises(MJCFError) as caught:
        compile_text(mistake.document, filename="model.xml")
    assert time.process_time() - start < 1.0
    assert not isinstance(caught.value, UnsupportedMJCFError)
    assert str(caught.value).startswith(f"model.xml:{mistake.number}: <")
    assert mistake.says in str(caught.value)
    assert bool(oracle.verdict(mistake.document)) == (not mistake.stricter)
