# Parses code of steps without running it: a JSON list of blocks on stdin, a list of each one's fault on stdout.
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_step_code import function_tree, parsed  # noqa: E402

MESSAGE_CHARACTERS_MAX = 200


def fault_of(block):
    """None: it parses. `names` is None for the code of lib."""
    code, names = block["code"], block["names"]
    try:
        tree = parsed("code", code, 1) if names is None else function_tree("code", code, 1, names)[0]
        compile(tree, "code", "exec", dont_inherit=True)
    except SyntaxError as error:
        return {"line": error.lineno or 1, "column": error.offset or 0, "message": str(error.msg)[:MESSAGE_CHARACTERS_MAX]}
    except (RecursionError, MemoryError):
        return {"line": 1, "column": 0, "message": "it nests too deeply"}
    except ValueError as error:
        return {"line": 1, "column": 0, "message": str(error)[:MESSAGE_CHARACTERS_MAX]}
    return None


json.dump([fault_of(block) for block in json.load(sys.stdin)], sys.stdout)
