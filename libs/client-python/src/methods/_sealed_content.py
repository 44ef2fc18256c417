"""Seals and opens the content of runs, by the content parts of the client's key and of those granted to it.

Loaded at the first run in device mode.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import unicodedata
from typing import Any, Dict, List, Mapping, Optional, Tuple, cast

from ._canonical import canonical
from ._errors import InvalidRequest, MethodsError, SealedValueError
from ._exchange import encoded
from ._form import misfits
from ._models import Json, Question, Run, Step, Whoami, question_of, run_in
from ._sealed import ContentKey, FileContentKey, envelope_of, unpadded
from ._sealed_stream import StreamOpener

_INPUTS_BYTES_MAX = 256 * 1024
_ANSWER_BYTES_MAX = 64 * 1024
_FILE_ID = re.compile(r"file_[0-9a-z]{26}")
_CONTENT_ID = re.compile(r"[0-9a-f]{32}")


class SealedContent:
    def __init__(self, content_part: str, whoami: Whoami) -> None:
        self._own = ContentKey(content_part, whoami.org_id)
        #: Those of other keys whose content parts were granted to the own one.
        self._granted: List[ContentKey] = []
        #: The ids of keys whose grants do not open: they hinder no run but those of their keys.
        self._damaged: List[str] = []
        for grant in whoami.content_grants:
            try:
                part = self._own.unwrap(grant["from_key_id"], unpadded(grant["wrapped"]))
                self._granted.append(ContentKey(part, whoami.org_id))
            except (MethodsError, KeyError, TypeError):
                self._damaged.append(str(grant.get("from_key_id")))

    @property
    def grants(self) -> int:
        """The number of content parts of other keys."""
        return len(self._granted)

    def seal_inputs(self, inputs: Any) -> Json:
        """Seals them for a run of their own."""
        return _sealed_inputs(self._own, inputs)

    def seal_inputs_as_granted(self, inputs: Any, grant: int) -> Json:
        """As the holder of a granted key sealed them: the service compares them with those of an earlier start."""
        return _sealed_inputs(self._granted[grant], inputs)

    def open_inputs(self, content_id: str, inputs: Json) -> Any:
        return self._key_of(inputs).of_run(content_id).open_json("inputs", "", inputs)

    def of_file(self, idempotency_key: str) -> FileContentKey:
        return self._own.of_file(idempotency_key)

    def folder_opener(self, content_id: str) -> StreamOpener:
        """Of the archive of a run's files."""
        return StreamOpener("folder", content_id, self._key_named)

    def input_file(self, start: Mapping[str, Any], path: str) -> Optional[Tuple[Json, StreamOpener]]:
        """The file that the inputs of a run name by this path, and what opens it."""
        inputs: Any = self.open_inputs(start["content_id"], start["inputs"])
        for file in sealed_files_in(inputs):
            if path == f"inputs/{file['file_id']}/{file['name']}":
                return file, StreamOpener("file", file["content_id"], self._key_named)
        return None

    def open_question(self, content_id: str, question: Question) -> Tuple[Question, List[Json]]:
        """The question, and why the answer to the one before it did not fit."""
        sealed = question.sealed
        content: Any = self._key_of(sealed).of_run(content_id).open_json("question", question.step, sealed)
        opened: Dict[str, Any] = dict(content) if isinstance(content, dict) else {}  # pyright: ignore
        problems: List[Json] = opened.pop("problems", None) or []
        clear = {name: question.raw.get(name) for name in ("id", "step", "asked_at", "deadline_at")}
        return question_of({**opened, **clear}), problems

    def seal_answer(self, content_id: str, question: Question, answer: Mapping[str, Any]) -> Json:
        """By the key of its question. Raises InvalidRequest if it does not fit the form."""
        sealed, form = question.sealed, question.form
        if sealed is not None:
            form = self.open_question(content_id, question)[0].form
        found = misfits(form, _as_sent(answer, "answer", _ANSWER_BYTES_MAX))
        if found:
            message = "The answer does not fit the form."
            raise InvalidRequest(message, code="invalid_answer", status=422, details=found)
        return self.seal_again(content_id, question.id, question.step, sealed, answer)

    def seal_again(
        self, content_id: str, question_id: str, step: str, sealed: Optional[Json], answer: Mapping[str, Any]
    ) -> Json:
        """By the key of ``sealed``. The service compares the answer of a closed question with the accepted one."""
        plain = _as_sent(answer, "answer", _ANSWER_BYTES_MAX)
        key = self._own if sealed is None else self._key_of(sealed)
        digest = key.digest_of_answer(question_id, plain)
        return dict(key.of_run(content_id).seal_json("answer", f"{question_id} {step}", plain, digest))

    def open_run(self, run: Run) -> Run:
        """With its question and the messages of its errors. What does not open stays as it is."""
        content_id, question, error = run.content_id or "", run.question, run.error
        if question is not None and question.sealed is not None:
            try:
                question = self.open_question(content_id, question)[0]
            except SealedValueError:
                pass
        if error is not None:
            message = self._message(content_id, run.raw.get("error"), error.step or "")
            error = dataclasses.replace(error, message=message or error.message)
        steps = [self._opened_step(content_id, step) for step in run.steps]
        return dataclasses.replace(run, question=question, error=error, steps=steps)

    def open_data(self, data: Json) -> Json:
        """The same of a run as the service sends it."""
        run, opened = self.open_run(run_in(data)), dict(data)
        if run.question is not None:
            opened["question"] = run.question.raw
        if run.error is not None:
            opened["error"] = {**data["error"], "message": run.error.message}
        if run.steps:
            opened["steps"] = [
                {**raw, "error": step.error} if step.error is not None else raw
                for raw, step in zip(data["steps"], run.steps)
            ]
        return opened

    def _opened_step(self, content_id: str, step: Step) -> Step:
        message = self._message(content_id, step.error, step.name)
        if message is None or step.error is None:
            return step
        return dataclasses.replace(step, error={**step.error, "message": message})

    def _message(self, content_id: str, of: Optional[Json], step: str) -> Optional[str]:
        sealed = (of or {}).get("sealed")
        if sealed is None:
            return None
        try:
            return str(self._key_of(sealed).of_run(content_id).open_json("text", step, sealed))
        except SealedValueError:
            return None

    def _key_of(self, sealed: Any) -> ContentKey:
        """The own key if none fits: its refusal says so."""
        return self._key_named(envelope_of(sealed)[2:18])

    def _key_named(self, fingerprint: bytes) -> ContentKey:
        """The own key if none fits: its refusal says so."""
        found = next((key for key in [self._own, *self._granted] if key.fingerprint == fingerprint), None)
        if found is None and self._damaged:
            raise SealedValueError(
                f"Another content key sealed this value. What was granted of {', '.join(self._damaged)} does not open: "
                "it was changed, or wrapped for another key. Rotate that key again.",
                code="content_grant_damaged",
            )
        return found or self._own


