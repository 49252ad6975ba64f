"""Disagreements that are known, each by its rule and with the reason; docs/explanation/fuzzing.md tells the same.

Every rule has an example that must still show it (tests/fuzz/test_short_run.py): a rule whose example agrees with
MuJoCo again has to go.
"""

from __future__ import annotations

import re

import attrs

from .documents import Document
from .judge import Verdict
from .other_files import whole


@attrs.frozen
class Rule:
    """A class of verdict, a pattern for its words, why that is so, and a document that shows it."""

    kind: str
    pattern: str
    reason: str
    example: Document
    text: bytes = b""
    """A pattern for the documents that the rule is about."""

    def covers(self, verdict: Verdict, document: Document) -> bool:
        words = f"{verdict.detail}\n{verdict.ours}\n{verdict.theirs}"
        about = all(
            re.search(p, t, re.DOTALL) for p, t in ((self.pattern, words), (self.text, _all(document)))
        )
        return verdict.kind == self.kind and about


def _all(document: Document) -> bytes:
    return b"\n".join([document.text, *(c for name, c in document.files.items() if name.endswith(".xml"))])


NOT_FINITE = rb"(?i)\b(nan|inf|infinity)\b|1e400"

REPLICATED_JOINT = rb"<replicate[^>]*>(\s*<\w+[^>]*/>)*\s*<(free)?joint"

_GEOM = '<geom size="1 1 0.3"/>'
_JOINT = '<worldbody><body name="b"><joint name="j"/><geom size="1"/></body></worldbody>'


def _document(inside: str, **files: bytes) -> Document:
    named = {f"over/here/{name.replace('_', '.')}": content for name, content in files.items()}
    return Document(f"<mujoco>{inside}</mujoco>".encode(), named)


RULES = [
    Rule(
        "only dovetail refuses",
        r"unknown \w+ ''",
        "an empty name: MuJoCo takes the first object that has no name",
        _document(
            '<worldbody><body><joint/><geom size="1"/></body></worldbody><equality><joint joint1=""/></equality>'
        ),
    ),
    Rule(
        "only dovetail refuses",
        r"<intvelocity .*(kv and dampratio both|kv cannot be negative|dampratio cannot be negative)",
        "gains of intvelocity that contradict: MuJoCo swallows its own error and leaves the actuator half set",
        _document(
            f'{_JOINT}<actuator><intvelocity joint="j" kv="1" dampratio="1" actrange="0 1"/></actuator>'
        ),
    ),
    Rule(
        "only dovetail refuses",
        r"is not UTF-8 text",
        "bytes that are no UTF-8 outside of comments: MuJoCo takes them as they are",
        Document(b"<mujoco>\xff</mujoco>"),
    ),
    Rule(
        "only dovetail refuses",
        r"<plugin instance=[^>]*>: unknown plugin",
        "an unknown plugin instance of a mesh with a file: MuJoCo does not look at it",
        _document('<asset><mesh file="m.stl"><plugin instance="t"/></mesh></asset>', m_stl=whole("stl")),
    ),
    Rule(
        "only dovetail refuses",
        r"<flexcomp[^>]*>: is fixed to the world of its model",
        "a flexcomp with points of an attached world: MuJoCo drops the flex and keeps the bodies of its other points",
        _document(
            '<asset><model name="m" file="m.xml"/></asset><worldbody><attach model="m" prefix="p"/></worldbody>',
            m_xml=b"""<mujoco><worldbody><flexcomp name="f" type="grid" count="2 2 1" spacing="1 1 1" dim="2">
            <pin id="0"/></flexcomp></worldbody></mujoco>""",
        ),
    ),
    Rule(
        "only mujoco refuses",
        r"engine error: mj_\w*Alloc: (out of memory|insufficient)",
        "`<size memory>` that is too small for MuJoCo's own scratch memory; dovetail allocates its own",
        _document(f'<size memory="100"/>{_JOINT}'),
    ),
    Rule(
        "field",
        r"^nkey",
        "`<size nkey>` in a model whose keys are copied by `<replicate>`: MuJoCo adds the empty keys to the copies",
        _document(
            '<size nkey="1"/><worldbody><replicate count="2"><body><joint/><geom size="1"/></body></replicate>'
            "</worldbody><keyframe><key/></keyframe>"
        ),
        b"nkey",
    ),
    Rule(
        "field",
        r"^key_",
        "`<replicate>` around joints of one body, in a model with keys: MuJoCo mixes up its numbers",
        _document(
            '<worldbody><body><replicate count="2"><joint/></replicate><geom size="1"/></body></worldbody>'
            '<keyframe><key name="k" qpos="3"/></keyframe>'
        ),
        REPLICATED_JOINT,
    ),
    Rule(
        "steps",
        r"^q",
        "a negative `frictionloss`: MuJoCo's solver leaves rest in the direction of that friction",
        _document(f'<worldbody><body><joint frictionloss="-1"/>{_GEOM}</body></worldbody>'),
        rb'frictionloss="-',
    ),
    Rule(
        "steps",
        r"^[qs]",
        "torsion of a flex on bodies that turn, with sparse Jacobians: MuJoCo's rows differ from its dense ones",
        _document(
            '<worldbody><body quat="1 -1 3 0"><joint/><geom size=".05"/><body name="b" pos="-.3 .1 3">'
            '<joint name="j" axis="1 2 3"/><geom type="cylinder" size="1" fromto="0 0 0 .3 .5 .05" condim="4" '
            'solref=".05 .5" solmix="0" mass=".5"/><flexcomp name="f" type="grid" dim="3" count="4 2 3" '
            'spacing=".05 .1 .05" radius=".01"/></body></body></worldbody><equality><joint joint1="j"/></equality>'
        ),
        rb'<flex.*condim="[46]"|condim="[46]".*<flex',
    ),
    Rule(
        "field",
        r"",
        "NaN or infinity in the model: which numbers it spreads to depends on how comparisons are written",
        _document('<worldbody><geom pos="0 0 -inf" size="0.1"/><body/></worldbody>'),
        NOT_FINITE,
    ),
    Rule(
        "steps",
        r"",
        "NaN or infinity in the model: the same for motions",
        _document(
            '<worldbody><geom type="plane" size="1 1 1" friction="nan nan nan"/>'
            '<body pos="0 0 .09"><freejoint/><geom size=".1" friction="nan"/></body></worldbody>'
        ),
        NOT_FINITE,
    ),
]


def known(verdict: Verdict, document: Document) -> Rule | None:
    """The rule that explains a verdict, if any does."""
    return next((rule for rule in RULES if rule.covers(verdict, document)), None)
