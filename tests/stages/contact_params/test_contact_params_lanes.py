"""Parameters of contacts in lanes: explicit pairs, priorities, mixing, margins and flags, as in the reference."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from collisions import Found, Rules, assert_same, contacts, same_bits
from contact_scene import NWORLD, poses, scene
from lane_backend import LANES

import dovetail
from dovetail.contracts.enums import DisableBit, EnableBit

TOLERANCE = 1e-13
"""The same formulas, a few roundings apart."""


@cache
def model(priorities: bool = True, pairs: bool = True) -> dovetail.Model:
    return dovetail.loads(scene(0, priorities=priorities, pairs=pairs))


def check(model: dovetail.Model, rules: Rules = ()) -> list[Found]:
    ours, wanted = (contacts(model, *poses(), backend, rules=rules) for backend in (LANES, "numpy"))
    for found, expected in zip(ours, wanted, strict=True):
        assert_same(found, expected, TOLERANCE)
    return ours


@pytest.mark.parametrize(("priorities", "pairs"), [(True, True), (False, False)])
def test_parameters_are_the_references(priorities: bool, pairs: bool) -> None:
    found = check(model(priorities, pairs))
    assert sum(len(f.geoms) for f in found) > 10 * NWORLD


def test_a_model_may_be_edited_between_runs() -> None:
    """The kernel reads values from the Model, so nothing is compiled again."""
    edited = model()
    before = {
        name: np.array(getattr(edited, name)) for name in ("geom_friction", "geom_solref", "pair_margin")
    }
    edited.geom_friction[:] *= 1.7
    edited.geom_solref[4] = 0.08, 1.2
    edited.pair_margin[0] = 0.5
    check(edited)
    for name, value in before.items():
        getattr(edited, name)[:] = value


def test_the_override_flag_replaces_parameters() -> None:
    opt = model().opt
    flags = int(opt.enableflags)
    opt.enableflags = flags | int(EnableBit.OVERRIDE)
    check(model())
    opt.enableflags = flags


def test_no_contacts_while_they_are_disabled() -> None:
    opt = model().opt
    flags = int(opt.disableflags)
    opt.disableflags = flags | int(DisableBit.CONTACT)
    assert all(len(found.geoms) == 0 for found in check(model()))
    opt.disableflags = flags


def test_other_rules_in_place_of_mujocos() -> None:
    check(model(False, True), (("combine_friction", "geometric_mean"), ("combine_margin", "sum")))


def test_tiles_of_one_world_give_the_same_bits() -> None:
    for a, b in zip(contacts(model(), *poses(), lanes=1), contacts(model(), *poses()), strict=True):
        assert same_bits(a, b)
