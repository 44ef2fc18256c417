"""Checks an answer against the form of its question before it is sealed: the service could not refuse a sealed misfit.

The worker checks it again and has the last word, so what this check does not know, such as formats, passes.
"""

# What pyright needs a cast for, mypy knows.
# mypy: disable-error-code="redundant-cast"

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Mapping, Sequence, cast

from ._models import Json

_FINDINGS_MAX = 100
_LEVELS_MAX = 64


def misfits(form: Mapping[str, Any], answer: Any) -> List[Json]:
    """``[{path, code, message}]``, with JSON Pointers as paths; empty if it fits."""
    return _found(form, answer, "", form, 0)[:_FINDINGS_MAX]


def _found(schema: Any, value: Any, path: str, root: Mapping[str, Any], level: int) -> List[Json]:
    if schema is False:
        return [_finding(path, "unknown_field", "is not a field here")]
    if not isinstance(schema, dict) or level > _LEVELS_MAX:
        return []
    rules = cast(Dict[str, Any], schema)
    found: List[Json] = []
    if "$ref" in rules:
        found += _found(_target(rules["$ref"], root), value, path, root, level + 1)
    types = rules.get("type")
    if types is not None:
        names = _names(types)
        if not any(_is(value, name) for name in names):
            return [_finding(path, "type", f"must be {' or '.join(names)}")]
    if "enum" in rules and not any(_same(value, each) for each in rules["enum"]):
        found.append(_finding(path, "not_a_choice", "must be one of the choices"))
    if "const" in rules and not _same(value, rules["const"]):
        found.append(_finding(path, "const", "must be equal to constant"))
    branches: List[Any] = rules.get("anyOf") or []
    if branches and all(_found(each, value, path, root, level + 1) for each in branches):
        # The reasons of the branch that is for such a value.
        fitting = [each for each in branches if not _is_other_type(each, value, root)]
        only = _found(fitting[0], value, path, root, level + 1) if len(fitting) == 1 else []
        found += only or [_finding(path, "type", "has none of the allowed forms")]
    for each in cast(List[Any], rules.get("allOf") or []):
        found += _found(each, value, path, root, level + 1)
    if isinstance(value, str):
        found += _text(rules, value, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        found += _number(rules, value, path)
    elif isinstance(value, list):
        found += _list(rules, cast(List[Any], value), path, root, level)
    elif isinstance(value, dict):
        found += _object(rules, cast(Dict[str, Any], value), path, root, level)
    return found


def _text(rules: Json, value: str, path: str) -> List[Json]:
    found = _count(rules, "Length", len(value), "character", path)
    pattern = rules.get("pattern")
    if isinstance(pattern, str) and not _matches(pattern, value):
        found.append(_finding(path, "pattern", f"must match /{pattern}/"))
    return found


def _matches(pattern: str, value: str) -> bool:
    # The service's patterns take linear time; Python's may not, so only short texts are tried here.
    if len(value) > 200:
        return True
    try:
        return re.search(pattern, value, re.ASCII) is not None
    except re.error:
        return True


def _number(rules: Json, value: float, path: str) -> List[Json]:
    found: List[Json] = []

    def bound(keyword: str, code: str, words: str, holds: Callable[[float], bool]) -> None:
        if keyword in rules and not holds(rules[keyword]):
            found.append(_finding(path, code, f"must be {words} {rules[keyword]}"))

    bound("maximum", "too_large", "at most", lambda limit: value <= limit)
    bound("minimum", "too_small", "at least", lambda limit: value >= limit)
    bound("exclusiveMaximum", "too_large", "less than", lambda limit: value < limit)
    bound("exclusiveMinimum", "too_small", "more than", lambda limit: value > limit)
    bound("multipleOf", "multipleOf", "a multiple of", lambda limit: (value / limit).is_integer())
    return found


def _list(rules: Json, value: Sequence[Any], path: str, root: Mapping[str, Any], level: int) -> List[Json]:
    found = _count(rules, "Items", len(value), "item", path)
    if rules.get("uniqueItems") and any(_same(a, b) for at, a in enumerate(value) for b in value[:at]):
        found.append(_finding(path, "repeated", "must not hold the same item twice"))
    for at, each in enumerate(value):
        found += _found(rules.get("items", True), each, f"{path}/{at}", root, level + 1)
    return found


def _object(rules: Json, value: Json, path: str, root: Mapping[str, Any], level: int) -> List[Json]:
    properties: Json = rules.get("properties") or {}
    others = rules.get("additionalProperties", True)
    found = _count(rules, "Properties", len(value), "field", path)
    required: List[str] = rules.get("required") or []
    found += [_finding(_below(path, name), "required", "is required") for name in required if name not in value]
    for name, each in value.items():
        found += _found(properties.get(name, others), each, _below(path, name), root, level + 1)
    return found


def _count(rules: Json, what: str, count: int, word: str, path: str) -> List[Json]:
    least, most = rules.get(f"min{what}", 0), rules.get(f"max{what}")
    few, many = ("too_short", "too_long") if what == "Length" else ("too_few", "too_many")
    if count < least:
        return [_finding(path, few, f"must have at least {least} {word}{'' if least == 1 else 's'}")]
    if most is not None and count > most:
        return [_finding(path, many, f"must have at most {most} {word}{'' if most == 1 else 's'}")]
    return []


def _target(reference: Any, root: Mapping[str, Any]) -> Any:
    if reference == "#":
        return root
    place = str(reference)
    definitions: Json = root.get("$defs") or {}
    return definitions.get(place[len("#/$defs/") :], True) if place.startswith("#/$defs/") else True


def _names(types: Any) -> List[str]:
    if isinstance(types, list):
        return cast(List[str], types)
    return [] if types is None else [str(types)]


def _is(value: Any, name: str) -> bool:
    if name == "null":
        return value is None
    if name == "boolean":
        return isinstance(value, bool)
    if name == "string":
        return isinstance(value, str)
    if name == "array":
        return isinstance(value, list)
    if name == "object":
        return isinstance(value, dict)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return name == "number" or float(value).is_integer()


def _is_other_type(schema: Any, value: Any, root: Mapping[str, Any]) -> bool:
    rules: Json = cast(Json, schema) if isinstance(schema, dict) else {}
    if "$ref" in rules:
        target = _target(rules["$ref"], root)
        rules = cast(Json, target) if isinstance(target, dict) else {}
    names = _names(rules.get("type"))
    return bool(names) and not any(_is(value, name) for name in names)


def _same(a: Any, b: Any) -> bool:
    """In JSON true is not 1, although it equals it in Python."""
    if isinstance(a, dict) and isinstance(b, dict):
        left, right = cast(Json, a), cast(Json, b)
        return left.keys() == right.keys() and all(_same(left[name], right[name]) for name in left)
    if isinstance(a, list) and isinstance(b, list):
        some, others = cast(List[Any], a), cast(List[Any], b)
        return len(some) == len(others) and all(_same(x, y) for x, y in zip(some, others))
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def _below(path: str, name: str) -> str:
    return f"{path}/{name.replace('~', '~0').replace('/', '~1')}"


def _finding(path: str, code: str, message: str) -> Json:
    return {"path": path, "code": code, "message": message}
