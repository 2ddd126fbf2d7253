"""The tables of docs/bbob.md, from what `thalweg bench bbob` recorded.

    python benchmarks/bbob_tables.py                        # prints the tables
    python benchmarks/bbob_tables.py --table docs/bbob.md   # writes them between the markers of the page

`bbob_pack.py` makes the files. What two entrants are compared on is the pairs of seed and instance that both have run.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import inf, isnan, sqrt
from pathlib import Path
from typing import Any

from bbob_pack import AFFINE, ENTRANTS, FLOW, LARGE, LATENT, PYCMA, SIZES, dimensions, files, load, seed, sized
from sample_efficiency import markdown
from valley_study import put

from thalweg.objectives.bbob import names
from thalweg_studies.bbob.entrant import Entrant
from thalweg_studies.bbob.plan import DIMENSIONS, FUNCTIONS
from thalweg_studies.bbob.record import SOLVED, Run, rung
from thalweg_studies.bbob.runtime import Runtimes, geometric_mean, hardest
from thalweg_studies.bbob.summary import ALL, AT_ALL, FIXED, TARGETS, Row, compared

STRAIGHT = (1, 2, 5, 10, 11, 12, 13, 14)
CURVED = (8, 9)
BENT = (*CURVED, 12)
MULTIMODAL = (3, 4, *range(15, 25))
GROUPS = {
    "all": FUNCTIONS,
    "f1, f2, f5 to f14": tuple(f for f in FUNCTIONS if f not in MULTIMODAL),
    "f3, f4, f15 to f24": MULTIMODAL,
}
"""f8 and f9 have a second minimum from dimension 4 on, and still belong to the others: they have a single valley."""

HARDEST = "hardest, all"

PUBLISHED = {
    2: {1: 1.05, 2: 13.8, 7: 1.00, 8: 0.66, 9: 0.78, 10: 4.7, 11: 6.0, 12: 3.1},
    5: {1: 1.10, 2: 6.0, 7: 2.2, 8: 0.90, 9: 0.84, 10: 4.2, 11: 6.8, 12: 2.3},
    10: {1: 1.10, 2: 6.2, 7: 2.35, 8: 0.98, 9: 0.97, 10: 3.3, 11: 7.2, 12: 1.3},
}
"""aRT of the archived GNN-CMA-ES over that of the archived IPOP-CMA-ES-2019 at 1e-7, by dimension and function."""

ARCHIVE = {
    "archived GNN-CMA-ES": {2: (336, 360), 5: (292, 360), 10: (247, 360)},
    "archived IPOP-CMA-ES-2019": {2: (334, 360), 5: (278, 360), 10: (249, 360)},
}
"""Instances solved at 1e-8 and all instances, by dimension. This and `PUBLISHED` are from COCO's data archive."""

AIMS = {STRAIGHT: (1.05, 1.05), CURVED: (0.95, 0.85)}
"""The highest ratio for each of these functions, at the default population and at 10 d."""


class Study:
    """The runs, and rows of ratios made once."""

    def __init__(self, contents: Sequence[Mapping[str, Any]]) -> None:
        self.contents, self.results = contents, load(contents)
        self.rows: Callable[[Entrant, Entrant], list[Row]] = cache(lambda a, b: compared(self.results, a, b))

    def dims(self, *who: Entrant) -> list[int]:
        """Dimensions in which all of them were run."""
        return [d for d in DIMENSIONS if all((one, d, FUNCTIONS[0]) in self.results for one in who)]

    def settings(self) -> list[tuple[str, int]]:
        """Populations and dimensions in which the flow and the latent were run."""
        return [(size, d) for size in SIZES for d in self.dims(sized(FLOW, size), sized(LATENT, size))]

    def pairs(self, who: Entrant, baseline: Entrant, d: int, f: int) -> list[tuple[Run, Run]]:
        """The runs of two entrants with the same seed on the same instance."""
        own, other = (self.results[one, d, f] for one in (who, baseline))
        return [(own[key], other[key]) for key in sorted(own.keys() & other.keys())]

    def hardest(self, who: Entrant, baseline: Entrant, d: int) -> dict[int, Row]:
        """Ratios at the hardest target that both reach in all runs, or with a star at all; by function, 0 their mean."""
        own = [row for row in self.rows(who, baseline) if row.dimension == d]
        found = {row.function: row for row in own if row.rule == AT_ALL}
        return found | {row.function: row for row in own if row.rule == HARDEST}

    def mean(self, who: Entrant, baseline: Entrant, dims: Sequence[int], functions: Sequence[int]) -> str:
        """The geometric mean of those ratios over functions and dimensions, with its interval."""
        found = []
        for d in dims:
            for f in functions:
                own, other = zip(*self.pairs(who, baseline, d, f), strict=True)
                found.append(hardest(Runtimes.of(own), Runtimes.of(other), f))
        value, (low, high), _ = geometric_mean([each.ratio for each in found if each is not None])
        return f"{value:.2f} [{low:.2f}, {high:.2f}]"

    def at(self, who: Entrant, baseline: Entrant, d: int, target: float) -> dict[int, Row]:
        """Ratios at a fixed target."""
        own = (row for row in self.rows(who, baseline) if row.dimension == d and row.rule == FIXED)
        return {row.function: row for row in own if row.target == target}

    def solved(self, who: Entrant, d: int) -> set[tuple[int, tuple[int, int]]]:
        """Functions, and of each the seeds and instances, in which 1e-8 was reached."""
        i = rung(SOLVED)
        return {(f, k) for f in FUNCTIONS for k, run in self.results[who, d, f].items() if run.hits[i] < inf}

    def runs(self, who: Entrant, d: int) -> int:
        """How many runs an entrant has in a dimension."""
        return sum(len(self.results[who, d, f]) for f in FUNCTIONS)


