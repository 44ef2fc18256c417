"""Runs on the real service, from both clients."""

from __future__ import annotations

import asyncio
import io
import os
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Awaitable, Callable

import httpx
import pytest
from conftest import method

from methods import AskedQuestion, AsyncAskedQuestion, AsyncMethods, Conflict, InvalidRequest, Methods, NotFound
from methods import AuthenticationError, RunTimeout, SealedValueError, Start


def test_run_returns_the_result_and_the_same_key_the_same_run(client: Methods) -> None:
    key = str(uuid.uuid4())
    run = client.run(method("greet"), {"name": "Ada"}, idempotency_key=key)
    assert (run.status, run.result) == ("succeeded", {"greeting": "Hello, Ada!"})
    assert client.run(method("greet"), {"name": "Ada"}, idempotency_key=key).run_id == run.run_id
    with pytest.raises(Conflict) as refused:
        client.start(method("greet"), {"name": "Bob"}, idempotency_key=key)
    assert (refused.value.code, refused.value.status) == ("idempotency_conflict", 409)
    assert refused.value.request_id


def test_refusals_are_typed_with_their_findings(client: Methods, address: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        client.start(method("greet"), {"name": 7})
    assert refused.value.code == "invalid_inputs"
    assert [each["path"] for each in refused.value.details] == ["/name"]
    with pytest.raises(NotFound):
        client.runs.get("run_0101m7y804g33sn568qvqft2vt")
    for key in ("sk_" + "A" * 43, os.environ["METHODS_TEST_REVOKED_KEY"]):
        with Methods(key, base_url=address) as stranger:
            with pytest.raises(AuthenticationError) as unknown:
                next(iter(stranger.runs.list()))
            assert unknown.value.status == 401 and "revoked" in str(unknown.value)
            with pytest.raises(AuthenticationError):
                stranger.run(method("greet"))


def test_two_questions_in_a_row_are_answered_and_a_misfit_is_asked_again(client: Methods) -> None:
    asked = []

    def on_ask(question: AskedQuestion) -> "dict[str, object]":
        asked.append((question.step, [each["path"] for each in question.problems]))
        return {"go": "yes"} if len(asked) == 1 else {"go": True}

    run = client.run(method("two-questions"), on_ask=on_ask)
    assert run.result == {"first": True, "second": True}
    assert asked == [("first", []), ("first", ["/go"]), ("second", [])]


def test_an_error_in_the_handler_is_reported_and_leaves_the_question_open(
    client: Methods, caplog: pytest.LogCaptureFixture
) -> None:
    def on_ask(question: AskedQuestion) -> None:
        raise RuntimeError("the desk is closed")

    with pytest.raises(RunTimeout) as late:
        client.run(method("two-questions"), on_ask=on_ask, timeout=1)
    assert "the desk is closed" in caplog.text
    run = client.runs.get(late.value.run_id)
    assert run.question is not None and run.question.step == "first"
    assert client.runs.answer(run.run_id, {"go": True}, question_id=run.question.id).status == "queued"
    with pytest.raises(Conflict):
        client.runs.answer(run.run_id, {"go": False}, question_id=run.question.id)
    assert client.runs.cancel(run.run_id).raw.get("status") in ("cancelled", "running")


def test_a_handler_that_returns_nothing_answers_later(address: str, key: str) -> None:
    async def scenario() -> None:
        async with AsyncMethods(key, base_url=address) as client:
            questions: "asyncio.Queue[AsyncAskedQuestion]" = asyncio.Queue()

            async def on_ask(question: AsyncAskedQuestion) -> None:
                await questions.put(question)

            waiting = asyncio.ensure_future(client.run(method("two-questions"), on_ask=on_ask))
            for _ in range(2):
                await (await questions.get()).answer({"go": False})
            assert (await waiting).result == {"first": False, "second": False}

    asyncio.run(scenario())


def test_a_handler_slower_than_the_deadline_does_not_lose_the_run(address: str, key: str) -> None:
    async def scenario() -> None:
        async with AsyncMethods(key, base_url=address) as client:

            async def on_ask(question: AsyncAskedQuestion) -> "dict[str, bool]":
                async for event in client.runs.events(question.run_id):
                    if event.data.get("status") == "failed":
                        break
                return {"go": True}

            run = await client.run(method("short-question"), on_ask=on_ask)
            assert run.status == "failed"
            assert run.error is not None and run.error.code == "no_answer"

    asyncio.run(scenario())


def test_events_end_with_the_run(client: Methods) -> None:
    run = client.start(method("greet"))
    statuses = [event.data.get("status") for event in client.runs.events(run.run_id)]
    assert statuses[-1] == "succeeded"


def test_a_batch_judges_each_start_by_itself(client: Methods) -> None:
    good, bad = client.start_many([Start(method("greet")), Start(method("greet"), {"name": 1})])
    assert good.run is not None and good.error is None
    assert bad.run is None and isinstance(bad.error, InvalidRequest)
    assert [each["path"] for each in bad.error.details] == ["/name"]


def test_lists_reruns_and_methods(client: Methods) -> None:
    mark = uuid.uuid4().hex
    run = client.run(method("greet"), metadata={"mark": mark})
    assert [each.run_id for each in client.runs.list(metadata={"mark": mark}, page_size=1)] == [run.run_id]
    key = str(uuid.uuid4())
    again = client.runs.rerun(run.run_id, idempotency_key=key)
    assert again.run_id != run.run_id
    assert client.runs.rerun(run.run_id, idempotency_key=key).run_id == again.run_id
    assert "inputs" in client.methods.get(method("greet"))


def test_files_go_in_and_come_out(client: Methods) -> None:
    file = client.files.upload(b"a,b\n1,2\n", name="january.csv", media_type="text/csv")
    assert client.files.get(file.file_id) == file
    run = client.run(method("digest-files"), {"a": file})
    assert run.result is not None and run.result["first"] == file.sha256
    path = run.result["file"]["path"]
    assert client.runs.files.download(run.run_id, path) == b"a,b\n1,2\n"
    assert b"".join(client.runs.files.stream(run.run_id, path)) == b"a,b\n1,2\n"
    assert client.runs.files.archive(run.run_id)[:2] == b"\x1f\x8b"
    # The archive has what the steps saved, not their inputs.
    assert client.runs.files.list(run.run_id) == []
    opened = client.files.upload(io.BytesIO(b"once"), name="kosten für mai.txt")
    assert (opened.name, opened.bytes) == ("kosten für mai.txt", 4)
    client.files.delete(opened.file_id)
    with pytest.raises(NotFound):
        client.files.get(opened.file_id)


def test_many_waiting_runs_share_a_few_connections(client: Methods, address: str, key: str) -> None:
    names = [str(number) for number in range(40)]
    greetings = [{"greeting": f"Hello, {name}!"} for name in names]
    with ThreadPoolExecutor(len(names)) as threads:
        runs = list(threads.map(lambda name: client.run(method("greet"), {"name": name}), names))
    assert [run.result for run in runs] == greetings

    async def scenario() -> None:
        async with AsyncMethods(key, base_url=address) as several:
            opened = 0

            async def connected(name: str, info: "dict[str, object]") -> None:
                nonlocal opened
                opened += name == "connection.connect_tcp.complete"

            several._requests._http.get().event_hooks["request"] = [traced(connected)]
            calls = [several.run(method("greet"), {"name": name}) for name in names]
            assert [run.result for run in await asyncio.gather(*calls)] == greetings
            # Four that wait on their own, eight for starts, and the event stream.
            assert 0 < opened <= 13

    asyncio.run(scenario())


def traced(trace: object) -> "Callable[[httpx.Request], Awaitable[None]]":
    async def hook(request: httpx.Request) -> None:
        request.extensions["trace"] = trace

    return hook


def test_a_followed_run_has_its_questions_answered(client: Methods) -> None:
    with ThreadPoolExecutor(6) as threads:
        answered = [threads.submit(client.run, method("two-questions"), on_ask=lambda _: {"go": True}) for _ in range(6)]
        assert all(each.result().result == {"first": True, "second": True} for each in answered)


def test_files_of_a_run_in_device_mode_are_sealed_and_opened_here(address: str, key: str) -> None:
    pytest.importorskip("cryptography")
    content = "letter of ada\n".encode() * 20_000
    with Methods(key, base_url=address, device=True, worker=False) as client:
        upload_key = str(uuid.uuid4())
        letter = client.files.upload(content, name="Brief ü.txt", media_type="text/plain", idempotency_key=upload_key)
        again = client.files.upload(io.BytesIO(content), name="Brief ü.txt", idempotency_key=upload_key)
        assert (again.file_id, again.content_id) == (letter.file_id, letter.content_id)
        assert (letter.name, letter.bytes, letter.media_type) == ("Brief ü.txt", len(content), "text/plain")
        assert client.files.get(letter.file_id).name == "file"
        with pytest.raises(Conflict):
            client.files.upload(b"another", name="a", idempotency_key=upload_key)

        def on_ask(question: AskedQuestion) -> "dict[str, object]":
            return {"go": True, "note": "fine"}

        # As another process would name it.
        run = client.run(method("keep-private"), {"word": "ada", "letter": letter.as_input()}, on_ask=on_ask)
        assert (run.status, run.result, run.result_at) == ("succeeded", None, "worker"), run.raw
        kept = "steps/keep/files/ada Brief ü.txt"
        files = client.runs.files
        assert [(each.path, each.bytes) for each in files.list(run.run_id)] == [(kept, len(content))]
        for path in (kept, f"inputs/{letter.file_id}/Brief ü.txt"):
            assert files.download(run.run_id, path) == content
            assert b"".join(files.stream(run.run_id, path)) == content
        assert b"".join(files.stream(run.run_id)) == files.archive(run.run_id)
        for path in ("steps/keep/files/none", "inputs/file_x/a", f"inputs/{letter.file_id}/file"):
            with pytest.raises(NotFound):
                files.download(run.run_id, path)

        client.files.delete(letter.file_id)
        rerun = client.runs.rerun(run.run_id)
        assert files.download(rerun.run_id, f"inputs/{letter.file_id}/Brief ü.txt") == content
        client.runs.cancel(rerun.run_id)

    with Methods(key, base_url=address, worker=False) as plain:
        in_clear = plain.run(method("greet"), {"name": "Ada"})
    with Methods(key, base_url=address, device=True, worker=False) as client:
        with pytest.raises(SealedValueError):
            client.runs.files.list(in_clear.run_id)


def test_a_sealed_file_is_sent_by_the_async_client_too(address: str, key: str) -> None:
    pytest.importorskip("cryptography")

    async def sent() -> None:
        async with AsyncMethods(key, base_url=address, device=True, worker=False) as client:
            letter = await client.files.upload(io.BytesIO(b"letter"), name="a.txt")
            run = await client.start(method("keep-private"), {"word": "ada", "letter": letter})
            path = f"inputs/{letter.file_id}/a.txt"
            assert await client.runs.files.download(run.run_id, path) == b"letter"
            assert [chunk async for chunk in client.runs.files.stream(run.run_id, path)] == [b"letter"]
            await client.runs.cancel(run.run_id)

    asyncio.run(sent())
