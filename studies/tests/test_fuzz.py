"""Tests of studies/benchmarks/fuzz.py and soak.py: some trials of each kind, plain and by hypothesis, and a soak."""

import json
import random
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def fuzz(benchmark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return benchmark("fuzz")


@pytest.mark.filterwarnings("ignore")
def test_arguments_of_every_kind_give_a_result_or_one_sentence(fuzz, tmp_path):
    kinds = {fuzz.fuzz_space: 300, fuzz.fuzz_others: 300, fuzz.fuzz_options: 60, fuzz.fuzz_known: 20, fuzz.fuzz_optimizer: 10}
    for kind, number in (kinds | {fuzz.fuzz_resume: 2, fuzz.fuzz_command_line: 3, fuzz.fuzz_minimize: 3}).items():
        outcomes = {kind(random.Random(f"test {i}"), tmp_path) for i in range(number)}
        assert outcomes
        assert number < 100 or len(outcomes) > 1


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(choose=st.randoms(use_true_random=False), kind=st.sampled_from(["fuzz_space", "fuzz_others", "fuzz_options"]))
def test_arguments_that_hypothesis_chooses(fuzz, tmp_path, choose, kind):
    assert getattr(fuzz, kind)(choose, tmp_path)


def test_faults_are_found(fuzz):
    def fails(message: str) -> None:
        raise ValueError(message)

    with pytest.raises(fuzz.FaultError):
        fuzz.checked(lambda: fails("something is wrong"), ["x0"])
    with pytest.raises(fuzz.FaultError):
        fuzz.checked(lambda: fails("x0 is\nwrong"), ["x0"])
    with pytest.raises(ZeroDivisionError):
        fuzz.checked(lambda: 1 / 0, ["x0"])
    assert fuzz.checked(lambda: fails("x0 is wrong"), ["x0"]) == "refused"
    es = fuzz.Optimizer([1.0], bounds=(0, 2), method="cma")
    fuzz.inside([[1.0]], es.space)
    for x in (3.0, float("nan")):
        with pytest.raises(fuzz.FaultError):
            fuzz.inside([[x]], es.space)


def test_a_soak_reports_time_and_memory(benchmark, monkeypatch):
    soak = benchmark("soak")
    monkeypatch.setattr(soak, "EVERY", 30)
    rows = [row for path in soak.PATHS for row in soak.soak(path, 60 * soak.PATHS[path][1])]
    assert [row["generation"] for row in rows] == [30, 60] * len(soak.PATHS)
    assert all(row["ms"] > 0 and row["mib"] > 10 for row in rows)
    assert soak.growth([{"mib": 10.0 + i} for i in range(100)], "mib") > 3
    assert soak.growth([{"mib": 10.0}] * 100, "mib") == 1.0
    assert "| run_many | growth | x " in soak.show(rows)


def test_a_path_alone_keeps_the_rows_of_the_others(benchmark, monkeypatch, tmp_path):
    soak, out = benchmark("soak"), tmp_path / "soak.json"
    monkeypatch.setattr(soak, "EVERY", 30)
    for path in ("run_many", "ask and tell", "run_many"):
        monkeypatch.setattr(sys, "argv", ["soak.py", "--path", path, "--generations", "60", "--out", str(out)])
        soak.main()
    rows = json.loads(out.read_text())["rows"]
    assert [row["path"] for row in rows] == ["ask and tell"] * 2 + ["run_many"] * 2
