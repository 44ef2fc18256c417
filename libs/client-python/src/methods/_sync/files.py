# Written by scripts/generate_sync.py from methods/_async/files.py.
"""``Methods.files`` and ``Methods.methods``: files for inputs, and what a caller knows of a method."""

from __future__ import annotations

import dataclasses
import io
from typing import TYPE_CHECKING, BinaryIO, Optional, Union, cast
from urllib.parse import quote

from .._exchange import Send, check_upload
from .._models import File, Json, file_of
from .._starts import key_or_new
from .content import Content
from .requests import Requests

if TYPE_CHECKING:
    from .._sealed import FileContentKey

SEALED_MEDIA_TYPE = "application/vnd.methods.sealed"


class Files:
    def __init__(self, requests: Requests, content: Content) -> None:
        self._requests = requests
        self._content = content

    def upload(
        self,
        content: Union[bytes, BinaryIO],
        *,
        name: str,
        media_type: str = "application/octet-stream",
        idempotency_key: Optional[str] = None,
    ) -> File:
        """A file for inputs, as it is: ``inputs={"report": file}``. A run that names it within 24 hours keeps it.

        ``content``: bytes, or a file opened with ``"rb"``, which is not read into memory.
        """
        key, media_type = key_or_new(idempotency_key), media_type.strip()
        check_upload(name, media_type, key)
        sealing = self._content.of_file(key)
        if sealing is not None:
            return self._upload_sealed(sealing, content, name, media_type, key)
        headers = {"content-type": media_type, "x-file-name": quote(name, safe="!'()*~"), "idempotency-key": key}
        body = bytes(content) if isinstance(content, (bytes, bytearray, memoryview)) else None
        file = None if isinstance(content, (bytes, bytearray, memoryview)) else content
        return self._requests.send(Send("POST", "/v1/files", headers=headers, body=body, file=file), file_of)

    def _upload_sealed(
        self, sealing: "FileContentKey", content: Union[bytes, BinaryIO], name: str, media_type: str, key: str
    ) -> File:
        """The name and the type are sealed with the inputs of the run."""
        from .._sealed_content import check_file_name
        from .._sealed_stream import SealedUpload

        check_file_name(name)
        plain = io.BytesIO(content) if isinstance(content, (bytes, bytearray, memoryview)) else content
        upload = SealedUpload(sealing, plain)
        headers = {"content-type": SEALED_MEDIA_TYPE, "idempotency-key": key}
        file = cast(BinaryIO, upload)
        sent = self._requests.send(Send("POST", "/v1/files", headers=headers, file=file), file_of)
        return dataclasses.replace(
            sent,
            name=name,
            bytes=upload.plain_bytes,
            sha256=upload.sha256,
            media_type=media_type.split(";")[0].strip().lower(),
            content_id=upload.content_id,
        )

    def get(self, file_id: str) -> File:
        return self._requests.send(Send("GET", f"/v1/files/{quote(file_id, safe='')}"), file_of)

    def delete(self, file_id: str) -> None:
        """No later start may name it. A run that names it keeps it."""
        self._requests.bytes_of(Send("DELETE", f"/v1/files/{quote(file_id, safe='')}"))


class MethodReader:
    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    def get(self, method_id: str) -> Json:
        """What a program needs to call a method: its names and versions, the schema of its inputs."""
        return self._requests.send(Send("GET", f"/v1/methods/{quote(method_id, safe='')}"), dict)
