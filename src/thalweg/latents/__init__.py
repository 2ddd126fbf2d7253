"""Latents: evolution strategies that place and scale. A latent joins the registry, and the contract tests, by one line here."""

from thalweg.latents.base import Latent
from thalweg.latents.cauchy import CauchyNES
from thalweg.latents.cmaes import CMAES
from thalweg.latents.cmaes_adapter import CmaesLatent
from thalweg.latents.external import ExternalLatent
from thalweg.latents.frame import Frame
from thalweg.latents.lra_cmaes import LRACMAES
from thalweg.latents.pges import PGES
from thalweg.latents.pycma_adapter import PycmaLatent
from thalweg.latents.sep_cmaes import SepCMAES
from thalweg.latents.snes import SNES
from thalweg.latents.xnes import XNES

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

__all__ = [
    "CMAES",
    "LATENTS",
    "LRACMAES",
    "PGES",
    "SNES",
    "XNES",
    "CauchyNES",
    "CmaesLatent",
    "ExternalLatent",
    "Frame",
    "Latent",
    "PycmaLatent",
    "SepCMAES",
]
