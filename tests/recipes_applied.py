"""The toys of docs/extending.md, in use; `test_recipes.py` runs this file in a copy of the package that has them."""

import platform

import pytest
from click.testing import CliRunner

import thalweg
from thalweg import plots
from thalweg.cli.app import app
from thalweg.evaluate import ENGINES
from thalweg.search.stopping import CRITERIA, REASONS
from thalweg.strategies.flows import FLOWS

SENTENCE = "Converged: all standard deviations are below precision = 0.001."


def sphere(x):
    return ((x - 1) ** 2).sum()


def command(*words: str) -> str:
    run = CliRunner().invoke(app, words)
    assert run.exit_code == 0, run.output
    return run.output


def test_a_stop_criterion_ends_a_run():
    found = thalweg.minimize(sphere, [0.0, 0.0], method="cma", seed=1, options={"precision": 1e-3})
    assert found.stop == {"precision": 1e-3}
    assert (found.message, found.success) == (SENTENCE, True)
    assert found.status == REASONS["precision"].status == len(CRITERIA) - 1
    assert found.std.max() < 1e-3
    without = thalweg.minimize(sphere, [0.0, 0.0], method="cma", seed=1)
    assert "precision" not in without.stop
    assert without.nit > found.nit


def test_a_stop_criterion_ends_the_runs_of_a_batch_at_the_same_generation():
    settings = {"max_evals": 10_000, "restarts": 0, "options": {"precision": 1e-3}}
    batch = thalweg.run_restarts("cma", sphere, [0.0, 0.0], seeds=[1, 2], **settings)
    assert batch.stop == [{"precision": 1e-3}] * 2
    assert batch.evaluations[0] == thalweg.minimize(sphere, [0.0, 0.0], method="cma", seed=1, **settings).nfev


@pytest.mark.parametrize("by_name", [True, False])
def test_a_checkpoint_keeps_the_tolerance(tmp_path, by_name):
    flow = "parabola" if by_name else FLOWS["parabola"]()
    settings = {"method": "gnn-cem", "seed": 1, "options": {"precision": 0.5, "flow": flow}}
    expected = thalweg.minimize(sphere, [0.0, 0.0], **settings)
    assert list(expected.stop) == ["precision"]
    thalweg.minimize(sphere, [0.0, 0.0], **settings, max_iter=2, checkpoint=tmp_path / "run.npz")
    strategy = None if by_name else thalweg.make_strategy("gnn-cem", flow=flow)
    found = thalweg.resume(tmp_path / "run.npz", sphere, method=strategy, max_iter=1000)
    assert (found.stop, found.nfev, found.fun) == (expected.stop, expected.nfev, expected.fun)


def test_an_engine_evaluates_by_its_name():
    settings = {"method": "cma", "seed": 1, "max_iter": 5}
    found = thalweg.minimize(sphere, [0.0, 0.0], **settings, workers="thread-pool")
    assert found.fun == thalweg.minimize(sphere, [0.0, 0.0], **settings).fun
    asynchronous = thalweg.minimize(
        sphere, [0.0, 0.0], **settings, workers=ENGINES["thread-pool"](workers=2), asynchronous=True
    )
    assert asynchronous.nfev >= found.nfev


def test_a_log_column_is_written_and_read(tmp_path):
    for name in ("run.jsonl", "run.parquet"):
        found = thalweg.minimize(sphere, [0.0, 0.0], method="cma", seed=1, max_iter=2, log=tmp_path / name)
        rows = thalweg.read_log(tmp_path / name)
        assert len(rows) == found.nfev
        assert {row.extra["host"] for row in rows} == {platform.node()}
    assert '"host": "' in (tmp_path / "run.jsonl").read_text()


@pytest.mark.parametrize(("method", "options"), [("cem", {"rate": 0.3}), ("gnn-cem", {"flow": "parabola"})])
def test_a_latent_and_a_flow_by_name(method, options):
    found = thalweg.minimize(sphere, [0.0, 0.0], method=method, seed=1, ftarget=1e-6, options=options)
    assert found.success
    assert found.x == pytest.approx([1, 1], abs=2e-3)


def test_a_latent_in_a_batch():
    runs = thalweg.run_many("cem", sphere, [0.0, 0.0], seeds=2, generations=20)
    assert (runs.best[:, -1] < 0.1).all()


def test_the_command_line_knows_them(tmp_path, monkeypatch):
    (tmp_path / "toy.py").write_text("def sphere(x):\n    return ((x - 1) ** 2).sum()\n")
    monkeypatch.chdir(tmp_path)
    assert "thread-pool" in command("minimize", "--help")
    listed = command("methods")
    assert "\ncem " in listed
    assert "CEM: the cross-entropy method with a diagonal covariance" in listed
    assert "gnn-cem" in listed
    words = ["--x0", "0,0", "--method", "cem", "--option", "precision=1e-3", "--engine", "thread-pool", "--quiet"]
    assert SENTENCE.rstrip(".") in " ".join(command("minimize", "toy:sphere", *words).split())


def test_a_plot_has_its_name():
    assert plots.PLOTS["final_values"] is plots.final_values
    with pytest.raises(ValueError, match="values"):
        plots.final_values({})
