"""Services that are slow, break in the middle, redirect, do not wait, or show what they should not."""

from __future__ import annotations

import json
import time
from typing import Any, Callable, Dict, Iterator, List, Optional

import pytest
from loopback import Handler, LoopbackServer

from methods import AskedQuestion, ConnectionFailed, CredentialError, InvalidRequest, Methods, PermissionDenied
from methods import RequestTimeout, RunTimeout, SealedValueError, Start, UnexpectedReply
from methods._sealed import ContentKey

AUTH = "sk_" + "A" * 43
WHOLE = AUTH + "_" + "b" * 43 + "0wDHnF"
RUN: Dict[str, Any] = {"run_id": "run_1", "version_id": "ver_1", "status": "queued"}
WHOAMI = {"org_id": "org_1", "key_id": "key_1", "content_on_devices": False, "content_grants": []}
FORM = {"type": "object", "properties": {"pin": {"type": "string"}}, "required": ["pin"]}
Reply = Callable[[Handler, bytes], None]


def sends(value: Any, status: int = 200, **headers: str) -> Reply:
    def reply(to: Handler, _: bytes) -> None:
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        to.reply(status, content, connection="close", **headers)

    return reply


class Service(LoopbackServer):
    """Answers requests by `reply`, and keeps what it got."""

    def __init__(self) -> None:
        self.reply: Reply = sends(RUN)
        self.got: "List[tuple[str, bytes, Optional[str]]]" = []
        self.started = "f" * 32
        service = self

        class Each(Handler):
            def handle_request(self, body: bytes) -> None:
                if self.path == "/v1/whoami":
                    return sends(WHOAMI)(self, body)
                service.got.append((self.path, body, self.headers.get("last-event-id")))
                try:
                    service.reply(self, body)
                except OSError:
                    # The client has left.
                    pass

        super().__init__(Each)


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.close()


def test_a_service_that_does_not_reply_or_stalls_in_the_middle_is_a_timeout(service: Service) -> None:
    def silent(_: Handler, __: bytes) -> None:
        service.over.wait(30)

    def stalls(to: Handler, _: bytes) -> None:
        to.send_response(200)
        to.send_header("content-length", "100")
        to.end_headers()
        to.wfile.write(b'{"run_id":"ru')
        service.over.wait(30)

    for reply in (silent, stalls):
        service.reply = reply
        with Methods(AUTH, base_url=service.url, timeout=0.05, max_retries=0) as client:
            with pytest.raises(RequestTimeout) as late:
                client.runs.get("run_1")
            assert late.value.code == "timeout" and service.url in str(late.value)


def trickling(service: "Service", body: bytes, more: bytes, status: int = 200) -> Reply:
    """Sends `body`, and then ``more`` again and again: it is never silent."""

    def reply(to: Handler, _: bytes) -> None:
        to.send_response(status)
        to.end_headers()
        to.wfile.write(body)
        while not service.over.wait(0.02):
            to.wfile.write(more)
            to.wfile.flush()

    return reply


def test_a_reply_that_arrives_byte_by_byte_is_a_timeout_and_one_without_an_end_is_none(service: Service) -> None:
    for status in (200, 500):
        service.reply = trickling(service, b"{", b" ", status)
        with Methods(AUTH, base_url=service.url, timeout=0.2, max_retries=0, worker=False) as client:
            for call in (client.runs.get, client.start, client.files.get):
                with pytest.raises(RequestTimeout):
                    call("run_1")
    with Methods(AUTH, base_url=service.url, worker=False) as client:
        service.reply = lambda to, body: (sends(RUN) if body else trickling(service, b"{", b" "))(to, body)
        with pytest.raises(RunTimeout):
            client.run("wf_1", timeout=0.2)
        service.reply = trickling(service, b"[", b" " * 10_000_000)
        with pytest.raises(UnexpectedReply):
            client.runs.get("run_1")

        service.reply = trickling(service, b"data: ", b"x" * 5_000_000)
        with pytest.raises(UnexpectedReply):
            next(client.runs.events("run_1"))
        service.reply = sends(b"[" * 1_000_000)
        with pytest.raises(UnexpectedReply):
            client.runs.get("run_1")


