"""What docs/translate.md says that one writes with other libraries exists there."""

import inspect
import re
from pathlib import Path

import cma
import cmaes
import optuna
import pytest
import scipy.optimize

PAGE = (Path(__file__).parents[2] / "docs" / "translate.md").read_text()


def written(library: str) -> str:
    """Return the code of the left column in the section of a library."""
    section = PAGE.partition(f"## From {library}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.*?) \| .* \|$", section, re.MULTILINE)
    assert len(rows) > 8
    return "\n".join(code for row in rows for code in re.findall(r"`([^`]+)`", row))


def test_options_and_functions_of_pycma():
    text, options = written("pycma"), cma.CMAOptions()
    keys = set(re.findall(r'"(\w+)":', text))
    assert len(keys) > 10
    assert keys - set(options) == set()
    assert [name for name in re.findall(r"(fmin\w*)\(", text) if not hasattr(cma, name)] == []
    given = {"restarts", "bipop", "noise_handler", "parallel_objective"}
    assert given <= set(inspect.signature(cma.fmin2).parameters)
    assert "constraints" in inspect.signature(cma.fmin_con2).parameters
    es = cma.CMAEvolutionStrategy([0.0, 0.0], 1.0, {"verbose": -9})
    assert [name for name in re.findall(r"es\.(\w+)\(", text) if not hasattr(es, name)] == []
    assert [name for name in re.findall(r"es\.result\.(\w+)", text) if not hasattr(es.result, name)] == []


def test_classes_and_arguments_of_cmaes():
    text = written("cmaes")
    classes = set(re.findall(r"\b([A-Z]\w+)\(", text))
    assert classes == {"CMA", "SepCMA", "CMAwM"}
    assert [name for name in classes if not hasattr(cmaes, name)] == []
    assert {"population_size", "lr_adapt"} <= set(inspect.signature(cmaes.CMA).parameters)
    assert [name for name in re.findall(r"optimizer\.(\w+)\(", text) if not hasattr(cmaes.CMA, name)] == []
    assert "get_warm_start_mgd" in text
    assert hasattr(cmaes, "get_warm_start_mgd")


def test_functions_and_arguments_of_scipy():
    text = written("scipy")
    for name in set(re.findall(r"(\w+)\(f, ", text)):
        assert hasattr(scipy.optimize, name), name
    wide = set(inspect.signature(scipy.optimize.differential_evolution).parameters)
    assert {"integrality", "workers", "updating", "vectorized", "x0", "popsize", "rng", "seed"} <= wide


@pytest.mark.parametrize("of", ["trial", "study"])
def test_methods_of_optuna(of: str):
    there = {"trial": optuna.Trial, "study": optuna.Study}[of]
    names = set(re.findall(rf"\b{of}\.(\w+)", written("Optuna")))
    assert names
    assert [name for name in names if not hasattr(there, name)] == []
