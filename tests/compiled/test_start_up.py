"""Start-up: what an import costs, what is compiled and where, programs on disk, and what goes to the device and back."""

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import jax
import jax.monitoring
import numpy as np
import pytest
from jax.experimental.compilation_cache.compilation_cache import reset_cache

from thalweg.compiled import disk_cache, identity, inline, steps
from thalweg.compiled import program as programs
from thalweg.search.optimizer import Optimizer
from thalweg.strategies.gnnes import GNNES
from thalweg.strategies.latents.cmaes import CMAES

SOURCE = Path(__file__).parents[2] / "src"
COMPILERS: list[str] = []
"""The thread of each compilation in this process, by name."""
jax.monitoring.register_event_duration_secs_listener(
    lambda event, _, **__: COMPILERS.append(threading.current_thread().name) if "backend_compile" in event else None
)

RUN = """
import jax, jax.monitoring
compiled = []
count = lambda event, _, **__: compiled.append(event) if "backend_compile" in event else None
jax.monitoring.register_event_duration_secs_listener(count)
import thalweg
before = {name: getattr(jax.config, name, None) for name in jax.config.values}
result = thalweg.minimize(lambda x: x @ x, [1.0, 2.0], method="cma", popsize=4, seed=1, max_iter=5)
ours = len(compiled)
jax.jit(lambda x: x + 1)(1.0)
assert {name: getattr(jax.config, name, None) for name in jax.config.values} == before
print(ours, result.fun.hex())
"""
"""A small run, and a program of the user's own."""


