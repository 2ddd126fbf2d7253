"""`PolicySearch`: minus the mean return of a policy as a function of its parameters."""

import hashlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from thalweg._common.checks import as_array, as_count, as_flag, as_seed, shortened
from thalweg.objectives.rl import environment
from thalweg.objectives.rl.normaliser import Moments, Normaliser
from thalweg.objectives.rl.policy import Act, Bounding, Policy, PolicyObjective


class Rollout(NamedTuple):
    """The result of one episode."""

    ret: float
    """The return: the sum of all rewards."""
    steps: int


class PolicyEvaluation(NamedTuple):
    """The results of all rollouts of one policy."""

    returns: np.ndarray
    steps: np.ndarray
    moments: Moments | None = None
    """Moments of the observations, if they are normalised by running statistics."""

    @classmethod
    def of(cls, rollouts: Sequence[Rollout], moments: Moments | None = None) -> "PolicyEvaluation":
        """Collect the results of single rollouts."""
        if not rollouts:
            raise ValueError("seeds must hold at least one environment seed, got none")
        return cls(np.array([each.ret for each in rollouts]), np.array([each.steps for each in rollouts]), moments)

    @property
    def value(self) -> float:
        """The value to minimise: minus the mean return."""
        return -float(self.returns.mean())


class _ProcessState:
    """The state that stays in one process: an environment for each thread, and the number of steps."""

    def __init__(self) -> None:
        self.local = threading.local()
        self.lock = threading.Lock()
        self.steps = 0


