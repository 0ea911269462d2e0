"""What the program makes of the records, and of the same run written as Hail writes it."""

import json
import subprocess

# Benchmarks of every kind of end, measured as Hail measures them.
HAIL = """
    import itertools, time, pytest
    turn = itertools.count()

    @pytest.mark.lapwing
    def test_steady():
        time.sleep(0.001)

    @pytest.mark.lapwing
    def test_sometimes():
        if next(turn) in (1, 2, 5):
            raise ValueError("now and then")

    @pytest.mark.lapwing
    def test_never():
        raise RuntimeError("broken")

    @pytest.mark.lapwing
    @pytest.mark.parametrize("n", [10, 100])
    def test_slow(n):
        time.sleep(0.001 if n == 10 else 10)

    @pytest.mark.skip
    @pytest.mark.lapwing
    def test_skipped():
        pass
"""

# Writes what Hail's runner would have written of the same calls.
CONFTEST = """
import json, platform, traceback, datetime
import pytest
from pytest_lapwing.timing import TimeLimitExceeded

ITEMS = {}


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat()


def pytest_runtest_logstart(nodeid, location):
    path, _, name = location
    ITEMS[nodeid] = {"path": path, "name": name, "version": "1.0-0123456789ab", "platform": platform.platform(),
                     "python": "CPython " + platform.python_version(), "start": now(), "iterations": []}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call":
        iterations = ITEMS[item.nodeid]["iterations"]
        burn_in = len(iterations) < item.config.getoption("lapwing_burn_in")
        it = {"is_burn_in": burn_in, "timed_out": False, "task_memory": 0}
        if call.excinfo is None:
            from pytest_lapwing.visit import VISIT
            it["time"] = item.stash[VISIT].stopwatch.elapsed / 1e9
        else:
            it["failure"] = json.dumps("".join(traceback.format_exception(None, call.excinfo.value, None)))
            if isinstance(call.excinfo.value, TimeLimitExceeded):
                it.update(time=0.3, timed_out=True)
        iterations.append(it)
    return report


def pytest_runtest_logfinish(nodeid):
    ITEMS[nodeid]["end"] = now()


def pytest_sessionfinish(session):
    with open("hail.jsonl", "w") as file:
        for it in ITEMS.values():
            print(json.dumps(it), file=file)


def pytest_configure(config):
    config.option.lapwing_burn_in = int(config.option.lapwing_burn_in or 0)
"""


def lapwing_rows(lapwing, folder, path):
    """Imports a file into a store of its own, and returns what matters of each iteration."""
    store = ["--store", str(folder / f"{path.stem}.db")]
    subprocess.run([lapwing, *store, "import", str(path)], cwd=folder, check=True, capture_output=True)
    exported = subprocess.run([lapwing, *store, "export", "--to", "json"], check=True, capture_output=True, text=True)
    rows = []
    for row in json.loads(exported.stdout):
        wall_time = row.get("metrics", {}).get("wall_time")
        rows.append((row["benchmark"], row["index"], row["burn_in"], row["outcome"], wall_time))
    return sorted(rows, key=lambda row: row[:2])


def test_a_run_imports_as_what_hail_would_have_written_of_it(suite, lapwing):
    (suite.path / "conftest.py").write_text(CONFTEST)
    suite.write(HAIL)
    options = ["--lapwing-burn-in=2", "--lapwing-iterations=5", "--lapwing-time-limit=0.3", "--lapwing-max-failures=3"]
    records = suite.passes(*options, passed=2, failed=3, skipped=1)
    assert len(records.of("instance")) == 6
    own = lapwing_rows(lapwing, suite.path, suite.output)
    assert own == lapwing_rows(lapwing, suite.path, suite.path / "hail.jsonl")
    outcomes = [row[3] for row in own]
    assert [outcomes.count(it) for it in ("ok", "failed", "timed_out")] == [7 + 4 + 7, 3 + 3, 3]
    assert sum(row[2] for row in own) == 2 * 5


def test_the_program_takes_in_what_lies_in_the_inbox_and_shows_it(suite, lapwing):
    suite.ini("markers = shuffle: ", "lapwing_suite = made-up", "lapwing_variant = p2p")
    suite.write("""
    import pytest

    @pytest.mark.shuffle
    @pytest.mark.lapwing(burn_in=1, iterations=4)
    def test_it(benchmark_record):
        benchmark_record.record("rows", 5, unit="1", better="higher")

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_other():
        pass
    """)
    for _ in range(3):
        result = suite.pytester.runpytest_inprocess("--lapwing", "-p", "no:cacheprovider")
        result.assert_outcomes(passed=2)

    def call(*arguments):
        done = subprocess.run([lapwing, *arguments], cwd=suite.path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    rows = json.loads(call("export", "--to", "json", "--tag", "shuffle"))
    assert {row["benchmark"] for row in rows} == {"test_it.py::test_it"}
    assert len(rows) == 15 and all(row["variant"] == "p2p" and row["suite"] == "made-up" for row in rows)
    assert "rows" in call("list", "metrics")
    assert list((suite.path / ".lapwing" / "inbox").iterdir()) == []
    call("report", "-o", "pages")
    assert (suite.path / "pages" / "index.html").is_file()
