"""The tables of docs/bbob.md, from what `thalweg bench bbob` recorded.

    python studies/benchmarks/bbob_tables.py                        # prints the tables
    python studies/benchmarks/bbob_tables.py --table docs/bbob.md   # writes them between the markers of the page

`bbob_pack.py` makes the files. Two entrants are compared on the pairs of seed and instance that both have run.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from bbob_pack import AFFINE, ENTRANTS, FLOW, LARGE, LATENT, PYCMA, SIZES, dimensions, files, seed, with_population
from bbob_study import HARDEST, Study, full, share, short, verdict, with_target
from shared import make_parser, markdown, write_between

from thalweg_studies.bbob.comparison import MULTIMODAL, ONE_VALLEY
from thalweg_studies.bbob.functions import names
from thalweg_studies.bbob.plan import FUNCTIONS
from thalweg_studies.bbob.runtime import Runtimes, hardest
from thalweg_studies.bbob.summary import ALL, TARGETS, Row

STRAIGHT = (1, 2, 5, 10, 11, 12, 13, 14)
CURVED = (8, 9)
BENT = (*CURVED, 12)
GROUPS = {
    "all": FUNCTIONS,
    "f1, f2, f5 to f14": ONE_VALLEY,
    "f3, f4, f15 to f24": MULTIMODAL,
}
"""Groups of functions. f8 and f9 have a second minimum from dimension 4 on, but a single valley: they count as unimodal."""

PUBLISHED = {
    2: {1: 1.05, 2: 13.8, 7: 1.00, 8: 0.66, 9: 0.78, 10: 4.7, 11: 6.0, 12: 3.1},
    5: {1: 1.10, 2: 6.0, 7: 2.2, 8: 0.90, 9: 0.84, 10: 4.2, 11: 6.8, 12: 2.3},
    10: {1: 1.10, 2: 6.2, 7: 2.35, 8: 0.98, 9: 0.97, 10: 3.3, 11: 7.2, 12: 1.3},
}
"""aRT of the archived GNN-CMA-ES over that of the archived IPOP-CMA-ES-2019 at 1e-7 in COCO's data archive."""

ARCHIVE = {
    "archived GNN-CMA-ES": {2: (336, 360), 5: (292, 360), 10: (247, 360)},
    "archived IPOP-CMA-ES-2019": {2: (334, 360), 5: (278, 360), 10: (249, 360)},
}
"""Instances solved at 1e-8 and all instances in COCO's data archive, by dimension."""

AIMS = {STRAIGHT: (1.05, 1.05), CURVED: (0.95, 0.85)}
"""Largest ratio aimed at for each of these functions, at the default population and at 10 d."""


def made_table(study: Study) -> str:
    """Return the machines and versions of the runs."""
    lines: list[list[str]] = []
    for content in study.contents:
        manifest = content["manifest"]
        versions = (f"{name} {version}" for name, version in manifest["versions"].items() if name != "thalweg")
        dims = ", ".join(map(str, dimensions(content)))
        lines.append([str(seed(content)), dims, manifest["machine"], ", ".join(versions)])
    return markdown(["seed", "d", "machine", "versions"], lines)


def ratio_table(study: Study, size: str) -> str:
    """Return flow over latent with its interval, then affine over latent: a line for each function and one for their mean."""
    flow, latent, affine = (with_population(who, size) for who in (FLOW, LATENT, AFFINE))
    dims = study.dims(flow, latent)
    head, lines = ["f", "", *(f"d = {d}" for d in dims)], []
    columns = [(study.hardest(flow, latent, d), study.hardest(affine, latent, d)) for d in dims]
    for f in (*FUNCTIONS, ALL):
        cells = [", ".join([with_target(own.get(f)), *([short(other.get(f))] if other else [])]) for own, other in columns]
        lines.append([f"f{f}", names[f], *cells] if f != ALL else ["all", "geometric mean", *cells])
    return markdown(head, lines)


