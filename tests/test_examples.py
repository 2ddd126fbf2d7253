"""The scripts under examples/ run and print the expected results."""

import runpy
from pathlib import Path

import pytest

import thalweg

ROOT = Path(__file__).parents[1]

PROMISES = {
    "minimise_with_bounds.py": "a = 2.50, b = 1.3",
    "ask_and_tell.py": "the same result to the last bit: True",
    "tune_by_name.py": "within 5% of the noise, 0.1: True",
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


def test_the_page_about_methods_names_every_one():
    text = (ROOT / "docs" / "choosing.md").read_text()
    assert [name for name in thalweg.method_names() if f"`{name}`" not in text] == []
