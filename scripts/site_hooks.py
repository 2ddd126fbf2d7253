"""Hooks of MkDocs: what docs/ as plain Markdown leaves to the site. `make docs` runs them by mkdocs.yml.

Equations become MathML, which browsers draw without a script; the reference is made from the public names; the notebook, the
changelog and CONTRIBUTING.md become pages; files outside docs/ that pages link to are copied, and the links changed.
"""

import base64
import importlib
import json
import logging
import posixpath
import re
import unicodedata
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "examples" / "curved_valley.ipynb"
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)
LETTER = re.compile(r'<mi mathvariant="(double-struck|script)">([A-Z])</mi>')
LINK = re.compile(r"\]\(((?:\.\./)+[^)#\s]+)")
ALPHABETS = {"double-struck": "DOUBLE-STRUCK CAPITAL", "script": "SCRIPT CAPITAL"}
"""Alphabets that MathML of today writes as characters, not by the attribute `mathvariant`, by their names in Unicode."""

REFERENCE: dict[str, tuple[str, str, str]] = {
    "minimising": (
        "Minimising",
        "The front door: one call, a loop of your own, and what belongs to a run.",
        "minimize resume Optimizer reevaluate read_log scipy_method Tolerances REASONS Ray Dask",
    ),
    "problems": ("Problems", "Variables, constraints and known points.", "Space Real Integer Fixed Constraints Known"),
    "methods": (
        "Methods",
        "Methods by name, and the strategies, flows, flow steps and models that they are made of.",
        "METHODS Method method_names make_strategy Strategy GNNES CMAES SepCMAES LRACMAES XNES SNES CauchyNES PGES "
        "NICE RealNVP Affine Identity TrustRegion Penalised Quadratic",
    ),
    "batch": (
        "Many runs at once",
        "Whole runs of functions that JAX can trace, thousands at a time.",
        "run_many run_restarts Trajectories Restarted",
    ),
}
"""Pages of the reference with names of `thalweg` itself: title, sentence, names."""

MODULES: dict[str, tuple[str, str, list[str]]] = {
    "plots": ("Plots", "Figures of runs, and pages for a browser.", ["thalweg.plots"]),
    "objectives": (
        "Objectives",
        "Test functions, external programs, and policy search.",
        ["thalweg.objectives", "thalweg.rl", "thalweg.rl.mjx"],
    ),
    "parts": (
        "Parts of methods",
        "What a method of your own is made of.",
        ["thalweg.strategies.latents", "thalweg.strategies.flows", "thalweg.strategies.flowsteps", "thalweg.space"],
    ),
}
"""Pages of the reference with all public names of packages."""

INTEGRATIONS = ["optuna.ThalwegSampler", "ray_tune.ThalwegSearch", "nevergrad.FamilyOfThalweg"]


def reference() -> Iterator[tuple[str, str]]:
    """Yield the pages of the reference, path and Markdown. A public name that no page has is an error."""
    import thalweg

    named = {name for _, _, names in REFERENCE.values() for name in names.split()}
    if differing := named ^ (set(dir(thalweg)) - {"__version__"}):
        raise ValueError(f"REFERENCE in {__file__} and dir(thalweg) differ by {sorted(differing)}")
    for page, (title, text, names) in REFERENCE.items():
        yield page, f"# {title}\n\n{text}\n\n" + "".join(f"::: thalweg.{name}\n\n" for name in names.split())
    for page, (title, text, modules) in MODULES.items():
        parts = [f"# {title}\n\n{text}\n\n"]
        for module in modules:
            parts.append(f"## `{module}`\n\n")
            names = _public(module)
            parts += [f"::: {module}.{name}\n    options:\n      heading_level: 3\n\n" for name in names]
        yield page, "".join(parts)
    yield (
        "integrations",
        "# Inside other libraries\n\nClasses for libraries that have a place for them; a method for scipy is "
        "[`scipy_method`][thalweg.scipy_method].\n\n"
        + "".join(f"::: thalweg.integrations.{name}\n\n" for name in INTEGRATIONS),
    )


def _public(module: str) -> list[str]:
    found = importlib.import_module(module)
    names: list[str] = list(found.__all__) if hasattr(found, "__all__") else ["LATENTS", "Latent"]
    return sorted(names, key=lambda name: (name.isupper(), name.lower()))


