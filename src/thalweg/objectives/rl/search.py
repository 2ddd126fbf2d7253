"""`PolicySearch`: minus the mean return of a policy, as a function of its parameters."""

import hashlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from thalweg._common.checks import as_array, as_count, as_flag, as_seed, shortened
from thalweg.objectives.rl import environment
from thalweg.objectives.rl.normaliser import Moments, Normaliser
from thalweg.objectives.rl.policy import Act, Bounding, Policy
from thalweg.objectives.rl.rollout import Evaluation, Rollout, Trial

OBSERVING = 10
"""Rollouts of random actions that a normaliser is estimated from."""


class _Here:
    """What belongs to this process: an environment for each thread, and the count of steps."""

    def __init__(self) -> None:
        self.local = threading.local()
        self.lock = threading.Lock()
        self.steps = 0


@dataclass(frozen=True, eq=False)
class PolicySearch:
    """Minus the mean return of M rollouts, as a function of the parameters of a deterministic policy.

    >>> search = PolicySearch("CartPole-v1", rollouts=3, bias=False, seed=1)
    >>> search.d, search(search.x0) == -search.ret(search.x0) == search(search.x0)
    (8, True)

    The value of a point depends on the point and on `seed` alone, not on what was evaluated before nor in which process: the
    seeds of the environment are drawn from a hash of the point (`fixed=False`: noise that differs from point to point), or are
    the same M for all points (`fixed=True`). Points that are evaluated by one call, (n, d), as `minimize(search, ...,
    vectorized=True)` does, share their seeds, drawn from a hash of them all: common random numbers within a generation, fresh
    ones in the next. `thalweg.objectives.rl.Together` does the same with workers.

    With `normalise="running"` the value depends on the generations before it as well, and only generations can be evaluated:

    >>> search = PolicySearch("CartPole-v1", rollouts=1, normalise="running")
    >>> values = search(np.zeros((2, search.d)))
    >>> search.normaliser.mean != (0.0, 0.0, 0.0, 0.0)
    True

    Picklable; every process, and every thread, makes an environment of its own when it first needs one.
    """

    env: environment.Make
    """A name that `gymnasium.make` knows, or a function that makes an environment."""
    rollouts: int = 10
    """M."""
    hidden: Sequence[int] = ()
    """Widths of hidden layers of tanh; none: a linear policy."""
    bias: bool = True
    action: Bounding = "clip"
    """How outputs become actions in a box: cut off at its bounds, or by tanh. Discrete actions: that of the largest output."""
    normalise: bool | Normaliser | Literal["running"] = False
    """Whether observations are normalised: by given numbers, by those of rollouts of random actions, made here and once (True),
    or by those of all generations so far ("running", as in ARS)."""
    max_steps: int | None = None
    """Of a rollout; by default the environment's own limit."""
    fixed: bool = False
    """Whether all points meet the same environment seeds."""
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further arguments of `gymnasium.make`, or of the function."""

    shape: Policy = field(init=False, repr=False)
    """Which point is which policy."""
    _seen: Moments | None = field(init=False, repr=False)
    """Running statistics; unlike what is here, they travel with the object."""
    _here: _Here = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._set(rollouts=as_count(self.rollouts, "rollouts"), seed=as_seed(self.seed))
        self._set(bias=as_flag(self.bias, "bias"), fixed=as_flag(self.fixed, "fixed"))
        self._set(hidden=tuple(self.hidden), options=dict(self.options))
        self._prepare()
        environment.step_limit(self._env, self.max_steps)
        running = isinstance(self.normalise, str) and self.normalise == "running"
        if not running and not isinstance(self.normalise, bool | Normaliser):
            raise TypeError(f"normalise must be True, False, 'running' or a Normaliser, got {shortened(self.normalise)}")
        self._set(_seen=Moments.none(self.shape.sizes[0]) if running else None)
        if self.normalise is True:
            self._set(normalise=self.observe())
        if isinstance(self.normalise, Normaliser) and len(self.normalise.mean) != self.shape.sizes[0]:
            known, seen = len(self.normalise.mean), self.shape.sizes[0]
            raise ValueError(f"normalise is for {known} observations, but the environment has {seen}; observe() estimates one")

    def _set(self, **fields: Any) -> None:
        """Fields that are made here; users find them frozen."""
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _prepare(self) -> None:
        """What depends on the environment."""
        self._set(_here=_Here())
        size, _ = environment.flattener(self._env.observation_space)
        self._set(shape=Policy.into(self._env.action_space, size, self.hidden, self.bias, self.action))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("shape", "_here")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    @property
    def d(self) -> int:
        """The number of parameters."""
        return self.shape.d

    @property
    def x0(self) -> np.ndarray:
        """All parameters 0: a start that is as good as any."""
        return np.zeros(self.d)

    @property
    def steps(self) -> int:
        """Steps of environments made for this object: by this process, and by workers of `Together`; not by other workers."""
        return self._here.steps

    @property
    def normaliser(self) -> Normaliser | None:
        """What observations are normalised by at present."""
        if self._seen is not None:
            return self._seen.normaliser
        return self.normalise if isinstance(self.normalise, Normaliser) else None

    def __call__(self, x: Any) -> Any:
        """Minus the mean return at x, (d,); or at all rows of x, (n, d), from the same environment seeds.

        Running statistics stay as they are for all rows, and then take in what was observed.
        """
        points = as_array(x, "x")
        if points.ndim == 1:
            if self._seen is not None:
                raise ValueError(
                    "normalise='running' learns from whole generations (n, d), but x is one point; pass vectorized=True to "
                    "minimize, with thalweg.objectives.rl.Together for workers, or call evaluate(x), which learns nothing"
                )
            return self.evaluate(points).value
        seeds, normaliser = self.seeds(points), self.normaliser
        trials = [self.trial(point, seeds, normaliser) for point in points]
        self.learn(trials)
        return np.array([trial.evaluation.value for trial in trials])

    def ret(self, x: Any) -> float:
        """The mean return at x."""
        return -self.evaluate(as_array(x, "x").reshape(-1)).value

    def evaluate(self, x: Any, seeds: Iterable[int] | None = None) -> Evaluation:
        """All rollouts at x, from its own environment seeds or from others."""
        point = as_array(x, "x")
        act = self.policy(point)
        return Evaluation.of([self._roll(act, seed) for seed in (self.seeds(point) if seeds is None else seeds)])

    def trial(self, x: Any, seeds: Iterable[int], normaliser: Normaliser | None) -> Trial:
        """One point of a generation: all its rollouts, and what `learn` is to take in, wherever that is."""
        act = self._policy(x, normaliser)
        if self._seen is None:
            return Trial(Evaluation.of([self._roll(act, seed) for seed in seeds]), None)
        seen, done = Moments.none(self.shape.sizes[0]), list[Rollout]()
        for seed in seeds:
            look, observations = self._watched(act)
            done.append(self._roll(look, seed))
            seen = seen.merged(Moments.of(np.stack(observations)))
        return Trial(Evaluation.of(done), seen)

    def learn(self, trials: Iterable[Trial]) -> None:
        """Take in what a generation has observed, except where a value or an observation is not finite."""
        with self._here.lock:
            for evaluation, seen in trials:
                if self._seen is None or seen is None or not np.isfinite(evaluation.value):
                    continue
                merged = self._seen.merged(seen)
                if merged.finite:
                    self._set(_seen=merged)

    def count(self, steps: int) -> None:
        """Steps of environments that others have made for this object."""
        with self._here.lock:
            self._here.steps += steps

    def rollout(self, x: Any, seed: int) -> Rollout:
        """One rollout from an environment seed."""
        return self._roll(self.policy(x), seed)

    def policy(self, x: Any) -> Act:
        """The policy of the point x: a function from observations, as the environment gives them, to actions."""
        return self._policy(x, self.normaliser)

    def _policy(self, x: Any, normaliser: Normaliser | None) -> Act:
        act = self.shape.act(x, normaliser)
        flatten = environment.flattener(self._env.observation_space)[1]
        return act if flatten is None else lambda o: act(flatten(o))

    def seeds(self, points: np.ndarray) -> list[int]:
        """The environment seeds of a point or of several together: the same for the same points."""
        words: list[int] = []
        if not self.fixed:
            digest = hashlib.blake2b(np.ascontiguousarray(points, np.float64).tobytes(), digest_size=16).digest()
            words = np.frombuffer(digest, "<u4").tolist()
        return np.random.SeedSequence([self.seed, *words]).generate_state(self.rollouts).tolist()

    def observe(self, x: Any = None, rollouts: int = OBSERVING) -> Normaliser:
        """A normaliser of what the policy x observes; without x, of what random actions show."""
        env = self._env
        look, seen = self._watched((lambda _: env.action_space.sample()) if x is None else self.policy(x))
        env.action_space.seed(self.seed)
        for seed in np.random.SeedSequence([self.seed]).generate_state(as_count(rollouts, "rollouts")).tolist():
            self._roll(look, seed)
        return Normaliser.of(np.stack(seen))

    def _watched(self, act: Act) -> tuple[Act, list[np.ndarray]]:
        """The policy, and what it will have observed."""
        flatten, seen = environment.flattener(self._env.observation_space)[1] or np.asarray, list[np.ndarray]()

        def look(o: Any) -> Any:
            seen.append(np.array(flatten(o), float))  # a copy: the environment may write into its own
            return act(o)

        return look, seen

    @property
    def _env(self) -> Any:
        """This thread's environment."""
        local = self._here.local
        if not hasattr(local, "env"):
            local.env = environment.make(self.env, self.options)
        return local.env

    def _roll(self, act: Act, seed: int) -> Rollout:
        env, total, steps = self._env, 0.0, 0
        limit = environment.step_limit(env, self.max_steps)
        o, _ = env.reset(seed=int(seed))
        for steps in range(1, limit + 1):  # noqa: B007 (the count outlives the loop)
            o, reward, terminated, truncated, _ = env.step(act(o))
            total += float(reward)
            if terminated or truncated:
                break
        self.count(steps)
        return Rollout(total, steps)
