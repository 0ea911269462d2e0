//! What `cargo bench` prints: Rust's own benchmarks, and Criterion's
//! `--output-format bencher`, which looks the same.

mod lines;

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use crate::libtest::lines::{Came, FailureMessages, LibtestFigures, TestResult, each_result};
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use crate::shared::keys::put;
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{Format, ImportError, Source};
use lapwing_model::InstanceOutcome;

pub(super) const FORMAT: Format = Format::new(
    "libtest",
    "output of cargo bench (libtest)",
    looks_like,
    read,
);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(head);
    let has_test = |line: &str| line.starts_with("test ") && line.contains(" ... ");
    let mut is_broken = false;
    text.lines()
        .any(|line| {
            let is_measured = line.contains(" ... bench: ") || line.starts_with("bench: ");
            is_broken |= has_test(line);
            is_measured && is_broken
        })
        .then_some("it has a line `test … ... bench:`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let mut intake = Intake::begin(source, &digest, sink, SessionDraft::of("cargo bench"))?;
    let run = intake.run(RunDraft::default())?;
    let mut first_target: Option<Option<String>> = None;
    let mut has_several = false;
    let said = each_result(source, |_line, result| {
        match result {
            Ok(TestResult { target, .. }) => match &first_target {
                Some(first) => has_several |= first.as_deref() != target,
                None => first_target = Some(target.map(str::to_owned)),
            },
            Err(bad) => intake.bad(bad),
        }
        Ok(())
    })?;
    let ambiguous = if has_several {
        ambiguous_names(source)?
    } else {
        HashSet::new()
    };
    for name in said.keys() {
        intake.found().without_result(name, 0, "it failed");
    }
    each_result(source, |line, result| match result {
        Ok(TestResult {
            name,
            came: Came::NotRun,
            ..
        }) => {
            let why = "they were not measured: tests, or ignored";
            intake.notes().left(name, why);
            intake
                .found()
                .without_result(name, line, "it was not measured");
            Ok(())
        }
        Ok(TestResult {
            name,
            came: Came::Lost,
            ..
        }) => {
            intake
                .found()
                .without_result(name, line, "its result is missing");
            Ok(())
        }
        Ok(result) => intake.instance(line, run, draft(&result, &ambiguous, &said)),
        // The first reading has told of it.
        Err(_bad) => Ok(()),
    })?;
    intake.finish()
}

/// Enough of a name's digest to tell it from all others.
type NameDigest = [u8; 16];

fn key_of(text: &str) -> NameDigest {
    let digest = Sha256::digest(text.as_bytes());
    std::array::from_fn(|at| digest[at])
}

/// Returns the names that stand for different benchmarks in different programs. Only
/// digests are kept, since there may be millions.
fn ambiguous_names(source: &Source) -> Result<HashSet<NameDigest>, ImportError> {
    let mut targets: HashMap<NameDigest, Option<NameDigest>> = HashMap::new();
    let mut ambiguous = HashSet::new();
    each_result(source, |_line, result| {
        if let Ok(TestResult { name, target, .. }) = result {
            let (name, target) = (key_of(name), target.map(key_of));
            if *targets.entry(name).or_insert(target) != target {
                ambiguous.insert(name);
            }
        }
        Ok(())
    })?;
    Ok(ambiguous)
}

fn draft(
    result: &TestResult<'_>,
    ambiguous: &HashSet<NameDigest>,
    said: &FailureMessages,
) -> InstanceDraft {
    let name = result.name;
    let id = match result.target {
        Some(target) if !ambiguous.is_empty() && ambiguous.contains(&key_of(name)) => {
            format!("{target}::{name}")
        }
        Some(_) | None => name.to_owned(),
    };
    let mut draft = InstanceDraft::of(id);
    put(&mut draft.attributes, "target", result.target);
    match &result.came {
        Came::Failed => {
            draft.outcome = InstanceOutcome::Failed;
            let message = said.get(name).map_or("FAILED", String::as_str);
            draft.message = Some(message.to_owned());
        }
        Came::NotRun | Came::Lost => draft.outcome = InstanceOutcome::Skipped,
        Came::Measured(measured) => summarise(measured, &mut draft),
    }
    draft
}

fn summarise(measured: &LibtestFigures<'_>, draft: &mut InstanceDraft) {
    let unit = Unit::named(measured.unit);
    let metric = if unit.metric.unit == "s" {
        "wall_time"
    } else {
        measured.unit
    };
    let summary = SummaryDraft {
        spread: Some(unit.base(measured.spread)),
        ..SummaryDraft::of(metric, unit.base(measured.centre), measured.statistic)
    };
    draft.summarise(&unit, summary);
    if let Some((rate, unit)) = &measured.rate {
        let unit = Unit::named(unit);
        let metric = if unit.metric.unit == "B/s" {
            "bytes_per_second"
        } else {
            "throughput"
        };
        draft.summarise(&unit, SummaryDraft::of(metric, unit.base(*rate), "median"));
    }
}

#[cfg(test)]
mod tests;
