"""Finds the key and the address: argument, environment, ``.env`` of the working folder, sign-in of the command line.

The content part of a key is for sealing only; the bearer is all of it that is ever sent.
"""

from __future__ import annotations

import os
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Dict, Optional, Union

from ._errors import CredentialError

if TYPE_CHECKING:
    from ._sign_in import StoredSignIn

_WHOLE = re.compile(r"(sk_[0-9A-Za-z]{43})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})")
_AUTH_PART = re.compile(r"sk_[0-9A-Za-z]{43}")
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Credential:
    base_url: str
    #: The auth part of a key, or a sign-in.
    presents: "Union[str, StoredSignIn]" = field(repr=False)
    #: None: there is only the auth part of a key, or a sign-in.
    content_part: Optional[str] = field(repr=False)

    @property
    def is_key(self) -> bool:
        return isinstance(self.presents, str)

    def fresh(self) -> Optional[str]:
        """What is sent; None: ``bearer`` has to renew it first."""
        return self.presents if isinstance(self.presents, str) else self.presents.fresh()

    def bearer(self) -> str:
        """May block for a request. Raises CredentialError or ConnectionFailed."""
        return self.presents if isinstance(self.presents, str) else self.presents.bearer()

    def renew(self, refused: str) -> bool:
        """After a 401. Returns True if there is another bearer now."""
        return not isinstance(self.presents, str) and self.presents.renew(refused)


def find_credential(api_key: Optional[str], base_url: Optional[str]) -> Credential:
    """Nothing is sent before this has found a key that is well formed."""
    # The working folder may have been removed since.
    variables = _dot_env(Path(".env"))
    for name in ("SERVICE_API_KEY", "METHODS_SERVER"):
        if os.environ.get(name):
            variables[name] = os.environ[name]
    key = api_key if api_key is not None else variables.get("SERVICE_API_KEY")
    address = base_url or variables.get("METHODS_SERVER")
    if key is not None:
        # A mounted secret often ends with a newline.
        bearer, content_part = parse_key(key.strip())
        if not address:
            raise CredentialError(
                "The address of the service is not known: pass base_url=, or set METHODS_SERVER.", code="no_address"
            )
        return Credential(_checked(address), bearer, content_part)
    from ._sign_in import stored_sign_in

    signed_in = stored_sign_in(None if address is None else _checked(address))
    if signed_in is not None:
        return Credential(_checked(signed_in.server), signed_in, None)
    raise CredentialError(
        "There is no service key: set SERVICE_API_KEY in the environment or in .env, or pass api_key=. "
        "`methods connect` makes a key. On your own computer a sign-in by `METHODS_TOKEN_STORE=file methods login` "
        "serves as well.",
        code="no_key",
    )


def parse_key(key: str) -> "tuple[str, Optional[str]]":
    """Returns what is sent of a key, and its content part."""
    if _AUTH_PART.fullmatch(key):
        return key, None
    whole = _WHOLE.fullmatch(key)
    if whole is None or _checksum(key[:-6]) != whole.group(3):
        raise CredentialError(
            "The service key is mistyped or cut: its checksum does not fit. Copy it again, whole.", code="invalid_key"
        )
    return whole.group(1), whole.group(2)


def _checksum(text: str) -> str:
    rest = zlib.crc32(text.encode("ascii"))
    characters = ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        characters = _BASE62[digit] + characters
    return characters


def _checked(address: str) -> str:
    address = address.strip()
    if not re.fullmatch(r"https?://[^\s?#]+", address):
        raise CredentialError("The address of the service is not an http or https URL.", code="invalid_address")
    return address.rstrip("/")


def _dot_env(path: Path) -> Dict[str, str]:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    found: Dict[str, str] = {}
    for line in text.splitlines():
        match = re.fullmatch(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*", line)
        if match is None:
            continue
        value = match.group(2)
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        else:
            value = re.sub(r"\s+#.*$", "", value)
        if value:
            found[match.group(1)] = value
    return found
