//! What is recorded of an execution: the iterations that came of it, or why it failed.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value as Json;

use super::execute::{ExecutionEnd, ExecutionResult, OutputTail};
use super::instance::{ExecutionStep, GivenUp, InstanceRunner};
use super::runner::{EventOutlet, RunError};
use super::values::{ExecutionValues, values};
use crate::suite::{Case, OutputMetrics, Statement};
use lapwing_model::{Iteration, Object, Outcome, Record};

/// How much of a failure's output is kept, for people to read.
pub(super) const TAIL: usize = 4 * 1024;
/// As many lines of it are in a message.
const MESSAGE_LINES: usize = 8;
/// The note about a benchmark, after its id.
pub(crate) const LEAVES_PROCESSES: &str = " leaves processes behind when it ends; they are ended";

impl InstanceRunner<'_, '_> {
    /// Records an iteration; returns why the instance ends with it, if it does.
    pub(crate) fn keep_step(
        &mut self,
        offset: f64,
        step: ExecutionStep,
        executed: Option<&ExecutionResult>,
        outlet: &mut EventOutlet<'_, '_>,
    ) -> Result<Option<GivenUp>, RunError> {
        let unstartable = executed.is_some_and(|it| matches!(it.end, ExecutionEnd::NotStarted(_)));
        // An interrupted shell leaves its children behind: that says nothing of the command.
        let left_behind =
            executed.is_some_and(|it| it.left_behind > 0 && it.end != ExecutionEnd::Interrupted);
        if left_behind {
            self.note(LEAVES_PROCESSES, outlet)?;
        }
        let mut last = None;
        match step {
            ExecutionStep::Interrupted => return Ok(Some(GivenUp::interrupted())),
            ExecutionStep::Went(values) => {
                self.failures = 0;
                self.keep_values(offset, values, executed, outlet)?;
            }
            ExecutionStep::Failed { outcome, message } => {
                self.failures += 1;
                let printed = executed.filter(|_| outcome == Outcome::Failed);
                let printed = printed.and_then(|it| last_lines(&it.stderr));
                let message = with_printed(message, printed);
                last = Some(brief(&message));
                self.keep_failure(offset, outcome, message, executed, outlet)?;
            }
        }
        let limit = self.visit.case.max_failures;
        let message = if unstartable {
            "the command could not be started".to_owned()
        } else if limit > 0 && self.failures >= limit {
            let last = last.map_or_else(String::new, |it| format!(": {it}"));
            format!("{limit} iterations failed in a row{last}")
        } else {
            return Ok(None);
        };
        Ok(Some(GivenUp::failed(message)))
    }

    fn keep_values(
        &mut self,
        offset: f64,
        values: ExecutionValues,
        executed: Option<&ExecutionResult>,
        outlet: &mut EventOutlet<'_, '_>,
    ) -> Result<(), RunError> {
        let mut attributes = facts(executed);
        if !values.parameters.is_empty() {
            attributes.insert("parameters".to_owned(), values.parameters.into());
        }
        if !values.document.is_empty() {
            attributes.insert(Iteration::DOCUMENT.to_owned(), values.document.into());
            let stderr = executed.map(|it| readable(&it.stderr)).unwrap_or_default();
            if !stderr.is_empty() {
                attributes.insert("stderr".to_owned(), stderr.into());
            }
        }
        let counts = self.index >= self.burn_in();
        // Each process of a statement is cold at first, also one after a process that failed.
        let is_statement = Statement::interpreter_of(self.visit.case).is_some();
        let cold = if is_statement {
            self.burn_in() as usize
        } else {
            0
        };
        let loops = values.loops.unwrap_or(1);
        for (position, metrics) in values.iterations.into_iter().enumerate() {
            let mut iteration = self.blank(offset);
            iteration.metrics = metrics;
            iteration.loops = loops;
            iteration.burn_in |= position < cold;
            if position == 0 {
                iteration.attributes = std::mem::take(&mut attributes);
            }
            outlet.keep(&Record::Iteration(iteration))?;
            self.index += 1;
        }
        if counts {
            self.measured += executed.map_or(Duration::ZERO, |it| it.wall);
        }
        Ok(())
    }

