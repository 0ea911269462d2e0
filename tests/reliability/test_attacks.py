"""Attacks through files, stores, repositories and measured programs; what they have in common is that all of it is
others' text. docs/security.md says what is promised."""

import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest
from conftest import FULL, PROGRAM, ROOT, Lapwing

FIXTURES = ROOT / "tests/fixtures"
ESC = "\x1b[2J\x1b]0;title\x07\x9b2J\u202e"
SECRET = "SECRETOFTHISTEST"


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """Keeps what the program remembers of its user in the folder of the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def run(folder, *words, env=None, limit=60):
    """Returns exit code and output; code None if the program hangs."""
    environment = {**os.environ, **(env or {})}
    words = [str(word) for word in words]
    process = subprocess.Popen(
        [PROGRAM, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        said, _ = process.communicate(timeout=limit)
        return process.returncode, said.decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
        return None, said.decode(errors="replace")


def git(folder, *words):
    person = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *person, *words], cwd=folder, check=True, capture_output=True)


def has_no_command(text):
    return not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)


def unfinished(folder, command):
    """Returns the records of a session that was killed, whose plan has this command."""
    folder.mkdir()
    (folder / "lapwing.toml").write_text('[benchmark.sort]\ncommand = "sleep 0.3"\n')
    assert Lapwing(folder / "m.db", folder).kill("run", "-n", "6", "-i", "2", "--name", "benign", after=1.5)
    time.sleep(0.5)
    code, said = run(folder, "--store", "m.db", "export", "--to", "record", "-o", "m.jsonl")
    assert code == 0, said
    text = (folder / "m.jsonl").read_text()
    assert "sleep 0.3" in text
    (folder / "m.jsonl").write_text(text.replace("sleep 0.3", command))
    return folder / "m.jsonl"


@pytest.mark.parametrize("way", ["import", "inbox", "merge", "pull"])
def test_what_came_from_elsewhere_is_never_executed(tmp_path, way):
    record = unfinished(tmp_path / "mallory", f"touch {tmp_path}/RAN")
    victim = tmp_path / "victim"
    victim.mkdir()
    assert run(victim, "run", "-n", "1", "-i", "1", "--name", "own", "--", "true")[0] == 0
    if way == "inbox":
        (victim / ".lapwing/inbox").mkdir(parents=True, exist_ok=True)
        shutil.copy(record, victim / ".lapwing/inbox/evil.jsonl")
    elif way == "import":
        assert run(victim, "import", record)[0] == 0
    else:
        assert run(tmp_path, "--store", "evil.db", "import", record)[0] == 0
        if way == "merge":
            assert run(victim, "db", "merge", tmp_path / "evil.db")[0] == 0
        else:
            assert run(tmp_path, "--store", "evil.db", "db", "push", "shared")[0] == 0
            assert run(victim, "db", "pull", tmp_path / "shared")[0] == 0
    assert "benign" in run(victim, "list", "sessions")[1]
    for words in (
        ["run", "--resume"], ["run", "--resume", "benign"], ["run", "--again"], ["bisect", "--resume"],
        ["study", "run", "--resume"], ["stack", "run", "--resume"], ["indicator", "run", "--resume"],
    ):
        code, said = run(victim, *words)
        assert code not in (None, 70, 101), said
        assert not (tmp_path / "RAN").exists(), words
    code, said = run(victim, "run", "--resume", "benign")
    assert code == 2 and "benign" in said, said


def test_an_own_session_is_preferred_and_continued(tmp_path):
    record = unfinished(tmp_path / "mallory", f"touch {tmp_path}/RAN")
    own = tmp_path / "own"
    own.mkdir()
    program = Lapwing(own / "own.db", own)
    assert program.kill("run", "-n", "8", "-i", "2", "--name", "mine", "-c", "sleep 0.2", after=1.5)
    time.sleep(0.5)
    assert run(own, "--store", "own.db", "import", record)[0] == 0
    code, said = run(own, "--store", "own.db", "run", "--resume")
    assert code == 0 and not (tmp_path / "RAN").exists(), said
    assert "mine" in said


def planted(folder):
    """Returns a script that Git would execute for the repository around a folder."""
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a").write_text("hi\n")
    git(folder, "add", "a")
    git(folder, "commit", "-qm", "1")
    evil = folder / ".git/evil"
    evil.write_text(f"#!/bin/sh\necho ran >>{folder}/ran\ncat\n")
    evil.chmod(0o755)
    for key in ("filter.evil.clean", "gpg.program", "core.fsmonitor", "core.pager"):
        git(folder, "config", key, evil)
    git(folder, "config", "log.showSignature", "true")
    (folder / ".git/info/attributes").write_text("* filter=evil\n")
    (folder / "a").write_text("hj\n")
    (folder / "sub").mkdir()
    return folder / "ran"


def test_git_decides_whose_repositories_are_read(tmp_path):
    ran = planted(tmp_path / "planted")
    code, said = run(tmp_path / "planted/sub", "--store", tmp_path / "own.db", "run", "-n", "1", "-i", "1", "--", "true")
    assert code == 0 and not ran.exists(), said
    if os.getuid() != 0:
        pytest.skip("only root can give a repository to another user")
    for path in [tmp_path / "planted", *(tmp_path / "planted").rglob("*")]:
        os.chown(path, 65534, 65534)
    code, said = run(tmp_path / "planted/sub", "--store", tmp_path / "other.db", "run", "-n", "1", "-i", "1", "--", "true")
    assert code == 0 and not ran.exists(), said
    assert "safe.directory" in said
    assert '"commit":"' not in run(tmp_path, "--store", "other.db", "export", "--to", "record")[1]


def test_no_escape_reaches_the_terminal(tmp_path):
    git(tmp_path, "init", "-q")
    for number in range(6):
        (tmp_path / "f").write_text(str(number))
        git(tmp_path, "add", "f")
        git(tmp_path, "commit", "-qm", f"c{number}{ESC.replace(chr(0x9b), '')}")
    slow = "if [ $(cat f) -ge 4 ]; then sleep 0.12; else sleep 0.03; fi"
    for format in ("text", "markdown", "csv", "json"):
        words = ["bisect", "HEAD~5", "HEAD", "-n", "6", "-i", "2", "--burn-in", "0", "-c", slow, "--format", format]
        code, said = run(tmp_path, "--store", f"{format}.db", *words)
        assert code == 0 and has_no_command(said), said

    span = lambda number, begin, end, links: {
        "traceId": "1".zfill(32), "spanId": str(number).zfill(16), "name": f"{number}{ESC}", "kind": 1,
        "startTimeUnixNano": str(10**18 + begin), "endTimeUnixNano": str(10**18 + end),
        "links": [{"traceId": "1".zfill(32), "spanId": str(it).zfill(16)} for it in links],
    }
    for slower in (1, 2):
        spans = [span(1, 0, 900_000, []), span(2, 10**6, 10**6 + slower * 900_000, [1]), span(3, 4 * 10**6, 5 * 10**6, [2])]
        service = {"attributes": [{"key": "service.name", "value": {"stringValue": f"s{ESC}"}}]}
        scope = {"scope": {"name": "x"}, "spans": spans}
        (tmp_path / f"{slower}.jsonl").write_text(json.dumps({"resourceSpans": [{"resource": service, "scopeSpans": [scope]}]}))
    event = {"name": f"a{ESC}", "ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 500}
    (tmp_path / "lanes.json").write_text(json.dumps({"traceEvents": [event, {**event, "ts": 600}]}))
    for words in (
        ["trace", "compare", "file:1.jsonl", "file:2.jsonl"],
        *(["trace", part, "1.jsonl"] for part in ("tasks", "transfers", "controller")),
        ["trace", "findings", "lanes.json"], ["trace", "findings", "1.jsonl"],
    ):
        for format in ("text", "markdown", "csv", "json"):
            code, said = run(tmp_path, *words, "--format", format)
            assert code not in (None, 70, 101) and has_no_command(said), said


def test_a_pasted_suggestion_executes_lapwing_alone(tmp_path):
    (tmp_path / "lapwing.toml").write_text(
        '[benchmark.a]\ncommand = "true"\n[variant.base]\n[variant."b\'$(touch PWN)\'"]\n[variant.\'$(touch PWN)"`touch PWN`\']\n'
    )
    code, said = run(tmp_path, "run", "-n", "3", "-i", "1", "--burn-in", "0", "--name", "N")
    assert code == 0, said
    commands = re.findall(r"`(lapwing[^`]*)`", said)
    _, answer = run(tmp_path, "show", "N", "--format", "json")
    commands += [step["command"] for step in json.loads(answer)["next"]]
    assert commands
    for command in commands:
        subprocess.run(["sh", "-c", f"lapwing() {{ :; }}; {command}"], cwd=tmp_path, capture_output=True)
        assert not (tmp_path / "PWN").exists(), command


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "device"])
def test_what_is_no_file_stops_no_command(tmp_path, kind):
    assert run(tmp_path, "run", "-n", "1", "-i", "1", "--", "true")[0] == 0
    (tmp_path / "evil").mkdir()

    def make(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        match kind:
            case "link":
                path.symlink_to("/dev/zero")
            case "pipe":
                os.mkfifo(path)
            case "folder":
                path.mkdir()
            case "device":
                path.symlink_to("/dev/stdin")

    inbox = tmp_path / ".lapwing/inbox/z.jsonl"
    make(inbox)
    code, said = run(tmp_path, "list", "sessions", limit=20)
    assert code == 0, said
    for name, words in {
        "lapwing.toml": ["run", "--dry-run", "--suite", "evil/lapwing.toml"],
        "stacks.json": ["stack", "run", "x.py", "--stacks", "evil/stacks.json", "--dry-run"],
        "shared/lapwing.json": ["db", "pull", "evil/shared"],
        "x.db": ["--store", "evil/x.db", "list"],
    }.items():
        make(tmp_path / "evil" / name)
        code, said = run(tmp_path, *words, limit=20)
        assert code in (2, 3), f"{words}: {code} {said}"


def test_values_of_kept_variables_are_stored_nowhere(tmp_path):
    (tmp_path / "s.py").write_text(
        'import json\nprint(json.dumps({"name":"X","framework":"python","@parameters":{},"@result":{"v":1.0}}))\n'
    )
    words = ["--store", "k.db", "indicator", "run", "s.py", "-n", "1", "-i", "1", "--keep-env", "HF_TOKEN"]
    code, said = run(tmp_path, *words, env={"HF_TOKEN": SECRET})
    assert code == 0, said
    assert run(tmp_path, "--store", "k.db", "db", "push", "h")[0] == 0
    import gzip

    for path in tmp_path.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            content += gzip.decompress(content) if path.suffix == ".gz" else b""
            assert SECRET.encode() not in content, path


def test_a_purge_leaves_no_byte(tmp_path):
    token = f"ghp_{'A1b2C3d4' * 5}"[:40]
    for text in (SECRET, token):
        assert run(tmp_path, "run", "-n", "1", "-i", "2", "--", "sh", "-c", f"echo {text}; echo {text} >&2")[0] == 0
    code, said = run(tmp_path, "db", "purge", "--everything", "--yes")
    assert code == 0, said
    for path in (tmp_path / ".lapwing").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert SECRET.encode() not in content and token.encode() not in content, path


def test_a_store_with_other_objects_is_refused(tmp_path):
    for number, sql in enumerate((
        "create view instances2 as with recursive n(i) as (select 1 union all select i+1 from n) select * from n",
        "create trigger t after insert on session begin delete from session; end",
        None,
    )):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert run(folder, "--store", "v.db", "run", "-n", "1", "-i", "1", "--", "true")[0] == 0
        connection = sqlite3.connect(folder / "v.db")
        if sql is None:
            columns = [row[1] for row in connection.execute("pragma table_info(instance)")]
            connection.execute("alter table instance rename to instance_x")
            names = ",".join(f"x.{name}" for name in columns)
            sql = f"create view instance as with recursive n(i) as (select 1 union all select i+1 from n) select {names} from instance_x x, n"
        connection.execute(sql)
        connection.commit()
        connection.close()
        for words in (["list", "sessions"], ["show"], ["db", "check"], ["db", "info"], ["report", "-o", "r"]):
            code, said = run(folder, "--store", "v.db", *words, limit=20)
            assert code == 2, f"{words} {code}: {said}"
        code, said = run(folder, "--store", "own.db", "db", "merge", "v.db", limit=20)
        assert code == 2, said


# Its child keeps the limit that it has when it forks, which it does at once.
RACE = """
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit;
        getrlimit(RLIMIT_AS, &limit);
        FILE *file = fopen("race", "a");
        fprintf(file, limit.rlim_max == RLIM_INFINITY ? "unlimited\\n" : "limited\\n");
        fclose(file);
        _exit(0);
    }
    waitpid(child, 0, 0);
    puts("{\\"name\\":\\"X\\",\\"framework\\":\\"f\\",\\"@parameters\\":{},\\"@result\\":{\\"v\\":1.0}}");
    return 0;
}
"""


def test_a_memory_limit_holds_from_the_first_instruction(tmp_path):
    (tmp_path / "race.c").write_text(RACE)
    subprocess.run(["cc", "-o", "race.program", "race.c"], cwd=tmp_path, check=True)
    (tmp_path / "race.sh").write_text(
        "#!/bin/sh\n(ulimit -H -v >>race)\n" 'echo \'{"name":"Y","framework":"f","@parameters":{},"@result":{"v":1.0}}\'\n'
    )
    (tmp_path / "race.sh").chmod(0o755)
    executions = "50" if FULL else "8"
    for script in ("./race.program", "./race.sh"):
        words = ["indicator", "run", script, "-n", "1", "-i", executions, "--memory-limit", "500MB"]
        code, said = run(tmp_path, *words, limit=300)
        assert code == 0, said
    limits = (tmp_path / "race").read_text().split()
    assert len(limits) >= 2 * int(executions) and "unlimited" not in limits, limits


ENVIRON = """
import json, os
found, process = 0, os.getpid()
while process > 1:
    process = int(open(f"/proc/{process}/stat").read().rpartition(")")[2].split()[1])
    try:
        found += open(f"/proc/{process}/environ", "rb").read().count(b"TOKEN_OF_THIS_TEST=")
    except OSError:
        pass
    # The tests have none of it above the program.
    if process == PROGRAM:
        break