def _sealed_inputs(key: ContentKey, inputs: Any) -> Json:
    plain = _as_sent(inputs, "inputs", _INPUTS_BYTES_MAX)
    content_id = os.urandom(16).hex()
    digest = key.digest_of_inputs(plain)
    run = key.of_run(content_id)
    sealed: Json = {"content_id": content_id, "inputs": run.seal_json("inputs", "", plain, digest)}
    files = [file["file_id"] for file in sealed_files_in(plain)]
    return {**sealed, "files": list(dict.fromkeys(files))} if files else sealed


def sealed_files_in(inputs: Any) -> List[Json]:
    """The sealed files that inputs name, wherever they are. Raises InvalidRequest for one that was not sealed."""
    found: List[Json] = []
    plain: List[str] = []

    def look(value: Any, path: str) -> None:
        if isinstance(value, list):
            for n, member in enumerate(value):  # pyright: ignore
                look(member, f"{path}/{n}")
        if not isinstance(value, dict):
            return
        fields = cast(Json, value)
        if _FILE_ID.fullmatch(str(fields.get("file_id"))):
            if len(fields) == 1:
                return plain.append(path)
            if _CONTENT_ID.fullmatch(str(fields.get("content_id"))):
                return found.append(fields)
        for name, member in fields.items():
            look(member, f"{path}/{name.replace('~', '~0').replace('/', '~1')}")

    look(inputs, "")
    if plain:
        message = "A file of the inputs was not sealed. Upload it with a client that seals it."
        details = [{"path": path, "code": "plain_file", "message": "was not sealed"} for path in plain]
        raise InvalidRequest(message, code="invalid_inputs", status=422, details=details)
    return found


def check_file_name(name: str) -> None:
    """By the rule of the service, which does not see the name of a sealed file. Raises InvalidRequest."""
    fault = None
    if name in ("", ".", "..") or any(part in name for part in "/\\") or re.match(r"[A-Za-z]:", name):
        fault = "names no file of a folder"
    elif len(name.encode("utf-8", "surrogatepass")) > 255:
        fault = "is longer than 255 bytes"
    elif name[-1] in ". " or "\ufffd" in name or any(unicodedata.category(each) in ("Cc", "Cs") for each in name):
        fault = "ends in a dot or a space, or holds control characters"
    if fault is not None:
        message = f"The name of the file {fault}."
        details = [{"path": "", "code": "file_name", "message": message}]
        raise InvalidRequest(message, code="invalid_request", status=400, details=details)


def _as_sent(value: Any, name: str, bytes_max: int) -> Any:
    """As JSON has it."""
    plain = json.loads(encoded(value))
    size = len(canonical(plain))
    if size <= bytes_max:
        return plain
    message = f"The {name} have {size} bytes of JSON; at most {bytes_max} are allowed."
    details = [{"path": f"/{name}", "code": f"{name}_bytes", "message": message}]
    raise InvalidRequest(message, code="too_large", status=413, details=details)
