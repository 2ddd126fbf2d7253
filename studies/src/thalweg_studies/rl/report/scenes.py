"""Camera settings for films of the environments."""

from typing import NamedTuple


class Scene(NamedTuple):
    """The view of an environment: one camera without perspective for all panels, so that they can be compared."""

    elevation: float
    """The elevation of the camera, in degrees."""
    up: int
    """The coordinate that points upwards in the picture; x points to the right."""
    across: tuple[float, float]
    """The range of x that is seen at least; it grows with the bodies' positions."""
    along: tuple[float, float]
    """The range that is seen upwards, relative to the body's centre if the camera follows."""
    margin: float
    """The space around the centres of a body's parts."""
    follows: bool
    """True if the camera follows the body up and down in the picture."""
    columns: int
    """The largest number of panels in a row."""
    width: int
    """The width of a panel, in pixels."""
    every: int
    """The number of steps from frame to frame."""
    frames: int
    pause: int
    """The duration of a frame, in milliseconds."""
    mark: float | None
    """The distance between vertical lines; None for no lines."""
    words: str
    """The explanation of the film for readers."""


PENDULUM = Scene(
    elevation=-12.0,  # a little from above, so that there is ground behind it
    up=2,
    across=(-1.1, 1.1),
    along=(-0.2, 1.4),
    margin=0.35,
    follows=False,
    columns=3,
    width=260,
    every=2,
    frames=101,
    pause=100,
    mark=None,
    words="The first ten seconds of fifty, until a fall.",
)
SWIMMER = Scene(
    elevation=-90.0,
    up=1,
    across=(-1.8, 8.0),
    along=(-1.5, 1.5),
    margin=0.7,
    follows=True,
    columns=1,
    width=640,
    every=5,
    frames=201,
    pause=50,
    mark=2.0,
    words="From above, four times as fast as they swim; the return counts the way to the right, and the camera goes along when "
    "they drift up or down.",
)


def scene_of(make: str) -> Scene:
    """Return the scene of an environment, by the name of its maker."""
    return PENDULUM if make.endswith("pendulum") else SWIMMER
