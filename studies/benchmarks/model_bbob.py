"""The table of BBOB on docs/model.md: methods with the model beside archived runtimes of pycma's CMA-ES and lq-CMA-ES.

    thalweg bench bbob --methods gnn-cma+quadratic --dims 2,5,10,20 --instances 6-20 --out out/bbob-model   # some hours
    python studies/benchmarks/model_bbob.py pack out/bbob-model            # its runs, added to results/model_bbob.json.gz
    python studies/benchmarks/model_bbob.py table FILE docs/model.md       # FILE has the archived runtimes
    python studies/benchmarks/model_bbob.py plain                          # with the model over without, prints all ratios

Runs that the file holds already stay, unless the folder has the same entrant, dimension, function and instance; the file keeps
the manifests of all folders.

The archived runtimes are those of COCO's data archive as a table; `thalweg bench bbob --reference` reads the same file. It is
not part of this repository.
"""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bbob_pack import files, packed_run, unpacked_run
from bbob_pack import load as load_packed
from shared import RESULTS, deliver, make_parser, markdown

from thalweg_studies.bbob.benchmark import Benchmark
from thalweg_studies.bbob.comparison import GROUPS, TARGET, Algorithm, Comparison, compare
from thalweg_studies.bbob.entrant import Entrant, entrants
from thalweg_studies.bbob.plan import DIMENSIONS, FUNCTIONS, Settings, Trial, trials
from thalweg_studies.bbob.record import rung
from thalweg_studies.bbob.reference import choose, read_reference
from thalweg_studies.bbob.reference_page import mean_text
from thalweg_studies.bbob.runtime import Runtimes, ratio
from thalweg_studies.bbob.summary import Results
from thalweg_studies.common.results import MANIFEST, ResultsFolder

FILE = RESULTS / "model_bbob.json.gz"
METHODS = entrants("gnn-cma+quadratic,cma+quadratic,pycma-lq")
INSTANCES = range(6, 21)
"""Instances of the report; 1 to 5 are for development."""
ARCHIVED = "lq-CMA-ES"


def pack(folder: Path) -> dict[str, Any]:
    """Return manifests and runs of a results folder, as far as there are any: [label, d, function, instance, numbers]."""
    store = ResultsFolder(folder, Benchmark(Settings(), folder))
    units = [unit for unit in trials(METHODS, FUNCTIONS, DIMENSIONS, INSTANCES) if store.path(unit).exists()]
    runs = [[*key_of(unit), packed_run(store, unit)] for unit in units]
    return {"manifests": [json.loads((folder / MANIFEST).read_text())], "runs": runs}


def merged(present: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return manifests and runs of both; where both have a run, the new one. Raise a ValueError if their settings differ."""
    manifests = [*present["manifests"], *(each for each in new["manifests"] if each not in present["manifests"])]
    for each in manifests[1:]:
        if each["settings"] != manifests[0]["settings"]:
            raise ValueError(f"the folder's runs have the settings {each['settings']}, not {manifests[0]['settings']}")
    runs = {tuple(key): numbers for content in (present, new) for *key, numbers in content["runs"]}
    order = [key_of(unit) for unit in trials(METHODS, FUNCTIONS, DIMENSIONS, INSTANCES)]
    return {"manifests": manifests, "runs": [[*key, runs[key]] for key in order if key in runs]}


def key_of(unit: Trial) -> tuple[str, int, int, int]:
    """Return what tells a run from others in the packed file."""
    return unit.entrant.label, unit.dimension, unit.function, unit.instance


def read(file: Path) -> dict[str, Any]:
    """Return what a packed file holds."""
    return json.loads(gzip.decompress(file.read_bytes()))


def load(content: dict[str, Any]) -> Results:
    """Return the runs by entrant, dimension and function, then by instance."""
    results: Results = {}
    for label, d, function, instance, numbers in content["runs"]:
        (who,) = entrants(label)
        results.setdefault((who, d, function), {})[instance] = unpacked_run(numbers)
    return results


def show(comparison: Comparison) -> str:
    """Return a table of geometric means for each group of functions and dimension, with the runs that were solved."""
    shown = [who for who in comparison.algorithms if not who.is_archived or who.name == ARCHIVED]
    head = ["functions", "d", *(name(who) for who in shown), *(f"solved: {name(who)}" for who in shown)]
    lines: list[list[str]] = []
    for group, functions in GROUPS.items():
        for d in comparison.dimensions:
            run = comparison.functions(d, functions)
            there = [who for who in shown if any((d, function) in who.art for function in run)]
            # the functions on which all of these have a runtime, so that means can be compared
            common = sorted(set(run).intersection(*(comparison.comparable(who, d, run) for who in there)))
            if run:
                means = [mean_text(comparison.mean(who, d, common), len(common)) if who in there else "" for who in shown]
                count = "" if len(common) == len(functions) else f", {len(common)} of {len(functions)}"
                lines.append([group + count, str(d), *means, *(solved(who, d, run) for who in shown)])
    return markdown(head, lines)


def beside_plain(results: Results, plain: Results) -> str:
    """Return a table of average runtimes with the model over those without, on the instances that both have run."""
    lines: list[list[str]] = []
    for (who, d, function), runs in results.items():
        others = {key[1]: run for key, run in plain.get((Entrant(who.name), d, function), {}).items() if key[0] == 1}
        shared = [instance for instance in runs if instance in others]
        if who.model and shared:
            one, two = (Runtimes.of([each[instance] for instance in shared]) for each in (runs, others))
            value, (low, high), _ = ratio(one, two, rung(TARGET), function)
            lines.append([f"f{function}", str(d), f"`{who.label}`", str(len(shared)), f"{value:.2f} [{low:.2f}, {high:.2f}]"])
    return markdown(["function", "d", "method", "instances", "with / without the model"], lines)


def name(who: Algorithm) -> str:
    return who.name if who.is_archived else f"`{who.name}`"


def solved(who: Algorithm, d: int, functions: Sequence[int]) -> str:
    """Return the number of runs that reached 1e-8, and of all."""
    counts = [own for function in functions if (own := who.solved.get((d, function))) is not None]
    return f"{sum(own[0] for own in counts)} of {sum(own[1] for own in counts)}" if counts else ""


def main() -> None:
    parser = make_parser(__doc__)
    modes = parser.add_subparsers(dest="mode", required=True)
    packing = modes.add_parser("pack", help="add the runs of a results folder to the committed file")
    packing.add_argument("folder", type=Path, help="results folder of `thalweg bench bbob`")
    table = modes.add_parser("table", help="write the table into a page, or print it")
    table.add_argument("reference", type=Path, help="CSV file of archived runtimes")
    table.add_argument("page", nargs="?", help="page to write the table into, instead of printing it")
    modes.add_parser("plain", help="print average runtimes relative to those of the same methods without the model")
    options = parser.parse_args()
    if options.mode == "pack":
        content = merged(read(FILE), pack(options.folder)) if FILE.exists() else pack(options.folder)
        text = json.dumps(content, separators=(",", ":")) + "\n"
        FILE.write_bytes(gzip.compress(text.encode(), mtime=0))
        return
    results = load(read(FILE))
    if options.mode == "plain":
        print(beside_plain(results, load_packed(files())))
        return
    reference = choose(read_reference(options.reference), ARCHIVED, options.reference)
    deliver(show(compare(results, reference)), options.page, "model_bbob")


if __name__ == "__main__":
    main()
