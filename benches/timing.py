"""What the benchmarks of whole commands share."""

import os
import subprocess
import sys
import time


def timed(command):
    """Returns seconds and peak memory in MB of a command's process."""
    return timed_all(command)[:2]


def timed_all(command):
    """Returns seconds, peak memory in MB and seconds of processor time of a command's process."""
    before = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - before
    if status != 0:
        sys.exit(f"failed with status {status}: {command}")
    return seconds, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime
