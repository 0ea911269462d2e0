//! The filters on what is in a file: of two files one may lack what the other has, so that only a
//! side of which nothing is left is an error.

use std::collections::BTreeSet;

use lapwing_core::record::{Filter, RunRow};

use super::side::{Kind, known};
use crate::error::CliError;

/// One filter: how it is written, and what passes it.
struct Step<'f> {
    option: &'static str,
    wanted: Vec<String>,
    passes: Box<dyn Fn(&RunRow) -> bool + 'f>,
}

/// Returns the runs of a file that pass the filters on runs.
///
/// # Errors
/// When nothing is left, with the filter that took the last.
pub(super) fn passing(
    runs: Vec<RunRow>,
    filter: &Filter,
    file: &str,
) -> Result<Vec<RunRow>, CliError> {
    let mut left = runs.clone();
    let mut taken: Vec<String> = Vec::new();
    for step in steps(filter, &runs) {
        let written = format!("{} {}", step.option, step.wanted.join(", "));
        let passes_alone = runs.iter().any(|run| (step.passes)(run));
        left.retain(|run| (step.passes)(run));
        if left.is_empty() && !runs.is_empty() {
            let what = if passes_alone {
                taken.push(written);
                format!("{} together", taken.join(" and "))
            } else {
                written
            };
            return Err(CliError::input(format!("nothing in {file} passes {what}"))
                .hint(known(&runs, None).unwrap_or_else(|| "leave the filter out".to_owned())));
        }
        taken.push(written);
    }
    Ok(left)
}

/// Returns a filter; `None` where nothing is asked for.
fn step<'f>(
    option: &'static str,
    wanted: &[String],
    passes: Box<dyn Fn(&RunRow) -> bool + 'f>,
) -> Option<Step<'f>> {
    (!wanted.is_empty()).then(|| Step {
        option,
        wanted: wanted.to_vec(),
        passes,
    })
}

fn steps<'f>(filter: &'f Filter, runs: &'f [RunRow]) -> Vec<Step<'f>> {
    let variants = filter.variants.iter();
    let variants: BTreeSet<&str> = variants
        .flat_map(|text| Kind::Variant.chosen(runs, text))
        .map(|run| run.id.as_str())
        .collect();
    let since: Vec<String> = filter.since.iter().map(ToString::to_string).collect();
    let until: Vec<String> = filter.until.iter().map(ToString::to_string).collect();
    [
        step(
            "--in-suite",
            &filter.suites,
            Box::new(|run| filter.suites.contains(&run.suite)),
        ),
        step(
            "--session",
            &filter.sessions,
            Box::new(|run| {
                let named = |text: &String| run.session_name.as_ref() == Some(text);
                let is_it = |text: &String| named(text) || run.session.starts_with(text.as_str());
                filter.sessions.iter().any(is_it)
            }),
        ),
        step(
            "--since",
            &since,
            Box::new(|run| filter.since.is_none_or(|since| run.started >= since)),
        ),
        step(
            "--until",
            &until,
            Box::new(|run| filter.until.is_none_or(|until| run.started < until)),
        ),
        step(
            "--version-under-test",
            &filter.versions,
            Box::new(|run| {
                let is_it = |text: &String| {
                    run.version.as_ref() == Some(text)
                        || run
                            .commit
                            .as_ref()
                            .is_some_and(|it| it.starts_with(text.as_str()))
                };
                filter.versions.iter().any(is_it)
            }),
        ),
        step(
            "--variant",
            &filter.variants,
            Box::new(move |run| variants.contains(run.id.as_str())),
        ),
        step(
            "--only-run",
            &filter.runs,
            Box::new(|run| {
                filter
                    .runs
                    .iter()
                    .any(|text| run.id.starts_with(text.as_str()))
            }),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}
