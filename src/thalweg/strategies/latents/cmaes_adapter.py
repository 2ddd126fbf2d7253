"""The class `CMA` of the package `cmaes` as a latent (extra `adapters`)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg._common.extras import require
from thalweg.strategies.latents.external import ExternalLatent


@dataclass(frozen=True)
class CmaesLatent(ExternalLatent):
    """CMA-ES as in Hansen's tutorial, from the package `cmaes`, which Optuna also uses."""

    def make(self, x0: np.ndarray, sigma0: float) -> Any:
        cmaes = require("cmaes", extra="adapters", purpose="CmaesLatent")
        n = self.population(len(x0))
        if n < 4:
            raise ValueError(f"popsize must be at least 4 for cmaes, got {n}; pass a larger one or use CMAES (method 'cma')")
        return cmaes.CMA(mean=x0, sigma=sigma0, population_size=n, seed=0)

    def draw(self, optimiser: Any, seed: int) -> np.ndarray:
        optimiser.reseed_rng(seed)
        return np.array([optimiser.ask() for _ in range(optimiser.population_size)])

    def learn(self, optimiser: Any, z: np.ndarray, f: np.ndarray) -> None:
        optimiser.tell(list(zip(z, f.tolist(), strict=True)))

    def distribution(self, optimiser: Any) -> tuple[np.ndarray, float, np.ndarray]:
        # sigma and C have no public names; the decomposition is kept by the object until it is told again
        vectors, lengths = optimiser._eigen_decomposition()
        # pickle stores half of C: a resumed run equals the uninterrupted one only if C is symmetric to the last bit
        optimiser._C = (optimiser._C + optimiser._C.T) / 2
        return optimiser.mean, optimiser._sigma, (vectors * lengths) @ vectors.T
