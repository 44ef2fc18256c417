# The state that all code of a process shares: restored before each step where possible, and otherwise watched.
import builtins
import gc
import os
import resource
import signal
import sys
import threading
import warnings

SPAWNING = {
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "pty.spawn",
    "subprocess.Popen",
}
# What an interpreter and its packages reserve without using it; the worker watches the step's own use.
RUNTIME_BYTES = 256 * 1024 * 1024
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP)
PAGE_BYTES = 4096
# The outputs, the pipe of the worker and the tickets.
OWN_DESCRIPTORS = (1, 2, 3, 5)


class ProcessState:
    """Make it when nothing of the author's has run yet."""

    def __init__(self, work_dir, memory_mb):
        self.pid = os.getpid()
        self.memory_mb = memory_mb
        self.spawned = False
        self._work_dir = work_dir
        self._environment = dict(os.environ)
        self._path = list(sys.path)
        self._streams = (sys.stdin, sys.stdout, sys.stderr)
        self._umask = os.umask(0o022)
        os.umask(self._umask)
        # The worker ends a process group by SIGTERM, for which Python keeps the default as well.
        self._handlers = [signal.getsignal(number) for number in SIGNALS]
        self._filters = list(warnings.filters)
        self._recursion = sys.getrecursionlimit()
        self._builtins = dict(builtins.__dict__)
        self._builtins_changed = False
        self._threads = threading.active_count()
        self._files = own_files()
        limit = memory_mb * 1024 * 1024 + RUNTIME_BYTES
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        sys.addaudithook(self._on_event)

    def _on_event(self, event, _arguments):
        if event in SPAWNING:
            self.spawned = True

    def reset(self, message):
        environment = os.environ
        for name in [name for name in environment if name not in self._environment]:
            del environment[name]
        for name, value in self._environment.items():
            if environment.get(name) != value:
                environment[name] = value
        environment["STEP_NAME"] = message["step"]
        environment["STEP_KEY"] = message["key"]
        environment["STEP_TRY"] = str(message["try"])
        environment["STEP_DIR"] = self._work_dir
        if "in" in message:
            environment["STEP_IN"] = message["in"]
        sys.path[:] = self._path
        sys.argv[:] = ["step"]
        sys.stdin, sys.stdout, sys.stderr = self._streams
        os.umask(self._umask)
        for number, handler in zip(SIGNALS, self._handlers):
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if warnings.filters != self._filters:
            warnings.filters[:] = self._filters
        sys.setrecursionlimit(self._recursion)
        sys.settrace(None)
        sys.setprofile(None)
        gc.enable()
        self._reset_modules()
        self.spawned = False

    def _reset_modules(self):
        """Only of those that some step has loaded."""
        loaded = sys.modules
        if "random" in loaded:
            loaded["random"].seed()
        if "numpy.random" in loaded:
            loaded["numpy.random"].seed()
        if "socket" in loaded:
            loaded["socket"].setdefaulttimeout(None)
        if "decimal" in loaded:
            loaded["decimal"].setcontext(loaded["decimal"].DefaultContext.copy())
        if "logging" in loaded:
            root = loaded["logging"].root
            root.handlers.clear()
            root.filters.clear()
            root.setLevel(loaded["logging"].WARNING)
            loaded["logging"].disable(0)
        if "_locale" in loaded and "locale" in loaded:
            locale = loaded["locale"]
            if locale.setlocale(locale.LC_NUMERIC) != "C" or locale.setlocale(locale.LC_TIME) != "C":
                locale.setlocale(locale.LC_ALL, "C")
                locale.setlocale(locale.LC_CTYPE, "C.UTF-8")

    def restore_builtins(self):
        self._builtins_changed = builtins.__dict__ != self._builtins
        if self._builtins_changed:
            builtins.__dict__.clear()
            builtins.__dict__.update(self._builtins)

    def change(self, checks_memory):
        """Why the process must not run another step, or None."""
        if threading.active_count() > self._threads:
            return "the step left threads"
        if has_children(self.pid):
            return "the step left processes"
        if self._builtins_changed:
            return "the step changed what all code shares"
        if own_files() != self._files:
            return "the step closed a file of its runner"
        if checks_memory and own_memory() > 0.6 * self.memory_mb * 1024 * 1024:
            return "its memory grew"
        return None


def own_files():
    files = []
    for descriptor in OWN_DESCRIPTORS:
        try:
            status = os.fstat(descriptor)
            files.append((status.st_dev, status.st_ino))
        except OSError:
            files.append(None)
    return files


def has_children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            return file.read() != b""
    except OSError:
        return False


def own_memory():
    with open("/proc/self/statm", "rb") as file:
        _, resident, shared = file.read().split()[:3]
    return (int(resident) - int(shared)) * PAGE_BYTES
