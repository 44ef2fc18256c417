"""Reads Server-Sent Events line by line, and remembers where to continue after a broken connection."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, List, Optional

from ._models import FINISHED, Event

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


class EventStream:
    def __init__(self, last_id: Optional[str] = None) -> None:
        self.last_id = last_id
        self._name = "message"
        self._data: List[str] = []

    def feed(self, line: str) -> Optional[RawEvent]:
        """Returns the event that this line completes."""
        if line:
            name, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if name == "event":
                self._name = value
            elif name == "data":
                self._data.append(value)
            elif name == "id":
                self.last_id = value
            return None
        text, name = "\n".join(self._data), self._name
        self.cut()
        return RawEvent(name, self.last_id, text) if text else None

    def cut(self) -> None:
        """What of an event came before the connection broke does not count."""
        self._name, self._data = "message", []


def run_event(raw: RawEvent) -> Optional[Event]:
    """An event of the stream of one run; None: of a kind of a later version."""
    return Event(raw.event, raw.id, raw.data) if raw.event in ("run", "step", "status") else None


def ends(event: Event) -> bool:
    return event.event != "step" and event.data.get("status") in FINISHED
