"""What becomes of the bytes of a run's files on their way to the caller. Without I/O: both clients share it.

Each ``feed`` returns what can be passed on, ``end`` the rest after the last part.
"""

from __future__ import annotations

import hashlib
from typing import Iterator, List

from ._errors import NotFound
from ._models import Json
from ._sealed_stream import StreamOpener, damaged
from ._tar import file_in, no_files


class AsTheyAre:
    def feed(self, part: bytes) -> Iterator[bytes]:
        yield part

    def end(self) -> Iterator[bytes]:
        yield from ()


class OpenedArchive(AsTheyAre):
    def __init__(self, opener: StreamOpener) -> None:
        self._opener = opener

    def feed(self, part: bytes) -> Iterator[bytes]:
        yield from self._opener.feed(part)

    def end(self) -> Iterator[bytes]:
        if self._opener.is_empty:
            yield no_files()
        else:
            self._opener.end()


class OpenedMember(AsTheyAre):
    """One file of an archive, which is read whole."""

    def __init__(self, opener: StreamOpener, path: str) -> None:
        self._archive = OpenedArchive(opener)
        self._path = path
        self._parts: List[bytes] = []

    def feed(self, part: bytes) -> Iterator[bytes]:
        self._parts.extend(self._archive.feed(part))
        yield from ()

    def end(self) -> Iterator[bytes]:
        found = file_in(b"".join([*self._parts, *self._archive.end()]), self._path)
        if found is None:
            raise no_file()
        yield found


class OpenedInput(AsTheyAre):
    """A file of inputs, as their sealed reference describes it."""

    def __init__(self, opener: StreamOpener, file: Json) -> None:
        self._opener = opener
        self._expected = file["sha256"]
        self._sha256 = hashlib.sha256()

    def feed(self, part: bytes) -> Iterator[bytes]:
        for chunk in self._opener.feed(part):
            self._sha256.update(chunk)
            yield chunk

    def end(self) -> Iterator[bytes]:
        self._opener.end()
        # The same upload sealed other bytes before: they open too.
        if self._sha256.hexdigest() != self._expected:
            raise damaged()
        yield from ()


def no_file() -> NotFound:
    return NotFound("The run has no file at this path.", code="not_found", status=404)
