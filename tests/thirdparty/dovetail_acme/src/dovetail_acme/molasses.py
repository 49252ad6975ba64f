"""The element <molasses>: which bodies move in something sticky."""

from __future__ import annotations

from typing import Any


def read(context: Any, node: Any) -> None:
    """Take the stickiness of each body named."""
    for child in node.children:
        if child.tag != "on":
            raise child.error("unknown element in <molasses>; write <on body=… stickiness=…/>")
        try:
            amount = float(child.raw["stickiness"])
        except (KeyError, ValueError):
            raise child.error("needs a number: stickiness=…") from None
        context.set_row("acme:stickiness", "body", child.raw.get("body", ""), amount, child, "body")
