"""Policies: number and order of the parameters, and actions inside their space."""

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from gymnasium.spaces import Box, Discrete, MultiBinary

from thalweg.objectives.rl import Normaliser, Policy

BOX = Box(np.array([-1, 0], "f"), np.array([1, 4], "f"))


def test_the_number_of_parameters():
    assert Policy.into(BOX, 2, (4, 5)).d == (2 + 1) * 4 + (4 + 1) * 5 + (5 + 1) * 2
    assert Policy.into(BOX, 2, (4, 5), bias=False).d == 2 * 4 + 4 * 5 + 5 * 2
    assert Policy.into(Discrete(3), 4).d == 5 * 3


def test_a_network_by_hand():
    policy = Policy.into(BOX, 2, (3,), bias=True)
    x = np.random.default_rng(1).normal(size=policy.d)
    W, b, V, c = x[:6].reshape(3, 2), x[6:9], x[9:15].reshape(2, 3), x[15:]
    o = np.array([0.4, -0.7])
    assert policy.act(x)(o) == pytest.approx(np.clip(V @ np.tanh(W @ o + b) + c, [-1, 0], [1, 4]), rel=1e-6)
    bare = Policy.into(BOX, 2, (3,), bias=False)
    y = np.concatenate([W.ravel(), V.ravel()])
    assert bare.act(y)(o) == pytest.approx(np.clip(V @ np.tanh(W @ o), [-1, 0], [1, 4]), rel=1e-6)


@pytest.mark.parametrize("action", ["clip", "tanh"])
def test_actions_are_in_the_space(action):
    policy = Policy.into(BOX, 2, action=action)
    for seed in range(20):
        chosen = policy.act(np.random.default_rng(seed).normal(size=policy.d) * 9)(np.array([1.0, -2.0]))
        assert BOX.contains(chosen)
    middle = policy.act(np.zeros(policy.d))(np.ones(2))
    assert middle.tolist() == ([0, 0] if action == "clip" else [0, 2])


def test_discrete_actions_begin_where_they_begin():
    policy = Policy.into(Discrete(3, start=5), 1, bias=False)
    assert policy.act([0.0, 1.0, 3.0])(np.array([1.0])) == 7
    assert policy.act([0.0, 1.0, 3.0])(np.array([-1.0])) == 5


def test_a_normaliser_without_bias_still_centres():
    policy = Policy.into(Box(-9, 9, (1,)), 2, bias=False)
    act = policy.act([2.0, 0.5], Normaliser((1.0, 2.0), (0.5, 4.0)))
    assert act(np.array([1.0, 2.0])).tolist() == [0.0]
    assert act(np.array([1.5, 6.0])).tolist() == [2.5]


def test_errors():
    with pytest.raises(ValueError, match=r"actions.*got"):
        Policy.into(MultiBinary(2), 2)
    with pytest.raises(ValueError, match=r"actions.*got"):
        Policy.into(Box(0, 3, (1,), dtype=np.int8), 2)
    with pytest.raises(ValueError, match=r"^action must"):
        Policy.into(BOX, 2, action="sigmoid")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="hidden"):
        Policy.into(BOX, 2, (0,))
    with pytest.raises(ValueError, match="observations"):
        Normaliser.of(np.empty((0, 2)))
