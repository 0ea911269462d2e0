"""Instances on three hosts of a real sshd: nothing lost, nothing twice, and nothing left running."""

import json
import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from client import PROGRAM
from small_hosts import command_of, running, wait_for


def ssh(hosts, more="", names=("n1", "n2", "n3")):
    return f"""
[executor.ssh]
hosts = {json.dumps(list(names))}
options = ["-F", "{hosts.config}"]
{more}
"""


def suite(hosts, command, instances=6, iterations=2, more="", **others):
    return f"""
suite = "remote"
[defaults]
instances = {instances}
burn_in = 0
iterations = {iterations}
[benchmark.a]
command = '''{command}'''
{ssh(hosts, more, **others)}"""


def are_fine(instances, count):
    assert len(instances) == count
    for it in instances:
        assert it["end"]["outcome"] == "ok" and it["host"] in ("n1", "n2", "n3"), it
        assert it["environment"]["cpu_model"] and "load_before" in it["end"]["observed"]
        assert it["iterations"] and all(one["outcome"] == "ok" for one in it["iterations"])


def is_idle(client):
    """Returns whether nothing of a client runs any more on the hosts."""
    return not running(str(client.folder)) and not running("cluster-packet")


def test_instances_are_measured_on_three_hosts_whatever_is_printed_there(hosts, client):
    hosts.set_login("n1", "echo 'Last login: yesterday'; echo 'lapwing-record of nobody'")
    hosts.set_login("n2", "printf 'no end of line'; echo 'a word to stderr' >&2")
    # Three megabytes of the program under test, of which some looks like a record.
    command = 'echo "$COLOUR" >> executed; echo "lapwing-record 0 2 {}"; head -c 3000000 /dev/zero | tr "\\\\0" x; echo x >&2'
    set_up = """set_up = ["echo loading; echo more >&2", "export COLOUR='deep blue'", "cat"]"""
    client = client(suite(hosts, command, instances=12, more=set_up + "\nspread = true"))
    said = client.run("run", "--executor", "ssh", "--name", "there")
    assert "12 done" in said
    instances = client.instances("there")
    are_fine(instances, 12)
    assert Counter(it["host"] for it in instances) == {"n1": 4, "n2": 4, "n3": 4}
    assert all(it["job"]["batch_id"] for it in instances)
    assert client.executed() == ["deep blue"] * 24
    assert not any(client.folder.glob(".lapwing/cluster/*"))
    wait_for(lambda: is_idle(client))


def test_tasks_and_records_may_be_longer_than_what_a_pipe_holds(hosts, client):
    tags = json.dumps([f"{number} {'long ' * 200}".strip() for number in range(200)])
    text = suite(hosts, "true", instances=3).replace("[executor", f"tags = {tags}\n[executor")
    client = client(text)
    client.run("run", "--executor", "ssh", "--name", "long")
    instances = client.instances("long")
    are_fine(instances, 3)
    assert all(len(it["benchmark"]["tags"]) == 200 for it in instances)


def test_a_host_has_one_instance_at_a_time(hosts, client):
    command = 'mkdir "busy-$HOST_NAME" || exit 9; sleep 0.2; rmdir "busy-$HOST_NAME"'
    for name in hosts.ports:
        hosts.set_login(name, f"export HOST_NAME={name}")
    client = client(suite(hosts, command, instances=9, iterations=1))
    client.run("run", "--executor", "ssh", "--name", "apart")
    instances = client.instances("apart")
    are_fine(instances, 9)
    assert {it["host"] for it in instances} == {"n1", "n2", "n3"}


def test_an_unreachable_host_is_no_failure_of_the_benchmark(hosts, client):
    hosts.stop_host("n2")
    client = client(suite(hosts, "sleep 0.1", instances=8))
    client.run("run", "--executor", "ssh", "--name", "without")
    instances = client.instances("without")
    well = [it for it in instances if it["end"]["outcome"] == "ok"]
    are_fine(well, 8)
    assert {it["host"] for it in well} == {"n1", "n3"}
    lost = [it for it in instances if it not in well]
    assert lost and all(it["end"]["outcome"] == "lost" and it["host"] == "n2" for it in lost)
    assert "Connection refused" in lost[0]["end"]["message"]
    assert lost[0]["end"]["observed"] == {"job_state": "LOST", "job_exit": "exit code 255"}


def test_without_any_host_the_error_says_why(hosts, client):
    client = client(suite(hosts, "true", instances=9))
    for name in list(hosts.ports):
        hosts.stop_host(name)
    said = client.run("run", "--executor", "ssh", "--name", "nowhere", codes=(2,))
    assert "no host is left to measure on: n1: ssh: connect to host" in said
    assert "n2 is left out, because 3 jobs in a row failed there" in said
    assert "--resume" in said
    for name in hosts.ports:
        hosts.start_host(name)
    client.run("run", "--resume", "nowhere")
    well = [it for it in client.instances("nowhere") if it["end"]["outcome"] == "ok"]
    are_fine(well, 9)


