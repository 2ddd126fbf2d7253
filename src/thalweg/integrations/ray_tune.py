"""`ThalwegSearch`: a search algorithm for Ray Tune."""

import pickle
from collections.abc import Mapping, Sequence
from math import ceil, floor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

try:
    from ray.tune.result import DEFAULT_METRIC
    from ray.tune.search import UNDEFINED_METRIC_MODE, UNDEFINED_SEARCH_SPACE, Searcher
    from ray.tune.search.sample import Categorical, Domain, Float, LogUniform, Normal, Quantized
    from ray.tune.search.sample import Integer as RayInteger
    from ray.tune.search.variant_generator import parse_spec_vars
except ImportError:
    from thalweg._common.extras import require

    require("ray.tune", extra="tune", purpose="ThalwegSearch")
    raise

from thalweg._common.checks import Seed, as_seed, shortened
from thalweg.search.optimizer import Optimizer
from thalweg.search.run import OutOfRangeError
from thalweg.space import Integer, Real, Space

# pyright: reportUntypedBaseClass=false

Place = tuple[str, ...]
"""Where a value is in a nested configuration."""


class _Number(NamedTuple):
    """A number of the configuration as a coordinate of the search."""

    variable: Real | Integer
    whole: bool
    quantum: float | None = None
    """The value is a multiple of this."""
    counted: bool = False
    """True if the coordinate is the number of quanta."""

    def value(self, coordinate: float) -> float | int:
        """Return the value of a coordinate, as Python's number."""
        found = coordinate
        if self.quantum is not None:
            found = (coordinate if self.counted else round(coordinate / self.quantum)) * self.quantum
        return round(found) if self.whole else float(found)

    def coordinate(self, value: float) -> float:
        """Return the coordinate of a value."""
        return round(value / self.quantum) if self.counted and self.quantum is not None else float(value)


