"""Arguments that nothing sensible can be made of: one sentence that names them, not an error from within."""

from typing import Any

import pytest

from thalweg import Optimizer, minimize, resume


class Broken:
    """An object that cannot be converted."""

    def __float__(self) -> float:
        raise RuntimeError("no number")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no array")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_evals", [1, 2]),
        ("max_iter", []),
        ("bounds", [[1.0, [2.0]], 3]),
        ("bounds", [Broken(), 1]),
        ("sigma0", Broken()),
        ("popsize", 2**63),
        ("ftarget", Broken()),
    ],
)
def test_the_argument_is_named(name: str, value: Any):
    import numpy as np

    arguments = {name: np.array(value) if name in ("max_evals", "max_iter") else value}
    with pytest.raises((TypeError, ValueError), match=name):
        Optimizer([1.0, 2.0], **arguments)


@pytest.mark.parametrize("X", [0.5, True])
def test_points_that_are_a_number(X: Any):
    es = Optimizer([1.0, 2.0], method="cma", popsize=4, seed=1)
    es.ask()
    with pytest.raises(ValueError, match="X must hold"):
        es.tell(X, [1.0])


def test_constraint_values_of_several_lengths():
    es = Optimizer([1.0, 2.0], method="cma", popsize=4, seed=1)
    with pytest.raises(ValueError, match="G must hold"):
        es.tell(es.ask(1), [1.0], [[1.0, [2.0, 3.0]]])


def test_a_checkpoint_is_the_name_of_a_file():
    with pytest.raises(TypeError, match="checkpoint must be the name"):
        minimize(lambda x: x @ x, [1.0], checkpoint=[1])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="checkpoint must be the name"):
        resume([1], lambda x: x @ x)  # type: ignore[arg-type]
