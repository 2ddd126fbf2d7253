"""Figures 1 to 3: isolines and entropies are those of the search distributions, and the commands write their files."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from thalweg import stepping
from thalweg.experiments.paper import fig1, fig23
from thalweg.experiments.paper.arms import ARMS
from thalweg.experiments.paper.course import enclosing, follow
from thalweg.experiments.paper.look import HEAD, SHOWN, tidy
from thalweg.latents.xnes import XNES
from thalweg.methods import make_strategy
from thalweg.objectives import OBJECTIVES

ROSENBROCK = OBJECTIVES["rosenbrock"]
TINY = replace(fig23.ROSENBROCK, generations={2: 3}, iterations=(1, 3))


@pytest.fixture(scope="module")
def courses():
    return TINY.run(3)


@pytest.fixture(scope="module")
def states():
    """What the run of xNES goes through, by hand."""
    strategy, found = ARMS["xNES"].strategy(2), []
    state = strategy.init(stepping.make_keys([SHOWN])[0], jnp.asarray(TINY.x0), TINY.sigma0)
    for _ in range(4):
        found.append(state)
        e, x, asked = strategy.ask(state)
        state = strategy.tell(asked, e, x, ROSENBROCK(x))[0]
    return found


def test_isolines_are_the_ellipses_of_the_covariance(states):
    course = follow(XNES(20), ROSENBROCK, TINY.x0, TINY.sigma0, seeds=[SHOWN], generations=3)
    for k, state in enumerate(states):
        root = np.asarray(state.sigma * state.root)
        values, axes = np.linalg.eigh(root @ root.T)
        along = (course.isolines[0, k, 0] - np.asarray(state.mean)) @ axes
        np.testing.assert_allclose((along**2 / values).sum(-1), 1, rtol=1e-9)
        np.testing.assert_allclose(along.max(0), np.sqrt(values), rtol=1e-3)  # all the way round
        np.testing.assert_allclose(along.min(0), -np.sqrt(values), rtol=1e-3)
    assert values[1] / values[0] > 1.5, "a circle would have passed by any axes"


def test_entropy_of_a_gaussian(courses, states):
    for k, state in enumerate(states):
        root = np.asarray(state.sigma * state.root)
        expected = 0.5 * np.linalg.slogdet(2 * np.pi * np.e * root @ root.T)[1]
        assert courses["xNES"].entropy[0, k] == pytest.approx(expected, abs=1e-10)


def test_isolines_and_entropy_of_a_flow_are_those_of_its_density(courses):
    """In dimension 2, log p = 1 - r^2 / 2 - entropy on the image of the circle of radius r; p from the strategy itself."""
    strategy, course = ARMS["GNN-xNES"].strategy(2), courses["GNN-xNES"]
    state = stepping.init(strategy, SHOWN, np.array(TINY.x0), TINY.sigma0)
    for _ in range(3):
        e, x, asked = stepping.ask(strategy, state)
        state, view = stepping.tell(strategy, asked, e, x, ROSENBROCK(np.asarray(x)))
    assert view.info["nonlinearity"] > 1e-3, "a straight distribution would tell little"
    log_p = np.asarray(strategy.log_prob(state, jnp.asarray(course.isolines[0, 3])))
    expected = 1 - np.square(TINY.radii) / 2 - course.entropy[0, 3]
    np.testing.assert_allclose(log_p, np.broadcast_to(expected[:, None], log_p.shape), atol=1e-6)


@pytest.mark.parametrize("name", fig23.FAMILY)
def test_lines_enclose_the_area_that_the_entropy_says(courses, name):
    """Measured on the polygons in the plane, so with a flow too: it bends, and keeps areas."""
    course = courses[name]
    for k in range(4):
        # e^entropy = 2 pi e |det A|, and the volume inside the circle of radius r is pi r^2 |det A|, bent or not
        for line, mass in zip(course.isolines[0, k], TINY.masses, strict=True):
            x, y = line.T
            area = 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
            expected = enclosing(mass) ** 2 * np.exp(course.entropy[0, k] - 1) / 2
            assert area == pytest.approx(expected, rel=2e-3)


def test_lines_enclose_their_part_of_the_points():
    """4,000 points before anything is learned: the parts within 4 standard errors, false alarm below 1e-3."""
    masses = (0.25, 0.95)
    radii = [enclosing(mass) for mass in masses]
    course = follow(XNES(4000), ROSENBROCK, (0.0, 0.0), 2.0, seeds=[5], generations=0, radii=radii)
    distance = np.linalg.norm(course.points[0, 0], axis=-1)
    for mass, line in zip(masses, course.isolines[0, 0], strict=True):
        inside = np.mean(distance < np.linalg.norm(line[0]))
        assert abs(inside - mass) < 4 * np.sqrt(mass * (1 - mass) / 4000)


def test_a_flow_that_changes_volumes_is_refused():
    with pytest.raises(ValueError, match="volume-preserving"):
        follow(make_strategy("gnn-xnes", flow="realnvp"), ROSENBROCK, (0.0, 0.0), 1.0, seeds=[1], generations=1)


def test_tidy_file_and_table(courses):
    lines = tidy(TINY, courses).splitlines()
    assert lines[0].split(",") == list(HEAD)
    assert len(lines) == 1 + 3 * 3 * 4
    first = dict(zip(HEAD, lines[1].split(","), strict=True))
    assert (first["method"], first["seed"], first["evaluations"]) == ("xNES", str(SHOWN), "20")
    assert float(first["best_f"]) == courses["xNES"].values[0, 0].min()
    entries = fig23.summarise(TINY, courses)
    assert [entry.iteration for entry in entries] == [1] * 3 + [3] * 3
    higher = np.mean(courses["GNN-xNES"].entropy[:, 1] > courses["xNES"].entropy[:, 1])
    assert entries[1].higher == pytest.approx(higher)
    assert all(len(row) == len(fig23.head(TINY)) for row in fig23.table(TINY, entries))
    assert fig23.caption(TINY, entries).count("against xNES") == 4
    look = fig23.RASTRIGIN
    assert len(fig23.table(look, entries)[0]) == len(fig23.head(look)) == len(fig23.head(TINY)) + 1


def test_figure_1_ends_in_the_straight_part():
    course = fig1.FULL.run(1)["xNES"]
    end = fig1.arrival(course)
    assert course.mean[0, end, 0] >= fig1.STRAIGHT > course.mean[0, :end, 0].max()
    assert f"after {end} iterations" in fig1.caption(course)
    assert enclosing(fig1.ONE_SIGMA) == pytest.approx(1)


@pytest.mark.parametrize("name", ["fig1", "fig2"])
def test_commands_write_the_same_files_again(tmp_path, monkeypatch, name):
    pytest.importorskip("matplotlib")
    pytest.importorskip("rich")
    testing = pytest.importorskip("click.testing")
    from thalweg.cli import reproduce_looks
    from thalweg.cli.app import app

    monkeypatch.setitem(reproduce_looks.LOOKS, "fig2", TINY)
    arguments = ["reproduce", name, "--quick", "--seeds", "3", "--out", str(tmp_path / "out")]
    contents = []
    for _ in range(2):
        result = testing.CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        contents.append({path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()})
    expected = {f"{name}.{kind}" for kind in ("csv", "md", "png", "svg", *["gif"] * (name == "fig2"))}
    assert set(contents[0]) == expected | {"manifest.json"}
    assert {line.rpartition("/")[2] for line in result.stdout.split()} == expected
    assert contents[0] == contents[1]
    page = contents[0][f"{name}.md"].decode()
    assert all(f"({each})" in page for each in expected if each.endswith((".png", ".gif")))
    if name == "fig2":
        with pytest.importorskip("PIL.Image").open(tmp_path / "out" / "fig2.gif") as image:
            assert (image.width, image.n_frames) == (600, 2)
