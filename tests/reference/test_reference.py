"""Every real file imports as another reader reads it; what is of no known format is refused."""

import collections
import gzip
import shutil
import subprocess

import needs
import pytest
import reader
from catalogue import ARCHIVES, DATA, FORMATS, MISSING, others, sources, tables, unpack
from compare import compare, of
from store import Store

if not DATA.is_dir():
    needs.skip_or_fail(*MISSING)

SOURCES = sources()
FOLDERS = collections.defaultdict(list)
for each in SOURCES:
    FOLDERS[each.path.parent].append(each)

# One of each kind of result that resembles one that is read.
OF_OTHER_FORMATS = [
    "B_formats/go-bench/perf__crcIgnore.stdout",
    "B_formats/iai-gungraun/bencher__two.txt",
    "B_formats/lnt/llvm-lnt__sample-report1.json",
    "B_samples/laaber_go_ab/122250_c1.raw.csv",
    "steady_state/steady_state_forks.jsonl.gz",
]


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


@pytest.mark.parametrize("pattern", [pattern for _, _, patterns in FORMATS for pattern in patterns])
def test_every_pattern_finds_a_file(pattern):
    assert list(DATA.glob(pattern))


@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_a_file_gives_what_another_reader_finds(source, imported):
    _, said, files = imported(source.path.parent, FOLDERS[source.path.parent])
    # Some of these files are copies of others in all but a key, which a note says.
    lines = [line for line in said.stderr.splitlines() if not line.startswith("note: session")]
    complaint = [line for line in lines if str(source.path) in line]
    assert complaint == []
    compare(of(files, source.path), source.read(source.path))


def test_text_beside_a_folder_of_results_is_read_by_itself(store):
    path = DATA / "B_formats/criterion/bencher__many.txt"
    assert store.take(path).returncode == 0
    compare(of(store.instances_of_files(), path), reader.criterion_text(path))


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda it: it[2])
def test_a_packed_history_gives_what_another_reader_finds(archive, store, tmp_path):
    _, read, packed, pattern = archive
    unpack(packed, tmp_path / "unpacked")
    results = sorted((tmp_path / "unpacked").glob(pattern))
    assert results
    said = store.take(*results)
    assert (said.returncode, said.stderr) == (0, "")
    sessions = store.instances_of_sessions()
    assert sum(map(len, sessions.values())) == store.rows()["instances"]
    differing = {}
    for path in results:
        try:
            compare(sessions[path.name.removesuffix(".json")], read(path))
        except (AssertionError, ValueError) as difference:
            differing[path.name] = difference
    first = next(iter(differing.items()), None)
    assert not differing, f"{len(differing)} of {len(results)} files differ, the first: {first}"


@pytest.mark.parametrize("folder", ["A_history", "B_formats", "B_samples"])
def test_a_whole_directory_gives_what_its_files_give(folder, store):
    said = store.take(DATA / folder)
    assert said.returncode == 0, said.stderr
    files = store.instances_of_files()
    below = [it for it in SOURCES if DATA / folder in it.path.parents]
    for source in below:
        compare(of(files, source.path), source.read(source.path))
    of_tables = [it for it in tables() if DATA / folder in it.parents]
    known = [it.path for it in below] + of_tables
    assert sum(map(len, files.values())) == sum(len(of(files, it)) for it in known)


def copy_again(path, folder):
    copy = folder / path.name
    if path.is_dir():
        shutil.copytree(path, copy)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return copy


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda it: str(it.relative_to(DATA)))
def test_the_same_files_elsewhere_say_nothing_new(folder, imported, tmp_path):
    store, _, _ = imported(folder, FOLDERS[folder])
    before, records = store.rows(), store.records()
    assert before["instances"] > 0
    copies = [copy_again(source.path, tmp_path / "again" / folder.name) for source in FOLDERS[folder]]
    if (folder.parent / "benchmarks.json").is_file():
        # asv keeps names and units there, for the files of all machines below.
        shutil.copyfile(folder.parent / "benchmarks.json", tmp_path / "again/benchmarks.json")
    said = store.take(*copies)
    assert (said.returncode, said.stderr) == (0, "")
    assert store.rows() == before
    assert store.records() == records


def smallest_of_each_format():
    smallest = {}
    for source in SOURCES:
        if source.path.is_file():
            smallest.setdefault(source.format, []).append(source)
    return [min(its, key=size) for its in smallest.values()]


def size(source):
    """How large a file is, roughly, when it is unpacked."""
    return source.path.stat().st_size * (10 if source.path.suffix == ".gz" else 1)


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
    errors = [line.removeprefix("error: ") for line in said.stderr.splitlines() if line.startswith("error: ")]
    wrong = {}
    for path in strangers:
        told = [error.removeprefix(str(path)) for error in errors if error.startswith(str(path))]
        if not any(reason.startswith(f" {expected_reason(path)}") for reason in told):
            wrong[str(path.relative_to(DATA))] = told
    assert wrong == {}
    assert set(store.rows().values()) == {0}


def expected_reason(path):
    if path.name in ("benchmarks.json", "machine.json"):
        return "goes with the results beside it"
    if path.suffix == ".xz":
        return "is xz-compressed data"
    if path.suffix == ".db":
        return "is an SQLite database of another program"
    if path.stat().st_size == 0:
        return "is empty"
    return "is in none of the formats that can be imported"


@pytest.mark.parametrize("path", OF_OTHER_FORMATS, ids=str)
def test_a_result_of_another_format_is_refused_by_itself_too(path, store):
    said = store.take(DATA / path)
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr.startswith(f"error: {DATA / path} is in none of the formats that can be imported")
    assert set(store.rows().values()) == {0}
