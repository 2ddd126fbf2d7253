"""Models of the objective: fitted to its values, they choose the points that are worth an evaluation."""

from thalweg.models.quadratic import MODELS, Quadratic, make_model, pack_model, unpack_model
from thalweg.models.surrogate import Surrogate

__all__ = ["MODELS", "Quadratic", "Surrogate", "make_model", "pack_model", "unpack_model"]
