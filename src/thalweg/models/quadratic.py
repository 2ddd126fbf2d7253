"""The settings of the quadratic model, and the registry of models by name."""

from dataclasses import asdict, dataclass, fields
from math import isfinite
from typing import Any, Literal, get_args

from thalweg._common.checks import as_flag, as_number, one_of, shortened

Targets = Literal["auto", "values", "ranks"]


@dataclass(frozen=True)
class Quadratic:
    """A quadratic function, fitted to the values of the latest points in the coordinates of the search distribution.

    It has all products of coordinates from the start, with a penalty that makes it curve alike in all directions where the
    points say nothing else; no penalty where that predicts better; or squares of the user's coordinates alone.

    >>> Quadratic(tau=0.9)
    Quadratic(tau=0.9, size=2.0, used=0.75, weight=20.0, offer=True, targets='auto')
    """

    tau: float = 0.8
    """Rank correlation with the true values from which the model is trusted (Kendall's tau)."""
    size: float = 2.0
    """Maximal number of points to which the model is fitted, as a multiple of the coefficients of the full quadratic."""
    used: float = 0.75
    """Share of these points, the best ones, that enter the fit."""
    weight: float = 20.0
    """Weight of the best point in the fit; the worst has weight 1."""
    offer: bool = True
    """True to put the model's minimum into each generation."""
    targets: Targets = "auto"
    """Fit "values" or "ranks" of the objective, or "auto": what orders points that are left out better."""

    def __post_init__(self) -> None:
        for name, low, high in (("tau", -1.0, 1.0), ("size", 1.5, 1e3), ("used", 0.5, 1.0), ("weight", 1.0, 1e6)):
            value = as_number(getattr(self, name), name)
            if not (isfinite(value) and low <= value <= high):
                raise ValueError(f"{name} must be a number from {low:g} to {high:g}, got {value:g}")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "offer", as_flag(self.offer, "offer"))
        if self.targets not in get_args(Targets):
            raise ValueError(f"targets must be one of {get_args(Targets)}, got {shortened(self.targets)}")


MODELS: dict[str, type[Quadratic]] = {"quadratic": Quadratic}
"""Models by name."""


def make_model(model: Any) -> Quadratic | None:
    """Return the settings of a model from a user's argument: a name, the settings themselves, or None for no model.

    >>> make_model("quadratic") == Quadratic()
    True
    """
    if model is None or isinstance(model, tuple(MODELS.values())):
        return model
    if not isinstance(model, str):
        raise TypeError(f"model must be None, a name or thalweg.Quadratic(...), got {shortened(model)}")
    if model not in MODELS:
        raise ValueError(f"model {shortened(model)} is unknown; {one_of(model, list(MODELS))}")
    return MODELS[model]()


def pack_model(model: Quadratic) -> dict[str, Any]:
    """Return a model's name and settings as JSON's types."""
    (name,) = (name for name, kind in MODELS.items() if type(model) is kind)
    return {"name": name, **asdict(model)}


def unpack_model(packed: dict[str, Any] | None) -> Quadratic | None:
    """Return the model that `pack_model` has packed, or raise a ValueError.

    >>> unpack_model(pack_model(Quadratic(tau=0.9)))
    Quadratic(tau=0.9, size=2.0, used=0.75, weight=20.0, offer=True, targets='auto')
    """
    if packed is None:
        return None
    settings = dict(packed)
    kind = MODELS.get(settings.pop("name", ""))
    if kind is None or settings.keys() != {field.name for field in fields(kind)}:
        raise ValueError(f"{shortened(packed)} is no model")
    return kind(**settings)
