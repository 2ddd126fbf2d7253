"""A run that continues from a checkpoint says so."""

import logging

from thalweg import minimize, resume

SETTINGS = {"x0": [1.0, 2.0], "method": "cma", "seed": 1, "max_evals": 60}


def sphere(x):
    return float(x @ x)


def told(caplog):
    """Return the notices since the last call."""
    found = [record.getMessage() for record in caplog.records if record.name == "thalweg.notices"]
    caplog.clear()
    return found


def test_each_call_says_from_where_it_goes_on(tmp_path, caplog):
    path = tmp_path / "run.ckpt"
    with caplog.at_level(logging.INFO, logger="thalweg"):
        first = minimize(sphere, **SETTINGS, checkpoint=path)
        assert (first.nfev_before, told(caplog)) == (0, [])
        again = minimize(sphere, **SETTINGS, checkpoint=path)
        assert (again.nfev_before, again.nfev) == (60, 60)
        assert told(caplog) == [f"already finished, nothing to do: {path} has 60 evaluations"]
        more = resume(path, sphere, max_evals=90)
        assert (more.nfev_before, more.nfev) == (60, 90)
        assert told(caplog) == [f"continuing from {path} after 60 evaluations"]
