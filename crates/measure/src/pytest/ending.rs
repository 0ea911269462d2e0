//! How one visit to a test ended, and why.

use std::path::Path;
use std::time::Duration;

use super::super::execution::execute::{ExecutionEnd, ExecutionResult};
use super::super::execution::runner::describe;
use super::super::repository::source::CommitFolder;
use super::output::RecordedTest;
use lapwing_model::{InstanceOutcome, Outcome};

/// How the message of an instance begins of which pytest recorded nothing at all.
pub const RECORDED_NOTHING: &str = "pytest recorded nothing";

/// How an instance ended.
#[derive(Debug)]
pub(super) struct InstanceEnding {
    pub(super) outcome: InstanceOutcome,
    /// Why, if not well.
    pub(super) message: Option<String>,
    /// What is to be said of the iteration that was under way when the process ended, if that was its fault: the
    /// plugin could not write it down any more.
    pub(super) cut_off: Option<(Outcome, String)>,
}

impl InstanceEnding {
    fn without_iteration(outcome: InstanceOutcome, message: Option<String>) -> Self {
        Self {
            outcome,
            message,
            cut_off: None,
        }
    }

    fn failed(message: String, of_iteration: String) -> Self {
        Self {
            outcome: InstanceOutcome::Failed,
            message: Some(message),
            cut_off: Some((Outcome::Failed, of_iteration)),
        }
    }
}

/// Where a commit is, its root folder of pytest, and the id of the test.
pub(super) type TestCommit<'a> = (&'a CommitFolder, &'a Path, &'a str);

/// Returns how the instance ended; `commit` says where the test would be if versions are what varies.
pub(super) fn ending(
    executed: &ExecutionResult,
    recorded: &RecordedTest,
    limit: Option<Duration>,
    commit: Option<TestCommit<'_>>,
) -> InstanceEnding {
    let ended = describe(&executed.end, limit);
    match (&executed.end, &recorded.end) {
        (ExecutionEnd::Interrupted, _) => {
            InstanceEnding::without_iteration(InstanceOutcome::Lost, Some(ended))
        }
        (ExecutionEnd::TimedOut, _) => {
            let message =
                format!("{ended}, which is that of all iterations and 5 minutes to start and end");
            InstanceEnding {
                outcome: InstanceOutcome::TimedOut,
                message: Some(message.clone()),
                cut_off: Some((Outcome::TimedOut, message)),
            }
        }
        _ if recorded.unreadable.is_some() => {
            let reason = recorded.unreadable.as_deref().unwrap_or_default();
            let message = format!("pytest-lapwing wrote an invalid record: {reason}");
            InstanceEnding::failed(message.clone(), message)
        }
        // A test that ends pytest does so each time: measuring it anew would not help.
        (_, Some(end)) if end.outcome == InstanceOutcome::Lost => {
            let message = format!("ended pytest: {ended}");
            InstanceEnding::failed(message.clone(), message)
        }
        (ExecutionEnd::Signalled(_), Some(_)) => {
            let message = format!("pytest died after the last iteration: {ended}");
            InstanceEnding::failed(message.clone(), message)
        }
        (_, Some(end)) => InstanceEnding::without_iteration(end.outcome, end.message.clone()),
        (_, None) => without_end(executed, recorded, &ended, commit),
    }
}

fn without_end(
    executed: &ExecutionResult,
    recorded: &RecordedTest,
    ended: &str,
    commit: Option<TestCommit<'_>>,
) -> InstanceEnding {
    let has_begun = recorded.instance.is_some();
    let said = last_words(executed, has_begun).map_or_else(String::new, |it| format!(": {it}"));
    let ended = format!("{ended}{said}");
    if has_begun {
        return InstanceEnding::failed(format!("pytest died: {ended}"), ended);
    }
    let mut message = format!("{RECORDED_NOTHING}: {ended}");
    if let Some((place, ..)) = commit {
        // The folder is another one each time.
        message = message.replace(&format!("{}/", place.folder.display()), "");
    }
    // What a commit does not have cannot be measured there, and nothing is wrong with that.
    if commit.is_some_and(|it| is_absent(executed, it)) {
        return InstanceEnding::without_iteration(InstanceOutcome::Skipped, Some(message));
    }
    InstanceEnding::failed(message.clone(), message)
}

/// Returns whether pytest did not find a test: with the same exit code it says that it could not even look.
fn is_absent(executed: &ExecutionResult, (_, root, id): TestCommit<'_>) -> bool {
    let file = root.join(id.split("::").next().unwrap_or_default());
    let texts = [executed.stdout.text(), executed.stderr.text()];
    let says = |is_it: &dyn Fn(&str) -> bool| texts.iter().flat_map(|it| it.lines()).any(is_it);
    match executed.end {
        ExecutionEnd::Exited(5) => true,
        ExecutionEnd::Exited(4) if !file.exists() => true,
        ExecutionEnd::Exited(4) => {
            let is_broken = says(&|line| {
                line.starts_with("ERROR ")
                    || line.contains(" ERROR collecting ")
                    || line.starts_with("ImportError while loading conftest")
            });
            !is_broken && says(&|line| line.contains("not found: "))
        }
        ExecutionEnd::Exited(_)
        | ExecutionEnd::Signalled(_)
        | ExecutionEnd::TimedOut
        | ExecutionEnd::Interrupted
        | ExecutionEnd::NotStarted(_) => false,
    }
}

/// Returns the reason that pytest gives, or Python.
fn last_words(executed: &ExecutionResult, has_begun: bool) -> Option<String> {
    let texts = [executed.stderr.text(), executed.stdout.text()];
    let last = |text: &str, is_it: &dyn Fn(&str) -> bool| {
        let lines = text.lines().map(str::trim);
        let found = lines.rev().find(|line| !line.is_empty() && is_it(line));
        found.map(|it| it.trim_start_matches("E  ").trim().to_owned())
    };
    let find = |is_it: &dyn Fn(&str) -> bool| texts.iter().find_map(|text| last(text, is_it));
    // pytest marks what an exception says, then its own words.
    find(&|line| line.starts_with("E  "))
        .or_else(|| find(&|line| line.starts_with("Fatal Python error")))
        .or_else(|| find(&|line| line.starts_with("ERROR") || line.starts_with("INTERNALERROR")))
        .or_else(|| find(&|line| line.contains("not recorded: ")))
        // Once a test is under way pytest's last line only says which one, or what it warned of before; where all
        // went well for pytest, it says nothing of this.
        .or_else(|| {
            let is_reason = !has_begun && executed.end != ExecutionEnd::Exited(0);
            is_reason.then(|| find(&|_any| true))?
        })
}
