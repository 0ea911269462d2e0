use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use lapwing_model::{Id, InstanceEnd, InstanceOutcome};

use super::*;
use crate::suite::{SchedulerSettings, SshSettings};

fn ended() -> Record {
    let id = Id::from(uuid::Uuid::from_u128(7));
    Record::InstanceEnd(InstanceEnd::new(id, None, InstanceOutcome::Ok))
}

fn printed(records: usize) -> Vec<u8> {
    let mut output = Vec::new();
    let mut printer = RecordPrinter::new(&mut output);
    for _ in 0..records {
        printer.print(&ended()).expect("printed");
    }
    output
}

fn lines(count: usize) -> Vec<u8> {
    let mut line = Vec::new();
    write_line(&mut line, &ended()).expect("written");
    line.repeat(count)
}

#[test]
fn records_are_found_among_everything_else() {
    let noise = [
        b"Welcome to n1\nno end of line".as_slice(),
        &printed(2),
        b"bye\n",
    ]
    .concat();
    let output = JobOutput::parse(&noise);
    assert_eq!(output.records, lines(2));
    assert_eq!(output.rest, b"Welcome to n1\nno end of line\nbye\n");
    // As a terminal in between would write it.
    let carriage = String::from_utf8(printed(2))
        .expect("a text")
        .replace('\n', "\r\n");
    assert_eq!(JobOutput::parse(carriage.as_bytes()).records, lines(2));
}

#[test]
fn a_torn_record_and_those_after_a_lost_one_do_not_count() {
    let whole = printed(3);
    for cut in 1..whole.len() / 3 {
        let output = JobOutput::parse(&whole[..whole.len() - cut]);
        assert_eq!(output.records, lines(2), "{cut}");
    }
    let first = whole[1..]
        .iter()
        .position(|it| *it == b'\n')
        .expect("a line")
        + 2;
    // The log was cut at its beginning.
    assert_eq!(JobOutput::parse(&whole[first..]), JobOutput::default());
    let mut broken = whole.clone();
    broken.splice(first + 30..first + 30, *b"\nnote: x\n");
    let output = JobOutput::parse(&broken);
    assert_eq!(output.records, lines(1));
}

fn script(set_up: &[&str], lifetime: JobLifetime, program: &Path, here: &Path) -> String {
    let plan = Plan::of_cases("s", Vec::new(), 7);
    let session = serde_json::json!({
        "id": uuid::Uuid::from_u128(1), "suite": "s", "started": "2026-01-01T00:00:00Z", "tool": "lapwing 1",
    });
    let session = serde_json::from_value(session).expect("a session");
    let packet = TaskPacket {
        tool: "lapwing 1".to_owned(),
        session,
        runs: Vec::new(),
        plan,
        sources: VariantSources::default(),
        look: None,
        task: ClusterTask {
            instances: Vec::new(),
        },
    };
    let ssh = SshSettings {
        hosts: vec!["n1".to_owned()],
        ..SshSettings::default()
    };
    let settings = ClusterSettings {
        set_up: set_up.iter().map(|it| (*it).to_owned()).collect(),
        ..ClusterSettings::of(SchedulerSettings::Ssh(ssh))
    };
    packet_script((program, here), &packet, lifetime, &settings).expect("written")
}

/// A program in the place of Lapwing.
fn stand_in(folder: &Path, text: &str) -> std::path::PathBuf {
    let path = folder.join("it's a program");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
    let own = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&path, own).expect("permitted");
    path
}

/// Gives a script to a shell as ssh does, with the connection open for so long.
fn over_ssh(script: &str, open: Duration) -> Output {
    over_ssh_to("sh", script, open)
}

fn over_ssh_to(shell: &str, script: &str, open: Duration) -> Output {
    let words: Vec<&str> = shell.split(' ').collect();
    let mut shell = Command::new("setsid");
    shell.args(words).stdin(Stdio::piped());
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = shell.spawn().expect("started");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(script.as_bytes()).expect("sent");
    let closing = std::thread::spawn(move || {
        std::thread::sleep(open);
        drop(input);
    });
    let output = child.wait_with_output().expect("ended");
    closing.join().expect("closed");
    output
}

#[test]
fn only_the_program_prints_to_the_output_and_it_gets_the_packet() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = stand_in(folder.path(), "echo \"$@\"; pwd; head -c 19");
    for lifetime in [JobLifetime::OfItsOwn, JobLifetime::OfItsInput] {
        let mut set_up = vec!["echo loading; cat", "MODE='fast one'"];
        if lifetime == JobLifetime::OfItsInput {
            // It would keep the connection open.
            set_up.push("sleep 60 & :");
        }
        let text = script(&set_up, lifetime, &program, folder.path());
        let output = over_ssh(
            &format!("LAPWING_HOST='n 1'\n{text}"),
            Duration::from_millis(300),
        );
        let here = fs::canonicalize(folder.path()).expect("there");
        let expected = format!(
            "cluster-packet --host=n 1\n{}\n{{\"tool\":\"lapwing 1\"",
            here.display()
        );
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.trim(), "loading");
    }
}

#[test]
fn a_set_up_or_directory_that_fails_ends_the_job() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = stand_in(folder.path(), "echo measured");
    let moment = Duration::from_millis(200);
    let failing = script(
        &["true", "false"],
        JobLifetime::OfItsInput,
        &program,
        folder.path(),
    );
    let output = over_ssh(&failing, moment);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said, "lapwing: this line of set_up failed: false\n");
    let absent = script(
        &[],
        JobLifetime::OfItsInput,
        &program,
        Path::new("/no/such"),
    );
    let output = over_ssh(&absent, moment);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("name a directory of this host"), "{said}");
}

#[test]
fn a_job_ends_when_its_connection_is_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = stand_in(
        folder.path(),
        "trap 'echo told; exit 130' TERM; sleep 60 & wait",
    );
    let start = Instant::now();
    let text = script(&[], JobLifetime::OfItsInput, &program, folder.path());
    for shell in ["sh", "bash", "bash -l"] {
        let output = over_ssh_to(shell, &text, Duration::from_millis(300));
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(printed, "told\n", "{shell}");
    }
    let text = script(
        &["sleep 60"],
        JobLifetime::OfItsInput,
        &program,
        folder.path(),
    );
    over_ssh(&text, Duration::from_millis(300));
    assert!(start.elapsed() < Duration::from_secs(30));
}
