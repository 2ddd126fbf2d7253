"""Pack the runs behind docs/bbob.md: from results folders of `thalweg bench bbob` into files of this repository.

    python studies/benchmarks/bbob_pack.py out/bbob-2-5 studies/benchmarks/results/bbob_2_5.json.gz

A file holds the manifest of a folder and all its runs of `ENTRANTS`: for every run its evaluations, least f - f_opt, restarts,
and the evaluations to every target of the ladder. Several files may hold runs of the same instances under different seeds.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

from shared import RESULTS, make_parser

from thalweg_studies.bbob.benchmark import Benchmark
from thalweg_studies.bbob.entrant import Entrant, entrants
from thalweg_studies.bbob.plan import DIMENSIONS, FUNCTIONS, Settings, Trial, trials
from thalweg_studies.bbob.record import LADDER, Run, decode
from thalweg_studies.common.results import MANIFEST, ResultsFolder

INSTANCES = range(6, 16)
"""Instances of the report; 1 to 5 are for development."""

FLOW, LATENT, AFFINE, PYCMA = entrants("gnn-cma,cma,gnn-cma:flow=affine,pycma")
LARGE = "10d"
SIZES = {"": "default", LARGE: "10 d"}

Results = dict[tuple[Entrant, int, int], dict[tuple[int, int], Run]]
"""Runs by entrant, dimension and function, then by seed and instance."""


def with_population(who: Entrant, size: str) -> Entrant:
    """Return the entrant with that population, a key of `SIZES`."""
    return Entrant(who.name, size, who.options)


ENTRANTS = [*(with_population(who, size) for size in SIZES for who in (FLOW, LATENT, AFFINE)), PYCMA]


def pack(folder: Path, out: Path) -> None:
    """Write all runs of the entrants in a results folder into one file; raise a KeyError if an entrant lacks some."""
    manifest = json.loads((folder / MANIFEST).read_text())
    store = ResultsFolder(folder, Benchmark(Settings(), folder))
    runs: dict[str, dict[int, Any]] = {}
    for d in DIMENSIONS:
        for who in ENTRANTS:
            own = [unit for unit in trials([who], FUNCTIONS, [d], INSTANCES) if store.path(unit).exists()]
            if own:
                packed = {(unit.function, unit.instance): packed_run(store, unit) for unit in own}
                runs.setdefault(who.label, {})[d] = [[packed[f, i] for i in INSTANCES] for f in FUNCTIONS]
    content = {"manifest": manifest, "instances": [*INSTANCES], "targets": LADDER, "runs": runs}
    out.write_bytes(gzip.compress((json.dumps(content, separators=(",", ":")) + "\n").encode(), mtime=0))


def packed_run(store: ResultsFolder[Trial, Run], unit: Trial) -> list[float]:
    """Return evaluations, least f - f_opt, restarts, and the evaluations to the targets that were reached, easiest first."""
    run = decode(store.path(unit).read_text())
    return [run.evaluations, float(f"{run.best:.3g}"), run.restarts, *(int(hit) for hit in run.hits if hit < inf)]


def unpacked_run(numbers: Sequence[float]) -> Run:
    """Return the run that `packed_run` was given."""
    evaluations, best, restarts, *hits = numbers
    return Run(int(evaluations), best, int(restarts), tuple(map(float, hits)) + (inf,) * (len(LADDER) - len(hits)))


def seed(content: Mapping[str, Any]) -> int:
    """Return the seed of the runs of a file."""
    return content["manifest"]["settings"]["seed"]


def dimensions(content: Mapping[str, Any]) -> list[int]:
    """Return the dimensions of the runs of a file."""
    return sorted({int(d) for own in content["runs"].values() for d in own})


def files(folder: Path = RESULTS) -> list[dict[str, Any]]:
    """Return the contents of all packed files, ordered by seed and dimensions."""
    found = [json.loads(gzip.decompress(path.read_bytes())) for path in folder.glob("bbob_*.json.gz")]
    return sorted(found, key=lambda content: (seed(content), dimensions(content)))


def load(contents: Sequence[Mapping[str, Any]]) -> Results:
    """Return the runs of all files in the form of `bbob.summary`, with (seed, instance) in place of the instance."""
    results: Results = {}
    for content in contents:
        keys = [(seed(content), instance) for instance in content["instances"]]
        for label, own in content["runs"].items():
            (who,) = entrants(label)
            for d, rows in own.items():
                for f, runs in zip(FUNCTIONS, rows, strict=True):
                    each = map(unpacked_run, runs)
                    results.setdefault((who, int(d), f), {}).update(zip(keys, each, strict=True))
    return results


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("folder", type=Path, help="results folder of `thalweg bench bbob`")
    parser.add_argument("out", type=Path, help="file to write, .json.gz")
    options = parser.parse_args()
    pack(options.folder, options.out)


if __name__ == "__main__":
    main()
