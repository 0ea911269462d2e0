"""Everything that `lapwing run` measures, as jobs of Slurm: tests, indicators, studies, environments, duets."""

import json
import os
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from needs import skip_or_fail

ROOT = Path(__file__).parents[2]
PYTHON = Path(os.environ.get("LAPWING_PYTEST_PYTHON", ROOT / "target/venv-lapwing/bin/python"))

SLURM = """
[executor.slurm]
exclusive = false
memory = "300M"
"""


def are_fine(instances, count):
    """Checks that so many instances were measured well, as jobs."""
    assert len(instances) == count
    for it in instances:
        assert it["end"]["outcome"] == "ok" and it["host"] in ("n1", "n2")
        assert {"batch_id", "job_id", "array_index", "partition"} <= it["job"].keys()
        assert it["iterations"] and all(one["outcome"] == "ok" for one in it["iterations"])


DRY = """
suite = "dry"
[defaults]
instances = 12
[executor.slurm]
partition = "small"
time = "5m"
in_flight = 4
[benchmark.a]
command = "true"
[benchmark.b]
command = "true"
"""


def test_a_dry_run_says_how_jobs_would_be_submitted_and_submits_none(cluster, client):
    client = client(DRY)
    before = cluster.run("squeue", "--noheader", "--array", "--name=lapwing-SESSION-1")
    said = client.run("run", "--executor", "slurm", "--dry-run")
    assert "would be submitted as 24 jobs, at most 4 at the same time:" in said
    assert "--array=0-23%4" in said
    assert "--partition=small --time=00:05:00 --exclusive" in said
    assert ".lapwing/cluster/SESSION" in said
    spread = client.run("run", "--executor", "slurm", "--dry-run", "--cluster", "spread=yes exclusive=no")
    assert "24 jobs in 2 batches of up to 12, over 2 nodes" in spread
    assert "--nodelist=n1" in spread and "--exclusive" not in spread
    assert before == "" and not (client.folder / ".lapwing").exists()


def test_nothing_is_left_of_a_session_that_slurm_refuses(client):
    client = client(DRY)
    said = client.run("run", "--executor", "slurm", "--cluster", "options=--partition=absent", codes=(2,))
    assert "invalid partition specified: absent" in said
    assert "no job was submitted, and nothing was stored" in said
    assert json.loads(client.run("list", "sessions", "--format", "json"))["sessions"] == []
    assert not any(client.folder.glob(".lapwing/cluster/*"))
    assert not any(client.folder.glob(".lapwing/inbox/*"))


TESTS = f"""
suite = "tests"
[benchmark.tests]
pytest = "."
python = "{PYTHON}"
instances = 2
{SLURM}"""

TEST = """
def test_sum(benchmark_record):
    benchmark_record.record("total", sum(range(10)))
"""


def test_tests_of_pytest_are_measured_on_nodes(client):
    if not PYTHON.is_file():
        skip_or_fail(f"{PYTHON} not found", "`./test` installs one, or name one in LAPWING_PYTEST_PYTHON")
    client = client(TESTS)
    (client.folder / "test_a.py").write_text(TEST)
    client.run("run", "--executor", "slurm", "--name", "tests")
    instances = client.instances("tests")
    are_fine(instances, 2)
    assert {it["benchmark"]["id"] for it in instances} == {"test_a.py::test_sum"}
    assert {one["metrics"]["total"] for it in instances for one in it["iterations"]} == {45}


INDICATOR = """#!/bin/sh
echo '{"name": "Copy", "framework": "cat", "@parameters": {"size": 8}, "@result": {"elapsed": 0.5},
"@metrics": {"elapsed": {"unit": "s", "better": "lower"}}}'
"""


def test_an_indicator_is_measured_on_nodes(client):
    client = client(f'suite = "any"\n[benchmark.a]\ncommand = "true"\n{SLURM}')
    script = client.folder / "copy"
    script.write_text(INDICATOR)
    script.chmod(0o755)
    client.run("indicator", "run", "copy", "--executor", "slurm", "-n", "3", "-i", "2", "--name", "copy")
    instances = client.instances("copy")
    are_fine(instances, 3)
    assert {one["metrics"]["elapsed"] for it in instances for one in it["iterations"]} == {0.5}


STUDY = f"""
suite = "study"
[benchmark.a]
command = "echo $QUIET $WORKERS >> executed"
burn_in = 0
iterations = 1
[factor.quiet]
apply.env.QUIET = "yes"
[factor.workers]
levels = [1, 2]
apply.env.WORKERS = "{{level}}"
{SLURM}"""


def test_a_study_is_measured_on_nodes(client):
    client = client(STUDY)
    client.run("study", "design", "--kind", "full", "--replicates", "2")
    client.run("study", "run", "--executor", "slurm", "--name", "study")
    are_fine(client.instances("study"), 8)
    assert Counter(client.executed()) == {"yes 1": 2, "yes 2": 2, "1": 2, "2": 2}


def wheel(folder, version):
    """Makes a wheel of `alpha`, and returns its requirement."""
    info = f"alpha-{version}.dist-info"
    files = {
        "alpha.py": f"VALUE = {version}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: alpha\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{it},,\n" for it in [*files, f"{info}/RECORD"])
    path = folder / f"alpha-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return f"alpha @ {path.as_uri()}"


