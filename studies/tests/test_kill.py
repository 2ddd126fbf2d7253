"""Tests of studies/benchmarks/kill.py, which kills runs hundreds of times: a few kills, and each check finds its fault."""

import re
import sys
from dataclasses import replace

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the workers of a run in /proc")


@pytest.mark.timeout(180)
def test_runs_that_are_killed_again_and_again_lose_nothing(benchmark, tmp_path):
    kill = benchmark("kill")
    total = kill.Total(tmp_path / "kill.json")
    kill.campaign(total, kills=4, jobs=2, minutes=1, work=kill.Work(evaluations=50, seconds=0.001))
    assert total.faults == []
    again = kill.Total(tmp_path / "kill.json")
    assert again.kills == total.kills >= 2
    assert again.tally == total.tally
    assert f"{total.kills} kills" in kill.show(tmp_path / "kill.json")
    assert total.tally.evaluations == 50 * total.tally.runs


def test_settings_of_every_kind_come_up(benchmark):
    kill = benchmark("kill")
    options = [kill.options_of(kill.settings_of(seed, 100, 0.0)) for seed in range(200)]
    assert {len(set(each)) for each in zip(*options, strict=True)} == {2, 3, 4}
    assert len(set(map(tuple, options))) > 100


@pytest.fixture
def run(benchmark, tmp_path):
    """A finished run that was inspected."""
    kill = benchmark("kill")
    common = {"seed": 1, "workers": 1, "log": "jsonl", "evaluations": 30, "seconds": 0.0, "asynchronous": False}
    settings = common | {"problem": "plain", "restarts": "none", "model": False, "method": "cma"}
    made = kill.Run(tmp_path, settings, kill.Tally())
    made.start()
    assert made.process.wait(120) == 0
    made.killed = 2**62
    made.inspect_end()
    assert (made.counted, len(made.rows)) == (30, 30)
    return made


def test_each_loss_is_found(run, benchmark):
    kill = benchmark("kill")
    lines = (run.folder / "run.jsonl").read_bytes().splitlines(keepends=True)
    record, saved = (run.folder / "record").read_bytes(), (run.folder / "run.ckpt").read_bytes()
    result, worst = (run.folder / "result").read_bytes(), max(range(30), key=lambda i: -run.rows[i].f)
    notes = record.splitlines(keepends=True)
    again = notes[0].replace(b"000001", b"000002")
    unknown = [f"end 000002 {i:032x} 5\n".encode() for i in range(2)]

    def broken(words: str, name: str, data: bytes | None, end: bool = False, **more: object) -> None:
        path = run.folder / name
        kept = path.read_bytes()
        path.unlink() if data is None else path.write_bytes(data)
        copy = replace(run, **more)
        copy.process = run.process
        with pytest.raises((kill.LostError, ValueError), match=words):
            copy.inspect_end() if end else copy.inspect()
        path.write_bytes(kept)

    run.attempt += 1  # the lines below are of this attempt and not in the log
    broken("and the best of the log is", "result", re.sub(rb'"fun": "....', b'"fun": "0000', result), end=True)
    without = [line for i, line in enumerate(lines) if i != worst]
    broken(
        "and the best of the log is",
        "run.jsonl",
        b"".join([*without, lines[1].replace(b'"index": ', b'"index": 9')]),
        end=True,
        rows=[],
    )
    (run.folder / ".run.ckpt.lock").touch()
    broken("the run has left", "run.ckpt", saved, end=True)
    (run.folder / ".run.ckpt.lock").unlink()
    broken("the log has lost something", "run.jsonl", b"".join(lines[:-1]))
    broken("more than once", "run.jsonl", b"".join([*lines, lines[3]]))
    broken("the log is damaged", "run.jsonl", b"".join([*lines, b"{}\n"]))
    broken("there is no log", "run.jsonl", None)
    broken("the checkpoint counts 30 evaluations after 30, the log 12", "run.jsonl", b"".join(lines[:12]), rows=[])
    broken("the checkpoint counts 30 evaluations after 40", "run.ckpt", saved, counted=40)
    broken("of the checkpoint are", "run.ckpt", saved, best=(0.0, -1.0))
    broken("is damaged or cut off", "run.ckpt", saved[:-9])
    broken("there is no checkpoint", "run.ckpt", None)
    broken("never ended", "record", b"".join(notes[:-1]))
    broken("in the log were begun again", "record", record + again)
    broken("more often than workers were killed", "record", record + again + again, known=0)
    broken("2 finished evaluations are not in the log", "record", record + b"".join(unknown))
    copy = replace(run)
    copy.process = run.process
    copy.inspect_end()