def test_a_file_whose_fields_cannot_be_sent_is_refused_before_any_request(service: Service) -> None:
    service.reply = sends({"file_id": "file_1", "bytes": 3, "sha256": "", "media_type": "text/plain"})
    fields = {"media_type": "text/a\nx: b", "idempotency_key": "invoice-€", "name": "a\udcff"}
    with Methods(AUTH, base_url=service.url) as client:
        for name, text in fields.items():
            given: Any = {"name": "a", name: text}
            with pytest.raises(InvalidRequest, match=f"^The {name} of the file "):
                client.files.upload(b"abc", **given)
        assert service.got == []
        client.files.upload(b"abc", name="a", media_type="text/plain\n")


def test_a_download_may_take_longer_than_a_reply(service: Service) -> None:
    def slow(to: Handler, _: bytes) -> None:
        to.send_response(200)
        to.send_header("content-length", "20")
        to.end_headers()
        for _ in range(20):
            service.over.wait(0.02)
            to.wfile.write(b"x")

    service.reply = lambda to, body: (slow if to.path.endswith("/files") else sends(RUN))(to, body)
    with Methods(AUTH, base_url=service.url, timeout=0.2, max_retries=0) as client:
        assert client.runs.files.archive("run_1") == b"x" * 20


def test_a_reply_that_is_cut_is_no_result_and_a_redirect_gets_no_key(service: Service) -> None:
    service.reply = sends(b'{"run_id":"run_1","st')
    with Methods(AUTH, base_url=service.url, max_retries=1) as client:
        with pytest.raises(ConnectionFailed) as cut:
            client.start("wf_1")
        assert cut.value.code == "bad_reply"
        assert len(service.got) == 2 and service.got[0] == service.got[1]
        service.reply = sends({}, 307, location="http://127.0.0.1:1/")
        with pytest.raises(UnexpectedReply):
            client.runs.get("run_1")


def test_a_reply_that_is_not_encoded_as_it_says_is_no_reply(service: Service) -> None:
    service.reply = sends(b"no gzip", content_encoding="gzip")
    with Methods(AUTH, base_url=service.url, max_retries=1) as client:
        for call in (client.runs.get, client.runs.cancel, lambda run: next(client.runs.events(run))):
            with pytest.raises(ConnectionFailed):
                call("run_1")
    assert [path for path, _, _ in service.got].count("/v1/runs/run_1") == 2


def test_a_status_of_a_later_version_is_not_waited_for(service: Service) -> None:
    service.reply = sends({**RUN, "status": "resting"})
    with Methods(AUTH, base_url=service.url) as client, pytest.raises(UnexpectedReply) as unknown:
        client.run("wf_1")
    assert unknown.value.status == 200


def test_a_request_of_many_starts_that_fails_loses_no_outcome_of_those_before_it(service: Service) -> None:
    refusal = sends({"error": "forbidden", "message": "No."}, 403)
    replies = [sends({"items": [{"status": 201, "run": RUN}] * 1_000}), refusal]
    service.reply = lambda to, body: replies.pop(0)(to, body)
    starts = [Start("wf_1") for _ in range(3_000)]
    with Methods(WHOLE, base_url=service.url, worker=False) as client:
        outcomes = client.start_many(starts)
        assert [outcomes[at].run is not None for at in (0, 999, 1_000, 2_999)] == [True, True, False, False]
        assert {outcome.error.code for outcome in outcomes if outcome.error is not None} == {"forbidden"}
        assert len(outcomes) == 3_000 and len(service.got) == 2
        service.reply = refusal
        with pytest.raises(PermissionDenied):
            client.start_many(starts)


