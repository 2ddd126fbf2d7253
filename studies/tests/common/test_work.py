"""The work loop on a study of made-up work: groups, failures, and the layout of files that older folders have."""

import json
import shutil
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

from thalweg_studies.bbob.benchmark import Benchmark
from thalweg_studies.bbob.entrant import entrants
from thalweg_studies.bbob.plan import Settings, Trial
from thalweg_studies.common.results import open_results
from thalweg_studies.common.study import Study
from thalweg_studies.common.work import execute
from thalweg_studies.paper import fig1, fig4

COMMITTED = Path(__file__).parents[3] / "docs" / "paper" / "rl"


@dataclass(frozen=True)
class Squares(Study[int, int]):
    """Squares of numbers; some of them raise."""

    errors: tuple[tuple[int, type[Exception]], ...] = ()
    tolerant: bool = True
    batched: bool = False

    name = "squares"
    format = "squares, 1"

    def settings(self):
        return {}

    def recorded(self, manifest):
        return manifest.setdefault("settings", {})

    def part(self, unit):
        return f"{unit}.txt"

    def encode(self, unit, result):
        return str(result).encode()

    def decode(self, unit, content):
        return int(content)

    def run(self, unit):
        for number, error in self.errors:
            if unit == number:
                raise error("no\n such root")
        return unit**2

    def groups(self, units):
        return [[unit for unit in units if unit % 2 == odd] for odd in (0, 1) if any(unit % 2 == odd for unit in units)]

    def cost(self, unit):
        return 1.0


def test_a_failure_costs_no_other_unit(tmp_path):
    results, seen = open_results(tmp_path, Squares(errors=((2, ArithmeticError),))), []
    failures = execute(results, range(5), report=seen.append)
    assert [str(failure) for failure in failures] == ["2 failed: ArithmeticError: no such root"]
    assert results.pending(range(5)) == [2]
    assert [results.read(unit) for unit in (0, 1, 3, 4)] == [0, 1, 9, 16]
    assert (seen[0].done, seen[-1].done, seen[-1].share) == (0, 5, 1)
    assert execute(open_results(tmp_path, Squares()), range(5)) == []


def test_a_batch_fails_together(tmp_path):
    results = open_results(tmp_path, Squares(errors=((2, ArithmeticError),), batched=True))
    assert [failure.unit for failure in execute(results, range(5), workers=2)] == [0, 2, 4]
    assert results.pending(range(5)) == [0, 2, 4]


@pytest.mark.parametrize(("error", "tolerant"), [(ArithmeticError, False), (ImportError, True), (OSError, True)])
def test_some_errors_end_the_work(tmp_path, error, tolerant):
    """Those that would meet every unit, and all of a study that is not tolerant."""
    results = open_results(tmp_path, Squares(errors=((2, error),), tolerant=tolerant))
    with pytest.raises(error):
        execute(results, range(5))
    assert results.pending(range(5)) == [1, 2, 3, 4]


def test_the_layout_on_disk():
    """Folders of earlier versions must stay readable."""
    assert fig4.FULL.format == "thalweg paper results, 2"
    assert fig4.FULL.part(fig4.FULL.units(100)[0]) == "fig4/bent-cigar-d2-cma-1000-1009.csv"
    assert fig1.FULL.part(fig1.FULL.units(5)[0]) == "fig1/rosenbrock-d2-xnes-1000-1004.npz"
    trial, benchmark = Trial(entrants("cma:popsize=10d")[0], 8, 2, 1), Benchmark(Settings(), Path("out"))
    assert benchmark.format == "thalweg bbob results, 1"
    assert benchmark.part(trial) == "cma_popsize_10d/f008-d02-i01.json"
    assert benchmark.trajectory(trial) == Path("out/coco/cma_popsize_10d/f008-d02-i01")
    assert set(benchmark.recorded({})) == {"budget", "seed", "restarts", "engine", "logger", "sigma0", "start"}


@pytest.mark.parametrize("name", ["pendulum", "swimmer"])
def test_committed_results_are_complete(tmp_path, monkeypatch, name):
    """The same command redraws them and computes nothing, where gymnasium and mujoco have the same versions."""
    from thalweg_studies.rl.settings import COMPARISONS

    shutil.copytree(COMMITTED / "parts", tmp_path / "parts")
    text = (COMMITTED / "manifest.json").read_text()
    (tmp_path / "manifest.json").write_text(text)
    experiment, original = COMPARISONS[name].full, metadata.version
    made_with = json.loads(text)["experiments"][experiment.name]["versions"]
    monkeypatch.setattr(metadata, "version", lambda package: made_with.get(package) or original(package))
    assert open_results(tmp_path, experiment).pending(experiment.units(5)) == []
    assert (tmp_path / "manifest.json").read_text() == text
