"""Figures 1 to 3: isolines and entropies are those of the search distributions; files, tables and verdicts."""

import csv
import io
import zipfile
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.compiled.keys import make_keys
from thalweg.compiled.steps import steps_of
from thalweg.objectives import OBJECTIVES
from thalweg.strategies.latents.xnes import XNES
from thalweg.strategies.registry import make_strategy
from thalweg_studies.common.algorithms import ALGORITHMS
from thalweg_studies.common.experiment import Case, compute, table_path
from thalweg_studies.common.results import open_results
from thalweg_studies.common.verdict import AGREES, DIFFERS, UNCLEAR
from thalweg_studies.paper import fig1, fig23, fig23_numbers
from thalweg_studies.paper.distributions import FEW, SHOWN, UNBENT, SearchDistributions, unbend
from thalweg_studies.paper.trajectory import DistributionTrajectory, enclosing, record

ROSENBROCK = OBJECTIVES["rosenbrock"]
TINY = replace(fig23.ROSENBROCK, generations={2: 3}, iterations=(1, 3), drawn=3, block=2)
SEEDS = 4


@pytest.fixture(scope="module")
def parts():
    """What every unit yields."""
    return {unit: TINY.run(unit) for unit in TINY.units(SEEDS)}


@pytest.fixture(scope="module")
def trajectories(parts):
    return {name: TINY.join([part for unit, part in parts.items() if unit.method == name]) for name in TINY.algorithms}


@pytest.fixture
def computed(parts, monkeypatch):
    """Units are looked up instead of run; the list says which."""
    units = []

    def looked_up(experiment, unit):
        units.append(unit)
        return parts[unit]

    monkeypatch.setattr(SearchDistributions, "run", looked_up)
    return units


@pytest.fixture(scope="module")
def states():
    """What the run of xNES goes through, by hand."""
    strategy, found = ALGORITHMS["xNES"].strategy(2), []
    state = strategy.init(make_keys([SHOWN])[0], jnp.asarray(TINY.x0), TINY.sigma0)
    for _ in range(4):
        found.append(state)
        e, x, asked = strategy.ask(state)
        state = strategy.tell(asked, e, x, ROSENBROCK(x))[0]
    return found


def test_isolines_are_the_ellipses_of_the_covariance(trajectories, states):
    (radius, *_), trajectory = TINY.radii, trajectories["xNES"]
    for k, state in enumerate(states):
        root = np.asarray(state.sigma * state.root)
        values, axes = np.linalg.eigh(root @ root.T)
        along = (trajectory.isolines[0, k, 0] - np.asarray(state.mean)) @ axes
        np.testing.assert_allclose((along**2 / values).sum(-1), radius**2, rtol=1e-9)
        np.testing.assert_allclose(along.max(0), radius * np.sqrt(values), rtol=1e-3)  # all the way round
        np.testing.assert_allclose(along.min(0), -radius * np.sqrt(values), rtol=1e-3)
    assert values[1] / values[0] > 1.5, "a circle would have passed by any axes"


def test_entropy_of_a_gaussian(trajectories, states):
    for k, state in enumerate(states):
        root = np.asarray(state.sigma * state.root)
        expected = 0.5 * np.linalg.slogdet(2 * np.pi * np.e * root @ root.T)[1]
        assert trajectories["xNES"].entropy[0, k] == pytest.approx(expected, abs=1e-10)


def test_isolines_and_entropy_of_a_flow_are_those_of_its_density(trajectories):
    """In dimension 2, log p = 1 - r^2 / 2 - entropy on the image of the circle of radius r; p from the strategy itself."""
    strategy, trajectory = ALGORITHMS["GNN-xNES"].strategy(2), trajectories["GNN-xNES"]
    steps = steps_of(strategy, 2)
    _, drawn = steps.begin(SHOWN, np.array(TINY.x0), TINY.sigma0)
    for _ in range(3):
        _, drawn, view = steps.tell(drawn, ROSENBROCK(np.asarray(drawn.y)))
    assert view.info["nonlinearity"] > 1e-3, "a straight distribution would tell little"
    log_p = np.asarray(strategy.log_prob(drawn.before, jnp.asarray(trajectory.isolines[0, 3])))
    expected = 1 - np.square(TINY.radii) / 2 - trajectory.entropy[0, 3]
    np.testing.assert_allclose(log_p, np.broadcast_to(expected[:, None], log_p.shape), atol=1e-6)


