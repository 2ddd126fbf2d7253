"""Methods as they are written on the command line."""

import pytest

from thalweg_studies.bbob.entrant import baseline_of, entrants
from thalweg_studies.bbob.plan import FUNCTIONS, Settings, trials, whole_numbers


def test_options_belong_to_the_method_before_them():
    first, second, third = entrants("gnn-cma:flow=affine,popsize=10d,active=False, cma,scipy-de:popsize=40")
    assert (first.name, first.options) == ("gnn-cma", (("active", False), ("flow", "affine")))
    assert first.population(3) == 30
    assert (second.label, second.population(3)) == ("cma", None)
    assert third.population(3) == 40


def test_a_tolerance_is_an_option():
    assert entrants("cma:tolx=1e-12")[0].options == (("tolx", 1e-12),)


def test_a_label_is_read_as_itself():
    text = "gnn-xnes:flow=realnvp,rate=0.5,popsize=d"
    (entrant,) = entrants(text)
    assert entrant.label == text
    assert entrants(entrant.label) == [entrant]
    assert "/" not in entrant.slug
    assert ":" not in entrant.slug


def test_a_model_belongs_to_the_name():
    first, second, third = entrants("gnn-cma+quadratic:popsize=10d,cma,pycma")
    assert (first.name, first.model, first.population(2)) == ("gnn-cma", "quadratic", 20)
    assert entrants(first.label) == [first]
    assert first.slug == "gnn-cma+quadratic_popsize_10d"
    assert second.model == third.model == ""
    assert [one.model for one in entrants("gnn-cma,pycma", model="quadratic")] == ["quadratic", ""]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("cme", "method 'cme' is unknown"),
        ("", "at least one"),
        ("flow=affine,cma", "must begin with a name"),
        ("cma,cma", "must differ"),
        ("cma:popsize=0d", "multiple of the dimension such as 10d, got '0d'"),
        ("cma:popsize=1", "above 1"),
        ("cma:flow=affine", "option 'flow' is unknown to method 'cma'"),
        ("gnn-cma:flow=bent", "option 'flow' must be"),
        ("pycma:active=False", "no options but popsize"),
        ("cma:active", "'name=value'"),
        ("cma+cubic", "written 'gnn-cma.quadratic', got 'cma.cubic'; models are 'quadratic'"),
        ("pycma+quadratic", "got 'pycma.quadratic'"),
    ],
)
def test_errors(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        entrants(text)


def test_baselines():
    who = entrants("gnn-cma,gnn-cma:flow=affine,cma,gnn-cma:popsize=10d,cma:popsize=10d,pycma,cma:active=False")
    found = [baseline_of(one, who) for one in who]
    assert [one and one.label for one in found] == ["cma", "cma", None, "cma:popsize=10d", None, "cma", "cma"]
    assert [one and one.name for one in (baseline_of(one, who, entrants("pycma")[0]) for one in who)] == [
        *["pycma"] * 5,
        None,
        "pycma",
    ]


def test_the_baseline_of_a_model_is_the_method_without_it():
    who = entrants("gnn-cma+quadratic,cma+quadratic,cma,pycma-lq")
    assert [one and one.label for one in (baseline_of(one, who) for one in who)] == ["cma", "cma", None, "cma"]
    who = entrants("gnn-cma+quadratic,gnn-cma,cma")
    assert [one and one.label for one in (baseline_of(one, who) for one in who)] == ["gnn-cma", "cma", None]


def test_trials_and_budget():
    work = trials(entrants("cma,pycma"), [1, 8], [5, 2], [1, 2, 3])
    assert len(set(work)) == 2 * 2 * 2 * 3
    assert [unit.dimension for unit in work] == [2] * 12 + [5] * 12
    assert work[0].stem == "f001-d02-i01"
    assert Settings(budget=1e4).evaluations(5) == 50_000


def test_numbers_and_ranges():
    assert whole_numbers("8,1-3,2", "functions", FUNCTIONS) == [1, 2, 3, 8]
    for text, sentence in (("0", "among 1 to 24, got 0"), ("3-", "such as 1-5,8"), ("3-1", "at least one"), ("x", "such as")):
        with pytest.raises(ValueError, match=sentence):
            whole_numbers(text, "functions", FUNCTIONS)


@pytest.mark.parametrize("wrong", [{"budget": 0}, {"seed": -1}, {"restarts": "none"}, {"engine": "gpu"}, {"logger": "tape"}])
def test_settings_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Settings(**wrong)
