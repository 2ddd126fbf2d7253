"""`PolicySearch`: minus the mean return of a policy, as a function of its parameters."""

import hashlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from thalweg.rl import environment
from thalweg.rl.normaliser import Normaliser
from thalweg.rl.policy import Act, Bounding, Policy
from thalweg.validation import as_array, as_count, as_seed, shortened

OBSERVING = 10
"""Rollouts of random actions that a normaliser is estimated from."""


class Rollout(NamedTuple):
    """One episode."""

    ret: float
    """The return: the sum of all rewards."""
    steps: int


class Evaluation(NamedTuple):
    """The rollouts of one policy."""

    returns: np.ndarray
    steps: np.ndarray

    @property
    def value(self) -> float:
        """What is minimised."""
        return -float(self.returns.mean())


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
    ones in the next. `thalweg.rl.Together` does the same with workers.

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
    normalise: bool | Normaliser = False
    """Whether observations are normalised: by given numbers, or by those of rollouts of random actions, made here and once."""
    max_steps: int | None = None
    """Of a rollout; by default the environment's own limit."""
    fixed: bool = False
    """Whether all points meet the same environment seeds."""
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further arguments of `gymnasium.make`, or of the function."""

    shape: Policy = field(init=False, repr=False)
    """Which point is which policy."""
    _here: _Here = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._set(rollouts=as_count(self.rollouts, "rollouts"), seed=as_seed(self.seed))
        self._set(hidden=tuple(self.hidden), options=dict(self.options))
        self._prepare()
        environment.step_limit(self._env, self.max_steps)
        if not isinstance(self.normalise, bool | Normaliser):
            raise TypeError(f"normalise must be True, False or a Normaliser, got {shortened(self.normalise)}")
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
        """Steps of environments that this process has made for this object; those of workers are counted there."""
        return self._here.steps

    def __call__(self, x: Any) -> Any:
        """Minus the mean return at x, (d,); or at all rows of x, (n, d), from the same environment seeds."""
        points = as_array(x, "x")
        if points.ndim == 1:
            return self.evaluate(points).value
        seeds = self.seeds(points)
        return np.array([self.evaluate(point, seeds).value for point in points])

    def ret(self, x: Any) -> float:
        """The mean return at x."""
        return -float(self(as_array(x, "x").reshape(-1)))

    def evaluate(self, x: Any, seeds: Iterable[int] | None = None) -> Evaluation:
        """All rollouts at x, from its own environment seeds or from others."""
        point = as_array(x, "x")
        act = self.policy(point)
        done = [self._roll(act, seed) for seed in (self.seeds(point) if seeds is None else seeds)]
        if not done:
            raise ValueError("seeds must hold at least one environment seed, got none")
        return Evaluation(np.array([each.ret for each in done]), np.array([each.steps for each in done]))

    def rollout(self, x: Any, seed: int) -> Rollout:
        """One rollout from an environment seed."""
        return self._roll(self.policy(x), seed)

    def policy(self, x: Any) -> Act:
        """The policy of the point x: a function from observations, as the environment gives them, to actions."""
        act = self.shape.act(x, self.normalise if isinstance(self.normalise, Normaliser) else None)
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
        env, seen = self._env, list[np.ndarray]()
        flatten = environment.flattener(env.observation_space)[1] or np.asarray
        act: Act = (lambda _: env.action_space.sample()) if x is None else self.policy(x)
        env.action_space.seed(self.seed)

        def look(o: Any) -> Any:
            seen.append(np.array(flatten(o), float))
            return act(o)

        for seed in np.random.SeedSequence([self.seed]).generate_state(as_count(rollouts, "rollouts")).tolist():
            self._roll(look, seed)
        return Normaliser.of(np.stack(seen))

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
        with self._here.lock:
            self._here.steps += steps
        return Rollout(total, steps)
