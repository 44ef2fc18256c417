"""The content key of device mode: derived from the content part of a service key, it seals what must not be read.

The format is in docs/device-mode.md of the service.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
import struct
from typing import Any, Callable, Dict, Optional

from ._canonical import canonical
from ._errors import CredentialError, SealedValueError

KINDS = {
    "inputs": 1,
    "question": 2,
    "answer": 3,
    "out": 4,
    "log": 5,
    "folder": 6,
    "text": 7,
    "file": 8,
    "grant": 9,
}
_VERSION = 1
_HEADER_BYTES = 66
_TAG_BYTES = 16
_NO_DIGEST = bytes(32)
_NO_RUN = "0" * 32
_CONTENT_PART = re.compile(r"[0-9A-Za-z]{43}")


class ContentKey:
    def __init__(self, content_part: str, org_id: str, random: Callable[[int], bytes] = os.urandom) -> None:
        self._part = content_part.encode("ascii")
        self.org_id = org_id
        self.random = random
        #: Names this key in each envelope. Not secret.
        self.fingerprint = self._derive("methods/1 key")[:16]
        self._digest_key = self._derive("methods/1 digest")

    def of_run(self, content_id: str) -> "RunContentKey":
        return RunContentKey(self, content_id, self._derive(f"methods/1 run {content_id}"))

    def digest_of_inputs(self, inputs: Any) -> bytes:
        """The keyed digest by which the service recognizes a repeated start."""
        return self._digest(b"inputs\0", inputs)

    def digest_of_answer(self, question_id: str, answer: Any) -> bytes:
        return self._digest(b"answer\0" + question_id.encode() + b"\0", answer)

    def of_file(self, idempotency_key: str) -> "FileContentKey":
        """The key of a file for inputs. The same upload, repeated, is sealed to the same bytes."""
        content_id = self._mac(b"file\0" + idempotency_key.encode())[:16].hex()
        return FileContentKey(content_id, self.of_run(content_id), self._mac)

    def wrap(self, from_key_id: str, content_part: str) -> bytes:
        """Another key's content part, sealed for the holders of this one."""
        return self.of_run(_NO_RUN).seal("grant", from_key_id, content_part.encode("ascii"))

    def unwrap(self, from_key_id: str, wrapped: bytes) -> str:
        part = self.of_run(_NO_RUN).open("grant", from_key_id, wrapped).decode("latin-1")
        if not _CONTENT_PART.fullmatch(part):
            raise _damaged()
        return part

    def _digest(self, prefix: bytes, value: Any) -> bytes:
        return self._mac(prefix + canonical(value))

    def _mac(self, message: bytes) -> bytes:
        return hmac.new(self._digest_key, message, hashlib.sha256).digest()

    def _derive(self, info: str) -> bytes:
        """HKDF-SHA256 (RFC 5869) with an output of one block."""
        extracted = hmac.new(self.org_id.encode(), self._part, hashlib.sha256).digest()
        return hmac.new(extracted, info.encode() + b"\x01", hashlib.sha256).digest()


class RunContentKey:
    """Seals and opens the content of one run. The errors are SealedValueError."""

    def __init__(self, of: ContentKey, content_id: str, key: bytes) -> None:
        self._of = of
        self._content_id = content_id
        self._cipher = _aes_gcm(key)

    def seal(
        self, kind: str, step: str, plain: bytes, seq: int = 0, digest: bytes = _NO_DIGEST, iv: Optional[bytes] = None
    ) -> bytes:
        """``iv``: never the same for another plain."""
        iv = self._of.random(12) if iv is None else iv
        header = bytes((_VERSION, KINDS[kind])) + self._of.fingerprint + struct.pack(">I", seq) + iv + digest
        sealed: bytes = self._cipher.encrypt(iv, plain, self._bound_to(header, step))
        return header + sealed

    def seal_json(self, kind: str, step: str, value: Any, digest: bytes = _NO_DIGEST, seq: int = 0) -> Dict[str, str]:
        return sealed_json(self.seal(kind, step, canonical(value), seq, digest))

    def open(self, kind: str, step: str, envelope: bytes) -> bytes:
        header = envelope[:_HEADER_BYTES]
        if len(envelope) < _HEADER_BYTES + _TAG_BYTES or header[:2] != bytes((_VERSION, KINDS[kind])):
            raise _damaged()
        # Checked before the tag: an envelope can open with two keys, since GCM does not commit to one.
        if header[2:18] != self._of.fingerprint:
            raise SealedValueError("Another content key sealed this value.", code="content_key_missing")
        try:
            bound = self._bound_to(header, step)
            plain: bytes = self._cipher.decrypt(header[22:34], envelope[_HEADER_BYTES:], bound)
            return plain
        except Exception:
            raise _damaged() from None

    def open_json(self, kind: str, step: str, value: Any) -> Any:
        plain = self.open(kind, step, envelope_of(value))
        try:
            return json.loads(plain.decode("utf-8"))
        except ValueError:
            raise _damaged() from None

    def _bound_to(self, header: bytes, step: str) -> bytes:
        texts = [text.encode("utf-8") for text in (self._of.org_id, self._content_id, step)]
        return header + b"".join(struct.pack(">H", len(text)) + text for text in texts)


class FileContentKey:
    """Of one upload. A file that changes between two tries reveals nothing: other bytes have another IV."""

    def __init__(self, content_id: str, key: RunContentKey, mac: Callable[[bytes], bytes]) -> None:
        self.content_id = content_id
        self.key = key
        self.salt = mac(b"file salt\0" + content_id.encode())[:16]
        self._mac = mac

    def iv_of(self, seq: int, chunk: bytes) -> bytes:
        return self._mac(b"file iv\0" + self.content_id.encode() + b"\0" + struct.pack(">I", seq) + chunk)[:12]


def sealed_json(envelope: bytes) -> Dict[str, str]:
    return {"$sealed": base64.urlsafe_b64encode(envelope).rstrip(b"=").decode("ascii")}


def envelope_of(value: Any) -> bytes:
    text: Optional[Any] = value.get("$sealed") if isinstance(value, dict) else None  # pyright: ignore
    if not isinstance(text, str):
        raise _damaged()
    return unpadded(text)


def unpadded(text: str) -> bytes:
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        raise _damaged()
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        raise _damaged() from None


def _aes_gcm(key: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise CredentialError(
            "Device mode needs the package cryptography: pip install cryptography.", code="device_mode_unsupported"
        ) from None
    return AESGCM(key)


def _damaged() -> SealedValueError:
    return SealedValueError(
        "The sealed value is damaged, or belongs to another run or place.", code="sealed_value_damaged"
    )
