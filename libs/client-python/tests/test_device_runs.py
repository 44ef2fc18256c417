"""Device mode on the real service and a real worker that has the same key, from both clients."""

from __future__ import annotations

import asyncio
from typing import Any, List

import httpx
import pytest
from conftest import method

from methods import AskedQuestion, AsyncAskedQuestion, AsyncMethods, Conflict, CredentialError, Methods
from methods import SealedValueError

CANARY = "c4n4ry-of-a-device"


@pytest.fixture
def whole_key(address: str, key: str) -> str:
    if key.count("_") < 2:
        pytest.skip("the key has no content part")
    return key


def shown(address: str, key: str, run_id: str) -> str:
    """The run as the service has it."""
    return httpx.get(f"{address}/v1/runs/{run_id}", headers={"authorization": f"Bearer {key[:46]}"}).text


def test_inputs_are_sealed_and_the_result_stays_with_the_worker(address: str, whole_key: str) -> None:
    with Methods(whole_key, base_url=address, device=True) as client:
        run = client.run(method("greet"), {"name": CANARY})
        assert (run.status, run.result, run.result_at) == ("succeeded", None, "worker")
        assert run.content_id is not None and CANARY not in shown(address, whole_key, run.run_id)
        again = client.runs.rerun(run.run_id)
        assert [each.data.get("status") for each in client.runs.events(again.run_id)][-1] == "succeeded"


def test_questions_are_opened_and_misfits_are_found_before_they_leave(address: str, whole_key: str) -> None:
    asked: "List[tuple[str, str, List[Any]]]" = []

    def on_ask(question: AskedQuestion) -> "dict[str, object]":
        asked.append((question.step, question.question.prompt, [each["path"] for each in question.problems]))
        return {"go": "yes"} if len(asked) == 1 else {"go": True}

    with Methods(whole_key, base_url=address, device=True) as client:
        run = client.run(method("two-questions"), on_ask=on_ask)
    assert run.status == "succeeded"
    assert asked == [("first", "Go on?", []), ("first", "Go on?", ["/go"]), ("second", "Really?", [])]


def test_a_later_answer_and_its_repeat_count_once(address: str, whole_key: str) -> None:
    async def scenario() -> None:
        async with AsyncMethods(whole_key, base_url=address, device=True) as client:
            questions: "asyncio.Queue[AsyncAskedQuestion]" = asyncio.Queue()

            async def on_ask(question: AsyncAskedQuestion) -> None:
                await questions.put(question)

            waiting = asyncio.ensure_future(client.run(method("two-questions"), on_ask=on_ask))
            first = await questions.get()
            assert "Go on?" not in shown(address, whole_key, first.run_id)
            await first.answer({"go": False})
            second = await questions.get()
            # The repeat is recognized by its digest, and another answer to the first question is refused.
            await client.runs.answer(first.run_id, {"go": False}, question_id=first.question.id)
            with pytest.raises(Conflict):
                await client.runs.answer(first.run_id, {"go": True}, question_id=first.question.id)
            await second.answer({"go": True})
            assert (await waiting).status == "succeeded"

    asyncio.run(scenario())


def test_the_auth_part_of_a_key_starts_nothing_and_opens_nothing(address: str, whole_key: str) -> None:
    with Methods(whole_key[:46], base_url=address, device=True) as client:
        with pytest.raises(CredentialError) as refused:
            client.run(method("greet"), {"name": CANARY})
        assert refused.value.code == "device_key_required"
    with Methods(whole_key, base_url=address, device=True) as holder:
        run = holder.start(method("two-questions"))
        for event in holder.runs.events(run.run_id):
            if event.data.get("status") == "waiting":
                assert event.data["question"]["prompt"] == "Go on?"
                break
        waiting = holder.runs.get(run.run_id)
        assert waiting.question is not None and waiting.question.prompt == "Go on?"
        with Methods(whole_key[:46], base_url=address) as blind:
            seen = blind.runs.get(run.run_id).question
            assert seen is not None and seen.sealed is not None and seen.prompt == ""
            webhook = {"event": "needs_input", "run_id": run.run_id, "question": seen.raw}
            assert holder.webhooks.open(webhook)["question"]["prompt"] == "Go on?"
            with pytest.raises((CredentialError, SealedValueError)):
                blind.webhooks.open(webhook)
            with pytest.raises((CredentialError, SealedValueError)):
                blind.runs.answer(run.run_id, {"go": True})
        holder.runs.cancel(run.run_id)
