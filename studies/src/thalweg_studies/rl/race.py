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

from thalweg.objectives.rl import PolicySearch
from thalweg.search.minimize import minimize
from thalweg.storage.log import read_log
from thalweg.strategies.registry import make_strategy
from thalweg_studies.paper.arms import ARMS
from thalweg_studies.paper.experiment import FIRST_SEED, Case, Experiment, Unit

NEVER: dict[str, float] = {
    **dict.fromkeys(("tolx", "tolfun", "tolfunhist", "tolstagnation"), 0.0),
    **dict.fromkeys(("tolflatfitness", "tolconditioncov", "tolfacupx"), inf),
}
"""All runs last for the same number of evaluations: no test stops one."""

FINAL = 1 << 20
"""Added to a run's seed for the rollouts that judge its last policy: none of them was met before."""


LOG = ".jsonl"
"""Added to the name of a checkpoint for the record of all evaluations."""


class Runs(NamedTuple):
    """Runs of one algorithm; returns are means of M rollouts."""

    mean: np.ndarray
    """Of each population, (seeds, generations)."""
    best: np.ndarray
    """Of each population, (seeds, generations)."""
    policy: np.ndarray
    """The mean of the last search distribution, (seeds, d)."""
    final: np.ndarray
    """Its mean return in fresh rollouts, (seeds,)."""


@dataclass(frozen=True)
class PolicyRace(Experiment[Runs]):
    """All arms in one environment from x0 = 0, with deterministic linear policies without bias."""

    make: Callable[[], Any] = field(kw_only=True)
    """The environment."""
    title: str = field(kw_only=True)
    sigma0: float = field(kw_only=True)
    popsize: int = field(kw_only=True)
    targets: tuple[float, ...] = field(kw_only=True)
    """Returns to be reached, the last one the goal."""
    seconds: float = field(kw_only=True)
    """About how long one value takes."""
    block: int = 1
    rollouts: int = 10
    """M."""
    steps: int = 1000
    """Of a rollout at most."""
    last: int = 100
    """Rollouts that judge the last policy."""
    enough: int | None = None
    """Populations in a row that reach the goal, after which a run ends: it has solved its task, and good policies, whose
    rollouts last longest, are what costs."""
    scratch: Path | None = None
    """Where runs keep their checkpoints, so that they go on where they were stopped."""

    suffix = ".json"
    exact = False  # start states hang on the last digit of a point: no two machines agree, and hours of work may have several

    @property
    def dimension(self) -> int:
        """The number of parameters."""
        return next(iter(self.generations))

    @property
    def evaluations(self) -> np.ndarray:
        """After each generation."""
        return self.popsize * np.arange(1, self.generations[self.dimension] + 1)

    def search(self, seed: int) -> PolicySearch:
        """The objective of the run from that seed."""
        return PolicySearch(self.make, rollouts=self.rollouts, bias=False, max_steps=self.steps, seed=seed)

    def cost(self, unit: Unit) -> float:
        return 5.0 + self.seconds * self.evaluations[-1] * len(unit.seeds)

    def program(self, unit: Unit) -> tuple[Any, ...]:
        return (unit,)  # a run takes minutes, compiling seconds: as many processes as there are runs

    def begun(self, unit: Unit) -> float | None:
        """By the logs of runs that are under way: the time spent, and `seconds` for each value that is still to come.

        To count values alone would not do: those of good policies, whose rollouts last longer, come later and take longer.
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
            "arms": {name: repr(self._strategy(name)) for name in self.arms},
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

    def run(self, unit: Unit) -> Runs:
        return self.join([self._run(unit.method, seed) for seed in unit.seeds])

    def _run(self, method: str, seed: int) -> Runs:
        search = self.search(seed)
        with tempfile.TemporaryDirectory() as temporary:
            folder = self.scratch or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / self._checkpoint(method, seed)

            def look(so_far: Any) -> None:
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
                callback=None if self.enough is None else look,
            )
            values = self._values(path)
            values[found.nit :] = values[found.nit - 1]  # a run that has ended stays where it was
        final = self.search(FINAL + seed).evaluate(found.mean, range(FINAL + seed, FINAL + seed + self.last))
        return Runs(values.mean(1)[None], values.max(1)[None], found.mean[None], np.array([-final.value]))

    def end(self, means: np.ndarray) -> int:
        """How many generations a run has whose populations had these means; those that were not evaluated are NaN."""
        if self.enough is not None:
            there = means >= self.targets[-1]
            for last in range(self.enough, len(means)):
                if there[last - self.enough : last].all():
                    return last
        return len(means)

    def _values(self, path: Path) -> np.ndarray:
        """The returns in the log of a run, (generations, N); NaN where there are none."""
        values = np.full((self.generations[self.dimension], self.popsize), np.nan)
        with suppress(FileNotFoundError):
            for row in read_log(f"{path}{LOG}"):
                values[row.generation, row.index] = -row.f
        return values

    def _checkpoint(self, method: str, seed: int) -> str:
        return f"{self.name}-{ARMS[method].slug}-{seed}.ckpt"

    def _strategy(self, method: str) -> Any:
        arm = ARMS[method]
        return make_strategy(arm.method, popsize=self.popsize, **arm.options)

    def encode(self, unit: Unit, result: Runs) -> bytes:
        n, generations = len(unit.seeds), self.generations[self.dimension]
        wanted = ((n, generations), (n, generations), (n, unit.dimension), (n,))
        if tuple(part.shape for part in result) != wanted:
            raise ValueError(f"result must have the shapes {wanted}, got {[part.shape for part in result]}")
        return (json.dumps({name: part.tolist() for name, part in result._asdict().items()}, indent=0) + "\n").encode()

    def decode(self, unit: Unit, content: bytes) -> Runs:
        found = json.loads(content)
        return Runs(*(np.array(found[name], float) for name in Runs._fields))

    def join(self, blocks: Sequence[Runs]) -> Runs:
        return Runs(*map(np.concatenate, zip(*blocks, strict=True)))

    def tidy(self, cases: Mapping[Case, Runs]) -> str:
        lines = ["environment,method,seed,evaluations,mean_return,best_return"]
        for case, runs in cases.items():
            for i, (means, bests) in enumerate(zip(runs.mean.tolist(), runs.best.tolist(), strict=True)):
                for evaluations, mean, best in zip(self.evaluations.tolist(), means, bests, strict=True):
                    lines.append(f'{case.function},"{case.method}",{FIRST_SEED + i},{evaluations},{mean!r},{best!r}')
        return "\n".join(lines) + "\n"
