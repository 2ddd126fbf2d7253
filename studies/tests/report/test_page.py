"""Pages: the same content as Markdown and as HTML that needs no other file."""

import base64
from html.parser import HTMLParser

import pytest

from thalweg_studies.common.verdict import AGREES, DIFFERS, Verdict
from thalweg_studies.paper.report.full_report import full_report
from thalweg_studies.report.page import Bullets, Heading, Paragraph, Picture, Table, as_html, as_markdown
from thalweg_studies.report.section import Section


class Reader(HTMLParser):
    """Checks that tags are closed in order, and keeps text and pictures."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.pictures = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.pictures.append(dict(attrs)["src"])
        elif tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def blocks(tmp_path):
    (tmp_path / "p.png").write_bytes(b"\x89PNG made up")
    return [
        Heading("A & B", 1),
        Paragraph("f < 1 with `x**2`"),
        Bullets(["one", "two <b>"]),
        Table(("d", "f - f_min"), [("2", "<0.1"), ("4", "")]),
        Picture(tmp_path / "p.png", 'a "picture"'),
    ]


def test_html_says_what_markdown_says_and_holds_its_pictures(blocks):
    reader = Reader()
    reader.feed(as_html("A & B", blocks))
    assert reader.open == []
    text = " ".join(" ".join(reader.text).split())
    for words in ("A & B", "f < 1 with x**2", "two <b>", "f - f_min", "<0.1"):
        assert words in text
    (picture,) = reader.pictures
    kind, _, content = picture.partition(";base64,")
    assert kind == "data:image/png"
    assert base64.b64decode(content) == b"\x89PNG made up"


def test_markdown(blocks):
    lines = as_markdown(blocks).splitlines()
    assert lines[0] == "# A & B"
    assert "- two <b>" in lines
    assert "| 2 | <0.1 |" in lines
    assert lines[-1] == '![a "picture"](p.png)'


def test_the_report_counts_verdicts_and_lists_what_differs():
    verdicts = [Verdict("one", "1", "1 [0, 2]", AGREES), Verdict("two", "3", "1 [0, 2]", DIFFERS, "because")]
    manifest = {"versions": {"jax": "0.9"}, "machine": "a machine"}
    text = as_markdown(full_report([Section("Part", [Paragraph("body")], verdicts, [])], "thalweg reproduce", manifest))
    assert "| Part | 1 | 1 | 0 |" in text
    assert "- two. The paper: 3. Here: 1 [0, 2]. because" in text
    assert "- one." not in text
    assert text.index("a machine") < text.index("## Part") < text.index("body")
