"""Who may talk to the viewer."""

from __future__ import annotations

import pytest

from dovetail.viewer.guard import refusal


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:8080", None),
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("localhost:9000", "http://localhost:9000"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("localhost", "https://localhost"),
    ],
)
def test_pages_of_this_machine_are_answered(host: str, origin: str | None) -> None:
    assert refusal(host, origin) == ""


@pytest.mark.parametrize(
    ("host", "origin", "why"),
    [
        ("127.0.0.1:8080", "http://evil.example", "a page of http://evil.example"),
        ("127.0.0.1:8080", "http://localhost:8080", "a page of http://localhost:8080"),
        ("localhost:8080", "http://localhost:3000", "a page of http://localhost:3000"),
        ("127.0.0.1:8080", "null", "a page of null"),
        ("127.0.0.1:8080", "", "a page of"),
        ("evil.example:8080", "http://evil.example:8080", "not to evil.example:8080"),
        ("127.0.0.1.evil.example", None, "not to 127.0.0.1.evil.example"),
        ("localhost@evil.example", None, "not to localhost@evil.example"),
        ("[::1", None, "not to"),
        (None, None, "no name at all"),
    ],
)
def test_others_are_refused_with_the_reason(host: str | None, origin: str | None, why: str) -> None:
    assert why in refusal(host, origin)
