"""What stands in a new package, by the slot that it is for.

A slot with something built in begins as a call of that. Tables that take rows of one's own get an example of such a
row; stages of which every implementation runs get an example of one.
"""

from __future__ import annotations

import pprint
import re
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from dovetail import pipeline
from dovetail.backend import REFERENCE
from dovetail.contracts.enums import JointType
from dovetail.errors import ArgumentError, listing
from dovetail.implementation import Implementation
from dovetail.pipeline import Stage
from dovetail.registry import Registry
from dovetail.signatures import signature
from dovetail.template.trials import AT_HAND, HUMANOID, loading_trial, trial

Record = dict[str, Any]
"""Arguments of an Implementation."""


@attrs.frozen(kw_only=True)
class Contents:
    """Files by where they go, the records, and what fills the files in."""

    slot: str
    records: tuple[Record, ...]
    files: Mapping[str, str]
    """Names of templates by paths."""
    words: Mapping[str, str] = attrs.field(factory=dict)
    imports: tuple[str, ...] = ()
    above: str = ""
    """Code of plugin.py before the records."""
    certified: bool = True
    """Whether `dovetail certify` finds it at work on models of its own."""


@attrs.frozen(kw_only=True)
class Asked:
    """A slot, and what shall be written for it."""

    slot: str
    stage: Stage
    key: str | None
    package: str
    lanes: bool | None
    """None: where there is something to begin with."""
    registry: Registry


def contents(slot: str, package: str, lanes: bool | None, registry: Registry) -> Contents:
    """What a package for a slot has, or an error that says why there cannot be one."""
    name, colon, key = slot.partition(":")
    stage = pipeline.stage(name)
    asked = Asked(
        slot=slot, stage=stage, key=key if colon else None, package=package, lanes=lanes, registry=registry
    )
    if colon and (stage.kind != "table" or not key):
        raise ArgumentError(
            f"{slot}: {name} has no rows; write {name} alone" if key else f"{slot} names no row"
        )
    if name in ("passive_force", "mjcf_element") and not colon:
        asked = attrs.evolve(asked, slot=f"{name}:{package}", key=package)
    if stage.kind == "table" and asked.key is None:
        raise ArgumentError(f"{slot} has rows; name one: {_rows(asked)}{_own_rows(asked)}")
    if stage.kind == "all":
        return _ALL[name](asked)
    base = _base(asked)
    if base is not None:
        return _begun(asked, base)
    if name not in _OWN_ROWS:
        raise ArgumentError(
            f"{stage.name} takes no rows of your own, and has none {key!r}; rows: {_rows(asked)}"
        )
    return _OWN_ROWS[name](asked)


def _rows(asked: Asked) -> str:
    return listing(f"{asked.stage.name}:{key}" for key in asked.registry.keys(asked.stage.name))


def _own_rows(asked: Asked) -> str:
    name = asked.stage.name
    return f", or one of your own, as {name}:{_EXAMPLES[name]}" if name in _OWN_ROWS else ""


# ---- what begins as a call of something built in


def _base(asked: Asked, slot: str | None = None) -> Implementation | None:
    """The built-in implementation that a new one begins with: the default one, or the first."""
    records = [r for r in asked.registry.of(slot or asked.slot) if r.is_builtin and r.backend == REFERENCE]
    return next((r for r in records if r.default), records[0] if records else None)


def _begun(asked: Asked, base: Implementation) -> Contents:
    loading = asked.stage.phase == "compile"
    words, records, files = _calls(asked, base)
    text = None if loading else trial(asked.slot, base.label, asked.registry)
    if asked.slot in _CALLED:
        words["given"] = _CALLED[asked.slot]
        test = "test_called_loading.py.txt"
    elif loading:
        mjcf, assets = loading_trial(asked.stage.name, asked.key)
        words |= {"trial": _text(mjcf), "assets": _written(assets)}
        test = "test_loading.py.txt"
    elif text is None:
        words["field"] = asked.stage.writes[0]
        test = "test_called.py.txt"
    else:
        words |= {"trial": _text(text), "reader": "load" if text == HUMANOID else "loads"}
        test = "test_stage.py.txt"
    return Contents(
        slot=asked.slot,
        records=records,
        files={**files, "tests/test_physics.py": test},
        words=words,
        certified=text in AT_HAND,
    )


_CALLED = {"geom_inertia:plane": "(np.array([1.0, 1.0, 0.1]), False)"}
"""Rows of loading that no model asks for, and what their tests call them with."""


