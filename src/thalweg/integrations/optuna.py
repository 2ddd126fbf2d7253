"""`ThalwegSampler`: a sampler for Optuna, whose processes and threads all learn from the trials in the study's storage.

A trial keeps the draw it came from as an attribute, and each sampler keeps a replica of the search, to which it tells the
finished trials. So no trial is lost, however late its value is and whichever process has drawn it, and a study that is loaded
from its storage goes on where it was.
"""

# pyright: reportPrivateUsage=false
# Optuna's own samplers use the same methods of a study: the public ones copy each trial at each call.

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

try:
    import optuna
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.search_space import IntersectionSearchSpace
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial, TrialState
except ImportError:
    from thalweg._common.extras import require

    require("optuna", extra="optuna", purpose="ThalwegSampler")
    raise

from thalweg._common.checks import Seed, as_positive, as_seed, listed
from thalweg.integrations.optuna_space import StudySpace, is_searched, signed_value
from thalweg.search.optimizer import Optimizer
from thalweg.search.replica import Draw, ModelledReplica, Replica
from thalweg.search.run import OutOfRangeError

DRAW, SPACE, SEED = "thalweg:draw", "thalweg:space", "thalweg:seed"
logger = optuna.logging.get_logger("optuna.thalweg")


@dataclass
class _Search:
    """A replica of the search over some variables, with the numbers of the trials that it has heard of."""

    variables: StudySpace
    replica: Replica
    drawn: set[int] = field(default_factory=set[int])
    told: set[int] = field(default_factory=set[int])

    def catch_up(self, trials: Sequence[FrozenTrial], direction: StudyDirection) -> None:
        """Learn from what has happened since, in the order in which it has happened."""
        events: list[tuple[datetime, int, int, FrozenTrial, Draw | None]] = []
        for trial in trials:
            if trial.number in self.told:
                continue
            draw = self._draw_of(trial)
            if draw is not None and trial.number not in self.drawn and trial.datetime_start is not None:
                events.append((trial.datetime_start, 1, trial.number, trial, draw))
            if trial.state.is_finished() and trial.datetime_complete is not None:
                events.append((trial.datetime_complete, 0, trial.number, trial, draw))
        for _, begins, number, trial, draw in sorted(events, key=lambda event: event[:3]):
            if begins and draw is not None:
                self.drawn.add(number)
                self.replica.notice(draw)
            else:
                self.told.add(number)
                self._tell(trial, draw, signed_value(trial, direction))

    def _tell(self, trial: FrozenTrial, draw: Draw | None, value: float | None) -> None:
        x = self.variables.vector(trial.params)
        if draw is not None and (x is None or self.variables.params(np.array(draw.x)) == trial.params):
            self.replica.tell(draw, value)  # a trial that has failed early may lack parameters
        elif x is not None and value is not None:
            self.replica.tell_foreign(x, value)

    def _draw_of(self, trial: FrozenTrial) -> Draw | None:
        if trial.system_attrs.get(SPACE) != self.variables.key:
            return None
        return Draw.unpack(trial.system_attrs.get(DRAW), self.variables.space.d)


