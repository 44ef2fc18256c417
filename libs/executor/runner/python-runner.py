# A warm runner: a child process that runs python steps of one version, one at a time, until its worker closes the pipe.
# Its modules are in the same folder; the author's code sees neither them nor the folder.
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_files import WorkFolder
from python_line import TICKETS, StepLine, mark_prints
from python_out import text_of
from python_state import ProcessState
from python_step import LimitExceeded, Step, Value
from python_step_code import StepCode, report_of
from python_wanted import wanted_ms

sys.path.pop(0)
ARGUMENTS = (sys.argv[1], int(sys.argv[2]), f"\0{sys.argv[3]}\n".encode())
sys.argv = ["step"]

# Stored here, since a step may change the module itself.
ENCODE = json.JSONEncoder(separators=(",", ":")).encode
DECODE = json.JSONDecoder(object_hook=Value).decode
PIPE = 3
LINE_BYTES_MAX = 8 * 1024 * 1024
MEMORY_CHECK_EVERY_STEPS = 32


def main(work_dir, memory_mb, mark):
    for descriptor in (PIPE, TICKETS):
        os.set_inheritable(descriptor, False)
    for stream in (sys.stdout, sys.stderr):
        # Line by line, so that prints before a deadline are not lost with the process.
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    folder = WorkFolder(work_dir)
    code = StepCode()
    state = ProcessState(work_dir, memory_mb)
    line = StepLine(PIPE, DECODE, leave)
    send({"t": "ready"})
    steps_run = 0
    while True:
        message = line.next()
        if message["t"] == "lib":
            code.learn_lib(message)
        elif message["t"] == "code":
            code.learn(message)
        elif line.may_run(message):
            steps_run += 1
            end = run_step(message, folder, code, state, mark, steps_run % MEMORY_CHECK_EVERY_STEPS == 0)
            if end.get("replace"):
                # Queued steps begin elsewhere.
                while True:
                    line.next()
            if end.get("held"):
                line.wait_for_continue()
                # Prints since the end of the step do not belong to the next one.
                mark_prints(mark)


def run_step(message, folder, code, state, mark, checks_memory):
    number = message["n"]
    end = {"t": "end", "n": number}
    out = None
    started = time.monotonic()
    wanted = wanted_ms()
    try:
        folder.enter()
        state.reset(message)
        step = Step(message, folder.dir, lambda said: send({**said, "n": number}))
        try:
            returned = code.run(message["step"], step, message["values"])
        finally:
            # Runs first: what follows needs the original built-ins.
            state.restore_builtins()
        out = text_of(returned)
        if step.files_named:
            end["files"] = True
    except BaseException as error:  # also SystemExit: the process is the runner's, not the step's
        end["error"] = report_of(error, state.memory_mb)
        # Its frames hold the step's values.
        error.__traceback__ = None
    if os.getpid() != state.pid:
        # A copy that the step forked returned into the runner.
        os._exit(0)
    end["ms"] = (time.monotonic() - started) * 1000
    end["wanted"] = wanted_ms() - wanted
    end["marked"] = ends_prints(mark)
    if state.spawned:
        end["spawned"] = True
    reason = code.impurity(message["step"]) or state.change(checks_memory)
    if reason or not end["marked"]:
        end["replace"] = reason or "the step closed its output"
    # The worker collects files, and looks for processes, before another step meets either.
    elif end.get("files") or state.spawned:
        end["held"] = True
    head = ENCODE(end)
    # The out is already text; inserting it unchanged saves a second pass.
    send_text(head if out is None else head[:-1] + ',"out":' + out + "}")
    return end


def ends_prints(mark):
    try:
        sys.__stdout__.flush()
        sys.__stderr__.flush()
    except (OSError, ValueError):
        return False
    return mark_prints(mark)


def send(message):
    text = ENCODE(message)
    # The worker ends a process that sends a longer line.
    if len(text) > LINE_BYTES_MAX:
        raise LimitExceeded("The step sent more than a message may hold")
    send_text(text)


def send_text(text):
    data = memoryview(text.encode("utf-8", "surrogatepass") + b"\n")
    while data:
        data = data[os.write(PIPE, data) :]


def leave():
    """Nobody is left to report to; processes that a step started must not live on either."""
    try:
        os.killpg(os.getpid(), 9)
    finally:
        os._exit(1)


if __name__ == "__main__":
    main(*ARGUMENTS)
