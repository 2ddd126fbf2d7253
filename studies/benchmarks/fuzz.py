"""Call the public API with arguments of every kind, 1,000,000 times.

    python studies/benchmarks/fuzz.py --minutes 60 --jobs 2    # goes on where results/fuzz.json ends
    python studies/benchmarks/fuzz.py --trial 4711             # this one alone
    python studies/benchmarks/fuzz.py --table docs/reliability.md

Each trial takes arguments that are right and puts other values in the place of none, one or two of them. The call returns a
result whose points are finite and inside the bounds, and whose best value is no NaN; or it raises a ValueError or TypeError of
one line which names an argument that was changed. On the command line it ends with a status and at most one line of error.
Faults are all other errors, crashes, more than a minute, or more than 512 MiB. Linux only.
"""

import contextlib
import copy
import io
import os
import random
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from fuzz_checks import Arguments, change, checked, inside, large, start
from fuzz_values import WORDS, objective, sphere, value
from supervised import FaultError, Plan, run_plan

import thalweg
from thalweg import Fixed, Integer, Optimizer, Real, Space

TRIALS = 1_000_000
SECONDS, MIB = 60.0, 512.0


def fuzz_options(choose: random.Random, _: Path) -> str:
    names = choose.sample([*thalweg.Tolerances().values, "active", "flow", "tolfum", "popsize", ""], 2)
    options = {name: value(choose) for name in names[: choose.choice([1, 1, 2])]}
    given = {"x0": [1.0, 2.0], "method": choose.choice(["cma", "xnes"]), "popsize": 4, "seed": 1, "options": options}
    es = checked(lambda: Optimizer(**given), ["options", *(repr(name) if name == "" else name for name in options)])
    return "options: refused" if es == "refused" else "options: accepted"


def fuzz_optimizer(choose: random.Random, _: Path) -> str:
    given, names = change(start(choose) | {"model": None, "restarts": 0, "bipop": False, "constraints": None}, choose)
    if large(given["popsize"]):
        return "Optimizer: too large to try"
    es = checked(lambda: Optimizer(**given), names)
    if es == "refused":
        return "Optimizer: refused"
    compiled = (es.popsize, es.d) == (4, 2)  # a new shape costs a thousand trials
    if choose.random() < (0.5 if compiled else 0.02):
        if es.popsize > 64 or es.d > 20:
            return "Optimizer: accepted, and large"
        X = es.ask()
        inside(X, es.space)
        checked(lambda: es.tell(X, [sphere(x) for x in X]), names)
        es.stop()
        if np.isnan(es.result.fun):
            raise FaultError("the best value is NaN")
    return "Optimizer: accepted"


_templates: list[Optimizer] = []


def fuzz_tell(choose: random.Random, _: Path) -> str:
    """Ask and tell with wrong points, values and numbers, on copies of searches that are underway."""
    if not _templates:
        for more in ({}, {"bounds": (0, 3)}, {"model": "quadratic"}, {"restarts": 2}):
            es = Optimizer([1.0, 2.0], 0.5, method="cma", popsize=4, seed=1, **more)
            es.tell(X := es.ask(), [sphere(x) for x in X])
            _templates.append(es)
    es = copy.copy(choose.choice(_templates))
    wrong = 0
    for _ in range(choose.randrange(1, 6)):
        kind = choose.randrange(7)
        X = es.ask() if kind < 4 else es.ask(choose.randrange(1, 4))
        inside(X, es.space)
        F: Any = [sphere(x) for x in X]
        if kind == 0:
            found = checked(partial(es.tell, value(choose), F), ["X", "F", "x"])
        elif kind == 1:
            found = checked(partial(es.tell, X, value(choose)), ["X", "F"])
        elif kind == 2:
            F = [value(choose) if choose.random() < 0.5 else f for f in F]
            found = checked(partial(es.tell, X, F), ["F"])
        elif kind == 3:
            found = checked(
                partial(es.tell, X, F, value(choose), choose.choice([None, value(choose)])), ["G", "H", "constraints"]
            )
        elif kind == 4:
            number = value(choose)
            found = (
                es.tell(X, F)
                if large(number) and float(number) <= 10_000  # so many points take a second
                else checked(partial(es.ask, number), ["number"])
            )
        elif kind == 5:
            found = checked(partial(es.inject, value(choose)), ["points", "injected", "point"])
        else:
            found = checked(
                partial(es.tell, value(choose), F, foreign=choose.choice([True, value(choose)])), ["X", "F", "foreign"]
            )
        wrong += isinstance(found, str)
    inside(es.ask(2), es.space)
    if np.isnan(es.result.fun):
        raise FaultError("the best value is NaN")
    return f"ask and tell: {'refused' if wrong else 'accepted'}"


