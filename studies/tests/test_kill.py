"""Tests of studies/benchmarks/kill.py, which kills runs hundreds of times: a few kills, and each check finds its fault."""

import sys
from dataclasses import replace
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the workers of a run in /proc")


@pytest.mark.timeout(180)
def test_a_run_that_is_killed_again_and_again_loses_nothing(benchmark, tmp_path):
    kill = benchmark("kill")
    *_, tally = kill.campaign(kills=5, workers=2, seed=11, log="jsonl", folder=tmp_path, evaluations=400)
    assert tally.kills + tally.worker_kills >= 5
    assert tally.evaluations >= 400 * tally.runs


@pytest.fixture
def run(benchmark, tmp_path):
    """A finished run that was inspected."""
    kill = benchmark("kill")
    settings = {"seed": 1, "workers": 1, "log": "jsonl", "evaluations": 30, "seconds": 0.0, "asynchronous": False}
    made = kill.Run(tmp_path, settings, kill.Tally(1, "jsonl", False, 1))
    made.start()
    assert made.process.wait(120) == 0
    made.killed = 2**62
    made.inspect()
    assert (made.counted, len(made.rows)) == (30, 30)
    return made


def test_each_loss_is_found(run, benchmark):
    kill = benchmark("kill")
    lines = (run.folder / "run.jsonl").read_bytes().splitlines(keepends=True)
    record, saved = (run.folder / "record").read_bytes(), (run.folder / "run.ckpt").read_bytes()
    notes = record.splitlines(keepends=True)
    run.attempt += 1  # the lines below are of this attempt and not in the log
    again = notes[0].replace(b"000001", b"000002")
    unknown = [f"end 000002 {i:032x} 5\n".encode() for i in range(2)]

    def broken(words: str, name: str, data: bytes | None, **more: Any) -> None:
        path = run.folder / name
        kept = path.read_bytes()
        path.unlink() if data is None else path.write_bytes(data)
        with pytest.raises((kill.LostError, ValueError), match=words):
            replace(run, **more).inspect()
        path.write_bytes(kept)

    broken("the log has lost something", "run.jsonl", b"".join(lines[:-1]))
    broken("more than once", "run.jsonl", b"".join([*lines, lines[3]]))
    broken("the log is damaged", "run.jsonl", b"".join([*lines, b"{}\n"]))
    broken("there is no log", "run.jsonl", None)
    broken("the checkpoint counts 30 evaluations after 30, the log 12", "run.jsonl", b"".join(lines[:12]), rows=[])
    broken("the checkpoint counts 30 evaluations after 40", "run.ckpt", saved, counted=40)
    broken("is damaged or cut off", "run.ckpt", saved[:-9])
    broken("there is no checkpoint", "run.ckpt", None)
    broken("never ended", "record", b"".join(notes[:-1]))
    broken("in the log were begun again", "record", record + again)
    broken("more often than workers were killed", "record", record + again + again, known=0)
    broken("2 finished evaluations are not in the log", "record", record + b"".join(unknown))
    replace(run).inspect()