def test_starts_that_are_no_json_are_found_before_the_first_request(service: Service) -> None:
    def accepts(to: Handler, body: bytes) -> None:
        sends({"items": [{"status": 201, "run": RUN}] * len(json.loads(body)["runs"])})(to, body)

    service.reply = accepts
    with Methods(AUTH, base_url=service.url) as client:
        for value in (object(), float("nan"), "\ud800"):
            with pytest.raises((TypeError, ValueError)):
                client.start_many([Start("wf_1") for _ in range(1_001)] + [Start("wf_1", {"value": value})])
        assert service.got == []
        starts: Any = (Start("wf_1") for _ in range(2))
        assert len(client.start_many(starts)) == 2


def test_a_start_without_a_key_gets_one_that_its_repetitions_keep_and_an_empty_key_stays(service: Service) -> None:
    replies = [sends(b'{"cut'), sends({"items": [{"status": 201, "run": RUN}]})]
    service.reply = lambda to, body: replies.pop(0)(to, body)
    none: Any = None
    with Methods(AUTH, base_url=service.url) as client:
        client.start_many([Start("wf_1", {}, none)])
        first, again = (json.loads(body)["runs"][0]["idempotency_key"] for _, body, _ in service.got)
        assert first == again and len(first) == 36
        service.reply = sends(RUN)
        client.start("wf_1", idempotency_key="")
        client.runs.rerun("run_1", idempotency_key="")
        assert [json.loads(body)["idempotency_key"] for _, body, _ in service.got[2:]] == ["", ""]


