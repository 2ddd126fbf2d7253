"""The variables of an Optuna study as a `Space`: whole numbers and steps by their number, logarithms as they are."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from thalweg.search.known import Known
from thalweg.space import Integer, Real, Space


class StudySpace:
    """The variables of a study that are searched, between Optuna's parameters and vectors.

    >>> space = StudySpace({"width": IntDistribution(8, 64, step=8), "rate": FloatDistribution(1e-5, 1e-1, log=True)})
    >>> space.params(np.array([0.01, 3.0]))
    {'rate': 0.01, 'width': 32}
    >>> space.vector({"rate": 0.01, "width": 32}).tolist()
    [0.01, 3.0]
    """

    def __init__(
        self,
        distributions: Mapping[str, BaseDistribution],
        sigma0: float | None = None,
        x0: Mapping[str, Any] | None = None,
    ) -> None:
        self.distributions = dict(sorted(distributions.items()))
        """Names with ranges, sorted: processes must agree on the order."""
        start = {name: self._start(x0, name) for name in self.distributions}
        described = {name: _variable(each, sigma0, start[name]) for name, each in self.distributions.items()}
        self.space = Space(described).as_vector()

    @property
    def key(self) -> str:
        """A text by which two of them are told apart."""
        return repr(self.distributions)

    def _start(self, x0: Mapping[str, Any] | None, name: str) -> float | None:
        """Return the start of a variable; None for the middle of its range."""
        if x0 is None or name not in x0:
            return None
        if not _holds(self.distributions[name], x0[name]):
            raise ValueError(f"x0 must have a value of {self.distributions[name]} for {name!r}, got {x0[name]!r}")
        return _coordinate(self.distributions[name], x0[name])

    def known(self, trials: Sequence[FrozenTrial] | None, direction: StudyDirection, *, similar: bool) -> Known | None:
        """Return the complete trials among these as known evaluations; None if there are none."""
        values = {i: (self.vector(each.params), signed_value(each, direction)) for i, each in enumerate(trials or ())}
        pairs = [(x, f) for x, f in values.values() if x is not None and f is not None]
        return Known([x for x, _ in pairs], [f for _, f in pairs], similar) if pairs else None

    def params(self, x: np.ndarray) -> dict[str, Any]:
        """Return a vector as Optuna's parameters."""
        pairs = zip(self.distributions.items(), x.tolist(), strict=True)
        return {name: _param(each, value) for (name, each), value in pairs}

    def vector(self, params: Mapping[str, Any]) -> np.ndarray | None:
        """Return parameters of a trial as a vector; None if one is missing or outside its range."""
        if any(name not in params or not _holds(each, params[name]) for name, each in self.distributions.items()):
            return None
        return np.array([_coordinate(each, params[name]) for name, each in self.distributions.items()])


def signed_value(trial: FrozenTrial, direction: StudyDirection) -> float | None:
    """Return the value of a trial to be minimised; None for one that has failed or was pruned."""
    if trial.state != TrialState.COMPLETE or trial.value is None:
        return None
    return -trial.value if direction == StudyDirection.MAXIMIZE else trial.value


def is_searched(distribution: BaseDistribution) -> bool:
    """Return whether a variable is a number that can be searched: not a choice, not a single value, no range beyond measure."""
    if not isinstance(distribution, FloatDistribution | IntDistribution) or distribution.single():
        return False
    try:
        _variable(distribution, None, None)
    except ValueError:
        return False
    return True


def _variable(distribution: BaseDistribution, sigma0: float | None, start: float | None) -> Real | Integer:
    """Return the variable of a distribution; `sigma0` is a share of its range."""
    if not isinstance(distribution, FloatDistribution | IntDistribution):
        raise TypeError(f"the search space must have numbers alone, got {distribution!r}")
    low, high = distribution.low, distribution.high
    counted = _is_counted(distribution)
    if counted:
        low, high = 0, round((high - low) / (distribution.step or 1))
    width = np.log(high / low) if distribution.log else high - low
    step = None if sigma0 is None else float(sigma0 * width)
    if counted or isinstance(distribution, IntDistribution):
        return Integer(int(low), int(high), distribution.log, None if start is None else int(start), step)
    return Real(float(low), float(high), distribution.log, start, step)


def _is_counted(distribution: FloatDistribution | IntDistribution) -> bool:
    """Return whether the coordinate is the number of steps above the lower end."""
    step = distribution.step
    return step is not None and not (isinstance(distribution, IntDistribution) and step == 1)


def _param(distribution: BaseDistribution, value: float) -> int | float:
    if isinstance(distribution, IntDistribution):
        return round(value) if not _is_counted(distribution) else distribution.low + round(value) * distribution.step
    if isinstance(distribution, FloatDistribution) and distribution.step is not None:
        return min(distribution.low + round(value) * distribution.step, distribution.high)
    return value


def _coordinate(distribution: BaseDistribution, param: float) -> float:
    if isinstance(distribution, FloatDistribution | IntDistribution) and _is_counted(distribution):
        return float(round((param - distribution.low) / (distribution.step or 1)))
    return float(param)


def _holds(distribution: BaseDistribution, param: Any) -> bool:
    """Return whether a distribution has this value."""
    if isinstance(param, bool) or not isinstance(param, int | float):
        return False
    return distribution._contains(float(param))  # pyright: ignore[reportPrivateUsage]
