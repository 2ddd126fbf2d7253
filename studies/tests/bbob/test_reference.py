"""Archived runtimes: the two layouts of their files, the choice of algorithms, and the page beside runs with known ratios."""

import csv
import io
from math import inf, isnan

import pytest

from thalweg_studies.bbob.comparison import MULTIMODAL, ONE_VALLEY, compare
from thalweg_studies.bbob.entrant import entrants
from thalweg_studies.bbob.plan import FUNCTIONS
from thalweg_studies.bbob.record import LADDER, Run, rung
from thalweg_studies.bbob.reference import choose, read_reference
from thalweg_studies.bbob.reference_page import as_csv, reference_page, write_comparison
from thalweg_studies.report.page import as_markdown

(CMA,) = entrants("cma")
HEAD = "algorithm,f,d,target,aRT,succ_1e-8,table\n"
RATIOS = "year,alg,fid,dim,target,best2009_aRT,ratio,cell,succ_1e-8\n"
ROWS = (  # to 1e-7: our run takes 460 evaluations on f1 and f8, none of f3
    '"CMA-ES (pycma, IPOP, 2019)",1,2,1e-7,920,15/15,a\n'
    '"CMA-ES (pycma, IPOP, 2019)",8,2,1e-7,115,15/15,a\n'
    '"CMA-ES (pycma, IPOP, 2019)",3,2,1e-7,5000,7/15,a\n'
    "lq-CMA-ES (2019),1,2,1e-7,92,15/15,a\n"
    "lq-CMA-ES (2019),8,2,1e-7,inf,0/15,a\n"
    "lq-CMA-ES (2019),3,2,1e-7,20000,3/15,a\n"
    "BBOB-2009 best,1,2,1e-7,6,,a\n"
    "Other (2012),1,2,1e-7,60,15/15,a\n"
)


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "archive.csv"
    path.write_text(HEAD + ROWS)
    return path


def run(rungs):
    hits = tuple(10.0 * (i + 1) if i < rungs else inf for i in range(len(LADDER)))
    return Run(10 * len(LADDER), 0.0, 0, hits)


@pytest.fixture
def comparison(archive):
    results = {(CMA, 2, f): dict.fromkeys((1, 2, 3), run(20 if f == 3 else len(LADDER))) for f in (1, 3, 8)}
    return compare(results, choose(read_reference(archive), "lq-CMA-ES", archive))


def test_names_and_numbers(archive):
    reference = read_reference(archive)
    assert list(reference) == ["CMA-ES", "lq-CMA-ES", "BBOB-2009 best", "Other"]
    assert reference["lq-CMA-ES"][2, 8].art == {rung(1e-7): inf}
    assert reference["lq-CMA-ES"][2, 3].solved == (3, 15)
    assert reference["BBOB-2009 best"][2, 1].solved is None


def test_the_layout_of_ratios(tmp_path):
    path = tmp_path / "reference.csv"
    path.write_text(
        f"{RATIOS}2019,Some-ES bbob Author,1,2,1e-7,50,4.5,4.5 (1),14/15\n"
        "2019,Some-ES bbob Author,1,2,1e-1,20,inf,inf,14/15\n2019,Some-ES bbob Author,20,40,1e-7,&infin;,inf,inf,0/15\n"
    )
    reference = read_reference(path)
    assert reference["Some-ES"][2, 1].art == {rung(1e-7): 225.0, rung(1e-1): inf}
    assert reference["BBOB-2009 best"][2, 1].art == {rung(1e-7): 50.0, rung(1e-1): 20.0}
    assert reference["BBOB-2009 best"][40, 20].art == {rung(1e-7): inf}


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (None, ["CMA-ES", "lq-CMA-ES", "BBOB-2009 best"]),
        ("all", ["CMA-ES", "lq-CMA-ES", "BBOB-2009 best", "Other"]),
        ("Other, lq-CMA-ES (2019)", ["CMA-ES", "Other", "lq-CMA-ES"]),
        ("CMA-ES (pycma, IPOP, 2019)", ["CMA-ES"]),
    ],
)
def test_the_choice_of_algorithms(archive, wanted, names):
    assert list(choose(read_reference(archive), wanted, archive)) == names


