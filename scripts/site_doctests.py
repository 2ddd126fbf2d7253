"""Extension of Griffe, which reads the docstrings for the site: doctests among sentences are code."""

import re
from typing import Any

import griffe

DOCTEST = re.compile(r"^( *)>>> .*(?:\n(?! *$).*)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Fences around the doctests of each docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring and "Examples:\n" not in obj.docstring.value:
            obj.docstring.value = DOCTEST.sub(r"\1```pycon\n\g<0>\n\1```", obj.docstring.value)
