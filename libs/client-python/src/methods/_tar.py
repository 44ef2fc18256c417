"""Reads the archive of a run's files."""

from __future__ import annotations

import io
from typing import List, Optional

from ._errors import MethodsError, UnexpectedReply
from ._models import RunFile


def files_in(archive: bytes) -> List[RunFile]:
    import tarfile

    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
            return [RunFile(each.name, each.size) for each in tar if each.isfile()]
    except (tarfile.TarError, EOFError, OSError):
        raise _damaged() from None


def file_in(archive: bytes, path: str) -> Optional[bytes]:
    """None: it has no such file."""
    import tarfile

    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
            for each in tar:
                if each.isfile() and each.name == path:
                    content = tar.extractfile(each)
                    return None if content is None else content.read()
    except (tarfile.TarError, EOFError, OSError):
        raise _damaged() from None
    return None


def no_files() -> bytes:
    """The archive of a run that has saved none."""
    import gzip

    # Two empty blocks end a tar.
    return gzip.compress(bytes(1024))


def _damaged() -> MethodsError:
    return UnexpectedReply("The archive of the files is damaged.", code="unexpected_reply")
