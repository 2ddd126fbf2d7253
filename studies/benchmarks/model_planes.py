"""Would further bends help the model? The share of f that it leaves unexplained, with the bow, and with more terms.

    python studies/benchmarks/model_planes.py     # some minutes; prints the table of docs/model.md

At several moments of a search with `model="quadratic"` (development landscapes) 3,000 points are drawn from the present search
distribution and evaluated outside the search. On two thirds of them f is fitted by least squares in standard coordinates: a
quadratic, then with the columns that another bow, a bow along the second axis, a bow by the product of both, or a cubic curve
would add. On the last third the squared error is measured. No search could fit so many terms from its few points: these are
bounds on what more bends could gain.
"""

from collections.abc import Iterator
from typing import cast

import numpy as np
from model_landscapes import landscape
from shared import deliver, make_parser, markdown

import thalweg
from thalweg.models.features import quadratic_features
from thalweg.strategies.gnnes import GNNState

FUNCTIONS = ("banana-1e2", "banana-1e4", "bent-cigar")
TERMS = ("quadratic", "+ bow", "+ bow of the second axis", "+ bow of the product", "+ cubic curve", "all of these")
DRAWN = 3000


def moments(function: str, d: int, seed: int) -> Iterator[thalweg.Optimizer]:
    """Yield a search after 1.5 d^2 evaluations, and then whenever it has made 1.5 times as many."""
    f, report = landscape(function, d, seed), 1.5 * d**2
    es = thalweg.Optimizer(np.zeros(d), 1.0, model="quadratic", seed=seed, ftarget=1e-8)
    while not es.stop():
        x = es.ask()
        es.tell(x, [f(each) for each in x])
        if es.nfev >= report:
            report *= 1.5
            yield es


def unexplained(es: thalweg.Optimizer, function: str, seed: int) -> list[float]:
    """Return the share of the variance of f that each set of terms leaves, with the weights of good points larger."""
    d, n, rng = es.d, es.popsize, np.random.default_rng(seed)
    frame = cast("GNNState", es.state).flow.valley.frame  # pyright: ignore[reportOptionalMemberAccess]
    e = rng.standard_normal((DRAWN // n * n, d))
    places = [es.run.steps.place(es.run.packed, part) for part in np.split(e, len(e) // n)]
    f = np.array([landscape(function, d, seed)(x) for x in np.concatenate(places)])
    above = (f - f.min()) / np.median(f - f.min())
    weight = 1 / (1 + above)
    v = np.asarray(frame.axis)
    second = np.linalg.svd(np.asarray(frame.frame.scale))[2][1]
    across = e @ np.linalg.svd(np.eye(d) - np.outer(v, v))[0][:, : d - 1]
    s, t = (e @ v)[:, None], (e @ second)[:, None]
    bow, other, product, cubic = s**2 * across, t**2 * across, s * t * across, s**3 * across
    further = ([], [bow], [bow, other], [bow, product], [bow, cubic], [bow, other, product, cubic])
    learned, shares = 2 * len(e) // 3, []
    for columns in further:
        rows = np.concatenate([quadratic_features(e), *columns], axis=1) * weight[:, None]
        targets = above * weight
        coefficients = np.linalg.lstsq(rows[:learned], targets[:learned])[0]
        left = targets[learned:] - rows[learned:] @ coefficients
        shares.append(float(np.mean(left**2) / np.var(targets[learned:])))
    return shares


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--dims", type=int, nargs="+", default=[5, 10], help="dimensions (default: 5 10)")
    parser.add_argument("--number", type=int, default=5, help="number of landscapes (default: 5)")
    parser.add_argument("--table", metavar="PAGE", help="page to write the table into, instead of printing it")
    options = parser.parse_args()
    lines: list[list[str]] = []
    for function in FUNCTIONS:
        for d in options.dims:
            found = [unexplained(es, function, s) for s in range(options.number) for es in moments(function, d, s)]
            ratios = np.array(found) / np.array(found)[:, 1:2]  # to the bow alone
            middle = [f"{np.exp(np.mean(np.log(column))):.2f}" for column in ratios.T]
            lines.append([function.replace("-", " "), str(d), str(len(found)), *middle])
    deliver(markdown(["function", "d", "moments", *TERMS], lines), options.table, "model_planes")


if __name__ == "__main__":
    main()
