# Steps that were sent before they could begin, and the marks between the prints of one and the next.
import os
from collections import deque

TICKETS = 5
TICKET_BYTES = 4
READ_BYTES = 65536


class StepLine:
    """Messages from the worker, in their order; of steps those that this process may run."""

    def __init__(self, pipe, decode, leave):
        self._pipe = pipe
        self._decode = decode
        self._leave = leave
        self._rest = b""
        self._read = deque()
        # A ticket of a later step; those before it were taken back.
        self._held = None

    def next(self):
        while not self._read:
            self._read_more()
        return self._read.popleft()

    def may_run(self, message):
        """Both the worker and this process take tickets from one open file: only one of them gets each."""
        if not message.get("queued"):
            return True
        if self._held is None:
            ticket = os.read(TICKETS, TICKET_BYTES)
            if len(ticket) != TICKET_BYTES:
                return False
            self._held = int.from_bytes(ticket, "little")
        if self._held != message["n"]:
            return False
        self._held = None
        return True

    def wait_for_continue(self):
        """Steps that come before it stay in line."""
        earlier = deque()
        while True:
            message = self.next()
            if message["t"] == "continue":
                break
            earlier.append(message)
        self._read.extendleft(reversed(earlier))

    def _read_more(self):
        chunk = os.read(self._pipe, READ_BYTES)
        if not chunk:
            self._leave()
        parts = (self._rest + chunk if self._rest else chunk).split(b"\n")
        self._rest = parts.pop()
        for line in parts:
            self._read.append(self._decode(line.decode()))


def mark_prints(mark):
    """What comes before it on each output is of the step that has ended. False: the step has closed one."""
    try:
        for output in (1, 2):
            left = memoryview(mark)
            while left:
                left = left[os.write(output, left) :]
    except OSError:
        return False
    return True