def fuzz_space(choose: random.Random, _: Path) -> str:
    def variable() -> tuple[Any, list[str]]:
        kind = choose.choice([Real, Real, Integer, Fixed])
        if kind is Fixed:
            given, names = change({"value": 1.0}, choose)
        else:
            given, names = change({"low": 1, "high": 9, "log": False, "x0": None, "sigma0": None}, choose)
        return checked(lambda: kind(**given), ["value"] if kind is Fixed else ["low", "high", "log", "x0", "sigma0"]), names

    found = {choose.choice(["a", "b", "c", "", "a b", "x"]): variable() for _ in range(choose.randrange(1, 4))}
    if any(isinstance(each, str) for each, _ in found.values()):
        return "Space: a variable is refused"
    variables: Any = {name: each for name, (each, _) in found.items()}
    if choose.random() < 0.2:
        variables = value(choose)
    names = ["variable", "name", "Space", "must be a Real", *(repr(name) for name in found), "low", "high", "x0", "sigma0"]
    space = checked(lambda: Space(variables), names)
    if isinstance(space, str):
        return "Space: refused"
    x0 = np.asarray(space.x0, float)
    if not np.all(np.isfinite(x0)):
        raise FaultError(f"the start is {x0}")
    if space.names is not None:
        point = space.point(x0)
        if list(point) != list(space.names):
            raise FaultError(f"the point is {point}")
    checked(lambda: Optimizer(space, method="cma", popsize=4, seed=1), names)
    return "Space: accepted"


def conclude(result: Any, given: Arguments, name: str) -> str:
    """Check a result of `minimize`."""
    if isinstance(result, str):
        return f"{name}: refused"
    if not np.all(np.isfinite(result.x)):
        raise FaultError(f"x is {result.x}")
    if np.isnan(result.fun) and result.success:
        raise FaultError("success with the value NaN")
    bounds = given.get("bounds")
    if isinstance(bounds, list) and len(bounds) == len(result.x):
        for x, (low, high) in zip(result.x, bounds, strict=True):
            if (low is not None and x < low) or (high is not None and x > high):
                raise FaultError(f"{result.x} is outside of {bounds}")
    limit = given["max_evals"]
    if isinstance(limit, int) and not isinstance(limit, bool) and result.nfev > max(limit, 0):
        raise FaultError(f"{result.nfev} evaluations of {limit}")
    return f"{name}: a result"


def fuzz_minimize(choose: random.Random, folder: Path) -> str:
    fun = objective(choose)
    given = start(choose) | {
        "fun": fun,
        "args": (),
        "vectorized": False,
        "asynchronous": False,
        "callback": None,
        "progress": False,
    }
    given |= {"retries": 0, "model": None, "constraints": None, "bipop": False, "restarts": 0, "rng": None, "workers": 1}
    given, names = change(given, choose, without=("workers", "eval_timeout", "args", "progress"))
    if choose.random() < 0.1:
        names, given["workers"] = [*names, "workers"], choose.choice([0, -2, 1.5, "a", "", None, [], True, np.nan, {}, map])
    if "rng" in names:
        given["seed"] = None
    if large(given["popsize"]):
        return "minimize: too large to try"
    expected = [*names, "fun", "failed", "failure", "number"]  # an objective that never returns a number is an error
    try:
        return conclude(checked(lambda: thalweg.minimize(**given), expected), given, "minimize")
    except RuntimeError as error:
        if not str(error).startswith("all "):
            raise
        return "minimize: all evaluations failed"


def fuzz_resume(choose: random.Random, folder: Path) -> str:
    path = folder / "run.ckpt"
    for each in (path, folder / "run.ckpt.jsonl"):
        each.unlink(missing_ok=True)
    thalweg.minimize(sphere, [1.0, 2.0], 0.5, method="cma", popsize=4, seed=1, max_evals=8, checkpoint=path)
    given, names = change(
        {"checkpoint": path, "fun": sphere, "method": None, "x0": None, "constraints": None, "max_evals": 16, "log": None},
        choose,
    )
    names += ["belongs to another problem"] * ("x0" in names)
    try:
        found = checked(lambda: thalweg.resume(**given), names)
    except OSError as error:  # no such file
        if "checkpoint" not in names and "log" not in names:
            raise
        return f"resume: {'refused' if len(str(error)) < 1000 else 'fault'}"
    return conclude(found, given | {"max_evals": None}, "resume")  # it may have had more evaluations before


def fuzz_known(choose: random.Random, _: Path) -> str:
    X, F = [[0.5, 0.5], [1.0, 2.0], [0.1, 0.2]], [1.0, 2.0, 3.0]
    known = choose.choice([value(choose), (value(choose), F), (X, value(choose)), (X, [value(choose), 1.0, 2.0]), [X, F, F]])
    bounds = choose.choice([None, (0, 3), (0.3, 0.8)])
    try:
        es = checked(
            lambda: Optimizer([0.5, 0.5], 0.5, method="cma", popsize=4, seed=1, known=known, bounds=bounds), ["known", "X", "F"]
        )
    except OSError:
        return "known: no such file"
    if es == "refused":
        return "known: refused"
    inside(es.ask(), es.space)
    if np.isnan(es.best.f):
        raise FaultError("the best value is NaN")
    return "known: accepted"


def traced(x: Any) -> Any:
    return jnp.sum((x - 0.3) ** 2)


