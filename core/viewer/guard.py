"""Who may talk to the viewer: pages that it has served itself, over this machine's loopback.

The server listens on 127.0.0.1, but any page in the user's browser can reach that. A page of another origin is
refused by its `Origin`; a page whose name was made to point here (DNS rebinding) is refused by its `Host`. A request
that says either twice, or asks for a path that no page has, is refused as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names that mean this machine, also at the end of an SSH tunnel."""

LONGEST_TARGET = 2000
"""Characters of a path with its query; the viewer's own have less than 200."""

Refusal = tuple[HTTPStatus, str]
"""Why a request is refused, as HTTP says it and in words."""


def verdict(path: str, hosts: Sequence[str], origins: Sequence[str]) -> Refusal | None:
    """Why a request is refused that asks for a path and has these headers `Host` and `Origin`; None if it is not."""
    for name, values in (("Host", hosts), ("Origin", origins)):
        if len(values) > 1:
            return HTTPStatus.BAD_REQUEST, f"the request has {len(values)} headers {name}; it may have one"
    if len(path) > LONGEST_TARGET:
        return (
            HTTPStatus.REQUEST_URI_TOO_LONG,
            f"the path has {len(path)} characters; {LONGEST_TARGET} are the most",
        )
    reason = refusal(hosts[0] if hosts else None, origins[0] if origins else None)
    return (HTTPStatus.FORBIDDEN, reason) if reason else None


def refusal(host: str | None, origin: str | None) -> str:
    """Why a request is refused, or an empty string. `origin` is what browsers send along when a page opens a
    WebSocket; other programs, which run on this machine already, send none."""
    if host is None or _name(f"http://{host}") not in LOOPBACK:
        return f"the viewer answers to {', '.join(LOOPBACK)}, not to {host or 'no name at all'}"
    if origin is not None and origin.lower() not in (f"http://{host}".lower(), f"https://{host}".lower()):
        return f"a page of {origin} may not use the viewer at {host}"
    return ""


def _name(address: str) -> str | None:
    """The host of an address, without its port; None of what is none."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
