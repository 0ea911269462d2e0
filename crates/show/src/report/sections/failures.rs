//! Failures with their messages, newest first.

use crate::sample::{RunSample, short_id};
use lapwing_analyse::sample::{BenchmarkData, VariantNames};
use lapwing_model::{InstanceOutcome, Outcome};
use lapwing_record::IterationDetail;

/// The number of failures on the page; the table of iterations has all.
pub(in crate::report) const SHOWN: usize = 20;

/// The number of characters of a message on the page; the table of iterations has all.
const SHOWN_CHARACTERS: usize = 2_000;

/// One failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::report) struct FailureNote {
    /// `failed`, `timed out`, `instance lost`, …
    pub(in crate::report) what: String,
    /// The iteration, instance, host and run.
    pub(in crate::report) place: String,
    /// Its message; may be empty.
    pub(in crate::report) message: String,
}

/// Returns the latest failures of a benchmark, and how many there are in all.
pub(in crate::report) fn failures(data: &BenchmarkData) -> (Vec<FailureNote>, usize) {
    let mut newest: Vec<_> = data.instances.iter().collect();
    newest.sort_by_key(|instance| {
        let instance_started = instance.instance.started;
        let measured = instance_started.unwrap_or(instance.session.started);
        std::cmp::Reverse((measured, instance.instance.position))
    });
    let variants = VariantNames::of(data);
    let mut failures = Vec::new();
    let mut total = 0;
    for instance in newest {
        let mut add = |what: String, iteration: Option<u32>, message: &str| {
            total += 1;
            if failures.len() < SHOWN {
                let run = RunSample::empty(instance, &variants);
                let host = instance
                    .instance
                    .host
                    .as_ref()
                    .map_or_else(String::new, |host| format!(" on {host}"));
                let iteration =
                    iteration.map_or_else(String::new, |index| format!("iteration {index}, "));
                failures.push(FailureNote {
                    what,
                    place: format!(
                        "{iteration}instance {}{host}, {}",
                        short_id(&instance.instance.id),
                        run.label()
                    ),
                    message: shortened(message),
                });
            }
        };
        if let Some(end) = &instance.end {
            match end.outcome {
                InstanceOutcome::Ok | InstanceOutcome::Skipped => {}
                InstanceOutcome::Failed | InstanceOutcome::TimedOut | InstanceOutcome::Lost => {
                    let what = format!("instance {}", end.outcome.name().replace('_', " "));
                    add(what, None, end.message.as_deref().unwrap_or_default());
                }
            }
        }
        let iterations = &instance.iterations;
        for (at, outcome) in iterations.outcome.iter().enumerate() {
            match outcome {
                Outcome::Ok | Outcome::Skipped => {}
                Outcome::Failed | Outcome::TimedOut => {
                    let message = iterations.messages.get(&at).map_or("", String::as_str);
                    let detail = iterations.details.get(&at);
                    let printed = detail
                        .and_then(IterationDetail::printed)
                        .unwrap_or_default();
                    let text = match (message.is_empty(), printed.is_empty()) {
                        (_, true) => message.to_owned(),
                        (true, false) => printed,
                        // The other lines of the message are the last ones of what was printed.
                        (false, false) => {
                            let first = message.lines().next().unwrap_or_default();
                            format!("{first}\n\n{printed}")
                        }
                    };
                    add(
                        outcome.name().replace('_', " "),
                        Some(iterations.index(at)),
                        &text,
                    );
                }
            }
        }
    }
    (failures, total)
}

/// Returns the end of a long message: there programs say what went wrong.
pub(in crate::report) fn shortened(message: &str) -> String {
    let characters = message.chars().count();
    if characters <= SHOWN_CHARACTERS {
        return message.to_owned();
    }
    let rest: String = message
        .chars()
        .skip(characters - SHOWN_CHARACTERS)
        .collect();
    format!(
        "… {} characters before …\n{rest}",
        characters - SHOWN_CHARACTERS
    )
}