def test_a_service_that_does_not_wait_is_not_asked_again_at_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: List[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        service.reply = sends({**RUN, "status": "succeeded"})

    monkeypatch.setattr("methods._sync.client.sleep", pause)
    with Methods(AUTH, base_url=service.url, worker=False) as client:
        assert client.run("wf_1").status == "succeeded"
    assert (pauses, len(service.got)) == ([1.0], 3)


def test_events_continue_over_a_broken_connection_and_end_with_an_error_after_the_last_try(service: Service) -> None:
    def broken(to: Handler, _: bytes) -> None:
        ended = {**RUN, "status": "succeeded"} if len(service.got) > 1 else RUN
        to.send_response(200)
        to.send_header("content-type", "text/event-stream")
        to.send_header("content-length", "9999")
        to.end_headers()
        to.wfile.write(f"event: status\nid: e-{len(service.got)}\ndata: {json.dumps(ended)}\n\nevent: st".encode())

    service.reply = broken
    with Methods(AUTH, base_url=service.url) as client:
        assert [each.data["status"] for each in client.runs.events("run_1")] == ["queued", "succeeded"]
    assert [last_id for _, _, last_id in service.got] == [None, "e-1"]

    def cut(to: Handler, _: bytes) -> None:
        to.send_response(200)
        to.send_header("content-length", "9999")
        to.end_headers()
        to.wfile.write(b"event: ru")

    service.reply = cut
    with Methods(AUTH, base_url=service.url, max_retries=0) as client, pytest.raises(ConnectionFailed):
        next(iter(client.runs.events("run_1")))


def test_a_service_that_shows_another_run_or_other_questions_gets_no_plain_answer(service: Service) -> None:
    key = ContentKey("b" * 43, "org_1")
    asked: List[AskedQuestion] = []
    errors: List[Exception] = []
    question = {"id": "q_1", "step": "ask", "asked_at": "now", "deadline_at": None}
    plain = {**question, "prompt": "Which pin?", "form": FORM}
    content: Dict[str, Any] = {"prompt": "Which pin?", "form": FORM}
    elsewhere = key.of_run("e" * 32).seal_json("question", "ask", content)
    shown: Dict[str, Any] = {}

    def answer(to: Handler, body: bytes) -> None:
        assert b"secret" not in body
        sent = json.loads(body or b"{}")
        if "content_id" in sent:
            service.started = sent["content_id"]
        kept = {"content_id": service.started}
        sends({**RUN, "status": "waiting", "run_data": "device", **kept, **shown})(to, body)

    def on_ask(question: AskedQuestion) -> Dict[str, str]:
        asked.append(question)
        return {"pin": "secret"}

    def on_error(error: Exception, _: AskedQuestion) -> None:
        errors.append(error)
        # The run ends, and the call with it.
        shown["status"] = "cancelled"

    service.reply = answer
    with Methods(WHOLE, base_url=service.url, device=True, worker=False, on_error=on_error) as client:
        for other in ("e" * 32, None):
            shown = {"question": plain, "content_id": other}
            with pytest.raises(SealedValueError) as refused:
                client.run("wf_1", {"pin": "secret"}, on_ask=on_ask)
            assert refused.value.code == "sealed_value_damaged"
        with pytest.raises(CredentialError) as mode:
            client.runs.answer("run_1", {"pin": "secret"}, question_id="q_1")
        assert mode.value.code == "device_mode_required"
        # A question that is not sealed, one of another run, and one that was changed.
        damaged = {"$sealed": elsewhere["$sealed"][:-4] + "AAAA"}
        for each in (plain, {**question, "sealed": elsewhere}, {**question, "sealed": damaged}):
            shown = {"question": each}
            client.run("wf_1", {"pin": "secret"}, on_ask=on_ask)
            shown = {"question": each}
            with pytest.raises(SealedValueError):
                client.runs.answer("run_1", {"pin": "secret"}, question_id="q_1")
    assert [getattr(error, "code", None) for error in errors] == ["sealed_value_damaged"] * 3
    assert asked == []


def test_the_message_of_a_failure_is_opened_if_this_key_has_sealed_it(service: Service) -> None:
    key = ContentKey("b" * 43, "org_1")
    failure = {"code": "step_failed", "kind": "code", "message": "", "step": "refund"}
    shown: Dict[str, Any] = {**RUN, "status": "failed", "content_id": "f" * 32}
    with Methods(WHOLE, base_url=service.url) as client:
        for part, expected in (("b" * 43, "No refund of 250."), ("c" * 43, "")):
            run = ContentKey(part, key.org_id).of_run("f" * 32)
            sealed = run.seal_json("text", "refund", "No refund of 250.")
            service.reply = sends({**shown, "error": {**failure, "sealed": sealed}})
            error = client.runs.get("run_1").error
            assert error is not None and error.message == expected


def test_a_timeout_also_ends_the_wait_for_a_service_that_does_not_reply(service: Service) -> None:
    service.reply = lambda to, body: None if service.over.wait() else None
    client = Methods(api_key=AUTH, base_url=service.url, worker=False)
    began = time.monotonic()
    with pytest.raises(ConnectionFailed):
        client.run("wf_1", timeout=0.2)
    assert time.monotonic() - began < 10
    service.reply = lambda to, body: sends(RUN)(to, body) if body else service.over.wait() and None
    with pytest.raises(RunTimeout) as late:
        client.run("wf_1", timeout=0.5)
    assert late.value.run_id == "run_1" and time.monotonic() - began < 20


def test_starts_that_a_limit_refuses_are_repeated_as_long_as_some_are_started(service: Service) -> None:
    limited = {"status": 429, "error": {"error": "rate_limited", "message": "Slow."}, "retry_after": 0}

    def one_at_a_time(to: Handler, body: bytes) -> None:
        count = len(json.loads(body)["runs"])
        items = [{"status": 201, "run": RUN}] + [limited] * (count - 1)
        sends({"items": items})(to, body)

    service.reply = one_at_a_time
    client = Methods(api_key=AUTH, base_url=service.url)
    outcomes = client.start_many([Start("wf_1")] * 12)
    assert all(outcome.run is not None for outcome in outcomes) and len(service.got) == 12
