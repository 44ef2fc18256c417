"""``AsyncMethods.runs.files``: the files that the steps of a run have saved.

In device mode they are opened here, and the service sees no name of them.
"""

from __future__ import annotations

from typing import AsyncIterator, List, Optional, Tuple
from urllib.parse import quote

from .._exchange import SILENCE_S, Send, run_path
from .._models import RunFile, run_of
from .._opening import AsTheyAre, OpenedArchive, OpenedInput, OpenedMember, no_file
from .._tar import files_in
from .content import AsyncContent
from .requests import AsyncRequests


class AsyncRunFiles:
    def __init__(self, requests: AsyncRequests, content: AsyncContent) -> None:
        self._requests = requests
        self._content = content

    async def list(self, run_id: str) -> "List[RunFile]":
        """Reads the archive for it."""
        return files_in(await self.archive(run_id))

    async def download(self, run_id: str, path: str) -> bytes:
        """The bytes of one file, by the path of its file value."""
        return await self._whole(run_id, path)

    async def archive(self, run_id: str) -> bytes:
        """All files of its steps, as a gzipped tar."""
        return await self._whole(run_id, None)

    async def stream(self, run_id: str, path: Optional[str] = None) -> AsyncIterator[bytes]:
        """The bytes of one file, or of the archive, as they arrive. In device mode a step's file is not begun before
        its archive is there."""
        place, opening = await self._opening(run_id, path)
        async for part in self._chunks(place):
            for chunk in opening.feed(part):
                yield chunk
        for chunk in opening.end():
            yield chunk

    async def _whole(self, run_id: str, path: Optional[str]) -> bytes:
        place, opening = await self._opening(run_id, path)
        whole = await self._requests.bytes_of(Send("GET", place))
        return b"".join([*opening.feed(whole), *opening.end()])

    async def _opening(self, run_id: str, path: Optional[str]) -> "Tuple[str, AsTheyAre]":
        """Whether the files are sealed depends on the run."""
        run = await self._requests.send(Send("GET", run_path(run_id)), run_of)
        opener = await self._content.archive_opener(run)
        place = f"{run_path(run_id)}/files"
        if opener is None:
            return place if path is None else f"{place}/{quote(path)}", AsTheyAre()
        if path is None:
            return place, OpenedArchive(opener)
        if not path.startswith("inputs/"):
            return place, OpenedMember(opener, path)
        named = await self._content.input_file(run_id, path)
        if named is None:
            raise no_file()
        file, file_opener = named
        # The service has another name of it.
        return f"{place}/inputs/{file['file_id']}/file", OpenedInput(file_opener, file)

    async def _chunks(self, place: str) -> AsyncIterator[bytes]:
        import httpx

        response = await self._requests.open(Send("GET", place), SILENCE_S)
        try:
            async for chunk in response.aiter_bytes():
                yield chunk
        except httpx.RequestError as error:
            raise self._requests.broken(error) from error
        finally:
            await response.aclose()

