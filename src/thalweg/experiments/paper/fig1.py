"""Figure 1 of the paper: a Gaussian search distribution in a curved valley shrinks until the valley looks straight."""

import numpy as np

from thalweg.experiments.paper.course import Course
from thalweg.experiments.paper.look import Look

ONE_SIGMA = float(-np.expm1(-0.5))
"""The part of a Gaussian in the plane inside the isoline of one standard deviation, 39%."""

STRAIGHT = 0.8
"""Where the straight part of the valley begins: beyond this x_1 it turns by only 5 degrees until the minimum at x_1 = 1."""

FULL = Look(
    "fig1",
    ("rosenbrock",),
    {2: 60},
    marks={},
    arms=("xNES",),
    x0=(-1.2, 1.0),
    masses=(ONE_SIGMA,),
    limits=((-2.6, 1.7), (-0.9, 3.1)),
)
QUICK = FULL
SEEDS = QUICK_SEEDS = 1


def arrival(course: Course) -> int:
    """After how many iterations the mean of the first run is in the straight part of the valley; the last if it never is.

    >>> mean = np.array([[[-1.0, 1.0], [0.5, 0.25], [0.85, 0.7], [0.9, 0.8]]])
    >>> arrival(Course(None, None, None, mean, None))
    2
    """
    there = np.asarray(course.mean)[0, :, 0] >= STRAIGHT
    return int(np.argmax(there)) if there.any() else len(there) - 1


def caption(course: Course) -> str:
    """What the picture shows, in numbers."""
    end = arrival(course)
    entropy = np.asarray(course.entropy)[0]
    there = course.mean[0, end, 0] >= STRAIGHT
    place = f"reaches the straight part of the valley (mean at x1 >= {STRAIGHT:g}) after"
    when = f"{place if there else 'is shown for'} {end}"
    return (
        f"The isolines of one standard deviation of xNES, every iteration from the start (pale) on; the run {when} iterations. "
        f"Until then its entropy falls from {entropy[0]:.1f} to {entropy[end]:.1f} nats: the area inside the isoline shrinks "
        f"{np.exp(entropy[0] - entropy[end]):,.0f} times. The paper: a Gaussian cannot curve and will drastically reduce "
        "its entropy, until the curved valley looks locally straight."
    )