class ThalwegSearch(Searcher):
    """A search algorithm for Ray Tune: `tune.TuneConfig(metric="loss", mode="min", search_alg=ThalwegSearch(seed=1))`.

    Uniform, logarithmic, whole, quantised and normal numbers of `param_space` are searched together; choices are drawn by
    lot. Trials may end in any order, and all of them teach. Trials that have failed, or have no such metric, count as the worst
    of their generation. A search that has come to its end begins anew with twice the population.

    Args:
        space: The variables, as `param_space` describes them; by default `param_space` itself.
        metric: Name of the value that trials report; by default that of the `TuneConfig`.
        mode: "min" or "max"; by default that of the `TuneConfig`.
        method: A method of `thalweg.minimize`.
        model: "quadratic" to choose trials by a quadratic model; None for none.
        popsize: Trials in a generation; by default that of the method.
        restarts: Maximal number of restarts.
        seed: A whole number, a numpy Generator, or None.
        points_to_evaluate: Configurations to try first.
        options: Further options of the method and its stop criteria, as in `thalweg.minimize`.
    """

    def __init__(
        self,
        space: Mapping[str, Any] | None = None,
        metric: str | None = None,
        mode: str | None = None,
        *,
        method: str = "gnn-cma",
        model: str | None = None,
        popsize: int | None = None,
        restarts: int = 9,
        seed: Seed = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if mode not in (None, "min", "max"):
            raise ValueError(f"mode must be 'min' or 'max', got {mode!r}")
        super().__init__(metric=metric, mode=mode)
        arguments = {"method": method, "model": model, "popsize": popsize, "restarts": restarts, "options": options}
        self.arguments: dict[str, Any] = {**arguments, "seed": as_seed(seed), "max_evals": float("inf")}
        Optimizer([0.0, 0.0], 1.0, **self.arguments)  # an error in these arguments belongs here, not into the first trial
        self._metric, self._mode = metric, mode
        self.first = [dict(point) for point in points_to_evaluate or ()]
        self.rng = np.random.default_rng(self.arguments["seed"])
        self.constants: dict[Place, Any] = {}
        self.choices: dict[Place, Any] = {}
        self.numbers: dict[Place, _Number] = {}
        self.es: Optimizer | None = None
        """The search; None until the variables are known."""
        self.open: dict[str, np.ndarray] = {}
        """Points of the trials that run, by their identifiers."""
        if space:
            self._describe(space)

    def set_search_properties(self, metric: str | None, mode: str | None, config: Mapping[str, Any], **spec: Any) -> bool:
        """Take what the Tuner says, unless it was said before."""
        if self.es is not None and config:
            return False
        self._metric, self._mode = metric or self._metric, mode or self._mode
        if config:
            self._describe(config)
        return True

    def suggest(self, trial_id: str) -> Any:
        """Return the configuration of the next trial."""
        if self.es is None:
            raise RuntimeError(UNDEFINED_SEARCH_SPACE.format(cls="ThalwegSearch", space="space"))
        self._check_metric()
        given = self.first.pop(0) if self.first else {}
        try:
            x = self._point(given) if given else self.es.ask(1)[0]
        except OutOfRangeError:
            return Searcher.FINISHED
        self.open[trial_id] = x
        config: dict[str, Any] = {}
        for path, value in self.constants.items():
            _put(config, path, value)
        for path, domain in self.choices.items():
            options = domain.categories
            _put(config, path, options[int(self.rng.integers(len(options)))] if not given else _get(given, path))
        for (path, number), coordinate in zip(self.numbers.items(), x.tolist(), strict=True):
            _put(config, path, number.value(coordinate) if not given else _get(given, path))
        return config

    def on_trial_complete(self, trial_id: str, result: Mapping[str, Any] | None = None, error: bool = False) -> None:
        """Learn from a trial that has ended."""
        x = self.open.pop(trial_id, None)
        if x is not None:
            self._learn(x, None if error or not result else result.get(self._check_metric()))

    def add_evaluated_point(
        self,
        parameters: Mapping[str, Any],
        value: float,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: Sequence[float] | None = None,
    ) -> None:
        """Learn from a configuration of another search."""
        if self.es is None:
            raise RuntimeError(UNDEFINED_SEARCH_SPACE.format(cls="ThalwegSearch", space="space"))
        if not (error or pruned):
            self._learn(self._point(parameters), value)

    def save(self, checkpoint_path: str) -> None:
        """Write the search to a file; a Tuner does this by itself."""
        Path(checkpoint_path).write_bytes(pickle.dumps(self.__dict__))

    def restore(self, checkpoint_path: str) -> None:
        """Go on from a file that `save` has written. It is a pickle: only files that you trust."""
        vars(self).update(pickle.loads(Path(checkpoint_path).read_bytes()))

    def _check_metric(self) -> str:
        if self._mode is None:
            raise RuntimeError(UNDEFINED_METRIC_MODE.format(cls="ThalwegSearch", metric=self._metric, mode=self._mode))
        return self._metric or DEFAULT_METRIC

    def _learn(self, x: np.ndarray, value: Any) -> None:
        if self.es is not None:
            if value is not None:
                value = None if value != value else -value if self._mode == "max" else value
            self.es.tell(x[None], [value], foreign=True)

    def _describe(self, space: Mapping[str, Any]) -> None:
        """Begin a search over the variables of a configuration."""
        constants, domains, grids = parse_spec_vars(dict(space))
        if grids:
            raise ValueError(f"space must have no grid_search, got {shortened('/'.join(grids[0][0]))}; use tune.choice")
        self.constants = {tuple(path): value for path, value in constants}
        for path, domain in domains:
            if isinstance(domain, Categorical):
                self.choices[tuple(path)] = domain
            else:
                self.numbers[tuple(path)] = _number("/".join(path), domain)
        if not self.numbers:
            raise ValueError("space must have a number to search, such as tune.uniform(0, 1)")
        self.es = Optimizer(Space([number.variable for number in self.numbers.values()]), **self.arguments)

    def _point(self, config: Mapping[str, Any]) -> np.ndarray:
        """Return a configuration as a point of the search."""
        return np.array([float(number.coordinate(_get(config, path))) for path, number in self.numbers.items()])


def _number(name: str, domain: Domain) -> _Number:
    """Return the coordinate of a domain."""
    if not isinstance(domain, Float | RayInteger):
        raise TypeError(f"{name} is {shortened(domain)}, which cannot be searched; use tune.uniform, randint or choice")
    sampler, whole, quantum = domain.get_sampler(), isinstance(domain, RayInteger), None
    if isinstance(sampler, Quantized):
        sampler, quantum = sampler.get_sampler(), float(sampler.q)
    if isinstance(sampler, Normal):
        return _Number(Real(x0=sampler.mean, sigma0=sampler.sd), whole, quantum)
    low, high, log = float(domain.lower), float(domain.upper), isinstance(sampler, LogUniform)
    if whole and quantum in (None, 1):
        return _Number(Integer(int(low), int(high) - 1, log), whole)
    if quantum is None or log:
        return _Number(Real(low, high, log), whole, quantum)
    return _Number(Integer(ceil(low / quantum - 1e-9), floor(high / quantum + 1e-9)), whole, quantum, counted=True)


def _put(config: dict[str, Any], path: Place, value: Any) -> None:
    for name in path[:-1]:
        config = config.setdefault(name, {})
    config[path[-1]] = value


def _get(config: Mapping[str, Any], path: Place) -> Any:
    found: Any = config
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            raise ValueError(f"a configuration must have a value of {'/'.join(path)}, got {shortened(config)}")
        found = found[name]
    return found
