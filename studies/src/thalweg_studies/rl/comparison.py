"""Policy search from several seeds with several algorithms: the mean return of every population."""

import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thalweg import make_strategy, minimize, read_log
from thalweg.objectives.rl import PolicySearch
from thalweg_studies.common.algorithms import ALGORITHMS
from thalweg_studies.common.experiment import FIRST_SEED, Case, Experiment, SeedBlock

NEVER: dict[str, float] = {
    **dict.fromkeys(("tolx", "tolfun", "tolfunhist", "tolstagnation"), 0.0),
    **dict.fromkeys(("tolflatfitness", "tolconditioncov", "tolfacupx"), inf),
}
"""Tolerances that stop no run: all runs have the same number of evaluations."""

FINAL = 1 << 20
"""The number added to a run's seed for the rollouts that judge its last policy; no search has met them."""

LOG = ".jsonl"
"""The ending added to a checkpoint's name for the log of all evaluations."""


class PolicyRuns(NamedTuple):
    """The runs of one algorithm; returns are means of M rollouts."""

    mean: np.ndarray
    """The mean return of each population, (seeds, generations)."""
    best: np.ndarray
    """The best return of each population, (seeds, generations)."""
    policy: np.ndarray
    """The mean of the last search distribution, (seeds, d)."""
    final: np.ndarray
    """The mean return of that policy in fresh rollouts, (seeds,)."""


