"""Reads Server-Sent Events as their bytes arrive, and remembers where to continue after a broken connection."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Iterator, List, Optional, cast

from ._errors import UnexpectedReply
from ._models import FINISHED, Event, Json

_LINE_END = re.compile(rb"\r\n|\r|\n")
_EVENT_BYTES_MAX = 16 * 1024 * 1024
_RUN_ID = re.compile(r'\{"run_id":"([^"]*)"')


@dataclass(frozen=True)
class RawEvent:
    """An event whose data is not parsed yet."""

    event: str
    id: Optional[str]
    text: str

    @property
    def run_id(self) -> str:
        """Of the run that the data is about; read without parsing the rest."""
        match = _RUN_ID.match(self.text)
        return match.group(1) if match else ""

    @property
    def data(self) -> Any:
        return json.loads(self.text)


@dataclass
class _Fields:
    """Of an event that is not whole yet."""

    name: str = "message"
    id: Optional[str] = None
    data: List[str] = field(default_factory=lambda: [])


class EventStream:
    def __init__(self, last_id: Optional[str] = None) -> None:
        #: Of the last whole event: one that was cut is asked for again.
        self.last_id = last_id
        self._fields = _Fields()
        #: Of the line that has not ended.
        self._parts: List[bytes] = []
        #: Of the event that is not whole.
        self._bytes = 0
        #: The second half of a line end may follow.
        self._after_return = False

    def feed(self, chunk: bytes) -> Iterator[RawEvent]:
        """The events that these bytes complete. Raises UnexpectedReply for one over 16 MiB."""
        # The lines of httpx also end at characters that JSON leaves as they are, such as U+2028: a text with them would
        # break its event, or begin one of its own.
        if not chunk:
            return
        if self._after_return and chunk[:1] == b"\n":
            chunk = chunk[1:]
        self._after_return = chunk[-1:] == b"\r"
        first, *rest = _LINE_END.split(chunk)
        self._append(first)
        for part in rest:
            line = b"".join(self._parts).decode("utf-8", "replace")
            self._parts = []
            if not line:
                self._bytes = 0
            self._append(part)
            event = self._line(line)
            if event is not None:
                yield event

    def _append(self, part: bytes) -> None:
        self._parts.append(part)
        self._bytes += len(part)
        if self._bytes > _EVENT_BYTES_MAX:
            raise UnexpectedReply("The service sent an event over 16 MiB.", code="unexpected_reply")

    def cut(self) -> None:
        """What of an event came before the connection broke does not count."""
        self._fields, self._parts, self._bytes, self._after_return = _Fields(), [], 0, False

    def _line(self, line: str) -> Optional[RawEvent]:
        """Returns the event that this line completes."""
        fields = self._fields
        if line:
            name, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if name == "event":
                fields.name = value
            elif name == "data":
                fields.data.append(value)
            elif name == "id":
                fields.id = value
            return None
        self._fields = _Fields()
        text = "\n".join(fields.data)
        if not text:
            return None
        self.last_id = self.last_id if fields.id is None else fields.id
        return RawEvent(fields.name, self.last_id, text)


def run_event(raw: RawEvent) -> Optional[Event]:
    """An event of the stream of one run; None: of a kind of a later version. Raises UnexpectedReply."""
    if raw.event not in ("run", "step", "status"):
        return None
    try:
        data = raw.data
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise UnexpectedReply("The service sent an event that is not one of a run.", code="unexpected_reply")
    return Event(raw.event, raw.id, cast(Json, data))


def ends(event: Event) -> bool:
    return event.event != "step" and event.data.get("status") in FINISHED
