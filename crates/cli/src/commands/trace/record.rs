//! `lapwing trace record`: what the processes of a command do while it runs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus as Ending};
use std::time::Instant;

use clap::Args;
use jiff::Timestamp;
use lapwing_measure::Environment;
use lapwing_measure::local::{ProcessUsage, watch_processes};
use lapwing_model::text::{plural, shell_word};
use lapwing_model::{Id, Object, Record, Span};
use lapwing_record::private::RecordCleaner;
use lapwing_record::{RECORD_VERSION, RecordFile, parse_line};
use serde_json::{Value, json};

use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::session::{catch_signals, interrupts, new_id};

/// Record what the processes of a command do: on a core, waiting for one or blocked, and their memory
///
/// Looks at the command and all that it starts 50 times a second. `lapwing trace FILE` explains the
/// record by itself; given with logs of the program, as in `lapwing trace findings trace.log
/// recorded.jsonl`, it says how long each task waited for a core. The exit code is the command's.
#[derive(Debug, Args)]
pub struct TraceRecord {
    /// File to write, ending in .jsonl; replaces an older record
    #[arg(long, short, value_name = "FILE", default_value = "recorded.jsonl")]
    output: PathBuf,
    /// Command to run, with its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

impl TraceRecord {
    /// Runs the command.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let mut recorded = RecordedProcesses::create(&self.output, &self.command, context)?;
        catch_signals()?;
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        let begin = Instant::now();
        let now = || i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX);
        let hears_signals = is_in_foreground();
        let watched = watch_processes(&mut command, interrupts(), hears_signals, now, |usage| {
            recorded.add(usage)
        });
        let ending = watched.map_err(|error| {
            CliError::input(format!(
                "cannot record {}: {error}",
                self.command[0].display()
            ))
        })?;
        let seconds = begin.elapsed().as_secs_f64();
        recorded
            .finish(ending, seconds)
            .map_err(|error| cannot_write(&self.output, &error))?;
        if !context.quiet {
            let count = recorded.processes.len();
            let processes = format!("{count} {}", plural(count, "process", "processes"));
            let file = shell_word(&self.output.display().to_string());
            context.terminal.note(&format!(
                "recorded {processes}; `lapwing trace {file}` explains their time"
            ));
        }
        let code = ending.code().or_else(|| Some(128 + ending.signal()?));
        let code = code.and_then(|code| u8::try_from(code).ok());
        Ok(ExitStatus::Command(code.unwrap_or(u8::MAX)))
    }
}

/// Returns whether the terminal sends signals such as Ctrl-C to this process and those that it starts.
fn is_in_foreground() -> bool {
    let terminal = rustix::termios::tcgetpgrp(io::stdin());
    terminal.is_ok_and(|group| group == rustix::process::getpgrp())
}

/// A record file of processes, which is written as they are looked at.
struct RecordedProcesses {
    file: RecordFile,
    instance: Id,
    host: String,
    processes: BTreeSet<i32>,
    spans: u32,
}

impl RecordedProcesses {
    fn create(path: &Path, command: &[OsString], context: &Context) -> Result<Self, CliError> {
        let name = path.file_stem().map(|it| it.to_string_lossy().into_owned());
        let name = name.filter(|_| path.extension().is_some_and(|it| it == "jsonl"));
        let name = name
            .ok_or_else(|| CliError::input(format!("{} does not end in .jsonl", path.display())))?;
        let failed = |error: io::Error| cannot_write(path, &error);
        remove_older(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let cleaner = RecordCleaner::default();
        let file = RecordFile::create(folder, &name, cleaner).map_err(failed)?;
        let words = command
            .iter()
            .map(|word| shell_word(&word.to_string_lossy()));
        let benchmark = words.collect::<Vec<_>>().join(" ");
        let started = Timestamp::now();
        let places = context.machine.places();
        let suite = places.directory.file_name();
        let suite = suite.map_or_else(|| "trace".into(), |it| it.to_string_lossy());
        let environment = Environment::read(Path::new("/"));
        let host = environment.host.clone().unwrap_or_default();
        let (session, run, instance) = (new_id(), new_id(), new_id());
        let mut recorded = Self {
            file,
            instance,
            host,
            processes: BTreeSet::new(),
            spans: 0,
        };
        let records = [
            json!({"kind": "session", "id": session, "suite": suite, "started": started, "tool": places.tool,
                "name": name}),
            json!({"kind": "run", "id": run, "session": session, "environment": environment.into_object(),
                "metrics": {"wall_time": {"unit": "s", "better": "lower"}}}),
            json!({"kind": "instance", "id": instance, "run": run, "benchmark": {"id": benchmark},
                "host": recorded.host, "started": started}),
        ];
        for record in records {
            recorded.append(record).map_err(failed)?;
        }
        Ok(recorded)
    }

    fn append(&mut self, mut record: Value) -> io::Result<()> {
        record["v"] = RECORD_VERSION.into();
        let record = parse_line(record.to_string().as_bytes()).map_err(io::Error::other)?;
        self.file.append(&record)
    }

    fn add(&mut self, usage: ProcessUsage) -> io::Result<()> {
        self.processes.insert(usage.process);
        let attributes: Object = [
            ("pid".to_owned(), usage.process.into()),
            ("parent".to_owned(), usage.parent.into()),
            ("cpu".to_owned(), usage.cpu.into()),
            ("run_delay".to_owned(), usage.run_delay.into()),
            ("memory".to_owned(), usage.memory.into()),
        ]
        .into_iter()
        .collect();
        let span = Span {
            instance: self.instance,
            iteration: None,
            index: self.spans,
            category: "process".to_owned(),
            name: usage.name,
            lane: Some(format!("{}:{}", self.host, usage.process)),
            inputs: None,
            clock: Some("wall".to_owned()),
            events: [
                ("begin".to_owned(), usage.start),
                ("end".to_owned(), usage.end),
            ]
            .into(),
            attributes,
            extra: Object::new(),
        };
        self.spans += 1;
        self.file.append(&Record::Span(span))
    }

    fn finish(&mut self, ending: Ending, seconds: f64) -> io::Result<()> {
        let mut end = json!({"outcome": "ok", "metrics": {"wall_time": seconds}});
        if !ending.success() {
            end = json!({"outcome": "failed", "message": ending.to_string(), "metrics": {}});
        }
        end["instance"] = json!(self.instance);
        end["kind"] = "iteration".into();
        end["index"] = 0.into();
        self.append(end)?;
        let ended = Timestamp::now();
        self.append(json!({"kind": "instance_end", "instance": self.instance, "ended": ended}))
    }
}

/// Removes an older record at a path.
fn remove_older(path: &Path) -> Result<(), CliError> {
    let Ok(file) = fs::File::open(path) else {
        return Ok(());
    };
    let mut line = Vec::new();
    let read = BufReader::new(file)
        .take(1 << 20)
        .read_until(b'\n', &mut line);
    if read.is_err() || parse_line(&line).is_err() {
        return Err(CliError::input(format!(
            "{} is something else than a record, and stays as it is",
            path.display()
        )));
    }
    fs::remove_file(path).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> CliError {
    CliError::input(format!("cannot write {}: {error}", path.display()))
}
