"""Which geom's parameters a contact has where priorities differ, by every rule and implementation."""

from __future__ import annotations

import pytest
from collisions import contacts
from contact_scene import poses, scene
from implementations import How, implementations
from two_spheres import close, parameters

import dovetail

STRONG = 'priority="1" friction="0.5 0.008 0.0003" solref="0.03 0.9" solimp="0.85 0.92 0.0015 0.55 2.5"'


WEAK = 'friction="0.8 0.01 0.001" solref="0.02 1" solimp="0.9 0.95 0.001 0.5 2" solmix="100" condim="{}"'


@pytest.mark.parametrize("order", ["first", "second"])
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
def test_priority_wins_all_parameters(order: str, condim: int) -> None:
    """Also a lower condim, and solmix is not asked."""
    sides = (STRONG, WEAK.format(condim))
    found = parameters(*(sides if order == "first" else sides[::-1]))
    close(found["friction"], [0.5, 0.5, 0.008, 0.0003, 0.0003])
    close(found["solref"], [0.03, 0.9])
    close(found["solimp"], [0.85, 0.92, 0.0015, 0.55, 2.5])
    assert found["dim"] == 3


@pytest.mark.parametrize(
    ("first", "second", "winner"), [(-1, 0, 0.8), (-1, -2, 0.2), (3, 2, 0.2), (-5, -5, 0.8)]
)
def test_priority_may_be_negative(first: int, second: int, winner: float) -> None:
    found = parameters(f'priority="{first}" friction="0.2"', f'priority="{second}" friction="0.8"')
    close(found["friction"][0], winner)


def test_priority_equal_combines_and_takes_the_larger_condim() -> None:
    found = parameters('priority="2" condim="1" friction="0.2"', 'priority="2" condim="4" friction="0.1"')
    assert found["dim"] == 4
    close(found["friction"][0], 0.2)


def test_priority_does_not_affect_margin_and_gap() -> None:
    found = parameters('priority="1" gap="0.001" margin="0.003"', 'gap="0.002" margin="0.009"')
    close(found["includemargin"], 0.009 - 0.002)


def test_priority_does_not_affect_a_pair() -> None:
    contact = '<pair geom1="a" geom2="b" condim="4" friction="0.9" solref="0.05 0.6"/>'
    found = parameters(STRONG, WEAK.format(6), contact=contact)
    close(found["friction"], [0.9, 1.0, 0.005, 0.0001, 0.0001])
    close(found["solref"], [0.05, 0.6])
    assert found["dim"] == 4


def test_priority_is_read_from_the_file() -> None:
    model = dovetail.loads('<mujoco><worldbody><geom size="1" priority="2"/></worldbody></mujoco>')
    assert model.geom_priority[0] == 2


@pytest.mark.parametrize("how", implementations("resolve_priority", "higher", "ignore"))
def test_every_implementation_does_what_its_name_says(how: How) -> None:
    name, backend = how.label.split("@")
    model = dovetail.loads(scene(priorities=True, pairs=False))
    decided = 0
    for found in contacts(model, *poses(), backend, rules=(("resolve_priority", name),)):
        for (a, b), friction in zip(found.geoms, found.fields["friction"], strict=True):
            pair = model.geom_friction[[a, b], 0]
            difference = int(model.geom_priority[a]) - int(model.geom_priority[b])
            alone = name == "higher" and difference != 0
            wanted = pair[0 if difference > 0 else 1] if alone else pair.max()
            close(friction[0], max(wanted, 1e-5))
            decided += alone and wanted < pair.max()
    assert decided > 0 or name == "ignore"