def start(code: str, **environment: str) -> subprocess.Popen[str]:
    """A fresh interpreter, without a cache that the tests were given."""
    inherited = {name: value for name, value in os.environ.items() if "CACHE" not in name and name != "TF_CPP_MIN_LOG_LEVEL"}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=inherited | {"PYTHONPATH": str(SOURCE), "JAX_PLATFORMS": "cpu"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def words(process: subprocess.Popen[str]) -> list[str]:
    """What it prints, once it has ended well and without a complaint."""
    out, error = process.communicate(timeout=240)
    assert (process.returncode, error) == (0, "")
    return out.split()


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def make(**more):
    return Optimizer([1.0, 2.0], **{"method": "cma", "popsize": 4, "seed": 1, "max_iter": 5, **more})


def finish(es):
    while not es.stop():
        X = es.ask()
        es.tell(X, np.sum(X**2, 1))
    return es.best.f


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A place for programs; nothing compiled so far counts."""
    monkeypatch.setenv(disk_cache.VARIABLE, str(tmp_path / "programs"))
    monkeypatch.setattr(steps, "_steps", {})
    kept = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", None)
    reset_cache()  # JAX goes on with a cache that it once had, and a program out of it cannot be stored again
    yield tmp_path / "programs"
    jax.config.update("jax_compilation_cache_dir", kept)
    reset_cache()


@pytest.fixture
def compilations(folder):
    """The names of the threads that compile something, from here on; those of earlier tests are done."""
    for thread in threading.enumerate():
        if thread.name == "thalweg-compile":
            thread.join()
    del COMPILERS[:]
    return COMPILERS


def test_import_brings_nothing_slow():
    loaded = words(start("import thalweg, sys; print(*sys.modules)"))
    assert {"thalweg.search.minimize", "jax"} <= set(loaded)
    slow = ("scipy.optimize", "scipy.linalg", "scipy.stats", "matplotlib", "pandas", "IPython")
    assert not {name for name in loaded if name.startswith(slow)}


def test_two_processes_fill_an_empty_cache_and_a_third_compiles_nothing(tmp_path):
    """At a time; with the same result, without a word on stderr, and without a trace of the user's own program."""
    first, second = [words(each) for each in [start(RUN, XDG_CACHE_HOME=str(tmp_path)) for _ in range(2)]]
    kept = entries(tmp_path)
    assert first[1] == second[1]
    assert int(first[0]) + int(second[0]) >= len(kept) == 2  # one may find what the other has just written
    assert {path.parent.name for path in kept} == {f"jax-{jax.__version__}-jaxlib-{jax.lib.__version__}"}
    assert words(start(RUN, XDG_CACHE_HOME=str(tmp_path))) == ["0", first[1]]
    assert entries(tmp_path) == kept


def test_exit_while_the_compiler_is_at_work():
    assert words(start("import thalweg; thalweg.Optimizer([1.0], method='cma', seed=1).ask(); print('done')")) == ["done"]


def test_damaged_entries_are_made_again(folder, compilations, monkeypatch):
    found = finish(make())
    damages = (
        lambda path: path.write_bytes(path.read_bytes()[:-100]),
        lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?"),
        lambda path: disk_cache.Entry(path).write(b"whole, but no program"),
    )
    for damage in damages:
        for path in entries(folder):
            damage(path)
        for compiles in (True, False):  # it is repaired at the first try
            monkeypatch.setattr(steps, "_steps", {})
            before = len(compilations)
            assert finish(make()) == found
            assert (len(compilations) > before) == compiles


@pytest.fixture
def traces():
    """The names of the functions that are traced, from here on."""
    names = []
    jax.monitoring.register_event_duration_secs_listener(
        listener := lambda event, _, fun_name="", **__: names.append(fun_name) if "trace_duration" in event else None
    )
    yield names
    jax.monitoring.unregister_event_duration_listener(listener)


def test_programs_of_our_own_strategies_are_found_without_a_trace(folder, traces, monkeypatch):
    found = finish(make(method="gnn-cma"))
    assert {"_first_flat", "_next_flat"} <= set(traces)
    state = make(method="gnn-cma").state
    kept = entries(folder)
    monkeypatch.setattr(steps, "_steps", {})
    del traces[:]
    es = make(method="gnn-cma")
    assert jax.tree.structure(es.state) == jax.tree.structure(state)
    assert finish(es) == found
    assert not {"_first_flat", "_next_flat"} & set(traces)
    assert entries(folder) == kept
    monkeypatch.setattr(steps, "_steps", {})
    monkeypatch.setattr(identity, "_source", lambda: "another version")
    assert finish(make(method="gnn-cma")) == found
    assert {"_first_flat", "_next_flat"} <= set(traces)


class Mine(CMAES):
    """A strategy that nothing but its code describes."""


@pytest.mark.parametrize("strategy", [Mine(), CMAES(popsize=np.int64(6)), GNNES(latent=Mine())], ids=["class", "value", "part"])
def test_nothing_but_their_code_describes_other_strategies(strategy):
    assert identity.identity(strategy) is None


def test_programs_with_functions_that_a_trace_prepares_are_traced():
    assert programs._calls_lapack_alone("stablehlo.custom_call @lapack_dsyevd_ffi(%1)")
    assert not programs._calls_lapack_alone("custom_call @lapack_dsyevd_ffi(%1)\n custom_call @something_else(%2)")


def test_an_entry_is_for_one_program_under_one_setting_alone(folder, compilations, monkeypatch):
    finish(make())
    first = len(entries(folder))
    finish(make(popsize=5))
    second = len(entries(folder))
    monkeypatch.setattr(steps, "_steps", {})
    with jax.default_matmul_precision("float32"):
        finish(make())
    assert 0 < first < second < len(entries(folder))


@pytest.mark.parametrize("how", ["option", "JAX", "blocked", "shared"])
def test_no_programs_are_kept(how, folder, monkeypatch, caplog, tmp_path):
    if how == "option":
        monkeypatch.setenv(disk_cache.VARIABLE, "off")
    elif how == "JAX":
        jax.config.update("jax_compilation_cache_dir", str(tmp_path / "jax"))
    elif how == "blocked":
        folder.write_text("a file where the folder should be")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    with caplog.at_level(logging.DEBUG, "thalweg"):
        finish(make())
    assert [path for path in entries(folder) if path != folder] == []
    assert ("not kept" in caplog.text) == (how in ("blocked", "shared"))
    warnings = [record.getMessage() for record in caplog.records if record.levelno != logging.DEBUG]
    assert len(warnings) == (how == "shared")  # one sentence, with what to do
    assert all(f"chmod go-w {folder}" in warning for warning in warnings)


def test_a_cache_that_jax_goes_on_with_is_neither_used_nor_filled(folder, monkeypatch, tmp_path):
    """JAX goes on with a cache after it was unset; a program that it takes from there, stored again, lacks a part of itself."""
    quick = jax.config.jax_persistent_cache_min_compile_time_secs
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "jax"))
    found = finish(make())
    jax.config.update("jax_compilation_cache_dir", None)
    known = entries(tmp_path / "jax")
    for _ in range(2):
        monkeypatch.setattr(steps, "_steps", {})
        assert finish(make()) == found
        assert entries(folder)
        for path in entries(folder):
            path.unlink()
    assert entries(tmp_path / "jax") == known
    jax.config.update("jax_persistent_cache_min_compile_time_secs", quick)


@pytest.mark.parametrize("missing", ["nothing", "compiling", "loading"])
def test_a_program_runs_in_the_thread_that_calls_it(missing, folder, compilations, monkeypatch, caplog):
    """To pass a small generation to another thread takes longer than to make it. Without JAX's private parts it is passed."""
    original = inline.serialize_executable._JaxPjrtUnpickler
    found = finish(make())
    monkeypatch.setattr(steps, "_steps", {})
    if missing == "loading":
        monkeypatch.setattr(inline, "_unpickler", lambda: original.of_another_version)
    elif missing == "compiling":
        monkeypatch.setattr(inline, "_inline", lambda compiled: compiled.of_another_version)
        for path in entries(folder):
            path.unlink()
    with caplog.at_level(logging.DEBUG, "thalweg"):
        assert finish(make()) == found
    assert ("another thread" in caplog.text) == (missing != "nothing")


