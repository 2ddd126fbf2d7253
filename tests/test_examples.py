"""The scripts under examples/ run and print the expected results."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import thalweg

ROOT = Path(__file__).parents[1]

PROMISES = {
    "minimise_with_bounds.py": "a = 2.50, b = 1.3",
    "ask_and_tell.py": "the same result to the last bit: True",
    "many_runs.py": "80 points per generation: 7",
    "cartpole.py": "stands for 500 of 500 steps",
}
LONG = {"many_runs.py", "cartpole.py"}


def test_every_example_is_here():
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == set(PROMISES)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.check if name in LONG else ()) for name in PROMISES])
def test_example(name: str, capsys: pytest.CaptureFixture[str]):
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    assert PROMISES[name] in capsys.readouterr().out


def test_many_runs_with_fewer_runs(capsys: pytest.CaptureFixture[str]):
    source = (ROOT / "examples" / "many_runs.py").read_text()
    assert "RUNS, BUDGET = 1000, 4000" in source
    exec(source.replace("1000, 4000", "50, 4000"), {})
    assert "of 50 runs solved" in capsys.readouterr().out


def test_the_pages_name_every_method():
    for page in ("README.md", "docs/choosing.md"):
        text = (ROOT / page).read_text()
        assert [name for name in thalweg.method_names() if f"`{name}`" not in text] == [], page


@pytest.mark.slow
def test_the_skeletons_pass_the_contract_tests(tmp_path: Path):
    """Register the code that docs/extending.md offers for copying, as the page says, and run the contract tests on it."""
    page = (ROOT / "docs" / "extending.md").read_text()
    blocks = [[line[4:] for line in block.splitlines() if line[:3] in (">>>", "...")] for block in page.split("```pycon")[1:]]
    register = "thalweg.strategies.latents.LATENTS['cem'] = CEM\nthalweg.strategies.flows.FLOWS['parabola'] = Parabola\n"
    code = "\n".join(line for block in blocks for line in block)
    code = re.sub(r"^(result|strategy) .*$|^result\..*$", "", code, flags=re.MULTILINE)
    (tmp_path / "skeletons.py").write_text(f"{code}\n{register}")
    tests = ["tests/strategies/flows/test_contract.py", "tests/strategies/latents/test_contract.py", "-k", "cem or parabola"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "skeletons", "-p", "no:cacheprovider", *tests]
    path = {"PYTHONPATH": f"{ROOT / 'src'}:{tmp_path}"}
    run = subprocess.run(command, cwd=ROOT, env=os.environ | path, capture_output=True, text=True, timeout=240, check=False)
    assert run.returncode == 0, run.stdout
    assert re.search(r"\b3\d passed", run.stdout), run.stdout
