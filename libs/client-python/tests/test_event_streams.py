"""Streams of events whose texts, statuses or ends are not what a client hopes for."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any, Dict, Iterator

import pytest
from loopback import Handler, LoopbackServer

from methods import AsyncMethods, Methods, UnexpectedReply
from methods._event_stream import EventStream

AUTH = "sk_" + "A" * 43
RUN: Dict[str, Any] = {"run_id": "run_1", "version_id": "ver_1", "status": "running", "steps": []}
WHOAMI = {"org_id": "org_1", "key_id": "key_1", "content_on_devices": False, "content_grants": []}
#: JSON leaves these characters as they are, and they end a line for many programs, but not in a stream of events.
FORGED = "".join(
    f'{end}{end}event: run{end}data: {{"run_id":"run_1","status":"failed","steps":[]}}{end}{end}'
    for end in "\u2028\u2029\x85"
)


def event_of(name: str, data: Any, number: int = 1) -> bytes:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"id: e-{number}\nevent: {name}\ndata: {text}\n\n".encode()


class Service(LoopbackServer):
    """Starts a run, and shows `events` once its client follows it. Read after them, the run is `shown`."""

    def __init__(self) -> None:
        self.events = b""
        self.shown: Dict[str, Any] = RUN
        followed = threading.Event()
        service = self

        class Each(Handler):
            def handle_request(self, body: bytes) -> None:
                if self.path == "/v1/whoami":
                    return self.reply(200, json.dumps(WHOAMI).encode())
                if not self.path.endswith("/events"):
                    self.reply(200, json.dumps(service.shown if followed.is_set() else RUN).encode())
                    # Not the start: it is read for the first time when it is followed.
                    return None if body else followed.set()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                self.wfile.write(event_of("ready", {}))
                if self.path == "/v1/events":
                    followed.wait()
                self.wfile.write(service.events)
                if self.path == "/v1/events":
                    service.over.wait()

        super().__init__(Each)


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.close()


@pytest.fixture
def following(monkeypatch: pytest.MonkeyPatch) -> None:
    """No call of ``run`` waits on a connection of its own."""
    monkeypatch.setattr("methods._sync.client._WAITING_CONNECTIONS", 0)


def test_a_text_of_a_run_neither_breaks_its_event_nor_begins_another(service: Service, following: None) -> None:
    ended = {**RUN, "status": "succeeded", "result": {"text": FORGED}}
    service.events = event_of("run", ended)
    with Methods(AUTH, base_url=service.url, worker=False) as client:
        assert [each.data for each in client.runs.events("run_1")] == [ended]
        assert client.run("wf_1", timeout=30).raw == ended


def test_a_run_of_a_later_version_ends_the_calls_that_follow_it(service: Service, following: None) -> None:
    service.shown = {**RUN, "status": "resting"}
    service.events = event_of("run", service.shown)
    with Methods(AUTH, base_url=service.url, worker=False) as client, pytest.raises(UnexpectedReply):
        client.run("wf_1", timeout=30)


def test_an_event_that_is_none_of_a_run_is_an_unexpected_reply(service: Service) -> None:
    with Methods(AUTH, base_url=service.url) as client:
        for data in ('{"run_id', "null", "[]", "[" * 100_000):
            service.events = f"id: e-1\nevent: run\ndata: {data}\n\n".encode()
            with pytest.raises(UnexpectedReply):
                next(client.runs.events("run_1"))


def test_a_call_that_is_cancelled_while_it_reads_its_run_does_not_keep_the_stream(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("methods._async.client._WAITING_CONNECTIONS", 0)

    async def cancelled() -> None:
        reads = asyncio.Event()

        async def stalls(*_: Any, **__: Any) -> None:
            reads.set()
            await asyncio.Event().wait()

        async with AsyncMethods(AUTH, base_url=service.url, worker=False) as client:
            followed = client._followed.get()
            monkeypatch.setattr(followed, "_read", stalls)
            call = asyncio.ensure_future(client.run("wf_1"))
            await reads.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert followed._background is None and not followed._runs

    asyncio.run(cancelled())


def test_lines_end_as_the_standard_has_it_wherever_the_bytes_are_cut() -> None:
    whole = event_of("run", FORGED).replace(b"\n", b"\r\n") + event_of("step", "é", 2).replace(b"\n", b"\r")
    for size in range(1, len(whole) + 1):
        stream = EventStream()
        parts = [whole[at : at + size] for at in range(0, len(whole), size)]
        events = [(each.event, each.id, each.data) for part in parts for each in stream.feed(part)]
        assert events == [("run", "e-1", FORGED), ("step", "e-2", "é")]


def test_an_event_that_was_cut_is_asked_for_again() -> None:
    stream = EventStream()
    assert len(list(stream.feed(event_of("step", {}, 1) + event_of("status", {}, 2)[:-1]))) == 1
    stream.cut()
    assert stream.last_id == "e-1"
    assert [each.id for each in stream.feed(event_of("status", {}, 2))] == ["e-2"]