def test_the_least_recently_used_programs_go_first(tmp_path):
    for age, version in enumerate(["jax-2", "jax-1", "jax-2", "jax-1"]):
        entry = disk_cache.Entry(tmp_path / version / str(age))
        entry.write(np.random.default_rng(age).bytes(1000))
        os.utime(entry.path, (1e9 - age, 1e9 - age))
    disk_cache.Entry(tmp_path / "jax-2" / "2").read()  # used just now
    disk_cache.prune(tmp_path, 2500)
    assert {path.name for path in entries(tmp_path)} == {"0", "2"}


def test_no_program_for_a_second_problem(compilations):
    finish(make())
    first = len(compilations)
    assert 0 < first < 5  # no small operation is compiled by the way
    finish(make(seed=2**70))
    finish(Optimizer(np.array([5, 5]), 0.1, method="cma", popsize=4, seed=9, max_iter=3, bounds=(0, 10)))
    finish(Optimizer([5.0, 5.0], 7, method="cma", popsize=4, max_iter=3, bounds=[(None, 9), (-3, None)]))
    assert len(compilations) == first
    finish(Optimizer([1.0, 2.0, 3.0], method="cma", popsize=4, max_iter=3))
    assert len(compilations) > first  # the test can fail


def test_the_update_is_compiled_while_points_are_evaluated(compilations):
    es = make()
    X = es.ask()
    es.run.steps._tell.pending.result(timeout=200)  # nobody has called tell
    es.tell(X, np.sum(X**2, 1))
    assert set(compilations) == {"thalweg-compile"}


def test_what_the_compiler_raises_is_raised_by_the_step_that_needs_it(folder, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda seen: pytest.fail(f"a thread has raised {seen}"))
    compile_program = programs._compile

    def failing(lowered, *more):
        if "_next" in lowered.as_text()[:200]:
            raise MemoryError("in the compiler")
        return compile_program(lowered, *more)

    monkeypatch.setattr(programs, "_compile", failing)
    es = make()
    X = es.ask()
    for _ in range(2):
        with pytest.raises(MemoryError, match="in the compiler"):
            es.tell(X, np.zeros(4))


class OnDevice:
    """An array that notes when the host reads it, or a tree of arrays that it must not read at all."""

    def __init__(self, value, name=None, reads=None):
        self.value, self.name, self.reads = value, name, reads

    def __array__(self, dtype=None, copy=None):
        if self.reads is None:
            raise AssertionError("read by the host")
        self.reads.append(self.name)
        return np.array(self.value, dtype)


def test_one_array_goes_to_the_device_and_one_comes_back_per_generation():
    """Draws and state never leave the device; the matrix does early and each tenth generation, for the lengths of its axes."""
    es = make(max_iter=50, bounds=None, ftarget=None)
    reads, writes = [], []
    turn = es.run.steps._tell

    def spied(flat, f):
        writes.append(type(f))
        flat, numbers, scale = turn(flat.value, f)
        return OnDevice(flat), OnDevice(numbers, "numbers", reads), OnDevice(scale, "scale", reads)

    shared, es.run.steps = es.run.steps, steps.Steps.__new__(steps.Steps)  # a copy would be the shared one
    vars(es.run.steps).update(vars(shared), _tell=spied)
    es.run.ahead.flat = OnDevice(es.run.ahead.flat)
    finish(es)
    assert es.nit == 50
    assert writes == [np.ndarray] * 50
    assert reads == ["numbers", "scale"] * 30 + (9 * ["numbers"] + ["numbers", "scale"]) * 2


@pytest.mark.parametrize(("method", "most"), [("cma", 4), ("gnn-cma", 4)])
def test_a_call_passes_few_arrays(method, most):
    """Each one costs about a microsecond, on its way in and on its way out."""
    es = make(method=method)
    state = jax.tree.leaves(es.state)
    assert len(es.run.ahead.flat) <= most < len(state) + 3


@pytest.mark.parametrize(
    "method", ["cma", "gnn-cma", *(pytest.param(m, marks=pytest.mark.check) for m in ("xnes", "gnn-snes"))]
)
def test_a_generation_drawn_ahead_is_the_one_that_ask_draws(method):
    """To the last bit, as a run that goes on from a file has to ask."""
    es = Optimizer(np.ones(3), method=method, popsize=8, seed=5)
    for _ in range(3):
        X = es.ask()
        es.tell(X, np.sum(X**4, 1))
        assert es.run.ahead is not None
        asked = es.run.steps.ask(es.state)
        for ahead, alone in zip(jax.tree.leaves(es.run.ahead.drawn), jax.tree.leaves(asked), strict=True):
            if jax.dtypes.issubdtype(ahead.dtype, jax.dtypes.prng_key):
                ahead, alone = jax.random.key_data(ahead), jax.random.key_data(alone)
            assert np.array_equal(ahead, alone)
