"""The sentences of the paper's text as experiments: one file for each claim, and one line here."""

from thalweg_studies.paper.claims import (
    any_latent,
    bending,
    damping,
    first_penalty,
    history,
    plain_gradient,
    real_nvp,
)
from thalweg_studies.paper.claims.claim import Cases, Claim, Finding

CLAIMS: dict[str, Claim] = {
    "plain-gradient": plain_gradient.CLAIM,
    "damping": damping.CLAIM,
    "real-nvp": real_nvp.CLAIM,
    "history": history.CLAIM,
    "first-penalty": first_penalty.CLAIM,
    "any-latent": any_latent.CLAIM,
    "bending": bending.CLAIM,
}
"""Claims by the name of their experiment without "claim-"."""

__all__ = ["CLAIMS", "Cases", "Claim", "Finding"]
