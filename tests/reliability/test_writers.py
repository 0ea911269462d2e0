"""Whatever a writer writes, every reader reads: random programs are measured by the runner and the plugin.

The importers have the same property in `crates/formats/tests/integration/readers.rs`.
"""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

from conftest import FULL, ROOT, Lapwing
from needs import skip_or_fail

# What a measured program prints, chosen by its seed: numbers, names and texts that readers may stumble over.
NOISE = r'''
import os, random, sys

chance = random.Random(int(sys.argv[1]) * 1000 + os.getpid() % 7)
NUMBERS = ["0", "-0.0", "-1", "1e-320", "1e308", "1e999", "NaN", "-Infinity", "18446744073709551616", "null", "1.5"]
NAMES = ["wall_time", "user_time", "peak_memory", "", "a.b", "%1", "\u202e", "\\u0000", "\\ud800", "\\u001b[31m", "x" * 3000]


def value(depth):
    kind = chance.randrange(8)
    if kind == 0 and depth < 3:
        return "{" + ", ".join(f'"{name()}": {value(depth + 1)}' for _ in range(chance.randrange(4))) + "}"
    if kind == 1:
        return "[" + ", ".join(chance.choice(NUMBERS) for _ in range(chance.randrange(4))) + "]"
    if kind == 2:
        return "[" * 120 + "]" * 120
    if kind == 3:
        return '"' + name() + '"'
    return chance.choice(NUMBERS)


def name():
    return chance.choice(NAMES).replace("%1", str(chance.randrange(1500)))


def document():
    entries = [f'"{name()}": {value(0)}' for _ in range(chance.choice([0, 1, 5, 1200]))]
    if chance.random() < 0.3:
        entries.append(f'"@parameters": {{"{name()}": {value(0)}}}')
    return "{" + ", ".join(entries) + "}"
'''

PROGRAM = NOISE + r'''
out = document()
if chance.random() < 0.3 and "LAPWING_METRICS" in os.environ:
    open(os.environ["LAPWING_METRICS"], "w", encoding="utf-8", errors="replace").write(out)
else:
    sys.stdout.buffer.write(out.encode(errors="replace"))
sys.stderr.buffer.write(chance.randbytes(chance.choice([0, 10, 9000])))
sys.exit(chance.choice([0, 0, 0, 1, 255]))
'''

TESTS = NOISE.replace("int(sys.argv[1]) * 1000 + os.getpid() % 7", "SEED") + r'''
import json, pytest


@pytest.mark.lapwing(burn_in=0, iterations=2)
@pytest.mark.parametrize("text", [name() or "-" for _ in range(10)])
def test_noise(text, benchmark_record):
    for _ in range(chance.choice([1, 1, 5, 1200])):
        number = float(chance.choice([it for it in NUMBERS if it != "null"]))
        unit, better = chance.choice([("s", "lower"), ("1", "higher"), ("\u202e", "lower")])
        try:
            benchmark_record.record(json.loads(f'"{name()}"'), number, unit=unit, better=better)
        except ValueError:
            pass
    if chance.random() < 0.3:
        raise RuntimeError(json.loads(f'"{name()}"'))
'''


def every_reader_reads(program, folder):
    """Returns the number of records, after each reader has read them."""
    expected = program.lines()
    program.run("db", "check")
    program.run("list", "benchmarks")
    program.run("report", "-o", folder / "report", codes=(0, 3))
    program.run("export", "--to", "record", "-o", folder / "all.jsonl")
    program.run("db", "push", folder / "shared")
    for number, command in enumerate([
        ["import", folder / "all.jsonl"],
        ["db", "merge", program.store],
        ["db", "pull", folder / "shared"],
        ["db", "rescue", program.store, "-o", folder / "reader-3.db"],
    ]):
        reader = Lapwing(folder / f"reader-{number}.db")
        said = (program if "rescue" in command else reader).run(*command)
        assert "refused" not in said and "left out" not in said, said
        assert reader.lines() == expected, command
    return len(expected)


def test_what_the_runner_writes(tmp_path, record_property):
    programs = 200 if FULL else 16
    (tmp_path / "noise.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "lapwing.toml").write_text(f"""
suite = "no\\u202eise\\u001b[31m"
[defaults]
instances = 2
burn_in = 1
iterations = 2
max_failures = 100
[benchmark."a\\tb*_"]
command = ["{sys.executable}", "noise.py", "{{seed}}"]
metrics = "json"
params.seed = {list(range(programs))}
tags = ["", "\\u0000"]
""")
    program = Lapwing(tmp_path / ".lapwing/lapwing.db", cwd=tmp_path)
    program.run("--quiet", "run", codes=(0, 4))
    records = every_reader_reads(program, tmp_path)
    record_property("runner", f"{programs} random programs: {records:,} records read by every reader")


def test_what_the_plugin_writes(tmp_path, record_property):
    python = Path(os.environ.get("LAPWING_PYTEST_PYTHON", ROOT / "target/venv-lapwing/bin/python"))
    if not python.exists():
        skip_or_fail("the pytest plugin is not installed", "run ./test")
    files, records = 40 if FULL else 3, 0
    for seed in range(files):
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / "test_noise.py").write_text(TESTS.replace("SEED", str(seed)), encoding="utf-8")
        command = [python, "-m", "pytest", "--lapwing", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", folder]
        environment = {name: it for name, it in os.environ.items() if not name.startswith("PYTEST")}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        program = Lapwing(folder / ".lapwing/lapwing.db", cwd=folder)
        said = program.run("list", "sessions")
        assert "of pytest" in said and "refused" not in said, said
        records += every_reader_reads(program, folder)
        shutil.rmtree(folder)
    record_property("plugin", f"{files} random test files: {records:,} records read by every reader")
