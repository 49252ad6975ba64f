"""What is needed of traced stages: results that nobody keeps or reads are dropped before anything is printed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import attrs

from dovetail.backends.lanes.blocks import (
    MEMORY_LOADS,
    Branch,
    Break,
    Item,
    Loop,
    SetVariable,
    Store,
    Trace,
    walk,
)
from dovetail.backends.lanes.values import Value


@attrs.frozen
class Live:
    """What is needed of the traced stages."""

    items: set[int]
    """Identities of the symbols and effects to print."""
    memories: set[str]
    """Fields and scratch that must have a place."""


def find_live(stages: Iterable[tuple[str, Trace]], kept: Iterable[str]) -> Live:
    """Start from the fields kept and follow what they are computed from, across stages and steps."""
    return _Marker(list(stages)).run(kept)


class _Marker:
    def __init__(self, stages: list[tuple[str, Trace]]) -> None:
        self.items: set[int] = set()
        self.targets: set[Any] = set()
        self.pending: list[Any] = []
        self.effects: dict[Any, list[tuple[str, Item]]] = defaultdict(list)
        self.holder: dict[int, tuple[str, Item]] = {}
        self.breaks: dict[int, list[tuple[str, Item]]] = defaultdict(list)
        for stage, trace in stages:
            for item in walk(trace.root):
                self._register(stage, item)

    def _register(self, stage: str, item: Item) -> None:
        if isinstance(item, Store):
            self.effects[item.memory].append((stage, item))
        elif isinstance(item, SetVariable):
            self.effects[stage, item.variable].append((stage, item))
        elif isinstance(item, Break):
            self.breaks[id(item.loop)].append((stage, item))
        elif isinstance(item, Loop):
            self.holder[id(item.body)] = (stage, item)
        elif isinstance(item, Branch):
            self.holder[id(item.body)] = (stage, item)
            if item.otherwise is not None:
                self.holder[id(item.otherwise)] = (stage, item)

    def run(self, kept: Iterable[str]) -> Live:
        for name in kept:
            self._need_target(name)
        while self.pending:
            stage, item = self.pending.pop()
            self._follow(stage, item)
        return Live(self.items, {t for t in self.targets if isinstance(t, str)})

    def _need_target(self, target: Any) -> None:
        if target not in self.targets:
            self.targets.add(target)
            for stage, item in self.effects[target]:
                self._need(stage, item)

    def _need(self, stage: str, item: Any) -> None:
        if (
            isinstance(item, Value | Store | SetVariable | Loop | Branch | Break)
            and id(item) not in self.items
        ):
            self.items.add(id(item))
            self.pending.append((stage, item))

    def _follow(self, stage: str, item: Item) -> None:
        if id(item.block) in self.holder:
            self._need(*self.holder[id(item.block)])
        for argument in arguments(item):
            self._need(stage, argument)
        for leaving in self.breaks[id(item)] if isinstance(item, Loop) else ():
            self._need(*leaving)
        if isinstance(item, Value) and item.op in MEMORY_LOADS:
            self._need_target(item.args[0])
        elif isinstance(item, Value) and item.op == "read":
            self._need_target((stage, item.args[0]))


def arguments(item: Item) -> tuple[Any, ...]:
    """What an item is computed from."""
    if isinstance(item, Value):
        return item.args
    if isinstance(item, Store):
        return (item.index[0], item.value)
    if isinstance(item, SetVariable):
        return (item.value,)
    if isinstance(item, Loop):
        return (item.start, item.stop)
    return (item.condition,)
