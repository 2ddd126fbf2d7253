"""Ctrl-C while the library is imported: the command line ends with one line, other programs get their KeyboardInterrupt."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from thalweg.cli.running import interrupts_unprinted

SOURCE = Path(__file__).parents[2] / "src"


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(
    ("words", "one_line"),
    [(["-m", "thalweg", "methods"], True), (["bin/thalweg", "methods"], True), (["-c", "import thalweg"], False)],
)
@pytest.mark.parametrize("module", ["email", "jax"])
def test_while_importing(tmp_path, words, one_line, module):
    (tmp_path / f"{module}.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "thalweg").write_text("from thalweg.cli import main\nmain()\n")
    environment = {"PYTHONPATH": f"{tmp_path}:{SOURCE}", "PATH": ""}
    start = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background job ignores it
    (tmp_path / "sitecustomize.py").write_text(start)
    run = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    if one_line:
        assert (run.returncode, run.stdout, run.stderr) == (130, "", "Interrupted.\n")
    else:
        assert run.stderr.endswith("KeyboardInterrupt\n")


def test_an_interrupt_in_a_callback_is_not_printed():
    class Raises:
        def __init__(self, error):
            self.error = error

        def __del__(self):
            raise self.error

    before, seen = sys.unraisablehook, []
    sys.unraisablehook = seen.append
    try:
        with interrupts_unprinted():
            Raises(KeyboardInterrupt())
            assert seen == []
            Raises(ValueError())
        assert [type(each.exc_value) for each in seen] == [ValueError]
        assert sys.unraisablehook == seen.append
    finally:
        sys.unraisablehook = before
        seen.clear()
