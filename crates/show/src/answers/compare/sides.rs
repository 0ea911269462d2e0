//! Notes on the sides: the A/A control, and unintended differences between environments.

use std::collections::BTreeSet;

use lapwing_analyse::judge::{Comparison, UnintendedDifference, Verdict};
use lapwing_analyse::sample::{MainRuns, SidePool};
use lapwing_model::MetricName;
use lapwing_model::text::{counted, first_names, joined_with_and, plural};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answers::detect::branches_text;
use crate::ratio_text;
use crate::writing::Note;

/// Result of an A/A control: how often the copy of the baseline seemed to differ from it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ControlResult {
    comparisons: usize,
    alarms: Vec<ControlAlarm>,
}

/// A comparison of the baseline with its copy that found a difference.
#[derive(Debug, Serialize, JsonSchema)]
struct ControlAlarm {
    benchmark: String,
    metric: String,
    ratio: f64,
}

impl ControlResult {
    /// Returns the result of these comparisons of a baseline with its copy; `None` if none has a ratio.
    pub fn new(comparisons: &[Comparison]) -> Option<Self> {
        let with_ratio = comparisons.iter().filter(|it| it.ratio.is_some()).count();
        let alarms = comparisons.iter().filter(|comparison| {
            matches!(
                comparison.verdict,
                Verdict::Regression | Verdict::Improvement | Verdict::Changed
            )
        });
        let alarms = alarms.map(|comparison| ControlAlarm {
            benchmark: comparison.subject.benchmark.clone(),
            metric: comparison.subject.metric.clone(),
            ratio: comparison.ratio.map_or(1.0, |ratio| ratio.value),
        });
        (with_ratio > 0).then(|| Self {
            comparisons: with_ratio,
            alarms: alarms.collect(),
        })
    }

    /// Returns a note on the result.
    pub fn note(&self) -> Note {
        let alarms = self.alarms.iter();
        let alarms = alarms.map(|it| (format!("{} {}", it.benchmark, it.metric), it.ratio));
        control_note(self.comparisons, &alarms.collect::<Vec<_>>()).mark()
    }
}

/// Returns the result of an A/A control: the number of comparisons, and those that found a difference, with its ratio.
pub fn control_note(comparisons: usize, alarms: &[(String, f64)]) -> Note {
    let all = counted(comparisons, "comparison");
    let text = if alarms.is_empty() {
        format!("A/A control: no false alarm in {all} of the baseline with its copy")
    } else {
        let named = alarms
            .iter()
            .map(|(name, ratio)| format!("{name} {}", ratio_text(*ratio, None)));
        format!(
            "A/A control: {} in {all} of the baseline with its copy ({}); differences of that size may be noise, too",
            counted(alarms.len(), "false alarm"),
            first_names(named, 4)
        )
    };
    let ratios: Vec<f64> = alarms.iter().map(|(_, ratio)| *ratio).collect();
    Note::new("control", text)
        .with("comparisons", comparisons)
        .with("false_alarms", alarms.len())
        .with("ratios", ratios)
}

/// More differences than this are a number.
const NAMED: usize = 6;

/// Returns a note on what differs between the environments of two sides besides what their variants ask for.
pub fn environment_note(
    [baseline, candidate]: [&str; 2],
    differences: &[UnintendedDifference],
) -> Option<Note> {
    let texts = differences.iter().map(|difference| {
        let [before, after] = difference.values.each_ref().map(|values| {
            if values.is_empty() {
                "none".to_owned()
            } else {
                first_names(values, 2)
            }
        });
        let key = &difference.key;
        let key = key.strip_prefix("packages.").unwrap_or(key);
        format!("{key} {before} → {after}")
    });
    (!differences.is_empty()).then(|| {
        let text = format!(
            "{candidate} differs from {baseline} in more than was asked for: {}",
            first_names(texts, NAMED)
        );
        Note::marked("other_environment", text).with("differences", differences.len())
    })
}

/// Returns a note on the number of runs with uncommitted changes that no side has; `None` if there are none.
pub fn uncommitted_note(runs: usize) -> Option<Note> {
    let verb = plural(runs, "is", "are");
    let text = format!(
        "{} with uncommitted changes {verb} left out; `version:COMMIT+` compares them",
        counted(runs, "run")
    );
    (runs > 0).then(|| Note::marked("uncommitted", text).with("runs", runs))
}

/// Returns a note on the sessions and versions that each side pools; `None` if no side is a pool.
pub fn pool_note(sides: &[SidePool]) -> Option<Note> {
    let texts = sides.iter().map(|side| {
        let sessions = counted(side.sessions, "session");
        let versions = match side.versions {
            0 => String::new(),
            versions => format!(" of {}", counted(versions, "version")),
        };
        format!("{sessions}{versions} in {}", side.name)
    });
    let numbers = |of: fn(&SidePool) -> usize| sides.iter().map(of).collect::<Vec<_>>();
    (!sides.is_empty()).then(|| {
        let text = format!("pooled: {}", texts.collect::<Vec<_>>().join(", "));
        Note::marked("pooled", text)
            .with("sessions", numbers(|it| it.sessions))
            .with("versions", numbers(|it| it.versions))
    })
}

/// What has no part in a comparison.
#[derive(Debug, Clone, Default)]
pub struct Unused {
    /// Metrics that were measured and not compared.
    pub metrics: BTreeSet<MetricName>,
    /// Benchmarks without values or failures.
    pub benchmarks: BTreeSet<String>,
    /// Options without an effect.
    pub options: Vec<&'static str>,
    /// Runs of other branches, which conditions leave out.
    pub others: MainRuns,
}

/// Returns a note on what has no part in a comparison; `None` if there is nothing.
pub fn unused_note(unused: Unused) -> Option<Note> {
    let Unused {
        metrics,
        benchmarks,
        options,
        others,
    } = unused;
    let mut parts = Vec::new();
    if !metrics.is_empty() {
        parts.push(format!(
            "{} (`--metric NAME` compares one)",
            first_names(&metrics, NAMED)
        ));
    }
    if !benchmarks.is_empty() {
        parts.push(format!(
            "{} (without values on every side)",
            first_names(&benchmarks, NAMED)
        ));
    }
    parts.extend(options.iter().map(|option| (*option).to_owned()));
    let runs = others.branch_runs.len();
    if runs > 0 {
        parts.push(others_text(&others));
    }
    (!parts.is_empty()).then(|| {
        Note::marked("not_used", format!("not used: {}", parts.join(", ")))
            .with("metrics", metrics.into_iter().collect::<Vec<_>>())
            .with("benchmarks", benchmarks.into_iter().collect::<Vec<_>>())
            .with("options", options)
            .with("runs", runs)
    })
}

/// Returns `3 runs of topic (only main is compared; ...)`.
fn others_text(main: &MainRuns) -> String {
    let branches: Vec<&str> = main.branches.iter().map(String::as_str).collect();
    let default = joined_with_and(&branches);
    let runs = counted(main.branch_runs.len(), "run");
    let others = main.other_branches();
    if others.is_empty() {
        return format!(
            "{runs} of other commits (only the first parents of {default} are compared)"
        );
    }
    let why = if main.is_guess {
        ", which has the most runs,"
    } else {
        ""
    };
    format!(
        "{runs} of {} (only {default}{why} is compared; `branch:NAME` compares another branch)",
        branches_text(&others)
    )
}
