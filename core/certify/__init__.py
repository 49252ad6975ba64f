"""Certificates: the house checks on all that a package brings, with what they measured, in a file with a digest.

from dovetail.certify import certify, verify

certificate = certify("dovetail-wind")
print(certificate.ok)
"""

from __future__ import annotations

from dovetail.certify.document import Certificate
from dovetail.certify.inspection import certify
from dovetail.certify.verification import verify

__all__ = ["Certificate", "certify", "verify"]
