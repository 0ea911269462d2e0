//! Go's `go test -bench`: text, one result of one benchmark a line.

mod drafts;
mod line;
mod results;
mod stream;
mod text;
mod visits;

pub(super) use crate::go::line::Quantity;
use crate::go::line::{GoLine, parse};
use crate::go::results::Results;
use crate::go::stream::{GoSaid, read_text};
use crate::go::text::GoText;
use crate::shared::detect::first_line;
use crate::shared::intake::{Intake, SessionDraft};
use crate::shared::notes::Notes;
use crate::shared::reading::moment::moment;
use crate::shared::sink::Sink;
use crate::{Format, ImportError, Source};

pub(super) const FORMAT: Format = Format::new(
    "go",
    "output of go test -bench, also with -json",
    looks_like,
    read,
);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(head);
    let first = first_line(head);
    if first.starts_with(b"{\"Time\":") || first.starts_with(b"{\"Action\":") {
        return (text.contains("\"Package\":") && text.contains("Benchmark"))
            .then_some("its first line is an event of `go test -json`");
    }
    text.lines()
        .any(|line| matches!(parse(line), Ok(GoLine::Result(_))))
        .then_some("it has a line `Benchmark… <iterations> <value> <unit>`")
}

/// Settings that Go writes itself: what was observed, and not chosen.
pub(super) const OBSERVED: [&str; 3] = ["goos", "goarch", "cpu"];

/// Settings that say which version of the software was measured.
pub(super) const VERSION: [&str; 4] = ["commit", "branch", "commit-time", "commit-date"];

/// Settings that say when it was measured.
const WHEN: [&str; 2] = ["date", "runstamp"];

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    // Which settings vary and which failures stand for others shows only at the end, so the
    // results are taken when the source is read again.
    let mut text = GoText::default();
    read_text(source, &mut text, &mut |_text, _said| Ok(()))?;
    text.complete();
    let session = SessionDraft {
        started: text.started.or_else(|| when(&text)),
        ..SessionDraft::of("go test")
    };
    let mut intake = Intake::begin(source, &digest, sink, session)?;
    note(&text, intake.notes());
    for (name, line) in text.never_ended() {
        let why = "its figures are missing";
        intake.found().without_result(name, line, why);
    }
    for (package, line) in &text.not_built {
        let why = "the package was not built";
        intake.found().without_result(package, *line, why);
    }
    let failures = text.rewind();
    let mut results = Results::of(&text, failures);
    read_text(source, &mut text, &mut |text, said| {
        match said {
            GoSaid::Measured(measured) => return results.take(text, &measured, &mut intake),
            GoSaid::Bad(bad) => intake.bad(bad),
            GoSaid::Nothing(line) => intake
                .notes()
                .left_line(line, "they are neither results nor settings"),
            GoSaid::Surplus(key) => intake.notes().left(key, "there are more than 200 settings"),
        }
        Ok(())
    })?;
    results.finish(&text, &mut intake)?;
    intake.finish()
}

fn when(text: &GoText) -> Option<jiff::Timestamp> {
    let settings = text.settings.first()?;
    WHEN.iter().find_map(|key| moment(settings.get(*key)?))
}

fn note(text: &GoText, notes: &mut Notes) {
    for name in &text.failed_in_part {
        notes.left(&format!("the failure of {name}"), "a part of it says why");
    }
    for (unit, pairs) in &text.unit_metadata {
        if pairs.keys().any(|key| key != "better") {
            notes.kept(&format!("Unit {unit}"), "attributes of the run");
        }
    }
}

#[cfg(test)]
mod tests;
