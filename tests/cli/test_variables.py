"""Variables on the command line: by name, out of TOML files and by arrays; mistakes are one sentence; the same as in Python."""

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import thalweg
from thalweg.cli.app import app
from thalweg.cli.variables import read_space, read_toml, read_variable
from thalweg.space import Fixed, Integer, Real, Space

MODEL = """
import math


def loss(point):
    return (math.log10(point["rate"]) + 3) ** 2 + (point["width"] - 64) ** 2 + point["g"]


def by_vector(x):
    return (math.log10(x[0]) + 3) ** 2 + (x[1] - 64) ** 2 + x[2]


def typo(point):
    return point["ratio"]
"""
TOML = """
rate = {low = 1e-5, high = 1e-1, log = true}
width = {low = 8, high = 512, integer = true, x0 = 100}
g = 0.5
"""
SPACE = Space(rate=Real(1e-5, 1e-1, log=True), width=Integer(8, 512, x0=100), g=Fixed(0.5))
VARS = ("--var", "rate=1e-5..1e-1:log", "--var", "width=8..512:int:x0=100", "--var", "g=0.5")
SHORT = ("--method", "cma", "--seed", "1", "--max-evals", "60", "--quiet")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a module of objectives and a TOML file, and forget the module afterwards."""
    (tmp_path / "variables_for_tests.py").write_text(MODEL)
    (tmp_path / "space.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "variables_for_tests", raising=False)
    return tmp_path


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["minimize", *(str(argument) for argument in arguments)], prog_name="thalweg")


def x_of(*arguments: object) -> list[float]:
    result = call(*arguments, *SHORT, "--out", "r.json")
    assert result.exit_code == 0, result.output
    return json.loads(Path("r.json").read_text())["x"]


def test_the_point_is_printed_by_name():
    result = call("variables_for_tests:loss", *VARS, *SHORT, "--out", "r.json")
    assert result.exit_code == 0, result.output
    line = next(line for line in result.stdout.splitlines() if line.startswith("point "))
    point = json.loads(Path("r.json").read_text())["point"]
    assert line.split(maxsplit=1)[1] == ", ".join(f"{name}={value!r}" for name, value in point.items())
    assert list(point) == ["rate", "width", "g"]
    assert isinstance(point["width"], int)


def test_all_ways_and_python_make_the_same_search():
    named = x_of("variables_for_tests:loss", *VARS)
    assert x_of("variables_for_tests:loss", "--space", "space.toml") == named
    assert x_of("variables_for_tests:by_vector", "--space", "space.toml", "--as-vector") == named
    arrays = ("--x0", "0.001,100,0.5", "--bounds", "1e-5,1e-1;8,512;0.5,0.5", "--log-coordinates", "0", "--integers", "1")
    from_arrays = x_of("variables_for_tests:by_vector", *arrays)
    assert from_arrays == pytest.approx(named, rel=1e-9)

    def loss(point):
        return (__import__("math").log10(point["rate"]) + 3) ** 2 + (point["width"] - 64) ** 2 + point["g"]

    assert thalweg.minimize(loss, SPACE, method="cma", seed=1, max_evals=60).x.tolist() == named


def test_scale_and_random_starts():
    scaled = x_of("scipy.optimize:rosen", "--x0=0,0", "--sigma0", 0.5, "--scale", "1,4")
    assert scaled == x_of("scipy.optimize:rosen", "--x0=0,0", "--sigma0", "0.5,2")
    start = ("--x0", "random", "--bounds", "1e-5,1e-1;8,512;0.5,0.5", "--log-coordinates", "0", "--integers", "1")
    assert x_of("variables_for_tests:by_vector", *start)[2] == 0.5


def test_a_program_gets_placeholders_by_name():
    found = x_of("--command", "expr {width} + 1", "--var", "width=3..9:int", "--var", "rate=1..2", "--workers", 1)
    assert found[0] == 3


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ("a=1e-5..1e-1:log", Real(1e-5, 1e-1, log=True)),
        ("a = 8..512 : int : log", Integer(8, 512, log=True)),
        ("a=0..:x0=2:sigma0=0.5", Real(0, None, x0=2, sigma0=0.5)),
        ("a=..", Real()),
        ("a=-3..-1", Real(-3, -1)),
        ("a=7", Fixed(7)),
        ("a=0.5", Fixed(0.5)),
    ],
)
def test_forms_of_a_variable(text, variable):
    assert read_variable(text) == ("a", variable)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rate", "--var must have the form NAME=LOW..HIGH"),
        ("=0..1", "--var must have the form"),
        ("rate=", "--var must have the form"),
        ("rate=1..0", "--var 'rate=1..0': low of Real must be below high"),
        ("rate=0..1:log", "low of Real must be above 0 with log=True"),
        ("rate=0..1:lag", "--var 'rate=0..1:lag' has 'lag'; the form is"),
        ("rate=0..1:int:int", "has 'int'"),
        ("rate=0..1:x0", "has 'x0'"),
        ("rate=0..one", "'one' is not a number"),
        ("rate=0.5..2:int", "low of Integer must be a whole number"),
        ("rate=nan", "--var 'rate=nan': value of Fixed must be a number"),
        ("rate=3:log", "a fixed value takes no 'log'"),
        ("solver=adam", "is a choice among categories"),
        ("solver=adam,sgd", "Optuna's suggest_categorical"),
        ("flag=true", "is a choice among categories"),
    ],
)
def test_mistakes_in_a_variable_are_one_sentence(text, words):
    result = call("variables_for_tests:loss", "--var", text, *SHORT)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "--var" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("rate = ", "is not valid TOML"),
        ("", "has no variables"),
        ("rate = {low = 0, hihg = 1}", "variable 'rate' has 'hihg'; did you mean 'high'? It may have 'low', 'high'"),
        ("rate = {low = 1, high = 0}", "variable 'rate': low of Real must be below high"),
        ("rate = {low = 1, high = 9, integer = 1}", "integer must be true or false, got 1"),
        ("rate = inf", "variable 'rate': value of Fixed must be finite"),
        ("solver = ['adam', 'sgd']", "variable 'solver' is a choice among categories"),
        ("solver = {choices = ['adam', 'sgd']}", "variable 'solver' is a choice among categories"),
        ("flag = true", "variable 'flag' is a choice among categories"),
        ("day = 1979-05-27", "variable 'day': value of Fixed must be a number"),
        ("rate = 1", "all variables of the Space are Fixed"),
    ],
)
def test_mistakes_in_a_file_are_one_sentence(folder, toml, words):
    (folder / "wrong.toml").write_text(toml)
    result = call("variables_for_tests:loss", "--space", "wrong.toml", *SHORT)
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*VARS, "--x0", "1,2,3"), "take the place of --x0"),
        ((*VARS, "--integers", "1"), "take the place of --integers"),
        ((*VARS, "--var", "g=1"), "there is a variable 'g' already"),
        (("--x0", "1,2,3", "--integers", "a"), "--integers must be indices separated by commas"),
        (("--x0", "1,2,3", "--log-coordinates", "3"), "log must have indices from 0 to 2, got 3"),
        (("--x0", "1,2,3", "--log-coordinates", "0", "--no-log"), "--log-coordinates excludes --log and --no-log"),
        (("--x0", "1,2,3", "--scale", "1,2"), "scale must be one number or one for each of the 3 coordinates"),
    ],
)
def test_mistakes_in_options_are_named(arguments, words):
    result = call("variables_for_tests:by_vector", *arguments, *SHORT)
    assert result.exit_code == 2
    assert words in result.stderr.splitlines()[-1]


def test_a_wrong_name_in_the_function_is_told_by_names():
    result = call("variables_for_tests:typo", *VARS, *SHORT)
    assert result.exit_code == 1
    assert "KeyError: 'ratio'; check that variables_for_tests:typo accepts a mapping with 'rate', 'width', 'g'" in result.stderr


def test_a_file_is_the_space(folder):
    assert read_space((), folder / "space.toml") == SPACE
    assert Space(read_toml(folder / "space.toml")) == SPACE
    assert read_space((), None) is None


@given(st.text(alphabet="a0159.-+e:=lognitx ", max_size=25) | st.text(max_size=10))
def test_any_text_is_a_variable_or_refused(text):
    try:
        name, variable = read_variable(text)
    except ValueError as error:
        refusal = str(error)
        name, variable = "", None
    else:
        refusal = ""
    assert (variable is None) == refusal.startswith("--var")
    assert variable is None or Space({name: variable, "other": Real(0, 1)}).d == 2
