"""The commands on a disk that is full. `test_full_disk.py` starts it where it may mount one.

usage: full_disk.py FOLDER RECORDS STORE KIB…
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from conftest import Lapwing  # noqa: E402


def mount(disk, options):
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], check=True)


def attempt(disk, kib, source, records):
    """Returns how many commands failed on a disk of that size; the same ones work once there is room."""
    mount(disk, f"size={kib}k")
    failed = 0
    program = Lapwing(disk / "lapwing.db", cwd=disk.parent)
    # An import is complete or has no effect.
    failed += "error" in program.run("import", records, codes=(0, 2))
    # What a run cannot store is an error, and nothing hangs.
    executed = disk.parent / "executed"
    executed.write_text("")
    said = program.run("--quiet", "run", "--instances", "3", "--iterations", "40", "--", f"echo >> {executed}", codes=(0, 2))
    failed += "error" in said
    out = disk / "out.jsonl"
    source_program = Lapwing(source, cwd=disk.parent)
    failed += "error" in source_program.run("export", "--to", "record", "-o", out, codes=(0, 2))
    exported = out.is_file()
    failed += "error" in source_program.run("db", "push", disk / "shared", codes=(0, 2))
    failed += "error" in source_program.run("db", "rescue", source, "-o", disk / "new.db", codes=(0, 2))
    mount(disk, "remount,size=256m")
    expected = source_program.lines()
    if exported:
        assert set(out.read_text().removesuffix("\n").split("\n")) == expected
    # Recovers what the run left in the inbox.
    program.run("list", "sessions")
    program.run("db", "check")
    stored = program.query("SELECT count(*) FROM iterations WHERE suite <> 's'")
    missing = executed.read_text().count("\n") - stored
    assert missing <= 1 or "error" in said, f"{missing} lost in silence: {said}"
    there = program.query("SELECT count(*) FROM iterations WHERE suite = 's'")
    assert there in (0, source_program.query("SELECT count(*) FROM iterations")), there
    program.run("import", records)
    assert program.lines() >= expected
    source_program.run("db", "push", disk / "shared")
    reader = Lapwing(disk / "reader.db")
    reader.run("db", "pull", disk / "shared")
    assert reader.lines() == expected
    subprocess.run(["umount", disk], check=True)
    return failed


def main(folder, records, store, sizes):
    disk = Path(folder) / "disk"
    disk.mkdir()
    failed = 0
    for kib in sizes:
        # Pushing is remembered by the store.
        source = Path(folder) / "source.db"
        source.write_bytes(Path(store).read_bytes())
        failed += attempt(disk, kib, source, Path(records))
    print(failed)


if __name__ == "__main__":
    main(*sys.argv[1:4], [int(kib) for kib in sys.argv[4:]])
