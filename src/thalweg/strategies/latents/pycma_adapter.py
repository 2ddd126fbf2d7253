"""pycma's `CMAEvolutionStrategy` as a latent (extra `adapters`)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg._common.extras import require
from thalweg.strategies.latents.external import ExternalLatent


class Normals:
    """Standard normal numbers for pycma's option `randn`, from a private generator that can be seeded again."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(0)

    def seed(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def __call__(self, *shape: int) -> np.ndarray:
        return self.generator.standard_normal(shape)


@dataclass(frozen=True)
class PycmaLatent(ExternalLatent):
    """CMA-ES in Nikolaus Hansen's own implementation, with its default options and without mirrored points."""

    def make(self, x0: np.ndarray, sigma0: float) -> Any:
        cma = require("cma", extra="adapters", purpose="PycmaLatent")
        n = self.population(len(x0))
        if len(x0) < 2:
            raise ValueError(f"x0 must have dimension 2 or more for pycma, got {len(x0)}; use CMAES (method 'cma')")
        if n < 3:
            raise ValueError(f"popsize must be at least 3 for pycma, got {n}; pass a larger one or use CMAES (method 'cma')")
        # seed nan: pycma leaves numpy's global generator alone; verbose -9: nothing is printed, no file is written
        options: dict[str, Any] = {"popsize": n, "randn": Normals(), "seed": np.nan, "verbose": -9, "verb_log": 0}
        options["CMA_mirrors"] = 0  # otherwise populations below 6 would contain mirror images, which are not independent draws
        return cma.CMAEvolutionStrategy(x0, sigma0, options)

    def draw(self, optimiser: Any, seed: int) -> np.ndarray:
        optimiser.opts["randn"].seed(seed)
        return np.array(optimiser.ask())

    def learn(self, optimiser: Any, z: np.ndarray, f: np.ndarray) -> None:
        optimiser.tell(list(z), f.tolist())

    def distribution(self, optimiser: Any) -> tuple[np.ndarray, float, np.ndarray]:
        model = optimiser.sm
        model.update_now()  # as `ask` does first: the stored axes of the covariance may be out of date
        scaling = np.ones(len(optimiser.mean)) * optimiser.sigma_vec.scaling
        return optimiser.mean, optimiser.sigma, scaling[:, None] * ((model.B * model.D) @ model.B.T)
