"""The lock of the command line between processes: a file that names its holder.

A holder that ended without releasing it does not block, and one that is suspended keeps it. The rules are those of
libs/base/src/lock-file.ts in the service's repository: programs of both languages meet at one file.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
import uuid
from pathlib import Path
from typing import Generator, Optional

from ._errors import CredentialError

_AGAIN_S = 0.025
_WAIT_S_MAX = 150.0
#: Longer than the work under the lock takes; an older lock was left behind, and its id belongs to another process.
_AGE_S_MAX = 120.0
#: Longer than a holder takes to write its id into a lock.
_EMPTY_S = 10.0
_BREAK_S_MAX = 10.0
#: Threads of this process take turns, so a lock with its id was left by an earlier process of that id.
_in_process = threading.Lock()


@contextlib.contextmanager
def held(path: Path) -> Generator[None, None, None]:
    """Raises CredentialError after a while, OSError if the folder cannot be written."""
    with _in_process:
        inode = _take(path)
        try:
            yield
        finally:
            # A process that found the lock too old has its own lock there.
            with contextlib.suppress(OSError):
                if path.stat().st_ino == inode:
                    path.unlink()


def _take(path: Path) -> int:
    own = Path(f"{path}.{uuid.uuid4()}")
    descriptor = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{os.getpid()} {socket.gethostname()}")
    until = time.monotonic() + _WAIT_S_MAX
    try:
        while not _linked(own, path):
            if _is_stale(path, _AGE_S_MAX):
                _remove_stale(own, path)
            elif time.monotonic() > until:
                raise CredentialError(f"Another process holds {path}.", code="locked")
            else:
                time.sleep(_AGAIN_S)
        return path.stat().st_ino
    finally:
        own.unlink()


def _linked(own: Path, path: Path) -> bool:
    """A hard link appears with its content or not at all, so no process reads a lock without its holder."""
    try:
        os.link(own, path)
        return True
    except FileExistsError:
        return False
    except OSError:
        # For example, a memory stick has no hard links.
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return False
        with os.fdopen(descriptor, "wb") as file:
            file.write(own.read_bytes())
        return True


def _remove_stale(own: Path, path: Path) -> None:
    """Only one process at a time removes what another left, so that none removes the lock that followed."""
    removal = Path(f"{path}.break")
    if not _linked(own, removal):
        if _is_stale(removal, _BREAK_S_MAX):
            removal.unlink(missing_ok=True)
        return
    try:
        if _is_stale(path, _AGE_S_MAX):
            path.unlink(missing_ok=True)
    finally:
        removal.unlink(missing_ok=True)


def _is_stale(path: Path, age_s_max: float) -> bool:
    try:
        age = time.time() - path.stat().st_mtime
        words = path.read_text("ascii", "replace")[:300].split()
    except FileNotFoundError:
        return False
    if not words and age < _EMPTY_S:
        return False
    pid: Optional[int] = int(words[0]) if words and words[0].isdigit() else None
    if pid is None or age > age_s_max:
        return True
    if words[1:] and words[1] != socket.gethostname():
        return False
    return pid == os.getpid() or not _is_running(pid)


def _is_running(pid: int) -> bool:
    if os.name == "nt":
        # There is no signal there that only looks: the lock's age decides.
        return True
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