def short(row: Row | None) -> str:
    """A ratio alone, with a star where it is at a target that not all runs reach."""
    return "-" if row is None or isnan(row.ratio) else f"{row.ratio:.2f}{'*' * (row.rule == AT_ALL)}"


def full(row: Row | None) -> str:
    """A ratio with its interval."""
    return short(row) if row is None or isnan(row.ratio) else f"{short(row)} [{row.low:.2f}, {row.high:.2f}]"


def with_target(row: Row | None) -> str:
    """A ratio with its interval, its target where that is not 1e-8, and how many runs reach it where not all do."""
    if row is None or row.function == ALL or row.target <= 1.01 * SOLVED:
        return full(row)
    counts = f" ({row.reached}, {row.baseline_reached} of {row.runs})" * (row.rule == AT_ALL)
    return f"{full(row)} at {float(f'{row.target:.1g}'):g}{counts}"


def made_table(study: Study) -> str:
    """Where and with what the runs were made."""
    lines = [["seed", "d", "machine", "versions"], ["---"] * 4]
    for content in study.contents:
        manifest = content["manifest"]
        versions = (f"{name} {version}" for name, version in manifest["versions"].items() if name != "thalweg")
        dims = ", ".join(map(str, dimensions(content)))
        lines.append([str(seed(content)), dims, manifest["machine"], ", ".join(versions)])
    return markdown(lines)


def ratio_table(study: Study, size: str) -> str:
    """Flow over latent with its interval, then affine over latent, a line for each function and one for their mean."""
    flow, latent, affine = (sized(who, size) for who in (FLOW, LATENT, AFFINE))
    dims = study.dims(flow, latent)
    lines = [["f", "", *(f"d = {d}" for d in dims)], ["---"] * (len(dims) + 2)]
    columns = [(study.hardest(flow, latent, d), study.hardest(affine, latent, d)) for d in dims]
    for f in (*FUNCTIONS, ALL):
        cells = [", ".join([with_target(own.get(f)), *([short(other.get(f))] if other else [])]) for own, other in columns]
        lines.append([f"f{f}", names[f], *cells] if f != ALL else ["all", "geometric mean", *cells])
    return markdown(lines)


def groups_table(study: Study) -> str:
    """Geometric means of the ratios over groups of functions: flow over latent, then affine over latent."""
    lines = [["N", "d", *GROUPS], ["---"] * (len(GROUPS) + 2)]
    for size, d in study.settings():
        flow, latent, affine = (sized(who, size) for who in (FLOW, LATENT, AFFINE))
        who = [flow, affine] if study.dims(affine, latent).count(d) else [flow]
        cells = (", ".join(study.mean(one, latent, [d], group) for one in who) for group in GROUPS.values())
        lines.append([SIZES[size], str(d), *cells])
    return markdown(lines)


def restarts_table(study: Study) -> str:
    """Runs on f8 and f9 that had to begin again, and the ratio of those where neither had to."""
    head = ["N", "d", "f", "restarted: `gnn-cma`, `cma`", "all pairs", "pairs without restarts"]
    lines = [head, ["---"] * len(head)]
    for size, d in study.settings():
        for f in CURVED:
            pairs = study.pairs(sized(FLOW, size), sized(LATENT, size), d, f)
            smooth = [pair for pair in pairs if not any(run.restarts for run in pair)]
            if len(smooth) == len(pairs):
                continue
            counts = ", ".join(str(sum(run.restarts > 0 for run in runs)) for runs in zip(*pairs, strict=True))
            shown = [hardest(*map(Runtimes.of, zip(*both, strict=True)), f) for both in (pairs, smooth)]
            cells = [
                f"{each.ratio.value:.2f} [{each.ratio.interval[0]:.2f}, {each.ratio.interval[1]:.2f}] ({len(both)})"
                for each, both in zip(shown, (pairs, smooth), strict=True)
                if each
            ]
            lines.append([SIZES[size], str(d), f"f{f}", counts, *cells])
    return markdown(lines)


