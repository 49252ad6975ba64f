"""Versioned semantics: which rules apply where the version that is reproduced has changed its own.

A bundle names choices for stages, and defaults of `<option>` that hold where a model does not say otherwise. It is
the weakest wish there is: a choice of a call, of the environment or of a file, and what the model itself says, beat
it. Plugins state bundles through the hook `dovetail_semantics`; `semantics="mujoco-4"` chooses one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from dovetail.config import Config, Request, Setting
from dovetail.errors import SelectionError, listing, nearest

if TYPE_CHECKING:
    from dovetail.registry import Registry

DEFAULT = "mujoco-3.4"
"""What the defaults of all stages reproduce."""
SLOT = "semantics"
"""Under which a Model records, beside the stages that loaded it, the bundle that it was loaded with."""


@attrs.frozen
class Semantics:
    """A named set of rules."""

    name: str
    summary: str
    stages: Mapping[str, str] = attrs.field(factory=dict)
    """Choices by slot, as a call would make them."""
    option: Mapping[str, float] = attrs.field(factory=dict)
    """Defaults of `<option>`, by attribute."""
    flags: Mapping[str, bool] = attrs.field(factory=dict)
    """Defaults of `<option><flag>`, by attribute."""
    provider: str = "dovetail"

    def requests(self, asked_by: str) -> dict[str, Request]:
        """What the bundle asks for by slot, and on whose behalf."""
        origin = f"{SLOT} {self.name}" + ("" if asked_by == "default" else f", {asked_by}")
        return {slot: Request.parse(slot, text, origin) for slot, text in self.stages.items()}

    def defaults(self) -> dict[str, Any]:
        """Its defaults of `<option>` and of flags as one table, for who compiles a model."""
        return {**self.option, **self.flags}


def asked(config: Config, loaded: Setting | None = None) -> Setting:
    """Which bundle is asked for and by whom; else that which the model was loaded with."""
    found = config.settings.get(SLOT)
    return found or loaded or Setting(DEFAULT, "default")


def bundle(registry: Registry, wanted: Setting) -> Semantics:
    """The bundle of a name, or an error that lists what exists."""
    known = registry.semantics
    if wanted.value in known:
        return known[wanted.value]
    if wanted.value == DEFAULT:
        return Semantics(DEFAULT, "The defaults of all stages")
    raise SelectionError(
        f"{wanted.origin}: there is no semantics {wanted.value!r}{nearest(wanted.value, known) or '.'} "
        f"Known: {listing(known)}"
    )


def loaded_with(stages: Mapping[str, str]) -> Setting | None:
    """The bundle that a Model's record of its loading names, if it names one."""
    name = stages.get(SLOT)
    return Setting(name.partition(" ")[0], "as the model was loaded") if name else None
