//! Commands executed through the real launcher.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use lapwing_measure::local::{Ability, LauncherOptions, LocalExecutor};
use lapwing_measure::suite::CommandLine;
use lapwing_measure::{
    Execution, ExecutionEnd, ExecutionResult, Executor, LeftoverPolicy, OutputTail, Stdin,
    command_outputs,
};
use lapwing_testing::absent;

fn executor() -> LocalExecutor {
    pinned_executor(None)
}

fn pinned_executor(cpus: Option<&str>) -> LocalExecutor {
    LocalExecutor::start(&LauncherOptions {
        program: env!("CARGO_BIN_EXE_lapwing-launcher").into(),
        cpus: cpus.map(str::to_owned),
        environment: std::env::vars_os().collect(),
    })
    .expect("the launcher starts")
}

fn execution(command: CommandLine) -> Execution {
    Execution {
        command,
        directory: None,
        environment: BTreeMap::new(),
        stdin: Stdin::Null,
        time_limit: Some(Duration::from_secs(60)),
        keep_stdout: 4096,
        keep_stderr: 4096,
        counters: false,
        leftovers: LeftoverPolicy::End,
        cpus: None,
        confinement: None,
    }
}

fn shell(text: &str) -> Execution {
    execution(CommandLine::Shell(text.to_owned()))
}

fn words(words: &[&str]) -> Execution {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    execution(CommandLine::Words(words))
}

fn execute(execution: &Execution) -> ExecutionResult {
    executor().execute(execution).expect("the launcher lives")
}

fn text(tail: &OutputTail) -> String {
    String::from_utf8_lossy(&tail.bytes).into_owned()
}

fn is_alive(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| {
        let after_name = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
        !after_name.is_some_and(|rest| rest.starts_with('Z'))
    })
}

