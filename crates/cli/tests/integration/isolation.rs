//! What an isolated command can do: one test for each line of the table in docs/indicators.md.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use lapwing_measure::local::{IsolationPart, LauncherOptions, LocalExecutor};
use lapwing_measure::suite::{CommandLine, Confinement, Isolation};
use lapwing_measure::{Execution, ExecutionEnd, ExecutionResult, Executor};
use lapwing_testing::absent;
use tempfile::TempDir;

use crate::program::run;

/// Returns an executor, if the machine has this part of isolation.
fn executor(part: IsolationPart) -> Option<LocalExecutor> {
    let mut executor = LocalExecutor::start(&LauncherOptions {
        program: env!("CARGO_BIN_EXE_lapwing-launcher").into(),
        environment: std::env::vars_os().collect(),
        ..LauncherOptions::default()
    })
    .unwrap();
    let abilities = executor.abilities().unwrap();
    let missing = abilities.missing_isolation();
    if let Some((part, reason)) = missing.iter().find(|(missing, _)| *missing == part) {
        absent(&format!("no isolation of {}: {reason}", part.text()));
        return None;
    }
    Some(executor)
}

fn isolated(text: &str, folder: &Path) -> Execution {
    Execution {
        directory: Some(folder.to_owned()),
        keep_stdout: 1 << 16,
        keep_stderr: 1 << 16,
        time_limit: Some(Duration::from_secs(60)),
        confinement: Some(Confinement {
            variables: ["PATH".to_owned()].into(),
            memory: Some(256 << 20),
            isolation: Isolation::Possible,
        }),
        ..Execution::new(CommandLine::Shell(text.to_owned()))
    }
}

fn stdout(executed: &ExecutionResult) -> String {
    String::from_utf8_lossy(&executed.stdout.bytes).into_owned()
}

#[test]
fn it_reads_its_folder_and_the_system_and_no_other_file() {
    let Some(mut executor) = executor(IsolationPart::Files) else {
        return;
    };
    let (own, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::write(own.path().join("data"), "own").unwrap();
    fs::write(other.path().join("key"), "key of the user").unwrap();
    std::os::unix::fs::symlink(other.path(), own.path().join("link")).unwrap();
    let other = other.path().display();
    let script = format!(
        "cat data; ls /usr >/dev/null && echo; cat {other}/key link/key ../*/key /etc/shadow; ls {other}; ls /root /home/*; \
        ln {other}/key stolen; echo end"
    );
    let executed = executor.execute(&isolated(&script, own.path())).unwrap();
    assert_eq!(stdout(&executed), "own\nend\n");
}

#[test]
fn it_writes_to_a_scratch_folder_that_is_gone_afterwards_and_to_no_other() {
    let Some(mut executor) = executor(IsolationPart::Files) else {
        return;
    };
    let own = TempDir::new().unwrap();
    fs::write(own.path().join("data"), "own").unwrap();
    let script = "echo x > new; echo x > data; rm data; mkdir folder; chmod 777 data; \
        echo x > /tmp/of-a-script; echo x > /usr/of-a-script; echo x > $TMPDIR/a && mv $TMPDIR/a $HOME/b && cat $HOME/b; \
        echo $TMPDIR; : > /dev/null && echo end";
    let executed = executor.execute(&isolated(script, own.path())).unwrap();
    let text = stdout(&executed);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines[2]), ("x", "end"));
    assert!(!Path::new(lines[1]).exists());
    assert_eq!(fs::read_to_string(own.path().join("data")).unwrap(), "own");
    assert_eq!(fs::read_dir(own.path()).unwrap().count(), 1);
    assert!(!Path::new("/tmp/of-a-script").exists());
}