@dataclass(frozen=True, eq=False)
class PolicySearch(PolicyObjective):
    """Minus the mean return of M rollouts as a function of the parameters of a deterministic policy.

    >>> search = PolicySearch("CartPole-v1", rollouts=3, bias=False, seed=1)
    >>> search.d, search(search.x0) == -search.ret(search.x0) == search(search.x0)
    (8, True)

    The value of a point depends only on the point and on `seed`, not on earlier evaluations nor on the process. With
    `fixed=False` the M environment seeds are drawn from a hash of the point, and the noise differs from point to point; with
    `fixed=True` they are the same for all points. Points (n, d) that are evaluated in one call, as by `minimize(search, ...,
    vectorized=True)`, share seeds drawn from a hash of all of them: common random numbers within a generation, fresh ones in
    the next. `thalweg.rl.Together` does the same with workers.

    With `normalise="running"` the value also depends on the generations before, and only generations can be evaluated:

    >>> search = PolicySearch("CartPole-v1", rollouts=1, normalise="running")
    >>> values = search(np.zeros((2, search.d)))
    >>> search.normaliser.mean != (0.0, 0.0, 0.0, 0.0)
    True

    A search is picklable. Each thread of each process makes its own environment when it first needs one.
    """

    env: environment.EnvSource
    """A name registered in Gymnasium, or a function that returns an environment."""
    rollouts: int = 10
    """M, the number of rollouts for each point."""
    hidden: Sequence[int] = ()
    """Widths of the hidden tanh layers; a linear policy has none."""
    bias: bool = True
    action: Bounding = "clip"
    """Map of outputs into a box of actions, by clipping or by tanh. A discrete action is the index of the largest output."""
    normalise: bool | Normaliser | Literal["running"] = False
    """Normalisation of observations: none (False), by a given normaliser, by one estimated here from rollouts of random actions
    (True), or by statistics of all generations so far ("running", as in ARS)."""
    max_steps: int | None = None
    """Limit of steps of a rollout; by default the environment's own limit."""
    fixed: bool = False
    """True for the same environment seeds at all points."""
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further arguments of `gymnasium.make`, or of the function `env`."""

    architecture: Policy = field(init=False, repr=False)
    """Map from parameters to the policy."""
    _moments: Moments | None = field(init=False, repr=False)
    """Running statistics, which are pickled with the search, unlike the state of the process."""
    _process: _ProcessState = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._set(rollouts=as_count(self.rollouts, "rollouts"), seed=as_seed(self.seed))
        self._set(bias=as_flag(self.bias, "bias"), fixed=as_flag(self.fixed, "fixed"))
        self._set(hidden=tuple(self.hidden), options=dict(self.options))
        self._prepare()
        environment.step_limit(self._env, self.max_steps)
        running = isinstance(self.normalise, str) and self.normalise == "running"
        if not running and not isinstance(self.normalise, bool | Normaliser):
            raise TypeError(f"normalise must be True, False, 'running' or a Normaliser, got {shortened(self.normalise)}")
        self._set(_moments=Moments.empty(self.architecture.sizes[0]) if running else None)
        if self.normalise is True:
            self._set(normalise=self.observe())
        size = self.architecture.sizes[0]
        if isinstance(self.normalise, Normaliser) and (given := len(self.normalise.mean)) != size:
            raise ValueError(f"normalise is for {given} observations, but env has {size}; pass True, or a result of observe()")

    def _set(self, **fields: Any) -> None:
        """Set fields of this frozen dataclass."""
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _prepare(self) -> None:
        """Make all that depends on the environment."""
        self._set(_process=_ProcessState())
        size, _ = environment.flattener(self._env.observation_space)
        self._set(architecture=Policy.into(self._env.action_space, size, self.hidden, self.bias, self.action))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("architecture", "_process")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    @property
    def steps(self) -> int:
        """The number of environment steps made by this process and by workers of `Together`, but not by other workers."""
        return self._process.steps

    @property
    def normaliser(self) -> Normaliser | None:
        """The normaliser in use at present, if any."""
        if self._moments is not None:
            return self._moments.normaliser
        return self.normalise if isinstance(self.normalise, Normaliser) else None

    def __call__(self, x: Any) -> Any:
        """Return minus the mean return at x (d,), or at all rows of x (n, d), from the same environment seeds.

        All rows are normalised by the same running statistics, which then learn from the new observations.
        """
        points = as_array(x, "x")
        if points.ndim == 1:
            if self._moments is not None:
                raise ValueError(
                    "x must be a generation (n, d) for normalise='running', got one point; pass vectorized=True to minimize, "
                    "with thalweg.rl.Together for workers, or call evaluate(x), which leaves the statistics as they are"
                )
            return self.evaluate(points).value
        seeds, normaliser = self.seeds(points), self.normaliser
        evaluations = [self.evaluate_in_generation(point, seeds, normaliser) for point in points]
        self.learn(evaluations)
        return np.array([evaluation.value for evaluation in evaluations])

    def ret(self, x: Any) -> float:
        """Return the mean return at x."""
        return -self.evaluate(as_array(x, "x").reshape(-1)).value

    def evaluate(self, x: Any, seeds: Iterable[int] | None = None) -> PolicyEvaluation:
        """Run all rollouts at x, from its own environment seeds or from given ones."""
        point = as_array(x, "x")
        act = self.policy(point)
        return PolicyEvaluation.of([self._roll(act, seed) for seed in (self.seeds(point) if seeds is None else seeds)])

    def evaluate_in_generation(self, x: Any, seeds: Iterable[int], normaliser: Normaliser | None) -> PolicyEvaluation:
        """Run all rollouts of one point of a generation, with the moments that `learn` needs for running statistics."""
        act = self._policy(x, normaliser)
        if self._moments is None:
            return PolicyEvaluation.of([self._roll(act, seed) for seed in seeds])
        moments, rollouts = Moments.empty(self.architecture.sizes[0]), list[Rollout]()
        for seed in seeds:
            recording, observations = self._recorded(act)
            rollouts.append(self._roll(recording, seed))
            moments = moments.merged(Moments.of(np.stack(observations)))
        return PolicyEvaluation.of(rollouts, moments)

    def learn(self, evaluations: Iterable[PolicyEvaluation]) -> None:
        """Add the observations of a generation to the running statistics, except those of points with non-finite numbers."""
        with self._process.lock:
            for evaluation in evaluations:
                if self._moments is None or evaluation.moments is None or not np.isfinite(evaluation.value):
                    continue
                merged = self._moments.merged(evaluation.moments)
                if merged.finite:
                    self._set(_moments=merged)

    def add_steps(self, steps: int) -> None:
        """Add to the number of environment steps."""
        with self._process.lock:
            self._process.steps += steps

    def rollout(self, x: Any, seed: int) -> Rollout:
        """Run one rollout from an environment seed."""
        return self._roll(self.policy(x), seed)

    def policy(self, x: Any) -> Act:
        """Return the policy with the parameters x: a function from observations of the environment to actions."""
        return self._policy(x, self.normaliser)

    def _policy(self, x: Any, normaliser: Normaliser | None) -> Act:
        act = self.architecture.act(x, normaliser)
        flatten = environment.flattener(self._env.observation_space)[1]
        return act if flatten is None else lambda o: act(flatten(o))

    def seeds(self, points: np.ndarray) -> list[int]:
        """Return the environment seeds of one point, or those that several points share; equal points give equal seeds."""
        words: list[int] = []
        if not self.fixed:
            digest = hashlib.blake2b(np.ascontiguousarray(points, np.float64).tobytes(), digest_size=16).digest()
            words = np.frombuffer(digest, "<u4").tolist()
        return np.random.SeedSequence([self.seed, *words]).generate_state(self.rollouts).tolist()

    def observe(self, x: Any = None, rollouts: int = 10) -> Normaliser:
        """Estimate a normaliser from rollouts of the policy x, or of random actions if x is None."""
        env = self._env
        recording, seen = self._recorded((lambda _: env.action_space.sample()) if x is None else self.policy(x))
        env.action_space.seed(self.seed)
        for seed in np.random.SeedSequence([self.seed]).generate_state(as_count(rollouts, "rollouts")).tolist():
            self._roll(recording, seed)
        return Normaliser.of(np.stack(seen))

    def _recorded(self, act: Act) -> tuple[Act, list[np.ndarray]]:
        """Return the policy with its observations recorded, and the list to which they are added."""
        flatten, seen = environment.flattener(self._env.observation_space)[1] or np.asarray, list[np.ndarray]()

        def recording(o: Any) -> Any:
            seen.append(np.array(flatten(o), float))  # a copy, as the environment may reuse its array
            return act(o)

        return recording, seen

    @property
    def _env(self) -> Any:
        """The environment of this thread."""
        local = self._process.local
        if not hasattr(local, "env"):
            local.env = environment.make(self.env, self.options)
        return local.env

    def _roll(self, act: Act, seed: int) -> Rollout:
        env, total, steps = self._env, 0.0, 0
        limit = environment.step_limit(env, self.max_steps)
        o, _ = env.reset(seed=int(seed))
        for steps in range(1, limit + 1):  # noqa: B007 (used after the loop)
            o, reward, terminated, truncated, _ = env.step(act(o))
            total += float(reward)
            if terminated or truncated:
                break
        self.add_steps(steps)
        return Rollout(total, steps)