/// Waits until a file holds a whole line and returns it.
fn line_of(path: &Path) -> String {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(30) {
        let text = fs::read_to_string(path).unwrap_or_default();
        if let Some(line) = text.strip_suffix('\n') {
            return line.to_owned();
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("{} never got a line", path.display());
}

fn becomes_true(mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(10) {
        if condition() {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn a_command_ends_as_it_ends() {
    let mut executor = executor();
    let mut end = |execution: Execution| executor.execute(&execution).expect("lives").end;
    assert_eq!(end(words(&["true"])), ExecutionEnd::Exited(0));
    assert_eq!(end(words(&["/bin/false"])), ExecutionEnd::Exited(1));
    assert_eq!(end(shell("exit 7")), ExecutionEnd::Exited(7));
    assert_eq!(end(shell("kill -SEGV $$")), ExecutionEnd::Signalled(11));
    assert_eq!(
        end(shell("no-such-command-here")),
        ExecutionEnd::Exited(127)
    );
}

#[test]
fn what_cannot_be_started_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script");
    fs::write(&script, "#!/no/such/interpreter\n").expect("written");
    let plain = folder.path().join("plain");
    fs::write(&plain, "text").expect("written");
    let headless = folder.path().join("headless");
    fs::write(&headless, "echo without a first line").expect("written");
    for path in [&script, &headless] {
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(path, executable).expect("permitted");
    }
    let mut executor = executor();
    let mut reason = |execution: Execution| match executor.execute(&execution).expect("lives") {
        ExecutionResult {
            end: ExecutionEnd::NotStarted(reason),
            usage: None,
            ..
        } => reason.replace(&*folder.path().to_string_lossy(), "FOLDER"),
        other => panic!("it started: {other:?}"),
    };
    let mut nowhere = shell("true");
    nowhere.directory = Some("/no/such/folder".into());
    let mut mute = shell("true");
    mute.stdin = Stdin::File("/no/such/file".into());
    let reasons = [
        reason(words(&["no-such-command-here"])),
        reason(words(&["./no-such-command-here"])),
        reason(words(&[&*script.to_string_lossy()])),
        reason(words(&[&*plain.to_string_lossy()])),
        reason(words(&[&*headless.to_string_lossy()])),
        reason(words(&[])),
        reason(words(&["true", "a\0b"])),
        reason(nowhere),
        reason(mute),
    ];
    assert_eq!(
        reasons,
        [
            "no such command: `no-such-command-here`",
            "no such command: `./no-such-command-here`",
            "the interpreter that `FOLDER/script` names in its first line is missing",
            "`FOLDER/plain` is not executable, or not for this user",
            "`FOLDER/headless` is not a program; a script needs a first line such as `#!/bin/sh`",
            "the command is empty",
            "`true` cannot be started: nul byte found in provided data",
            "no such directory: /no/such/folder",
            "standard input /no/such/file: No such file or directory (os error 2)",
        ]
    );
}

#[test]
fn a_command_gets_its_directory_environment_and_arguments() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("there"), "").expect("written");
    let mut execution = words(&["sh", "-c", "ls; echo \"$COLOUR $1\"", "name", "two words"]);
    execution.directory = Some(folder.path().to_owned());
    execution.environment = BTreeMap::from([("COLOUR".to_owned(), "blue".to_owned())]);
    let executed = execute(&execution);
    assert_eq!(text(&executed.stdout), "there\nblue two words\n");
    assert_eq!(text(&executed.stderr), "");
}

#[test]
fn standard_input_can_be_a_file_nothing_or_more_bytes_than_a_pipe_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("input");
    fs::write(&path, "from a file").expect("written");
    let mut executor = executor();
    let mut output = |command: &str, stdin: Stdin| {
        let mut execution = shell(command);
        execution.stdin = stdin;
        text(&executor.execute(&execution).expect("lives").stdout)
    };
    let many = vec![b'x'; 5 << 20];
    assert_eq!(output("cat", Stdin::File(path)), "from a file");
    assert_eq!(output("cat", Stdin::Null), "");
    assert_eq!(output("wc -c", Stdin::Bytes(many.clone())), "5242880\n");
    assert_eq!(output("head -c 2", Stdin::Bytes(many.clone())), "xx");
    assert_eq!(output("echo deaf", Stdin::Bytes(many)), "deaf\n");
}

#[test]
fn only_the_end_of_much_output_is_kept() {
    let mut execution = shell("head -c 200M /dev/zero; printf end; echo trouble >&2");
    execution.keep_stdout = 5;
    let executed = execute(&execution);
    let expected = OutputTail {
        bytes: b"\0\0end".to_vec(),
        total: (200 << 20) + 3,
    };
    assert_eq!(executed.end, ExecutionEnd::Exited(0));
    assert_eq!(executed.stdout, expected);
    assert_eq!(text(&executed.stderr), "trouble\n");
}

#[test]
fn output_that_nobody_wants_is_not_taken_in() {
    let mut execution = shell("head -c 1M /dev/zero; exec 3>&1; readlink /proc/self/fd/3 >&2");
    execution.keep_stdout = 0;
    let executed = execute(&execution);
    assert_eq!(executed.stdout, OutputTail::default());
    assert_eq!(text(&executed.stderr), "/dev/null\n");
}

#[test]
fn a_command_that_ignores_sigterm_is_killed_after_its_time_limit() {
    let mut execution = shell("trap '' TERM; while :; do sleep 0.05; done");
    execution.time_limit = Some(Duration::from_secs(1));
    let executed = execute(&execution);
    assert_eq!(executed.end, ExecutionEnd::TimedOut);
    let limit_and_grace = Duration::from_secs(2);
    assert!(executed.wall >= limit_and_grace, "{:?}", executed.wall);
}

#[test]
fn a_command_may_clear_away_at_its_time_limit() {
    let mut execution = shell("trap 'echo cleared; exit 3' TERM; sleep 30 & wait");
    execution.time_limit = Some(Duration::from_secs(1));
    let executed = execute(&execution);
    assert_eq!(executed.end, ExecutionEnd::TimedOut);
    assert_eq!(text(&executed.stdout), "cleared\n");
    assert!(executed.usage.is_some());
}

#[test]
fn a_daemon_that_keeps_the_output_open_is_counted_and_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pid");
    let mut executor = executor();
    let daemon = format!(
        "setsid sh -c 'echo $$ > {}; trap \"\" TERM; while :; do echo noise; sleep 0.01; done' & \
         while ! [ -s {0} ]; do sleep 0.01; done; echo started",
        path.display()
    );
    let executed = executor.execute(&shell(&daemon)).expect("lives");
    assert_eq!(executed.end, ExecutionEnd::Exited(0));
    assert!(executed.left_behind >= 1, "{executed:?}");
    assert!(text(&executed.stdout).contains("started\n"));
    assert!(!is_alive(&line_of(&path)), "the daemon is still there");
    let after = executor.execute(&words(&["echo", "clean"])).expect("lives");
    assert_eq!(
        (text(&after.stdout), after.left_behind),
        ("clean\n".to_owned(), 0)
    );
}

#[test]
fn a_helper_that_ends_by_itself_is_not_counted() {
    let executed = execute(&shell("(sleep 0.001; echo late) & echo early"));
    assert_eq!(text(&executed.stdout), "early\nlate\n");
    assert_eq!(executed.left_behind, 0);
}

