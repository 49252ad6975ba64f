"""Compiling a spec, and carrying a state over to what was compiled anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.errors import DovetailError, MJCFError
from dovetail.mj.spec.keys import settle_keys
from dovetail.mj.spec.problems import SpecError, compile_problem
from dovetail.mj.spec.tree import CHILD_KINDS
from dovetail.mj.spec.writing import SOURCE, Writer

if TYPE_CHECKING:
    from dovetail.contracts.types import Model
    from dovetail.mj.spec.spec import MjSpec


def compile_model(spec: MjSpec) -> Model:
    """dovetail's Model of a spec."""
    from dovetail.loading import load_tree

    if spec.parent is not None:
        raise SpecError("Error: cannot compile child spec if attached by reference to a parent spec")
    settle_keys(spec)
    writer = Writer(spec)
    root = writer.document()
    assets = {**spec.assets, **writer.assets}
    number_elements(spec)
    try:
        model = load_tree(root, SOURCE, folder=Path(spec.modelfiledir), assets=assets)
    except MJCFError as problem:
        place = problem.line if problem.file == SOURCE else 0
        element = writer.made[place] if place < len(writer.made) else None
        raise compile_problem(problem, element) from problem
    except SpecError:
        raise
    except DovetailError as problem:
        raise SpecError(f"Error: {problem}") from problem
    spec._compiled = spec._signature()
    return model


def number_elements(spec: MjSpec) -> None:
    """Give elements of the tree the numbers that they have in the model."""
    for kind in CHILD_KINDS:
        for number, element in enumerate(spec._of_kind(kind)):
            element._id = number


def compile_spec(spec: MjSpec) -> Any:
    """An MjModel of a spec."""
    from dovetail.mj.structs.model import MjModel

    made = MjModel._wrapped(compile_model(spec))
    made.signature = spec._compiled
    return made
