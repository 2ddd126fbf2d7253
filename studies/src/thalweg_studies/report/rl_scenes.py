"""How the environments of policy search are filmed."""

from typing import NamedTuple


class Scene(NamedTuple):
    """How an environment is seen: by a camera at rest and without perspective, the same for all, so that panels compare."""

    elevation: float
    """Of the camera, in degrees."""
    up: int
    """The coordinate that points upwards in the picture; x points to the right."""
    across: tuple[float, float]
    """From which to which x one sees at least; further where a body gets there."""
    along: tuple[float, float]
    """The same upwards, there about the body's middle if the camera follows."""
    margin: float
    """Around the middles of a body's parts."""
    follows: bool
    """Whether the camera moves upwards and downwards in the picture with the body, which may drift that way."""
    columns: int
    """Panels beside each other at most."""
    width: int
    """Of a panel, in pixels."""
    every: int
    """Steps from frame to frame."""
    frames: int
    pause: int
    """Milliseconds from frame to frame."""
    mark: float | None
    """Lengths after which a line is drawn across."""
    words: str
    """What readers must know of it."""


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
    """How an environment of that name is seen."""
    return PENDULUM if make.endswith("pendulum") else SWIMMER
