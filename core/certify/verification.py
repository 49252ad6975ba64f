"""Checking a certificate file: its digest, its signature, and what it lists, whatever it says of itself.

What is wrong with a file is either an answer (it was changed, it is not signed) or, where nothing can be answered, a
`FileFormatError`: text that JSON does not allow, a key given twice (readers disagree about which counts), a seal
without a digest.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NoReturn

import attrs

from dovetail import files, limits
from dovetail.certify.document import DIGEST, FORMAT, SIGNATURE, check_key, seal_of
from dovetail.errors import FileFormatError, shown

Signature = Literal["none", "unchecked", "good", "wrong", "missing"]


@attrs.frozen(kw_only=True)
class Verified:
    """What can be said of a certificate file."""

    package: str
    version: str
    claimed: bool
    """Whether it says that all went well."""
    certified: bool
    """Whether it says so, and what it lists agrees."""
    intact: bool
    """Whether the digest is that of the content."""
    signature: Signature
    """Without a key `none` or `unchecked`; with one `good`, `wrong`, or `missing` where there is none."""

    @property
    def ok(self) -> bool:
        """Whether it holds; if a key was given, only with a good signature."""
        return self.intact and self.certified and self.signature not in ("wrong", "missing")


def verify(path: str | Path, key: bytes | None = None) -> Verified:
    """Check the digest of a certificate file and, if there is a key, that it was signed with this key."""
    check_key(key)
    content = files.read_bytes(path, limits.CERTIFICATE_BYTES)
    with _told_of(path):
        return _verified(_document(content), key)


def _verified(document: dict[str, Any], key: bytes | None) -> Verified:
    seal = document.pop("seal")
    fresh = seal_of(document, key)
    claimed = document.get("ok") is True
    return Verified(
        package=str(document.get("package")),
        version=str(document.get("version")),
        claimed=claimed,
        certified=_all_went_well(document["implementations"]) and claimed,
        intact=_same(seal[DIGEST], fresh[DIGEST]),
        signature=_signature(seal.get(SIGNATURE), fresh.get(SIGNATURE)),
    )


def _signature(signed: str | None, expected: str | None) -> Signature:
    if expected is None:
        return "none" if signed is None else "unchecked"
    if signed is None:
        return "missing"
    return "good" if _same(signed, expected) else "wrong"


def _same(given: str, fresh: str) -> bool:
    """In a time that does not tell how much agrees."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), fresh.encode())


# ---- what it lists


def _all_went_well(examined: list[Any]) -> bool:
    """Whether no check failed, every number is within its tolerance, and something ran."""
    checks = [check for one in examined for check in one["checks"]]
    return all(map(_holds, checks)) and any(check["measured"] for check in checks)


def _holds(check: Mapping[str, Any]) -> bool:
    passed = check["verdict"] == "pass"
    return check["verdict"] == "not applicable" or (passed and all(map(_within, check["measured"])))


def _within(measured: Mapping[str, Any]) -> bool:
    """The numbers as they were written: infinity and NaN as words."""
    return float(measured["error"]) <= float(measured["tolerance"])


# ---- the file


@contextmanager
def _told_of(path: str | Path) -> Iterator[None]:
    """What is wrong with a file's content, as an error that names the file."""
    try:
        yield
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from None
    except RecursionError:
        raise FileFormatError(f"{path}: no certificate: it is nested too deeply") from None
    except (ValueError, OverflowError) as error:
        raise FileFormatError(f"{path}: no certificate: {error}") from None
    except (KeyError, TypeError, AttributeError):
        raise FileFormatError(
            f"{path}: no certificate: its implementations should have checks, with verdicts and what was measured"
        ) from None


def _document(content: bytes) -> dict[str, Any]:
    document = json.loads(
        content.decode("utf-8"), object_pairs_hook=_without_repeats, parse_constant=_no_number
    )
    _check_is_certificate(document)
    found: dict[str, Any] = document
    return found


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise FileFormatError(f"no certificate: the key {shown(twice)} stands twice in one object")
    return found


def _no_number(word: str) -> NoReturn:
    raise FileFormatError(f"no certificate: {word} is no number of JSON")


def _check_is_certificate(document: Any) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FileFormatError(f"not in the format {FORMAT}; write one with dovetail certify PACKAGE --output")
    seal = document.get("seal")
    if not isinstance(seal, dict):
        raise FileFormatError("it has no seal, so nothing can be said about it")
    if not isinstance(seal.get(DIGEST), str):
        raise FileFormatError(f"its seal should have a text {DIGEST!r}, not {shown(seal.get(DIGEST))}")
    if not isinstance(seal.get(SIGNATURE, ""), str):
        raise FileFormatError(f"{SIGNATURE!r} of its seal should be text, not {shown(seal[SIGNATURE])}")
    if not isinstance(document.get("implementations"), list):
        raise FileFormatError("it lists no implementations")
