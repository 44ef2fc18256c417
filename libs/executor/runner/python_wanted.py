# Measures how long the process has wanted a processor: the time it had one, and the time it waited for one.
import os
import time

try:
    FILE = os.open("/proc/self/schedstat", os.O_RDONLY)
except OSError:
    FILE = None


def wanted_ms():
    """From some start."""
    if FILE is None:
        return time.process_time() * 1000
    try:
        ran, waited = os.pread(FILE, 96, 0).split()[:2]
        return (int(ran) + int(waited)) / 1e6
    except (OSError, ValueError):
        # A step closed or replaced it.
        return 0
