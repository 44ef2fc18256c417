"""What needs no service: keys, webhooks, and servers that are broken in a way of their own."""

from __future__ import annotations

import hashlib
import hmac
import ssl
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterator, List, Tuple

import pytest
from loopback import Handler, LoopbackServer

import methods
from methods import ConnectionFailed, CredentialError, Methods, ServerError, SignatureError, UnexpectedReply
from methods._credentials import find_credential, parse_key

AUTH = "sk_" + "A" * 43
WHOLE = AUTH + "_" + "b" * 43 + "0wDHnF"
RUN = b'{"run_id":"run_1","version_id":"ver_1","status":"succeeded"}'
WHOAMI = b'{"org_id":"org_1","key_id":"key_1","content_on_devices":false,"content_grants":[]}'
Reply = Tuple[int, "dict[str, str]", bytes]


@pytest.fixture(autouse=True)
def no_credential(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("SERVICE_API_KEY", "METHODS_SERVER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


class Server(LoopbackServer):
    """Answers with the given replies in turn, and keeps what it got. The organization keeps content with the service."""

    def __init__(self, replies: List[Reply]) -> None:
        self.got: List[Tuple[str, bytes]] = []
        server = self

        class Each(Handler):
            def handle_request(self, body: bytes) -> None:
                if self.path == "/v1/whoami":
                    self.reply(200, WHOAMI)
                    return
                server.got.append((str(self.headers), body))
                status, headers, content = replies[min(len(server.got), len(replies)) - 1]
                self.reply(status, content, **headers)

        super().__init__(Each)


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    servers: List[Server] = []

    def start(*replies: Reply) -> Server:
        servers.append(Server(list(replies)))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def test_a_mistyped_key_is_found_before_any_request() -> None:
    assert parse_key(WHOLE) == (AUTH, "b" * 43)
    for wrong in (WHOLE[:-1] + "G", WHOLE + "0", WHOLE[:-1], WHOLE[:50] + "\n" + WHOLE[50:], "pk" + WHOLE[2:], ""):
        with pytest.raises(CredentialError) as found:
            Methods(wrong, base_url="http://127.0.0.1:1")
        assert found.value.code == "invalid_key"


def test_the_key_comes_from_the_environment_before_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(CredentialError) as none:
        find_credential(None, None)
    assert none.value.code == "no_key"
    (tmp_path / ".env").write_text(f'export SERVICE_API_KEY="{WHOLE}"\nMETHODS_SERVER=http://a.example # ours\n')
    found = find_credential(None, None)
    assert (found.base_url, found.bearer(), found.content_part) == ("http://a.example", AUTH, "b" * 43)
    monkeypatch.setenv("SERVICE_API_KEY", "sk_" + "C" * 43)
    assert find_credential(None, None).bearer() == "sk_" + "C" * 43
    assert find_credential(AUTH, "http://b.example/").base_url == "http://b.example"


def test_a_newline_after_a_mounted_secret_and_a_folder_that_is_gone_do_not_matter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", f"{WHOLE}\n")
    monkeypatch.setenv("METHODS_SERVER", " https://methods.example/\n")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    found = find_credential(None, None)
    assert (found.base_url, found.bearer()) == ("https://methods.example", AUTH)


def test_a_start_is_repeated_with_one_key_and_only_the_auth_part_leaves(serve: Callable[..., Server]) -> None:
    away = (503, {"retry-after": "0"}, b'{"error":"unavailable"}')
    cut = (200, {"content-length": "999"}, RUN[:20])
    server = serve(away, cut, (201, {}, RUN))
    with Methods(WHOLE, base_url=server.url) as client:
        assert client.start("wf_x", {"secret": "inputs"}).run_id == "run_1"
    assert len(server.got) == 3
    assert len({body for _, body in server.got}) == 1
    assert b'"idempotency_key":"' in server.got[0][1]
    assert f"Bearer {AUTH}\n" in server.got[0][0] and "bbbb" not in str(server.got)


def test_a_call_that_waits_for_a_started_run_outlasts_more_faults_than_other_calls(serve: Callable[..., Server]) -> None:
    away = (503, {"retry-after": "0"}, b'{"error":"unavailable"}')
    started, ended = (201, {}, RUN.replace(b"succeeded", b"queued")), (200, {}, RUN)
    server = serve(started, away, away, away, ended)
    with Methods(AUTH, base_url=server.url, max_retries=1, worker=False) as client:
        assert client.run("wf_x").status == "succeeded"
    assert len(server.got) == 5
    server = serve(started, away, ended)
    with Methods(AUTH, base_url=server.url, max_retries=0, worker=False) as client, pytest.raises(ServerError):
        client.run("wf_x")


def test_what_does_not_speak_the_interface_is_an_error_with_a_sentence(serve: Callable[..., Server]) -> None:
    for reply in ((200, {}, b"<html>"), (404, {}, b"not here"), (200, {}, b'{"id":1}')):
        with Methods(AUTH, base_url=serve(reply).url) as client, pytest.raises(UnexpectedReply):
            client.runs.get("run_1")
    with Methods(AUTH, base_url="http://127.0.0.1:1", max_retries=1) as client, pytest.raises(ConnectionFailed):
        client.runs.get("run_1")


def test_the_debug_log_shows_no_content(serve: Callable[..., Server], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", logger="methods")
    with Methods(WHOLE, base_url=serve((201, {}, RUN)).url) as client:
        client.start("wf_x", {"canary": "c4n4ry"}, metadata={"canary": "c4n4ry"})
    assert "POST /v1/runs: 201" in caplog.text
    assert "c4n4ry" not in caplog.text and AUTH not in caplog.text


def test_authorities_are_read_for_a_service_with_tls_only(
    serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: List[object] = []
    load = ssl.SSLContext.load_verify_locations

    def count(context: ssl.SSLContext, *args: Any, **named: Any) -> None:
        read.append(named)
        load(context, *args, **named)

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", count)
    server = serve((200, {}, RUN))
    with Methods(AUTH, base_url=server.url) as client:
        client.runs.get("run_1")
    assert not read
    tls = server.url.replace("http:", "https:")
    with Methods(AUTH, base_url=tls, max_retries=0) as client, pytest.raises(ConnectionFailed):
        client.runs.get("run_1")
    assert read


def test_webhooks_that_are_forged_or_old_are_refused() -> None:
    body, secret, now = b'{"event":"succeeded"}', "whsec_x", int(time.time())

    def signature(t: int, by: str = secret) -> str:
        return hmac.new(by.encode(), f"{t}.".encode() + body, hashlib.sha256).hexdigest()

    assert methods.webhooks.verify(body, f"t={now},v1={signature(now)}", secret) == {"event": "succeeded"}
    both = f"t={now},v1={signature(now, 'older')},v1={signature(now)}"
    assert methods.webhooks.verify(body.decode(), both, secret)
    for header in (None, "", f"t={now}", f"t={now},v1={signature(now, 'other')}", f"t={now + 1},v1={signature(now)}"):
        with pytest.raises(SignatureError):
            methods.webhooks.verify(body, header, secret)
    parsed: Any = {"event": "succeeded"}
    with pytest.raises(SignatureError) as late:
        methods.webhooks.verify(parsed, f"t={now},v1={signature(now)}", secret)
    assert late.value.code == "invalid_body"
    with pytest.raises(SignatureError) as old:
        methods.webhooks.verify(body, f"t={now - 400},v1={signature(now - 400)}", secret)
    assert old.value.code == "stale_signature"
    # Anyone can sign with an empty secret; and it is no forgery, so that it is noticed.
    with pytest.raises(CredentialError) as none:
        methods.webhooks.verify(body, f"t={now},v1={signature(now, '')}", "")
    assert none.value.code == "no_webhook_secret"


def test_the_import_loads_nothing_heavy() -> None:
    code = "import sys, methods; print([m for m in ('httpx', 'asyncio', 'cryptography', 'ssl') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_sync_client_is_written_from_the_async_one() -> None:
    script = Path(__file__).parents[1] / "scripts" / "generate_sync.py"
    subprocess.run([sys.executable, str(script), "--check"], check=True)
