# Turns a step's code into a function by its syntax tree, once for each step, so that every line keeps its number in the
# author's source; and maps errors back to those lines.
import ast
import asyncio
import sys
import types

from python_impure import impurity_of
from python_step import LimitExceeded, OutRefused, StepFailed

STACK_LINES_MAX = 8
MESSAGE_CHARACTERS_MAX = 4000
LIB = "lib"


class StepCode:
    def __init__(self):
        self._lib = None
        self._sources = {}
        self._compiled = {}
        self._impure = {}
        self._lib_code = None

    def learn_lib(self, message):
        self._lib = message

    def learn(self, message):
        self._sources[message["step"]] = message

    def run(self, step_name, step, values):
        code, is_async = self._function_of(step_name)
        # A separate module for this step, so that its top-level names disappear with it.
        module = types.ModuleType("step")
        sys.modules["step"] = module
        if self._lib is not None:
            module.lib = sys.modules[LIB] = self._lib_module()
        exec(code, module.__dict__)
        returned = module.__dict__.pop("__step__")(step, *values)
        return asyncio.run(returned) if is_async else returned

    def impurity(self, step_name):
        """Why the process cannot be used again after this code, as far as the code shows it; or None."""
        return self._impure.get(step_name) or self._impure.get(LIB)

    def _function_of(self, name):
        compiled = self._compiled.get(name)
        if compiled is None:
            source = self._sources[name]
            tree, is_async = function_tree(name, source["code"], source["line"], source["names"])
            compiled = (compile(tree, name, "exec", dont_inherit=True), is_async)
            self._compiled[name] = compiled
            self._impure[name] = impurity_of(tree)
        return compiled

    def _lib_module(self):
        if self._lib_code is None:
            tree = parsed(LIB, self._lib["code"], self._lib["line"])
            self._lib_code = compile(tree, LIB, "exec", dont_inherit=True)
            self._impure[LIB] = impurity_of(tree)
        module = types.ModuleType(LIB)
        exec(self._lib_code, module.__dict__)
        return module


def parsed(name, code, line):
    # As many line breaks before the code as there are lines before it in the source.
    return ast.parse("\n" * (line - 1) + code, name)


def function_tree(name, code, line, names):
    tree = parsed(name, code, line)
    is_async = any(isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)) for node in own_nodes(tree))
    head = "async def" if is_async else "def"
    function = ast.parse(f"{head} __step__({', '.join(['step', *names])}): pass").body[0]
    for node in ast.walk(function):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line
    if tree.body:
        function.body = tree.body
    return ast.Module([function], []), is_async


def own_nodes(tree):
    """All nodes but those of functions inside."""
    waiting = list(ast.iter_child_nodes(tree))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def report_of(error, memory_mb):
    """Kind, message and the author's lines, for the worker. The error may be of any class, also one that fails to print."""
    frames = author_frames(error)
    report = {"kind": "exception", "message": message_of(error)}
    if frames:
        report["line"] = frames[0][1]
        report["stack"] = "\n".join(f"{name}:{line} in {function}" for name, line, function in frames)
    if isinstance(error, StepFailed):
        if isinstance(error.retry, bool):
            report["retry"] = error.retry
    elif isinstance(error, OutRefused):
        report["kind"] = "out"
    elif isinstance(error, LimitExceeded):
        report["kind"] = "limit"
    elif isinstance(error, MemoryError):
        report["kind"] = "memory"
        report["message"] = f"The step used more memory than {memory_mb} MiB (limits: memory_mb)"
    elif isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
        report["kind"] = "exit"
        report["code"] = code
        report["message"] = f"The step ended its process with exit code {code}"
    elif isinstance(error, SyntaxError) and not frames and error.lineno is not None:
        report["kind"] = "syntax"
        report["message"] = str(error.msg)
        report["line"] = error.lineno
    return report


def author_frames(error):
    """Name, line and function of the author's own frames, innermost first."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        # The modules of Python and of packages have paths as names.
        if "/" not in code.co_filename and not code.co_filename.startswith("<"):
            function = "the step" if code.co_name == "__step__" else code.co_name
            frames.append((code.co_filename, trace.tb_lineno, function))
        trace = trace.tb_next
    return frames[::-1][:STACK_LINES_MAX]


def message_of(error):
    try:
        text = str(error)
        if isinstance(error, KeyError):
            text = f"no entry {text}"
    except Exception:
        text = "an error that cannot be shown"
    if not isinstance(error, (StepFailed, OutRefused, LimitExceeded)):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= MESSAGE_CHARACTERS_MAX else text[:MESSAGE_CHARACTERS_MAX] + "…"
