//! `--notify`: new findings for a command, each of them once.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use lapwing_analyse::detect::Finding;
use lapwing_record::{Change, Store, TriageState};
use lapwing_show::answers::detect::DetectAnswer;

use crate::commands::db::said::{annotations, author_name};
use crate::error::CliError;

/// Passes the open findings that were not reported before to a command, and remembers them in the store.
///
/// They are remembered after the command, so that a failure of either reports them again rather than never.
pub(super) fn notify(
    command: &str,
    answer: &DetectAnswer,
    store: &mut Store,
) -> Result<(), CliError> {
    let is_new = |finding: &Finding| finding.is_open() && !finding.is_notified;
    let new = answer.detection.findings.iter().filter(|it| is_new(it));
    let told: Vec<Change> = new
        .map(|finding| {
            let moment = &answer.histories.moments[finding.first_after];
            Change::Triage(moment.triage_of(&finding.subject, TriageState::Notified))
        })
        .collect();
    if told.is_empty() {
        return Ok(());
    }
    tell(command, &serde_json::to_vec(&answer.changes(is_new))?)?;
    let last = store.annotations().last_said(&told)?;
    let records = annotations(&told, &author_name(), None, last);
    store.write(|writer| records.iter().try_for_each(|it| writer.put_own(it)))?;
    Ok(())
}

/// Runs a command with this input. What it prints goes to standard error, as standard output is for the answer.
fn tell(command: &str, input: &[u8]) -> Result<(), CliError> {
    let failed = |what: String| {
        CliError::input(format!("--notify: `{command}` {what}"))
            .consequence("its changes count as not reported: the next --notify reports them again")
    };
    let not_run = |error: io::Error| failed(format!("cannot be run: {error}"));
    let out = io::stderr().as_fd().try_clone_to_owned().map_err(not_run)?;
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(out)
        .spawn()
        .map_err(not_run)?;
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(input) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(not_run(error)),
            // A command may ignore its input.
            Ok(()) | Err(_) => {}
        }
    }
    let status = child.wait().map_err(not_run)?;
    if status.success() {
        Ok(())
    } else {
        Err(failed(format!("failed with {status}")))
    }
}
