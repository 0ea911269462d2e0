//! A machine without machine: scripted commands and a clock that only they move.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::execution::execute::{
    Clock, Execution, ExecutionEnd, ExecutionResult, Executor, ExecutorError, OutputTail,
    ResourceUsage,
};
use super::execution::runner::MachineWatch;
use crate::suite::CommandLine;
use lapwing_model::Object;

/// A clock that stands still until something moves it.
#[derive(Debug, Clone, Default)]
pub struct FakeClock {
    elapsed: Rc<Cell<Duration>>,
}

impl FakeClock {
    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        self.elapsed.set(self.elapsed.get() + by);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        let start = Timestamp::constant(1_763_632_800, 0);
        let elapsed = SignedDuration::try_from(self.elapsed.get()).unwrap_or_default();
        start.checked_add(elapsed).unwrap_or(start)
    }

    fn elapsed(&self) -> Duration {
        self.elapsed.get()
    }
}

/// What a scripted command does each time that it is executed.
#[derive(Debug, Clone)]
pub struct FakeScript {
    /// How long it takes.
    pub wall: Duration,
    /// How it ends.
    pub end: ExecutionEnd,
    /// What it prints.
    pub stdout: String,
    /// What it writes to the file that its argument `--lapwing-output` or `--lapwing-collect` names.
    pub written: Option<String>,
}

impl FakeScript {
    /// Returns a command that takes this long and succeeds silently.
    pub fn takes(milliseconds: u64) -> Self {
        Self {
            wall: Duration::from_millis(milliseconds),
            end: ExecutionEnd::Exited(0),
            stdout: String::new(),
            written: None,
        }
    }
}

/// Executes scripts instead of commands, and remembers what it was asked for.
#[derive(Debug, Default)]
pub struct FakeExecutor {
    clock: FakeClock,
    scripts: BTreeMap<String, VecDeque<FakeScript>>,
    /// The text of every command that was executed, in order.
    pub executed: Vec<String>,
    /// The result of the command that was started, and when it ends.
    started: Option<(ExecutionResult, Duration)>,
}

impl FakeExecutor {
    /// Returns an executor that moves this clock.
    pub fn new(clock: &FakeClock) -> Self {
        Self {
            clock: clock.clone(),
            ..Self::default()
        }
    }

    /// Says what the command of that text, or one that begins with it, does the first, second, … time; the last
    /// script is repeated for ever.
    pub fn script(&mut self, command: &str, scripts: impl IntoIterator<Item = FakeScript>) {
        self.scripts
            .insert(command.to_owned(), scripts.into_iter().collect());
    }
}

impl Executor for FakeExecutor {
    fn begin(&mut self, execution: &Execution) -> Result<(), ExecutorError> {
        let result = self.result(execution);
        let end = self.clock.elapsed() + result.wall;
        self.started = Some((result, end));
        Ok(())
    }

    fn finish(&mut self) -> Result<ExecutionResult, ExecutorError> {
        let Some((result, end)) = self.started.take() else {
            return Ok(not_started("nothing was started"));
        };
        // Another executor of the same clock may have waited longer.
        self.clock.advance(end.saturating_sub(self.clock.elapsed()));
        Ok(result)
    }

    fn end_kept(&mut self) -> Result<(), ExecutorError> {
        Ok(())
    }
}

fn not_started(reason: &str) -> ExecutionResult {
    ExecutionResult::without_start(ExecutionEnd::NotStarted(reason.to_owned()))
}

impl FakeExecutor {
    fn result(&mut self, execution: &Execution) -> ExecutionResult {
        let text = crate::suite::command_text(&execution.command);
        self.executed.push(text.clone());
        let known = |key: &&String| text == **key || text.starts_with(&format!("{key} "));
        let key = self.scripts.keys().filter(known).max_by_key(|it| it.len());
        let key = key.cloned().unwrap_or_default();
        let Some(scripts) = self.scripts.get_mut(&key) else {
            return not_started(&format!("no such command: {text}"));
        };
        let script = if scripts.len() > 1 {
            scripts.pop_front()
        } else {
            scripts.front().cloned()
        };
        let script = script.unwrap_or_else(|| FakeScript::takes(0));
        if let (Some(content), CommandLine::Words(words)) = (&script.written, &execution.command) {
            let option = |it: &String| it == "--lapwing-output" || it == "--lapwing-collect";
            let file = words
                .iter()
                .position(option)
                .and_then(|at| words.get(at + 1));
            // A test that expects the file finds out that it is not there.
            let _written = file.map(|file| std::fs::write(file, content));
        }
        ExecutionResult {
            end: script.end,
            wall: script.wall,
            usage: Some(ResourceUsage {
                user: script.wall / 2,
                ..ResourceUsage::default()
            }),
            stdout: OutputTail {
                total: script.stdout.len() as u64,
                bytes: script.stdout.into_bytes(),
            },
            stderr: OutputTail::default(),
            left_behind: 0,
        }
    }
}

/// Sees nothing.
#[derive(Debug, Default)]
pub struct FakeWatch;

impl MachineWatch for FakeWatch {
    fn begin(&mut self) {}

    fn end(&mut self, _own: Duration) -> Object {
        Object::new()
    }
}
