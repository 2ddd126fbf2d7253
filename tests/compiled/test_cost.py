"""Guards on cost that no busy machine can disturb: operations and memory as the compiler counts them, calls, transfers."""

import subprocess
import sys
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import thalweg
from thalweg.strategies.flowsteps import TrustRegion


@cache
def compiled(method, d, n, **options):
    """A generation, as in a compiled run."""
    strategy = thalweg.make_strategy(method, popsize=n, **options)

    def step(state):
        e, x, state = strategy.ask(state)
        return strategy.tell(state, e, x, jnp.sum(x**2, -1))[0]

    state = jax.eval_shape(lambda: strategy.init(jax.random.key(0), jnp.ones(d), 1.0))
    return jax.jit(step).lower(state).compile()


def operations(method, d, n, **options):
    return compiled(method, d, n, **options).cost_analysis()["flops"]


def memory(method, d, n, **options):
    known = compiled(method, d, n, **options).memory_analysis()
    return known.argument_size_in_bytes + known.output_size_in_bytes + known.temp_size_in_bytes


@pytest.mark.check
def test_the_flow_bends_few_populations_per_generation():
    """In units of one population through the flow, 96 d operations a point with three couplings of 16 units; see
    docs/performance.md. The update of a covariance, 2 d^2 a point, is in both counts and drops out."""
    d, n = 20, 200
    assert (operations("gnn-cma", d, n) - operations("cma", d, n)) / (96 * d * n) < 16


@pytest.mark.check
def test_the_flow_costs_as_much_per_sample_and_coordinate_in_any_dimension():
    """A diagonal latent leaves nothing quadratic: four times the dimension, four times the operations and the memory.

    For a step with as many generations in both; by default there are fewer steps in larger dimensions, and each has more.
    """
    step = TrustRegion(generations=5, every=5)
    small, large = (operations("gnn-snes", d, 40, step=step) - operations("snes", d, 40) for d in (50, 200))
    assert 3.5 < large / small < 4.5
    assert memory("gnn-snes", 200, 40, step=step) / memory("gnn-snes", 50, 40, step=step) < 4.5


@pytest.mark.parametrize("kind", [np.asarray, jnp.asarray])
def test_a_vectorised_objective_is_called_once_per_generation(kind):
    calls = []

    def fun(x):
        calls.append(x.shape)
        return kind(x).sum(1)

    result = thalweg.minimize(fun, np.ones(3), method="cma", popsize=9, seed=1, max_iter=7, vectorized=True)
    assert calls == [(9, 3)] * 7
    assert result.nfev == 63


LARGE = """
import re, numpy as np, thalweg
es = thalweg.Optimizer(np.ones(10_000), 1.0, method={!r}, seed=1, max_iter=3)
while not es.stop():
    X = es.ask()
    es.tell(X, (X * X).sum(1))
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


@pytest.mark.parametrize("method", ["sep-cma", "snes"])
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_ten_thousand_dimensions_fit_into_a_gigabyte(method):
    done = subprocess.run([sys.executable, "-c", LARGE.format(method)], stdout=subprocess.PIPE, text=True, check=True)
    assert int(done.stdout) * 1024 < 1e9
