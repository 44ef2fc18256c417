"""What threads share: places, the worker of the application, and runs that one connection follows."""

from __future__ import annotations

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, List

import pytest

from methods import Methods
from methods import _worker as worker_module
from methods._credentials import Credential
from methods._models import Run, run_of
from methods._sync import client as client_module
from methods._sync.concurrency import Places
from methods._sync.followed_runs import FollowedRun
from methods._worker import AppWorker

KEY = "sk_" + "A" * 43
WITHIN_S = 30


def state(status: str, **more: Any) -> Run:
    return run_of({"run_id": "run_1", "version_id": "ver_1", "status": status, **more})


def until(is_true: Any) -> None:
    began = time.monotonic()
    while not is_true():
        assert time.monotonic() - began < WITHIN_S
        time.sleep(0.005)


def test_a_reply_that_was_asked_for_before_an_event_does_not_hide_it() -> None:
    class Runs:
        def left(self, run: FollowedRun) -> None:
            pass

    followed = FollowedRun(state("queued"), Runs())  # type: ignore[arg-type]
    question = {"id": "q_1", "step": "approval", "prompt": "Yes?", "asked_at": "2026-11-28T12:00:00Z", "form": {}}
    followed.offer(state("waiting", question=question), 2)
    followed.offer(state("running"), 1)
    waiting = followed.next(None, time.monotonic())
    assert waiting is not None and waiting.question is not None and waiting.question.id == "q_1"
    followed.offer(state("succeeded"), 3)
    followed.offer(state("running"), 4)
    ended = followed.next("q_1", time.monotonic())
    assert ended is not None and ended.status == "succeeded"


def test_a_place_is_for_the_thread_that_came_first() -> None:
    places = Places(1)
    assert places.try_take()
    had: List[str] = []

    def use(name: str) -> None:
        with places:
            had.append(name)

    threads = []
    for n, name in enumerate(["first", "second"]):
        threads.append(threading.Thread(target=use, args=(name,)))
        threads[-1].start()
        until(lambda: len(places._line) == n + 1)
    places.leave()
    for thread in threads:
        thread.join()
    assert had == ["first", "second"]
    assert places.try_take() and not places.try_take()


def test_a_client_has_one_worker_however_many_threads_ask_first(monkeypatch: pytest.MonkeyPatch) -> None:
    made: List[AppWorker] = []

    def make(credential: Any) -> AppWorker:
        time.sleep(0.02)
        made.append(AppWorker(credential, "node"))
        return made[-1]

    monkeypatch.setattr(client_module, "app_worker", make)
    client = Methods(api_key=KEY, base_url="http://127.0.0.1:1")
    with ThreadPoolExecutor(16) as threads:
        found = set(threads.map(lambda _: id(client._ensure_worker()), range(64)))
    assert len(made) == 1 and len(found) == 1


def test_no_result_is_expected_of_a_worker_that_has_died(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = tmp_path / "dies.py"
    code.write_text("import sys\nsys.stdin.readline()\nsys.exit(1)\n")
    monkeypatch.setattr(worker_module, "CODE", code)

    worker = AppWorker(Credential("http://127.0.0.1:1", KEY, None), sys.executable)
    with worker.during("wf_1"):
        process = worker._process
        assert process is not None
        before = worker.result_of("0" * 32, 1)
        assert before.result(WITHIN_S) is None
        until(lambda: process.poll() is not None)
        # It starts another one only after a pause; nothing answers until then.
        assert worker.result_of("1" * 32, 1).result(WITHIN_S) is None
        assert worker._process is process and os.getpid() == worker._pid
    worker.close()