class ThalwegSampler(BaseSampler):
    """A sampler for Optuna: `optuna.create_study(sampler=ThalwegSampler(seed=1))`.

    Floats, whole numbers, steps and logarithms are searched together; choices, and what a part of the trials suggests alone,
    go to `independent_sampler`. Failed and pruned trials count as the worst of their generation. Trials that the search has not
    drawn (enqueued, added, or of another sampler) teach it if they are good. Threads and processes may share a study: each
    finished trial teaches, however late. A search that has come to its end begins anew with twice the population.

    Args:
        x0: The start, a mapping of names to values; by default the middle of each range.
        sigma0: The first standard deviation as a share of each range, by default that of Optuna's `CmaEsSampler`.
        method: A method of `thalweg.minimize`.
        model: "quadratic" chooses trials by a quadratic model, which takes some milliseconds for each; None does without.
        popsize: Points in a generation; by default that of the method.
        restarts: Maximal number of restarts.
        seed: A whole number, a numpy Generator, or None. A study keeps the seed that it was begun with.
        n_startup_trials: Complete trials before the search begins; until then `independent_sampler` is asked.
        source_trials: Trials of an earlier study with the same variables; the search starts from their values.
        similar: True if these are of another objective, whose minimum is thought to be near.
        independent_sampler: A sampler for all else; by default `RandomSampler`.
        search_space: The variables to search, where they are known beforehand; otherwise those that all trials have had.
        options: Further options of the method and its stop criteria, as in `thalweg.minimize`.
    """

    def __init__(
        self,
        x0: Mapping[str, Any] | None = None,
        sigma0: float = 1 / 6,
        *,
        method: str = "gnn-cma",
        model: str | None = "quadratic",
        popsize: int | None = None,
        restarts: int = 9,
        seed: Seed = None,
        n_startup_trials: int = 1,
        source_trials: Sequence[FrozenTrial] | None = None,
        similar: bool = False,
        independent_sampler: BaseSampler | None = None,
        search_space: Mapping[str, BaseDistribution] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.x0, self.sigma0 = x0, as_positive(sigma0, "sigma0", "it is a share of each range, such as 1/6")
        self.seed = as_seed(seed)
        self.source_trials, self.similar = source_trials, similar
        self.n_startup_trials = n_startup_trials
        self.given = None if search_space is None else dict(search_space)
        chosen = [name for name, each in (self.given or {}).items() if not (each.single() or is_searched(each))]
        if chosen:
            raise ValueError(f"search_space must have numbers of moderate range alone, got {listed(chosen)}; leave these out")
        unlimited = {"max_evals": float("inf")}  # the study says when to end
        self.arguments: dict[str, Any] = {
            "method": method, "model": model, "popsize": popsize, "restarts": restarts, "options": options, **unlimited
        }  # fmt: skip
        Optimizer([0.0, 0.0], 1.0, **self.arguments)  # an error in these arguments belongs here, not into the first trial
        self.independent_sampler = independent_sampler or RandomSampler(seed=self.seed % 2**32)
        self._intersection = IntersectionSearchSpace(include_pruned=True)
        self._searches: dict[tuple[str, str], _Search] = {}
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_searches": {}, "_lock": None}  # searches are made anew from the study's storage

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    def reseed_rng(self) -> None:
        """Reseed the independent sampler; draws of the search depend on the trial's number alone."""
        self.independent_sampler.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return the variables that are searched together."""
        found = self._intersection.calculate(study) if self.given is None else self.given
        return {name: each for name, each in found.items() if is_searched(each)}

    def sample_relative(self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]) -> dict[str, Any]:
        """Return the next point of the search."""
        self._raise_error_if_multi_objective(study)
        if not search_space:
            return {}
        trials = study._get_trials(deepcopy=False, use_cache=True)
        if sum(each.state == TrialState.COMPLETE for each in trials) < self.n_startup_trials:
            return {}
        with self._lock:
            search = self._search(study, search_space)
            search.catch_up(trials, study.direction)
            try:
                draw = search.replica.draw(trial.number)
            except OutOfRangeError as error:
                logger.warning("ThalwegSampler leaves trial %d to the independent sampler: %s", trial.number, error)
                return {}
            search.drawn.add(trial.number)
        study._storage.set_trial_system_attr(trial._trial_id, SPACE, search.variables.key)
        study._storage.set_trial_system_attr(trial._trial_id, DRAW, draw.pack())
        return search.variables.params(np.array(draw.x))

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Return a value of a variable that is not searched, by the independent sampler."""
        self._raise_error_if_multi_objective(study)
        return self.independent_sampler.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Tell the independent sampler."""
        self.independent_sampler.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Tell the independent sampler; the search hears of the trial when the next one begins."""
        self.independent_sampler.after_trial(study, trial, state, values)

    def _search(self, study: Study, search_space: Mapping[str, BaseDistribution]) -> _Search:
        variables = StudySpace(search_space, self.sigma0, self.x0)
        key = (study.study_name, variables.key)
        if key not in self._searches:  # one is kept: where variables change, an old search is no longer needed
            self._searches = {key: _Search(variables, self._replica(study, variables))}
        return self._searches[key]

    def _replica(self, study: Study, variables: StudySpace) -> Replica:
        """Return a search that has heard of nothing but the source trials."""
        seed = study._storage.get_study_system_attrs(study._study_id).get(SEED)
        if not isinstance(seed, int):
            seed = self.seed
            study._storage.set_study_system_attr(study._study_id, SEED, seed)
        known = variables.known(self.source_trials, study.direction, similar=self.similar)
        es = Optimizer(variables.space, known=known, seed=seed, **self.arguments)
        return Replica(es) if es.model is None else ModelledReplica(es)
