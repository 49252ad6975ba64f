"""Damaged model files never give anything but a typed error, whatever was damaged."""

from __future__ import annotations

import random
import re

import pytest
from compiling import compile_text
from test_attributes import ACTUATORS, JOINTED, TREE
from test_looks import scene

from dovetail.errors import MJCFError

MODELS = [
    TREE.format('angle="radian"'),
    JOINTED.format("", "".join(ACTUATORS.values())),
    scene('<camera pos="1 2 3" sensorsize="1 1" resolution="3 4"/><light dir="1 0 0"/>'),
]
SCRAPS = [
    "0",
    "-1",
    "1e300",
    "1e-300",
    "nan",
    '"',
    "<",
    ">",
    "/>",
    " ",
    "1 1 1",
    "true",
    "free",
    "ball",
    "plane",
    "mesh",
    "0 0 0",
    "999999999",
    "&",
    'name="a"',
    "é",
    "\x00",
]


def damaged(text: str, rng: random.Random) -> str:
    """The text with something replaced, cut out, written over an attribute, or repeated elsewhere."""
    at, scrap = rng.randrange(len(text)), rng.choice(SCRAPS)
    kind = rng.randrange(4)
    if kind == 0:
        return text[:at] + scrap + text[at + rng.randrange(6) :]
    if kind == 1:
        return text[:at] + text[at + rng.randrange(60) :]
    if kind == 2:
        value = rng.choice(list(re.finditer('="[^"]*"', text)))
        return text[: value.start()] + f'="{scrap}"' + text[value.end() :]
    source = rng.randrange(len(text))
    return text[:at] + text[source : source + 40] + text[at:]


@pytest.mark.parametrize("seed", range(6))
def test_damage_is_reported(seed):
    rng = random.Random(seed)
    messages = []
    for _ in range(60):
        text = damaged(rng.choice(MODELS), rng)
        try:
            compile_text(text)
        except MJCFError as error:
            messages.append(str(error))
    assert len(messages) > 20
    assert all(message.startswith("<string>:") for message in messages)
