"""Seals and opens the content of runs, by the content parts of the client's key and of those granted to it.

Loaded at the first run in device mode.
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ._canonical import canonical
from ._errors import InvalidRequest, MethodsError
from ._exchange import encoded
from ._form import misfits
from ._models import Json, Question, Whoami, question_of
from ._sealed import ContentKey, envelope_of, unpadded

_INPUTS_BYTES_MAX = 256 * 1024
_ANSWER_BYTES_MAX = 64 * 1024


class SealedContent:
    def __init__(self, content_part: str, whoami: Whoami) -> None:
        self._own = ContentKey(content_part, whoami.org_id)
        #: The own key first.
        self._keys = [self._own]
        for grant in whoami.content_grants:
            # A grant that is damaged is of no use, and hinders no other run.
            try:
                part = self._own.unwrap(grant["from_key_id"], unpadded(grant["wrapped"]))
                self._keys.append(ContentKey(part, whoami.org_id))
            except (MethodsError, KeyError, TypeError):
                continue

    def seal_inputs(self, inputs: Any) -> Json:
        """Seals them for a run of their own."""
        plain = _as_sent(inputs, "inputs", _INPUTS_BYTES_MAX)
        content_id = os.urandom(16).hex()
        run = self._own.of_run(content_id)
        digest = self._own.digest_of_inputs(plain)
        return {"content_id": content_id, "inputs": run.seal_json("inputs", "", plain, digest)}

    def open_inputs(self, content_id: str, inputs: Json) -> Any:
        return self._key_of(inputs).of_run(content_id).open_json("inputs", "", inputs)

    def open_question(self, content_id: str, question: Question) -> Tuple[Question, List[Json]]:
        """The question, and why the answer to the one before it did not fit."""
        sealed = question.sealed
        content: Any = self._key_of(sealed).of_run(content_id).open_json("question", question.step, sealed)
        opened: Dict[str, Any] = dict(content) if isinstance(content, dict) else {}  # pyright: ignore
        problems: List[Json] = opened.pop("problems", None) or []
        clear = {name: question.raw.get(name) for name in ("id", "step", "asked_at", "deadline_at")}
        return question_of({**opened, **clear}), problems

    def open_text(self, content_id: str, step: str, sealed: Json) -> str:
        """A message of a step, or of the run's failure."""
        return str(self._key_of(sealed).of_run(content_id).open_json("text", step, sealed))

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
        """Also the answer of a question that is closed: the service compares it with the accepted one."""
        plain = _as_sent(answer, "answer", _ANSWER_BYTES_MAX)
        key = self._own if sealed is None else self._key_of(sealed)
        digest = key.digest_of_answer(question_id, plain)
        return dict(key.of_run(content_id).seal_json("answer", f"{question_id} {step}", plain, digest))

    def _key_of(self, sealed: Any) -> ContentKey:
        """The own key if none fits: its refusal says so."""
        fingerprint = envelope_of(sealed)[2:18]
        return next((key for key in self._keys if key.fingerprint == fingerprint), self._own)


def _as_sent(value: Any, name: str, bytes_max: int) -> Any:
    """As JSON has it."""
    plain = json.loads(encoded(value))
    size = len(canonical(plain))
    if size <= bytes_max:
        return plain
    message = f"The {name} have {size} bytes of JSON; at most {bytes_max} are allowed."
    details = [{"path": f"/{name}", "code": f"{name}_bytes", "message": message}]
    raise InvalidRequest(message, code="too_large", status=413, details=details)
