"""A page of a run that goes on, served to browsers: read-only, on this machine, to those who have its address.

The server reads the files of the run, only when a page asks and at most a tenth of the time; the run knows nothing of it.
"""

import hmac
import ipaddress
import secrets
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from thalweg.plots.html.contents import Seen, as_json, contents
from thalweg.plots.html.document import live_page, policy
from thalweg.plots.recorded import Followed, Recorded

ROWS = 20_000
"""Largest number of evaluations in an answer."""
SHARE = 0.1
"""Largest share of the time that goes into reading the files."""
CONNECTIONS = 16
"""Largest number of requests at the same time."""
COUNTS = ("rows", "generations", "errors", "workers")
"""Fields of `Seen` that a page sends."""
LAST_WORD = 5.0
"""Seconds for which the end of the run waits for pages that have asked a moment ago, so that they show it."""


class Live:
    """A context manager that serves the page of a run; `url` is its address.

    Args:
        source: Opens the files of the run, or raises a FileNotFoundError as long as there are none.
        name: Name of the run in the page; None is that of the file.
        running: True if the run goes on until `result` is set, whatever its files say.
        host: Address of the network interface. Whoever can reach it and has the address of the page sees the run.
        port: Port of the server; 0 is any that is free.
    """

    def __init__(
        self,
        source: Callable[[], Followed],
        *,
        name: str | None = None,
        running: bool = False,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.name, self.running = name, running
        self.token = secrets.token_urlsafe(16)
        self.host = host
        self.result: dict[str, Any] | None = None
        """Fields of `Recorded` that are known of the run once it has ended."""
        self._source, self._followed = source, None
        self._run: Recorded | None = None
        self._epoch, self._next, self._asked = 0, 0.0, -LAST_WORD
        self._reading, self._shown = threading.Lock(), threading.Event()
        try:
            self._server = Server(self, host, port)
        except (OSError, OverflowError) as error:
            raise OSError(f"cannot serve a page on {host}, port {port}: {error}") from error
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self._server.server_address[1]}/{self.token}/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True, name="live page")

    def __enter__(self) -> "Live":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.result is not None and time.monotonic() - self._asked < LAST_WORD:
            self._next = 0.0  # what was written since counts
            with suppress(KeyboardInterrupt):  # the run has ended already
                self._shown.wait(LAST_WORD)
        self._server.shutdown()
        self._server.server_close()

    def news(self, seen: Seen) -> dict[str, Any]:
        """Return what a page has not seen."""
        self._asked, result = time.monotonic(), self.result
        with self._reading:
            run = self._read()
        if run is None or not run.nfev:
            return {"waiting": True, "state": "waiting" if result is None else "ended"}
        told = result or ({"message": None} if self.running else {})
        run = replace(run, name=self.name or run.name, **told)
        state = "ended" if run.message is not None else "running" if self.running else "open"
        return contents(run, seen, most=ROWS, epoch=self._epoch) | {"state": state}

    def shown(self) -> None:
        """Take note that a page has all of a run that has ended."""
        if self.result is not None:
            self._shown.set()

    def _read(self) -> Recorded | None:
        began = time.monotonic()
        if began < self._next:
            return self._run
        try:
            self._followed = self._followed or self._source()
            run = self._followed.read()
        except (FileNotFoundError, ValueError):  # not yet there, or half written
            return self._run
        if self._run is not None and _replaced(self._run, run):
            self._epoch += 1
        now = time.monotonic()
        self._next = now + (now - began) / SHARE
        self._run = run
        return run


def _replaced(before: Recorded, now: Recorded) -> bool:
    """Tell whether a log was replaced by another one."""
    n, last = len(before.evaluations), len(before.evaluations) - 1
    if before is now or not n:
        return False
    if len(now.evaluations) < n or before.before != now.before or before.d != now.d:
        return True
    return any(before.evaluations.x[i].tolist() != now.evaluations.x[i].tolist() for i in (0, last))


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A server of a thread for each request, and of so many requests at a time."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = CONNECTIONS

    def __init__(self, live: Live, host: str, port: int) -> None:
        self.live = live
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._slots = threading.BoundedSemaphore(CONNECTIONS)
        super().__init__((host, port), Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._slots.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has gone."""


class Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD for the page and its data."""

    timeout = 10.0

    def do_GET(self) -> None:
        live, (path, _, query) = self.live, self.path.partition("?")
        token, slash, name = path.removeprefix("/").partition("/")
        if not self._named():
            self._send(HTTPStatus.FORBIDDEN, "this server has another name")
        elif not hmac.compare_digest(token.encode("utf-8", "replace"), live.token.encode()) or slash + name not in (
            "/",
            "/data",
        ):
            self._send(HTTPStatus.NOT_FOUND, "there is no such page: use the address that the run has printed")
        elif not name:
            self._send(HTTPStatus.OK, live_page(live.name or "Run"), "text/html")
        else:
            given = {key: values[0] for key, values in parse_qs(query).items()}
            counts = {key: int(text[:12]) for key in COUNTS if (text := given.get(key, "")).isascii() and text.isdigit()}
            news = live.news(Seen(series=given.get("series", ""), **counts))
            self._send(HTTPStatus.OK, as_json(news), "application/json")
            if news["state"] == "ended" and not news.get("more"):
                live.shown()

    do_HEAD = do_GET  # noqa: N815

    @property
    def live(self) -> Live:
        """The page that the server serves."""
        return cast("Server", self.server).live

    def _named(self) -> bool:
        """Tell whether the browser means this server: a foreign page may have led its name here."""
        try:
            host = urlsplit("//" + self.headers.get("Host", "")).hostname or ""
            return host in ("localhost", self.live.host) or bool(ipaddress.ip_address(host))  # numbers are led nowhere
        except ValueError:
            return False

    def _send(self, status: HTTPStatus, text: str, kind: str = "text/plain") -> None:
        body = text.encode()
        self.send_response(status)
        headers = {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Content-Security-Policy": policy(live=True) + "; frame-ancestors 'none'",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        status = HTTPStatus.METHOD_NOT_ALLOWED if code == HTTPStatus.NOT_IMPLEMENTED else HTTPStatus(code)
        self._send(status, status.phrase)

    def version_string(self) -> str:
        return "thalweg"

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: stderr belongs to the run."""
