"""XML that breaks the standard's rules but not those of MuJoCo's parser, and the other way round."""

from __future__ import annotations

import time

import pytest
from compiling import compile_text

from dovetail.errors import MJCFError
from dovetail.mjcf.read import source, xml_text

SOUND = '<mujoco><worldbody><geom name="g" size="1"/></worldbody></mujoco>'


def world(content: str) -> str:
    return f"<mujoco><worldbody>{content}</worldbody></mujoco>"


def named(name: str) -> str:
    return world(f'<geom name="{name}" size="1"/>')


def deep(count: int, inside: str = "") -> str:
    return world("<body>" * count + inside + "</body>" * count)


DOCUMENTS = {
    "no space between attributes": world('<geom name="g"size="1"/>'),
    "single quotes": world("<geom size='1'/>"),
    "no quotes": world("<geom size=1/>"),
    "attribute twice": world('<geom size="1" size="2"/>'),
    "attribute without value": world("<geom size/>"),
    "spaces around =": world('<geom size = \n"1" />'),
    "text between elements": world('hello <geom size="1"/> world'),
    "text first": "hello" + SOUND,
    "text last": SOUND + "hello",
    "two roots": SOUND + SOUND,
    "unclosed second root": SOUND + "<foo>",
    "comment first": "<!-- x -->" + SOUND,
    "dashes in a comment": world('<!-- a -- b ---><geom size="1"/>'),
    "unclosed comment": world('<!-- a <geom size="1"/>'),
    "CDATA": world('<![CDATA[<x>]]><geom size="1"/>'),
    "CDATA first": "<![CDATA[x]]>" + SOUND,
    "known references": named("a&amp;b&lt;&gt;&quot;&apos;&#65;&#x42;&#x00000041;"),
    "unknown references": named("a&foo;b&AMP;&Lt;&lt ;&#X41;&#65 x&#xZZ;&#x110000;"),
    "bare ampersands": named("a & b&"),
    "references to zero": named("a&#0;b"),
    "empty reference": named("a&#;b"),
    "control characters": named("a\x01b&#1;"),
    "white space of C": world('<geom\vsize="1"\f/>'),
    "< in a value": named("a<b>c"),
    "lines in a value": named("a\nb\tc\r\nd\re"),
    "declaration in the middle": world('<?pi x?><geom size="1"/>'),
    "declaration after white space": ' \n<?xml version="1.0"?>' + SOUND,
    "declaration after a comment": '<!-- c --><?xml version="1.0"?>' + SOUND,
    "two declarations": '<?xml version="1.0"?><?foo?>' + SOUND,
    "declaration last": SOUND + "<?foo?>",
    "odd declaration": "<?xml bla?>" + SOUND,
    "declared encoding": '<?xml version="1.0" encoding="latin-1"?>' + named("é"),
    "plain doctype": "<!DOCTYPE mujoco>" + SOUND,
    "doctype in the middle": world('<!DOCTYPE x><geom size="1"/>'),
    "end tag too many": SOUND + "</mujoco><x",
    "end tag first": "</a>" + SOUND,
    "end tag with attribute": '<mujoco></mujoco x="1">',
    "end tag with space": "<mujoco></ mujoco>",
    "wrong end tag": "<mujoco><worldbody></mujoco></worldbody>",
    "no end tag": "<mujoco><worldbody>",
    "space before the name": "< mujoco/>",
    "no name": world('< <geom size="1"/>'),
    "two slashes": world('<geom size="1"//>'),
    "namespace": '<mujoco xmlns="a"/>',
    "prefix": '<mujoco xmlns:x="a"/>',
    "prefixed element": world('<x:geom size="1"/>'),
    "other case": SOUND.replace("geom", "Geom"),
    "]]> in text": world('a ]]> b & c &foo; <geom size="1"/>'),
    "text after zero": SOUND + "\0junk",
    "496 bodies deep": deep(496),
    "497 bodies deep": deep(497),
    "empty element below": deep(496, '<geom size="1"/>'),
    "nothing": "<!-- x -->",
}


@pytest.mark.parametrize("case", DOCUMENTS)
def test_same_verdict_and_names_as_mujoco(case):
    mujoco = pytest.importorskip("mujoco")
    try:
        model = mujoco.MjModel.from_xml_string(DOCUMENTS[case])
        theirs = [model.geom(i).name for i in range(model.ngeom)]
    except ValueError:
        theirs = None
    try:
        ours = list(compile_text(DOCUMENTS[case]).names["geom"])
    except MJCFError:
        ours = None
    assert ours == theirs


def test_errors_have_file_and_line():
    with pytest.raises(MJCFError, match=r"model\.xml:3: malformed XML: <geom> has no end"):
        compile_text(
            '<mujoco>\n<worldbody>\n<geom size="1" pos=0/></worldbody></mujoco>', filename="model.xml"
        )


def test_elements_know_their_lines():
    root = source.parse('<mujoco\n>\n<!-- a\nb --><worldbody\n/>x & y\n<size\nnkey="1"/></mujoco>', "m.xml")
    assert [node.line for node in source.walk(root)] == [1, 4, 6]


def same(a: source.Node, b: source.Node) -> bool:
    pairs = zip(a.children, b.children, strict=True)
    return (a.tag, a.raw) == (b.tag, b.raw) and all(same(x, y) for x, y in pairs)


def test_both_parsers_see_the_same_in_sound_documents():
    inside = '<option><flag gravity="disable"/></option>'
    text = f'<?xml version="1.0"?><!-- c --><mujoco model="a &amp; b">{inside}</mujoco>'
    assert same(source._to_nodes(xml_text.parse(text), "m.xml"), source._parse_standard(text, "m.xml"))


@pytest.mark.parametrize(
    "piece", ['="', 'b="\n', "<", "&", "<!--", "< ", " ", "a", "=", "a\n", "<a>", "<?x?>", "&#"]
)
def test_hostile_text_is_read_in_one_pass(piece):
    start = time.process_time()
    for before in ("<a ", "<a b='"):
        with pytest.raises(MJCFError):
            source.parse(before + piece * 100_000 + "\0", "m.xml")
    assert time.process_time() - start < 10
