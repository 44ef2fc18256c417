# Written by scripts/generate_sync.py from methods/_async/run_files.py.
"""``Methods.runs.files``: the files that the steps of a run have saved.

In device mode they are opened here, and the service sees no name of them.
"""

from __future__ import annotations

from typing import Iterator, List, Optional, Tuple
from urllib.parse import quote

from .._exchange import SILENCE_S, Send, run_path
from .._models import RunFile, run_of
from .._opening import AsTheyAre, OpenedArchive, OpenedInput, OpenedMember, no_file
from .._tar import files_in
from .content import Content
from .requests import Requests


class RunFiles:
    def __init__(self, requests: Requests, content: Content) -> None:
        self._requests = requests
        self._content = content

    def list(self, run_id: str) -> "List[RunFile]":
        """Reads the archive for it."""
        return files_in(self.archive(run_id))

    def download(self, run_id: str, path: str) -> bytes:
        """The bytes of one file, by the path of its file value."""
        return self._whole(run_id, path)

    def archive(self, run_id: str) -> bytes:
        """All files of its steps, as a gzipped tar."""
        return self._whole(run_id, None)

    def stream(self, run_id: str, path: Optional[str] = None) -> Iterator[bytes]:
        """The bytes of one file, or of the archive, as they arrive. In device mode a step's file is not begun before
        its archive is there."""
        place, opening = self._opening(run_id, path)
        for part in self._chunks(place):
            for chunk in opening.feed(part):
                yield chunk
        for chunk in opening.end():
            yield chunk

    def _whole(self, run_id: str, path: Optional[str]) -> bytes:
        place, opening = self._opening(run_id, path)
        whole = self._requests.bytes_of(Send("GET", place))
        return b"".join([*opening.feed(whole), *opening.end()])

    def _opening(self, run_id: str, path: Optional[str]) -> "Tuple[str, AsTheyAre]":
        """Whether the files are sealed depends on the run."""
        run = self._requests.send(Send("GET", run_path(run_id)), run_of)
        opener = self._content.archive_opener(run)
        place = f"{run_path(run_id)}/files"
        if opener is None:
            return place if path is None else f"{place}/{quote(path)}", AsTheyAre()
        if path is None:
            return place, OpenedArchive(opener)
        if not path.startswith("inputs/"):
            return place, OpenedMember(opener, path)
        named = self._content.input_file(run_id, path)
        if named is None:
            raise no_file()
        file, file_opener = named
        # The service has another name of it.
        return f"{place}/inputs/{file['file_id']}/file", OpenedInput(file_opener, file)

    def _chunks(self, place: str) -> Iterator[bytes]:
        import httpx

        response = self._requests.open(Send("GET", place), SILENCE_S)
        try:
            for chunk in response.iter_bytes():
                yield chunk
        except httpx.RequestError as error:
            raise self._requests.broken(error) from error
        finally:
            response.close()

