//! What a command can do to the program that measures it, and what it sees of it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use lapwing_measure::local::{LauncherOptions, LocalExecutor};
use lapwing_measure::suite::{CommandLine, Confinement, Isolation};
use lapwing_measure::{Execution, ExecutionEnd, ExecutionResult, Executor};
use lapwing_testing::absent;
use tempfile::TempDir;

const TOKEN: &str = "token-of-the-user";

fn executor() -> LocalExecutor {
    let mut environment: Vec<_> = std::env::vars_os().collect();
    environment.push(("SECRET".into(), TOKEN.into()));
    LocalExecutor::start(&LauncherOptions {
        program: env!("CARGO_BIN_EXE_lapwing-launcher").into(),
        environment,
        ..LauncherOptions::default()
    })
    .unwrap()
}

fn shell(text: &str) -> Execution {
    Execution {
        keep_stdout: 1 << 16,
        keep_stderr: 1 << 16,
        time_limit: Some(Duration::from_secs(60)),
        ..Execution::new(CommandLine::Shell(text.to_owned()))
    }
}

/// Returns the execution of a script that is not trusted.
fn confined(text: &str) -> Execution {
    Execution {
        confinement: Some(Confinement {
            variables: ["PATH".to_owned()].into(),
            memory: Some(256 << 20),
            isolation: Isolation::Off,
        }),
        ..shell(text)
    }
}

fn stdout(executed: &ExecutionResult) -> String {
    String::from_utf8_lossy(&executed.stdout.bytes).into_owned()
}

fn is_alive(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

fn becomes_true(mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if condition() {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn a_script_that_forks_at_once_has_its_limits_in_every_process() {
    let mut executor = executor();
    let script = confined("(ulimit -Hv; ulimit -Sv) & ulimit -Hv; wait");
    for _ in 0..100 {
        let executed = executor.execute(&script).unwrap();
        assert_eq!(executed.end, ExecutionEnd::Exited(0));
        assert_eq!(stdout(&executed), "262144\n".repeat(3));
    }
}

#[test]
fn the_launcher_has_the_variables_of_commands_but_does_not_show_them() {
    let mut executor = executor();
    let read = "echo \"$SECRET\"; p=$PPID; for _ in 1 2; do cat /proc/$p/environ /proc/$p/cmdline 2>&1; \
        p=$(sed 's/.*) . \\([0-9]*\\) .*/\\1/' /proc/$p/stat); done";
    let executed = executor.execute(&shell(read)).unwrap();
    let seen = stdout(&executed);
    assert!(seen.starts_with(&format!("{TOKEN}\n")), "{seen}");
    assert_eq!(seen.matches(TOKEN).count(), 1, "{seen}");
    assert!(seen.contains("__launcher"), "{seen}");
}

#[test]
fn a_script_finds_no_secret_in_the_processes_of_the_program() {
    let folder = TempDir::new().unwrap();
    // All processes: the parent, its parents, and whatever else the program started.
    let script = "#!/bin/sh
found=$(cat /proc/[0-9]*/environ 2>/dev/null | grep -c token-of-the-user)
opened=0; for p in $PPID; do cat /proc/$p/mem /proc/$p/fd/3 >/dev/null 2>&1 </dev/null && opened=1; done
echo \"{\\\"name\\\": \\\"X\\\", \\\"framework\\\": \\\"f\\\", \\\"@parameters\\\": {}, \\\"@result\\\": {\\\"found\\\": $found, \\\"opened\\\": $opened}}\"
";
    let path = folder.path().join("curious");
    fs::write(&path, script).unwrap();
    Command::new("chmod").arg("+x").arg(&path).status().unwrap();
    let told = Command::new(env!("CARGO_BIN_EXE_lapwing"))
        .args([
            "--store",
            "s.db",
            "indicator",
            "run",
            "curious",
            "-n",
            "1",
            "-i",
            "1",
        ])
        .current_dir(folder.path())
        .env("SECRET", TOKEN)
        .output()
        .unwrap();
    assert!(told.status.success(), "{told:?}");
    let told = Command::new(env!("CARGO_BIN_EXE_lapwing"))
        .args(["--store", "s.db", "export", "--to", "json"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    for iteration in all.as_array().unwrap() {
        let values = &iteration["metrics"];
        assert_eq!(
            (&values["found"], &values["opened"]),
            (&0.0.into(), &0.0.into())
        );
    }
}

#[test]
fn a_script_of_root_has_no_privilege_that_lifts_limits() {
    let executed = executor()
        .execute(&confined(
            "sed -n 's/CapEff:\\s*//p;s/NoNewPrivs:\\s*//p' /proc/self/status",
        ))
        .unwrap();
    let text = stdout(&executed);
    let mut lines = text.lines();
    let effective = u64::from_str_radix(lines.next().unwrap(), 16).unwrap();
    let (ptrace, admin, resource) = (1 << 19, 1 << 21, 1 << 24);
    assert_eq!(effective & (ptrace | admin | resource), 0);
    assert_eq!(lines.next(), Some("1"));
}

#[test]
fn a_script_cannot_signal_the_launcher() {
    if !lapwing_measure::local::signals_can_be_kept() {
        absent("the kernel cannot keep signals from other processes (Linux 6.12 can)");
        return;
    }
    let script = confined("kill -9 $PPID && echo killed; sleep 60 & kill $!; wait $!; echo $?");
    assert_eq!(stdout(&executor().execute(&script).unwrap()), "143\n");
}

/// Executes a command that kills one of the processes above it, from a process that has left its session.
fn assert_ended_with(victim: &str) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("pid");
    let text = format!(
        "launcher=$PPID; guard=$(sed 's/.*) . \\([0-9]*\\) .*/\\1/' /proc/$PPID/stat)
        setsid sh -c 'echo $$ > {path}.new; mv {path}.new {path}; kill -9 '${victim}'; exec sleep 100' & sleep 100",
        path = path.display(),
    );
    let mut executor = executor();
    executor.execute(&shell(&text)).unwrap_err();
    let process = fs::read_to_string(&path).unwrap();
    let is_gone = || !is_alive(process.trim());
    assert!(becomes_true(is_gone), "it survives the {victim}");
}

#[test]
fn a_command_that_kills_the_launcher_does_not_survive_it() {
    assert_ended_with("launcher");
}

#[test]
fn a_command_that_kills_the_guard_of_the_launcher_does_not_survive_it() {
    assert_ended_with("guard");
}

#[test]
fn a_user_other_than_root_measures_although_the_program_hides_itself() {
    if fs::metadata("/proc/self").map_or(0, |it| std::os::unix::fs::MetadataExt::uid(&it)) != 0 {
        return;
    }
    let folder = TempDir::new().unwrap();
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    Command::new("chmod")
        .arg("777")
        .arg(folder.path())
        .status()
        .unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_lapwing"));
    for name in ["lapwing", "lapwing-launcher"] {
        fs::copy(program.with_file_name(name), folder.path().join(name)).unwrap();
    }
    let told = Command::new("setpriv")
        .args(user)
        .arg(folder.path().join("lapwing"))
        .args([
            "--store",
            "s.db",
            "run",
            "-n",
            "1",
            "-i",
            "1",
            "--",
            "cat",
            "/proc/self/environ",
        ])
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .output();
    let Ok(told) = told else {
        absent("setpriv is not installed");
        return;
    };
    assert!(told.status.success(), "{told:?}");
}
