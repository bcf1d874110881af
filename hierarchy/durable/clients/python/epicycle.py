"""A client of the service epicycle: durable timers over HTTP.

    client = Client("http://127.0.0.1:8421")
    client.set("order-17", {"id": 17}, in_="30m", to={"queue": "orders"})
    client.worker("orders", cancel, concurrency=10).run()

Client is for threads, AsyncClient for asyncio, and verify is for receivers of webhooks. It is one file, which needs
nothing but the standard library of Python 3.9 or later. Timers are the dictionaries that the service returns: fields that
it gets later are in them, too.

Durations are seconds, a timedelta, or text such as "1h30m"; times are a datetime with a time zone, or text of RFC 3339.
"""

from __future__ import annotations

import asyncio
import base64
import concurrent.futures
import contextlib
import hashlib
import hmac
import http.client
import json
import logging
import os
import random
import re
import selectors
import socket
import ssl
import threading
import time
import urllib.parse
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Optional, Sequence, TypedDict, Union

__all__ = [
    "AsyncClient", "AsyncWorker", "Attempt", "Client", "Debounce", "EpicycleError", "Firing", "NotMet", "Operation", "Page",
    "Result", "Retry", "SignatureError", "Target", "Timer", "Webhook", "Worker", "seconds", "verify",
]

Duration = Union[str, float, timedelta]
Time = Union[str, datetime]


class Retry(TypedDict, total=False):
    """How often a timer is attempted, and how long it waits between two attempts."""

    attempts: int
    backoff: str
    most: str


class Target(TypedDict, total=False):
    """Where a timer is delivered: exactly one of webhook, subject and queue. method, headers and secret are for webhooks;
    timeout and retry are those of set, which must then have none."""

    webhook: str
    subject: str
    queue: str
    method: str
    headers: dict[str, str]
    secret: str
    timeout: str
    retry: Retry


class Debounce(TypedDict, total=False):
    """Due some time after the last of several calls, but not later than some time after the first."""

    quiet: str
    longest: str


class Attempt(TypedDict, total=False):
    """An attempt that has ended."""

    at: str
    took: str
    status: int
    error: str


class _Timer(TypedDict):
    key: str
    value: Any
    to: Target
    timeout: str
    due: str
    id: str
    attempt: int
    state: str


# What goes with a schedule: each run is later by a time within spread, and none is before from, or after until.
Runs = TypedDict("Runs", {"spread": Duration, "from": Time, "until": Time}, total=False)


class Timer(_Timer, total=False):
    """A timer. Fields that have no value are absent."""

    value_text: str
    retry: Retry
    schedule: str
    paused: bool
    limited_by: str
    last_error: str
    last_error_at: str
    next: str
    attempts: list[Attempt]


class _Firing(TypedDict):
    token: str
    key: str
    value: Any
    due: str
    id: str
    attempt: int
    timeout: str


class Firing(_Firing, total=False):
    """A firing that was taken from a queue. Its id is the same at each attempt."""

    value_text: str
    traceparent: str


class _Result(TypedDict):
    ok: bool


class Result(_Result, total=False):
    """The result of an operation. If it is not ok, error says why."""

    error: str


class _Page(TypedDict):
    timers: list[Timer]


class Page(_Page, total=False):
    """Some timers. next is absent at the end."""

    next: str


# An operation of a batch: op (set, move or remove) and key, and what set and move take: value, to, in, at, schedule, if.
Operation = dict[str, Any]


class EpicycleError(Exception):
    """An answer that is an error, with the fields of its application/problem+json."""

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: float = 0) -> None:
        super().__init__(problem.get("detail") or f"the server answered {status}")
        self.status = status
        self.type: str = problem.get("type", "about:blank")
        self.title: str = problem.get("title", "")
        self.detail: str = str(self)
        self.timer: Optional[Timer] = problem.get("timer")
        self.retry_after = retry_after
        self.problem = problem


class NotMet(EpicycleError):
    """The condition if_ was not met. timer is the timer that is there."""

    timer: Timer


class _Aborted(Exception):
    pass


_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)")


