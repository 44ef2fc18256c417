"""A laptop without a key: the sign-in that the command line keeps in a file, renewed at its issuer."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Dict, Iterator, List
from urllib.parse import parse_qs

import pytest
from loopback import Handler, LoopbackServer

from methods import AsyncMethods, AuthenticationError, ConnectionFailed, CredentialError, Methods
from methods._credentials import find_credential
from methods._lock_file import held

RUN = b'{"run_id":"run_1","version_id":"ver_1","status":"succeeded"}'
WHOAMI = b'{"org_id":"org_1","key_id":null,"content_on_devices":false,"content_grants":[]}'


class Desk(LoopbackServer):
    """A service and an issuer at one address, whose refresh tokens are valid once; and the person's state folder."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "methods"
        self.bearers: List[str] = []
        #: Bearers that the service refuses.
        self.revoked: List[str] = []
        self.refreshes = 0
        self.valid = "refresh-0"
        self.status = 200
        desk = self

        class Each(Handler):
            protocol_version = "HTTP/1.1"

            def handle_request(self, body: bytes) -> None:
                self.reply(*desk.reply(self.path, self.headers.get("authorization", ""), body))

        super().__init__(Each)

    @property
    def audience(self) -> str:
        return f"{self.url}/api"

    @property
    def file(self) -> Path:
        name = hashlib.sha256(f"{self.url}\n{self.url}".encode()).hexdigest()[:16]
        return self.state / "sign-ins" / f"{name}.json"

    def token(self, number: int, audience: str = "") -> str:
        claims = json.dumps({"aud": audience or self.audience, "n": number}).encode()
        return f"h.{base64.urlsafe_b64encode(claims).rstrip(b'=').decode()}.s"

    def reply(self, path: str, authorization: str, body: bytes) -> "tuple[int, bytes]":
        if path.startswith("/v1/"):
            bearer = authorization[len("Bearer ") :]
            self.bearers.append(bearer)
            if bearer in self.revoked:
                return 401, b'{"error":"unauthorized"}'
            return 200, WHOAMI if path == "/v1/whoami" else RUN
        if self.status != 200:
            return self.status, b'{"error":"too_many_requests"}'
        if path.startswith("/.well-known/"):
            return 200, json.dumps({"issuer": self.url, "token_endpoint": f"{self.url}/token"}).encode()
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        assert (form["client_id"], form["resource"]) == ("cli", self.audience)
        if form["refresh_token"] != self.valid:
            return 400, b'{"error":"invalid_grant"}'
        self.refreshes += 1
        self.valid = f"refresh-{self.refreshes}"
        token = {"access_token": self.token(self.refreshes), "refresh_token": self.valid, "expires_in": 600}
        return 200, json.dumps(token).encode()

    def sign_in(self, expires_in: float, **more: Any) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        place = {"server": self.url, "issuer": self.url}
        (self.state / "sign-ins.json").write_text(json.dumps({"last": place, "known": [place]}))
        kept: Dict[str, Any] = {**place, "clientId": "cli", "resource": self.audience, "accessToken": self.token(0)}
        kept.update(refreshToken="refresh-0", expiresAtMs=(time.time() + expires_in) * 1000)
        self.file.write_text(json.dumps({**kept, **more}))


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Desk]:
    for name in ("SERVICE_API_KEY", "METHODS_SERVER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    made = Desk(tmp_path)
    yield made
    made.close()


def test_a_fresh_sign_in_is_used_as_it_is_and_has_no_webhook(desk: Desk) -> None:
    desk.sign_in(600)
    for address in (None, f"{desk.url}/"):
        found = find_credential(None, address)
        assert (found.bearer(), found.base_url, found.is_key) == (desk.token(0), desk.url, False)
    with pytest.raises(CredentialError) as other:
        find_credential(None, "https://other.example")
    assert other.value.code == "no_key"
    with Methods() as client, pytest.raises(CredentialError) as refused:
        client.start("wf_x", webhook_url="https://a.example")
    assert (refused.value.code, desk.refreshes) == ("webhook_needs_key", 0)


def test_an_old_sign_in_is_renewed_once_for_all_threads_and_stored_before_it_is_used(desk: Desk) -> None:
    desk.sign_in(1)
    with Methods() as client, ThreadPoolExecutor(8) as threads:
        assert len(list(threads.map(lambda _: client.start("wf_x"), range(8)))) == 8
    assert (desk.refreshes, set(desk.bearers)) == (1, {desk.token(1)})
    kept = json.loads(desk.file.read_text())
    assert (kept["refreshToken"], kept["accessToken"], kept["clientId"]) == ("refresh-1", desk.token(1), "cli")
    assert desk.file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in desk.file.parent.iterdir()] == [desk.file.name]


def test_a_token_that_is_refused_is_renewed_and_the_request_repeated(desk: Desk) -> None:
    desk.sign_in(600)
    desk.revoked = [desk.token(0)]

    async def scenario() -> None:
        async with AsyncMethods() as client:
            assert (await client.runs.get("run_1")).run_id == "run_1"
            desk.revoked.append(desk.token(1))
            assert (await client.runs.get("run_1")).run_id == "run_1"
            desk.revoked += [desk.token(2), desk.token(3)]
            with pytest.raises(AuthenticationError):
                await client.runs.get("run_1")

    asyncio.run(scenario())
    assert desk.refreshes == 3


