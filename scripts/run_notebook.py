"""Run a notebook in a kernel of its own, and compare its outputs with those it holds; with --write, store them instead.

Usage: python scripts/run_notebook.py examples/curved_valley.ipynb [--write]

Texts must be equal but for numbers, which may differ by a quarter, as processors round differently; pictures must come again.
"""

import base64
import copy
import io
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from PIL import Image

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


def shown(cell: Any) -> list[str]:
    """Return the outputs of a cell: texts, and for a picture the word picture."""
    outputs: list[str] = []
    for output in cell.get("outputs", []):
        if "image/png" in output.get("data", {}):
            outputs.append("picture")
        else:
            outputs.append(output["text"] if "text" in output else output["data"]["text/plain"])
    return outputs


def alike(first: str, second: str) -> bool:
    """Return True for texts that are equal but for numbers that differ by at most a quarter."""
    if NUMBER.sub("0", first) != NUMBER.sub("0", second):
        return False
    pairs = zip(NUMBER.findall(first), NUMBER.findall(second), strict=True)
    values = [(float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in pairs]
    return all(abs(a - b) <= 0.25 * max(abs(a), abs(b)) for a, b in values)


def _tidy(cell: Any) -> None:
    """Join the pieces in which text has come, and make pictures small: 64 colours are enough for lines."""
    outputs: list[Any] = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/png" in data:
            small = io.BytesIO()
            Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).convert("RGB").quantize(64).save(
                small, "png", optimize=True
            )
            data["image/png"] = base64.b64encode(small.getvalue()).decode()
        if outputs and "text" in output and output.get("name") == outputs[-1].get("name"):
            outputs[-1]["text"] += output["text"]
        else:
            outputs.append(output)
    if outputs:
        cell.outputs = outputs


def run(path: Path) -> tuple[Any, list[str]]:
    """Return the notebook with new outputs, and the differences from those it had."""
    old = nbformat.read(path, as_version=4)
    new = copy.deepcopy(old)
    NotebookClient(new, kernel_name="python3", timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    for cell in new.cells:
        _tidy(cell)
    differences: list[str] = []
    for i, (before, after) in enumerate(zip(old.cells, new.cells, strict=True)):
        a, b = shown(before), shown(after)
        if len(a) != len(b) or not all(map(alike, a, b)):
            differences.append(f"cell {i} has the outputs {a} and now gives {b}")
    return new, differences


def main(name: str, *options: str) -> None:
    """Run the notebook and compare, or write."""
    path = Path(name)
    new, differences = run(path)
    if "--write" in options:
        for cell in new.cells:
            cell.metadata = {}
        new.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
        nbformat.write(new, path)
        print(f"{name}: written, {path.stat().st_size:,} bytes")
    elif differences:
        sys.exit("\n".join([f"{name}: other outputs than it holds; --write stores them", *differences]))
    else:
        print(f"{name}: {len(new.cells)} cells give what they hold")


if __name__ == "__main__":
    main(*sys.argv[1:])
