"""Whole runs of our CMA-ES take as many evaluations as those of pycma and cmaes, in distribution."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from thalweg.strategies.latents import CMAES, Latent

D, SEEDS, TARGET = 5, 24, 1e-8
FALSE_ALARM = 1e-3
"""The probability with which each comparison would fail for equal distributions and random seeds. The seeds are fixed."""

OBJECTIVES = {"sphere": np.ones(D), "ellipsoid": 10.0 ** np.arange(D)}


@partial(jax.jit, static_argnums=0)
def our_evaluations(latent: Latent, weights: jax.Array) -> jax.Array:
    """Evaluations until a generation holds a point below the target, for 5 times as many seeds."""
    n = latent.population(D)

    def run(key: jax.Array) -> jax.Array:
        def generation(carry: Any) -> Any:
            state, count, _ = carry
            e, x, state = latent.ask(state)
            f = x**2 @ weights
            return latent.tell(state, e, x, f)[0], count + 1, f.min()

        start = (latent.init(key, jnp.ones(D), 0.5), 0, jnp.inf)
        return n * jax.lax.while_loop(lambda carry: (carry[2] > TARGET) & (carry[1] < 1000), generation, start)[1]

    return jax.lax.map(run, jax.random.split(jax.random.key(0), 5 * SEEDS))


def pycma_asked(seed: int) -> tuple[Callable[[], np.ndarray], Callable[[np.ndarray, np.ndarray], None]]:
    cma = pytest.importorskip("cma")
    generator = np.random.default_rng(seed)
    options = {"verbose": -9, "verb_log": 0, "seed": np.nan, "randn": lambda *shape: generator.standard_normal(shape)}
    es = cma.CMAEvolutionStrategy(np.ones(D), 0.5, options)
    return lambda: np.array(es.ask()), lambda x, f: es.tell(list(x), f.tolist())


def cmaes_asked(seed: int) -> tuple[Callable[[], np.ndarray], Callable[[np.ndarray, np.ndarray], None]]:
    es = pytest.importorskip("cmaes").CMA(mean=np.ones(D), sigma=0.5, seed=seed)
    return (
        lambda: np.array([es.ask() for _ in range(es.population_size)]),
        lambda x, f: es.tell(list(zip(x, f.tolist(), strict=True))),
    )


def their_evaluations(asked: Callable[..., Any], weights: np.ndarray) -> Iterator[int]:
    for seed in range(SEEDS):
        ask, tell = asked(seed)
        count, best = 0, np.inf
        while best > TARGET and count < 8000:
            x = ask()
            f = x**2 @ weights
            tell(x, f)
            count, best = count + len(f), f.min()
        yield count


@pytest.fixture(scope="module")
def theirs() -> dict[tuple[str, str], np.ndarray]:
    return {
        (package, name): np.array(list(their_evaluations(asked, weights)))
        for package, asked in (("pycma", pycma_asked), ("cmaes", cmaes_asked))
        for name, weights in OBJECTIVES.items()
    }


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize(
    ("package", "latent"), [("pycma", CMAES()), ("cmaes", CMAES(defaults="tutorial"))], ids=["pycma", "cmaes"]
)
def test_runs_agree(theirs: dict[tuple[str, str], np.ndarray], package: str, latent: CMAES, name: str):
    ours = np.asarray(our_evaluations(latent, jnp.asarray(OBJECTIVES[name])))
    assert max(ours.max(), theirs[package, name].max()) < 8000  # all of them reached the target
    assert scipy.stats.mannwhitneyu(ours, theirs[package, name]).pvalue > FALSE_ALARM


def test_the_comparison_would_notice_a_different_algorithm(theirs: dict[tuple[str, str], np.ndarray]):
    """Without the active update, the ellipsoid takes longer, and the same test on the same number of seeds says so."""
    ours = np.asarray(our_evaluations(CMAES(active=False), jnp.asarray(OBJECTIVES["ellipsoid"])))
    assert scipy.stats.mannwhitneyu(ours, theirs["pycma", "ellipsoid"]).pvalue < FALSE_ALARM