def seconds(duration: Duration) -> float:
    """The seconds of a duration such as "1h30m"."""
    if isinstance(duration, timedelta):
        return duration.total_seconds()
    if not isinstance(duration, str):
        return float(duration)
    if not re.fullmatch(rf"(?:{_DURATION.pattern})+|0", duration):
        raise ValueError(f"{duration!r} is not a duration such as 30m or 1.5s")
    return sum(float(number) * _UNITS[unit] for number, unit in _DURATION.findall(duration))


def _duration(duration: Duration) -> str:
    return duration if isinstance(duration, str) else f"{seconds(duration):.9f}s"


def _time(at: Time) -> str:
    if isinstance(at, str):
        return at
    if at.tzinfo is None:
        raise ValueError("the time has no time zone")
    return at.isoformat()


def _setting(
    value: Any, to: Target, in_: Optional[Duration], at: Optional[Time], schedule: Optional[str],
    debounce: Optional[Debounce], timeout: Optional[Duration], retry: Optional[Retry], runs: Optional[Runs],
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "value": value, "to": to, "in": None if in_ is None else _duration(in_), "at": None if at is None else _time(at),
        "schedule": schedule, "debounce": debounce, "timeout": None if timeout is None else _duration(timeout),
        "retry": retry,
    }
    for name, field in (runs or {}).items():
        body[name] = _duration(field) if name == "spread" else _time(field)
    return {name: field for name, field in body.items() if field is not None}


def _path(key: str) -> str:
    # "." and ".." would be taken for steps in a path.
    return key.replace(".", "%2E") if key in (".", "..") else urllib.parse.quote(key, safe="")


def _timer(key: str) -> str:
    return "/v1/timers/" + _path(key)


def _query(**parameters: Any) -> str:
    return "?" + urllib.parse.urlencode({name: text for name, text in parameters.items() if text})


@dataclass
class _Request:
    method: str
    path: str
    body: Any = None
    again: bool = False  # whether it may be repeated if it is unknown whether it has taken hold
    wait: float = 0  # how long the server may wait besides
    absent: bool = False  # whether 404 is None


