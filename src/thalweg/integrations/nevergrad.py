"""`Thalweg` and `ThalwegModel`: optimisers in nevergrad's registry, there as soon as this module is imported."""

from typing import Any

import numpy as np

try:
    from nevergrad.common import errors
    from nevergrad.optimization import base
except ImportError:
    from thalweg._common.extras import require

    require("nevergrad", extra="nevergrad", purpose="an optimiser of nevergrad")
    raise

from thalweg.search.optimizer import Optimizer
from thalweg.search.run import OutOfRangeError

# pyright: reportPrivateUsage=false
# pyright: reportUntypedBaseClass=false

POINT = "thalweg"
"""Name under which a candidate keeps the point that it was made from."""


class _Thalweg(base.Optimizer):
    """Searches nevergrad's standardised space, where the first standard deviation of each coordinate is 1."""

    def __init__(
        self,
        parametrization: Any,
        budget: int | None = None,
        num_workers: int = 1,
        *,
        config: "FamilyOfThalweg",
    ) -> None:
        super().__init__(parametrization, budget=budget, num_workers=num_workers)
        self.config = config
        self._es: Optimizer | None = None

    @property
    def es(self) -> Optimizer:
        """The search, begun at the first call: nevergrad's seed may be set until then."""
        if self._es is None:
            given = self.config
            arguments: dict[str, Any] = {"method": given.method, "model": given.model, "restarts": given.restarts}
            arguments |= {"options": given.options, "max_evals": float("inf"), "seed": int(self._rng.randint(2**31))}
            self._es = Optimizer(np.zeros(self.dimension), given.sigma0, popsize=given.popsize, **arguments)
            if given.popsize is None and self._es.popsize < self.num_workers:
                self._es = Optimizer(np.zeros(self.dimension), given.sigma0, popsize=self.num_workers, **arguments)
        return self._es

    def _internal_ask_candidate(self) -> Any:
        try:
            x = self.es.ask(1)[0]
        except OutOfRangeError as error:
            raise errors.NevergradEarlyStopping(str(error)) from error
        candidate = self.parametrization.spawn_child().set_standardized_data(x)
        candidate._meta[POINT] = x
        return candidate

    def _internal_tell_candidate(self, candidate: Any, loss: float) -> None:
        x = candidate._meta.get(POINT)
        if x is None:
            x = candidate.get_standardized_data(reference=self.parametrization)
        self.es.tell(np.atleast_2d(x), [loss], foreign=True)  # foreign: a candidate may be told that was never asked


class FamilyOfThalweg(base.ConfiguredOptimizer):
    """Makes optimisers of nevergrad: `FamilyOfThalweg(model="quadratic")(parametrization, budget=100)`.

    Args:
        method: A method of `thalweg.minimize`.
        model: "quadratic" to choose candidates by a quadratic model; None for none.
        sigma0: The first standard deviation in nevergrad's standardised space.
        popsize: Candidates in a generation; by default that of the method, or `num_workers` if that is more.
        restarts: Maximal number of restarts.
        options: Further options of the method and its stop criteria.
    """

    def __init__(
        self,
        *,
        method: str = "gnn-cma",
        model: str | None = None,
        sigma0: float = 1.0,
        popsize: int | None = None,
        restarts: int = 9,
        options: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(_Thalweg, locals(), as_config=True)
        self.method, self.model, self.sigma0, self.popsize = method, model, sigma0, popsize
        self.restarts, self.options = restarts, options


Thalweg = FamilyOfThalweg().set_name("Thalweg", register=True)
ThalwegModel = FamilyOfThalweg(model="quadratic").set_name("ThalwegModel", register=True)
