"""``AsyncMethods.webhooks``: verified, and in device mode opened."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

from .._models import Json, question_of
from .._webhooks import Webhooks
from .runs import AsyncRuns


class AsyncClientWebhooks(Webhooks):
    def __init__(self, runs: AsyncRuns) -> None:
        self._runs = runs

    async def open(self, event: Mapping[str, Any]) -> Json:
        """The event with its question opened. Reads the run. Raises SealedValueError if no key here opens it."""
        asked: Optional[Dict[str, Any]] = event.get("question")
        if not asked or "sealed" not in asked:
            return dict(event)
        question = await self._runs._opened_question(str(event["run_id"]), question_of(asked))
        return {**event, "question": question.raw}
