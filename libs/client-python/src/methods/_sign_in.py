"""The sign-in that ``methods login`` stored in a file of this user, for a laptop without a service key.

It is renewed as the command line does, under the same lock: a refresh token is valid for one use, and an issuer that
sees it twice ends the sign-in.
"""

# What pyright needs a cast for, mypy knows.
# mypy: disable-error-code="redundant-cast"

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import threading
import time
import uuid
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, cast
from urllib.parse import urlsplit

from ._errors import ConnectionFailed, CredentialError
from ._exchange import authorities
from ._lock_file import held

#: Tokens are renewed this long before they expire, to allow for a request and the difference of two clocks.
_EARLY_S = 60.0
#: Used if an issuer does not say how long an access token is valid.
_EXPIRES_S = 300.0
_TIMEOUT_S = 20.0
_TEXTS = ("server", "issuer", "clientId", "accessToken")


class StoredSignIn:
    """One sign-in, shared by the threads of a client. ``bearer`` and ``renew`` may block for a request."""

    def __init__(self, file: Path, kept: Mapping[str, Any]) -> None:
        self._file = file
        self._kept = kept
        #: One renewal serves all calls that need it.
        self._renewing = threading.Lock()

    @property
    def server(self) -> str:
        return str(self._kept["server"])

    def fresh(self) -> Optional[str]:
        """The access token, unless it has to be renewed."""
        kept = self._kept
        return str(kept["accessToken"]) if _is_fresh(kept) else None

    def bearer(self) -> str:
        """Raises CredentialError or ConnectionFailed."""
        with self._renewing:
            if not _is_fresh(self._kept):
                self._kept = _renewed(self._file, self._kept, refused=False)
            return str(self._kept["accessToken"])

    def renew(self, refused: str) -> bool:
        """After a 401 for this token. Returns True if there is another one now. Raises as ``bearer``."""
        with self._renewing:
            if self._kept["accessToken"] == refused and self._kept.get("refreshToken") is not None:
                self._kept = _renewed(self._file, self._kept, refused=True)
            return bool(self._kept["accessToken"] != refused)


