"""The fixtures of the importers, read by the other reader too: formats of which there is no other real file."""

import pytest
import reader
from compare import compare, of
from store import REPOSITORY

FIXTURES = REPOSITORY / "tests/fixtures"

# How to read it, and which: what was made by the tools as it is, not what was damaged by hand.
SOURCES = [
    (reader.amun, "amun/inspection-*"),
    (reader.amun, "amun/old.json"),
    (reader.amun, "amun/single.json"),
    (reader.asv, "asv-*/results/*/????????-*.json"),
    (reader.asv_text, "asv-text-*/compare.txt"),
    (reader.benchmarkdotnet, "benchmarkdotnet-*/full.json"),
    (reader.benchmarkdotnet, "benchmarkdotnet-*/brief.json"),
    (reader.benchmarkjs, "benchmarkjs-*/suite.txt"),
    (reader.bmf, "bmf/results.json"),
    (reader.catch2_text, "catch2-text-*/[bn]*s.txt"),
    (reader.coiled, "coiled/benchmark.db"),
    (reader.coiled, "coiled/old.db"),
    (reader.conbench, "conbench-*/get.json"),
    (reader.conbench, "conbench-*/result*.json"),
    (reader.criterion, "criterion-0.3.0/results"),
    (reader.criterion, "criterion-0.8.2/baselines"),
    (reader.criterion, "criterion-0.8.2/quick"),
    (reader.criterion_text, "criterion-text-*/second-run.txt"),
    (reader.divan, "divan-*/t*e.txt"),
    (reader.github_action, "github-action-benchmark-1/data.js"),
    (reader.github_action, "github-action-benchmark-1/smaller.json"),
    (reader.go, "go-*/count.txt"),
    (reader.go, "go-*/packages.txt"),
    (reader.go, "go-*/processes.txt"),
    (reader.go, "go-*/settings.txt"),
    (reader.go, "go-*/verbose.txt"),
    (reader.google_benchmark, "google-benchmark-*/[air]*.json"),
    (reader.google_benchmark, "google-benchmark-*/memory.json"),
    (reader.google_benchmark, "google-benchmark-*/once.json"),
    (reader.google_benchmark, "google-benchmark-*/skipped.json"),
    (reader.google_benchmark, "google-benchmark-*/complexity.json"),
    (reader.hail, "hail/results.jsonl"),
    (reader.hyperfine, "hyperfine-*/failures.json"),
    (reader.hyperfine, "hyperfine-*/parameters.json"),
    (reader.hyperfine, "hyperfine-*/two-commands.json"),
    (reader.jmh, "jmh-*/gaps.json"),
    (reader.jmh, "jmh-*/modes.json"),
    (reader.junit, "junit/pytest-*.xml"),
    (reader.libtest, "libtest-*/bench.txt"),
    (reader.libtest, "libtest-*/criterion-bencher.txt"),
    (reader.pyperf, "pyperf-*/[cims]*.json"),
    (reader.pyperf, "pyperf-*/timeit.json.gz"),
    (reader.pytest_benchmark, "pytest-benchmark-*/data.json"),
    (reader.pytest_benchmark, "pytest-benchmark-*/cprofile.json"),
    (reader.pytest_benchmark, "pytest-benchmark-*/no-repository.json"),
    (reader.pytest_benchmark, "pytest-benchmark-*/storage/**/*.json"),
    (reader.rebar, "rebar/*/*.csv"),
    (reader.vitest, "vitest-*/report.json"),
]
CASES = [(read, path) for read, pattern in SOURCES for path in sorted(FIXTURES.glob(pattern))]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case[1].relative_to(FIXTURES)))
def test_a_fixture_gives_what_another_reader_finds(case, store):
    read, path = case
    said = store.take(path)
    assert said.returncode == 0, said.stderr
    compare(of(store.instances_of_files(), path), read(path))


@pytest.mark.parametrize("pattern", [pattern for _, pattern in SOURCES])
def test_every_pattern_finds_a_fixture(pattern):
    assert list(FIXTURES.glob(pattern))
