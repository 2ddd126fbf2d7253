"""Deterministic policies, linear or small networks of tanh layers, with all parameters in one vector."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from thalweg._common.checks import as_array, as_count, shortened
from thalweg.objectives.rl.normaliser import Normaliser

Bounding = Literal["clip", "tanh"]
"""The way in which outputs are brought into a box of actions."""

Act = Callable[[np.ndarray], Any]
"""A function from an observation, as a vector, to an action."""


class Layer(NamedTuple):
    """The affine map x -> weights x + shift."""

    weights: np.ndarray
    shift: np.ndarray | None


@dataclass(frozen=True)
class Head:
    """The number of outputs of a policy, and the function from outputs to an action."""

    outputs: int
    act: Callable[[np.ndarray], Any]


@dataclass(frozen=True)
class Policy:
    """The architecture of a policy: the map from a vector of parameters to a function from observations to actions.

    >>> from gymnasium.spaces import Discrete
    >>> policy = Policy.into(Discrete(2), observations=3)
    >>> policy.d, policy.act([0.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0])(np.array([0.1, 0.0, 0.0]))
    (8, 1)

    The vector holds the layers in order, of each the weights row by row and then the shifts.
    """

    sizes: tuple[int, ...]
    """Numbers of observations, of units in each hidden layer, and of outputs."""
    bias: bool
    head: Head

    @classmethod
    def into(
        cls, space: Any, observations: int, hidden: Sequence[int] = (), bias: bool = True, action: Bounding = "clip"
    ) -> "Policy":
        """Make a policy whose actions are elements of a `Box` or `Discrete` space."""
        head = make_head(space, action)
        widths = tuple(as_count(width, "hidden") for width in hidden)
        return cls((observations, *widths, head.outputs), bias, head)

    @property
    def d(self) -> int:
        """The number of parameters."""
        return sum((entering + self.bias) * leaving for entering, leaving in pairwise(self.sizes))

    def layers(self, point: Any) -> list[Layer]:
        """Split a numpy or JAX vector of parameters (d,) into layers."""
        layers: list[Layer] = []
        for entering, leaving in pairwise(self.sizes):
            cut, end = entering * leaving, (entering + self.bias) * leaving
            layers.append(Layer(point[:cut].reshape(leaving, entering), point[cut:end] if self.bias else None))
            point = point[end:]
        return layers

    def act(self, x: Any, normaliser: Normaliser | None = None) -> Act:
        """Return the policy with the parameters x, which first normalises observations if a normaliser is given."""
        point = as_array(x, "x")
        if point.shape != (self.d,):
            raise ValueError(f"x must have shape ({self.d},), one number for each parameter of the policy, got {point.shape}")
        first, *deeper = self.layers(point)
        if normaliser is not None:  # W (o - mean) / std + b, as one layer
            weights = first.weights / np.array(normaliser.std)
            moved = weights @ np.array(normaliser.mean)
            first = Layer(weights, -moved if first.shift is None else first.shift - moved)
        return compose([first, *deeper], self.head.act)


class PolicyObjective:
    """A function of the parameters of a policy."""

    architecture: Policy

    @property
    def d(self) -> int:
        """The number of parameters."""
        return self.architecture.d

    @property
    def x0(self) -> np.ndarray:
        """A start for the search: all parameters 0."""
        return np.zeros(self.d)


def make_head(space: Any, action: Bounding) -> Head:
    """Return the head of a policy for an action space of Gymnasium."""
    spaces: Any = importlib.import_module("gymnasium.spaces")
    if action not in ("clip", "tanh"):
        raise ValueError(f"action must be 'clip' or 'tanh', got {shortened(action)}")
    if isinstance(space, spaces.Discrete):
        start = int(space.start)
        return Head(int(space.n), lambda z: start + int(z.argmax()))
    if not isinstance(space, spaces.Box) or not np.issubdtype(space.dtype, np.floating):
        raise ValueError(f"env must have a Box of floats or a Discrete space of actions, got {shortened(space)}")
    shape, kind, low, high = space.shape, space.dtype, space.low.astype(float).ravel(), space.high.astype(float).ravel()
    if action == "clip":
        return Head(low.size, lambda z: np.minimum(np.maximum(z, low), high).astype(kind).reshape(shape))
    if not np.all(np.isfinite([low, high])):
        raise ValueError(f"action='tanh' needs finite bounds on all actions, got {shortened(space)}; pass action='clip'")
    middle, half = (low + high) / 2, (high - low) / 2
    return Head(low.size, lambda z: (middle + half * np.tanh(z)).astype(kind).reshape(shape))


def compose(layers: Sequence[Layer], head: Callable[[Any], Any], tanh: Callable[[Any], Any] = np.tanh) -> Callable[[Any], Any]:
    """Return the function from observations to actions, with tanh between the layers; for JAX pass `jnp.tanh`."""
    (weights, shift), *deeper = layers
    if not deeper and shift is None:  # a special case for speed: steps are many and short
        return lambda o: head(weights @ o)
    if not deeper:
        return lambda o: head(weights @ o + shift)

    def act(o: np.ndarray) -> Any:
        z = weights @ o if shift is None else weights @ o + shift
        for layer in deeper:
            z = layer.weights @ tanh(z)
            if layer.shift is not None:
                z = z + layer.shift
        return head(z)

    return act
