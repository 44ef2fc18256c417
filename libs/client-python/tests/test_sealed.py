"""Device mode without a service: the published vectors, and what leaves the process."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any, Dict, List

import pytest

from methods import CredentialError, InvalidRequest, SealedValueError
from methods._canonical import canonical
from methods._form import misfits
from methods._models import File, Whoami, question_of
from methods._sealed import ContentKey, sealed_json, unpadded
from methods._sealed_stream import SealedUpload, StreamOpener

pytest.importorskip("cryptography")
VECTORS = Path(__file__).parents[3] / "libs" / "content" / "vectors" / "device-1.json"
PART = "b" * 43


@pytest.fixture
def vectors() -> Dict[str, Any]:
    if not VECTORS.exists():
        pytest.skip("needs the repository")
    return dict(json.loads(VECTORS.read_text("utf-8")))


def test_seals_and_opens_as_published(vectors: Dict[str, Any]) -> None:
    for each in vectors["values"]:
        key = ContentKey(vectors["content_part"], vectors["org_id"], lambda _, iv=each["iv"]: bytes.fromhex(iv))
        assert key.fingerprint.hex() == vectors["keys"]["fingerprint"]
        kind, value, digest = each["kind"], json.loads(each["json"]), bytes(32)
        assert canonical(value).decode() == each["json"]
        if kind == "inputs":
            digest = key.digest_of_inputs(value)
        if kind == "answer":
            digest = key.digest_of_answer(each["question_id"], value)
        assert digest.hex() == each["digest"], each["name"]
        run = key.of_run(vectors["content_id"])
        assert run.seal_json(kind, each["step"], value, digest, each["seq"]) == {"$sealed": each["sealed"]}
        assert run.open_json(kind, each["step"], {"$sealed": each["sealed"]}) == value
    for grant in vectors["grants"]:
        key = ContentKey(vectors["content_part"], vectors["org_id"], lambda _, iv=grant["iv"]: bytes.fromhex(iv))
        wrapped = key.wrap(grant["from_key_id"], grant["content_part"])
        assert sealed_json(wrapped) == {"$sealed": grant["wrapped"]}
        assert key.unwrap(grant["from_key_id"], wrapped) == grant["content_part"]
    key = ContentKey(vectors["content_part"], vectors["org_id"])
    for grant in vectors["refused_grants"]:
        with pytest.raises(SealedValueError) as refused:
            key.unwrap(grant["from_key_id"], unpadded(grant["wrapped"]))
        assert refused.value.code == grant["code"], grant["why"]


def test_streams_open_as_published_and_files_are_sealed_as_published(vectors: Dict[str, Any]) -> None:
    key = ContentKey(vectors["content_part"], vectors["org_id"])
    for each in vectors["files"]:
        plain = bytes(n % 251 for n in range(each["plain_bytes"]))
        upload = SealedUpload(key.of_file(each["idempotency_key"]), io.BytesIO(plain))
        sealed = b"".join(iter(upload.read, b""))
        assert (upload.content_id, sealed[:16].hex()) == (each["content_id"], each["salt"]), each["name"]
        assert hashlib.sha256(sealed).hexdigest() == each["sealed_sha256"], each["name"]
        assert (upload.plain_bytes, upload.sha256) == (len(plain), hashlib.sha256(plain).hexdigest())
        upload.seek(0)
        assert b"".join(iter(upload.read, b"")) == sealed, "the next try sends the same"
        assert opened("file", each["content_id"], key, [sealed]) == plain
        assert opened("file", each["content_id"], key, [sealed[at : at + 997] for at in range(0, len(sealed), 997)]) == plain
    for each in vectors["streams"]:
        if "sealed" in each:
            plain = bytes(n % 251 for n in range(each["plain_bytes"]))
            assert opened(each["kind"], vectors["content_id"], key, [unpadded(each["sealed"])]) == plain


def opened(kind: str, content_id: str, key: ContentKey, parts: List[bytes]) -> bytes:
    opener = StreamOpener(kind, content_id, lambda _: key)
    plain = b"".join(chunk for part in parts for chunk in opener.feed(part))
    opener.end()
    return plain


def test_a_stream_that_is_cut_reordered_doubled_or_of_another_place_is_refused() -> None:
    key = ContentKey(PART, "org_1")
    upload = SealedUpload(key.of_file("upload-1"), io.BytesIO(bytes(2 * 65_536 + 7)))
    first, b, c = iter(upload.read, b"")
    salt, a, content_id = first[:16], first[16:], upload.content_id
    assert len(opened("file", content_id, key, [salt, a, b, c])) == 2 * 65_536 + 7
    other = SealedUpload(key.of_file("upload-2"), io.BytesIO(bytes(2 * 65_536 + 7)))
    theirs = list(iter(other.read, b""))
    huge = b"\xff\xff\xff\xff"
    wrong = [[], [salt], [salt, a, b], [salt, b, a, c], [salt, a, a, b, c], [salt, a, c], [salt, a, b, c, c]]
    wrong += [[salt, a, b, c, b"\0"], [salt + a + b + c[:-1]], [salt, a, b, theirs[2]], [theirs[0][:16], a, b, c]]
    wrong += [[salt, huge], [salt, bytes(4)], [salt, a[:4] + b[4:], b, c]]
    for parts in wrong:
        with pytest.raises(SealedValueError) as refused:
            opened("file", content_id, key, parts)
        assert refused.value.code == "sealed_value_damaged"
    for kind, place in (("folder", content_id), ("file", "0" * 32)):
        with pytest.raises(SealedValueError):
            opened(kind, place, key, [salt, a, b, c])
    with pytest.raises(SealedValueError) as stranger:
        opened("file", content_id, ContentKey("c" * 43, "org_1"), [salt, a, b, c])
    assert stranger.value.code == "content_key_missing"


def test_inputs_name_their_sealed_files_and_refuse_plain_ones_and_bad_names() -> None:
    from methods._sealed_content import SealedContent, check_file_name

    content = SealedContent(PART, Whoami("org_1", "key_1", True, []))
    sent = File("file_" + "0" * 26, "a.csv", 3, "ab", "text/csv", None, {}, content_id="a" * 32)
    sealed = content.seal_inputs({"deep": [{"file": sent}, sent], "other": {"file_id": 7}})
    assert sealed["files"] == [sent.file_id]
    inputs = content.open_inputs(sealed["content_id"], sealed["inputs"])
    assert inputs["deep"][1] == sent.as_input() and inputs["deep"][1]["name"] == "a.csv"
    with pytest.raises(InvalidRequest) as plain:
        content.seal_inputs({"deep": [{"a/b": File(sent.file_id, "a", 1, "ab", "text/csv", None, {})}]})
    assert (plain.value.code, plain.value.details[0]["path"]) == ("invalid_inputs", "/deep/0/a~1b")
    for name in ("", ".", "..", "a/b", "a\\b", "C:", "a\n", "a ", "a.", "x" * 256, "\ufffd"):
        with pytest.raises(InvalidRequest) as refused:
            check_file_name(name)
        assert refused.value.details[0]["code"] == "file_name"
    # macOS and Windows put the space that is not broken into names, Persian and emojis need the joiners.
    for name in ("Größe 100% #1.txt", "Screen 9.41\u202fPM.png", "می\u200cخواهم.pdf", "👩\u200d💻.md"):
        check_file_name(name)


def test_every_changed_byte_and_every_other_place_is_refused() -> None:
    key = ContentKey(PART, "org_1")
    run = key.of_run("0" * 31 + "1")
    envelope = run.seal("inputs", "", b"{}")
    for at in range(len(envelope)):
        changed = bytearray(envelope)
        changed[at] ^= 1
        with pytest.raises(SealedValueError) as refused:
            run.open("inputs", "", bytes(changed))
        assert refused.value.code == ("content_key_missing" if 2 <= at < 18 else "sealed_value_damaged")
    other_run = key.of_run("0" * 31 + "2")
    for opener, kind, step in ((other_run, "inputs", ""), (run, "answer", ""), (run, "inputs", "a")):
        with pytest.raises(SealedValueError) as refused:
            opener.open(kind, step, envelope)
        assert refused.value.code == "sealed_value_damaged"
    with pytest.raises(SealedValueError) as stranger:
        ContentKey("c" * 43, "org_1").of_run("0" * 31 + "1").open("inputs", "", envelope)
    assert stranger.value.code == "content_key_missing"


def test_numbers_are_written_as_in_javascript_or_refused() -> None:
    written = ((1e21, "1e+21"), (1e20, "1" + "0" * 20), (1e-6, "0.000001"), (1e-7, "1e-7"), (5e-324, "5e-324"))
    for value, text in written + ((-0.0, "0"), (100.0, "100"), (-12.5, "-12.5"), (0.1, "0.1"), (True, "true")):
        assert canonical(value).decode() == text
    for value in (2**53 + 1, float("inf"), float("nan"), "\ud800"):
        with pytest.raises(ValueError):
            canonical(value)


def test_an_answer_is_checked_before_it_is_sealed_by_the_key_of_its_question() -> None:
    from methods._sealed_content import SealedContent

    old, new = ContentKey("o" * 43, "org_1"), ContentKey(PART, "org_1")
    wrapped = sealed_json(new.wrap("key_old", "o" * 43))["$sealed"]
    grants = [{"from_key_id": "key_old", "wrapped": wrapped}, {"from_key_id": "key_x", "wrapped": "AAAA"}]
    content = SealedContent(PART, Whoami("org_1", "key_new", True, grants))
    form = {"type": "object", "properties": {"go": {"type": "boolean"}}, "required": ["go"]}
    run = old.of_run("a" * 32)
    asked = {"prompt": "Go?", "form": form, "problems": [{"path": "/go", "code": "required", "message": "is required"}]}
    sealed = run.seal_json("question", "ask", asked)
    question = question_of({"id": "q_1", "step": "ask", "asked_at": "now", "sealed": sealed})
    opened, problems = content.open_question("a" * 32, question)
    assert (opened.prompt, opened.id, problems[0]["path"]) == ("Go?", "q_1", "/go")
    with pytest.raises(InvalidRequest) as misfit:
        content.seal_answer("a" * 32, question, {"go": "yes"})
    assert [each["path"] for each in misfit.value.details] == ["/go"]
    answer = content.seal_answer("a" * 32, question, {"go": True})
    assert run.open_json("answer", "q_1 ask", answer) == {"go": True}


def test_a_grant_that_does_not_open_is_named_and_hinders_no_other_run() -> None:
    from methods._sealed_content import SealedContent

    own, old, eldest = (ContentKey(part * 43, "org_1") for part in "noe")
    good = own.wrap("key_old", "o" * 43)
    other_org = ContentKey("n" * 43, "org_2").wrap("key_old", "o" * 43)
    bad = [good[:80] + bytes([good[80] ^ 1]) + good[81:], eldest.wrap("key_old", "o" * 43), other_org, good[:-3], b""]
    for wrapped in [*bad, own.wrap("key_other", "o" * 43)]:
        grants = [
            {"from_key_id": "key_old", "wrapped": sealed_json(wrapped)["$sealed"]},
            {"from_key_id": "key_eldest", "wrapped": sealed_json(own.wrap("key_eldest", "e" * 43))["$sealed"]},
        ]
        content = SealedContent("n" * 43, Whoami("org_1", "key_new", True, grants))
        run_id = "a" * 32
        for key in (own, eldest):
            assert content.open_inputs(run_id, key.of_run(run_id).seal_json("inputs", "", {"a": 1})) == {"a": 1}
        with pytest.raises(SealedValueError, match=" key_old ") as refused:
            content.open_inputs(run_id, old.of_run(run_id).seal_json("inputs", "", {}))
        assert refused.value.code == "content_grant_damaged"


def test_messages_of_a_run_are_opened_where_they_belong() -> None:
    from methods._models import run_of
    from methods._sealed_content import SealedContent

    content = SealedContent(PART, Whoami("org_1", "key_1", True, []))
    sealing = ContentKey(PART, "org_1").of_run("a" * 32)
    text = {"message": "", "sealed": sealing.seal_json("text", "pay", "No money.")}
    moved = {"name": "other", "status": "failed", "error": text}
    body = {"run_id": "run_1", "status": "failed", "content_id": "a" * 32, "error": {"code": "c", "step": "pay", **text}}
    opened = content.open_run(run_of({**body, "steps": [{"name": "pay", "status": "failed", "error": text}, moved]}))
    assert opened.error is not None and opened.error.message == "No money."
    assert [(step.error or {})["message"] for step in opened.steps] == ["No money.", ""]


def test_an_event_of_a_status_or_with_fields_of_a_later_version_is_opened_like_any_other() -> None:
    from methods._sealed_content import SealedContent

    key, content_id = ContentKey(PART, "org_1"), "c" * 32
    sealed = key.of_run(content_id).seal_json("text", "", "later words")
    data: Dict[str, Any] = {"run_id": "run_1", "status": "paused", "content_id": content_id, "later": [1]}
    data["error"] = {"code": "paused", "message": "", "sealed": sealed}
    content = SealedContent(PART, Whoami("org_1", "key_1", True, []))
    opened = content.open_data(data)
    assert (opened["status"], opened["later"], opened["error"]["message"]) == ("paused", [1], "later words")


def test_a_form_finds_what_does_not_fit() -> None:
    form = {
        "type": "object",
        "additionalProperties": False,
        "required": ["kind"],
        "properties": {
            "kind": {"enum": ["a", 1]},
            "note": {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "null"}]},
            "many": {"type": "array", "items": {"$ref": "#/$defs/Whole"}, "maxItems": 2},
        },
        "$defs": {"Whole": {"type": "integer", "minimum": 1}},
    }
    assert misfits(form, {"kind": 1, "note": None, "many": [1, 2.0]}) == []
    found = misfits(form, {"kind": True, "note": "long", "many": [0, "x", 1], "z/": 1})
    assert sorted((each["path"], each["code"]) for each in found) == [
        ("/kind", "not_a_choice"),
        ("/many", "too_many"),
        ("/many/0", "too_small"),
        ("/many/1", "type"),
        ("/note", "too_long"),
        ("/z~1", "unknown_field"),
    ]
    assert [each["code"] for each in misfits(form, {})] == ["required"]


def test_device_mode_needs_a_whole_key() -> None:
    from methods import Methods

    with Methods("sk_" + "A" * 43, base_url="http://127.0.0.1:1", device=True) as client:
        with pytest.raises(CredentialError) as refused:
            client.start("wf_x", {"secret": 1})
    assert refused.value.code == "device_key_required"