    fn keep_failure(
        &mut self,
        offset: f64,
        outcome: Outcome,
        message: String,
        executed: Option<&ExecutionResult>,
        outlet: &mut EventOutlet<'_, '_>,
    ) -> Result<(), RunError> {
        let mut iteration = self.blank(offset);
        iteration.outcome = outcome;
        iteration.message = Some(message);
        iteration.attributes = facts(executed);
        if let Some(executed) = executed {
            for (name, tail) in [("stdout", &executed.stdout), ("stderr", &executed.stderr)] {
                if !tail.bytes.is_empty() {
                    let text = readable(tail);
                    iteration.attributes.insert(name.to_owned(), text.into());
                }
            }
            if let ExecutionEnd::Exited(_) | ExecutionEnd::Signalled(_) | ExecutionEnd::TimedOut =
                executed.end
            {
                let case = without_output(self.visit.case);
                let values = values(&case, &BTreeMap::new(), executed, None);
                // Nothing is read from the output here, so nothing can be missing from it.
                if let Ok(mut values) = values {
                    iteration.metrics = std::mem::take(&mut values.iterations[0]);
                }
            }
        }
        outlet.keep(&Record::Iteration(iteration))?;
        self.index += 1;
        self.measured += executed.map_or(Duration::ZERO, |it| it.wall);
        Ok(())
    }

    fn blank(&self, offset: f64) -> Iteration {
        Iteration {
            instance: self.visit.id,
            index: self.index,
            offset: Some(offset),
            burn_in: self.index < self.burn_in(),
            loops: 1,
            outcome: Outcome::Ok,
            message: None,
            metrics: BTreeMap::new(),
            attributes: Object::new(),
            artifacts: Object::new(),
            extra: Object::new(),
        }
    }
}

/// A failed iteration keeps what the operating system counted, and no throughput.
fn without_output(case: &Case) -> Case {
    Case {
        output: OutputMetrics::None,
        patterns: BTreeMap::new(),
        work: BTreeMap::new(),
        ..case.clone()
    }
}

fn facts(executed: Option<&ExecutionResult>) -> Object {
    let Some(executed) = executed else {
        return Object::new();
    };
    let mut facts: Object = exit_fact(executed).into_iter().collect();
    if executed.left_behind > 0 {
        facts.insert("left_behind".to_owned(), executed.left_behind.into());
    }
    facts
}

/// Returns the exit code or the signal by which a process ended, with its key in a record.
pub(crate) fn exit_fact(executed: &ExecutionResult) -> Option<(String, Json)> {
    match executed.end {
        ExecutionEnd::Exited(code) => Some(("exit_code".to_owned(), code.into())),
        ExecutionEnd::Signalled(signal) => Some(("signal".to_owned(), signal.into())),
        ExecutionEnd::TimedOut | ExecutionEnd::Interrupted | ExecutionEnd::NotStarted(_) => None,
    }
}

fn readable(tail: &OutputTail) -> String {
    let kept = &tail.bytes[tail.bytes.len().saturating_sub(TAIL)..];
    let is_cut = tail.total > kept.len() as u64;
    // The end of a word that is cut may be that of a token, which nothing could recognise.
    let whole = kept
        .iter()
        .position(|it| is_cut && it.is_ascii_whitespace());
    String::from_utf8_lossy(&kept[whole.unwrap_or(0)..]).into_owned()
}

/// Returns the last lines that are not blank, at most [`MESSAGE_LINES`]. Some programs print the cause of a failure
/// last (a traceback), others before a hint or their usage.
pub(super) fn last_lines(tail: &OutputTail) -> Option<Vec<String>> {
    let text = readable(tail);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
    lines.drain(..lines.len().saturating_sub(MESSAGE_LINES));
    (!lines.is_empty()).then_some(lines)
}

/// Returns a message with what the program printed: a single line behind it, several below it.
pub(super) fn with_printed(message: String, printed: Option<Vec<String>>) -> String {
    match printed.as_deref() {
        None | Some([]) => message,
        Some([only]) => format!("{message}: {}", only.trim()),
        Some(lines) => format!("{message}\n{}", lines.join("\n")),
    }
}

/// Returns a message in one line: its first line, and of what was printed below it the last one.
pub(crate) fn brief(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|it| !it.is_empty());
    let first = lines.next().unwrap_or_default();
    match lines.next_back() {
        Some(last) => format!("{first}: {last}"),
        None => first.to_owned(),
    }
}
