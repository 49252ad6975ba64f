"""How large things from outside may be: files, models, batches. Beyond a limit there is an error that names it.

A model can ask for more memory and time than there is in a few bytes: by counts, by compression, by files that are
none. Every such number is declared here, checked before memory is taken, and listed in the reference page of limits.
They are far beyond what simulation needs; what a batch may take is the caller's to say (`max_bytes`).
"""

from __future__ import annotations

import attrs

KILO, MEGA, GIGA = 1 << 10, 1 << 20, 1 << 30


@attrs.frozen
class Limit:
    """A number that something from outside may not exceed."""

    name: str
    most: int
    unit: str
    """`bytes`, or what is counted."""
    doc: str

    def __str__(self) -> str:
        return amount(self.most) if self.unit == "bytes" else f"{self.most:,} {self.unit}".rstrip()


def amount(count: int) -> str:
    """Bytes as people read them."""
    for unit, name in ((GIGA, "GB"), (MEGA, "MB"), (KILO, "kB")):
        if count >= unit:
            return f"{count / unit:,.1f} {name}".replace(".0 ", " ")
    return f"{count} bytes"


LIMITS: dict[str, Limit] = {}
"""By name."""


def _limit(name: str, most: int, unit: str, doc: str) -> int:
    LIMITS[name] = Limit(name, most, unit, doc)
    return most


MODEL_BYTES = _limit("MODEL_BYTES", 256 * MEGA, "bytes", "All files of one model together: XML and assets.")
INCLUDED_FILES = _limit("INCLUDED_FILES", 1000, "files", "Files that one model includes.")
ELEMENT_DEPTH = _limit("ELEMENT_DEPTH", 500, "levels", "Nesting of XML elements.")
XML_ELEMENTS = _limit("XML_ELEMENTS", 150_000, "elements", "Elements of one XML file.")
ELEMENT_ATTRIBUTES = _limit("ELEMENT_ATTRIBUTES", 200, "attributes", "Attributes of one XML element.")
COPIED_ELEMENTS = _limit(
    "COPIED_ELEMENTS",
    250_000,
    "elements",
    "Elements that `<replicate>` and `<attach>` make, all copies together.",
)
SUBMODELS = _limit("SUBMODELS", 32, "models", "Models that attach one another in a chain.")
FLEX_POINTS = _limit("FLEX_POINTS", 500_000, "points", "Points of one `<flexcomp>`.")
MESH_VERTICES = _limit("MESH_VERTICES", 1_000_000, "vertices", "Vertices of a built-in mesh.")
IMAGE_PIXELS = _limit(
    "IMAGE_PIXELS", 1 << 26, "pixels", "Of one image, built-in texture or height field: 8192 × 8192."
)
SENSOR_NUMBERS = _limit(
    "SENSOR_NUMBERS", 1 << 24, "numbers", "Of all sensors together, and of one user sensor."
)
USER_NUMBERS = _limit("USER_NUMBERS", 1 << 24, "numbers", "User data of all objects of one kind (`nuser_…`).")
SIZES = _limit("SIZES", 10_000_000, "", "A number in `<size>`: `nuserdata`, `nkey`, `njmax` and so on.")
KEYS = _limit("KEYS", 1_000_000, "keyframes", "Keyframes of one model.")
KEY_NUMBERS = _limit("KEY_NUMBERS", 1 << 26, "numbers", "In all keyframes together.")
MODEL_ARRAY = _limit("MODEL_ARRAY", 1 << 31, "entries", "Of one field of a Model: indices have 32 bits.")
MODEL_MEMORY = _limit("MODEL_MEMORY", 2 * GIGA, "bytes", "Of the arrays of one Model.")
DATA_MEMORY = _limit(
    "DATA_MEMORY", 16 * GIGA, "bytes", "Of a Data, all worlds together, unless `max_bytes` says otherwise."
)
STATE_BYTES = _limit(
    "STATE_BYTES",
    16 * GIGA,
    "bytes",
    "Of a saved state or model as a file; unpacked it may have 20 times as much, or 16 MB.",
)
HEADER_BYTES = _limit(
    "HEADER_BYTES", 64 * MEGA, "bytes", "Of the header (names, sizes) of a saved state or model."
)
ARCHIVE_MEMBERS = _limit("ARCHIVE_MEMBERS", 10_000, "arrays", "In a saved state or model.")
CONFIG_BYTES = _limit("CONFIG_BYTES", 4 * MEGA, "bytes", "Of a configuration file.")
CONFIG_DOTS = _limit("CONFIG_DOTS", 100, "dots", "In one line of a configuration file: nested keys.")
CERTIFICATE_BYTES = _limit("CERTIFICATE_BYTES", 64 * MEGA, "bytes", "Of a certificate.")
HISTORY_BYTES = _limit("HISTORY_BYTES", 256 * MEGA, "bytes", "Of a history of benchmarks.")
THREADS = _limit("THREADS", 1024, "threads", "Processor threads of one batch.")
LANES = _limit("LANES", 64, "worlds", "Worlds per tile; a power of two.")
STEPS = _limit("STEPS", (1 << 31) - 1, "steps", "Of one call of `step`.")
WORLDS = _limit("WORLDS", (1 << 31) - 1, "worlds", "Of one batch; memory ends sooner.")