def sleepers():
    """Returns the processes that the command below waits for."""
    return [it for it in running("sleep 12.7") if command_of(it).startswith("sleep")]


LONG = "echo a >> executed; [ -e again ] || {{ [ $(wc -l < executed) -lt 5 ] || sleep 12.7; }}; # {mark}"


def test_a_host_that_dies_loses_its_instance_and_another_one_measures_it(hosts, client):
    client = client(suite(hosts, LONG.format(mark="dying"), instances=3))
    process = client.start("run", "--executor", "ssh", "--name", "dying")
    wait_for(lambda: len(client.executed()) >= 5)
    (client.folder / "again").touch()
    victims = [it for it in hosts.ports if running(f"--host={it} ")]
    hosts.stop_host(victims[0])
    # What ran there has noticed it.
    wait_for(lambda: not running(f"--host={victims[0]} "))
    client.finish(process)
    instances = client.instances("dying")
    lost = [it for it in instances if it["end"]["outcome"] == "lost"]
    assert [(it["host"], it["end"]["observed"]["job_state"]) for it in lost] == [(victims[0], "LOST")]
    well = [it for it in instances if it not in lost]
    are_fine(well, 3)
    assert sorted(it["attempt"] for it in well) == [0, 0, 1]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_nothing_keeps_running_without_the_client_and_the_rest_is_resumed(hosts, client, how):
    client = client(suite(hosts, LONG.format(mark="stopped"), instances=9))
    process = client.start("run", "--executor", "ssh", "--name", "stopped")
    wait_for(lambda: len(client.executed()) >= 7 and len(sleepers()) == 3)
    process.send_signal(how)
    process.wait(40)
    wait_for(lambda: is_idle(client) and not sleepers())
    before = len(client.executed())
    (client.folder / "again").touch()
    if how == signal.SIGKILL:
        # The end of a line may be lost as well.
        outputs = sorted(client.folder.glob(".lapwing/cluster/*/outputs/*.txt"))
        torn = next(it for it in outputs if it.read_bytes())
        with torn.open("ab") as file:
            file.write(b'lapwing-record 1 4000 {"v":1,')
    client.run("run", "--resume", "stopped")
    instances = client.instances("stopped")
    well = [it for it in instances if it["end"]["outcome"] == "ok"]
    are_fine(well, 9)
    assert sorted(it["block"] for it in well) == list(range(9))
    lost = [it for it in instances if it not in well]
    assert all(it["end"]["outcome"] == "lost" for it in lost) and len(lost) <= 3
    assert all(len(it["iterations"]) <= 1 for it in lost)
    assert sum(len(it["iterations"]) for it in instances) <= len(client.executed())
    assert before >= 7


def test_a_client_of_ssh_that_dies_loses_the_instance_of_its_host(hosts, client):
    client = client(suite(hosts, LONG.format(mark="ssh"), instances=3))
    process = client.start("run", "--executor", "ssh", "--name", "killed")
    wait_for(sleepers)
    connection = next(it for it in running(str(hosts.config)) if Path(f"/proc/{it}/comm").read_text() == "ssh\n")
    (client.folder / "again").touch()
    os.kill(connection, signal.SIGKILL)
    for waiting in sleepers():
        wait_for(lambda: waiting not in sleepers(), seconds=45)
    client.finish(process)
    instances = client.instances("killed")
    lost = [it for it in instances if it["end"]["outcome"] == "lost"]
    assert [it["end"]["observed"]["job_exit"] for it in lost] == ["signal 9"]
    are_fine([it for it in instances if it not in lost], 3)


def test_a_set_up_that_fails_is_named(hosts, client):
    client = client(suite(hosts, "true", instances=1, more='set_up = ["echo so >&2; no-such-module load gcc"]'))
    client.run("run", "--executor", "ssh", "--name", "set-up", codes=(3,))
    (lost,) = client.instances("set-up")
    assert lost["end"]["outcome"] == "lost"
    assert "lapwing: this line of set_up failed: echo so" in lost["end"]["message"]


def test_another_version_on_a_host_is_refused(hosts, client, tmp_path):
    program = tmp_path / "older"
    program.write_text(f"""#!/bin/sh\nsed 's/"tool":"lapwing [^"]*"/"tool":"lapwing 0.0.1"/' | {PROGRAM} "$@"\n""")
    program.chmod(0o755)
    client = client(suite(hosts, "true", instances=1, more=f'program = "{program}"'))
    client.run("run", "--executor", "ssh", "--name", "older", codes=(3,))
    lost = client.instances("older")
    assert [(it["attempt"], it["end"]["outcome"]) for it in lost] == [(0, "lost"), (1, "lost"), (2, "lost")]
    message = lost[0]["end"]["message"]
    assert "and the session is measured by lapwing 0.0.1" in message
    assert "name a program of the same version with `program`" in message


