"""One HTML file that needs nothing else: style, scripts and data stand in it, and a policy keeps it from loading anything."""

import base64
import hashlib
import os
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from thalweg.plots.html.contents import as_json, contents
from thalweg.plots.recorded import Recorded, read

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

SCRIPTS = ("numbers.js", "chart.js", "parallel.js", "filter.js", "table.js", "lists.js", "main.js")
"""Scripts of the page, in the order in which they run."""


def page(what: "Recorded | OptimizeResult | str | os.PathLike[str]") -> str:
    """Return an HTML page of a run: its curves, evaluations, failures and workers.

    The page loads nothing and sends nothing, works from a file, and asks no more of a browser than JavaScript. A run of more
    than some hundred thousand evaluations is shown by every second, fourth, ... of them and all that improved the best value.

    >>> import thalweg
    >>> result = thalweg.minimize(lambda x: x @ x, [1.0, 2.0], method="cma", seed=1, max_iter=40)
    >>> text = page(result)
    >>> text.startswith("<!doctype html>"), "src=" in text
    (True, False)

    Args:
        what: A result, or the path of a log or of a checkpoint, or a run that was read before.
    """
    run = what if isinstance(what, Recorded) else read(what)
    return _filled(run.name, as_json(contents(run)), policy(live=False))


def live_page(name: str) -> str:
    """Return the page without data: it asks the server that it came from."""
    return _filled(name, as_json({"live": True}), policy(live=True))


@cache
def policy(*, live: bool) -> str:
    """Return the content security policy of the page: its own style and script run, nothing else does."""
    style, script = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (_style(), _script()))
    connect = "'self'" if live else "'none'"
    rules = ("default-src 'none'", f"style-src 'sha256-{style}'", f"script-src 'sha256-{script}'", f"connect-src {connect}")
    return "; ".join((*rules, "img-src data:", "base-uri 'none'", "form-action 'none'"))


def _filled(name: str, data: str, rules: str) -> str:
    filled = {"title": escape(f"{name} - Thalweg"), "policy": escape(rules), "data": data}
    return Template(_asset("page.html")).substitute(filled, style=_style(), script=_script())


@cache
def _style() -> str:
    return _asset("page.css")


@cache
def _script() -> str:
    return '"use strict";\n(() => {\n' + "\n".join(map(_asset, SCRIPTS)) + "\n})();\n"


def _asset(name: str) -> str:
    return (files("thalweg.plots.html") / "assets" / name).read_text(encoding="utf-8")
