# Written by scripts/generate_sync.py from methods/_async/followed_runs.py.
"""Waits for many runs by one connection, the organization's event stream, and without a timer for each of them.

While the stream cannot be opened, the runs are read one by one.
"""

from __future__ import annotations

import itertools
import threading
import time
from typing import Dict, List, Optional, Set

from .._errors import AuthenticationError, MethodsError, PermissionDenied
from .._event_stream import EventStream, RawEvent
from .._exchange import MISREAD, OUTAGE_S, SILENCE_S, Send, backoff_s, client_closed, is_passing, run_path
from .._models import Run, run_of
from .concurrency import Background, Signal
from .requests import Requests

#: Runs with events whose starts have not been answered; more of them make the starts read their runs.
_EARLY_MAX = 10_000


class FollowedRuns:
    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self._lock = threading.Lock()
        self._runs: Dict[str, Set[FollowedRun]] = {}
        #: Of runs that may be among those being started.
        self._early: Set[str] = set()
        self._starting = 0
        self._background: Optional[Background] = None
        self._opened = False
        self._closed = False
        self._opening: List[Signal] = []
        self._last_id: Optional[str] = None
        #: Numbers the events, and the reads when they begin.
        self._order = itertools.count()

    def start(self, request: Send, deadline: Optional[float]) -> "FollowedRun":
        """Sends a start, and follows its run until its ``leave``."""
        with self._lock:
            self._starting += 1
        try:
            # What happens before the stream is open would be missed.
            self._follow(deadline)
            run = self._requests.send(request, run_of)
            followed = FollowedRun(run, self)
            with self._lock:
                if self._closed:
                    raise client_closed()
                self._runs.setdefault(run.run_id, set()).add(followed)
                early = run.run_id in self._early or len(self._early) >= _EARLY_MAX
            try:
                if run.status != "queued" or early:
                    self._read(run.run_id, request.deadline, underway=True)
            except BaseException:
                # Cancelled, or interrupted from the keyboard: the stream would stay open for it.
                followed.leave()
                raise
            return followed
        finally:
            with self._lock:
                self._starting -= 1
                if self._starting == 0:
                    self._early.clear()
            self._stop_if_unused()

    def left(self, run: "FollowedRun") -> None:
        with self._lock:
            others = self._runs.get(run.run_id, set())
            others.discard(run)
            if not others:
                self._runs.pop(run.run_id, None)
        self._stop_if_unused()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            background, self._background = self._background, None
            opening, self._opening = self._opening, []
        if background is not None:
            background.stop()
        # Nothing would wake their calls.
        for run in self._all():
            run.fail(client_closed())
        for signal in opening:
            signal.set()

    def _stop_if_unused(self) -> None:
        with self._lock:
            if self._starting > 0 or self._runs or self._background is None:
                return
            background, self._background = self._background, None
            self._opened, self._last_id = False, None
        background.stop()

    def _follow(self, deadline: Optional[float]) -> None:
        """Returns once the stream is open, or was tried in vain."""
        with self._lock:
            if self._background is None:
                self._background = Background(self._connect)
            if self._opened:
                return
            signal = Signal()
            self._opening.append(signal)
        signal.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))

    def _is_open(self, background: Background) -> None:
        with self._lock:
            # One that was stopped is not the one that its callers wait for.
            if self._background is not background:
                return
            self._opened = True
            opening, self._opening = self._opening, []
        for signal in opening:
            signal.set()

    def _connect(self, background: Background) -> None:
        failures, not_before = 0, 0.0
        out_since: Optional[float] = None
        while not background.stopped:
            try:
                if time.monotonic() >= not_before:
                    self._receive(background)
                    failures, out_since = 0, None
            except (AuthenticationError, PermissionDenied) as error:
                for run in self._all():
                    run.fail(error)
                self._is_open(background)
                not_before = time.monotonic() + 60.0
            except MethodsError as error:
                not_before = time.monotonic() + (error.retry_after or 0.0)
                out_since = (out_since or time.monotonic()) if is_passing(error) else None
            except Exception:
                # Without this work no call would be woken. The callers' own requests raise the error.
                out_since = None
            if background.stopped:
                return
            # A stream that worked is opened again first, and then has what was missed.
            if failures > 0 and not self._outlasts(out_since):
                self._read_all()
            self._is_open(background)
            background.pause(backoff_s(failures))
            failures += 1

    def _outlasts(self, out_since: Optional[float]) -> bool:
        if out_since is None or self._last_id is None or self._requests.max_retries == 0:
            return False
        return time.monotonic() - out_since < OUTAGE_S

    def _receive(self, background: Background) -> None:
        import httpx

        stream = EventStream(self._last_id)
        headers = {} if self._last_id is None else {"last-event-id": self._last_id}
        request = Send("GET", "/v1/events", headers=headers, max_retries=0)
        response = self._requests.open(request, SILENCE_S)
        background.reads(response)
        try:
            for chunk in response.iter_bytes():
                for event in stream.feed(chunk):
                    if background.stopped:
                        return
                    self._last_id = stream.last_id
                    if event.event == "run":
                        self._changed(event)
                    elif event.event == "ready":
                        self._is_open(background)
                    elif event.event == "resync":
                        self._is_open(background)
                        self._read_all()
        except (httpx.RequestError, httpx.StreamError):
            pass
        finally:
            response.close()

    def _changed(self, event: RawEvent) -> None:
        # Most runs of a busy organization are not this client's: their text is not parsed.
        run_id = event.run_id
        with self._lock:
            followed = list(self._runs.get(run_id, ()))
            if not followed and self._starting > 0 and len(self._early) < _EARLY_MAX:
                self._early.add(run_id)
        if not followed:
            return
        try:
            run = run_of(event.data)
        except MISREAD:
            # Its reply says so to the callers.
            return self._read(run_id)
        # Long runs, and those of a person's sign-in, are sent in short.
        if "steps" in run.raw:
            at = next(self._order)
            for each in followed:
                each.offer(run, at)
        elif run.finished or run.status == "waiting":
            self._read(run_id)

    def _read_all(self) -> None:
        with self._lock:
            run_ids = list(self._runs)
        for run_id in run_ids:
            self._read(run_id)

    def _read(self, run_id: str, deadline: Optional[float] = None, underway: bool = False) -> None:
        began = next(self._order)
        try:
            request = Send("GET", run_path(run_id), deadline=deadline, underway=underway)
            run = self._requests.send(request, run_of)
            for each in self._all(run_id):
                each.offer(run, began)
        except Exception as error:
            for each in self._all(run_id):
                each.fail(error)

    def _all(self, run_id: Optional[str] = None) -> "List[FollowedRun]":
        with self._lock:
            found = self._runs.values() if run_id is None else [self._runs.get(run_id, set())]
            return [each for runs in found for each in runs]


class FollowedRun:
    """A run that one caller waits for."""

    def __init__(self, started: Run, runs: FollowedRuns) -> None:
        self.run_id = started.run_id
        self._runs = runs
        self._lock = threading.Lock()
        self._latest: Optional[Run] = None
        self._at = -1
        self._error: Optional[Exception] = None
        self._signal = Signal()

    def next(self, past: Optional[str], deadline: Optional[float]) -> Optional[Run]:
        """The run once it has ended or has another question; None at the deadline."""
        while True:
            run = self._latest
            if run is not None and (run.finished or (run.question is not None and run.question.id != past)):
                return run
            if self._error is not None:
                raise self._error
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return None
            self._signal.wait(left)

    def offer(self, run: Run, at: int) -> None:
        # A reply may be older than an event that came since its request was sent.
        with self._lock:
            if at > self._at and not (self._latest is not None and self._latest.finished):
                self._latest, self._at = run, at
        self._signal.set()

    def fail(self, error: Exception) -> None:
        self._error = error
        self._signal.set()

    def leave(self) -> None:
        self._runs.left(self)