def test_commands_run_in_a_folder_of_the_host(hosts, client, tmp_path):
    other = tmp_path / "other"
    (other / "inner").mkdir(parents=True)
    text = suite(hosts, "pwd >> where; cat", instances=2, more=f'directory = "{other}"')
    text = text.replace("[executor", 'directory = "inner"\nstdin = "inner/input"\n[executor')
    client = client(text)
    (client.folder / "inner").mkdir()
    for folder in [client.folder, other]:
        (folder / "inner/input").touch()
    client.run("run", "--executor", "ssh", "--name", "elsewhere")
    are_fine(client.instances("elsewhere"), 2)
    assert set((other / "inner/where").read_text().splitlines()) == {str(other / "inner")}
    absent = client.folder / "lapwing.toml"
    absent.write_text(absent.read_text().replace(str(other), "/no/such"))
    client.run("run", "--executor", "ssh", "--name", "absent", codes=(3,))
    assert "name a directory of this host with `directory`" in client.instances("absent")[0]["end"]["message"]


STUDY = """
[factor.quiet]
apply.env.QUIET = "yes"
[factor.workers]
levels = [1, 2]
apply.env.WORKERS = "{level}"
"""


def test_a_study_is_measured_on_hosts(hosts, client):
    other = "[benchmark.b]\ncommand = 'echo $QUIET $WORKERS >> executed-b'\niterations = 2\n"
    client = client(suite(hosts, "echo $QUIET $WORKERS >> executed", iterations=1) + STUDY + other)
    client.run("study", "design", "--kind", "full", "--replicates", "2")
    client.run("study", "run", "--executor", "ssh", "--name", "study")
    instances = client.instances("study")
    are_fine(instances, 16)
    assert Counter(client.executed()) == {"yes 1": 2, "yes 2": 2, "1": 2, "2": 2}
    executed = (client.folder / "executed-b").read_text().splitlines()
    assert Counter(executed) == {"yes 1": 4, "yes 2": 4, "1": 4, "2": 4}
    iterations = Counter((it["benchmark"]["id"], len(it["iterations"])) for it in instances)
    assert iterations == {("a", 1): 8, ("b", 2): 8}


def test_a_duet_is_one_job(hosts, client):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("a duet needs two cores")
    text = suite(hosts, "sleep 0.01", instances=3) + "[variant.one]\n[variant.two]\n"
    client = client(text)
    client.run("run", "--executor", "ssh", "--duet", "--name", "duet")
    instances = client.instances("duet")
    are_fine(instances, 6)
    jobs = Counter(it["job"]["batch_id"] for it in instances)
    assert len(jobs) == 3 and set(jobs.values()) == {2}


# Prints the level of the commit plus noise.
PROGRAM_TEXT = """echo "{\\"cost\\": $(( $(cat level) + $(od -An -N1 -tu1 /dev/urandom) ))}"\n"""


def test_a_bisection_measures_commits_on_hosts(hosts, client, tmp_path, monkeypatch):
    text = suite(hosts, "sh program", iterations=1).replace("[executor", 'metrics = "json"\n[executor')
    client = client(text)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def git(*words):
        named = ["git", "-C", client.folder, "-c", "user.name=T", "-c", "user.email=t@example.org", *words]
        return subprocess.run(named, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "--quiet")
    (client.folder / ".gitignore").write_text("*\n!program\n!level\n!number\n")
    (client.folder / "program").write_text(PROGRAM_TEXT)
    for number in range(6):
        (client.folder / "number").write_text(str(number))
        (client.folder / "level").write_text("1000" if number < 3 else "3000")
        git("add", ".")
        git("commit", "--quiet", "-m", f"change {number}")
        git("tag", f"c{number}")
    words = ["bisect", "c0", "c5", "--metric", "cost", "--executor", "ssh", "--name", "search", "--format", "json"]
    said = client.run("--quiet", *words)
    assert json.loads(said)["benchmarks"][0]["found"] == [git("rev-parse", "c3")]


def test_what_cannot_be_done_over_ssh_is_refused(hosts, client):
    client = client(suite(hosts, "true", instances=4, iterations=4))
    dry = client.run("run", "--executor", "ssh", "--dry-run")
    assert "-oBatchMode=yes" in dry and "-- n1 'exec /bin/sh'" in dry
    left = client.run("run", "--executor", "ssh", "--cluster", "leave_jobs=yes", codes=(2,))
    assert "jobs on hosts of ssh end with the client" in left
    exclusive = client.run("run", "--executor", "ssh", "--cluster", "exclusive=no", codes=(2,))
    assert "one instance at a time in any case" in exclusive
    client.run("run", "--name", "here")
    simulated = client.run("mds", "--executor", "ssh", codes=(2,))
    assert "jobs of an analysis need a folder that they share with the client" in simulated
    (client.folder / "lapwing.toml").write_text('suite = "none"\n[benchmark.a]\ncommand = "true"\n')
    assert "the suite has no [executor.ssh]" in client.run("run", "--executor", "ssh", codes=(2,))
