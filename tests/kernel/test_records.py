"""The built-in records: importable, summarised, fitting their stages, with siblings of the same name."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections import Counter

import pytest

import dovetail
from dovetail import pipeline
from dovetail.contracts.types import DATA_SPECS
from dovetail.features import features
from dovetail.implementation import Implementation
from dovetail.registry import build_registry

REGISTRY = build_registry(third_party=False)
FIELDS = REGISTRY.kernel_fields
RECORDS = REGISTRY.implementations


def identity(record: Implementation) -> str:
    return f"{record.slot}-{record.label}"


@pytest.mark.parametrize("record", RECORDS, ids=identity)
def test_a_target_can_be_imported_and_fits_its_stage(record: Implementation) -> None:
    stage = pipeline.stage(record.stage)
    REGISTRY.backend(record.backend).check(record, stage, record.load())


def test_every_slot_with_something_built_in_has_one_default() -> None:
    """So that a package which brings another one changes nothing for those who do not choose it."""
    names: dict[str, set[str]] = {record.slot: set() for record in RECORDS}
    for record in RECORDS:
        if record.default:
            names[record.slot].add(record.name)
    assert {slot: found for slot, found in names.items() if len(found) != 1} == {}


@pytest.mark.parametrize("record", RECORDS, ids=identity)
def test_a_record_has_a_summary_of_one_line(record: Implementation) -> None:
    assert 3 < len(record.summary) < 100
    assert "\n" not in record.summary


@pytest.mark.parametrize("record", RECORDS, ids=identity)
def test_writes_stay_within_what_the_stage_may_write(record: Implementation) -> None:
    stage = pipeline.stage(record.stage)
    own = {field.name for field in record.fields}
    extra = set(record.writes or ()) - own - set(stage.writes)
    # A row of a table may write a field that its declaration does not give to another stage.
    assert all(DATA_SPECS[f].writer in (None, record.stage) for f in extra - FIELDS.keys())
    assert all(record.stage in (FIELDS[f].writer, *FIELDS[f].changed_by) for f in extra & FIELDS.keys())


def test_every_kernel_field_has_a_writer_and_a_reader() -> None:
    lanes = [r for r in RECORDS if r.backend != "numpy"]
    out = {f for transfer in REGISTRY.transfers for made in transfer.out.values() for f in made}
    for field in FIELDS.values():
        assert any(r.stage == field.writer and field.name in (r.writes or ()) for r in lanes), field.name
        read = any(field.name in (r.reads or ()) for r in lanes)
        assert read or field.name in out or field.name in UNREAD, field.name


UNREAD = {"contact_list.index_in_pair", "row_counts.active", "dual.force", "iterations.noslip"}
"""For tests and for stages of others; forces to begin with, which noslip writes itself if nobody did; and counts that
are added to the solver's when a kernel ends."""


@pytest.mark.parametrize("record", RECORDS, ids=identity)
def test_a_record_reads_no_more_than_its_stage_may(record: Implementation) -> None:
    stage = pipeline.stage(record.stage)
    own = {field.name for field in record.fields}
    rows_before = stage.writes if stage.kind == "table" else ()  # a row may add to what an earlier row wrote
    data = set(record.reads or ()) - own - FIELDS.keys()
    assert data <= {*stage.reads, *stage.accumulates, *rows_before}


@pytest.mark.parametrize("record", [r for r in RECORDS if r.backend == "numpy"], ids=identity)
def test_the_reference_touches_no_kernel_field(record: Implementation) -> None:
    assert FIELDS.keys().isdisjoint((*(record.reads or ()), *(record.writes or ())))


def test_every_reference_has_a_sibling_where_the_function_exists() -> None:
    labels = {(r.slot, r.label) for r in RECORDS}
    for record in RECORDS:
        module, _, function = record.target.partition(":")
        sibling = module.replace("_numpy", "_lanes")
        if record.backend == "numpy" and sibling != module and importlib.util.find_spec(sibling):
            written = hasattr(importlib.import_module(sibling), function)
            assert written == ((record.slot, f"{record.name}@taichi") in labels), record.slot


def test_siblings_share_file_and_function_names() -> None:
    for record in RECORDS:
        other = REGISTRY.find(record.slot, record.name, "taichi" if record.backend == "numpy" else "numpy")
        if other is not None:
            assert record.target.replace("_numpy:", "_lanes:") == other.target.replace("_numpy:", "_lanes:")
            assert (record.evaluations, record.fields, record.default) == (
                other.evaluations,
                other.fields,
                other.default,
            )


def test_a_slot_has_at_most_one_default_name() -> None:
    names = {(r.slot, r.name) for r in RECORDS if r.default}
    assert max(Counter(slot for slot, _ in names).values()) == 1


def test_every_name_has_a_numpy_reference() -> None:
    for record in RECORDS:
        assert REGISTRY.find(record.slot, record.name, "numpy") is not None, identity(record)


def test_supported_features_exist() -> None:
    model = dovetail.loads("<mujoco/>")
    groups = {
        "joint",
        "geom",
        "trn",
        "dyn",
        "gain",
        "bias",
        "body",
        "tendon",
        "actuator",
        "flex",
        "medium",
        "eq",
        "ccd",
        "distance",
        "deformable",
        "flex_meeting",
    }
    assert {f.partition(".")[0] for f in features(model)} <= groups
    for record in RECORDS:
        assert {f.partition(".")[0] for f in record.supports} <= groups, identity(record)


def test_records_import_no_backend() -> None:
    code = (
        "import sys; from dovetail.registry import build_registry; build_registry(third_party=False); "
        "print([m for m in ('taichi', 'quadrants', 'mujoco', 'scipy', 'lxml') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
