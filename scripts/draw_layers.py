"""Draw docs/layers.svg from the import contract in pyproject.toml and the docstrings of the packages. Run by `make picture`."""

import ast
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "layers.svg"

WIDTH, LINE, PADDING, GAP = 880, 23, 9, 8
LEFT, NAMES, TEXTS = 58, 72, 164
"""Where the bands, the names of the packages and their sentences begin."""
LONGEST = 104
"""Characters of a sentence that fit into a band."""

RULE = "A package imports only from layers below its own. Packages in one band do not import each other."
STYLE = """
  .page { fill: #ffffff } .band { fill: #eef3f8; stroke: #c5d3e0 } .name { fill: #0b3d66; font-weight: 600 }
  .text { fill: #24292f } .note { fill: #57606a } .arrow { stroke: #57606a; fill: none; stroke-width: 1.5 }
  text { font: 13px -apple-system, "Segoe UI", "DejaVu Sans", Helvetica, Arial, sans-serif }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } .band { fill: #161f2b; stroke: #31435a } .name { fill: #8cc4f5 }
    .text { fill: #d7dee6 } .note { fill: #9aa6b2 } .arrow { stroke: #9aa6b2 }
  }
"""


def layers() -> list[list[str]]:
    """Return the packages of each layer, high to low, as the contract lists them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (each for each in contracts if each["type"] == "layers")
    return [[name.strip() for name in line.split("|")] for line in contract["layers"]]


def sentence(package: str) -> str:
    """Return the first sentence of the package's docstring, without markup."""
    source = (ROOT / "src" / "thalweg" / package / "__init__.py").read_text()
    paragraph = " ".join((ast.get_docstring(ast.parse(source)) or "").partition("\n\n")[0].split())
    first = paragraph.partition(". ")[0].rstrip(".").replace("`", "")
    if not 0 < len(first) <= LONGEST:
        raise ValueError(f"the docstring of thalweg.{package} must begin with a sentence of at most {LONGEST} characters")
    return first


def draw() -> str:
    """Return the picture as SVG: a band for each layer, a line of text for each package."""
    bands: list[str] = []
    y = 44
    for packages in layers():
        height = LINE * len(packages) + 2 * PADDING - 5
        bands.append(f'<rect class="band" x="{LEFT}" y="{y}" width="{WIDTH - LEFT - 14}" height="{height}" rx="5"/>')
        for i, package in enumerate(packages):
            baseline = y + PADDING + LINE * i + 13
            bands.append(f'<text class="name" x="{NAMES}" y="{baseline}">{escape(package)}</text>')
            bands.append(f'<text class="text" x="{TEXTS}" y="{baseline}">{escape(sentence(package))}</text>')
        y += height + GAP
    middle, bottom = (44 + y) // 2, y - GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 6}" width="{WIDTH}" height="{y + 6}" role="img">',
        f"<title>The packages of Thalweg in {len(layers())} layers</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{y + 6}" rx="6"/>',
        f'<text class="note" x="{LEFT}" y="28">{RULE}</text>',
        f'<path class="arrow" d="M36 46 V{bottom - 2} M31 {bottom - 9} L36 {bottom - 2} L41 {bottom - 9}"/>',
        f'<text class="note" text-anchor="middle" transform="translate(24 {middle}) rotate(-90)">imports</text>',
        *bands,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(draw())