#[test]
fn it_connects_to_no_socket_of_the_machine() {
    let Some(mut executor) = executor(IsolationPart::Processes) else {
        return;
    };
    let (own, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let address = other.path().join("socket");
    let _server = std::os::unix::net::UnixListener::bind(&address).unwrap();
    let text = format!(
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{}\")' && echo connected; \
        ls / /run; cd {} || echo not there",
        address.display(),
        other.path().display()
    );
    let executed = executor.execute(&isolated(&text, own.path())).unwrap();
    let seen = stdout(&executed);
    assert!(
        !seen.contains("connected") && seen.ends_with("not there\n"),
        "{seen}"
    );
    assert!(!seen.contains("root") && !seen.contains("home"), "{seen}");
}

#[test]
fn it_sees_and_signals_only_its_own_processes() {
    let Some(mut executor) = executor(IsolationPart::Processes) else {
        return;
    };
    let script = "cd /proc; ls -d [0-9]* | wc -l; cat [0-9]*/environ | tr '\\0' '\\n' | grep -c CARGO_; \
        kill -9 1 2>/dev/null; echo $?";
    let executed = executor.execute(&isolated(script, Path::new("/"))).unwrap();
    let text = stdout(&executed);
    let mut lines = text.lines();
    // The first of the namespace, the shell, and the two of the pipe.
    let seen: u32 = lines.next().unwrap().trim().parse().unwrap();
    assert!(seen <= 4, "{text}");
    assert_eq!(lines.next(), Some("0"), "{text}");
}

#[test]
fn whatever_it_starts_ends_with_it() {
    let Some(mut executor) = executor(IsolationPart::Processes) else {
        return;
    };
    let marker = format!("{}.25", 3_000 + std::process::id() % 1000);
    let script = format!(
        "setsid sh -c '(sleep {marker} &) & sleep {marker}' >/dev/null 2>&1 & sleep 0.2; echo end"
    );
    let executed = executor
        .execute(&isolated(&script, Path::new("/")))
        .unwrap();
    assert_eq!(stdout(&executed), "end\n");
    let found = Command::new("pgrep")
        .args(["-f", &format!("^sleep {marker}")])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

#[test]
fn it_has_no_network_but_its_own() {
    let Some(mut executor) = executor(IsolationPart::Network) else {
        return;
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        "python3 - <<'E'
import socket
for address in [('127.0.0.1', {port}), ('192.0.2.1', 80)]:
    try: socket.create_connection(address, 2); print('connected')
    except OSError as error: print('refused')
own = socket.socket(); own.bind(('127.0.0.1', 0)); own.listen()
socket.create_connection(own.getsockname(), 2); print('own')
E"
    );
    let executed = executor
        .execute(&isolated(&script, Path::new("/")))
        .unwrap();
    let text = stdout(&executed);
    let errors = executed.stderr.text();
    assert_eq!(text, "refused\nrefused\nown\n", "{errors}");
}

#[test]
fn all_of_its_processes_together_have_a_limit_of_memory() {
    let Some(mut executor) = executor(IsolationPart::Memory) else {
        return;
    };
    // Each of them is below the limit of one process.
    let hold = "head -c 100M /dev/zero | tail -c 100M | (sleep 2; wc -c)";
    let together = format!("for _ in 1 2 3 4 5; do ({hold}) & done; wait; echo end");
    let executed = executor
        .execute(&isolated(&together, Path::new("/")))
        .unwrap();
    let whole = stdout(&executed).matches("104857600").count();
    assert!(whole < 5, "{executed:?}");
    // The limit is not that of the next command.
    let mut next = isolated(
        "head -c 300M /dev/zero | tail -c 300M | wc -c",
        Path::new("/"),
    );
    next.confinement = None;
    assert_eq!(stdout(&executor.execute(&next).unwrap()), "314572800\n");
}

#[test]
fn the_number_of_its_processes_has_a_limit() {
    let Some(mut executor) = executor(IsolationPart::ProcessCount) else {
        return;
    };
    let script = "group=$(sed -n 's/.*:pids:\\|^0:://p' /proc/self/cgroup | head -n 1)
        for root in /sys/fs/cgroup/pids /sys/fs/cgroup; do cat $root$group/pids.max 2>/dev/null && break; done";
    let executed = executor.execute(&isolated(script, Path::new("/"))).unwrap();
    assert_eq!(stdout(&executed), "4096\n");
}

#[test]
fn it_has_no_privileges_and_gets_none() {
    let Some(mut executor) = executor(IsolationPart::Processes) else {
        return;
    };
    let script = "sed -n 's/CapEff:\\s*//p' /proc/self/status; mount -t tmpfs x /mnt || echo no mount; \
        unshare -Ur true || echo no namespace";
    let executed = executor.execute(&isolated(script, Path::new("/"))).unwrap();
    assert_eq!(
        stdout(&executed),
        "0000000000000000\nno mount\nno namespace\n"
    );
}

#[test]
fn it_ends_as_it_would_end_without() {
    let Some(mut executor) = executor(IsolationPart::Processes) else {
        return;
    };
    let mut end = |text: &str, limit: u64| {
        let mut execution = isolated(text, Path::new("/"));
        execution.time_limit = Some(Duration::from_millis(limit));
        executor.execute(&execution).unwrap()
    };
    assert_eq!(end("exit 7", 60_000).end, ExecutionEnd::Exited(7));
    let killed = |signal| ExecutionEnd::Signalled(signal);
    assert_eq!(end("kill -SEGV $$", 60_000).end, killed(11));
    assert_eq!(end("kill -KILL $$", 60_000).end, killed(9));
    assert_eq!(end("sleep 60", 200).end, ExecutionEnd::TimedOut);
    let tidy = "trap 'echo tidy; exit 1' TERM; while :; do sleep 0.05; done";
    let tidy = end(tidy, 300);
    assert_eq!(stdout(&tidy), "tidy\n");
    assert_eq!(tidy.end, ExecutionEnd::TimedOut);
    let deaf = "trap '' TERM; while :; do sleep 1; done";
    assert_eq!(end(deaf, 200).end, ExecutionEnd::TimedOut);
    let busy = end("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done", 60_000);
    let usage = busy.usage.unwrap();
    assert!(usage.user > Duration::from_millis(20), "{usage:?}");
    let large = end("head -c 60M /dev/zero | tail -c 60M | wc -c", 60_000);
    assert!(large.usage.unwrap().peak_memory > 50 << 20);
    let missing = Execution {
        command: CommandLine::Words(vec!["/not/there".to_owned()]),
        ..isolated("", Path::new("/"))
    };
    let missing = executor.execute(&missing).unwrap().end;
    let reason = "no such command: `/not/there`".to_owned();
    assert_eq!(missing, ExecutionEnd::NotStarted(reason));
}

const USES_MUCH: &str = "import json, multiprocessing, tempfile, helper
if __name__ == '__main__':
    with multiprocessing.Pool(2) as pool:
        total = sum(pool.map(abs, [1, helper.VALUE]))
    tempfile.TemporaryFile().write(b'x')
    print(json.dumps({'name': 'X', 'framework': 'python', '@parameters': {}, '@result': {'total': total}}))
";

#[test]
fn a_script_of_python_works_in_isolation() {
    if executor(IsolationPart::Files).is_none() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(path.join("helper.py"), "VALUE = 2\n").unwrap();
    fs::write(path.join("script.py"), USES_MUCH).unwrap();
    let isolated = |option| {
        let arguments = ["indicator", "run", "script.py", "-n", "1", "-i", "1"];
        run(path, &[&arguments[..], &[option]].concat())
    };
    // Complete isolation is an error where it does not hold.
    let told = isolated("--isolate");
    let is_refused = told.contains("not isolated here") && told.ends_with("exit 2");
    assert!(is_refused || told.ends_with("exit 0"), "{told}");
    assert!(isolated("--isolate=possible").ends_with("exit 0"));
}

#[test]
fn a_command_of_run_is_isolated_and_has_a_cleared_environment() {
    if executor(IsolationPart::Files).is_none() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let command = "test -z \"$CARGO_MANIFEST_DIR\" && ! touch new";
    let arguments = [
        "run",
        "--isolate=possible",
        "-n",
        "1",
        "-i",
        "1",
        "-c",
        command,
    ];
    let told = run(path, &arguments);
    assert!(told.ends_with("exit 0"), "{told}");
    assert!(!path.join("new").exists());
}

#[test]
fn a_user_other_than_root_is_isolated_too() {
    use std::os::unix::fs::MetadataExt;
    if fs::metadata("/proc/self").unwrap().uid() != 0
        || executor(IsolationPart::Processes).is_none()
    {
        return;
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    Command::new("chmod").arg("777").arg(path).status().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_lapwing"));
    for name in ["lapwing", "lapwing-launcher"] {
        fs::copy(program.with_file_name(name), path.join(name)).unwrap();
    }
    let told = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(path.join("lapwing"))
        .args(["--store", "s.db", "run", "-n", "1", "-i", "1"])
        .args(["--isolate=possible", "-c"])
        .arg("test $(ls -d /proc/[0-9]* | wc -l) -lt 6 && ! touch new")
        .current_dir(path)
        .env("HOME", path)
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    assert!(told.status.success(), "{told:?}");
    assert!(!path.join("new").exists());
}

#[test]
fn what_it_reads_is_never_where_it_writes() {
    if executor(IsolationPart::Files).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let temporary = folder.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let script = "echo x >written; rm -f .lapwing/lapwing.db; echo x >tmp/written; true";
    for temporary in [folder.path(), &temporary] {
        let words = [
            "run",
            "-n",
            "1",
            "-i",
            "1",
            "--isolate=possible",
            "--",
            "sh",
            "-c",
            script,
            "sh",
            "/tmp",
        ];
        let done = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args(words)
            .env("TMPDIR", temporary)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        assert!(!folder.path().join("written").exists());
        assert!(!folder.path().join("tmp/written").exists());
        assert!(folder.path().join(".lapwing/lapwing.db").exists());
    }
}