def groups_table(study: Study) -> str:
    """Return geometric means of the ratios over groups of functions: flow over latent, then affine over latent."""
    head, lines = ["N", "d", *GROUPS], []
    for size, d in study.settings():
        flow, latent, affine = (with_population(who, size) for who in (FLOW, LATENT, AFFINE))
        who = [flow, affine] if study.dims(affine, latent).count(d) else [flow]
        cells = (", ".join(study.mean(one, latent, [d], group) for one in who) for group in GROUPS.values())
        lines.append([SIZES[size], str(d), *cells])
    return markdown(head, lines)


def restarts_table(study: Study) -> str:
    """Return the numbers of runs on f8 and f9 with restarts, and the ratios over all pairs and over pairs without restarts."""
    head = ["N", "d", "f", "restarted: `gnn-cma`, `cma`", "all pairs", "pairs without restarts"]
    lines: list[list[str]] = []
    for size, d in study.settings():
        for f in CURVED:
            pairs = study.pairs(with_population(FLOW, size), with_population(LATENT, size), d, f)
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
    return markdown(head, lines)


def bend_table(study: Study) -> str:
    """Return flow over affine for the functions with a curved valley, and the mean over all unimodal functions."""
    group = "f1, f2, f5 to f14"
    head = ["N", "d", *(f"f{f}" for f in BENT), group]
    lines: list[list[str]] = []
    for size, d in study.settings():
        flow, affine = (with_population(who, size) for who in (FLOW, AFFINE))
        rows = study.hardest(flow, affine, d)
        lines.append([SIZES[size], str(d), *(with_target(rows[f]) for f in BENT), study.mean(flow, affine, [d], GROUPS[group])])
    return markdown(head, lines)


def solved_table(study: Study) -> str:
    """Return the runs solved by every entrant, and by the archived ones."""
    dims = sorted({d for _, d in study.settings()})
    head, lines = ["", *(f"d = {d}" for d in dims)], []
    for who in ENTRANTS:
        own = study.dims(who)
        counts = {d: (len(study.solved(who, d)), study.runs(who, d)) for d in own}
        lines.append([f"`{who.label}`", *(share(*counts[d]) if d in counts else "-" for d in dims)])
    for name, counts in ARCHIVE.items():
        lines.append([name, *(share(*counts[d]) if d in counts else "-" for d in dims)])
    return markdown(head, lines)


def apart_table(study: Study) -> str:
    """Return the numbers of seeds and instances that only one of flow and latent solves."""
    head = ["N", "d", "only `gnn-cma`", "only `cma`", "on functions"]
    lines: list[list[str]] = []
    for size, d in study.settings():
        flow, latent = (study.solved(with_population(who, size), d) for who in (FLOW, LATENT))
        where = sorted({f for f, _ in flow ^ latent})
        shown = ", ".join(f"f{f} {_count(flow - latent, f)}:{_count(latent - flow, f)}" for f in where)
        lines.append([SIZES[size], str(d), str(len(flow - latent)), str(len(latent - flow)), shown])
    return markdown(head, lines)


def _count(pairs: set[tuple[int, tuple[int, int]]], f: int) -> int:
    return sum(function == f for function, _ in pairs)


def published_table(study: Study) -> str:
    """Return the published ratios and ours at both populations, at 1e-7."""
    head, lines = ["f", "", *(f"d = {d}" for d in PUBLISHED)], []
    for f in PUBLISHED[2]:
        cells = []
        for d, published in PUBLISHED.items():
            own = (study.at(with_population(FLOW, size), with_population(LATENT, size), d, TARGETS[-1])[f] for size in SIZES)
            cells.append(f"{published[f]:.3g}: " + ", ".join(map(full, own)))
        lines.append([f"f{f}", names[f], *cells])
    return markdown(head, lines)