@pytest.mark.parametrize("name", fig23.FAMILY)
def test_lines_enclose_the_area_that_the_entropy_says(trajectories, name):
    """Measured on the polygons in the plane, so with a flow too: it bends, and keeps areas."""
    trajectory = trajectories[name]
    for k in range(4):
        # e^entropy = 2 pi e |det A|, and the volume inside the circle of radius r is pi r^2 |det A|, bent or not
        for line, mass in zip(trajectory.isolines[0, k], TINY.masses, strict=True):
            x, y = line.T
            area = 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
            expected = enclosing(mass) ** 2 * np.exp(trajectory.entropy[0, k] - 1) / 2
            assert area == pytest.approx(expected, rel=2e-3)


def test_lines_enclose_their_part_of_the_points():
    """4,000 points before anything is learned: the parts within 4 standard errors, false alarm below 1e-3."""
    masses = (0.25, 0.95)
    radii = [enclosing(mass) for mass in masses]
    trajectory = record(XNES(4000), ROSENBROCK, (0.0, 0.0), 2.0, seeds=[5], generations=0, radii=radii)
    distance = np.linalg.norm(trajectory.points[0, 0], axis=-1)
    for mass, line in zip(masses, trajectory.isolines[0, 0], strict=True):
        inside = np.mean(distance < np.linalg.norm(line[0]))
        assert abs(inside - mass) < 4 * np.sqrt(mass * (1 - mass) / 4000)


def test_a_flow_that_changes_volumes_is_refused():
    with pytest.raises(ValueError, match="volume-preserving"):
        record(make_strategy("gnn-xnes", flow="realnvp"), ROSENBROCK, (0.0, 0.0), 1.0, seeds=[1], generations=1)


def test_points_and_isolines_are_kept_of_the_run_shown(parts, trajectories):
    trajectory = trajectories["xNES"]
    assert trajectory.points.shape == (1, 4, 20, 2)
    assert trajectory.isolines.shape[:3] == (1, 4, 4)
    assert trajectory.best.shape == trajectory.entropy.shape == (SEEDS, 4)
    values = ROSENBROCK(trajectory.points[0]).min(-1)
    np.testing.assert_allclose(trajectory.best[0], np.minimum.accumulate(values), rtol=1e-12)
    short = replace(TINY, drawn=1)
    unit = short.units(SEEDS)[0]
    assert short.run(unit).points.shape == (1, 2, 20, 2)


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_second_run_computes_nothing_and_changes_no_byte(tmp_path, computed):
    compute(tmp_path / "a", TINY, SEEDS)
    results, units = open_results(tmp_path / "a", TINY), TINY.units(SEEDS)
    assert sorted(computed) == sorted(units)
    before = contents(tmp_path / "a")
    compute(tmp_path / "a", TINY, SEEDS)
    assert len(computed) == len(units)
    compute(tmp_path / "b", TINY, SEEDS)
    assert contents(tmp_path / "a") == contents(tmp_path / "b") == before
    with zipfile.ZipFile(results.path(units[0])) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}, "the time would change the bytes"


def test_the_same_unit_gives_the_same_bytes(parts):
    unit = TINY.units(SEEDS)[1]
    assert TINY.encode(unit, TINY.run(unit)) == TINY.encode(unit, parts[unit])


