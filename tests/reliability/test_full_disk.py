"""A disk that is full: commands fail with an error, and nothing that was there is lost."""

import subprocess
import sys
from pathlib import Path

from conftest import FULL
from needs import skip_or_fail

UNSHARE = ["unshare", "--mount", "--map-root-user"]


def test_commands_fail_on_a_full_disk_and_work_again_with_room(source, tmp_path, record_property):
    may_mount = subprocess.run([*UNSHARE, "mount", "-t", "tmpfs", "tmpfs", tmp_path], capture_output=True)
    if may_mount.returncode != 0:
        skip_or_fail("mounting is not permitted", "allow user namespaces")
    largest = 3 * source.store.stat().st_size // 1024
    sizes = range(8, largest, largest // (60 if FULL else 4))
    command = [*UNSHARE, sys.executable, Path(__file__).with_name("full_disk.py")]
    command += [tmp_path, source.records, source.store, *map(str, sizes)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    failed = int(done.stdout)
    assert failed > 0
    record_property("full disk", f"{len(sizes)} sizes: {failed} of {5 * len(sizes)} commands failed, all with an error")