def pycma_table(study: Study) -> str:
    """Return our `cma` over pycma: geometric means, functions whose interval leaves out 1, and the extreme functions."""
    dims = study.dims(LATENT, PYCMA)
    head = ["d", "1e-3", "1e-7", HARDEST, "intervals below 1", "above 1", "ratios above 1.15", "below 1 / 1.15"]
    lines: list[list[str]] = []
    for d in dims:
        fixed = [study.at(LATENT, PYCMA, d, target)[ALL] for target in (1e-3, 1e-7)]
        own = study.hardest(LATENT, PYCMA, d)
        order = sorted(FUNCTIONS, key=lambda f: own[f].ratio)
        apart = [sum(own[f].ratio > 1.15 for f in order), sum(own[f].ratio < 1 / 1.15 for f in order)]
        far = [f"{n}: to {own[f].ratio:.2f} (f{f})" for n, f in zip(apart, (order[-1], order[0]), strict=True)]
        lines.append([str(d), *(f"{full(row)} ({row.runs})" for row in fixed), full(own[ALL]), *outside(own), *far])
    lines.append(["both", "", "", study.mean(LATENT, PYCMA, dims, FUNCTIONS), "", "", "", ""])
    return markdown(head, lines)


def outside(rows: Mapping[int, Row]) -> tuple[str, str]:
    """Format the functions whose interval is below 1, and those whose interval is above."""
    below = [f for f in FUNCTIONS if f in rows and rows[f].high < 1]
    above = [f for f in FUNCTIONS if f in rows and rows[f].low > 1]
    lists = (f"{len(found)}: {', '.join(f'f{f}' for f in found)}" if found else "0" for found in (below, above))
    return next(lists), next(lists)


def outside_table(study: Study) -> str:
    """Return the functions where the interval of flow over latent, or of affine over latent, leaves out 1."""
    head = ["N", "d", "`gnn-cma` below 1", "above 1", "`affine` below 1", "above 1"]
    lines: list[list[str]] = []
    for size, d in study.settings():
        latent = with_population(LATENT, size)
        both = [study.hardest(with_population(who, size), latent, d) for who in (FLOW, AFFINE)]
        lines.append([SIZES[size], str(d), *(text for rows in both for text in (outside(rows) if rows else ("-", "-")))])
    for name, group in GROUPS.items():
        settings = [(who, size, d) for who in (FLOW, AFFINE) for size, d in study.settings()]
        counts = {who: [0, 0, 0] for who in (FLOW, AFFINE)}
        for who, size, d in settings:
            rows = study.hardest(with_population(who, size), with_population(LATENT, size), d)
            for f in group if rows else ():
                found = (rows[f].high < 1, rows[f].low > 1, True)
                counts[who] = [a + b for a, b in zip(counts[who], found, strict=True)]
        cells = (f"{number} of {own[2]}" for own in counts.values() for number in own[:2])
        lines.append(["any", name, *cells])
    return markdown(head, lines)


def aims_table(study: Study) -> str:
    """Return the measured ratios beside the aims, setting by setting."""
    settings = study.settings()
    straight_functions = "f1, f2, f5, f10 to f14: highest"
    head = ["N", "d", straight_functions, "f8", "f9", "all: highest", "geometric mean", "solved: flow, latent"]
    lines: list[list[str]] = []
    for size, d in settings:
        flow, latent, large = with_population(FLOW, size), with_population(LATENT, size), size == LARGE
        rows = study.hardest(flow, latent, d)
        straight, curved = (AIMS[which][large] for which in (STRAIGHT, CURVED))
        worst, all_worst = (max(which, key=lambda f: rows[f].ratio) for which in (STRAIGHT, FUNCTIONS))
        counts = [len(study.solved(who, d)) for who in (flow, latent)]
        cells = [f"f{worst} {verdict(rows[worst].ratio, straight)}", *(verdict(rows[f].ratio, curved) for f in CURVED)]
        cells.append(f"f{all_worst} {verdict(rows[all_worst].ratio, 1.15)}")
        cells.append(f"{rows[ALL].ratio:.3f}" if large else verdict(rows[ALL].ratio, 0.95))
        solved = f"{counts[0]}, {counts[1]} of {study.runs(flow, d)}{' missed' * (counts[0] < counts[1])}"
        lines.append([SIZES[size], str(d), *cells, solved])
    return markdown(head, lines)


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
"""Tables by the name of their markers in the page."""


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--table", type=Path, metavar="PAGE", help="write the tables between the markers of PAGE")
    options = parser.parse_args()
    study = Study(files())
    for name, table in TABLES.items():
        if options.table:
            write_between(options.table, name, table(study))
        else:
            print(f"{name}\n\n{table(study)}\n")


if __name__ == "__main__":
    main()