def _calls(asked: Asked, base: Implementation) -> tuple[dict[str, str], tuple[Record, ...], dict[str, str]]:
    """Words, records and files of what calls a built-in implementation, in NumPy and maybe in lanes."""
    sibling = None if asked.lanes is False else asked.registry.written_in("lanes", base.slot, base.name)
    if asked.lanes and sibling is None:
        raise ArgumentError(
            f"{asked.slot} {base.label} has no sibling in lanes to begin with; use --no-lanes"
        )
    words = {"stage": asked.stage.name, "base": base.name, **_call("numpy", base)}
    records = [_as_of(asked, base, "numpy")]
    files = {"src/{package}/stage_numpy.py": "stage_numpy.py.txt"}
    if sibling is not None:
        words |= _call("lanes", sibling)
        records.append(_as_of(asked, sibling, "lanes"))
        files["src/{package}/stage_lanes.py"] = "stage_lanes.py.txt"
    return words, tuple(records), files


def _call(language: str, record: Implementation) -> dict[str, str]:
    """Where a function is, what it takes and how it is called."""
    module, _, function = record.target.partition(":")
    taken, given = [], []
    for name, parameter in signature(record.load()).parameters.items():
        optional = parameter.default is not parameter.empty
        taken.append(f"{name}: Any = {parameter.default!r}" if optional else f"{name}: Any")
        given.append(f"{name}={name}" if optional else name)
    return {
        f"{language}_module": module,
        f"{language}_function": function,
        f"{language}_parameters": ", ".join(taken),
        f"{language}_arguments": ", ".join(given),
    }


def _as_of(asked: Asked, base: Implementation, backend: str) -> Record:
    """A record that says what a built-in one says, but for names."""
    said = {
        "reads": None if base.reads is None else " ".join(base.reads),
        "reads_with": {feature: " ".join(names) for feature, names in base.reads_with.items()},
        "writes": None if base.writes is None else " ".join(base.writes),
        "supports": " ".join(base.supports),
        "requires": " ".join(base.requires),
        "install": base.install,
        "evaluations": base.evaluations,
        "facts": dict(base.facts),
    }
    usual = {field.name: field.default for field in attrs.fields(Implementation)}
    usual |= {"reads_with": {}, "facts": {}, "supports": "", "requires": ""}
    return {
        **_named(asked, asked.package, backend),
        "summary": f"Begins as the built-in {base.name}",
        **{name: value for name, value in said.items() if value != usual[name]},
    }


def _named(asked: Asked, name: str, backend: str = "numpy", module: str = "stage") -> Record:
    key = {} if asked.key is None else {"key": asked.key}
    target = f"{asked.package}.{module}_{backend}:{module}"
    return {"stage": asked.stage.name, **key, "name": name, "backend": backend, "target": target}


# ---- rows of one's own


def _force(asked: Asked) -> Contents:
    said = {
        "reads": "qvel qfrc_passive",
        "writes": "qfrc_passive",
        "summary": "Resistance growing with the square of velocity",
    }
    return _example(asked, "force", said, name="quadratic", module="force")


def _sensor(asked: Asked) -> Contents:
    said = {
        "needed": f"{asked.package}.stage_numpy:needed",
        "reads": "qvel sensordata",
        "writes": "sensordata",
        "summary": f"User sensors whose names begin with {asked.key}",
    }
    words = {
        "models": f'\nMODEL = """{_SLED.format(row=asked.key)}"""\n',
        "with_models": ', models={"sled": MODEL}',
    }
    return attrs.evolve(_example(asked, "sensor", said, words), certified=False)


_SLED = """
<mujoco>
  <worldbody><body><joint type="slide" axis="1 0 0"/><geom size=".1"/></body></worldbody>
  <sensor><user name="{row}" dim="1" datatype="real" needstage="vel"/></sensor>
</mujoco>
"""


def _constraint(asked: Asked) -> Contents:
    said = {
        "needed": f"{asked.package}.stage_numpy:needed",
        "summary": "The first degree of freedom is held where the model begins",
    }
    words = {"slide": str(int(JointType.SLIDE))}
    return _example(_without_lanes(asked), "constraint", said, words)


def _element(asked: Asked) -> Contents:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", str(asked.key)):
        raise ArgumentError(
            f"{asked.key!r} is no name for an element; use lower-case letters, as mjcf_element:wind"
        )
    field = f'model_field("{asked.package}:amount", "nbody", doc="From <{asked.key}>.")'
    said = {"model_fields": Code("(AMOUNT,)"), "summary": f'Reads <{asked.key}><on body="arm" amount="1"/>'}
    return attrs.evolve(
        _example(_without_lanes(asked), "element", said),
        certified=False,
        imports=("model_field",),
        above=f"\nAMOUNT = {field}\n",
    )