@pytest.mark.parametrize("harm", ["cut", "empty", "another's", "no zip", "pickled", "lacks one", "other shape", "bits"])
def test_only_a_harmed_part_is_computed_again(tmp_path, computed, parts, harm):
    compute(tmp_path, TINY, SEEDS)
    results, units = open_results(tmp_path, TINY), TINY.units(SEEDS)
    before = contents(tmp_path)
    victim = units[1]
    path = results.path(victim)
    content, arrays = path.read_bytes(), parts[victim]._asdict()
    for harmed in {
        "cut": [content[:-1], content[: len(content) // 2]],
        "empty": [b""],
        "another's": [results.path(units[3]).read_bytes()],
        "no zip": [b"\xff" * 100],
        "pickled": [zipped(arrays | {"best": np.array([{}], object)})],
        "lacks one": [zipped({name: array for name, array in arrays.items() if name != "best"})],
        "other shape": [zipped(arrays | {"best": arrays["best"][:, :2]})],
        "bits": [flipped(content, at) for at in range(0, len(content), len(content) // 400)],
    }[harm]:
        path.write_bytes(harmed)
        assert results.read(victim) is None
    computed.clear()
    compute(tmp_path, TINY, SEEDS)
    assert computed == [victim]
    assert contents(tmp_path) == before


def zipped(arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def flipped(content, at):
    return content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :]


def test_tidy_file(tmp_path, computed, trajectories):
    compute(tmp_path, TINY, SEEDS)
    with table_path(tmp_path, TINY).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * SEEDS * 4
    row = next(row for row in rows if (row["method"], row["seed"], row["iteration"]) == ("GNN-xNES", str(SHOWN + 2), "3"))
    trajectory = trajectories["GNN-xNES"]
    assert (row["function"], row["dimension"], row["evaluations"]) == ("rosenbrock", "2", "80")
    assert (float(row["best_f"]), float(row["entropy"])) == (trajectory.best[2, 3], trajectory.entropy[2, 3])
    assert [float(row["cells"]), float(row["mean_1"]), float(row["mean_2"])] == [trajectory.cells[2, 3], *trajectory.mean[2, 3]]


def test_tables(trajectories):
    entries = fig23_numbers.summarise(TINY, trajectories)
    assert [entry.iteration for entry in entries] == [1] * 3 + [3] * 3
    gap = trajectories["GNN-xNES"].entropy[:, 3] - trajectories["xNES"].entropy[:, 3]
    assert entries[4].higher.value == pytest.approx(gap.mean())
    assert all(len(row) == len(fig23_numbers.head(TINY)) for row in fig23_numbers.table(TINY, entries))
    experiment = fig23.RASTRIGIN
    assert (
        len(fig23_numbers.table(experiment, entries)[0])
        == len(fig23_numbers.head(experiment))
        == len(fig23_numbers.head(TINY)) + 2
    )


def made_up(best, entropy):
    best, entropy = np.tile(best, (FEW, 1)), np.tile(entropy, (FEW, 1)) + np.arange(FEW)[:, None]
    return DistributionTrajectory(None, None, None, entropy, best, np.ones_like(best))


def test_entropy_is_compared_at_the_same_best_value():
    """The flow is one iteration ahead on the same path, so it is smaller at every iteration, and as large at every value."""
    experiment = replace(TINY, algorithms=("xNES", "GNN-xNES"), iterations=(1, 2))
    latent = made_up([5.0, 0.9, 0.09, 0.009], [3.0, 2.0, 1.0, 0.0])
    ahead = made_up([0.9, 0.09, 0.009, 0.009], [2.0, 1.0, 0.0, -1.0])
    trajectories = {"xNES": latent, "GNN-xNES": ahead}
    found = {(each.method, each.level): each for each in fig23_numbers.crossings(experiment, trajectories)}
    assert [found["GNN-xNES", level].higher.value for level in fig23_numbers.LEVELS] == [0, 0, 0]
    assert [found["GNN-xNES", level].sooner.value for level in fig23_numbers.LEVELS] == pytest.approx([2, 3 / 2, 4 / 3])
    faster, same_iteration, same_value = fig23.verdicts(experiment, trajectories)
    assert (faster.verdict, same_iteration.verdict, same_value.verdict) == (AGREES, DIFFERS, UNCLEAR)
    assert "-1.00 [-1.00, -1.00] nats at iteration 1" in same_iteration.ours
    assert same_iteration.why.endswith("at iteration 1 and 2 it is ahead, and smaller for that reason too")
    higher = ahead._replace(entropy=ahead.entropy + 2.5)
    assert [line.verdict for line in fig23.verdicts(experiment, {"xNES": latent, "GNN-xNES": higher})] == [AGREES] * 3


def test_runs_that_do_not_get_there_are_not_compared_there():
    experiment = replace(TINY, algorithms=("xNES", "GNN-xNES"), iterations=(1,))
    latent = made_up([5.0, 0.9, 0.09, 0.009], [3.0, 2.0, 1.0, 0.0])
    stuck = made_up([0.9, 0.5, 0.5, 0.5], [2.0, 1.0, 0.0, -1.0])
    last = fig23_numbers.crossings(experiment, {"xNES": latent, "GNN-xNES": stuck})[-1]
    assert (last.reached, last.higher) == (0, None)
    faster, _, same_value = fig23.verdicts(experiment, {"xNES": latent, "GNN-xNES": stuck})
    assert (faster.verdict, last.sooner.value) == (UNCLEAR, 1.0), "the latent needs all the iterations, too"
    assert "0 of 20 runs get there" in faster.ours
    sooner = latent._replace(best=latent.best[:, [1, 2, 3, 3]])
    faster = fig23.verdicts(experiment, {"xNES": sooner, "GNN-xNES": stuck})[0]
    assert (faster.verdict, faster.ours[:4]) == (DIFFERS, "0.75")
    assert faster.why == "the other 20 end at a median best f of 0.5 with a median entropy of 8.5 nats"
    assert (same_value.verdict, same_value.why) == (UNCLEAR, "fewer than 20 pairs of runs")


def test_verdicts_on_many_minima():
    experiment = replace(fig23.RASTRIGIN, algorithms=("xNES", "GNN-xNES"), iterations=(1, 2))
    latent = made_up([5.0, 2.0, 0.5], [3.0, 2.0, 1.0])
    flow = made_up([5.0, 2.0, 1.5], [3.0, 2.0, 1.0])._replace(cells=latent.cells + 1)
    lines = {line.item: line for line in fig23.verdicts(experiment, {"xNES": latent, "GNN-xNES": flow})}
    assert lines["Figure 3, xNES: global minimum"].verdict == AGREES
    assert lines["Figure 3, GNN-xNES: global minimum"].verdict == DIFFERS
    assert lines["Figure 3, GNN-xNES: modes"].verdict == DIFFERS
    assert lines["Figure 3, GNN-xNES: unit cells with points"].verdict == AGREES


@pytest.fixture(scope="module")
def valleys():
    """Figure 1, the curved valley and the straight one, from 3 seeds each."""
    experiment = replace(fig1.FULL, block=3)
    return {unit.case: experiment.run(unit) for unit in experiment.units(3)}


def test_figure_1_ends_in_the_straight_part(valleys):
    for trajectory in valleys.values():
        for run, end in enumerate(fig1.arrivals(trajectory)):
            assert trajectory.mean[run, end, 0] >= fig1.STRAIGHT > trajectory.mean[run, :end, 0].max()
            assert fig1.drops(trajectory)[run] == trajectory.entropy[run, 0] - trajectory.entropy[run, end]
    trajectory = valleys[Case("rosenbrock", 2, "xNES")]
    assert f"after {fig1.arrivals(trajectory)[0]} iterations" in fig1.caption(trajectory)
    assert enclosing(fig1.ONE_SIGMA) == pytest.approx(1)


def test_the_straight_valley_is_the_curved_one_unbent():
    for x in [(-1.2, 1.0), (0.3, -2.0), (1.0, 1.0)]:
        assert float(UNBENT(unbend(x))) == pytest.approx(float(ROSENBROCK(x)))
    assert UNBENT(UNBENT.x_opt(2)) == 0


@pytest.mark.parametrize(("late", "verdict"), [(-1.0, AGREES), (2.0, UNCLEAR), (2.5, DIFFERS)])
def test_figure_1_can_fail(late, verdict):
    """A fall of 1 nat is that of the straight valley."""
    mean = np.tile([[-1.0, 1.0], [0.9, 0.8], [1.0, 1.0]], (FEW, 1, 1))
    curved, straight = (
        DistributionTrajectory(None, None, mean, np.tile([3.0, each, -9.0], (FEW, 1)), None, None) for each in (late, 2.0)
    )
    (line,) = fig1.verdicts(curved, straight)
    assert line.verdict == verdict
    assert line.ours.startswith(f"falls by {3 - late:.1f} [")
    few = [DistributionTrajectory(None, None, each.mean[:5], each.entropy[:5], None, None) for each in (curved, straight)]
    assert fig1.verdicts(*few)[0].verdict == UNCLEAR


@pytest.mark.parametrize("name", ["fig1", "fig2"])
def test_the_same_figures_again(tmp_path, trajectories, valleys, name):
    pytest.importorskip("matplotlib")
    from thalweg_studies.paper.report.distribution_sections import fig1_section, fig23_section
    from thalweg_studies.report.page import as_markdown

    experiment = TINY if name == "fig2" else fig1.FULL
    cases = (
        {Case("rosenbrock", 2, method): trajectories[method] for method in sorted(trajectories)} if name == "fig2" else valleys
    )
    results = []
    for _ in range(2):
        section = (
            fig1_section(tmp_path, experiment, cases)
            if name == "fig1"
            else fig23_section(tmp_path, experiment, cases, experiment, cases)
        )
        verdicts, files = section.verdicts, section.files
        results.append((as_markdown(section.blocks), verdicts, {path: path.read_bytes() for path in files}))
    assert results[0] == results[1]
    assert {path.name for path in files} == {f"{name}.{kind}" for kind in ("png", "svg", *["gif"] * (name == "fig2"))}
    assert all(f"({path.name})" in results[0][0] for path in files if path.suffix != ".svg")
    assert [line.verdict for line in verdicts] == [UNCLEAR] * len(verdicts), "so few runs decide nothing"
    if name == "fig2":
        with pytest.importorskip("PIL.Image").open(tmp_path / "fig2.gif") as image:
            assert (image.width, image.n_frames) == (600, 4)