def test_a_file_without_the_usual_algorithms_is_shown_whole(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text(f"{HEAD}Other,1,2,1e-7,60,15/15,a\n")
    reference = choose(read_reference(path), None, path)
    assert list(reference) == ["Other"]
    found = compare({(CMA, 2, 1): {1: run(51)}}, reference)
    assert found.baseline is None
    assert "no ratios" in as_markdown(reference_page(found, "few.csv"))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,b\n1,2\n", "reference .* has no column 'algorithm'; give a file with the columns"),
        ("alg,fid\n1,2\n", "has no column 'dim'"),
        (HEAD, "has no rows"),
        (f"{HEAD}X,one,2,1e-7,50,14/15,a\n", "line 2, is not a row"),
        (f"{HEAD}X,1,2,1e-7,-50,14/15,a\n", "a runtime must be positive, got '-50'"),
        (f"{HEAD}X,1,2,3e-7,50,14/15,a\n", "line 2.* not on the ladder"),
        (f"{HEAD}X,1,2,1e-7\n", "line 2"),
        (f"{RATIOS}2019,X,one,2,1e-7,50,4.5,,14/15\n", "line 2"),
    ],
)
def test_a_file_that_is_none(tmp_path, content, sentence):
    path = tmp_path / "reference.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=sentence):
        read_reference(path)


@pytest.mark.parametrize("wanted", ["lq-CMA", " , "])
def test_an_unknown_algorithm_is_named_with_those_of_the_file(archive, wanted):
    with pytest.raises(ValueError, match=r"reference-algorithms .* the file has .*'lq-CMA-ES'"):
        choose(read_reference(archive), wanted, archive)


def test_the_groups_are_all_functions():
    assert sorted(ONE_VALLEY + MULTIMODAL) == list(FUNCTIONS)
    assert len(ONE_VALLEY) == 12


def test_means_leave_out_what_has_no_runtime(comparison):
    ours, baseline, lq = comparison.algorithms
    assert baseline is comparison.baseline
    mean = comparison.mean(ours, 2, ONE_VALLEY)
    assert mean.value == pytest.approx((460 / 920 * 460 / 115) ** 0.5)
    assert mean.interval == pytest.approx((mean.value, mean.value))
    assert mean.functions == (1, 8)
    other = comparison.mean(lq, 2, ONE_VALLEY)
    assert (other.value, other.functions) == (pytest.approx(0.1), (1,))
    assert isnan(other.interval[0])
    assert comparison.shared(2, ONE_VALLEY) == (1,)
    assert comparison.mean(ours, 2, MULTIMODAL).functions == ()
    assert comparison.mean(lq, 2, MULTIMODAL).value == pytest.approx(4.0)


def test_an_interval_contains_the_spread_of_the_runs(archive):
    results = {(CMA, 2, 1): {1: run(51), 2: Run(51, 0.0, 0, tuple(float(i + 1) for i in range(51)))}}
    comparison = compare(results, read_reference(archive))
    ratio = comparison.ratio(comparison.algorithms[0], (2, 1))
    assert ratio.value == pytest.approx((460 + 46) / 2 / 920)
    assert ratio.interval == pytest.approx((46 / 920, 460 / 920))


def test_the_page(comparison):
    text = as_markdown(reference_page(comparison, "archive.csv"))
    assert "| functions | d | cma | lq-CMA-ES |" in text
    assert "| one valley (f1, f2, f5 to f14) | 2 | 1.41 [1.41, 1.41] | 0.10 (1 of 2) |" in text
    assert "| multimodal (f3, f4, f15 to f24) | 2 | - | 4.00 |" in text
    assert "| one valley (f1, f2, f5 to f14): 1 of 2 | 2 | 0.50 [0.50, 0.50] | 0.10 |" in text
    assert "| f1 | sphere | 460 | 0.50 [0.50, 0.50] | 3/3 | 920 | 15/15 | 92 | 0.10 | 15/15 |" in text
    assert "| f3 | separable Rastrigin | - | inf | 0/3 | 5000 | 7/15 | 20000 | 4.00 | 3/15 |" in text


def test_files_of_a_folder_that_git_ignores(comparison, tmp_path):
    (page,) = write_comparison(comparison, "archive.csv", tmp_path)
    assert {path.name for path in page.parent.iterdir()} == {
        ".gitignore",
        "reference.md",
        "reference.csv",
        *(f"{name}.{kind}" for name in ("groups", "profiles", "functions") for kind in ("png", "svg")),
    }
    assert (page.parent / ".gitignore").read_text() == "*\n"
    assert "![" in page.read_text()
    legend = (page.parent / "functions.svg").read_text()
    assert "lq-CMA-ES (archived)" in legend
    rows = list(csv.DictReader(io.StringIO(as_csv(comparison))))
    assert {row["algorithm"] for row in rows} == {"cma", "CMA-ES", "lq-CMA-ES"}
    assert next(row["aRT"] for row in rows if row["algorithm"] == "cma" and row["f"] == "1") == "460"
