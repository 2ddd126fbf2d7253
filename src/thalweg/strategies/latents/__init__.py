"""Latents: evolution strategies that place and scale. A latent joins the registry and the contract tests by one line here."""

from thalweg.strategies.latents.base import Latent
from thalweg.strategies.latents.cauchy import CauchyNES
from thalweg.strategies.latents.cmaes import CMAES
from thalweg.strategies.latents.cmaes_adapter import CmaesLatent
from thalweg.strategies.latents.lra_cmaes import LRACMAES
from thalweg.strategies.latents.pges import PGES
from thalweg.strategies.latents.pycma_adapter import PycmaLatent
from thalweg.strategies.latents.sep_cmaes import SepCMAES
from thalweg.strategies.latents.snes import SNES
from thalweg.strategies.latents.xnes import XNES

LATENTS: dict[str, type[Latent]] = {
    "cma": CMAES,
    "lra-cma": LRACMAES,
    "xnes": XNES,
    "sep-cma": SepCMAES,
    "snes": SNES,
    "cauchy": CauchyNES,
    "pges": PGES,
    "pycma": PycmaLatent,
    "cmaes": CmaesLatent,
}
"""Latents by name."""
