"""Groups of kernel fields as objects: `contacts.dist` is the kernel field `contact_list.dist`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from dovetail.backends.lanes.kernel import Kernel


@attrs.define(eq=False, slots=False)
class FieldGroup:
    """The kernel fields of one group, as attributes. What a class made of it adds comes first."""

    k: Kernel
    group: str

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("k", "group"):
            raise AttributeError(name)
        if hasattr(type(self), name):  # its own attribute, whose AttributeError must not be hidden
            return object.__getattribute__(self, name)
        field = self.k.kernel_field(f"{self.group}.{name}")
        self.__dict__[name] = field  # the next access finds it at once
        return field
