"""The settings of the quadratic model, and the registry of models by name."""

from dataclasses import asdict, dataclass, fields
from math import isfinite
from typing import Any

from thalweg._common.checks import as_flag, as_number, listed, shortened


@dataclass(frozen=True)
class Quadratic:
    """A quadratic function, fitted to the values of the latest points in the coordinates of the search distribution.

    It is linear at first, has squares as soon as there are points enough, and later all products (Hansen 2019, lq-CMA-ES).

    >>> Quadratic(tau=0.9)
    Quadratic(tau=0.9, size=2.0, used=0.75, weight=20.0, offer=True)
    """

    tau: float = 0.85
    """Rank correlation with the true values from which the model is trusted (Kendall's tau)."""
    size: float = 2.0
    """Maximal number of points to which the model is fitted, as a multiple of the coefficients of the full quadratic."""
    used: float = 0.75
    """Share of these points, the best ones, that enter the fit."""
    weight: float = 20.0
    """Weight of the best point in the fit; the worst has weight 1."""
    offer: bool = True
    """True to put the model's minimum into each generation."""

    def __post_init__(self) -> None:
        for name, low, high in (("tau", -1.0, 1.0), ("size", 1.5, 1e3), ("used", 0.5, 1.0), ("weight", 1.0, 1e6)):
            value = as_number(getattr(self, name), name)
            if not (isfinite(value) and low <= value <= high):
                raise ValueError(f"{name} must be a number from {low:g} to {high:g}, got {value:g}")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "offer", as_flag(self.offer, "offer"))


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
        raise ValueError(f"model {shortened(model)} is unknown; the names are {listed(list(MODELS))}")
    return MODELS[model]()


def pack_model(model: Quadratic) -> dict[str, Any]:
    """Return a model's name and settings as JSON's types."""
    (name,) = (name for name, kind in MODELS.items() if type(model) is kind)
    return {"name": name, **asdict(model)}


def unpack_model(packed: dict[str, Any] | None) -> Quadratic | None:
    """Return the model that `pack_model` has packed, or raise a ValueError.

    >>> unpack_model(pack_model(Quadratic(tau=0.9)))
    Quadratic(tau=0.9, size=2.0, used=0.75, weight=20.0, offer=True)
    """
    if packed is None:
        return None
    settings = dict(packed)
    kind = MODELS.get(settings.pop("name", ""))
    if kind is None or settings.keys() != {field.name for field in fields(kind)}:
        raise ValueError(f"{shortened(packed)} is no model")
    return kind(**settings)