def _like(first: str) -> Callable[[Asked], Contents]:
    """A row that begins as a built-in one of its table."""

    def make(asked: Asked) -> Contents:
        name = asked.stage.name
        base = _base(asked, f"{name}:{first}")
        assert base is not None
        words, records, files = _calls(attrs.evolve(_without_lanes(asked), lanes=False), base)
        pairs = [loading_trial(name, key) for key in (first, asked.key)]
        texts = f"(\n    {_text(pairs[0][0])},\n    {_text(pairs[1][0])},\n)"
        assets = _written({**pairs[0][1], **pairs[1][1]})
        words |= {"like": f"{name}:{first}", "trials": texts, "assets": assets}
        return Contents(
            slot=asked.slot,
            records=records,
            files={**files, "tests/test_physics.py": "test_loading_row.py.txt"},
            words=words,
            certified=False,
        )

    return make


_OWN_ROWS: dict[str, Callable[[Asked], Contents]] = {
    "passive_force": _force,
    "sensor": _sensor,
    "constraint_rows": _constraint,
    "mjcf_element": _element,
    "load_mesh": _like(".obj"),
    "flex_build": _like("grid"),
}
"""Tables to which packages add, and what such a row begins as."""

_EXAMPLES = {
    "passive_force": "wind",
    "sensor": "odometer",
    "constraint_rows": "door",
    "mjcf_element": "wind",
    "load_mesh": ".ply",
    "flex_build": "spiral",
}


# ---- stages of which every implementation runs


def _watch(asked: Asked) -> Contents:
    field = f'data_field("{asked.package}:peak", "nv", unit="rad/s or m/s", doc="Greatest speed so far.")'
    said = {
        "reads": "qvel",
        "writes": f"{asked.package}:peak",
        "fields": Code("(PEAK,)"),
        "summary": "The greatest speed of each degree of freedom",
    }
    return attrs.evolve(
        _example(_without_lanes(asked), "watch", said),
        imports=("data_field",),
        above=f"\nPEAK = {field}\n",
        certified=False,
    )


def _check(asked: Asked) -> Contents:
    said = {"summary": "Bodies that are too heavy to be meant"}
    return attrs.evolve(_example(_without_lanes(asked), "check", said), certified=False)


_ALL: dict[str, Callable[[Asked], Contents]] = {
    "step_begin": _watch,
    "step_end": _watch,
    "check_model": _check,
}


# ---- pieces


@attrs.frozen
class Code:
    """A value that stands in a record as it is."""

    text: str

    def __repr__(self) -> str:
        return self.text


def _example(
    asked: Asked,
    example: str,
    said: Mapping[str, Any],
    words: Mapping[str, str] | None = None,
    *,
    name: str = "",
    module: str = "stage",
) -> Contents:
    """An example of a row: templates of its name, in NumPy and, unless it is not wanted, in lanes."""
    backends = ("numpy",) if asked.lanes is False else ("numpy", "lanes")
    files = {f"src/{{package}}/{module}_{backend}.py": f"{example}_{backend}.py.txt" for backend in backends}
    return Contents(
        slot=asked.slot,
        records=tuple(
            {**_named(asked, name or asked.package, backend, module), **said} for backend in backends
        ),
        files={**files, "tests/test_physics.py": f"test_{example}.py.txt"},
        words={"row": str(asked.key), "stage": asked.stage.name, **(words or {})},
    )


def _without_lanes(asked: Asked) -> Asked:
    if asked.lanes:
        raise ArgumentError(f"{asked.slot} has no example in lanes; use --no-lanes")
    return attrs.evolve(asked, lanes=False)


def _text(text: str) -> str:
    """A text as Python writes it: MJCF over several lines."""
    return f'"""{text}"""' if "<" in text else f'"{text}"'


def _written(value: object) -> str:
    """A value as Python writes it, with the usual quotation marks."""
    text = pprint.pformat(value, width=96, sort_dicts=False)
    return text if '"' in text else text.replace("'", '"')


def record_code(record: Record) -> str:
    """An entry of the list in plugin.py."""
    lines = []
    for name, value in record.items():
        lines.append(f"            {name}={_written(value)},\n".replace("\n", "\n            ").rstrip(" "))
    return f"        Implementation(\n{''.join(lines)}        ),\n"