def wilson(successes: int, n: int) -> tuple[float, float]:
    """The 95% interval of a share (E. B. Wilson, 1927), as shares.

    >>> [round(end, 3) for end in wilson(5, 10)]
    [0.237, 0.763]
    """
    z, p = 1.959964, successes / n
    middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def share(successes: int, n: int) -> str:
    """A count for people."""
    low, high = wilson(successes, n)
    return f"{successes} of {n}: {successes / n:.0%} [{low:.0%}, {high:.0%}]"


def bend_table(study: Study) -> str:
    """Flow over affine, where there is a curve to follow, and over all functions with one valley."""
    group = "f1, f2, f5 to f14"
    head = ["N", "d", *(f"f{f}" for f in BENT), group]
    lines = [head, ["---"] * len(head)]
    for size, d in study.settings():
        flow, affine = (sized(who, size) for who in (FLOW, AFFINE))
        rows = study.hardest(flow, affine, d)
        lines.append([SIZES[size], str(d), *(with_target(rows[f]) for f in BENT), study.mean(flow, affine, [d], GROUPS[group])])
    return markdown(lines)


def solved_table(study: Study) -> str:
    """Runs solved by every entrant, and by the archived ones."""
    dims = sorted({d for _, d in study.settings()})
    lines = [["", *(f"d = {d}" for d in dims)], ["---"] * (len(dims) + 1)]
    for who in ENTRANTS:
        own = study.dims(who)
        counts = {d: (len(study.solved(who, d)), study.runs(who, d)) for d in own}
        lines.append([f"`{who.label}`", *(share(*counts[d]) if d in counts else "-" for d in dims)])
    for name, counts in ARCHIVE.items():
        lines.append([name, *(share(*counts[d]) if d in counts else "-" for d in dims)])
    return markdown(lines)


def apart_table(study: Study) -> str:
    """Seeds and instances that one of flow and latent solves and the other does not."""
    head = ["N", "d", "only `gnn-cma`", "only `cma`", "on functions"]
    lines = [head, ["---"] * len(head)]
    for size, d in study.settings():
        flow, latent = (study.solved(sized(who, size), d) for who in (FLOW, LATENT))
        where = sorted({f for f, _ in flow ^ latent})
        shown = ", ".join(f"f{f} {_count(flow - latent, f)}:{_count(latent - flow, f)}" for f in where)
        lines.append([SIZES[size], str(d), str(len(flow - latent)), str(len(latent - flow)), shown])
    return markdown(lines)


def _count(pairs: set[tuple[int, tuple[int, int]]], f: int) -> int:
    return sum(function == f for function, _ in pairs)


def published_table(study: Study) -> str:
    """The published loss or gain, and ours at both populations, at 1e-7."""
    lines = [["f", "", *(f"d = {d}" for d in PUBLISHED)], ["---"] * (len(PUBLISHED) + 2)]
    for f in PUBLISHED[2]:
        cells = []
        for d, published in PUBLISHED.items():
            own = (study.at(sized(FLOW, size), sized(LATENT, size), d, TARGETS[-1])[f] for size in SIZES)
            cells.append(f"{published[f]:.3g}: " + ", ".join(map(full, own)))
        lines.append([f"f{f}", names[f], *cells])
    return markdown(lines)


def pycma_table(study: Study) -> str:
    """Our `cma` over pycma: geometric means, the functions whose interval leaves out 1, and how far apart functions are."""
    dims = study.dims(LATENT, PYCMA)
    head = ["d", "1e-3", "1e-7", HARDEST, "intervals below 1", "above 1", "ratios above 1.15", "below 1 / 1.15"]
    lines = [head, ["---"] * len(head)]
    for d in dims:
        fixed = [study.at(LATENT, PYCMA, d, target)[ALL] for target in (1e-3, 1e-7)]
        own = study.hardest(LATENT, PYCMA, d)
        order = sorted(FUNCTIONS, key=lambda f: own[f].ratio)
        apart = [sum(own[f].ratio > 1.15 for f in order), sum(own[f].ratio < 1 / 1.15 for f in order)]
        far = [f"{n}: to {own[f].ratio:.2f} (f{f})" for n, f in zip(apart, (order[-1], order[0]), strict=True)]
        lines.append([str(d), *(f"{full(row)} ({row.runs})" for row in fixed), full(own[ALL]), *outside(own), *far])
    lines.append(["both", "", "", study.mean(LATENT, PYCMA, dims, FUNCTIONS), "", "", "", ""])
    return markdown(lines)


