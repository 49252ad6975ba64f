"""Every field of the Model is filled by somebody, and nobody fills a field that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
import pytest
from compiling import compile_text

import dovetail
from dovetail.contracts.named import KINDS
from dovetail.contracts.types import MODEL_SPECS
from dovetail.loading import finalizer
from dovetail.mjcf.elements import columns, joint
from dovetail.mjcf.elements.columns import Columns, Pieces, column, filled, lengths, starts
from dovetail.mjcf.elements.object_kinds import KIND_OF_SIZE, SHORT, USER_SIZES
from dovetail.mjcf.model.arrays import COLUMNS, PIECES
from dovetail.registry import default_registry

GROUPS = ("opt.", "stat.", "vis.")
"""Settings, which have declared values until a file says others."""


def tables() -> Iterator[list[str]]:
    """Names of fields that belong together, table by table."""
    yield from (list(table) for table in (*COLUMNS, joint.DOF_COLUMNS))
    yield from ([*pieces.begins, *pieces.numbers] for pieces in PIECES)


def test_columns_name_fields_that_exist() -> None:
    rows = [name for pieces in PIECES for name in pieces.rows]
    named = [*rows, *(name for table in tables() for name in table)]
    assert [name for name in named if name not in MODEL_SPECS] == []
    assert len(named) == len(set(named))


def test_the_columns_of_a_table_have_as_many_rows() -> None:
    for table in tables():
        assert len({MODEL_SPECS[name].shape[0] for name in table}) == 1, table


def test_addresses_and_numbers_count_rows_of_their_own_table() -> None:
    for pieces in PIECES:
        assert {*pieces.begins.values(), *pieces.numbers.values()} <= set(pieces.rows)
        assert pieces.absent <= set(pieces.begins)


def unfilled(specs: dict[str, object]) -> list[str]:
    """Fields that neither the compiler nor what finalizes the model computes."""
    compiled = compile_text("<mujoco/>").values
    model = dovetail.loads("<mujoco/>")
    finished = finalizer(default_registry(), model)(model)
    return [name for name in specs if name not in {*compiled, *finished} and not name.startswith(GROUPS)]


def test_every_field_of_the_model_is_filled() -> None:
    assert unfilled(dict(MODEL_SPECS)) == []


def test_a_field_that_nobody_fills_is_found() -> None:
    assert unfilled({**MODEL_SPECS, "geom_nobody": None}) == ["geom_nobody"]


def test_the_compiler_makes_what_the_fields_declare() -> None:
    xml = '<mujoco><worldbody><body><geom size=".1"/><joint/><site user="1 2"/></body></worldbody></mujoco>'
    compiled = compile_text(xml)
    sizes = {**dict.fromkeys(("nuser_body", "nuser_jnt"), 0), **compiled.sizes, "nmocap*3": 0, "nmocap*4": 0}
    for name, value in compiled.values.items():
        if not name.startswith(GROUPS):
            assert value.dtype == columns.DTYPES[name], name
            assert value.shape == MODEL_SPECS[name].dims(sizes), name


def test_kinds_are_those_of_named_access() -> None:
    assert {kind: size for size, kind in KIND_OF_SIZE.items()} == {k: row.size for k, row in KINDS.items()}
    assert (SHORT["joint"], SHORT["equality"], SHORT["geom"]) == ("jnt", "eq", "geom")
    assert {f"name_{short}adr" for short in SHORT.values()} <= set(MODEL_SPECS)
    with_users = ("body", "jnt", "geom", "site", "cam", "tendon", "actuator", "sensor")
    assert set(USER_SIZES) == {f"nuser_{short}" for short in with_users}


@attrs.define
class Thing:
    solref: tuple[float, float]
    path: list[int] = attrs.field(factory=list)


def test_a_column_has_the_type_and_width_of_its_field() -> None:
    table: Columns = {"geom_solref": "solref", "geom_condim": lambda thing: len(thing.path)}
    values = filled(table, [Thing((1, 2)), Thing((3, 4), [5])])
    assert values["geom_solref"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert values["geom_condim"].tolist() == [0, 1]
    assert values["geom_condim"].dtype == np.int32
    assert filled(table, [])["geom_solref"].shape == (0, 2)


def test_the_width_of_a_column_may_be_a_size() -> None:
    assert column("geom_user", [(1, 2), (3, 4)], {"nuser_geom": 2}).shape == (2, 2)
    assert column("geom_user", [(), ()], {"nuser_geom": 0}).shape == (2, 0)
    with pytest.raises(ValueError, match="reshape"):
        column("geom_user", [(1, 2)], {"nuser_geom": 3})


def test_pieces_follow_one_another() -> None:
    pieces = Pieces(
        rows={"wrap_objid": lambda thing: thing.path},
        begins={"tendon_adr": "wrap_objid"},
        numbers={"tendon_num": "wrap_objid"},
        absent=frozenset(["tendon_adr"]),
    )
    values = pieces.filled([Thing((0, 0), [7, 8]), Thing((0, 0)), Thing((0, 0), [9])])
    assert {name: value.tolist() for name, value in values.items()} == {
        "wrap_objid": [7, 8, 9],
        "tendon_adr": [0, -1, 2],
        "tendon_num": [2, 0, 1],
    }
    assert lengths(values) == {"nwrap": 3, "ntendon": 3}


def test_starts_of_no_pieces() -> None:
    assert starts([]).tolist() == []
    assert starts([2, 0, 1]).tolist() == [0, 2, 2]