def notebook(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the notebook as a page and the pictures of its outputs: name and content."""
    parts: list[str] = []
    for i, cell in enumerate(json.loads(path.read_text())["cells"]):
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            data: dict[str, Any] = output.get("data", {})
            if "image/png" in data:
                name = f"notebook-{i}.png"
                yield name, base64.b64decode("".join(data["image/png"]))
                parts.append(f"![Output of the cell above]({name})")
            else:
                parts.append(f"```text\n{''.join(output.get('text') or data['text/plain']).rstrip()}\n```")
    note = f"[This notebook]({posixpath.join('files', 'examples', path.name)}) is run by the checks of the library."
    title, _, rest = "\n\n".join(parts).replace("](../docs/", "](").partition("\n")
    yield "notebook.md", f"{title}\n\n{note}\n{rest}\n".encode()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here, and the files outside docs/ that pages link to."""
    made: dict[str, str | bytes] = {f"api/{page}.md": text for page, text in reference()}
    made |= dict(notebook(NOTEBOOK))
    made["changelog.md"] = (ROOT / "CHANGELOG.md").read_text().replace("](docs/", "](")
    made["contributing.md"] = (ROOT / "CONTRIBUTING.md").read_text().replace("](docs/", "](")
    outside = {NOTEBOOK}
    for page in files.documentation_pages():
        folder = Path(config.docs_dir, page.src_uri).parent
        outside |= {(folder / target).resolve() for target in LINK.findall(page.content_string)}
    for path in outside:
        if not path.is_relative_to(config.docs_dir) and path.is_file():
            made[f"files/{path.relative_to(ROOT)}"] = path.read_bytes()
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Begin the first page with README.md but for its list of pages; point links to files outside docs/ at their copies."""
    if page.file.src_uri == "index.md":
        page.meta["hide"] = ["navigation"]
        readme = (ROOT / "README.md").read_text().replace("](docs/", "](")
        markdown = readme.partition("## Where to go on")[0] + markdown.replace("# Thalweg: documentation", "## All pages", 1)
    here = posixpath.dirname(page.file.src_uri)

    def moved(match: re.Match[str]) -> str:
        path = Path(config.docs_dir, here, match[1]).resolve()
        if path.is_relative_to(config.docs_dir) or not path.is_relative_to(ROOT):
            return match[0]
        return f"]({posixpath.relpath(f'files/{path.relative_to(ROOT)}', here or '.')}"

    return LINK.sub(moved, markdown)


def _letter(alphabet: str, letter: str) -> str:
    """Return the character of a letter; those that Unicode had before the alphabet have names without MATHEMATICAL."""
    try:
        return unicodedata.lookup(f"MATHEMATICAL {alphabet} {letter}")
    except KeyError:
        return unicodedata.lookup(f"{alphabet} {letter}")


def mathml(latex: str, display: bool) -> str:
    """Return an equation as MathML; its tag stands beside it."""
    tag = re.search(r"\\tag\{(\w+)\}", latex)
    plain = re.sub(r"\\tag\{\w+\}", "", latex).replace(r"\arg", r"\mathrm{arg}\,").replace("{aligned}", "{align*}").strip()
    text = convert(plain, display="block" if display else "inline")
    text = text.replace('</mi><mi mathvariant="normal">', "")  # one word, not letters
    text = text.replace("<mo>&#x022A4;</mo>", '<mi mathvariant="normal">&#x022A4;</mi>')  # a transpose, no operator
    text = LETTER.sub(lambda match: f"<mi>{_letter(ALPHABETS[match[1]], match[2])}</mi>", text)
    if "\\" in text or re.search("&(?!#)", text):
        logging.getLogger("mkdocs.hooks.math").warning("an equation is not understood: %s", latex)
    return f'<div class="equation">{text}{f"<span>({tag[1]})</span>" if tag else ""}</div>' if display else text


def on_page_content(html: str, **_: Any) -> str:
    """Draw the equations."""
    for pattern, display in ((INLINE, False), (DISPLAY, True)):
        html = pattern.sub(lambda match, display=display: mathml(unescape(match[1]), display), html)
    return html
