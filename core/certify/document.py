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
from dovetail.errors import FileFormatError

FORMAT = "dovetail-certificate-1"
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
        return {**body, "seal": _seal(body, key)}

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
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _seal(body: Mapping[str, Any], key: bytes | None) -> dict[str, str]:
    content = canonical(body)
    seal = {"sha256": hashlib.sha256(content).hexdigest()}
    if key is not None:
        seal["hmac_sha256"] = hmac.new(key, content, hashlib.sha256).hexdigest()
    return seal


def key_of(file: Path | None) -> bytes | None:
    """The key to sign with: a file's content, else the variable's, else none."""
    if file is not None:
        with files.reasons(file):
            found = file.read_bytes().strip()
    else:
        found = os.environ.get(KEY_VARIABLE, "").encode()
    if file is not None and not found:
        raise FileFormatError(f"{file}: the key is empty")
    return found or None


@attrs.frozen(kw_only=True)
class Verified:
    """What can be said of a certificate file."""

    package: str
    version: str
    certified: bool
    """Whether it says that all went well."""
    intact: bool
    """Whether the digest is that of the content."""
    signature: str
    """`none`, `unchecked` (signed, and no key at hand), `good` or `wrong`."""

    @property
    def ok(self) -> bool:
        return self.intact and self.certified and self.signature != "wrong"


def verify(path: str | Path, key: bytes | None = None) -> Verified:
    """Check the digest of a certificate file, and its signature if a key is at hand."""
    document = _read(Path(path))
    seal = document.pop("seal")
    fresh = _seal(document, key)
    signed = seal.get("hmac_sha256")
    if signed is None:
        signature = "none"
    elif key is None:
        signature = "unchecked"
    else:
        signature = "good" if hmac.compare_digest(str(signed), fresh["hmac_sha256"]) else "wrong"
    return Verified(
        package=str(document.get("package")),
        version=str(document.get("version")),
        certified=document.get("ok") is True,
        intact=hmac.compare_digest(str(seal.get("sha256")), fresh["sha256"]),
        signature=signature,
    )


def _read(path: Path) -> dict[str, Any]:
    with files.reasons(path):
        size = path.stat().st_size
        text = path.read_text(encoding="utf-8", errors="replace") if size <= limits.STATE_BYTES else ""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path}: no certificate: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FileFormatError(
            f"{path}: not in the format {FORMAT}; write one with dovetail certify PACKAGE --output"
        )
    if not isinstance(document.get("seal"), dict):
        raise FileFormatError(f"{path}: it has no seal, so nothing can be said about it")
    return document
