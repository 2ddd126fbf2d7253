"""Programs as objectives: passing points, reading values, and one clear error for each way to fail."""

import json
import os
import pickle
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from thalweg.objectives.command import Command, ProgramError, kill_programs, parse_value
from thalweg.search.minimize import minimize

ROOT = Path(__file__).parents[2]
POINT = [0.1, -2.0, 1e-300]


def sh(script: str, **options) -> Command:
    return Command(["sh", "-c", script], **options)


def running(pid: int) -> bool:
    """Return True if a process runs; a zombie, which nobody has waited for, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(happens, seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not happens() and time.monotonic() < end:
        time.sleep(0.01)
    return happens()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("run {x}", ["run", "0.1", "-2.0", "1e-300"]),
        ("run --at={x} '{x1} and {0}'", ["run", "--at=0.1,-2.0,1e-300", "-2.0 and 0.1"]),
        (["run", "{x2}", "{print $1}", "{}"], ["run", "1e-300", "{print $1}", "{}"]),
        ("run {here}/data", ["run", f"{os.getcwd()}/data"]),
        ("run --x0={x[0]} {x[2]}", ["run", "--x0=0.1", "1e-300"]),
    ],
)
def test_a_point_as_arguments(command, words):
    assert Command(command).words(POINT) == words


def test_a_shell_reads_one_text():
    assert Command("a {x} | b --y={x} > '{x0}'", shell=True).words([1.0, 2.0]) == ["a 1.0 2.0 | b --y=1.0,2.0 > '1.0'"]
    assert Command("echo 3 4 {x} | wc -w", shell=True)([5.0, 6.0]) == 4


def test_a_point_on_stdin_and_in_a_file_to_the_last_bit(tmp_path):
    copy = tmp_path / "copy"
    assert sh(f"cat > {copy}; echo 1")(POINT) == 1
    assert json.loads(copy.read_text()) == POINT
    assert Command(["sh", "-c", f"cp $0 {copy}; echo $0 > {copy}.name; echo 2", "{file}"])(POINT) == 2
    assert json.loads(copy.read_text()) == POINT
    assert not Path(Path(f"{copy}.name").read_text().strip()).exists()


@pytest.mark.parametrize(
    ("stdout", "value"),
    [
        ("3", 3.0),
        ("1.5\n2.5e-3 \n\n", 2.5e-3),
        ("iteration 7\n-4\nall done\n", -4.0),
        ('{"f": 12, "g": 1}', 12.0),
        ('{\n  "f": -0.5\n}\n', -0.5),
        ('1\n{"f": 0.25}\n', 0.25),
        ("inf", float("inf")),
        ("", None),
        ("f is 3", None),
        ('{"f": null}', None),
        ('{"f": true}', None),
        ("[1]", None),
        ("[" * 100_000, None),
        (f'{{"f": 1{"0" * 400}}}', None),
    ],
)
def test_the_last_number_on_stdout(stdout, value):
    assert parse_value(stdout) == value


def test_nan_is_a_value():
    assert parse_value("nan") != parse_value("nan")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 1; echo out of memory >&2; exit 3", "exited with status 3; stderr: out of memory"),
        ("kill -9 $$", "was killed by signal 9"),
        ("echo nothing here; echo hm >&2", "wrote no number to stdout, but 'nothing here'; stderr: hm"),
        ("true", "wrote no number to stdout, but nothing"),
    ],
)
def test_failures_say_why(script, reason):
    with pytest.raises(ProgramError) as failure:
        sh(script)([1.0])
    assert str(failure.value).endswith(reason)
    assert str(pickle.loads(pickle.dumps(failure.value))) == str(failure.value)


def test_only_the_end_of_stderr_is_quoted():
    with pytest.raises(ProgramError) as failure:
        sh("seq 10000 >&2; exit 1")([1.0])
    assert str(failure.value).endswith("9999\n10000")
    assert len(str(failure.value)) < 600


def test_a_missing_program():
    with pytest.raises(ProgramError, match=r"cannot be started: .*No such file"):
        Command("no-such-program {x}")([1.0])


def test_out_of_time_the_whole_process_group_is_killed(tmp_path):
    child = tmp_path / "child"
    start = time.monotonic()
    with pytest.raises(ProgramError, match=r"was killed after 0\.2 s; stderr: begun"):
        sh(f"sleep 60 & echo $! > {child}; echo begun >&2; wait; echo 1", timeout=0.2)([1.0])
    assert time.monotonic() - start < 10
    assert wait_for(lambda: not running(int(child.read_text())))


def test_a_child_that_outlives_the_program_keeps_nobody_waiting():
    start = time.monotonic()
    assert sh("sleep 5 & echo 1")([1.0]) == 1
    assert time.monotonic() - start < 4


def test_programs_of_other_threads_can_be_killed(tmp_path):
    ready = tmp_path / "ready"
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(sh(f"echo > {ready}; exec sleep 60"), [1.0])
        assert wait_for(ready.exists)
        kill_programs()
        with pytest.raises(ProgramError, match="was killed by signal 9"):
            job.result(timeout=20)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can")
def test_programs_and_what_they_started_end_with_a_process_that_is_killed(tmp_path):
    code = f"""
