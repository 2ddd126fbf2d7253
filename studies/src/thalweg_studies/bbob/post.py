"""COCO's own post-processing: figures of runtime distributions, tables, and pages."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from thalweg_studies.bbob.plan import Settings
from thalweg_studies.common.extras import missing

SCRIPT = "import sys, matplotlib; matplotlib.use('Agg'); import cocopp; cocopp.main(sys.argv[1:])"


def installed() -> bool:
    """Return True if `cocopp` is installed; it is not imported, as it then looks for its archive in the network."""
    return importlib.util.find_spec("cocopp") is not None


def wanted(post: bool | None, settings: Settings) -> bool:
    """Return True if `cocopp` shall run: with None, if it is installed and COCO's observer writes."""
    observed = settings.engine == settings.logger == "coco"
    if post and not observed:
        raise ValueError("--post needs what COCO's observer writes; leave --engine and --logger at coco")
    if post and not installed():
        raise missing("cocopp")
    return observed and (installed() if post is None else post)


def post_process(folders: Sequence[Path], out: Path) -> Path:
    """Run `cocopp` on the folders of the observer, one for each entrant, and return its first page.

    It has a process of its own, as it prints, warns, changes matplotlib's settings, and reads the working folder.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    command = [sys.executable, "-c", SCRIPT, "-o", str(out.absolute()), *(str(folder.absolute()) for folder in folders)]
    done = subprocess.run(
        command,
        cwd=out,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"MPLBACKEND": "Agg", "PYTHONWARNINGS": "ignore"},
    )
    page = out / "index.html"
    if done.returncode != 0 or not page.is_file():
        last = (done.stderr.strip() or done.stdout.strip() or "it wrote no page").splitlines()[-1]
        raise ValueError(f"cocopp failed on {', '.join(folder.name for folder in folders)}: {last}")
    return page
