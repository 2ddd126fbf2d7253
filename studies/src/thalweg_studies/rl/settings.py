"""The two experiments in their sizes.

Environments, M = 10, at most 1000 steps, linear deterministic policies and 5 seeds are the paper's. It says nothing of the
start, the population and the budget. Here x0 = 0, and all arms share a sigma0 and a population that were chosen with CMA-ES in
short runs from seeds 1 to 3: for the pendulum out of 11 (the library's default in that dimension), 22 and 44 points and sigma0
= 0.03, 0.1, 1 and 10, for the swimmer out of 13 (the default) and 26 points and 0.3 and 1. The budgets let xNES come near the
goal. A pendulum that 20 populations in a row have balanced is solved, and its run over: what follows would cost the most.
"""

from dataclasses import dataclass, replace

from thalweg_studies.rl import environments
from thalweg_studies.rl.arms import MAIN, NICE
from thalweg_studies.rl.race import PolicyRace

SEEDS, QUICK_SEEDS = 5, 2


@dataclass(frozen=True)
class Sizes:
    """One experiment, as a whole and for a quick look; both with the paper's observations and with those of today."""

    full: PolicyRace
    small: PolicyRace
    modern: PolicyRace
    modern_small: PolicyRace


def _sizes(full: PolicyRace, modern: PolicyRace, *, short: int) -> Sizes:
    def small(race: PolicyRace) -> PolicyRace:
        few = {"generations": {race.dimension: 4}, "popsize": 8, "rollouts": 2, "steps": short, "last": 4}
        return replace(race, **few, arms=race.arms[:2])

    return Sizes(full, small(full), modern, small(modern))


PENDULUM = PolicyRace(
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
SWIMMER = PolicyRace(
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


def with_nice(race: PolicyRace) -> PolicyRace:
    """The same experiment with the paper's flow; latents are those of the other."""
    return replace(race, name=f"{race.name}-nice", arms=NICE[: len(race.arms) // 2])


RACES: dict[str, Sizes] = {
    "pendulum": _sizes(PENDULUM, MODERN_PENDULUM, short=200),
    "swimmer": _sizes(SWIMMER, MODERN_SWIMMER, short=60),
}
