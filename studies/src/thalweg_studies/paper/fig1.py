"""Figure 1 of the paper: a Gaussian search distribution in a curved valley shrinks until the valley experiments straight."""

import numpy as np

from thalweg_studies.common import statistics
from thalweg_studies.common.verdict import AGREES, DIFFERS, UNCLEAR, Verdict
from thalweg_studies.paper.distributions import FEW, UNBENT, SearchDistributions
from thalweg_studies.paper.trajectory import DistributionTrajectory

ONE_SIGMA = float(-np.expm1(-0.5))
"""The share of a Gaussian in the plane inside the isoline of one standard deviation, 39%."""

STRAIGHT = 0.8
"""The x_1 at which the straight part of the valley begins: from there to the minimum at x_1 = 1 it turns by 5 degrees."""

FULL = SearchDistributions(
    "fig1",
    ("rosenbrock", UNBENT.name),
    {2: 60},
    algorithms=("xNES",),
    x0=(-1.2, 1.0),
    masses=(ONE_SIGMA,),
    limits=((-2.6, 1.7), (-0.9, 3.1)),
)
QUICK = FULL


def arrivals(trajectory: DistributionTrajectory) -> np.ndarray:
    """Return the iteration at which the mean of each run enters the straight part of the valley; the last if it never does.

    >>> mean = np.array([[[-1.0, 1.0], [0.5, 0.25], [0.85, 0.7], [0.9, 0.8]]])
    >>> arrivals(DistributionTrajectory(None, None, mean, None, None, None)).tolist()
    [2]
    """
    there = np.asarray(trajectory.mean)[..., 0] >= STRAIGHT
    return np.where(there.any(-1), there.argmax(-1), there.shape[-1] - 1)


def drops(trajectory: DistributionTrajectory) -> np.ndarray:
    """Return the entropy of each run at the start minus that on arrival, in nats."""
    return trajectory.entropy[:, 0] - np.take_along_axis(trajectory.entropy, arrivals(trajectory)[:, None], 1)[:, 0]


def caption(trajectory: DistributionTrajectory) -> str:
    """Describe the figure in numbers."""
    end = int(arrivals(trajectory)[0])
    entropy = trajectory.entropy[0]
    there = trajectory.mean[0, end, 0] >= STRAIGHT
    place = f"reaches the straight part of the valley (mean at x1 >= {STRAIGHT:g}) after"
    when = f"{place if there else 'is shown for'} {end}"
    return (
        f"The isolines of one standard deviation of xNES, every iteration from the start (pale) on; the run {when} iterations. "
        f"Until then its entropy falls from {entropy[0]:.1f} to {entropy[end]:.1f} nats: the area inside the isoline shrinks "
        f"{np.exp(entropy[0] - entropy[end]):,.0f} times."
    )


def verdicts(curved: DistributionTrajectory, straight: DistributionTrajectory) -> list[Verdict]:
    """Judge over all runs whether the entropy falls more until arrival than in a straight valley.

    A run that comes closer to the minimum shrinks in any valley, so the fall alone would say nothing about the bend.
    """
    fallen, control = drops(curved), drops(straight)
    few, low, high = len(fallen) < FEW, *statistics.mean_interval(fallen - control)
    there = int(np.sum(curved.mean[np.arange(len(fallen)), arrivals(curved), 0] >= STRAIGHT))
    falls = [f"{each.mean():.1f} [{{:.1f}}, {{:.1f}}]".format(*statistics.mean_interval(each)) for each in (fallen, control)]
    return [
        Verdict(
            "Figure 1, xNES in a curved valley",
            "drastically reduces its entropy, until the valley looks locally straight",
            f"falls by {falls[0]} nats until the straight part, which {there} of {len(fallen)} runs reach; by {falls[1]} in "
            f"the same valley unbent; {np.mean(fallen - control):.1f} [{low:.1f}, {high:.1f}] more",
            UNCLEAR if few else AGREES if low > 0 else DIFFERS if high < 0 else UNCLEAR,
            f"fewer than {FEW} runs" if few else "",
        )
    ]


REMARK = (
    "The paper: a Gaussian cannot curve and will drastically reduce its entropy, until the curved valley looks locally "
    "straight. A run that comes closer to a minimum shrinks anyway; so the same runs were made on the function of "
    f"(x1, x2 - x1^2), in which the same valley is straight, up to the same x1 >= {STRAIGHT:g}."
)