def outside(rows: Mapping[int, Row]) -> tuple[str, str]:
    """Functions whose interval is below 1, and above."""
    below = [f for f in FUNCTIONS if f in rows and rows[f].high < 1]
    above = [f for f in FUNCTIONS if f in rows and rows[f].low > 1]
    lists = (f"{len(found)}: {', '.join(f'f{f}' for f in found)}" if found else "0" for found in (below, above))
    return next(lists), next(lists)


def outside_table(study: Study) -> str:
    """Where the intervals of flow over latent, and of affine over latent, leave out 1."""
    head = ["N", "d", "`gnn-cma` below 1", "above 1", "`affine` below 1", "above 1"]
    lines = [head, ["---"] * len(head)]
    for size, d in study.settings():
        latent = sized(LATENT, size)
        both = [study.hardest(sized(who, size), latent, d) for who in (FLOW, AFFINE)]
        lines.append([SIZES[size], str(d), *(text for rows in both for text in (outside(rows) if rows else ("-", "-")))])
    for name, group in GROUPS.items():
        settings = [(who, size, d) for who in (FLOW, AFFINE) for size, d in study.settings()]
        counts = {who: [0, 0, 0] for who in (FLOW, AFFINE)}
        for who, size, d in settings:
            rows = study.hardest(sized(who, size), sized(LATENT, size), d)
            for f in group if rows else ():
                found = (rows[f].high < 1, rows[f].low > 1, True)
                counts[who] = [a + b for a, b in zip(counts[who], found, strict=True)]
        cells = (f"{number} of {own[2]}" for own in counts.values() for number in own[:2])
        lines.append(["any", name, *cells])
    return markdown(lines)


def aims_table(study: Study) -> str:
    """What we aimed at beside what was measured, setting by setting."""
    settings = study.settings()
    lines = [
        ["N", "d", "f1, f2, f5, f10 to f14: highest", "f8", "f9", "all: highest", "geometric mean", "solved: flow, latent"]
    ]
    lines.append(["---"] * len(lines[0]))
    for size, d in settings:
        flow, latent, large = sized(FLOW, size), sized(LATENT, size), size == LARGE
        rows = study.hardest(flow, latent, d)
        straight, curved = (AIMS[which][large] for which in (STRAIGHT, CURVED))
        worst, all_worst = (max(which, key=lambda f: rows[f].ratio) for which in (STRAIGHT, FUNCTIONS))
        counts = [len(study.solved(who, d)) for who in (flow, latent)]
        cells = [f"f{worst} {verdict(rows[worst].ratio, straight)}", *(verdict(rows[f].ratio, curved) for f in CURVED)]
        cells.append(f"f{all_worst} {verdict(rows[all_worst].ratio, 1.15)}")
        cells.append(f"{rows[ALL].ratio:.3f}" if large else verdict(rows[ALL].ratio, 0.95))
        lines.append(
            [
                SIZES[size],
                str(d),
                *cells,
                f"{counts[0]}, {counts[1]} of {study.runs(flow, d)}{' missed' * (counts[0] < counts[1])}",
            ]
        )
    return markdown(lines)


def verdict(ratio: float, most: float) -> str:
    """A ratio beside what it was to be at most."""
    return f"{ratio:.3f} {'of' if ratio <= most else 'missed'} {most}"


TABLES: dict[str, Callable[[Study], str]] = {
    "bbob_made": made_table,
    "bbob_ratios": lambda study: ratio_table(study, ""),
    "bbob_ratios_10d": lambda study: ratio_table(study, LARGE),
    "bbob_groups": groups_table,
    "bbob_bend": bend_table,
    "bbob_solved": solved_table,
    "bbob_apart": apart_table,
    "bbob_published": published_table,
    "bbob_pycma": pycma_table,
    "bbob_outside": outside_table,
    "bbob_aims": aims_table,
    "bbob_restarts": restarts_table,
}
"""By the name of their markers."""


def main() -> None:
    own = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    own.add_argument("--table", type=Path, metavar="PAGE", help="write the tables between the markers of this page")
    options = own.parse_args()
    study = Study(files())
    for name, table in TABLES.items():
        if options.table:
            put(options.table, name, table(study))
        else:
            print(f"{name}\n\n{table(study)}\n")


if __name__ == "__main__":
    main()
