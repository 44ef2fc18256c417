# Written by scripts/generate_sync.py from methods/_async/questions.py.
"""Has the questions of a run answered by a function of the application, while the run is waited for."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional

from .._errors import Conflict, InvalidRequest
from .._exchange import logger
from .._models import Json, Question, Run
from .concurrency import OnAsk, OnError, handled

if TYPE_CHECKING:
    from .runs import Runs

#: A handler whose answers never fit must not be asked forever.
_MISFITS_MAX = 10


class AskedQuestion:
    """What ``on_ask`` gets. It returns the answer; or None, and ``answer`` is called later."""

    def __init__(self, runs: "Runs", run: Run, question: Question, problems: List[Json]) -> None:
        self._runs = runs
        self._run = run
        self.run_id = run.run_id
        self.question = question
        self.step = question.step
        self.form = question.form
        #: Why the previous answer did not fit; empty at first.
        self.problems = problems

    def answer(self, value: Mapping[str, Any]) -> Run:
        """Raises InvalidRequest if the answer does not fit, Conflict if the question is no longer open."""
        return self._runs._give(self._run, self.question.id, value, underway=True)


class Asking:
    """Of one run."""

    def __init__(self, runs: "Runs", on_ask: Optional[OnAsk], on_error: Optional[OnError]) -> None:
        self._runs = runs
        self._on_ask = on_ask
        self._on_error = on_error
        self._asked = ""
        #: Raises for a run that is not the one which was started.
        self.check: Callable[[Run], None] = lambda _: None

    def see(self, run: Run) -> None:
        """Each state of the run, also the last."""
        self.check(run)
        if not run.finished:
            self._ask(run)

    def _ask(self, run: Run) -> None:
        """What does not fit is asked again, with the reasons. An error leaves the question open."""
        question = run.question
        if self._on_ask is None or question is None or question.id == self._asked:
            return
        self._asked = question.id
        asked = AskedQuestion(self._runs, run, question, [])
        try:
            opened, problems = self._runs._content.question_of(run, question)
            for _ in range(_MISFITS_MAX):
                asked = AskedQuestion(self._runs, run, opened, problems)
                value = handled(self._on_ask(asked))
                if value is None:
                    return
                found = self._problems_of(asked, value)
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

    def _problems_of(self, asked: AskedQuestion, value: Mapping[str, Any]) -> Optional[List[Dict[str, Any]]]:
        """None: the answer is accepted."""
        try:
            asked.answer(value)
            return None
        except InvalidRequest as error:
            if error.code != "invalid_answer":
                raise
            return error.details

    def _report(self, error: Exception, asked: AskedQuestion) -> None:
        try:
            if self._on_error is not None:
                self._on_error(error, asked)
                return
        except Exception as second:
            error = second
        message = "on_ask failed; question %s of run %s stays open"
        logger.error(message, asked.question.id, asked.run_id, exc_info=error)
