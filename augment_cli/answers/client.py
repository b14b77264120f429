"""Requests to a server that speaks the OpenAI protocol: one, or many, tried again, slowed down, stopped."""

import contextlib
import email.utils
import functools
import importlib
import ipaddress
import json
import math
import os
import queue
import re
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from augment_cli.errors import UsageError, needed
from augment_cli.errors.visible import shown

KEY = "AUGMENT_API_KEY"
_SECONDS_TO_CONNECT = 30.0
_LONGEST_WAIT = 3_600.0  # that a server may ask for
_MOST_SHOWN = 300  # characters of an error
_MOST_BYTES = 16_000_000  # of a reply; no answer to a sentence is longer
_BUSY = frozenset({429, 503})
_PASSING = frozenset({408, 425, 500, 502, 504})
_TOO_LONG = re.compile(
    r"context.{0,20}(?:length|window|size)|too (?:long|many tokens)|maximum.{0,20}tokens", re.I
)
_NO_SCHEMA = re.compile(r"HTTP (?:4\d\d|501): .*(?:response_format|schema|grammar|guided|structured)", re.I)
_TRIES = 4  # of a request that fails
_WAITS = 100  # of a request that comes too soon
_FIRST_WAIT = 1.0  # seconds, doubled from try to try
_MOST_DOUBLED = 6
_MOMENT = 0.1  # seconds

Item = TypeVar("Item")


@dataclass(frozen=True)
class Answer:
    """What came back, as it came."""

    answer: str | None = None  # none where there is none, for which `error` has the reason
    # why the model ended, in the server's words: `stop`, `length`, `content_filter`, …
    finish: str | None = None
    error: str | None = None
    prompt_tokens: int | None = None  # as the server counts them
    completion_tokens: int | None = None
    model: str | None = None  # what the server calls itself: a claim

    @property
    def is_too_long(self) -> bool:
        """Whether the question is longer than what the model reads."""
        return _TOO_LONG.search(self.error or "") is not None

    @property
    def is_without_schema(self) -> bool:
        """Whether the server will not hold its answers to a JSON schema."""
        return _NO_SCHEMA.match(self.error or "") is not None


