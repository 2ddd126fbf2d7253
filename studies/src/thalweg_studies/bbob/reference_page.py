"""The page that sets a benchmark beside archived runtimes, and the folder of its files, which git ignores."""

from collections.abc import Sequence
from math import inf, isnan
from pathlib import Path

from thalweg.storage.atomic import write_text
from thalweg_studies.bbob.comparison import GROUPS, Algorithm, Cell, Comparison, Mean, is_ratio
from thalweg_studies.bbob.functions import names
from thalweg_studies.bbob.record import LADDER
from thalweg_studies.bbob.reference_figures import draw_functions, draw_groups, draw_profiles
from thalweg_studies.bbob.report import runtime_text
from thalweg_studies.report.files import save_figure
from thalweg_studies.report.page import Block, Bullets, Heading, Paragraph, Picture, Table, as_markdown

FOLDER = "reference"
"""The folder in the results folder; its own .gitignore keeps what others published out of a repository."""


def write_comparison(comparison: Comparison, source: str, out: Path) -> list[Path]:
    """Write page, table and figures into the folder `reference` of a results folder; return the path of the page."""
    folder = out / FOLDER
    write_text(folder / ".gitignore", "*\n")
    figures: list[Picture] = []
    drawings = (("groups", draw_groups), ("profiles", draw_profiles), ("functions", draw_functions))
    for name, draw in drawings:
        if name != "groups" or comparison.baseline is not None:
            figure, alt = draw(comparison)
            figures.append(Picture(save_figure(figure, folder / name)[0], alt))
    write_text(folder / "reference.csv", as_csv(comparison))
    page = folder / "reference.md"
    write_text(page, as_markdown(reference_page(comparison, source, figures)))
    return [page]


def reference_page(comparison: Comparison, source: str, figures: Sequence[Picture] = ()) -> list[Block]:
    """Return the page: geometric means over groups of functions, figures, and a table of runtimes for each dimension."""
    others = [who.name for who in comparison.algorithms if who.is_archived]
    blocks: list[Block] = [
        Heading("BBOB beside archived runtimes", 1),
        Paragraph(f"Archived are {', '.join(others)}, from {source}; all other columns were run."),
        Bullets(_reading(comparison)),
    ]
    if comparison.baseline is not None:
        blocks += [Heading("Geometric means"), *_means(comparison, comparison.baseline)]
    if figures:
        blocks.append(Heading("Figures"))
        for figure in figures:
            blocks += [figure, Paragraph(figure.alt)]
    for d in comparison.dimensions:
        blocks += [Heading(f"d = {d}"), _runtimes(comparison, d)]
    return blocks


def _reading(comparison: Comparison) -> list[str]:
    lines = [
        "The average runtime (aRT) is the number of evaluations of all runs until f - f_opt is at or below 1e-7, or until "
        "their end, divided by the number of runs that reached it; `-` if none did, empty if the file has no such number.",
        "Archived runs have other instances, starts and budgets than ours: a difference of a few per cent means nothing.",
    ]
    if comparison.baseline is None:
        return [*lines, "The file has no CMA-ES of pycma, so there are no ratios."]
    return [
        *lines,
        f"Ratios are over the archived {comparison.baseline.name}: below 1 fewer evaluations. In brackets the 95% bootstrap "
        "interval over our instances; archived runtimes count as exact.",
    ]


def _means(comparison: Comparison, baseline: Algorithm) -> list[Block]:
    """Return the tables of means: each algorithm against the baseline, then over functions on which all have a runtime."""
    shown = [who for who in comparison.algorithms if who is not baseline]
    head = ("functions", "d", *(who.name for who in shown))
    pairs: list[list[str]] = []
    shared: list[list[str]] = []
    for group, functions in GROUPS.items():
        for d in comparison.dimensions:
            run, common = comparison.functions(d, functions), comparison.shared(d, functions)
            if not run:
                continue
            pairs.append([group, str(d), *(mean_text(comparison.mean(who, d, run), len(run)) for who in shown)])
            means = [mean_text(comparison.mean(who, d, common), len(common)) for who in shown]
            shared.append([f"{group}: {len(common)} of {len(run)}", str(d), *means])
    return [
        Paragraph(
            f"aRT to 1e-7 over that of {baseline.name}, geometric mean over the functions of a group. A function without "
            "a runtime of the algorithm or of the baseline (no run reached the target) is left out for both; the count says "
            "how many are in the mean where some are not."
        ),
        Table(head, pairs),
        Paragraph("The same over the functions on which all algorithms here have a runtime, so that columns can be compared:"),
        Table(head, shared),
    ]


def mean_text(mean: Mean, count: int) -> str:
    """Format a mean with its interval, and the number of functions in it where it is not all of them.

    >>> mean_text(Mean(0.3031, (0.28, 0.33), (1, 2)), 3)
    '0.30 [0.28, 0.33] (2 of 3)'
    """
    if not mean.functions:
        return "-"
    ends = "" if isnan(mean.interval[0]) else f" [{mean.interval[0]:.2f}, {mean.interval[1]:.2f}]"
    return f"{mean.value:.2f}{ends}" + f" ({len(mean.functions)} of {count})" * (len(mean.functions) < count)


def _runtimes(comparison: Comparison, d: int) -> Table:
    """Return the table of runtimes, ratios and solved runs in one dimension."""
    head = ["f", ""]
    lines = [[f"f{function}", names[function]] for function in comparison.functions(d)]
    for who in comparison.algorithms:
        divided = comparison.baseline is not None and who is not comparison.baseline
        head += [f"{who.name}: aRT", *(["ratio"] if divided else []), "solved"]
        for line, function in zip(lines, comparison.functions(d), strict=True):
            cell = (d, function)
            line += [runtime_text(who.to(cell)), *([_ratio(comparison, who, cell)] if divided else []), _solved(who, cell)]
    return Table(head, lines)


def _ratio(comparison: Comparison, who: Algorithm, cell: Cell) -> str:
    value, (low, high), _ = comparison.ratio(who, cell)
    if not is_ratio(value):
        return "" if isnan(who.to(cell)) else "-" if isnan(value) else "inf" if value == inf else "0"
    return f"{value:.2f}" if isnan(low) else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _solved(who: Algorithm, cell: Cell) -> str:
    solved = who.solved.get(cell)
    return "" if solved is None else f"{solved[0]}/{solved[1]}"


def as_csv(comparison: Comparison) -> str:
    """Return the runtimes of all algorithms to the targets of the archived tables, in the layout of a reference."""
    targets = sorted({i for who in comparison.algorithms if who.is_archived for table in who.art.values() for i in table})
    lines = ["algorithm,f,d,target,aRT,succ_1e-8"]
    for who in comparison.algorithms:
        for (d, function), table in who.art.items():
            counts = _solved(who, (d, function))
            lines += [f'"{who.name}",{function},{d},{LADDER[i]:.0e},{table[i]:.6g},{counts}' for i in targets if i in table]
    return "\n".join(lines) + "\n"
