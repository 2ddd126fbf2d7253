"""pycma's `CMAEvolutionStrategy` as a latent (extra `bench`)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.strategies.latents.external import ExternalLatent, require


class Normals:
    """Standard normal numbers for pycma's option `randn`, from a generator of its own that can be seeded anew."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(0)

    def seed(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def __call__(self, *shape: int) -> np.ndarray:
        return self.generator.standard_normal(shape)


@dataclass(frozen=True)
class PycmaLatent(ExternalLatent):
    """CMA-ES by Nikolaus Hansen's own implementation, with its default options and no mirrored points."""

    def make(self, x0: np.ndarray, sigma0: float) -> Any:
        cma = require("cma", type(self).__name__)
        n = self.population(len(x0))
        if len(x0) < 2:
            raise ValueError(f"x0 has dimension {len(x0)}, but pycma needs at least 2; use CMAES (method 'cma') instead")
        if n < 3:
            raise ValueError(f"popsize is {n}, but pycma needs at least 3; use CMAES (method 'cma') instead")
        # seed nan: pycma leaves numpy's global generator alone; verbose -9: nothing is printed, no file is written
        options: dict[str, Any] = {"popsize": n, "randn": Normals(), "seed": np.nan, "verbose": -9, "verb_log": 0}
        options["CMA_mirrors"] = 0  # else populations below 6 would hold mirror images, which are no draws
        return cma.CMAEvolutionStrategy(x0, sigma0, options)

    def draw(self, optimiser: Any, seed: int) -> np.ndarray:
        optimiser.opts["randn"].seed(seed)
        return np.array(optimiser.ask())

    def learn(self, optimiser: Any, z: np.ndarray, f: np.ndarray) -> None:
        optimiser.tell(list(z), f.tolist())

    def distribution(self, optimiser: Any) -> tuple[np.ndarray, float, np.ndarray]:
        model = optimiser.sm
        model.update_now()  # what `ask` would do first: the axes of the covariance may lag behind it
        scaling = np.ones(len(optimiser.mean)) * optimiser.sigma_vec.scaling
        return optimiser.mean, optimiser.sigma, scaling[:, None] * ((model.B * model.D) @ model.B.T)
