"""The server of a live page: what it tells to whom, and that it follows its log."""

import http.client
import json
import socket
import time
from contextlib import closing
from urllib.parse import urlsplit

import numpy as np
import pytest

from thalweg.plots.html.live import CONNECTIONS, Live
from thalweg.plots.recorded import follow
from thalweg.storage.log import Evaluation, open_log

GOOD = {"Host": "127.0.0.1"}


def rows(number, *, start=0):
    return [
        Evaluation(0, i // 4, i % 4, np.array([1.0, i]), float(i), None, "a:1", 0.5, 1) for i in range(start, start + number)
    ]


@pytest.fixture
def path(tmp_path):
    with open_log(tmp_path / "run.jsonl", resume=False) as log:
        log.append(rows(5))
    return tmp_path / "run.jsonl"


def ask(live, place="", *, method="GET", headers=GOOD, whole=None):
    parts = urlsplit(live.url)
    with closing(http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)) as connection:
        connection.putrequest(method, whole or parts.path + place, skip_host=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()


def data(live, **seen):
    query = "&".join(f"{name}={value}" for name, value in seen.items())
    return json.loads(ask(live, f"data?{query}")[2])


def test_a_page_gets_what_is_new(path):
    with Live(lambda: follow(path), running=True) as live:
        first = data(live)
        assert (first["rows"]["n"], first["nfev"], first["state"]) == (5, 5, "running")
        with open_log(path, resume=True) as log:
            log.append(rows(3, start=5))
        live._next = 0.0
        later = data(live, series=first["series"], rows=first["end"], workers=1)
        assert (later["rows"]["n"], later["nfev"], later["workers"]) == (3, 8, [])
        path.unlink()
        with open_log(path, resume=False) as log:
            log.append(rows(2, start=100))
        live._next = 0.0
        anew = data(live, series=later["series"], rows=later["end"])
        assert anew["series"] != first["series"]
        assert anew["rows"]["n"] == 2


def test_before_the_first_evaluation_and_at_the_end(tmp_path):
    path = tmp_path / "run.jsonl"
    began = time.monotonic()
    with Live(lambda: follow(path), name="f, d = 2", running=True) as live:
        assert data(live) == {"waiting": True, "state": "waiting"}
        with open_log(path, resume=False) as log:
            log.append(rows(2))
        live._next = 0.0
        assert data(live)["name"] == "f, d = 2"
        live.result = {"message": "It is over.", "elapsed": 2.0}
        found = data(live)
        assert (found["state"], found["message"], found["elapsed"]) == ("ended", "It is over.", 2.0)
    assert time.monotonic() - began < 2.5  # a page has seen the end: nothing is waited for
    with pytest.raises(OSError, match="refused"):
        ask(live)


def test_reading_takes_a_small_part_of_the_time(path, monkeypatch):
    followed = follow(path)
    read, calls = followed.read, []

    def slow():
        calls.append(time.monotonic())
        time.sleep(0.05)
        return read()

    monkeypatch.setattr(followed, "read", slow)
    with Live(lambda: followed) as live:
        end = time.monotonic() + 1.2
        while time.monotonic() < end:
            data(live)
    assert 2 <= len(calls) <= 3  # 0.55 s apart


def test_only_those_with_the_address_see_the_run(path):
    with Live(lambda: follow(path)) as live:
        place = urlsplit(live.url).path
        assert len(live.token) >= 22
        assert ask(live)[0] == ask(live, "data")[0] == 200
        for wrong in (
            "/",
            "/data",
            place[:-2] + "/",
            place + "x",
            place[:-1],
            "/%00/",
        ):
            status, _, text = ask(live, whole=wrong)
            assert status == 404, wrong
            assert live.token not in text
        for host in ("localhost:80", "127.0.0.1:1", "[::1]:3", "localhost"):
            assert ask(live, headers={"Host": host})[0] == 200
        for headers in ({"Host": "evil.example"}, {"Host": "127.0.0.1.evil.example"}, {"Host": "["}, {"Host": ""}, {}):
            assert ask(live, headers=headers)[0] == 403, headers
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"):
            assert ask(live, method=method)[0] == 405
        status, headers, text = ask(live, method="HEAD")
        assert (status, text) == (200, "")
        assert int(headers["Content-Length"]) > 10_000
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "script-src 'sha256-" in headers["Content-Security-Policy"]
        with socket.create_connection((live.host, urlsplit(live.url).port), timeout=5) as raw:
            raw.sendall(b"nonsense\r\n\r\n")
            assert b"Bad Request" in raw.recv(1000)
        with pytest.raises(OSError, match="refused"):  # another address of this machine
            socket.create_connection(("127.0.0.2", urlsplit(live.url).port), timeout=5)


@pytest.mark.parametrize(
    "query",
    ["rows=-1", "rows=" + "9" * 5000, "rows=x&series=0.1", "rows=²", "&&&=", "series=0.1&rows=3&generations=7&errors=99"],
)
def test_a_strange_question_gets_an_answer(path, query):
    from urllib.parse import quote

    with Live(lambda: follow(path)) as live:
        status, _, text = ask(live, "data?" + quote(query, safe="=&"))
        assert status == 200
        assert json.loads(text)["nfev"] == 5


def test_more_connections_than_it_takes_do_not_stop_it(path):
    with Live(lambda: follow(path)) as live:
        place = (live.host, urlsplit(live.url).port)
        silent = [socket.create_connection(place, timeout=5) for _ in range(CONNECTIONS + 4)]
        time.sleep(0.3)
        for each in silent:
            each.close()
        time.sleep(0.2)
        assert ask(live)[0] == 200


def test_a_port_that_is_taken_is_an_error(path):
    with Live(lambda: follow(path)) as live, pytest.raises(OSError, match="cannot serve a page on"):
        Live(lambda: follow(path), port=urlsplit(live.url).port)
