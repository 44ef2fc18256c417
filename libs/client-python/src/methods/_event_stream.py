"""Reads Server-Sent Events line by line, and remembers where to continue after a broken connection."""

from __future__ import annotations

import json
from typing import Any, List, Optional

from ._models import FINISHED, Event


class EventStream:
    def __init__(self) -> None:
        self.last_id: Optional[str] = None
        #: The run has ended: nothing more comes.
        self.over = False
        self._name = "message"
        self._data: List[str] = []

    def feed(self, line: str) -> Optional[Event]:
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
        data, name = "\n".join(self._data), self._name
        self.cut()
        if not data:
            return None
        content: Any = json.loads(data)
        if name in ("run", "status") and content.get("status") in FINISHED:
            self.over = True
        return Event(name, self.last_id, content)

    def cut(self) -> None:
        """What of an event came before the connection broke does not count."""
        self._name, self._data = "message", []
