"""Which of the reference files are of which format.

The files are not part of the repository: they are in the folder named by `LAPWING_REFERENCE_DATA`,
or in `shared/data` beside the repository.
"""

import os
import pathlib
import tarfile
from dataclasses import dataclass
from typing import Callable

import reader
from store import REPOSITORY

DATA = pathlib.Path(os.environ.get("LAPWING_REFERENCE_DATA", REPOSITORY.parent / "shared/data")).absolute()
MISSING = f"reference data not found in {DATA}", "name their folder in LAPWING_REFERENCE_DATA"

# Format, how to read it, where its files are. A criterion result is a folder.
FORMATS = [
    ("amun", reader.amun, ["thoth/inspection-*"]),
    ("asv", reader.asv, ["A_history/asv_example/cheetah/????????-*.json", "B_formats/asv/*_one_commit.json"]),
    ("benchmarkjs", reader.benchmarkjs, ["B_formats/benchmarkjs/*.txt"]),
    ("benchmarktools", reader.benchmarktools, ["B_formats/julia/*.json"]),
    ("benchmarkdotnet", reader.benchmarkdotnet, ["B_formats/benchmarkdotnet/*.json"]),
    ("catch2-text", reader.catch2_text, ["B_formats/catch2/*.txt"]),
    ("coiled", reader.coiled, ["coiled/*.db"]),
    ("conbench", reader.conbench_comparisons, ["B_formats/conbench/*_compare_*.json"]),
    ("criterion", reader.criterion, ["B_formats/criterion"]),
    ("csv", reader.history, ["A_history/otava/*[!h].csv", "A_history/conbench/*.csv", "A_history/*_series.csv"]),
    ("csv", reader.ripgrep, ["A_history/ripgrep_benchsuite/*.csv"]),
    ("csv", reader.pa, ["B_samples/*/*.pa.csv", "B_samples/laaber_go_pa/*_benchmarks.csv"]),
    ("csv", reader.published, ["B_samples/laaber_go_pa/published_*.csv"]),
    ("github-action", reader.github_action, ["B_formats/custom/*.json"]),
    ("go", reader.go, ["A_history/go_bent_plain/*.txt", "B_formats/go-bench/*.txt"]),
    ("google-benchmark", reader.google_benchmark, ["B_formats/google-benchmark/*"]),
    ("hail", reader.hail, ["B_samples/hail_jsonl/*.jsonl", "hail/benchmarks.jsonl.gz"]),
    ("hyperfine", reader.hyperfine, ["B_formats/hyperfine/*.json"]),
    ("jmh", reader.jmh, ["B_formats/jmh/*.json"]),
    ("junit", reader.junit, ["B_formats/junit/*.xml"]),
    ("libtest", reader.libtest, ["B_formats/libtest/*.txt"]),
    ("lnt", reader.lnt, ["B_formats/lnt/*nts-run1.json"]),
    ("pyperf", reader.pyperf, ["B_formats/pyperf/*"]),
    ("pytest-benchmark", reader.pytest_benchmark, ["B_formats/pytest-benchmark/**/*.json"]),
    ("rebar", reader.rebar, ["A_history/rebar/*/*.csv"]),
    ("runs", reader.runs, ["C_factors/parsl/*.csv"]),
    ("vitest", reader.vitest, ["B_formats/vitest/*.json"]),
]

# Traces of task graphs, which have tests of their own.
TRACES = [
    ("dask", "D_traces/dask/*.json"),
    ("earthkit", "D_traces/earthkit/*.jsonl"),
    ("earthkit", "earthkit/*.jsonl"),
    ("earthkit", "earthkit/real/*.log"),
    ("parsl", "parsl/*.db"),
    ("wfcommons", "D_traces/wfcommons/*.json"),
]

# Tables of results of analyses and of a database, which are read as any other.
# One has the rows of another with a column more, and one is the progress of `asv run`, which the other reader does not read.
TABLES = [
    "coiled/*.csv",
    "hail/*.csv",
    "hail/*.tsv",
    "A_history/otava/sample_multi_branch.csv",
    "B_formats/asv-text/*.txt",
]

# Histories that are packed: the archive, and the pattern of the result files in it.
ARCHIVES = [
    ("asv", reader.asv, "A_history/scipy_asv_atom.tar.xz", "results/atom/????????-*.json"),
    ("go", reader.go, "A_history/go_bent_even.tar.xz", "go_bent/*-opt.*"),
]

# Named like results of asv, but made to be ignored by it: one is no JSON, one has no results.
NO_RESULTS = {
    "A_history/asv_example/cheetah/aaaaaaaa-py2.7-Cython-numpy1.8.json",
    "A_history/asv_example/cheetah/bbbbbbbb-py2.7-Cython-numpy1.8.json",
}


@dataclass(frozen=True)
class Source:
    """A file (or a folder) of results and the function that reads it."""

    format: str
    path: pathlib.Path
    read: Callable

    def __str__(self):
        return str(self.path.relative_to(DATA))


def sources():
    found = [
        Source(name, path, read)
        for name, read, patterns in FORMATS
        for pattern in patterns
        for path in sorted(DATA.glob(pattern))
    ]
    return [it for it in found if str(it) not in NO_RESULTS]


def traces():
    return [(name, path) for name, pattern in TRACES for path in sorted(DATA.glob(pattern))]


def tables():
    return [path for pattern in TABLES for path in DATA.glob(pattern)]


def others():
    """Every file that is of none of the formats, or only goes with one that is."""
    taken = [it.path for it in sources()] + [path for _, path in traces()]
    taken += tables()
    return [
        path
        for path in sorted(DATA.rglob("*"))
        if path.is_file() and not any(path == it or it in path.parents for it in taken)
    ]


def unpack(archive, folder):
    with tarfile.open(DATA / archive) as packed:
        packed.extractall(folder, filter="data")