@dataclass(frozen=True)
class PolicyComparison(Experiment[PolicyRuns]):
    """All algorithms in one environment from x0 = 0, with deterministic linear policies without bias."""

    make: Callable[[], Any] = field(kw_only=True)
    """The function that makes the environment."""
    title: str = field(kw_only=True)
    sigma0: float = field(kw_only=True)
    popsize: int = field(kw_only=True)
    targets: tuple[float, ...] = field(kw_only=True)
    """Returns to reach; the last one is the goal."""
    seconds: float = field(kw_only=True)
    """The approximate time of one evaluation."""
    block: int = 1
    rollouts: int = 10
    """The number of rollouts per evaluation, M."""
    steps: int = 1000
    """The largest number of steps of a rollout."""
    last: int = 100
    """The number of rollouts that judge the last policy."""
    enough: int | None = None
    """The number of successive populations at the goal after which a run ends, as good policies cost the most; None: never."""
    scratch: Path | None = None
    """The folder of checkpoints, from which interrupted runs continue; None for none."""

    suffix = ".json"
    exact = False  # start states depend on the last digit of a point, in which machines differ, and the work takes hours

    @property
    def dimension(self) -> int:
        """The number of parameters of a policy."""
        return next(iter(self.generations))

    @property
    def evaluations(self) -> np.ndarray:
        """The number of evaluations after each generation."""
        return self.popsize * np.arange(1, self.generations[self.dimension] + 1)

    def search(self, seed: int) -> PolicySearch:
        """Return the objective of the run from that seed."""
        return PolicySearch(self.make, rollouts=self.rollouts, bias=False, max_steps=self.steps, seed=seed)

    def cost(self, unit: SeedBlock) -> float:
        return 5.0 + self.seconds * self.evaluations[-1] * len(unit.seeds)

    def program(self, unit: SeedBlock) -> tuple[Any, ...]:
        return (unit,)  # a run takes minutes, compiling seconds: as many processes as there are runs

    def begun(self, unit: SeedBlock) -> float | None:
        """Estimate by the log of the run: the time spent, and `seconds` for each missing evaluation.

        A count of evaluations would mislead: good policies come later, and their rollouts take longer.
        """
        if self.scratch is None:
            return None
        spent, missing = 0.0, int(self.evaluations[-1]) * len(unit.seeds)
        for seed in unit.seeds:
            with suppress(FileNotFoundError):
                log = self.scratch / f"{self._checkpoint(unit.method, seed)}{LOG}"
                times = re.findall(rb'"seconds": ([0-9.e-]+)', log.read_bytes())
                spent, missing = spent + sum(map(float, times)), missing - len(times)
        return spent / (spent + max(missing, 0) * self.seconds) if spent else 0.0

    def settings(self) -> dict[str, Any]:
        return {
            "environment": f"{self.make.__module__.rpartition('.')[2]}.{self.make.__name__}",
            "generations": self.generations[self.dimension],
            "arms": {name: repr(self._strategy(name)) for name in self.algorithms},
            "population": self.popsize,
            "x0": 0.0,
            "sigma0": self.sigma0,
            "rollouts": self.rollouts,
            "steps": self.steps,
            "rollouts of the last policy": self.last,
            "populations at the goal that end a run": self.enough,
            "first_seed": FIRST_SEED,
            "versions": {name: metadata.version(name) for name in ("gymnasium", "mujoco")},
        }

    def run(self, unit: SeedBlock) -> PolicyRuns:
        return self.join([self._run(unit.method, seed) for seed in unit.seeds])

    def _run(self, method: str, seed: int) -> PolicyRuns:
        search = self.search(seed)
        with tempfile.TemporaryDirectory() as temporary:
            folder = self.scratch or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / self._checkpoint(method, seed)

            def stop_when_solved(so_far: Any) -> None:
                if so_far.nit >= self.end(self._values(path).mean(1)):
                    raise StopIteration

            found = minimize(
                search,
                search.x0,
                self.sigma0,
                method=self._strategy(method),
                seed=seed,
                max_iter=self.end(self._values(path).mean(1)),
                checkpoint=path,
                options=NEVER,
                callback=None if self.enough is None else stop_when_solved,
            )
            values = self._values(path)
            values[found.nit :] = values[found.nit - 1]  # a run that has ended stays where it was
        final = self.search(FINAL + seed).evaluate(found.mean, range(FINAL + seed, FINAL + seed + self.last))
        return PolicyRuns(values.mean(1)[None], values.max(1)[None], found.mean[None], np.array([-final.value]))

    def end(self, means: np.ndarray) -> int:
        """Return the number of generations of a run whose populations had these means, NaN if not evaluated."""
        if self.enough is not None:
            there = means >= self.targets[-1]
            for last in range(self.enough, len(means)):
                if there[last - self.enough : last].all():
                    return last
        return len(means)

    def _values(self, path: Path) -> np.ndarray:
        """Return the returns in the log of a run, (generations, N); NaN where there are none."""
        values = np.full((self.generations[self.dimension], self.popsize), np.nan)
        with suppress(FileNotFoundError):
            for row in read_log(f"{path}{LOG}"):
                values[row.generation, row.index] = -row.f
        return values

    def _checkpoint(self, method: str, seed: int) -> str:
        return f"{self.name}-{ALGORITHMS[method].slug}-{seed}.ckpt"

    def _strategy(self, method: str) -> Any:
        algorithm = ALGORITHMS[method]
        return make_strategy(algorithm.method, popsize=self.popsize, **algorithm.options)

    def encode(self, unit: SeedBlock, result: PolicyRuns) -> bytes:
        n, generations = len(unit.seeds), self.generations[self.dimension]
        wanted = ((n, generations), (n, generations), (n, unit.dimension), (n,))
        if tuple(part.shape for part in result) != wanted:
            raise ValueError(f"result must have the shapes {wanted}, got {[part.shape for part in result]}")
        return (json.dumps({name: part.tolist() for name, part in result._asdict().items()}, indent=0) + "\n").encode()

    def decode(self, unit: SeedBlock, content: bytes) -> PolicyRuns:
        found = json.loads(content)
        return PolicyRuns(*(np.array(found[name], float) for name in PolicyRuns._fields))

    def join(self, blocks: Sequence[PolicyRuns]) -> PolicyRuns:
        return PolicyRuns(*map(np.concatenate, zip(*blocks, strict=True)))

    def tidy(self, cases: Mapping[Case, PolicyRuns]) -> str:
        lines = ["environment,method,seed,evaluations,mean_return,best_return"]
        for case, runs in cases.items():
            for i, (means, bests) in enumerate(zip(runs.mean.tolist(), runs.best.tolist(), strict=True)):
                for evaluations, mean, best in zip(self.evaluations.tolist(), means, bests, strict=True):
                    lines.append(f'{case.function},"{case.method}",{FIRST_SEED + i},{evaluations},{mean!r},{best!r}')
        return "\n".join(lines) + "\n"
