# Converts what a step returned to JSON text. It guesses nothing: a value without a JSON form is refused by its place.
import json
import math
import re

from python_step import LimitExceeded, OutRefused

RETURNED_BYTES_MAX = 5 * 1024 * 1024
# The largest integer that every JSON reader keeps exact.
INTEGER_MAX = 2**53 - 1
LONG_NUMBER = re.compile(r"\d{16}")
PATH_DEPTH_MAX = 100
ENCODE = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode
HINTS = {
    "datetime": "write .isoformat()",
    "date": "write .isoformat()",
    "time": "write .isoformat()",
    "Timestamp": "write .isoformat()",
    "Decimal": "write float(…), or str(…) to keep its digits",
    "UUID": "write str(…)",
    "set": "write sorted(…) or list(…)",
    "frozenset": "write sorted(…) or list(…)",
    "generator": "write list(…)",
    "bytes": "write .decode(), or give a file",
    "ndarray": "write .tolist()",
    "Series": "write .tolist()",
    "DataFrame": 'write .to_dict("records")',
    "bool_": "write bool(…)",
    "PosixPath": "write str(…), or step.file(…)",
    "coroutine": "await it",
}


def text_of(value):
    """None for nothing. Raises OutRefused or LimitExceeded."""
    if value is None:
        return None
    try:
        text = ENCODE(value)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        fault = fault_in(value, "out", 0)
        raise OutRefused(fault or f"the returned value is not JSON: {error}") from None
    if size > RETURNED_BYTES_MAX:
        raise LimitExceeded("the returned value is larger than 5 MiB")
    if LONG_NUMBER.search(text):
        fault = fault_in(value, "out", 0)
        if fault is not None:
            raise OutRefused(fault)
    return text


def fault_in(value, place, depth):
    """The first thing that JSON cannot hold, or None."""
    if depth > PATH_DEPTH_MAX:
        return f"{place} nests too deep"
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return f"{place} holds a lone surrogate, which is not text"
        return None
    if isinstance(value, int):
        return f"{place} is an integer beyond 2^53, which JSON readers round: write str(…)" if abs(value) > INTEGER_MAX else None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{place} is {value}, which is no JSON number: write None where there is no value"
    if isinstance(value, dict):
        for key, member in value.items():
            if not isinstance(key, (str, int, float, bool, type(None))):
                return f"{place} has a key that is no text, but a {type_name(key)}"
            fault = fault_in(member, f"{place}.{key}", depth + 1)
            if fault is not None:
                return fault
        return None
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            fault = fault_in(item, f"{place}[{index}]", depth + 1)
            if fault is not None:
                return fault
        return None
    return f"{place} is a {type_name(value)}, which is not JSON{hint_for(value)}"


def type_name(value):
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def hint_for(value):
    name = type(value).__name__
    hint = HINTS.get(name)
    if hint is None and re.match(r"u?int\d", name):
        hint = "write int(…)"
    if hint is None and re.match(r"float\d", name):
        hint = "write float(…)"
    return "" if hint is None else f": {hint}"
