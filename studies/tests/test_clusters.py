"""Tests of studies/benchmarks/clusters.py, which kills processes of clusters: one whose scheduler is lost."""

import sys

import pytest


@pytest.mark.check
@pytest.mark.timeout(300)
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_a_run_whose_scheduler_is_killed_ends_with_a_sentence_and_continues(benchmark):
    clusters = benchmark("clusters")
    row = clusters.trial("dask", "head", 1)
    assert row["right"], row
    assert row["what"].startswith("ended: ConnectionError: Dask's scheduler at tcp://127.0.0.1:"), row
    assert row["what"].endswith("went on")
    assert "| dask | head | 1 | 0 | 1 | 1 |" in clusters.show([row])