print(json.dumps({"name": "X", "framework": "python", "@parameters": {}, "@result": {"found": found}}))
"""


def test_a_script_reads_no_token_of_the_launcher(tmp_path):
    (tmp_path / "environ.py").write_text(ENVIRON.replace("PROGRAM", "os.getppid()"))
    code, said = run(tmp_path, "indicator", "run", "environ.py", "-n", "1", "-i", "1", env={"TOKEN_OF_THIS_TEST": "x"})
    assert code == 0, said
    _, exported = run(tmp_path, "export", "--to", "record")
    values = [json.loads(line) for line in exported.splitlines() if '"kind":"iteration"' in line]
    assert values and not any(it["metrics"]["found"] for it in values)


WORDS = [b"NaN", b"Infinity", b"1e999", b"-1", b"0", b"null", b'""', b"[]", b"{}", b'"\\u0000"', b'"\\ud800"', b"9" * 4000,
         b"-9223372036854775808", b"[" * 3000, b'{"a":' * 2000, b"\xff\xfe", b"\x00" * 50, b"\x1b[2J"]
SEEDS = [
    "earthkit-0.19/trace_2x1.log", "dask-2026.8/task_stream.json", "dask-2026.8/performance_report.html",
    "parsl-2026.10/monitoring.db", "wfcommons-1.6/srasearch.json", "otlp-1.45/traces.jsonl", "chrome-trace/viztracer.json",
    "chrome-trace/py-spy.json", "amun/single.json", "coiled/benchmark.db",
]


def mutant(content, chance):
    """Returns a damaged copy: bits, cuts, repeats, values and words."""
    content = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 5, 20])):
        at = chance.randrange(len(content) + 1)
        end = min(len(content), at + chance.randrange(1, 500))
        match chance.randrange(6):
            case 0:
                content[at:at + 1] = bytes([chance.randrange(256)])
            case 1:
                del content[at:]
            case 2:
                del content[at:end]
            case 3:
                content[at:at] = content[at:end]
            case 4:
                values = list(re.finditer(rb'-?\d+\.?\d*|"[^"\n]{0,60}"|true|false|null', bytes(content)))
                if values:
                    value = chance.choice(values)
                    content[value.start():value.end()] = chance.choice(WORDS)
            case 5:
                content[at:at] = chance.choice(WORDS)
        if not content:
            break
    return bytes(content)


def test_no_mutant_hangs_panics_or_reaches_the_terminal(tmp_path, record_property):
    chance = random.Random(37)
    number = 4000 if FULL else 40
    codes = {}
    for count in range(number):
        seed = SEEDS[count % len(SEEDS)]
        path = tmp_path / os.path.basename(seed)
        path.write_bytes(mutant((FIXTURES / seed).read_bytes(), chance))
        store = tmp_path / f"{count}.db"
        commands = [["--store", store, "import", path], ["--store", store, "list"], ["trace", "findings", path]]
        if count % 5 == 0:
            commands += [["--store", store, "db", "check"], ["--store", store, "export", "--to", "record", "-o", tmp_path / "x.jsonl"]]
        for words in commands:
            code, said = run(tmp_path, *words, limit=30)
            about = f"{seed}, mutant {count}: {words} exit {code}\n{said[-2000:]}"
            assert code in (0, 2, 3), about
            assert has_no_command(said), about
            codes[code] = codes.get(code, 0) + 1
        for path in tmp_path.glob(f"{count}.db*"):
            path.unlink()
    record_property("mutants", f"{number} damaged files, {sum(codes.values())} commands, by exit code: {codes}")
