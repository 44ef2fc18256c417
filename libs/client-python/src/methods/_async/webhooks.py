"""``AsyncMethods.webhooks``: verified, and in device mode opened."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

from .._models import Json
from .._webhooks import Webhooks
from .runs import AsyncRuns


class AsyncClientWebhooks(Webhooks):
    def __init__(self, runs: AsyncRuns) -> None:
        self._runs = runs

    async def open(self, event: Mapping[str, Any]) -> Json:
        """The event with its question opened, if this client's key sealed it. Reads the run."""
        asked: Optional[Dict[str, Any]] = event.get("question")
        if not asked or "sealed" not in asked:
            return dict(event)
        question = (await self._runs.get(str(event["run_id"]))).question
        # Another one may be open by now.
        if question is None or question.id != asked["id"] or question.sealed is not None:
            return dict(event)
        return {**event, "question": question.raw}