from concurrent.futures import ThreadPoolExecutor
from thalweg.objectives.command import Command
script = "trap '' TERM HUP IO; sleep 60 & echo $$ $! > {tmp_path}/$$.new; mv {tmp_path}/$$.new {tmp_path}/$$; wait; sleep 60"
list(ThreadPoolExecutor(2).map(Command(script, shell=True), [[0.0], [1.0]]))
"""
    source = Path(__file__).parents[2] / "src"
    process = subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(source)})
    assert wait_for(lambda: len([path for path in tmp_path.iterdir() if path.suffix == ""]) == 2)
    pids = [int(pid) for path in tmp_path.iterdir() for pid in path.read_text().split()]
    assert len(pids) == 4
    assert all(map(running, pids))
    time.sleep(0.5)  # a program that has just begun may be a moment ahead of its parent
    process.kill()
    process.wait()
    assert wait_for(lambda: not any(map(running, pids)))


def test_a_folder_for_each_evaluation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "simulate"
    program.write_text("#!/bin/sh\npwd >&2\nls -A | wc -l\necho > output\n")
    program.chmod(0o755)
    assert [Command("./simulate", scratch=True)([1.0]) for _ in range(2)] == [0, 0]
    program.write_text("#!/bin/sh\npwd >&2\nexit 1\n")
    with pytest.raises(ProgramError) as failure:
        Command("./simulate", scratch=True)([1.0])
    folder = Path(str(failure.value).rpartition("stderr: ")[2])
    assert folder.name.startswith("thalweg-")
    assert not folder.exists()
    assert os.listdir(tmp_path) == ["simulate"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"command": " "}, "command must"),
        ({"command": []}, "command must"),
        ({"command": "run 'x"}, "command .*words"),
        ({"command": "run", "timeout": 0}, "timeout"),
        ({"command": ["run"], "shell": True}, "command.*shell=True"),
    ],
)
def test_wrong_commands_are_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Command(**arguments)


def test_a_coordinate_that_is_not_there():
    with pytest.raises(ValueError, match=r"command.*\{x3\}.*3 coordinates"):
        Command("echo {x3}")(POINT)


def test_minimize_takes_one_and_so_do_threads():
    """The program under examples/. The gentlest throw that hits has the angle 45 degrees + slope / 2: 49.3, effort aside."""
    throw = pickle.loads(pickle.dumps(Command(["sh", str(ROOT / "examples" / "external_program.sh"), "{x}"])))
    bounds = [(5, 85), (5, 30)]
    with ThreadPoolExecutor(2) as pool:
        result = minimize(throw, [40.0, 12.0], 3.0, method="cma", bounds=bounds, workers=pool, seed=1, max_evals=400)
    assert result.failures == 0
    assert abs(result.x[0] - 49.2) < 0.5
    assert abs(result.x[1] - 15.07) < 0.05


HOSTILE = [
    "a; touch PWNED #",
    "$(touch PWNED)",
    "`touch PWNED`",
    "a' ; touch PWNED; '",
    'a"; touch PWNED; "',
    "a\\",
    "a b",
    "-n",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_in_the_name_of_a_folder_is_run(name, tmp_path, monkeypatch):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "value").write_text("3.5")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert Command("cat {here}/value", shell=True)([1.0]) == 3.5
    assert Command("echo 'a'\"b\"; cat {here}/value", shell=True)([1.0]) == 3.5
    assert Command("cat {file} > copy; cat {here}/value", shell=True)([1.0]) == 3.5
    assert json.loads((folder / "copy").read_text()) == [1.0]
    places = ("'{here}'", '"{here}"', '"$(echo "{here}")"', "`echo {here}`", "${here}", "\\{here}", "#{here}", "<<E {here}")
    for place in () if name == "-n" else places:
        with pytest.raises(ValueError, match=r"command has {here} where the path .* outside of quotes"):
            Command(f"echo {place}; echo 1", shell=True)([1.0])
        with pytest.raises(ValueError, match=r"command has {file} where the path .* outside of quotes"):
            Command(f"echo {place.replace('here', 'file')}; echo 1", shell=True)([1.0])
    assert sorted(each.name for each in tmp_path.rglob("*")) == sorted([name, "copy", "value"])


def test_a_plain_path_may_stand_in_quotes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "value").write_text("3.5")
    assert Command('cat "{here}/value" \'{here}/value\' "$(echo {here})/value" | tail -c 3', shell=True)([1.0]) == 3.5


def test_values_of_variables_are_numbers_and_written_as_such():
    point = {"rate": np.float32(0.5), "width": np.int64(8)}
    assert Command("echo $(({width} + 1)); : {rate}", shell=True)(point) == 9
    with pytest.raises(TypeError, match="rate must be a number, got '; touch PWNED'"):
        Command("echo {rate}", shell=True)({"rate": "; touch PWNED"})


def test_names_of_variables_go_before_coordinates():
    point = {"x1": 5.0, "b": 7.0}
    assert Command("run {x1} {b} {x[1]} {0} {x}").words(point) == ["run", "5.0", "7.0", "7.0", "5.0", "5.0", "7.0"]
    with pytest.raises(ValueError, match=r"command has {x0}.* no such variable among 'x1', 'b'"):
        Command("run {x0}").words(point)
    assert Command("run {x0} {x1}").words({"a": 5.0, "b": 7.0}) == ["run", "5.0", "7.0"]
