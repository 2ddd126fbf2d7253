"""The cells of whole numbers in R^d: the intervals whose points the objective takes as the same number."""

from typing import Any, NamedTuple


class Cells(NamedTuple):
    """The cells in which points of R^d lie, docs/math.md (46). Arrays of the points' shape, of numpy or JAX.

    Their numbers mean nothing where `whole` is false.
    """

    whole: Any
    """True for each coordinate that is a whole number."""
    number: Any
    """The whole number of each coordinate."""
    inside: Any
    """The points themselves; one beyond a bound, whose number is that of an image inside, as this image."""
    centre: Any
    """The place of the whole number itself."""
    below: Any
    """The border to the next smaller whole number; -inf where there is none within the bounds."""
    above: Any


def cells_of(inner: Any, whole: Any, sides: tuple[Any, Any], y: Any, xp: Any) -> Cells:
    """Return the cells of points under a `SpaceMap`; its numbers are rounded where `whole` is true, and then within `sides`."""
    low, high = sides
    x = inner.to_objective(y, xp)
    number = xp.clip(xp.round(x), low, high)
    # where a coordinate is a real number there may be no logarithm of the numbers beside it
    near = xp.where(whole, number, x)
    below, above = (inner.to_search(xp.where(whole, near + side, x), xp) for side in (-0.5, 0.5))
    return Cells(
        whole,
        number,
        xp.where(whole, inner.to_search(x, xp), y),
        inner.to_search(near, xp),
        xp.where(number > low, below, -xp.inf),
        xp.where(number < high, above, xp.inf),
    )
