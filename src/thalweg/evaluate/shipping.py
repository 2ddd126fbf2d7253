"""The objective on its way to other processes: by value, with cloudpickle.

So functions of `__main__`, of a notebook, lambdas and closures arrive, and a worker imports neither this package nor JAX.
"""

import pickle
from dataclasses import dataclass, field
from typing import Any, cast, get_args

import numpy as np

from thalweg._common import checks as validation
from thalweg._common import outcome as values
from thalweg._common.checks import shortened
from thalweg._common.outcome import Objective, Outcome, Plain, evaluated, received, remote, to_value


def payload(fun: Objective, args: tuple[Any, ...]) -> bytes:
    """A pickle of the function that evaluates one point, for any Python process."""
    import cloudpickle

    for module in (values, validation):
        cloudpickle.register_pickle_by_value(module)
    try:
        return cloudpickle.dumps(remote(fun, args))
    except Exception as error:
        raise ValueError(
            f"{shortened(fun)} and its args go to other processes, but cannot be pickled ({type(error).__name__}: {error}); "
            "make what cannot be pickled inside fun, or pass workers=ThreadPoolExecutor(...)"
        ) from error
    finally:
        for module in (values, validation):
            cloudpickle.unregister_pickle_by_value(module)


@dataclass
class Shipped:
    """The objective for a map or an executor that may be of threads or of processes: pickled only if it has to be."""

    fun: Objective
    args: tuple[Any, ...]
    kept: bytes | None = field(default=None, repr=False)

    def __call__(self, x: np.ndarray) -> Outcome:
        return evaluated(self.fun, self.args, x)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        if self.kept is None:
            self.kept = payload(self.fun, self.args)
        return pickle.loads, (self.kept,)


def unpacked(answer: Any) -> Outcome:
    """What a `Shipped` has returned, here or in another process; a map of one's own may also give values."""
    if isinstance(answer, Outcome):
        return answer
    if isinstance(answer, tuple) and len(cast("Plain", answer)) == len(get_args(Plain)):
        return received(cast("Plain", answer))
    return Outcome(to_value(answer))
