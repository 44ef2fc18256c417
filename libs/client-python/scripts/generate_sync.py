"""Writes ``methods/_sync`` from ``methods/_async``: ``python scripts/generate_sync.py``; ``--check`` only compares.

The async code is the source. Only ``concurrency.py`` is written twice by hand.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

METHODS = Path(__file__).parents[1] / "src" / "methods"
BY_HAND = {"concurrency.py"}
WORDS = (
    (r"\basync (def|with|for)\b", r"\1"),
    (r"``async with``", "``with``"),
    (r"\bawait ", ""),
    (r"\bCallable\[\[(\w*)\], Coroutine\[Any, Any, (\w+)\]\]", r"Callable[[\1], \2]"),
    (r"Callable, Coroutine,", "Callable,"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\ba(close|read|iter_bytes)\b", r"\1"),
    (r"\bAsync(?=[A-Z])", ""),
)
HEAD = "# Written by scripts/generate_sync.py from methods/_async/{name}.\n"


def sync_text(name: str, text: str) -> str:
    for pattern, replacement in WORDS:
        text = re.sub(pattern, replacement, text)
    return HEAD.format(name=name) + text


def main() -> int:
    stale = 0
    for source in sorted((METHODS / "_async").glob("*.py")):
        if source.name in BY_HAND:
            continue
        target = METHODS / "_sync" / source.name
        text = sync_text(source.name, source.read_text("utf-8"))
        if target.exists() and target.read_text("utf-8") == text:
            continue
        stale += 1
        print(f"{target.name} {'is not current' if '--check' in sys.argv else 'written'}")
        if "--check" not in sys.argv:
            target.write_text(text, "utf-8")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
