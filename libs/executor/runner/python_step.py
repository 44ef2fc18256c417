# The objects that the author's code sees: `step`, and values whose fields can be read as attributes.
import json
import os

CHECKS_MAX = 1000
FILES_MAX = 1000
NAME_CHARACTERS_MAX = 120


class OutRefused(Exception):
    """The out cannot be taken: kind out."""


class LimitExceeded(Exception):
    """Kind limit."""


class StepFailed(Exception):
    """`step.fail`."""

    retry = None


class Value(dict):
    """A JSON object; `order.total` is `order["total"]` where no method of a dict has that name."""

    __slots__ = ()

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            fields = ", ".join(map(str, self)) or "none"
            raise AttributeError(f"no field {name!r} (fields: {fields})") from None


class Step:
    def __init__(self, message, directory, send):
        """`send` takes a message for the worker."""
        self._send = send
        self._checks = 0
        self.files_named = 0
        self.name = message["step"]
        self.key = message["key"]
        self.try_ = message["try"]
        self.dir = directory

    def log(self, message, data=None):
        said = {"t": "log", "message": message if isinstance(message, str) else shown(message)}
        if data is not None:
            said["data"] = json_of(data)
        self._send(said)

    def progress(self, at, message=None):
        self._send({"t": "progress", "at": float(at), "message": None if message is None else str(message)})

    def check(self, name, ok, level="error", actual=None, message=None):
        """Returns `ok` as a bool; a failed check of level "error" fails the step once its code has ended."""
        self._checks += 1
        if self._checks > CHECKS_MAX:
            raise LimitExceeded(f"a step records at most {CHECKS_MAX} checks")
        if level not in ("error", "warn"):
            raise TypeError('a check has the level "error" or "warn"')
        passed = bool(ok)
        text = None if message is None else str(message)
        named = str(name)[:NAME_CHARACTERS_MAX]
        self._send({"t": "check", "name": named, "ok": passed, "level": level, "actual": json_of(actual), "message": text})
        return passed

    def file(self, path, media_type=None):
        """Names a file in the working folder as part of the out; it is taken away when the step has ended."""
        full = os.path.normpath(os.path.join(self.dir, os.fspath(path)))
        if not full.startswith(self.dir + os.sep):
            raise OutRefused("step.file: the file must be in the working folder")
        if not os.path.lexists(full):
            raise OutRefused(f"step.file: there is no file {path}")
        if os.path.realpath(full) != full:
            raise OutRefused("step.file: the file must be in the working folder")
        if not os.path.isfile(full):
            raise OutRefused(f"step.file: {path} is not a file")
        self.files_named += 1
        if self.files_named > FILES_MAX:
            raise LimitExceeded(f"a step names at most {FILES_MAX} files")
        named = {"$file": os.path.relpath(full, self.dir)}
        if media_type is not None:
            named["media_type"] = str(media_type)
        return named

    def fail(self, message, retry=None):
        failed = StepFailed(str(message))
        failed.retry = retry
        raise failed


def shown(value):
    try:
        if hasattr(value, "item") and callable(value.item):
            return value.item()
    except Exception:
        pass
    try:
        return str(value)
    except Exception:
        return f"a {type(value).__name__}"


ENCODE = json.JSONEncoder(default=shown, allow_nan=False).encode
DECODE = json.JSONDecoder().decode


def json_of(value):
    """For logs and checks, where nearly right is better than an error."""
    try:
        return DECODE(ENCODE(value))
    except (TypeError, ValueError, RecursionError):
        return shown(value)
