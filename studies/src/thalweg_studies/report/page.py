"""Pages of headings, text, tables and pictures, as Markdown and as self-contained HTML."""

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from thalweg_studies.report.files import markdown

MIME = {".png": "image/png", ".gif": "image/gif", ".svg": "image/svg+xml"}


@dataclass(frozen=True)
class Heading:
    """The heading of a section; the title of the page has level 1."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """Plain text; `code` between backticks is the only markup."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list of items with bullets."""

    items: Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table of text cells under a head."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    """A figure in a file in the folder of the page."""

    path: Path
    alt: str


Block = Heading | Paragraph | Bullets | Table | Picture


def as_markdown(blocks: Sequence[Block]) -> str:
    """Return a page as Markdown, with links to the files of pictures.

    >>> print(as_markdown([Heading("Result", 1), Bullets(["a < b", "`f(x)`"])]), end="")
    # Result
    <BLANKLINE>
    - a < b
    - `f(x)`
    """
    return "\n\n".join(map(_markdown, blocks)) + "\n"


def as_html(title: str, blocks: Sequence[Block]) -> str:
    """Return a page as HTML, with style and pictures inside.

    >>> "<li>a &lt; b</li>" in as_html("Result", [Bullets(["a < b"])])
    True
    """
    body = "\n".join(map(_html, blocks))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{STYLE}</style>\n</head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    )


STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; margin: 1rem 0; }
th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #888; }
tr:hover { background: #f4f7fa; }
img { max-width: 100%; height: auto; margin: 0.8rem 0; }
code { background: #f0f0f0; padding: 0 0.25em; }
"""


def _markdown(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {block.text}"
        case Paragraph():
            return block.text
        case Bullets():
            return "\n".join(f"- {item}" for item in block.items)
        case Table():
            return markdown(block.head, block.rows)
        case Picture():
            return f"![{block.alt}]({block.path.name})"


def _html(block: Block) -> str:
    match block:
        case Heading():
            return f"<h{block.level}>{_inline(block.text)}</h{block.level}>"
        case Paragraph():
            return f"<p>{_inline(block.text)}</p>"
        case Bullets():
            return "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in block.items) + "</ul>"
        case Table():
            head = "".join(f"<th>{_inline(cell)}</th>" for cell in block.head)
            rows = "\n".join("<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in row) + "</tr>" for row in block.rows)
            return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'
        case Picture():
            content = base64.b64encode(block.path.read_bytes()).decode()
            return f'<img alt="{html.escape(block.alt)}" src="data:{MIME[block.path.suffix]};base64,{content}">'


def _inline(text: str) -> str:
    return re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(text))
