//! Calls the programs of schedulers, which may hang.

use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::scheduler::JobError;
use crate::session::Interrupts;

/// How long a question may take, such as `squeue`.
const QUESTION: Duration = Duration::from_secs(60);
/// How long the start of a job may take: a command of the user may have to wait for a machine.
const SUBMISSION: Duration = Duration::from_secs(600);
/// How long a program may take from Ctrl-C on: half a submission leaves jobs that are not known.
const LAST_MOMENT: Duration = Duration::from_secs(5);

/// The time between two looks at a program: short at first.
const SHORTEST_LOOK: Duration = Duration::from_millis(1);
const LONGEST_LOOK: Duration = Duration::from_millis(50);

/// Calls programs, and ends those that do not answer.
#[derive(Debug, Clone, Default)]
pub struct SchedulerPrograms {
    interrupts: Interrupts,
}

impl SchedulerPrograms {
    /// Returns the calls of a process with these interrupts.
    pub fn new(interrupts: Interrupts) -> Self {
        Self { interrupts }
    }

    /// Runs a program that answers a question or cancels jobs, and returns what it prints.
    pub fn ask(&self, command: &mut Command) -> Result<String, JobError> {
        self.output_of(command, QUESTION)
    }

    /// Runs a program that starts jobs, and returns what it prints.
    pub fn submit(&self, command: &mut Command) -> Result<String, JobError> {
        self.output_of(command, SUBMISSION)
    }

    fn output_of(&self, command: &mut Command, limit: Duration) -> Result<String, JobError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let not_started = |source| JobError::NotStarted {
            program: program.clone(),
            source,
        };
        // In a process group of its own: Ctrl-C must not end a submission half-way.
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(not_started)?;
        let readers = [
            child.stdout.take().map(read_in_background),
            child.stderr.take().map(read_in_background),
        ];
        let start = Instant::now();
        let has_ended = |child: &mut Child| {
            // What it has started may hold them open for longer.
            let are_read = readers.iter().flatten().all(JoinHandle::is_finished);
            if are_read { child.try_wait() } else { Ok(None) }
        };
        let ended = self.wait(&mut child, limit, has_ended);
        let Some(status) = ended.map_err(not_started)? else {
            return Err(JobError::Silent {
                program,
                waited: start.elapsed(),
            });
        };
        let [printed, said] = readers.map(|reader| {
            let bytes = reader.and_then(|it| it.join().ok());
            String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
        });
        if status.success() {
            return Ok(printed);
        }
        Err(JobError::Refused {
            program,
            how: exit_text(status),
            message: said.trim().to_owned(),
        })
    }

    /// Waits for the end of a program, or ends it: after the limit, or a moment after Ctrl-C, or at once after another
    /// one. Returns `None` if it was ended.
    fn wait(
        &self,
        child: &mut Child,
        limit: Duration,
        has_ended: impl Fn(&mut Child) -> io::Result<Option<ExitStatus>>,
    ) -> io::Result<Option<ExitStatus>> {
        let start = Instant::now();
        let before = self.interrupts.count();
        let mut end = start
            + if before > 0 {
                limit.min(2 * LAST_MOMENT)
            } else {
                limit
            };
        let mut seen = before;
        let mut look = SHORTEST_LOOK;
        loop {
            if let Some(status) = has_ended(child)? {
                return Ok(Some(status));
            }
            let count = self.interrupts.count();
            if count > seen {
                let moment = if seen > 0 {
                    Duration::ZERO
                } else {
                    LAST_MOMENT
                };
                end = end.min(Instant::now() + moment);
                seen = count;
            }
            if Instant::now() >= end {
                // With what it has started: a script of the user waits for other programs.
                let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                let _gone = group.map(|group| kill_process_group(group, Signal::KILL));
                child.wait()?;
                return Ok(None);
            }
            thread::sleep(look);
            look = (look * 2).min(LONGEST_LOOK);
        }
    }
}

fn read_in_background(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read is what is known.
        let _broken = from.read_to_end(&mut bytes);
        bytes
    })
}

/// Returns how a program ended, for people.
pub fn exit_text(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeping() -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600; echo late"]);
        command
    }

    #[test]
    fn a_program_that_does_not_answer_is_ended_with_what_it_started() {
        let programs = SchedulerPrograms::default();
        let asked = programs.output_of(&mut sleeping(), Duration::from_millis(200));
        let error = asked.expect_err("no answer").to_string();
        assert_eq!(error, "`sh` does not answer: it was ended after 0 s");
    }

    #[test]
    fn a_second_interrupt_ends_it_at_once() {
        let interrupts = Interrupts::default();
        let programs = SchedulerPrograms::new(interrupts.clone());
        let presser = thread::spawn(move || {
            for _ in 0..2 {
                thread::sleep(Duration::from_millis(100));
                interrupts.interrupt();
            }
        });
        let start = Instant::now();
        let asked = programs.ask(&mut sleeping());
        assert!(matches!(asked, Err(JobError::Silent { .. })), "{asked:?}");
        assert!(start.elapsed() < LAST_MOMENT);
        presser.join().expect("pressed");
    }

    #[test]
    fn an_answer_of_any_length_is_returned_and_a_failure_is_named() {
        let programs = SchedulerPrograms::default();
        let call = |text: &str| programs.ask(Command::new("sh").args(["-c", text]));
        let long = call("head -c 300000 /dev/zero | tr '\\0' x").expect("answered");
        assert_eq!(long.len(), 300_000);
        let error = call("echo so >&2; exit 3").expect_err("failed").to_string();
        assert_eq!(error, "`sh` failed (exit code 3): so");
    }
}
