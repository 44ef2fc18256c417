"""Run folders and files in device mode: streams of sealed chunks, none of which is held whole.

The format is in docs/device-mode.md of the service.
"""

from __future__ import annotations

import hashlib
import io
import struct
from typing import Any, BinaryIO, Callable, Iterator, Optional

from ._errors import InvalidRequest, MethodsError, SealedValueError
from ._sealed import ContentKey, FileContentKey

CHUNK_BYTES = 64 * 1024
_FILE_BYTES_MAX = 100 * 1024 * 1024
_SALT_BYTES = 16
_OVERHEAD_BYTES = 82


class SealedUpload(io.RawIOBase):
    """A file to send: what is read from it is sealed. Each try reads it from its begin and sends the same bytes."""

    def __init__(self, file: FileContentKey, plain: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._plain = plain
        self._begin()

    def _begin(self) -> None:
        self._sha256 = hashlib.sha256()
        self.plain_bytes = 0
        #: A full chunk waits for the next byte: only then it is known not to be the last.
        self._ahead: Optional[bytes] = None
        self._index = 0
        self._ended = False

    @property
    def content_id(self) -> str:
        return self._file.content_id

    @property
    def sha256(self) -> str:
        """Of what was read so far."""
        return self._sha256.hexdigest()

    def seekable(self) -> bool:
        return self._plain.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._plain.seek(offset, whence)
        self._begin()
        return 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """The next chunk, whatever its size; empty at the end."""
        if self._ended:
            return b""
        begin = b""
        if self._ahead is None:
            begin, self._ahead = self._file.salt, self._next()
        chunk, self._ahead = self._ahead, self._next() if len(self._ahead) == CHUNK_BYTES else b""
        self._ended = not self._ahead
        seq = 2 * self._index + (1 if self._ended else 0)
        self._index += 1
        iv = self._file.iv_of(seq, chunk)
        envelope = self._file.key.seal("file", self._file.salt.hex(), chunk, seq, iv=iv)
        return begin + struct.pack(">I", len(envelope)) + envelope

    def _next(self) -> bytes:
        parts = bytearray()
        while len(parts) < CHUNK_BYTES:
            part = self._plain.read(CHUNK_BYTES - len(parts))
            if not part:
                break
            parts += part
        self.plain_bytes += len(parts)
        if self.plain_bytes > _FILE_BYTES_MAX:
            raise too_large()
        self._sha256.update(parts)
        return bytes(parts)


class StreamOpener:
    """Opens a stream whose parts arrive in any length. ``end`` has to be called after the last of them."""

    def __init__(self, kind: str, content_id: str, key_of: Callable[[bytes], ContentKey]) -> None:
        self._kind = kind
        self._content_id = content_id
        self._key_of = key_of
        self._rest = bytearray()
        self._salt: Optional[str] = None
        self._key: Any = None
        self._index = 0
        self._ended = False

    def feed(self, part: bytes) -> Iterator[bytes]:
        self._rest += part
        if self._salt is None:
            if len(self._rest) < _SALT_BYTES:
                return
            self._salt = self._take(_SALT_BYTES).hex()
        while len(self._rest) >= 4:
            length = int.from_bytes(self._rest[:4], "big")
            if length < _OVERHEAD_BYTES or length > CHUNK_BYTES + _OVERHEAD_BYTES or self._ended:
                raise damaged()
            if len(self._rest) < 4 + length:
                return
            yield self._opened(self._take(4 + length)[4:])

    def end(self) -> None:
        if not self._ended or self._rest:
            raise damaged()

    @property
    def is_empty(self) -> bool:
        """Nothing has arrived: a run that has saved no files."""
        return self._salt is None and not self._rest

    def _opened(self, envelope: bytes) -> bytes:
        if self._key is None:
            self._key = self._key_of(envelope[2:18]).of_run(self._content_id)
        plain: bytes = self._key.open(self._kind, self._salt, envelope)
        (seq,) = struct.unpack(">I", envelope[18:22])
        self._ended = seq == 2 * self._index + 1
        if not self._ended and (seq != 2 * self._index or len(plain) != CHUNK_BYTES):
            raise damaged()
        self._index += 1
        return plain

    def _take(self, count: int) -> bytes:
        taken = bytes(self._rest[:count])
        del self._rest[:count]
        return taken


def damaged() -> MethodsError:
    return SealedValueError("The sealed file is damaged, or belongs to another run.", code="sealed_value_damaged")


def too_large() -> MethodsError:
    message = "A file has at most 100 MiB."
    details = [{"path": "", "code": "file_bytes", "message": message}]
    return InvalidRequest(message, code="too_large", status=413, details=details)
