"""Invalid documents: one sound model with a place for a mistake in every section, and the mistakes.

A mistake is one line, so the error must name the line of its section.
"""

from __future__ import annotations

import re

import attrs

LINES = [
    "<mujoco>",
    "{settings}",
    "<default>{default}</default>",
    "<custom>{custom}</custom>",
    "<asset>{asset}</asset>",
    "<worldbody>",
    '<geom name="floor" type="plane" size="1 1 .1"/>',
    "{world}",
    '<body name="a" pos="0 0 1">',
    '<joint name="h" range="0 1"/><joint name="sl" type="slide" axis="1 0 0"/>',
    '<geom name="ga" size=".1"/>',
    '<site name="sa"/>',
    "{body}",
    '<body name="b" pos="1 0 0">',
    '<joint name="bl" type="ball"/><geom name="gb" type="box" size=".1 .1 .1"/><site name="sb"/>',
    "</body></body>",
    "</worldbody>",
    "<deformable>{deformable}</deformable>",
    "<contact>{contact}</contact>",
    '<tendon><fixed name="t"><joint joint="h" coef="1"/></fixed>{tendon}</tendon>',
    "<equality>{equality}</equality>",
    '<actuator><motor name="m" joint="h"/>{actuator}</actuator>',
    "<sensor>{sensor}</sensor>",
    "<keyframe>{keyframe}</keyframe>",
    "</mujoco>",
]
"""The sound model; without a mistake the places in braces are empty."""


@attrs.frozen
class Mistake:
    """One wrong line."""

    section: str
    line: str
    says: str
    """What the message must contain."""
    stricter: str = ""
    """Why dovetail refuses it although MuJoCo 3.4.0 does not; empty if MuJoCo refuses it too."""

    @property
    def number(self) -> int:
        """The line of the file that the error must name."""
        return next(n for n, text in enumerate(LINES, 1) if f"{{{self.section}}}" in text)

    @property
    def document(self) -> str:
        return document(self.section, self.line)


def document(section: str = "", line: str = "") -> str:
    """The sound model with a line put into one of its sections."""
    return "\n".join(_EMPTY.sub("", text.replace(f"{{{section}}}", line)) for text in LINES)


_EMPTY = re.compile(r"\{\w+\}")
