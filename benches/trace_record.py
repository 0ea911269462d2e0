#!/usr/bin/env python3
"""What `lapwing trace record` costs: its share of one core while it looks at processes that sleep or compute a little.

    benches/trace_record.py [PROCESSES [THREADS [SECONDS]]]    # default 10, 1 and 10; LAPWING names the program

Processes have so many threads each, of which one computes for 1 ms of every 20. Build with --release.
"""

import os
import subprocess
import sys
import tempfile

COMMAND = """
import sys, threading, time
threads, seconds = int(sys.argv[1]), float(sys.argv[2])
for _ in range(threads - 1):
    threading.Thread(target=time.sleep, args=(seconds,)).start()
end = time.time() + seconds
while time.time() < end:
    until = time.thread_time() + 0.001
    while time.thread_time() < until:
        pass
    time.sleep(0.019)
"""

processes, threads, seconds = [int(it) for it in sys.argv[1:]] + [10, 1, 10][len(sys.argv) - 1 :]
one = f'{sys.executable} -c "$0" {threads} {seconds} &'
script = " ".join([one] * processes) + " wait"
with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, "recorded.jsonl")
    program = [os.environ.get("LAPWING", "lapwing"), "trace", "record", "-o", file, "--"]
    recorder = subprocess.Popen([*program, "sh", "-c", script, COMMAND], stderr=subprocess.DEVNULL)
    # The recorder's own time, without that of its children.
    used, ticks = [0, 0], os.sysconf("SC_CLK_TCK")
    while recorder.poll() is None:
        try:
            with open(f"/proc/{recorder.pid}/stat") as stat:
                fields = stat.read().rpartition(")")[2].split()
            used = [int(it) / ticks for it in fields[11:13]] if fields[0] != "Z" else used
            recorder.wait(0.1)
        except (OSError, subprocess.TimeoutExpired):
            continue
    size = os.path.getsize(file)
share, kernel = sum(used) / seconds, used[1] / seconds
print(f"{processes} processes with {threads} threads: {share:.2%} of a core ({kernel:.2%} in the kernel), {size / seconds / 1e3:.0f} kB/s")