def fuzz_batch(choose: random.Random, _: Path) -> str:
    common: Arguments = {
        "x0": [1.0, 2.0],
        "sigma0": 0.5,
        "bounds": None,
        "scale": None,
        "log": None,
        "integers": None,
        "seeds": 2,
    }
    many = choose.random() < 0.5
    if many:
        given, names = change(common | {"strategy": "cma", "generations": 2, "ftarget": 0.0, "batch_size": None}, choose)
        size = given["generations"]
    else:
        more = {"method": "cma", "max_evals": 20, "restarts": 1, "popsize": 4, "targets": (), "chunk": 10, "options": {}}
        given, names = change(common | more, choose)
        size = given["max_evals"]
    seeds = given["seeds"]
    if any(map(large, (size, seeds, given.get("popsize"), given.get("restarts")))):
        return "batch: too large to try"
    call = thalweg.run_many if many else thalweg.run_restarts
    name = "run_many" if many else "run_restarts"
    found = checked(lambda: call(given.pop("strategy" if many else "method"), traced, **given), names)
    if isinstance(found, str):
        return f"{name}: refused"
    if not np.all(np.isfinite(found.x)):
        raise FaultError(f"points {found.x.tolist()}")
    return f"{name}: a result"


def fuzz_command_line(choose: random.Random, folder: Path) -> str:
    from thalweg.cli import main

    words = [
        "minimize",
        "scipy.optimize:rosen",
        "--x0=1,2",
        "--sigma0",
        "0.5",
        "--seed",
        "1",
        "--popsize",
        "4",
        "--max-evals",
        "8",
        "--method",
        "cma",
        "--quiet",
    ]
    for _ in range(choose.choice([0, 1, 1, 2, 3])):
        place, kind = choose.randrange(len(words) + 1), choose.randrange(4)
        word = choose.choice(WORDS) if choose.random() < 0.8 else str(value(choose))[:40].replace("\0", "")
        if kind == 0:
            words.insert(place, word)
        elif kind == 1 and place < len(words):
            words[place] = word
        elif kind == 2 and place < len(words):
            del words[place]
        else:
            words += [choose.choice(["--bounds", "--restarts", "--scale", "--integers", "--var", "--ftarget", "--model"]), word]
    if "--max-evals" not in words:
        words += ["--max-evals", "8"]
    words += ["--timeout", "5"]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1 if end.code else 0
    error = err.getvalue()
    if "Traceback" in error or (code and not error.strip()) or len(error) > 3000:
        raise FaultError(f"{words} ends with {code} and {error[-400:]!r}")
    return f"command line: {'a result' if code == 0 else f'status {code}'}"


def fuzz_others(choose: random.Random, folder: Path) -> str:
    """Call smaller functions."""
    kind = choose.randrange(4)
    if kind == 0:
        names = list(thalweg.Tolerances().values)
        given = {name: value(choose) for name in choose.sample(names, 2)}
        found = checked(lambda: thalweg.Tolerances(**given), given)
    elif kind == 1:
        given = {"tolerance": value(choose)} if choose.random() < 0.5 else {}
        found = checked(lambda: thalweg.Constraints(value(choose), **given), ["constraints", "tolerance"])
    elif kind == 2:
        given, names = change({"method": "cma", "popsize": 4}, choose)
        found = checked(lambda: thalweg.make_strategy(**given), names)
    else:
        given, names = change({"workers": 2, "address": None}, choose)
        if not all(isinstance(each, int | None) for each in given.values()):
            found = checked(lambda: choose.choice([thalweg.Ray, thalweg.Dask])(**given), names)
        else:
            return "others: nothing to change"
    return f"others: {'refused' if isinstance(found, str) else 'accepted'}"


KINDS: Mapping[Callable[[random.Random, Path], str], int] = {
    fuzz_space: 400,
    fuzz_options: 250,
    fuzz_others: 200,
    fuzz_known: 60,
    fuzz_optimizer: 50,
    fuzz_tell: 20,
    fuzz_minimize: 10,
    fuzz_batch: 6,
    fuzz_command_line: 3,
    fuzz_resume: 1,
}
"""Kinds of trials, and how often they come relative to one another."""


def prepare(folder: Path) -> Callable[[random.Random], str]:
    """Return the function that makes a trial."""
    folder = folder / "a" / "b"  # names of files may begin with ../..
    folder.mkdir(parents=True)
    os.chdir(folder)
    for method in ("cma", "sep-cma", "gnn-cma", "xnes"):  # what they need is loaded before memory is measured
        thalweg.minimize(sphere, [1.0, 2.0], 0.5, method=method, popsize=4, seed=1, max_evals=8)
    thalweg.run_many("cma", traced, [1.0, 2.0], 0.5, seeds=2, generations=2)

    def trial(choose: random.Random) -> str:
        return choose.choices(list(KINDS), list(KINDS.values()))[0](choose, folder)

    return trial


PLAN = Plan(Path(__file__), prepare, SECONDS, MIB)

if __name__ == "__main__":
    run_plan(PLAN, "fuzz", TRIALS, __doc__)
