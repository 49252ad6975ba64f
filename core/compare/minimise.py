"""The smallest model and state that still show something: a divergence, a bad state or a crash.

    from dovetail.compare.minimise import minimise
    from dovetail.compare.shows import GoesBad

    smallest = minimise("robot.xml", GoesBad(steps=200))
    smallest.save("bug")           # bug/model.xml, bug/state.npz, bug/README.txt

Elements, attributes and digits go as long as it still shows; the state follows by the names of joints, actuators and
bodies, and is simplified at last. It ends when nothing more can go, or when its time or its trials are used up.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dovetail.compare.carried import OWNERS, Carried
from dovetail.compare.shows import InProcess, Shows, Trial, document
from dovetail.compare.shrink import DIGITS, Shrinking, parsed, written
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.errors import ArgumentError, DovetailError

SECONDS = 120.0
TRIALS = 5000

KEY = "minimal"
"""The keyframe that holds the state."""
IN_KEY = {
    "qpos": "qpos",
    "qvel": "qvel",
    "act": "act",
    "ctrl": "ctrl",
    "mocap_pos": "mpos",
    "mocap_quat": "mquat",
}
"""Attributes of a keyframe by state field."""


@attrs.frozen(kw_only=True)
class Minimal:
    """What is left."""

    text: bytes
    """MJCF, with the state as a keyframe as far as one can hold it."""
    assets: Mapping[str, bytes] = attrs.field(repr=False)
    state: Mapping[str, Array] = attrs.field(repr=False)
    """All of the state, by field."""
    shows: str
    """What is shown, in words."""
    record: str
    """The same as Python."""
    keyframe: bool
    """Whether the text holds the state as a keyframe."""
    bodies: int
    bodies_before: int
    elements: int
    elements_before: int
    trials: int
    seconds: float
    complete: bool
    """Whether nothing more could go; else time or trials were used up."""

    def headline(self) -> str:
        end = "" if self.complete else "; stopped by its budget"
        return (
            f"{self.bodies_before} bodies became {self.bodies}, {self.elements_before} elements {self.elements}, in "
            f"{self.trials} trials and {self.seconds:.1f} s{end}"
        )

    def explanation(self) -> str:
        """How to reproduce it, for an issue."""
        loose = [name for name in self.state if name not in IN_KEY and np.any(self.state[name])]
        key = (
            f"The state is also the keyframe {KEY!r} of model.xml"
            if self.keyframe
            else "The state is state.npz"
        )
        rest = f", but for {', '.join(loose)}" if self.keyframe and loose else ""
        kind = self.record.partition("(")[0]
        return (
            f"What it shows: {self.shows}.\n\n"
            "    from dovetail.compare.minimise import still_shows\n"
            f"    from dovetail.compare.shows import {kind}\n\n"
            f'    print(still_shows("model.xml", "state.npz", {self.record}))\n'
            f"\n{key}{rest}.\n{self.headline()}.\n"
        )

    def save(self, folder: str | Path) -> Path:
        """Write model.xml, its files, state.npz and README.txt into a folder; the path of the model."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.assets.items():
            target = (folder / name).resolve()
            if not target.is_relative_to(folder.resolve()):
                raise DovetailError(
                    f"the file {name!r} of the model lies outside of its folder; copy it by hand"
                )
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        (folder / "model.xml").write_bytes(self.text)
        np.savez(folder / "state.npz", **dict[str, Any](self.state))
        (folder / "README.txt").write_text(self.explanation(), encoding="utf-8")
        return folder / "model.xml"

    def to_dict(self) -> dict[str, Any]:
        hidden = ("text", "assets", "state")
        return {
            **attrs.asdict(self, filter=lambda a, _: a.name not in hidden),
            "xml": self.text.decode(),
            "state": {name: np.asarray(value).tolist() for name, value in self.state.items()},
        }


def minimise(
    model: str | Path,
    shows: Shows,
    *,
    state: Mapping[str, Array] | None = None,
    keyframe: int | str | None = None,
    seed: int | None = None,
    seconds: float = SECONDS,
    trials: int = TRIALS,
    isolated: bool = False,
) -> Minimal:
    """Make a model (a file, a built-in model's name, or MJCF text) and a state small.

    The state is given by its fields, by a keyframe or by the seed of a random one; else it is the initial one.
    `isolated`: every trial runs in another process, for what may crash or hang.
    """
    if sum(given is not None for given in (state, keyframe, seed)) > 1:
        raise ArgumentError("give one of state, keyframe and seed")
    root, assets = _source(model)
    _name_all(root)
    what = InProcess(shows) if isolated else shows
    try:
        search = _Search(root, assets, what, time.monotonic() + seconds, trials)
        return search.run(_state(root, assets, state, keyframe, seed))
    finally:
        if isinstance(what, InProcess):
            what.close()


def still_shows(model: str | Path, state: str | Path, shows: Shows, *, isolated: bool = False) -> bool:
    """Whether a model file with a state.npz beside it shows something: what `Minimal.save` wrote, tried again."""
    root, assets = document(model)
    with np.load(state) as arrays:
        fields = dict(arrays)
    plain = Trial(written(root), assets, Carried({}))
    loaded = plain.model_or_none()
    carried = Carried({}) if loaded is None else Carried.of(loaded, fields)
    what = InProcess(shows) if isolated else shows
    try:
        return what.shows(attrs.evolve(plain, state=carried))
    finally:
        if isinstance(what, InProcess):
            what.close()


def _source(model: str | Path) -> tuple[Any, dict[str, bytes]]:
    from dovetail.loading import MODELS, builtin_models

    if isinstance(model, str) and model.lstrip().startswith("<"):
        return parsed(model.encode()), {}
    if isinstance(model, str) and model in builtin_models():
        return document(MODELS / f"{model}.xml")
    return document(model)