/// When the 500 MB of this process start `/bin/true` themselves, by the standard
/// library's `Command` as it is, `true` is said to have needed 500 MB: the standard
/// library shares its memory with the child until exec, and on exec the kernel takes
/// the resident size of the memory given up as the first value of `ru_maxrss`.
#[test]
fn peak_memory_is_the_childs_own_however_large_this_process_is() {
    let ballast = vec![1_u8; 500 << 20];
    let mut executor = executor();
    let executed = executor.execute(&words(&["/bin/true"])).expect("lives");
    let usage = executed.usage.expect("it ran");
    assert!(usage.peak_memory > 100 << 10, "{usage:?}");
    assert!(usage.peak_memory < 8 << 20, "{usage:?}");
    let direct = direct_peak_memory();
    assert!(
        direct > 500 << 20,
        "only {direct}: is the launcher still needed?"
    );
    assert_eq!(ballast.last(), Some(&1));
}

/// Returns the peak memory of `/bin/true` started by this very process, in bytes.
#[expect(unsafe_code, reason = "only wait4 gives the usage of one child")]
#[expect(clippy::zombie_processes, reason = "wait4 waits for it")]
fn direct_peak_memory() -> i64 {
    let child = Command::new("/bin/true").spawn().expect("true starts");
    let process = libc::pid_t::try_from(child.id()).expect("a process number");
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to live variables of the types that wait4 writes,
    // and an rusage is plain numbers.
    let usage = unsafe {
        let waited = libc::wait4(process, &raw mut status, 0, usage.as_mut_ptr());
        assert_eq!(waited, process);
        usage.assume_init()
    };
    usage.ru_maxrss * 1024
}

#[test]
fn usage_is_that_of_the_command() {
    let busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; head -c 40M /dev/zero | tail -c 30M >/dev/null";
    let executed = execute(&shell(busy));
    let usage = executed.usage.expect("it ran");
    assert!(usage.user > Duration::from_millis(10), "{usage:?}");
    assert!(usage.user + usage.system <= 4 * executed.wall, "{usage:?}");
    assert!(usage.peak_memory > 30 << 20, "{usage:?}");
    assert!(usage.minor_faults > 1000, "{usage:?}");
    assert!(usage.voluntary_switches > 0, "{usage:?}");
}

#[test]
fn commands_run_where_they_are_pinned() {
    let mut executor = pinned_executor(Some("0"));
    let allowed = "grep Cpus_allowed_list /proc/self/status";
    let executed = executor.execute(&shell(allowed)).expect("lives");
    assert_eq!(text(&executed.stdout), "Cpus_allowed_list:\t0\n");
    let wrong = LocalExecutor::start(&LauncherOptions {
        program: env!("CARGO_BIN_EXE_lapwing-launcher").into(),
        cpus: Some("0,x".to_owned()),
        ..LauncherOptions::default()
    });
    assert_eq!(
        wrong.expect_err("`x` is no CPU").to_string(),
        "`x` in the list of CPUs `0,x` is neither a number nor a range such as `0-3`"
    );
}

#[test]
fn an_interruption_ends_the_execution_and_all_later_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pid");
    let mut executor = executor();
    let interrupter = executor.interrupter();
    let waiting = path.clone();
    let interruption = thread::spawn(move || {
        let process = line_of(&waiting);
        interrupter.interrupt();
        process
    });
    let command = format!("sleep 60 & echo $! > {}; wait", path.display());
    let executed = executor.execute(&shell(&command)).expect("lives");
    assert_eq!(executed.end, ExecutionEnd::Interrupted);
    assert!(executed.wall < Duration::from_secs(30));
    let process = interruption.join().expect("interrupted");
    assert!(!is_alive(&process));
    let later = executor.execute(&words(&["true"])).expect("no error");
    assert_eq!((later.end, later.usage), (ExecutionEnd::Interrupted, None));
}

#[test]
fn optional_measures_are_there_or_say_why_not() {
    let mut executor = executor();
    let abilities = executor.abilities().expect("lives");
    let floor = abilities.peak_memory_floor;
    assert!(floor.is_power_of_two() && floor <= 8 << 20, "{floor}");
    let mut execution = words(&["/bin/true"]);
    execution.counters = true;
    executor.execute(&execution).expect("lives");
    let small = executor.execute(&execution).expect("lives").usage;
    let small = small.expect("it ran");
    assert_eq!(small.peak_memory, floor);
    for (ability, value) in [
        (&abilities.cgroup_peak_memory, small.cgroup_peak_memory),
        (&abilities.instructions, small.instructions),
        (&abilities.cycles, small.cycles),
    ] {
        match ability {
            Ability::Available(_) => assert!(value > Some(0), "{ability:?} {small:?}"),
            Ability::Unavailable(reason) => {
                assert!(!reason.is_empty());
                assert_eq!(value, None, "{ability:?}");
            }
        }
    }
}

