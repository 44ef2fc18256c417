"""The canonical form of JSON (RFC 8785): equal values have equal bytes, in every language."""

# What pyright needs a cast for, mypy knows.
# mypy: disable-error-code="redundant-cast"

from __future__ import annotations

import json
import math
from typing import Any, Dict, Sequence, cast

#: Numbers of JSON are doubles: beyond this, whole numbers lose digits.
_WHOLE_MAX = 2**53


def canonical(value: Any) -> bytes:
    """Raises TypeError for what is no JSON, ValueError for what JSON cannot hold exactly."""
    try:
        return _text(value).encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("A text has half of a surrogate pair.") from None


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, dict):
        fields = cast(Dict[Any, Any], value)
        if not all(isinstance(name, str) for name in fields):
            raise TypeError("The name of a field is not text.")
        # By UTF-16 code units, as JavaScript sorts.
        names = sorted(fields, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_text(name)}:{_text(fields[name])}" for name in names) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_text(each) for each in cast(Sequence[Any], value)) + "]"
    raise TypeError(f"{type(value).__name__} is not a value of JSON.")


def _number(value: float) -> str:
    """As JavaScript writes it: the shortest digits that give the same double."""
    if isinstance(value, int):
        if abs(value) > _WHOLE_MAX and int(float(value)) != value:
            raise ValueError("A whole number has more digits than a number of JSON holds; give it as text.")
        value = float(value)
    if not math.isfinite(value):
        raise ValueError("JSON has no infinite numbers.")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    head, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = head.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.digits times ten to this.
    point = len(digits) - len(fraction) + int(exponent or 0)
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"

