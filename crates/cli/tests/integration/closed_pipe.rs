//! A reader that wants no more, such as `head -1`, is no error.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::noise_fixture::filled;

/// Returns the first line that the program writes, what it complains of once nobody reads on, and its exit code.
fn first_line(folder: &Path, arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut line).unwrap();
    drop(reader);
    let mut complaint = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut complaint)
        .unwrap();
    (line, complaint, child.wait().unwrap().code())
}

#[test]
fn a_long_answer_ends_quietly_when_nobody_reads_on() {
    let folder = filled();
    // More than a pipe holds.
    let slowdowns: Vec<String> = (1..=60).map(|it| format!("{it}%")).collect();
    let slowdowns = format!("slowdowns={}", slowdowns.join(","));
    let mds = |format| {
        let arguments = [
            "mds",
            "--closed-form",
            "--grid",
            &slowdowns,
            "--format",
            format,
        ];
        first_line(folder.path(), &arguments)
    };
    let quiet = |line: &str| (line.to_owned(), String::new(), Some(0));
    assert_eq!(mds("json"), quiet("{\n"));
    let columns = "suite,benchmark,metric,variant,version,session,method,strategy,slowdown,instances,iterations,\
                   detection_rate,lower,upper,undetermined,experiments,basis\n";
    assert_eq!(mds("csv"), quiet(columns));
}
