"""The settings of the two experiments, and their sizes.

Environments, M = 10, at most 1000 steps, linear deterministic policies and 5 seeds are the paper's. It does not state the
start, the population and the budget. Here x0 = 0, and all algorithms share a sigma0 and a population, chosen with CMA-ES in
short runs from seeds 1 to 3. Candidates for the pendulum were 11 (the library's default), 22 and 44 points and sigma0 = 0.03,
0.1, 1 and 10; for the swimmer 13 (the default) and 26 points and sigma0 = 0.3 and 1. The budgets let xNES come near the goal.
A pendulum that 20 successive populations have balanced is solved and its run ends, as the rest would cost the most.
"""

from dataclasses import dataclass, replace

from thalweg_studies.common.algorithms import DEFAULT_FLOW
from thalweg_studies.rl import environments
from thalweg_studies.rl.comparison import PolicyComparison

SEEDS, QUICK_SEEDS = 5, 2

MAIN = ("xNES", DEFAULT_FLOW[0].name, "CMA-ES", DEFAULT_FLOW[1].name)
"""The algorithms with the library's flow, and their latents."""
NICE = ("GNN-xNES", "GNN-CMA-ES")
"""The algorithms with the paper's flow, learned by the trust-region step."""


@dataclass(frozen=True)
class Sizes:
    """One experiment in full and in small, with the paper's observations and with those of today."""

    full: PolicyComparison
    small: PolicyComparison
    modern: PolicyComparison
    modern_small: PolicyComparison


def _sizes(full: PolicyComparison, modern: PolicyComparison, *, short: int) -> Sizes:
    def small(comparison: PolicyComparison) -> PolicyComparison:
        few = {"generations": {comparison.dimension: 4}, "popsize": 8, "rollouts": 2, "steps": short, "last": 4}
        return replace(comparison, **few, algorithms=comparison.algorithms[:2])

    return Sizes(full, small(full), modern, small(modern))


PENDULUM = PolicyComparison(
    "rl-pendulum",
    ("inverted-double-pendulum",),
    {11: 182},
    MAIN,
    make=environments.inverted_double_pendulum,
    title="InvertedDoublePendulum-v5 with 11 observations",
    sigma0=0.1,
    popsize=11,
    targets=(1000.0, 5000.0, 9000.0),
    enough=20,
    seconds=0.2,
)
SWIMMER = PolicyComparison(
    "rl-swimmer",
    ("swimmer",),
    {26: 100},
    MAIN,
    make=environments.swimmer,
    title="Swimmer-v5 with 13 observations",
    sigma0=0.3,
    popsize=13,
    targets=(100.0, 200.0, 300.0),
    seconds=0.4,
)
MODERN_PENDULUM = replace(
    PENDULUM,
    generations={9: PENDULUM.generations[11]},
    make=environments.modern_inverted_double_pendulum,
    title="InvertedDoublePendulum-v5",
)
MODERN_SWIMMER = replace(
    SWIMMER, generations={16: SWIMMER.generations[26]}, make=environments.modern_swimmer, title="Swimmer-v5"
)


def with_nice(comparison: PolicyComparison) -> PolicyComparison:
    """Return the experiment with the paper's flow, without the latents alone."""
    return replace(comparison, name=f"{comparison.name}-nice", algorithms=NICE[: len(comparison.algorithms) // 2])


COMPARISONS: dict[str, Sizes] = {
    "pendulum": _sizes(PENDULUM, MODERN_PENDULUM, short=200),
    "swimmer": _sizes(SWIMMER, MODERN_SWIMMER, short=60),
}
