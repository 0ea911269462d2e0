"""Every real file imports as another reader reads it; what is of no known format is refused."""

import collections
import gzip
import math
import shutil
import subprocess
from dataclasses import asdict

import pytest
from catalogue import ARCHIVES, DATA, FORMATS, MISSING, Source, others, sources, unpack
from reader import counts, instances_of_each_benchmark
from store import Store

if not DATA.is_dir():
    pytest.skip(MISSING, allow_module_level=True)

SOURCES = sources()
FOLDERS = collections.defaultdict(list)
for each in SOURCES:
    FOLDERS[each.path.parent].append(each)

# What has the same name and unit everywhere, and so must have the same values.
METRICS = ("wall_time", "cpu_time", "user_time", "system_time", "peak_memory", "throughput", "task_memory")


def samples(instances):
    """The samples of each instance in their order; the instances in an order that names play no part in."""
    return sorted(
        [(it.burn_in, it.outcome, *(it.values.get(metric, -1.0) for metric in METRICS)) for it in instance.iterations]
        for instance in instances
    )


def close(ours, theirs):
    return ours == theirs or (
        isinstance(ours, float) and isinstance(theirs, float) and math.isclose(ours, theirs, rel_tol=1e-12)
    )


def compare_samples(ours, theirs):
    for our, their in zip(samples(ours), samples(theirs), strict=True):
        for k, (mine, expected) in enumerate(zip(our, their, strict=True)):
            assert all(map(close, mine, expected)), f"iteration {k}: {mine} instead of {expected}"


def compare_summaries(ours, theirs):
    for metric in METRICS:
        found, expected = (
            [it.summaries[metric] for it in side if metric in it.summaries] for side in (ours, theirs)
        )
        assert len(found) == len(expected), f"instances with a summary of {metric}"
        if not expected:
            continue
        common = set.intersection(*map(set, found), *map(set, expected))
        if all(set(it) == {"value"} for it in expected):
            # The source does not say what its one number is; the importer may know it.
            pairs = [(name, "value") for name in sorted(set.intersection(*map(set, found)))]
        else:
            pairs = [(name, name) for name in sorted(common)]
        assert pairs, f"no statistic of {metric} in common: {found[0]} and {expected[0]}"
        for name, their_name in pairs:
            centres = zip(sorted(it[name] for it in found), sorted(it[their_name] for it in expected), strict=True)
            for mine, his in centres:
                assert close(float(mine), float(his)), f"{name} of {metric}: {mine} instead of {his}"


def compare(ours, theirs):
    found, expected = asdict(counts(ours)), asdict(counts(theirs))
    differing = {name: f"{found[name]} instead of {expected[name]}" for name in found if found[name] != expected[name]}
    assert not differing
    assert instances_of_each_benchmark(ours) == instances_of_each_benchmark(theirs)
    compare_samples(ours, theirs)
    compare_summaries(ours, theirs)


def of(files, path):
    """The instances of a file, or of all files of a folder."""
    return [it for name, its in files.items() if name == str(path) or name.startswith(f"{path}/") for it in its]


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """Imports all results of a folder in one call, once."""
    known = {}

    def of_folder(folder, results):
        if folder not in known:
            store = Store(tmp_path_factory.mktemp("folder") / "lapwing.db")
            said = store.take(*(it.path for it in results))
            known[folder] = store, said, store.instances_of_files()
        return known[folder]

    return of_folder


@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_a_file_gives_what_another_reader_finds(source, imported):
    _, said, files = imported(source.path.parent, FOLDERS[source.path.parent])
    complaint = [line for line in said.stderr.splitlines() if str(source.path) in line]
    assert complaint == []
    compare(of(files, source.path), source.read(source.path))


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda it: it[2])
def test_a_packed_history_gives_what_another_reader_finds(archive, store, tmp_path):
    name, read, packed, pattern = archive
    unpack(packed, tmp_path / "unpacked")
    results = sorted((tmp_path / "unpacked").glob(pattern))
    assert results
    said = store.take(tmp_path / "unpacked")
    assert said.returncode == 0, said.stderr
    files = store.instances_of_files()
    differing = {}
    for path in results:
        try:
            compare(of(files, path), read(path))
        except (AssertionError, ValueError) as difference:
            differing[path.name] = difference
    first = next(iter(differing.items()), None)
    assert not differing, f"{len(differing)} of {len(results)} files differ, the first: {first}"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda it: str(it.relative_to(DATA)))
def test_the_same_files_under_other_names_say_nothing_new(folder, imported, tmp_path):
    store, _, _ = imported(folder, FOLDERS[folder])
    before, records = store.rows(), store.records()
    assert before["iteration"] == before["iterations"]
    assert before["instance"] == before["instances"] > 0
    copies = []
    for source in FOLDERS[folder]:
        copy = tmp_path / "again" / f"{source.path.name.partition('.')[0]}-again{''.join(source.path.suffixes)}"
        if source.path.is_dir():
            shutil.copytree(source.path, copy)
        else:
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(source.path, copy)
        copies.append(copy)
    for beside in ("benchmarks.json", "machine.json"):
        for place in (folder, folder.parent):
            if (place / beside).is_file() and not (tmp_path / "again" / beside).exists():
                shutil.copyfile(place / beside, tmp_path / "again" / beside)
    said = store.take(*copies)
    assert (said.returncode, said.stderr) == (0, "")
    assert store.rows() == before
    assert store.records() == records


def smallest_of_each_format():
    smallest = {}
    for source in SOURCES:
        if source.path.is_file():
            smallest.setdefault(source.format, []).append(source)
    return [min(its, key=lambda it: it.path.stat().st_size) for its in smallest.values()]


@pytest.mark.parametrize("source", smallest_of_each_format(), ids=str)
def test_a_compressed_file_gives_the_same(source, store, tmp_path):
    plain = source.path.read_bytes()
    if source.path.suffix == ".gz":
        plain = gzip.decompress(plain)
    name = source.path.name.removesuffix(".gz")
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(plain))
    said = store.take(tmp_path / f"{name}.gz")
    assert (said.returncode, said.stderr) == (0, "")
    compare(of(store.instances_of_files(), tmp_path / f"{name}.gz"), source.read(source.path))

    records = store.records()
    (tmp_path / name).write_bytes(plain)
    subprocess.run(["zstd", "--quiet", tmp_path / name, "-o", tmp_path / f"{name}.zst"], check=True)
    said = store.take(tmp_path / name, tmp_path / f"{name}.zst")
    assert (said.returncode, said.stderr) == (0, "")
    assert store.records() == records


def test_every_other_file_is_refused_and_changes_nothing(store):
    strangers = others()
    said = store.take(*strangers)
    assert said.returncode == 2
    lines = said.stderr.splitlines()
    wrong = [
        str(path.relative_to(DATA))
        for path in strangers
        if not any(line.startswith(f"error: {path} is in none of the formats") for line in lines)
    ]
    assert set(store.rows().values()) == {0}
    assert wrong == []
