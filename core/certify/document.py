"""The certificate as a document: canonical JSON, its digest, and a signature for who holds a key.

The digest (SHA-256 over the document without its `seal`) shows that the file was not changed since it was written,
not who wrote it: anybody can compute one. With a key (`DOVETAIL_CERTIFY_KEY`, or a file) there is also an
HMAC-SHA-256, which only holders of that key can make or check. Neither proves that the checks ran
on the machine it names.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from dovetail import files, limits
from dovetail.certify.outcomes import Examined
from dovetail.errors import ArgumentError, FileFormatError, shown

FORMAT = "dovetail-certificate-1"
DIGEST, SIGNATURE = "sha256", "hmac_sha256"
"""Keys of the seal."""
KEY_VARIABLE = "DOVETAIL_CERTIFY_KEY"


@attrs.frozen(kw_only=True)
class Certificate:
    """What was examined, where, and how it went."""

    package: str
    version: str
    scope: str
    """`all`, or what the examination was narrowed to."""
    environment: Mapping[str, str]
    """Versions of what took part."""
    models: Mapping[str, str]
    """SHA-256 of the text of each model that was tried."""
    examined: tuple[Examined, ...]

    @property
    def failures(self) -> tuple[Examined, ...]:
        return tuple(one for one in self.examined if not one.ok)

    @property
    def unseen(self) -> tuple[Examined, ...]:
        """Implementations that no model made run: their records were looked at, nothing else."""
        return tuple(one for one in self.examined if not one.ran)

    @property
    def ok(self) -> bool:
        """Whether nothing failed, and something ran."""
        return not self.failures and any(one.ran for one in self.examined)

    def to_dict(self) -> dict[str, Any]:
        body = {
            "format": FORMAT,
            "package": self.package,
            "version": self.version,
            "scope": self.scope,
            "ok": self.ok,
            "environment": dict(self.environment),
            "models": dict(self.models),
            "implementations": [one.to_dict() for one in self.examined],
        }
        plain: dict[str, Any] = _plain(body)
        return plain

    def sealed(self, key: bytes | None = None) -> dict[str, Any]:
        """The document with its digest, signed if there is a key."""
        body = self.to_dict()
        return {**body, "seal": seal_of(body, key)}

    def write(self, path: Path, key: bytes | None = None) -> dict[str, Any]:
        """Write it as JSON; what was written."""
        document = self.sealed(key)
        with files.reasons(path):
            path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return document


def _plain(value: Any) -> Any:
    """JSON knows neither infinity nor NaN; they are written as words."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    return value


def canonical(body: Mapping[str, Any]) -> bytes:
    """The bytes that the digest is of: keys sorted, no spaces."""
    return json.dumps(
        body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def seal_of(body: Mapping[str, Any], key: bytes | None) -> dict[str, str]:
    """The digest of a document without its seal, and the signature if there is a key."""
    check_key(key)
    content = canonical(body)
    seal = {DIGEST: hashlib.sha256(content).hexdigest()}
    if key is not None:
        seal[SIGNATURE] = hmac.new(key, content, hashlib.sha256).hexdigest()
    return seal


def check_key(key: bytes | None) -> None:
    """Refuse what is no key; None stands for not signing."""
    if key is not None and not (isinstance(key, bytes) and key):
        raise ArgumentError(f"a key should be bytes that are not empty, or None, not {shown(key)}")


def key_of(file: Path | None) -> bytes | None:
    """The key to sign or check with: a file's content, else the variable's, else none."""
    if file is not None:
        return _not_empty(
            files.read_bytes(file, limits.CONFIG_BYTES), f"{file}: the key is empty; write one into it"
        )
    given = os.environ.get(KEY_VARIABLE)
    if given is None:
        return None
    return _not_empty(os.fsencode(given), f"{KEY_VARIABLE} is set and empty; give it a key, or unset it")


def _not_empty(key: bytes, otherwise: str) -> bytes:
    if not key.strip():
        raise FileFormatError(otherwise)
    return key.strip()