class _Abort:
    """Ends a request from another thread."""

    def __init__(self) -> None:
        self.aborted = threading.Event()
        self._connection: Optional[http.client.HTTPConnection] = None

    def begin(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        if self.aborted.is_set():
            raise _Aborted

    def end(self) -> None:
        self._connection = None

    def abort(self) -> None:
        self.aborted.set()
        connection = self._connection
        sock = connection.sock if connection else None
        if sock:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # of a TLS connection, too, without its closing words


class _Transport:
    """Sends requests by connections that are kept."""

    def __init__(
        self, server: Optional[str], token: Optional[str], timeout: float, attempts: int, context: Optional[ssl.SSLContext]
    ) -> None:
        if not server:
            server = os.environ.get("EPICYCLE_SERVER") or "http://127.0.0.1:8421"
            token = token or os.environ.get("EPICYCLE_TOKEN")
        url = urllib.parse.urlsplit(server if "://" in server else "http://" + server)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError(f"{server!r} is no URL of a server, such as http://127.0.0.1:8421")
        self._url = url
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = "Bearer " + token
        self._timeout = timeout
        self._attempts = attempts
        self._context = context
        self._idle: list[http.client.HTTPConnection] = []

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _connection(self) -> http.client.HTTPConnection:
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                break
            if connection.sock and not _readable(connection.sock):  # one that the server has closed is
                return connection
            connection.close()
        host, port = str(self._url.hostname), self._url.port
        if self._url.scheme == "https":
            return http.client.HTTPSConnection(host, port, context=self._context)
        return http.client.HTTPConnection(host, port)

    def send(self, request: _Request, abort: Optional[_Abort] = None) -> Any:
        """Sends a request until there is an answer, or one that does not change."""
        abort = abort or _Abort()
        attempt = 1
        while True:
            connected = [False]
            try:
                return self._once(request, abort, connected)
            except (OSError, http.client.HTTPException, EpicycleError) as error:
                if abort.aborted.is_set():
                    raise _Aborted from error
                if attempt == self._attempts or not _passing(error, request.again, connected[0]):
                    raise
                if abort.aborted.wait(_pause(attempt, error)):
                    raise _Aborted from error
            attempt += 1

    def _once(self, request: _Request, abort: _Abort, connected: list[bool]) -> Any:
        connection = self._connection()
        try:
            connection.timeout = self._timeout + request.wait
            if connection.sock is None:
                connection.connect()
            connection.sock.settimeout(self._timeout + request.wait)
            connected[0] = True
            abort.begin(connection)
            body = None if request.body is None else json.dumps(request.body).encode()
            connection.request(request.method, self._url.path.rstrip("/") + request.path, body, self._headers)
            answer = connection.getresponse()
            content = answer.read()
        except BaseException:
            connection.close()
            raise
        finally:
            abort.end()
        if answer.will_close:
            connection.close()
        else:
            self._idle.append(connection)
        return _result(request, answer, content)


def _readable(sock: socket.socket) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def _result(request: _Request, answer: http.client.HTTPResponse, content: bytes) -> Any:
    if 200 <= answer.status < 300:
        return json.loads(content)
    try:
        problem = json.loads(content)
        known = isinstance(problem, dict) and "status" in problem
    except ValueError:
        known = False
    if not known:
        problem = {}
    if request.absent and known and answer.status == 404:
        return None
    kind = NotMet if answer.status == 409 and problem.get("timer") else EpicycleError
    after = answer.headers.get("Retry-After", "")
    raise kind(answer.status, problem, min(int(after), 60) if after.isdigit() else 0)


def _passing(error: Exception, again: bool, connected: bool) -> bool:
    """Whether a request that has failed can be repeated."""
    if isinstance(error, EpicycleError):
        return error.status == 429 or error.status in (502, 503, 504) and again
    if isinstance(error, ssl.SSLCertVerificationError):
        return False
    return again or not connected


def _pause(attempt: int, error: Exception) -> float:
    """The time until the next attempt: twice as long each time, half of it random, no less than the server asks for."""
    pause = min(0.1 * 2 ** min(attempt - 1, 10), 5) * random.uniform(0.5, 1)
    return max(pause, error.retry_after) if isinstance(error, EpicycleError) else pause


class _Requests:
    """The requests of both clients."""

    @staticmethod
    def set(
        key: str, value: Any, to: Target, in_: Optional[Duration], at: Optional[Time], schedule: Optional[str],
        debounce: Optional[Debounce], timeout: Optional[Duration], retry: Optional[Retry], if_: Optional[str],
        runs: Optional[Runs],
    ) -> _Request:
        body = _setting(value, to, in_, at, schedule, debounce, timeout, retry, runs)
        path = _timer(key) + (_query(**{"if": if_}) if if_ else "")
        return _Request("PUT", path, body, again=not if_)

    @staticmethod
    def move(key: str, in_: Optional[Duration], at: Optional[Time]) -> _Request:
        body = {} if in_ is None else {"in": _duration(in_)}
        if at is not None:
            body["at"] = _time(at)
        return _Request("PATCH", _timer(key), body, again=True, absent=True)

    @staticmethod
    def pause(key: str, paused: bool) -> _Request:
        return _Request("PATCH", _timer(key), {"paused": paused}, again=True, absent=True)

    @staticmethod
    def get(key: str) -> _Request:
        return _Request("GET", _timer(key), again=True, absent=True)

    @staticmethod
    def remove(key: str) -> _Request:
        return _Request("DELETE", _timer(key), absent=True)

    @staticmethod
    def revive(key: str) -> _Request:
        return _Request("POST", _timer(key) + "/revive", absent=True)

    @staticmethod
    def page(prefix: str, state: str, after: str, limit: int) -> _Request:
        return _Request("GET", "/v1/timers" + _query(prefix=prefix, state=state, after=after, limit=limit), again=True)

    @staticmethod
    def remove_all(prefix: str) -> _Request:
        return _Request("DELETE", "/v1/timers" + (_query(prefix=prefix) if prefix else "?all=true"))

    @staticmethod
    def batch(operations: Sequence[Operation]) -> _Request:
        fragile = any(one.get("op") == "remove" or one.get("if") for one in operations)
        return _Request("POST", "/v1/batch", {"operations": list(operations)}, again=not fragile)

    @staticmethod
    def take(queue: str, n: int, wait: Duration) -> _Request:
        body = {"max": n, "wait": _duration(wait)}
        return _Request("POST", f"/v1/queues/{_path(queue)}/take", body, again=True, wait=seconds(wait))

    @staticmethod
    def done(queue: str, tokens: Sequence[str]) -> _Request:
        return _Request("POST", f"/v1/queues/{_path(queue)}/done", {"tokens": list(tokens)}, again=True)

    @staticmethod
    def fail(queue: str, tokens: Sequence[str], error: str) -> _Request:
        return _Request("POST", f"/v1/queues/{_path(queue)}/fail", {"tokens": list(tokens), "error": error}, again=True)


class Client:
    """A client for threads; it can be used by many at once.

    Without a server it is $EPICYCLE_SERVER, with the token $EPICYCLE_TOKEN, or http://127.0.0.1:8421. timeout is in
    seconds, of each attempt to send a request. Requests are sent up to attempts times where that is safe: those that set
    a timer with a condition, and those that remove or revive one, are not repeated if it is unknown whether they have taken
    hold. An answer that is an error is raised as an EpicycleError, and one of the network as an OSError or an
    http.client.HTTPException.
    """

    def __init__(
        self, server: Optional[str] = None, *, token: Optional[str] = None, timeout: float = 30, attempts: int = 5,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        self._transport = _Transport(server, token, timeout, attempts, ssl_context)

    def close(self) -> None:
        """Closes idle connections."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def set(
        self, key: str, value: Any = None, *, to: Target, in_: Optional[Duration] = None, at: Optional[Time] = None,
        schedule: Optional[str] = None, debounce: Optional[Debounce] = None, timeout: Optional[Duration] = None,
        retry: Optional[Retry] = None, if_: Optional[str] = None, runs: Optional[Runs] = None,
    ) -> Timer:
        """Sets a timer, which is due as exactly one of in_, at, schedule and debounce says.

        if_ is absent, sooner or later: NotMet is raised if that is not so. runs goes with schedule.
        """
        request = _Requests.set(key, value, to, in_, at, schedule, debounce, timeout, retry, if_, runs)
        return self._transport.send(request)

    def move(self, key: str, *, in_: Optional[Duration] = None, at: Optional[Time] = None) -> Optional[Timer]:
        """Moves a timer, or returns None if there is none."""
        return self._transport.send(_Requests.move(key, in_, at))

    def pause(self, key: str) -> Optional[Timer]:
        """Pauses the schedule of a timer: no attempt begins until resume. Returns None if there is no timer."""
        return self._transport.send(_Requests.pause(key, True))

    def resume(self, key: str) -> Optional[Timer]:
        """Ends a pause. Runs that fell due in it are not made up for."""
        return self._transport.send(_Requests.pause(key, False))

    def get(self, key: str) -> Optional[Timer]:
        """Returns a timer, or None."""
        return self._transport.send(_Requests.get(key))

    def remove(self, key: str) -> Optional[Timer]:
        """Removes a timer and returns it, or None if there is none."""
        return self._transport.send(_Requests.remove(key))

    def revive(self, key: str) -> Optional[Timer]:
        """Makes a dead timer due now, or returns None if there is none."""
        return self._transport.send(_Requests.revive(key))

    def page(self, *, prefix: str = "", state: str = "", after: str = "", limit: int = 1000) -> Page:
        """Returns some timers in the order of their keys. next, if it is there, is the after of the next page."""
        return self._transport.send(_Requests.page(prefix, state, after, limit))

    def list(self, *, prefix: str = "", state: str = "", limit: int = 1000) -> Iterator[Timer]:
        """Yields all timers in the order of their keys, by pages of a limit."""
        after: Optional[str] = ""
        while after is not None:
            page = self.page(prefix=prefix, state=state, after=after, limit=limit)
            yield from page["timers"]
            after = page.get("next")

    def remove_all(self, prefix: str) -> int:
        """Removes all timers whose keys begin with a prefix, or with an empty prefix all, and returns their number."""
        removed = 0
        while True:
            some = self._transport.send(_Requests.remove_all(prefix))
            removed += some["removed"]
            if not some.get("more"):
                return removed

    def batch(self, operations: Sequence[Operation]) -> Sequence[Result]:
        """Does up to 10,000 operations, and returns their results in their order."""
        return self._transport.send(_Requests.batch(operations))["results"]

    def take(self, queue: str, n: int = 1, wait: Duration = 0) -> Sequence[Firing]:
        """Takes up to n firings from a queue, and waits for the first one. A worker is a loop around it."""
        return self._transport.send(_Requests.take(queue, n, wait))["firings"]

    def done(self, queue: str, *tokens: str) -> Sequence[Result]:
        """Ends firings that were taken. One whose attempt has timed out is not ok."""
        return self._transport.send(_Requests.done(queue, tokens))["results"]

    def fail(self, queue: str, *tokens: str, error: str = "") -> Sequence[Result]:
        """Has firings that were taken retried. error is the last_error of their timers."""
        return self._transport.send(_Requests.fail(queue, tokens, error))["results"]

    def worker(
        self, queue: str, handle: Callable[[Firing], Any], *, concurrency: int = 1,
        on_error: Optional[Callable[[Exception], None]] = None,
    ) -> Worker:
        """Returns a worker, which takes firings from a queue. See Worker."""
        return Worker(self._transport, queue, handle, concurrency, on_error)


_TAKE_WAIT = 20.0
_logger = logging.getLogger("epicycle")


def _log(error: Exception) -> None:
    _logger.warning("a worker's request failed: %s", error)


class Worker:
    """Takes firings from a queue and calls handle with them, in as many threads as concurrency says.

    A firing is done if handle returns, and retried if it raises or takes longer than the timeout of its timer. on_error is
    called with an error of the server or the network, after which the worker goes on; by default it is logged.
    """

    def __init__(
        self, transport: _Transport, queue: str, handle: Callable[[Firing], Any], concurrency: int,
        on_error: Optional[Callable[[Exception], None]],
    ) -> None:
        self._transport = transport
        self._queue = queue
        self._handle = handle
        self._on_error = on_error or _log
        self._concurrency = max(1, concurrency)
        self._places = threading.Semaphore(self._concurrency)
        self._abort = _Abort()
        self._failure: Optional[Exception] = None

    def run(self) -> None:
        """Works until stop is called. It raises an EpicycleError if the server refuses to hand out firings."""
        taker = threading.Thread(target=self._take_all, name="epicycle-take")
        taker.start()
        try:
            taker.join()
        except BaseException:  # such as KeyboardInterrupt
            self.stop()
            taker.join()
            raise
        if self._failure:
            raise self._failure

    def stop(self) -> None:
        """Ends run once the handlers that run have returned, and the server knows their results. It may be called by any
        thread, and by a handler of signals."""
        self._abort.abort()

    def _take_all(self) -> None:
        with concurrent.futures.ThreadPoolExecutor(self._concurrency, "epicycle-handle") as pool:
            attempt = 1
            while True:
                n = self._acquire()
                if self._abort.aborted.is_set():
                    return
                taken: Sequence[Firing] = ()
                try:
                    taken = self._transport.send(_Requests.take(self._queue, n, _TAKE_WAIT), self._abort)["firings"]
                    attempt = 1
                except _Aborted:
                    return
                except Exception as error:
                    if not _passing(error, True, True):
                        self._failure = error
                        return
                    self._on_error(error)
                    self._abort.aborted.wait(_pause(attempt, error))
                    attempt += 1
                for firing in taken:
                    pool.submit(self._attempt, firing)
                for _ in range(n - len(taken)):
                    self._places.release()

    def _acquire(self) -> int:
        """Waits for a place, and takes all that are free."""
        while not self._places.acquire(timeout=0.1):
            if self._abort.aborted.is_set():
                return 0
        n = 1
        while n < self._concurrency and self._places.acquire(blocking=False):
            n += 1
        return n

    def _attempt(self, firing: Firing) -> None:
        try:
            request = _Requests.done(self._queue, [firing["token"]])
            try:
                self._handle(firing)
            except BaseException as error:
                request = _Requests.fail(self._queue, [firing["token"]], _reason(error))
            _check(self._transport.send(request), firing)
        except Exception as error:
            self._on_error(error)
        finally:
            self._places.release()


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _check(answer: Any, firing: Firing) -> None:
    result: Result = answer["results"][0]
    if not result["ok"]:
        raise RuntimeError(f"{firing['key']!r}: {result.get('error', '')}")


class AsyncClient:
    """A client for asyncio, with the methods of Client.

    The standard library speaks HTTP in threads only, so that each request in progress has one, of at most threads.
    """

    def __init__(
        self, server: Optional[str] = None, *, token: Optional[str] = None, timeout: float = 30, attempts: int = 5,
        ssl_context: Optional[ssl.SSLContext] = None, threads: int = 64,
    ) -> None:
        self._transport = _Transport(server, token, timeout, attempts, ssl_context)
        self._pool = concurrent.futures.ThreadPoolExecutor(threads, "epicycle")

    async def close(self) -> None:
        """Waits for requests in progress, and closes the connections."""
        await asyncio.get_running_loop().run_in_executor(None, self._pool.shutdown)
        self._transport.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _send(self, request: _Request) -> Any:
        abort = _Abort()
        sent = asyncio.get_running_loop().run_in_executor(self._pool, self._transport.send, request, abort)
        try:
            return await sent
        except asyncio.CancelledError:
            abort.abort()
            raise

    async def set(
        self, key: str, value: Any = None, *, to: Target, in_: Optional[Duration] = None, at: Optional[Time] = None,
        schedule: Optional[str] = None, debounce: Optional[Debounce] = None, timeout: Optional[Duration] = None,
        retry: Optional[Retry] = None, if_: Optional[str] = None, runs: Optional[Runs] = None,
    ) -> Timer:
        """See Client.set."""
        request = _Requests.set(key, value, to, in_, at, schedule, debounce, timeout, retry, if_, runs)
        return await self._send(request)

    async def move(self, key: str, *, in_: Optional[Duration] = None, at: Optional[Time] = None) -> Optional[Timer]:
        """See Client.move."""
        return await self._send(_Requests.move(key, in_, at))

    async def pause(self, key: str) -> Optional[Timer]:
        """See Client.pause."""
        return await self._send(_Requests.pause(key, True))

    async def resume(self, key: str) -> Optional[Timer]:
        """See Client.resume."""
        return await self._send(_Requests.pause(key, False))

    async def get(self, key: str) -> Optional[Timer]:
        """See Client.get."""
        return await self._send(_Requests.get(key))

    async def remove(self, key: str) -> Optional[Timer]:
        """See Client.remove."""
        return await self._send(_Requests.remove(key))

    async def revive(self, key: str) -> Optional[Timer]:
        """See Client.revive."""
        return await self._send(_Requests.revive(key))

    async def page(self, *, prefix: str = "", state: str = "", after: str = "", limit: int = 1000) -> Page:
        """See Client.page."""
        return await self._send(_Requests.page(prefix, state, after, limit))

    async def list(self, *, prefix: str = "", state: str = "", limit: int = 1000) -> AsyncIterator[Timer]:
        """See Client.list."""
        after: Optional[str] = ""
        while after is not None:
            page = await self.page(prefix=prefix, state=state, after=after, limit=limit)
            for timer in page["timers"]:
                yield timer
            after = page.get("next")

    async def remove_all(self, prefix: str) -> int:
        """See Client.remove_all."""
        removed = 0
        while True:
            some = await self._send(_Requests.remove_all(prefix))
            removed += some["removed"]
            if not some.get("more"):
                return removed

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Result]:
        """See Client.batch."""
        return (await self._send(_Requests.batch(operations)))["results"]

    async def take(self, queue: str, n: int = 1, wait: Duration = 0) -> Sequence[Firing]:
        """See Client.take."""
        return (await self._send(_Requests.take(queue, n, wait)))["firings"]

    async def done(self, queue: str, *tokens: str) -> Sequence[Result]:
        """See Client.done."""
        return (await self._send(_Requests.done(queue, tokens)))["results"]

    async def fail(self, queue: str, *tokens: str, error: str = "") -> Sequence[Result]:
        """See Client.fail."""
        return (await self._send(_Requests.fail(queue, tokens, error)))["results"]

    def worker(
        self, queue: str, handle: Callable[[Firing], Awaitable[Any]], *, concurrency: int = 1,
        on_error: Optional[Callable[[Exception], None]] = None,
    ) -> AsyncWorker:
        """Returns a worker, which takes firings from a queue. See AsyncWorker."""
        return AsyncWorker(self, queue, handle, concurrency, on_error)


class AsyncWorker:
    """Takes firings from a queue and calls handle with them, of which up to concurrency run at once. See Worker.

    A handler that takes longer than the timeout of its timer is cancelled.
    """

    def __init__(
        self, client: AsyncClient, queue: str, handle: Callable[[Firing], Awaitable[Any]], concurrency: int,
        on_error: Optional[Callable[[Exception], None]],
    ) -> None:
        self._client = client
        self._queue = queue
        self._handle = handle
        self._on_error = on_error or _log
        self._concurrency = max(1, concurrency)
        self._stopped = False
        self._taking: Optional[asyncio.Task[None]] = None
        self._handlers: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Works until stop is called, or it is cancelled. Then it takes nothing more, waits until the handlers that run
        have returned and the server knows their results, and returns, or raises that it was cancelled. It raises an
        EpicycleError if the server refuses to hand out firings."""
        self._taking = asyncio.ensure_future(self._take_all())
        if self._stopped:
            self._taking.cancel()
        try:
            await asyncio.wait([self._taking])
        finally:
            self.stop()
            while self._handlers:
                await asyncio.wait(self._handlers)
        if not self._taking.cancelled():
            self._taking.result()

    def stop(self) -> None:
        """Ends run in order. It must be called in the event loop."""
        self._stopped = True
        if self._taking:
            self._taking.cancel()

    async def _take_all(self) -> None:
        attempt = 1
        while True:
            while len(self._handlers) >= self._concurrency:
                await asyncio.wait(self._handlers, return_when=asyncio.FIRST_COMPLETED)
            try:
                n = self._concurrency - len(self._handlers)
                taken = await self._client.take(self._queue, n, _TAKE_WAIT)
                attempt = 1
            except Exception as error:
                if not _passing(error, True, True):
                    raise
                self._on_error(error)
                await asyncio.sleep(_pause(attempt, error))
                attempt += 1
                continue
            for firing in taken:
                handler = asyncio.ensure_future(self._attempt(firing))
                self._handlers.add(handler)
                handler.add_done_callback(self._handlers.discard)

    async def _attempt(self, firing: Firing) -> None:
        request = _Requests.done(self._queue, [firing["token"]])
        try:
            await asyncio.wait_for(self._handle(firing), seconds(firing["timeout"]))
        except (Exception, asyncio.CancelledError) as error:
            request = _Requests.fail(self._queue, [firing["token"]], _reason(error))
        try:
            _check(await self._client._send(request), firing)
        except Exception as error:
            self._on_error(error)


class SignatureError(Exception):
    """A webhook does not come from the server, or did so some time ago. Answer 401."""


@dataclass(frozen=True)
class Webhook:
    """A webhook. id and body are signed; the other fields are what its headers say."""

    id: str  # the same at each attempt: effects that are stored with it happen once
    body: bytes
    key: str
    due: str
    attempt: int

    @property
    def value(self) -> Any:
        """The value of the timer."""
        return json.loads(self.body)


def verify(keys: str, headers: Mapping[str, str], body: bytes, *, tolerance: Duration = 300) -> Webhook:
    """Returns a webhook, or raises a SignatureError unless the server has signed it, as Standard Webhooks specifies.

    keys has a key in each line: what is in the server's -secret-file (whsec_ and base64, for signatures v1), and public
    keys (whpk_ and base64, for v1a). A text without any such prefix is one key, as it is. body must be the bytes that came.
    tolerance is how far the time of the webhook may be from that of this machine.
    """
    secrets, public = _keys(keys)
    given = {name.lower(): text for name, text in headers.items()}
    id_, at = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not re.fullmatch(r"[0-9]{1,15}", at):
        raise SignatureError("webhook-timestamp is no time")
    if abs(time.time() - int(at)) > seconds(tolerance):
        raise SignatureError("the webhook is too old, or the clock of this machine is wrong")
    text = f"{id_}.{at}.".encode("utf-8", "surrogateescape") + body
    if not any(_signed(one, text, secrets, public) for one in given.get("webhook-signature", "").split()):
        raise SignatureError("the webhook is not signed by the server")
    attempt = given.get("epicycle-attempt", "")
    key = urllib.parse.unquote(given.get("epicycle-key", ""))
    return Webhook(id_, body, key, given.get("epicycle-due", ""), int(attempt) if attempt.isdecimal() else 0)


def _keys(text: str) -> tuple[list[bytes], list[bytes]]:
    text = text.rstrip("\r\n")
    if not text:
        raise ValueError("there is no key")
    if not text.startswith(("whsec_", "whpk_")):
        return [text.encode()], []
    secrets, public = [], []
    for line in filter(None, (line.strip() for line in text.splitlines())):
        prefix, _, encoded = line.partition("_")
        try:
            key = base64.b64decode(encoded, validate=True)
        except ValueError:
            key = b""
        if not key or prefix not in ("whsec", "whpk") or prefix == "whpk" and len(key) != 32:
            raise ValueError("a key is not whsec_ or whpk_ and base64")
        (secrets if prefix == "whsec" else public).append(key)
    return secrets, public


def _signed(signature: str, text: bytes, secrets: list[bytes], public: list[bytes]) -> bool:
    version, _, encoded = signature.partition(",")
    try:
        given = base64.b64decode(encoded, validate=True)
    except ValueError:
        return False
    if version == "v1":
        return any(hmac.compare_digest(hmac.new(key, text, hashlib.sha256).digest(), given) for key in secrets)
    return version == "v1a" and any(_ed25519(key, text, given) for key in public)


# Ed25519 as RFC 8032 specifies it, which the standard library lacks. There are no secrets in verifying.
_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)
_Point = tuple[int, int, int, int]  # extended coordinates


def _add(a: _Point, b: _Point) -> _Point:
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % _P, (a[1] + a[0]) * (b[1] + b[0]) % _P
    c, d = 2 * a[3] * b[3] * _D % _P, 2 * a[2] * b[2] % _P
    x, y, z, t = f - e, f + e, d + c, d - c
    return x * t % _P, z * y % _P, t * z % _P, x * y % _P


def _multiply(n: int, point: _Point) -> _Point:
    sum_ = (0, 1, 1, 0)
    while n:
        if n & 1:
            sum_ = _add(sum_, point)
        point = _add(point, point)
        n >>= 1
    return sum_


def _point(encoded: bytes) -> Optional[_Point]:
    y = int.from_bytes(encoded, "little")
    odd, y = y >> 255, y & (1 << 255) - 1
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if y >= _P or (x * x - square) % _P or not x and odd:
        return None
    x = _P - x if x & 1 != odd else x
    return x, y, 1, x * y % _P


_BASE = _point((4 * pow(5, -1, _P) % _P).to_bytes(32, "little"))


def _ed25519(key: bytes, text: bytes, signature: bytes) -> bool:
    point, s = _point(key), int.from_bytes(signature[32:], "little")
    if not point or not _BASE or len(signature) != 64 or s >= _L:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + text).digest(), "little") % _L
    minus = (_P - point[0], point[1], 1, _P - point[3])
    x, y, z, _ = _add(_multiply(s, _BASE), _multiply(k, minus))
    x, y = x * pow(z, -1, _P) % _P, y * pow(z, -1, _P) % _P
    return hmac.compare_digest((y | (x & 1) << 255).to_bytes(32, "little"), signature[:32])