def test_variants_with_python_environments_are_measured_on_nodes(client, tmp_path, monkeypatch):
    suite = f"""
suite = "environments"
[benchmark.a]
command = ["python", "-c", "import alpha; print('{{\\"value\\": %s}}' % alpha.VALUE)"]
metrics = "json"
burn_in = 0
iterations = 1
instances = 2
[variant.old]
python = ["{wheel(tmp_path, "1.0")}"]
[variant.new]
python = ["{wheel(tmp_path, "2.0")}"]
{SLURM}"""
    client = client(suite)
    monkeypatch.setitem(client.cluster.environment, "XDG_CACHE_HOME", str(tmp_path / "cache"))
    client.run("run", "--executor", "slurm", "--aa", "--name", "environments")
    are_fine(client.instances("environments"), 6)
    records = client.records("environments")
    runs = {it["id"]: it["variant"] for it in records["run"]}
    of = {it["id"]: runs[it["run"]] for it in records["instance"]}
    values = {(of[it["instance"]], it["metrics"]["value"]) for it in records["iteration"]}
    assert values == {("old", 1), ("new", 2), ("aa-control", 1)}


def test_the_halves_of_a_duet_are_one_job(client):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("a duet needs two cores")
    client = client(f'suite = "duet"\n[benchmark.a]\ncommand = "sleep 0.01"\n[variant.one]\n[variant.two]\n{SLURM}')
    client.run("run", "--executor", "slurm", "--duet", "-n", "3", "-i", "2", "--name", "duet")
    instances = client.instances("duet")
    are_fine(instances, 6)
    jobs = Counter(it["job"]["job_id"] for it in instances)
    assert len(jobs) == 3 and set(jobs.values()) == {2}
    partners = {it["id"]: it["attributes"]["duet"]["partner"] for it in instances}
    assert all(partners[partners[it]] == it for it in partners)


MEASURED = f"""
suite = "measured"
[defaults]
instances = 8
burn_in = 0
iterations = 8
[benchmark.a]
command = "true"
[benchmark.b]
command = ["true"]
[benchmark.c]
command = "true; true"
{SLURM}"""


def test_a_simulation_on_nodes_gives_the_numbers_of_one_machine(cluster, client):
    client = client(MEASURED)
    client.run("run", "--name", "measured")
    mds = ["mds", "--full", "--grid=instances=2,4 iterations=2,4", "--experiments=120", "--replicates=50", "--format=json"]
    plan = ["plan", "--slowdown=20%", "--power=80%", "--experiments=120", "--format=json"]
    for command, jobs in [(mds, ["--cluster=jobs=5"]), (plan, [])]:
        # On a busy machine no plan detects that: exit code 3.
        here = json.loads(client.run(*command, codes=(0, 3)))
        there = json.loads(client.run("--quiet", *command, "--executor", "slurm", *jobs, codes=(0, 3)))
        assert here.pop("command") != there.pop("command")
        assert there == here
    assert not any(client.folder.glob(".lapwing/cluster/*"))


LEVELS = f"""
suite = "levels"
[benchmark.cost]
command = "sh program"
metrics = "json"
burn_in = 0
iterations = 1
{SLURM}"""

# Prints the level of the commit plus noise.
PROGRAM = """echo "{\\"cost\\": $(( $(cat level) + $(od -An -N1 -tu1 /dev/urandom) ))}"\n"""


def test_a_bisection_measures_commits_on_nodes_and_is_resumed(cluster, client, tmp_path, monkeypatch):
    client = client(LEVELS)
    monkeypatch.setitem(cluster.environment, "XDG_CACHE_HOME", str(tmp_path / "cache"))
    git = lambda *words: cluster.run(
        "git", "-C", tmp_path, "-c", "user.name=T", "-c", "user.email=t@example.org", *words
    )
    git("init", "--quiet")
    (tmp_path / ".gitignore").write_text("*\n!program\n!level\n!number\n")
    (tmp_path / "program").write_text(PROGRAM)
    for number in range(12):
        (tmp_path / "number").write_text(str(number))
        (tmp_path / "level").write_text("1000" if number < 7 else "3000")
        git("add", ".")
        git("commit", "--quiet", "-m", f"change {number}")
        git("tag", f"c{number}")
    process = client.start(
        *("bisect", "c0", "c11", "--metric", "cost", "--executor", "slurm", "--name", "search", "--format", "json")
    )
    cluster.wait_for(lambda: list(tmp_path.glob(".lapwing/cluster/*/records/1-*.jsonl")))
    client.interrupt(process)
    client.finish(process, codes=(130,))
    said = client.run("--quiet", "bisect", "--resume", "search", "--metric", "cost", "--format", "json")
    assert json.loads(said)["benchmarks"][0]["found"] == [git("rev-parse", "c7").strip()]
    instances = [it for it in client.instances("search") if it["end"]["outcome"] == "ok"]
    are_fine(instances, len(instances))
    assert not any(tmp_path.glob(".lapwing/cluster/*"))