#[test]
fn hardware_counters_count() {
    let mut executor = executor();
    let abilities = executor.abilities().expect("lives");
    for ability in [&abilities.instructions, &abilities.cycles] {
        if let Ability::Unavailable(reason) = ability {
            absent(reason);
            return;
        }
    }
    let mut execution = words(&["/bin/true"]);
    execution.counters = true;
    let usage = executor.execute(&execution).expect("lives").usage;
    let usage = usage.expect("it ran");
    assert!(
        usage.instructions > Some(0) && usage.cycles > Some(0),
        "{usage:?}"
    );
}

#[test]
fn the_peak_memory_of_a_control_group_is_that_of_all_its_processes_at_once() {
    let mut executor = executor();
    let abilities = executor.abilities().expect("lives");
    if let Ability::Unavailable(reason) = &abilities.cgroup_peak_memory {
        absent(reason);
        return;
    }
    let mut peak = |command: &str| {
        let mut execution = shell(command);
        execution.counters = true;
        let executed = executor.execute(&execution).expect("lives");
        executed.usage.and_then(|usage| usage.cgroup_peak_memory)
    };
    // Two processes of 60 MB at a time, and afterwards a small one again.
    let large = peak("head -c 60M /dev/zero | tail -c 60M | tail -c 60M | wc -c");
    assert!(large > Some(110 << 20), "{large:?}");
    let small = peak("true");
    assert!(small < Some(30 << 20), "{small:?}");
}

#[test]
fn the_control_group_is_gone_after_the_executor() {
    let mut executor = executor();
    executor.abilities().expect("lives");
    let executed = executor
        .execute(&words(&["cat", "/proc/self/cgroup"]))
        .expect("lives");
    let groups = text(&executed.stdout);
    let mut parts = groups.split(['/', '\n']);
    let Some(group) = parts.find(|part| part.starts_with("lapwing-")) else {
        absent("this machine lets no control group be made");
        return;
    };
    drop(executor);
    let found = Command::new("find")
        .args(["/sys/fs/cgroup", "-maxdepth", "6", "-name", group])
        .output()
        .expect("find starts");
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

/// Serves as the program that gets killed in the test below.
#[test]
#[ignore = "is started by the test that follows"]
fn victim() {
    let path = std::env::var("VICTIM_PATH").expect("set by the test that follows");
    let command = format!("setsid sleep 100 & echo $! > {path}; sleep 100");
    let _never = executor().execute(&shell(&command));
}

#[test]
fn what_runs_dies_with_a_program_that_is_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pid");
    let mut program = Command::new(std::env::current_exe().expect("this test"))
        .args(["--ignored", "--exact", "local_executor::victim"])
        .env("VICTIM_PATH", &path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("this test starts again");
    let process = line_of(&path);
    assert!(is_alive(&process));
    program.kill().expect("killed");
    program.wait().expect("gone");
    assert!(becomes_true(|| !is_alive(&process)), "its child lives on");
}

#[test]
fn the_output_of_commands_tells_about_the_environment() {
    let commands = [
        ("version", "printf '1.2\\n3\\n\\n'"),
        ("broken", "echo no; exit 3"),
        ("here", "pwd"),
    ];
    let commands = commands
        .map(|(name, text)| (name.to_owned(), CommandLine::Shell(text.to_owned())))
        .into();
    let found = command_outputs(&mut executor(), &commands, Some(Path::new("/")));
    let expected = serde_json::json!({
        "broken": { "error": "exit code 3" },
        "here": "/",
        "version": "1.2\n3",
    });
    assert_eq!(serde_json::Value::from(found.expect("lives")), expected);
}

#[test]
fn a_killed_launcher_is_an_error() {
    let error = executor()
        .execute(&shell("kill -9 $PPID"))
        .expect_err("nobody answers");
    let source = std::error::Error::source(&error).expect("a cause");
    assert_eq!(
        (error.to_string(), source.to_string()),
        (
            "cannot start commands: executing a command".to_owned(),
            "the launcher is gone".to_owned()
        )
    );
}

#[test]
fn a_server_that_setup_starts_lives_until_the_instance_is_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pid");
    let mut executor = executor();
    let mut setup = shell(&format!(
        "setsid sh -c 'echo $$ > {}; while :; do sleep 0.05; done' & while [ ! -s {} ]; do sleep 0.01; done",
        path.display(),
        path.display()
    ));
    setup.leftovers = LeftoverPolicy::Keep;
    let executed = executor.execute(&setup).expect("lives");
    assert_eq!(
        (executed.end, executed.left_behind),
        (ExecutionEnd::Exited(0), 0)
    );
    let server = line_of(&path);

    let other = executor.execute(&shell("sleep 100 & true")).expect("lives");
    assert_eq!(other.left_behind, 1, "only what this one left is ended");
    assert!(is_alive(&server), "the server was ended too early");

    executor.end_kept().expect("lives");
    assert!(!is_alive(&server), "the server outlives its instance");
}