def test_a_refusal_that_arrives_after_the_renewal_of_its_token_renews_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.sign_in(1)
    reply = desk.reply

    def late(path: str, authorization: str, body: bytes) -> "tuple[int, bytes]":
        if path == "/v1/runs/late" and authorization.endswith(desk.token(1)):
            desk.revoked = [desk.token(1)]
            client.runs.get("run_1")
        return reply(path, authorization, body)

    monkeypatch.setattr(desk, "reply", late)
    with Methods() as client:
        assert client.runs.get("late").run_id == "run_1"
    assert (desk.refreshes, desk.bearers[-1]) == (2, desk.token(2))


def test_a_request_whose_token_was_refused_outlasts_an_issuer_that_cannot_be_reached(desk: Desk) -> None:
    # By this clock the token is valid, and even one that is not fresh any more counts for nothing.
    for left in (600, 5):
        desk.sign_in(left)
        desk.valid, desk.refreshes, desk.status = "refresh-0", 0, 503
        desk.bearers, desk.revoked = [], [desk.token(0)]
        with Methods(max_retries=0) as hasty, pytest.raises(ConnectionFailed):
            hasty.runs.get("run_1")

        with Methods() as client:
            started = threading.Thread(target=lambda: client.runs.get("run_1"))
            started.start()
            while len(desk.bearers) < 2:
                assert started.is_alive()
            desk.status = 200
            started.join()
        assert desk.bearers[-1] == desk.token(1)


def test_what_another_process_has_renewed_meanwhile_is_used(desk: Desk) -> None:
    desk.sign_in(600)
    desk.revoked = [desk.token(0)]
    with Methods() as client:
        desk.sign_in(600, accessToken=desk.token(7))
        assert client.runs.get("run_1").run_id == "run_1"
    assert (desk.refreshes, desk.bearers) == (0, [desk.token(0), desk.token(7)])


def test_a_sign_in_that_is_over_or_cannot_be_renewed_is_a_typed_error(desk: Desk) -> None:
    def code() -> str:
        with pytest.raises((CredentialError, ConnectionFailed)) as found, Methods(max_retries=0) as client:
            client.start("wf_x")
        return found.value.code

    desk.sign_in(-1, refreshToken=None)
    assert code() == "sign_in_over"
    desk.sign_in(-1, refreshToken="used")
    assert code() == "sign_in_over"
    desk.sign_in(-1, resource="https://other.example/api", issuer="http://plain.example")
    assert code() == "bad_issuer"
    desk.sign_in(-1)
    desk.status = 503
    assert code() == "connection_failed"
    # Too many requests, perhaps of others.
    desk.status = 429
    assert code() == "connection_failed"
    # An issuer that is briefly unavailable ends no sign-in early.
    desk.sign_in(5)
    with Methods() as client:
        client.start("wf_x")
    assert desk.bearers[-1] == desk.token(0)
    desk.file.unlink()
    assert code() == "sign_in_in_keyring"


def test_a_call_that_follows_its_run_raises_that_its_sign_in_cannot_be_stored(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("methods._sync.client._WAITING_CONNECTIONS", 0)
    desk.sign_in(600)
    raised: List[CredentialError] = []

    def call() -> None:
        try:
            client.run("wf_x")
        except CredentialError as error:
            raised.append(error)

    with Methods() as client:
        assert client.run("wf_x").status == "succeeded"
        # The token has to be renewed, and the folder is not writable.
        monkeypatch.setattr("methods._sign_in._EARLY_S", 3_600)
        shutil.rmtree(desk.file.parent)
        calling = threading.Thread(target=call, daemon=True)
        calling.start()
        calling.join(30)
        assert [(each.code, type(each.__cause__)) for each in raised] == [("sign_in_not_stored", FileNotFoundError)]


def test_a_token_for_another_audience_is_not_used(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.sign_in(-1)
    stranger = desk.token(1, "https://other.example/api")
    monkeypatch.setattr(desk, "token", lambda number, audience="": stranger)
    with pytest.raises(CredentialError) as found:
        find_credential(None, None).bearer()
    assert found.value.code == "bad_issuer"


def test_the_lock_waits_for_its_holder_and_takes_what_a_dead_one_left(tmp_path: Path) -> None:
    lock = tmp_path / "a.lock"
    program = "import sys; from pathlib import Path; from methods._lock_file import held\nwith held(Path(sys.argv[1])):"
    child = subprocess.Popen(
        [sys.executable, "-c", f"{program}\n  print('held', flush=True); input()", str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None and child.stdout is not None
    assert child.stdout.readline() == "held\n"
    order: List[str] = []

    def take() -> None:
        with held(lock):
            order.append("taken")

    waiting = threading.Thread(target=take)
    waiting.start()
    assert lock.read_text().split()[0] == str(child.pid)
    order.append("released")
    child.stdin.close()
    child.wait()
    waiting.join()
    assert order == ["released", "taken"]
    # Of a process that was killed, of an earlier process with this one's id, and one without any content.
    for left in (f"{child.pid} {os.uname().nodename}", str(os.getpid()), ""):
        lock.write_text(left)
        if not left:
            os.utime(lock, (time.time() - 60, time.time() - 60))
        with held(lock):
            assert lock.read_text().split()[0] == str(os.getpid())
    assert list(tmp_path.iterdir()) == []