def stored_sign_in(address: Optional[str]) -> Optional[StoredSignIn]:
    """That of the address, or the last one. None: there is none. Raises CredentialError."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "methods"
    memory = _read_json(state / "sign-ins.json")
    known: Any = memory.get("known") if address is not None else [memory.get("last")]
    places: List[Any] = cast(List[Any], known) if isinstance(known, list) else []
    for each in places:
        place: Dict[str, Any] = cast(Dict[str, Any], each) if isinstance(each, dict) else {}
        issuer, server = place.get("issuer"), place.get("server")
        if not isinstance(issuer, str) or not isinstance(server, str) or address not in (None, server):
            continue
        name = hashlib.sha256(f"{issuer}\n{server}".encode()).hexdigest()[:16]
        file = state / "sign-ins" / f"{name}.json"
        kept = _read_sign_in(file)
        if kept is not None:
            return StoredSignIn(file, kept)
        raise CredentialError(
            f"The sign-in at {server} is in the keyring of the system, which this library does not read: sign in with "
            "`METHODS_TOKEN_STORE=file methods login`, or set SERVICE_API_KEY.",
            code="sign_in_in_keyring",
        )
    return None


def _renewed(file: Path, used: Mapping[str, Any], refused: bool) -> Mapping[str, Any]:
    try:
        return _renewed_in(file, used, refused)
    except OSError as error:
        message = f"The sign-in at {used['server']} cannot be renewed: {error}."
        raise CredentialError(message, code="sign_in_not_stored") from error


def _renewed_in(file: Path, used: Mapping[str, Any], refused: bool) -> Mapping[str, Any]:
    with held(Path(f"{file}.lock")):
        kept = _read_sign_in(file)
        if kept is None:
            raise _over(used)
        if kept["accessToken"] != used["accessToken"] and _is_fresh(kept):
            return kept
        is_valid = float(kept["expiresAtMs"]) > time.time() * 1000
        if kept.get("refreshToken") is None:
            if is_valid:
                return kept
            raise _over(kept)
        try:
            fresh = _refreshed(kept)
        except ConnectionFailed:
            # An issuer that is briefly unavailable ends no sign-in early.
            if is_valid and not refused:
                return kept
            raise
        _replace(file, json.dumps(fresh) + "\n")
        return fresh


def _refreshed(kept: Mapping[str, Any]) -> Mapping[str, Any]:
    issuer, resource = str(kept["issuer"]), kept.get("resource")
    found = _ask(issuer, f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    endpoint = found.get("token_endpoint")
    if not isinstance(endpoint, str) or found.get("issuer") != issuer:
        raise _bad_issuer(issuer)
    form = {
        "grant_type": "refresh_token",
        "refresh_token": str(kept["refreshToken"]),
        "client_id": str(kept["clientId"]),
    }
    reply = _ask(issuer, endpoint, form if resource is None else {**form, "resource": str(resource)})
    if "error" in reply:
        raise _over(kept)
    token, following, expires = reply.get("access_token"), reply.get("refresh_token"), reply.get("expires_in")
    if not isinstance(token, str) or not _is_for(token, resource):
        raise _bad_issuer(issuer)
    expires_s = float(expires) if isinstance(expires, (int, float)) else _EXPIRES_S
    return {
        **kept,
        "accessToken": token,
        "refreshToken": following if isinstance(following, str) else kept["refreshToken"],
        "expiresAtMs": int((time.time() + expires_s) * 1000),
    }


def _ask(issuer: str, url: str, form: Optional[Dict[str, str]] = None) -> Dict[str, Any]:
    import httpx

    if not _is_protected(url):
        raise _bad_issuer(issuer)
    try:
        with httpx.Client(timeout=_TIMEOUT_S, verify=authorities(url)) as http:
            response = http.get(url) if form is None else http.post(url, data=form)
    except httpx.HTTPError as error:
        message = f"The issuer {issuer} of the sign-in cannot be reached ({type(error).__name__})."
        raise ConnectionFailed(message, code="connection_failed") from error
    # Others who share the issuer may have caused a 429, so it does not end the sign-in.
    if response.status_code >= 500 or response.status_code == 429:
        message = f"The issuer {issuer} of the sign-in is unavailable."
        raise ConnectionFailed(message, code="connection_failed", status=response.status_code)
    try:
        reply: Any = response.json()
    except ValueError:
        reply = None
    if not isinstance(reply, dict):
        raise _bad_issuer(issuer)
    return cast(Dict[str, Any], reply)


def _is_for(token: str, audience: Any) -> bool:
    """An issuer may ignore the requested audience and issue a token for another server, which must not reach this one."""
    if audience is None:
        return True
    try:
        payload = token.split(".")[1]
        claims: Any = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        named = claims.get("aud")
    except (IndexError, ValueError, AttributeError):
        return False
    return bool(audience in named if isinstance(named, list) else audience == named)


def _is_protected(url: str) -> bool:
    """Tokens are sent over https, or within this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return parts.scheme == "https" or (
        parts.scheme == "http" and (host in ("localhost", "::1") or bool(re.fullmatch(r"127(\.\d+){3}", host)))
    )


def _is_fresh(kept: Mapping[str, Any]) -> bool:
    return bool(float(kept["expiresAtMs"]) / 1000 - time.time() > _EARLY_S)


def _read_sign_in(file: Path) -> Optional[Dict[str, Any]]:
    kept = _read_json(file)
    expires = kept.get("expiresAtMs")
    is_whole = all(isinstance(kept.get(name), str) for name in _TEXTS) and isinstance(expires, (int, float))
    return kept if is_whole else None


def _read_json(path: Path) -> Dict[str, Any]:
    try:
        found: Any = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return cast(Dict[str, Any], found) if isinstance(found, dict) else {}


def _replace(path: Path, text: str) -> None:
    """A reader gets the old text or the new one, and a used refresh token does not return after a power failure."""
    fresh = f"{path}.{uuid.uuid4()}"
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except OSError:
        Path(fresh).unlink(missing_ok=True)
        raise


def _over(kept: Mapping[str, Any]) -> CredentialError:
    return CredentialError(
        f"The sign-in at {kept['server']} is over: sign in again with `methods login`, or set SERVICE_API_KEY.",
        code="sign_in_over",
    )


def _bad_issuer(issuer: str) -> CredentialError:
    return CredentialError(f"The issuer {issuer} of the sign-in does not renew it as it should.", code="bad_issuer")
