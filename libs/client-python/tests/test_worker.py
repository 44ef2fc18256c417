"""The process of the application's worker, with a program in its place."""

from __future__ import annotations

import stat
import sys
import warnings
from pathlib import Path

import pytest

from methods._credentials import Credential
from methods._worker import AppWorker, WorkerMissing

#: Reports a warning and what is no report, then answers each question for a result.
PROGRAM = """#!{python}
import json, sys
out = open(1, "w", encoding="utf-8")
def say(text):
    out.write(text + "\\n")
    out.flush()
say(json.dumps({{"report": "warning", "message": "no port"}}))
say("a stray line")
for line in sys.stdin:
    order = json.loads(line)
    if order["order"] == "stop":
        break
    if order["order"] == "result":
        result = {{"text": "Grüße"}}
        say(json.dumps({{"report": "result", "content_id": order["content_id"], "result": result}}, ensure_ascii=False))
"""


def worker_of(program: Path) -> AppWorker:
    return AppWorker(Credential("http://127.0.0.1:1", "sk_" + "A" * 43, None), str(program))


def test_a_worker_that_warns_and_prints_is_still_read_where_warnings_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "node"
    program.write_text(PROGRAM.format(python=sys.executable), "utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    # The encoding of the locale is not that of reports.
    monkeypatch.setenv("LC_ALL", "C")
    worker = worker_of(program)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            with worker.during("wf_1"):
                assert worker.result_of("a" * 32, 1).result(timeout=60) == {"text": "Grüße"}
        finally:
            worker.close()


def test_a_worker_that_cannot_be_started_is_a_typed_error_each_time(tmp_path: Path) -> None:
    worker = worker_of(tmp_path / "missing")
    for _ in range(2):
        with pytest.raises(WorkerMissing):
            with worker.during("wf_1"):
                pass
    assert not any(worker._calls.values()), "no call is waited for"
