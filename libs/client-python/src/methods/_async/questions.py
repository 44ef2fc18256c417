"""Has the questions of a run answered by a function of the application, while the run is waited for."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional

from .._errors import Conflict, InvalidRequest
from .._exchange import logger
from .._models import Json, Question, Run
from .concurrency import AsyncOnAsk, AsyncOnError, handled

if TYPE_CHECKING:
    from .runs import AsyncRuns

#: A handler whose answers never fit must not be asked forever.
_MISFITS_MAX = 10


class AsyncAskedQuestion:
    """What ``on_ask`` gets. It returns the answer; or None, and ``answer`` is called later."""

    def __init__(self, runs: "AsyncRuns", run: Run, question: Question, problems: List[Json]) -> None:
        self._runs = runs
        self._run = run
        self.run_id = run.run_id
        self.question = question
        self.step = question.step
        self.form = question.form
        #: Why the previous answer did not fit; empty at first.
        self.problems = problems

    async def answer(self, value: Mapping[str, Any]) -> Run:
        """Raises InvalidRequest if the answer does not fit, Conflict if the question is no longer open."""
        return await self._runs._give(self._run, self.question.id, value, underway=True)


class AsyncAsking:
    """Of one run."""

    def __init__(self, runs: "AsyncRuns", on_ask: Optional[AsyncOnAsk], on_error: Optional[AsyncOnError]) -> None:
        self._runs = runs
        self._on_ask = on_ask
        self._on_error = on_error
        self._asked = ""
        #: Raises for a run that is not the one which was started.
        self.check: Callable[[Run], None] = lambda _: None

    async def see(self, run: Run) -> None:
        """Each state of the run, also the last."""
        self.check(run)
        if not run.finished:
            await self._ask(run)

    async def _ask(self, run: Run) -> None:
        """What does not fit is asked again, with the reasons. An error leaves the question open."""
        question = run.question
        if self._on_ask is None or question is None or question.id == self._asked:
            return
        self._asked = question.id
        asked = AsyncAskedQuestion(self._runs, run, question, [])
        try:
            opened, problems = await self._runs._content.question_of(run, question)
            for _ in range(_MISFITS_MAX):
                asked = AsyncAskedQuestion(self._runs, run, opened, problems)
                value = await handled(self._on_ask(asked))
                if value is None:
                    return
                found = await self._problems_of(asked, value)
                if found is None:
                    return
                problems = found
            raise InvalidRequest(
                f"on_ask gave {_MISFITS_MAX} answers that do not fit the form.", code="invalid_answer", details=problems
            )
        except Conflict as error:
            # Answered by another caller, or its deadline has passed: no fault of the handler.
            logger.debug("question %s of run %s was no longer open: %s", question.id, run.run_id, error.code)
        except Exception as error:
            self._report(error, asked)

    async def _problems_of(self, asked: AsyncAskedQuestion, value: Mapping[str, Any]) -> Optional[List[Dict[str, Any]]]:
        """None: the answer is accepted."""
        try:
            await asked.answer(value)
            return None
        except InvalidRequest as error:
            if error.code != "invalid_answer":
                raise
            return error.details

    def _report(self, error: Exception, asked: AsyncAskedQuestion) -> None:
        try:
            if self._on_error is not None:
                self._on_error(error, asked)
                return
        except Exception as second:
            error = second
        message = "on_ask failed; question %s of run %s stays open"
        logger.error(message, asked.question.id, asked.run_id, exc_info=error)
