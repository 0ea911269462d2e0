//! Notes on what the suite file says about single benchmarks.

use lapwing_analyse::detect::Histories;
use lapwing_analyse::sample::Subject;
use lapwing_model::text::{counted, joined, joined_with_and};
use lapwing_model::{BenchmarkLimits, JudgeSettings};

/// The number of benchmarks that are named.
const NAMED: usize = 3;

/// Returns `muted in the suite file: a and b`; `None` if nothing is.
pub fn muted_note(muted: &[Subject]) -> Option<String> {
    let mut names: Vec<String> = muted.iter().map(|it| it.benchmark.clone()).collect();
    names.dedup();
    let what = match names.len() {
        0 => return None,
        1..=NAMED => joined_with_and(&names),
        several => counted(several, "benchmark"),
    };
    Some(format!("muted in the suite file: {what}"))
}

/// Returns a note on tables `[benchmark.NAME.judge]` that are about no benchmark.
pub fn unknown_note(
    suite: &JudgeSettings,
    histories: &Histories,
    muted: &[Subject],
) -> Option<String> {
    let subjects = || histories.series.iter().map(|it| &it.subject).chain(muted);
    let is_unknown =
        |table: &&BenchmarkLimits| !subjects().any(|subject| table.is_about(&subject.benchmark));
    let unknown = suite.benchmarks.iter().filter(is_unknown);
    let names: Vec<String> = unknown
        .map(|table| format!("[benchmark.{}.judge]", table.name))
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "no benchmark is meant by {} of the suite file",
            joined(names)
        )
    })
}