class FailedError(Exception):
    """A request got no answer: may another try help, are there too many, how many seconds to wait."""

    def __init__(
        self, message: str, is_passing: bool = True, is_busy: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(message)
        self.is_passing, self.is_busy, self.wait = is_passing, is_busy, wait


def check_endpoint(endpoint: str, allow_remote: bool) -> bool:
    """Whether an endpoint is on this machine."""
    try:
        parts = urlsplit(endpoint)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    is_plain = endpoint.isprintable() and " " not in endpoint
    if not is_plain or parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise UsageError(f"the endpoint {shown(endpoint)}: give an address such as http://127.0.0.1:8000/v1")
    if parts.username is not None or parts.password is not None:
        raise UsageError(f"the endpoint {shown(endpoint)}: leave the key out of it, and set {KEY} instead")
    try:
        is_here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = host == "localhost"
    if not is_here and not allow_remote:
        raise UsageError(
            f"the endpoint {shown(endpoint)}: is not on this machine, and would see your texts; "
            "--allow-remote lets it"
        )
    if not is_here and parts.scheme == "http" and _key():
        raise UsageError(
            f"the endpoint {shown(endpoint)}: would send the key of {KEY} unencrypted; use https"
        )
    return is_here


def _key() -> str:
    key = os.environ.get(KEY, "").strip()
    if not key.isascii() or not key.isprintable():
        raise UsageError(f"{KEY}: has characters that no key has; set it anew")
    return key


class _Connection:
    """The connection of a request, which is cut after some seconds, however its bytes come; 0: never."""

    def __init__(self, seconds: float) -> None:
        self.is_cut, self._socket = False, None
        self._timer = threading.Timer(seconds, self._cut) if seconds else None

    def __enter__(self) -> None:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def __exit__(self, *exception: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Note the socket once it is there, and again once it is encrypted."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._socket = info["return_value"].get_extra_info("socket")

    def _cut(self) -> None:
        self.is_cut = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


class Client:
    """A server, and the model there; threads may share it."""

    def __init__(self, endpoint: str, allow_remote: bool, timeout: float, total: float = 0.0) -> None:
        is_here = check_endpoint(endpoint, allow_remote)
        self._key, self._total = _key(), total
        with needed("httpx"):
            self._httpx = importlib.import_module("httpx")
        self._url = endpoint.rstrip("/") + "/chat/completions"
        # No proxy comes between this machine and itself; redirects are not followed.
        seconds = min((one for one in (timeout, total) if one), default=None)
        self._http = self._httpx.Client(
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=self._httpx.Timeout(seconds, connect=_SECONDS_TO_CONNECT),
            # With a limit on the whole, each request has a connection of its own, which its end cuts.
            limits=self._httpx.Limits(max_connections=None, max_keepalive_connections=0 if total else None),
            trust_env=not is_here,
        )

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def ask(self, messages: Sequence[Mapping[str, str]], body: Mapping[str, Any]) -> Answer:
        """One try."""
        content, connection = bytearray(), _Connection(self._total)
        asked = {"json": {**body, "messages": list(messages)}, "extensions": {"trace": connection.trace}}
        try:
            with connection, self._http.stream("POST", self._url, **asked) as reply:
                for piece in reply.iter_bytes():
                    content += piece
                    if len(content) > _MOST_BYTES:
                        raise FailedError(f"a reply of more than {_MOST_BYTES:,} bytes", is_passing=False)
        except self._httpx.HTTPError as error:
            if not connection.is_cut:
                raise FailedError(self._clean(f"{type(error).__name__}: {error}")) from None
        if connection.is_cut:  # which is the end of an answer that has no other
            raise FailedError(f"no whole answer within {self._total:g} seconds")
        said = " ".join(content[: 4 * _MOST_SHOWN].decode("utf-8", "replace").split())
        if reply.status_code != 200:
            status = reply.status_code
            raise FailedError(
                self._clean(f"HTTP {status}: {said}"),
                is_passing=status in _BUSY | _PASSING,
                is_busy=status in _BUSY,
                wait=seconds_of(reply.headers.get("retry-after")) if status in _BUSY else None,
            )
        try:
            return self._answer(json.loads(content))
        except (ValueError, TypeError, LookupError, RecursionError, AttributeError):
            raise FailedError(self._clean(f"not an answer: {said}")) from None

    def _answer(self, reply: dict[str, Any]) -> Answer:
        choice = reply["choices"][0]
        message, usage = choice["message"], reply.get("usage") or {}
        text, finish = message.get("content"), choice.get("finish_reason")
        refusal = message.get("refusal")
        if refusal and not text:
            text, finish = refusal, "refusal"
        if not isinstance(text, str | None) or (text is None and finish is None):
            raise ValueError
        return Answer(
            _text(text or ""),
            self._clean(str(finish)) if finish is not None else None,
            None,
            _count(usage.get("prompt_tokens")),
            _count(usage.get("completion_tokens")),
            self._clean(str(reply["model"])) if reply.get("model") else None,
        )

    def _clean(self, message: str) -> str:
        """A line of a server's, without the key that it may repeat."""
        text = message.replace(self._key, "…") if self._key else message
        return _text(text[:_MOST_SHOWN])


def _text(text: str) -> str:
    """The text without halves of surrogate pairs, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 2**31 else None


def seconds_of(retry_after: str | None) -> float | None:
    """What `Retry-After` asks for, at most an hour: a number of seconds, or a date."""
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return min(max(seconds, 0.0), _LONGEST_WAIT) if math.isfinite(seconds) else None


class StoppedError(Exception):
    """Nobody waits for the request any more."""


class Pace:
    """How many requests are under way at a time: ever fewer, since the server knows best."""

    def __init__(self, most: int) -> None:
        self.most, self._under_way, self._not_before = most, 0, 0.0
        self._condition, self._waits_until = threading.Condition(), 0.0
        self.is_over = False  # then no further request begins

    @contextlib.contextmanager
    def turn(self) -> Iterator[int]:
        """Wait for a place; the value is how many there were then."""
        with self._condition:
            while not self.is_over:
                wait = self._not_before - time.monotonic()
                if wait <= 0 and self._under_way < self.most:
                    break
                self._condition.wait(wait if wait > 0 else None)
            if self.is_over:
                raise StoppedError
            self._under_way += 1
            most = self.most
        try:
            yield most
        finally:
            with self._condition:
                self._under_way -= 1
                self._condition.notify_all()

    def slow_down(self, most: int, seconds: float) -> None:
        """Halve, once for all requests that began when there were `most` places; all wait so long."""
        with self._condition:
            if most == self.most:
                self.most = max(1, most // 2)
            self._not_before = max(self._not_before, time.monotonic() + seconds)

    def sleep(self, seconds: float) -> None:
        """Wait, unless it is over."""
        with self._condition:
            self._condition.wait_for(lambda: self.is_over, seconds)

    def stop(self, seconds: float = 0.0) -> None:
        """Begin no further request, and wait so long for those under way."""
        with self._condition:
            self.is_over, self._waits_until = True, time.monotonic() + seconds
            self._condition.notify_all()

    @property
    def is_late(self) -> bool:
        """Whether those under way are not waited for any more."""
        return self.is_over and time.monotonic() > self._waits_until


class TooManyFailures:
    """Whether it is any use to go on, by the last requests."""

    window = 20

    def __init__(self, share: float) -> None:
        self._share, self._last = share, deque[bool](maxlen=self.window)

    def add(self, has_failed: bool) -> None:
        """Count one."""
        self._last.append(has_failed)

    def is_reached(self, at_end: bool = False) -> bool:
        """Whether too many of the window failed; a window that is not full counts at the end alone."""
        is_full = len(self._last) == self.window or (at_end and bool(self._last))
        return is_full and sum(self._last) > self._share * len(self._last)

    def __str__(self) -> str:
        return f"{sum(self._last)} of the last {len(self._last)} requests got no answer"


def answered(ask: Callable[[], Answer], pace: Pace) -> Answer:
    """The answer to one request, or its last error where it does not come."""
    tries = waits = 0
    while True:
        try:
            with pace.turn() as most:
                return ask()
        except FailedError as error:
            waits += error.is_busy
            tries += not error.is_busy
            if not error.is_passing or tries == _TRIES or waits == _WAITS:
                return Answer(error=str(error))
            doubled = _FIRST_WAIT * 2 ** min(tries + waits - 1, _MOST_DOUBLED)
            if error.is_busy:
                pace.slow_down(most, doubled if error.wait is None else error.wait)
            else:
                pace.sleep(doubled)


def ask_all(
    items: Sequence[Item], ask: Callable[[Item], Answer], pace: Pace
) -> Iterator[list[tuple[Item, Answer]]]:
    """The items with their answers, as many at a time as have come; the next call says that they are kept."""
    # Whoever has an answer that is not kept yet asks nothing: a kill loses what was under way, and no more.
    todo: queue.SimpleQueue[Item] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[Item, Answer | Exception] | None] = queue.SimpleQueue()
    for item in items:
        todo.put(item)
    running = min(pace.most, len(items))
    kept = threading.Semaphore(running)

    def work() -> None:
        with contextlib.suppress(StoppedError, queue.Empty):
            while True:
                kept.acquire()
                item = todo.get_nowait()
                try:
                    done.put((item, answered(functools.partial(ask, item), pace)))
                except StoppedError:
                    raise
                except Exception as error:
                    done.put((item, error))
        done.put(None)

    for _ in range(running):
        # A daemon: a request without a time limit keeps no process from its end.
        threading.Thread(target=work, daemon=True).start()
    while running and not pace.is_late:
        found, error = [], None
        for one in _come(done):
            if one is None:
                running -= 1
            elif isinstance(one[1], Exception):
                error = one[1]
            else:
                found.append((one[0], one[1]))
        if found:
            yield found
            kept.release(len(found))
        if error is not None:
            raise error


def _come(done: queue.SimpleQueue[Any]) -> Iterator[Any]:
    """What has come meanwhile; where nothing has, it waits a moment."""
    with contextlib.suppress(queue.Empty):
        yield done.get(timeout=_MOMENT)
        while True:
            yield done.get_nowait()