_NAMED = {"body", "joint", "freejoint"}


def _name_all(root: Any) -> None:
    """Give a name to all that a part of the state may belong to."""
    taken = {e.get("name") for e in root.iter()}
    wanted = [e for part in root.iter("worldbody") for e in part.iter() if e.tag in _NAMED]
    wanted += [e for section in ("actuator", "equality") for part in root.iter(section) for e in part]
    for number, element in enumerate(wanted):
        if not element.get("name"):
            name = f"{element.tag[0]}{number}"
            while name in taken:
                name += "_"
            taken.add(name)
            element.set("name", name)


def _state(
    root: Any, assets: Mapping[str, bytes], state: Any, keyframe: int | str | None, seed: int | None
) -> Carried:
    if state is None and keyframe is None and seed is None:
        return Carried({})
    from dovetail.compare.states import random_state
    from dovetail.contracts.derive import make_data, reset

    model = Trial(written(root), assets, Carried({})).model()
    if seed is not None:
        return Carried.of(model, random_state(model, np.random.default_rng(seed)))
    if state is not None:
        return Carried.of(model, state)
    data = make_data(model)
    reset(model, data, keyframe)
    return Carried.of(model, {name: np.array(data.field(name)) for name in data.state})


@attrs.define
class _Search:
    """The search for the smallest model and state."""

    root: Any
    assets: Mapping[str, bytes]
    what: Shows
    deadline: float
    left: int
    trials: int = 0
    state: Carried = attrs.field(factory=lambda: Carried({}))

    def run(self, state: Carried) -> Minimal:
        start, before = time.monotonic(), copy.deepcopy(self.root)
        self.state = state
        for part in list(
            self.root.iter("keyframe")
        ):  # the state is taken; a keyframe fits only the whole model
            part.getparent().remove(part)
        if not self._holds(self.root):
            raise DovetailError(
                f"the model as it is does not show it ({self.what.words()}), so there is nothing to make smaller"
            )
        self.root = Shrinking(self.root, self._holds, self._may_go_on).run()
        self._simplify_state()
        self._drop_unused_parts()
        model = Trial(written(self.root), self.assets, self.state).model_or_none()
        fields = {} if model is None else self._fields(model)
        final = self._with_keyframe(model, fields)
        return Minimal(
            text=written(final),
            assets=_used(self.assets, written(final)),
            state=fields,
            shows=self.what.words(),
            record=repr(self.what.what if isinstance(self.what, InProcess) else self.what),
            keyframe=final is not self.root,
            bodies=_count(final, "body"),
            bodies_before=_count(before, "body"),
            elements=_count(final),
            elements_before=_count(before),
            trials=self.trials,
            seconds=time.monotonic() - start,
            complete=self._may_go_on(),
        )

    def _may_go_on(self) -> bool:
        return self.left > 0 and time.monotonic() < self.deadline

    def _holds(self, root: Any, state: Carried | None = None) -> bool:
        self.left -= 1
        self.trials += 1
        trial = Trial(written(root), self.assets, self.state if state is None else state)
        return self.what.shows(trial)

    def _simplify_state(self) -> None:
        """Whole fields first, then part by part: as the model has it, or with few digits."""
        for field in OWNERS:
            keys = [key for key in self.state.numbers if key[0] == field]
            if keys and self._may_go_on():
                self._try(self._without(keys))
        for key in list(self.state.numbers):
            if not self._may_go_on():
                return
            if self._try(self.state.without(key)):
                continue
            if key[0] not in ("qpos", "mocap_quat", "eq_active"):  # rounding would spoil rotations
                any(self._try(self.state.rounded(key, digits)) for digits in DIGITS)

    def _without(self, keys: Iterable[tuple[str, str]]) -> Carried:
        found = self.state
        for key in keys:
            found = found.without(key)
        return found

    def _try(self, state: Carried) -> bool:
        if self._holds(self.root, state):
            self.state = state
            return True
        return False

    def _drop_unused_parts(self) -> None:
        """Forget what the model no longer has."""
        model = Trial(written(self.root), self.assets, self.state).model_or_none()
        if model is None:
            return
        there = Carried.of(model, self._fields(model)).numbers
        self.state = attrs.evolve(
            self.state, numbers={k: v for k, v in self.state.numbers.items() if k in there}
        )

    def _fields(self, model: Model) -> dict[str, Array]:
        from dovetail.contracts.derive import make_data

        data = make_data(model, keep="state")
        self.state.put(data)
        names = [name for name in ("time", *OWNERS) if np.size(data.field(name))]
        return {name: np.array(data.field(name)) for name in names}

    def _with_keyframe(self, model: Model | None, fields: Mapping[str, Array]) -> Any:
        """The model with its state as a keyframe, if it loads with that."""
        from lxml import etree

        values = {IN_KEY[n]: fields[n] for n in IN_KEY if n in fields}
        if model is None or not self.state.numbers or not values:
            return self.root
        root = copy.deepcopy(self.root)
        key = etree.SubElement(etree.SubElement(root, "keyframe"), "key", name=KEY)
        key.set("time", repr(float(self.state.time)))
        for name, value in values.items():
            key.set(name, " ".join(repr(float(v)) for v in np.ravel(value)))
        return root if Trial(written(root), self.assets, self.state).model_or_none() else self.root


def _count(root: Any, tag: str | None = None) -> int:
    inside = root.iter() if tag is None else (e for part in root.iter("worldbody") for e in part.iter(tag))
    return sum(1 for _ in inside)


def _used(assets: Mapping[str, bytes], text: bytes) -> dict[str, bytes]:
    return {name: c for name, c in assets.items() if Path(name).name.encode() in text}
