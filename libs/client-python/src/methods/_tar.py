"""Lists the files of a run's archive."""

from __future__ import annotations

import io
from typing import List

from ._errors import UnexpectedReply
from ._models import RunFile


def files_in(archive: bytes) -> List[RunFile]:
    import tarfile

    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
            return [RunFile(each.name, each.size) for each in tar if each.isfile()]
    except (tarfile.TarError, EOFError, OSError):
        raise UnexpectedReply("The archive of the files is damaged.", code="unexpected_reply") from None
