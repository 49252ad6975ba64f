"""Models as MJCF, for `mj_saveLastXML`: as they were written if they still have those numbers, else from arrays."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from dovetail.errors import DovetailError, listing

if TYPE_CHECKING:
    from dovetail.contracts.types import Model
    from dovetail.mj.spec import MjSpec


@attrs.frozen
class Origin:
    """What a model was loaded from: text, or the path of a file, and files that go before those on the disk."""

    xml: Any
    is_path: bool
    assets: Mapping[str, Any] | None

    def spec(self) -> MjSpec:
        """A spec of it, as it is now."""
        from dovetail.mj.spec import MjSpec

        read = MjSpec.from_file if self.is_path else MjSpec.from_string
        return read(self.xml, assets=self.assets)


def as_mjcf(model: Model, origin: Origin | None) -> str:
    """MJCF text with a model's numbers; a warning names the fields in which it brings back others."""
    from dovetail.as_mjcf import written

    kept = None if origin is None else _as_it_was_written(model, origin)
    if kept is not None:
        return kept
    text, changed = written(model, None)
    if changed:
        warnings.warn(
            f"mj_saveLastXML: the text that was written brings back other numbers in {listing(changed)}: they are "
            "computed anew from what was edited, or MJCF has no words for them",
            RuntimeWarning,
            stacklevel=2,
        )
    return text


def _as_it_was_written(model: Model, origin: Origin) -> str | None:
    """With default classes, and without what the compiler derived; None if the model was edited, or its file was."""
    from dovetail.mjcf.write.whole import differences

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # loading has told them
            spec = origin.spec()
            return None if differences(model, spec.compile()._model) else spec.to_xml()
    except (DovetailError, OSError):
        return None  # the file is gone or another, or specs do not know what is in it
