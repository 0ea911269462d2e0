//! Verdicts of comparisons in words, the same in the terminal and on pages.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::super::quantity::{percent, quantity, ratio, round_percent};
use super::estimate::{described_texts, ratio_interval, ratio_text, ratio_value};
use lapwing_analyse::judge::{
    Caution, CompareMethod, ComparedRatio, Comparison, INSTANCES_FOR_A_VERDICT, ReplicationUnit,
    Verdict, VerdictReason,
};
use lapwing_model::Better;
use lapwing_model::text::{counted, grouped};
use lapwing_stats::{Interval, NeededReplicates};
use schemars::JsonSchema;
use serde::Serialize;

/// The words for a verdict.
pub trait VerdictText {
    /// Returns the symbol of the verdict, readable without colours.
    fn symbol(self) -> &'static str;
}

/// The words for a comparison.
pub trait ComparisonText {
    /// Returns the verdict with what it says of the size: `regression`, `no change, at most 0.4 %`,
    /// `undecided: between −2 % and +9 %`, `slower in these files`.
    fn grade_text(&self) -> String;

    /// Returns the words for the runs of one process per side: those of files, if all come from files.
    fn runs_text(&self) -> &'static str;

    /// Returns the verdict and why there is no other:
    /// `undecided: between −2 % and +9 %; needs about 12 instances per side`.
    fn verdict_text(&self) -> String;

    /// Returns what the title of the verdict does not say: sizes and reasons; may be empty.
    fn why_text(&self) -> String;

    /// Returns the ratio and its interval as text, a descriptive one as `≈1.04×` and `(1.02, 1.07)`, or else the
    /// difference with its unit: `1.04×` and `[1.02, 1.07]`.
    fn change_texts(&self) -> [String; 2];
}

impl VerdictText for Verdict {
    fn symbol(self) -> &'static str {
        match self {
            Self::Regression => "✗",
            Self::Improvement => "✓",
            Self::WorseInRuns => "▲",
            Self::BetterInRuns => "▼",
            Self::Changed => "≠",
            Self::Equivalent | Self::UnchangedInRuns => "=",
            Self::Inconclusive => "?",
            Self::NotMeasured => "–",
        }
    }
}

impl ComparisonText for Comparison {
    fn grade_text(&self) -> String {
        let at_most = || {
            let largest = self.largest_change();
            largest.map_or_else(String::new, |it| format!(", at most {}", bound_text(it)))
        };
        let is_equal = self.reason == Some(VerdictReason::AllEqual);
        let runs = self.runs_text();
        match self.verdict {
            Verdict::NotMeasured => self.verdict.title().to_owned(),
            Verdict::Regression | Verdict::Improvement => {
                format!("{}{}", self.verdict.title(), within_text(self))
            }
            Verdict::WorseInRuns | Verdict::BetterInRuns => {
                format!("{} in {runs}", word_in_runs(self).unwrap_or_default())
            }
            Verdict::UnchangedInRuns if is_equal => format!("equal in {runs}"),
            Verdict::UnchangedInRuns => format!("no change in {runs}{}", at_most()),
            Verdict::Equivalent if is_equal => "equal in all runs".to_owned(),
            Verdict::Equivalent if excludes_one(self) => format!("a small change{}", at_most()),
            Verdict::Equivalent => format!("no change{}{}", within_text(self), at_most()),
            Verdict::Changed if self.is_one_process() => format!("changed in {runs}"),
            Verdict::Changed => format!("changed{}", within_text(self)),
            Verdict::Inconclusive => {
                let described = self.descriptive.as_ref().and_then(|it| it.interval);
                let of_ratio = self.ratio.and_then(|it| it.interval);
                let between = |interval: Interval| {
                    let ends = [interval.lower, interval.upper];
                    let [lower, upper] = if ends.iter().all(|it| is_percent(*it)) {
                        ends.map(shift_text)
                    } else {
                        ends.map(ratio)
                    };
                    format!(": between {lower} and {upper}")
                };
                let title = self.verdict.title();
                match (of_ratio, described) {
                    (Some(interval), _) => format!("{title}{}", between(interval)),
                    (None, Some(interval)) if self.is_one_process() => {
                        format!("{title} in {runs}{}", between(interval))
                    }
                    (None, _) if self.difference.is_some() || self.descriptive.is_some() => {
                        title.to_owned()
                    }
                    (None, _) => "no verdict".to_owned(),
                }
            }
        }
    }

    fn runs_text(&self) -> &'static str {
        if self.are_files {
            "these files"
        } else {
            "these runs"
        }
    }

    fn verdict_text(&self) -> String {
        let grade = self.grade_text();
        match explanation_text(self) {
            Some(reason) => format!("{grade}{}{reason}", after(&grade)),
            None => grade,
        }
    }

    fn why_text(&self) -> String {
        let text = self.verdict_text();
        let rest = text.strip_prefix(self.verdict.title()).unwrap_or(&text);
        rest.trim_start_matches([',', ':', ' ']).to_owned()
    }

    fn change_texts(&self) -> [String; 2] {
        if self.is_exact
            && let Some(value) = self
                .ratio
                .map(|it| it.value)
                .or(self.descriptive.as_ref().map(|it| it.value))
        {
            let text = if value.total_cmp(&1.0).is_eq() {
                "1×".to_owned()
            } else {
                ratio(value)
            };
            return [text, "exact".to_owned()];
        }
        if let Some(ratio) = self.ratio {
            return [
                ratio.value_text(),
                ratio.interval_text().unwrap_or_default(),
            ];
        }
        if let Some(ratio) = &self.descriptive {
            return described_texts(ratio.value, ratio.interval);
        }
        let text = |value: f64| {
            let sign = if value < 0.0 { "−" } else { "+" };
            format!("{sign}{}", quantity(value.abs(), &self.metric.unit))
        };
        let estimates = self.baseline_estimate.zip(self.candidate_estimate);
        if self.is_exact
            && let Some((baseline, candidate)) = estimates
        {
            return [text(candidate.value - baseline.value), "exact".to_owned()];
        }
        let Some(difference) = self.difference else {
            return [String::new(), String::new()];
        };
        let Interval { lower, upper } = difference.interval;
        [
            text(difference.value),
            format!("[{}, {}]", text(lower), text(upper)),
        ]
    }
}

/// Returns whether the interval of the ratio does not contain 1, although the change is small, or not significant
/// among so many.
fn excludes_one(own: &Comparison) -> bool {
    let interval = own.ratio.and_then(|it| it.interval);
    interval.is_some_and(|it| !it.contains(1.0))
}

/// Returns `slower`, `faster`, `worse` or `better`, of a change in the runs of one process per side.
fn word_in_runs(own: &Comparison) -> Option<&'static str> {
    let is_time = own.metric.unit == "s" && own.metric.better == Some(Better::Lower);
    match (own.verdict, is_time) {
        (Verdict::WorseInRuns, true) => Some("slower"),
        (Verdict::BetterInRuns, true) => Some("faster"),
        (Verdict::WorseInRuns, false) => Some("worse"),
        (Verdict::BetterInRuns, false) => Some("better"),
        (
            Verdict::Regression
            | Verdict::Improvement
            | Verdict::UnchangedInRuns
            | Verdict::Changed
            | Verdict::Equivalent
            | Verdict::Inconclusive
            | Verdict::NotMeasured,
            _,
        ) => None,
    }
}

/// Returns ` within these sessions` where a verdict is about no others; else nothing.
pub fn within_text(own: &Comparison) -> String {
    if !own.is_within_sessions() {
        return String::new();
    }
    match own.runs_text() {
        "these files" => " within these files".to_owned(),
        _ => " within these sessions".to_owned(),
    }
}

/// A size that allows for its selection is shown if the change is smaller by this factor, on a logarithmic scale.
const SMALLER: f64 = 0.9;

/// Returns the size of a change allowing for its selection, where that matters:
/// `likely nearer 1.25× [1.05, 1.45], as it stood out`.
fn selected_text(own: &Comparison) -> Option<String> {
    let (value, interval) = own.selected_ratio()?;
    let raw = own.ratio?;
    let is_shown = value.ln().abs() < SMALLER * raw.value.ln().abs();
    let is_other = ratio_value(value, raw.interval) != raw.value_text();
    (is_shown && is_other).then(|| {
        if ratio_value(value, Some(interval)) == ratio_value(1.0, Some(interval)) {
            return "likely much smaller, as it stood out".to_owned();
        }
        format!(
            "likely nearer {}, as it stood out",
            ratio_text(value, Some(interval))
        )
    })
}

/// Returns why a comparison has no other verdict, or how large a change is that was selected because it stood out.
pub fn explanation_text(own: &Comparison) -> Option<String> {
    reason_text(own).or_else(|| selected_text(own))
}

/// Returns what separates a reason from a grade.
pub fn after(grade: &str) -> &'static str {
    if grade.contains(':') { "; " } else { ": " }
}

/// Returns whether a ratio is read as a percentage: not from twice or half on.
fn is_percent(value: f64) -> bool {
    (0.5..2.0).contains(&value)
}

/// Returns a ratio as a change: `+9 %`, `−2.5 %`.
pub(crate) fn shift_text(value: f64) -> String {
    let change = value - 1.0;
    if change < 0.0 {
        format!("−{}", percent(-change))
    } else {
        format!("+{}", percent(change))
    }
}

/// Returns an upper bound of a change with two digits, rounded up: `0.38 %`.
fn bound_text(share: f64) -> String {
    if share <= 0.0 || !share.is_finite() {
        return percent(share);
    }
    let digit = 10_f64.powf(share.log10().floor() - 1.0);
    round_percent((share / digit * (1.0 - 1e-9)).ceil() * digit)
}

/// The words for a ratio.
pub trait RatioText {
    /// Returns `1.04×`, with as many digits as its interval needs.
    fn value_text(&self) -> String;

    /// Returns `1.04× [1.02, 1.07]`.
    fn text(&self) -> String;

    /// Returns the interval alone, `[1.02, 1.07]`; `None` if the data do not bound it.
    fn interval_text(&self) -> Option<String>;
}

impl RatioText for ComparedRatio {
    fn value_text(&self) -> String {
        ratio_value(self.value, self.interval)
    }

    fn text(&self) -> String {
        ratio_text(self.value, self.interval)
    }

    fn interval_text(&self) -> Option<String> {
        ratio_interval(self.value, self.interval)
    }
}

/// The words for a method of comparing.
pub trait MethodText {
    /// Returns the name of the method in text.
    fn title(self) -> &'static str;
}

impl MethodText for CompareMethod {
    fn title(self) -> &'static str {
        match self {
            Self::Default => "t on logarithms",
            Self::Welch => "Welch's t on logarithms",
            Self::Student => "Student's t on logarithms",
            Self::Paired => "Student's t on logarithms of pairs",
            Self::BootstrapT => "the studentised bootstrap",
            Self::Bca => "the BCa bootstrap",
            Self::Fieller => "Fieller's method",
            Self::Hierarchical => "the hierarchical percentile bootstrap",
            Self::MannWhitney => "Mann–Whitney's test",
            Self::BrunnerMunzel => "Brunner and Munzel's test",
            Self::Permutation => "the permutation test",
        }
    }
}

/// Returns the order of comparisons in lists: regressions, improvements, not measured, undecided, no change;
/// within each the largest changes first.
pub fn news_first(one: &Comparison, other: &Comparison) -> Ordering {
    // Twice and half are changes of the same size; what rounding adds puts nothing first.
    let change = |it: &Comparison| {
        let value = it.ratio.map(|ratio| ratio.value);
        let value = value.or(it.descriptive.as_ref().map(|ratio| ratio.value));
        (value.map_or(0.0, |value| value.ln().abs()) * 1e9).round()
    };
    news_rank(one.verdict)
        .cmp(&news_rank(other.verdict))
        .then(change(other).total_cmp(&change(one)))
}

/// Returns the place of a verdict among all, the worst news first.
pub(crate) fn news_rank(verdict: Verdict) -> usize {
    match verdict {
        Verdict::Regression => 0,
        Verdict::Improvement => 1,
        Verdict::WorseInRuns => 2,
        Verdict::BetterInRuns => 3,
        Verdict::Changed => 4,
        Verdict::NotMeasured => 5,
        Verdict::Inconclusive => 6,
        Verdict::UnchangedInRuns => 7,
        Verdict::Equivalent => 8,
    }
}

/// Returns the worst of some verdicts: regressions, then what is not known, then the rest.
pub fn worst_verdict(verdicts: impl IntoIterator<Item = Verdict>) -> Option<Verdict> {
    verdicts.into_iter().min_by_key(|verdict| match verdict {
        Verdict::Regression => 0,
        Verdict::WorseInRuns => 1,
        Verdict::NotMeasured => 2,
        Verdict::Inconclusive => 3,
        Verdict::Changed => 4,
        Verdict::Improvement => 5,
        Verdict::BetterInRuns => 6,
        Verdict::UnchangedInRuns => 7,
        Verdict::Equivalent => 8,
    })
}

/// Returns how many comparisons came to each verdict, worst first:
/// `2 regressions, 1 improvement, 4 undecided, 37 unchanged within 1 %`.
pub fn verdicts_text<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> String {
    let comparisons: Vec<&Comparison> = comparisons.into_iter().collect();
    let of = |verdict: Verdict| {
        let all = comparisons.iter().copied();
        all.filter(move |it| it.verdict == verdict)
    };
    let is_open =
        |it: &Comparison| matches!(it.verdict, Verdict::Inconclusive | Verdict::NotMeasured);
    let is_judged = comparisons.iter().any(|it| !is_open(it));
    let has_verdict = |it: &Comparison| {
        !is_open(it) && !it.verdict.is_in_runs() && it.verdict != Verdict::Changed
    };
    let is_verdict = comparisons.iter().any(|it| has_verdict(it));
    let mut parts: Vec<String> = Vec::new();
    for verdict in [
        Verdict::Regression,
        Verdict::Improvement,
        Verdict::WorseInRuns,
        Verdict::BetterInRuns,
        Verdict::UnchangedInRuns,
        Verdict::Changed,
        Verdict::NotMeasured,
        Verdict::Inconclusive,
        Verdict::Equivalent,
    ] {
        let count = of(verdict).count();
        if verdict == Verdict::NotMeasured
            && let Some(graded) = comparisons.iter().find(|it| {
                let is_changed = it.verdict == Verdict::Changed && it.is_one_process();
                is_changed || it.verdict.is_in_runs()
            })
            && let Some(last) = parts.last_mut()
        {
            last.push_str(&format!(
                " in {} (one run each; another may differ)",
                graded.runs_text()
            ));
        }
        match verdict {
            Verdict::Regression if !is_judged => parts.push("no verdict".to_owned()),
            // The absence of regressions is the good news, so it is named.
            Verdict::Regression if count == 0 && is_verdict => {
                parts.push("no regression found".to_owned());
            }
            _ if count == 0 => {}
            Verdict::Regression | Verdict::Improvement => {
                parts.push(counted(count, verdict.title()));
            }
            Verdict::WorseInRuns | Verdict::BetterInRuns => {
                let words: Vec<&str> = of(verdict).filter_map(word_in_runs).collect();
                let same = words.iter().all(|word| *word == words[0]);
                let word = match (same, verdict) {
                    (true, _) => words[0],
                    (false, Verdict::WorseInRuns) => "worse",
                    (false, _) => "better",
                };
                parts.push(format!("{count} {word}"));
            }
            Verdict::UnchangedInRuns | Verdict::Equivalent => {
                parts.extend(unchanged_text(&of(verdict).collect::<Vec<_>>()));
            }
            Verdict::Changed => parts.push(format!("{count} changed without a direction")),
            Verdict::Inconclusive | Verdict::NotMeasured => {
                parts.push(format!("{count} {}", verdict.title()));
            }
        }
    }
    let judged = || comparisons.iter().filter(|it| has_verdict(it));
    if is_verdict && judged().all(|it| it.is_within_sessions()) {
        let within = judged().next().map(|it| within_text(it));
        // The first part is of regressions, or of their absence.
        let improved = of(Verdict::Improvement).next().is_some();
        parts[usize::from(improved)].push_str(&within.unwrap_or_default());
    }
    parts.join(", ")
}

/// Returns whether a comparison came to no change.
pub(crate) fn is_unchanged(comparison: &Comparison) -> bool {
    matches!(
        comparison.verdict,
        Verdict::Equivalent | Verdict::UnchangedInRuns
    )
}

/// Returns the line on comparisons that a table does not list:
/// `not shown: 19 unchanged within 0.9 %, 2 undecided`.
pub(crate) fn not_shown_text(comparisons: &[&Comparison]) -> String {
    let numbers = numbers_text(comparisons);
    format!("not shown: {numbers} (`--full` shows them)")
}

/// Returns the numbers of comparisons by verdict, with the bound of what is unchanged:
/// `19 unchanged within 0.9 %, 2 undecided`.
pub(crate) fn numbers_text(comparisons: &[&Comparison]) -> String {
    let (unchanged, others): (Vec<&Comparison>, Vec<&Comparison>) =
        comparisons.iter().partition(|it| is_unchanged(it));
    let mut counts: BTreeMap<usize, (Verdict, usize)> = BTreeMap::new();
    for it in others {
        let (_, count) = counts
            .entry(news_rank(it.verdict))
            .or_insert((it.verdict, 0));
        *count += 1;
    }
    let mut parts = unchanged_text(&unchanged);
    parts.extend(counts.into_values().map(|(verdict, count)| match verdict {
        Verdict::Regression | Verdict::Improvement => counted(count, verdict.title()),
        Verdict::WorseInRuns
        | Verdict::BetterInRuns
        | Verdict::UnchangedInRuns
        | Verdict::Changed
        | Verdict::NotMeasured
        | Verdict::Inconclusive
        | Verdict::Equivalent => format!("{} {}", grouped(count), verdict.title()),
    }));
    parts.join(", ")
}

/// Number of comparisons by verdict.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct VerdictCounts {
    regression: usize,
    improvement: usize,
    worse_in_runs: usize,
    better_in_runs: usize,
    unchanged_in_runs: usize,
    /// Those of metrics without a direction.
    changed: usize,
    equivalent: usize,
    /// Those of no change without a small one, and whose values are not all equal.
    unchanged: usize,
    inconclusive: usize,
    not_measured: usize,
    /// Those of no change whose values are all equal.
    equal: usize,
    /// The largest change that the intervals of the unchanged ones allow, as a share.
    unchanged_within: Option<f64>,
    /// The same of those with a small change.
    small_changes_within: Option<f64>,
    small_changes: usize,
}

impl VerdictCounts {
    /// Counts verdicts.
    pub fn of<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> Self {
        let mut counts = Self::default();
        for it in comparisons {
            let is_equal = it.reason == Some(VerdictReason::AllEqual);
            *match it.verdict {
                Verdict::Regression => &mut counts.regression,
                Verdict::Improvement => &mut counts.improvement,
                Verdict::WorseInRuns => &mut counts.worse_in_runs,
                Verdict::BetterInRuns => &mut counts.better_in_runs,
                Verdict::UnchangedInRuns => &mut counts.unchanged_in_runs,
                Verdict::Changed => &mut counts.changed,
                Verdict::Equivalent => &mut counts.equivalent,
                Verdict::Inconclusive => &mut counts.inconclusive,
                Verdict::NotMeasured => &mut counts.not_measured,
            } += 1;
            if is_unchanged(it) {
                let within = if is_equal {
                    counts.equal += 1;
                    continue;
                } else if excludes_one(it) {
                    counts.small_changes += 1;
                    &mut counts.small_changes_within
                } else {
                    counts.unchanged += 1;
                    &mut counts.unchanged_within
                };
                let largest = it.largest_change().unwrap_or(0.0);
                *within = Some(within.map_or(largest, |known| known.max(largest)));
            }
        }
        counts
    }
}

/// Returns `23 unchanged within 1 %`, and `5 equal`.
fn unchanged_text(comparisons: &[&Comparison]) -> Vec<String> {
    let (equal, others): (Vec<&Comparison>, Vec<&Comparison>) = comparisons
        .iter()
        .partition(|it| it.reason == Some(VerdictReason::AllEqual));
    let (small, unchanged): (Vec<&Comparison>, Vec<&Comparison>) =
        others.into_iter().partition(|it| excludes_one(it));
    let mut parts = Vec::new();
    let largest = unchanged.iter().filter_map(|it| it.largest_change());
    if !unchanged.is_empty() {
        let within = bound_text(largest.fold(0.0, f64::max));
        parts.push(format!(
            "{} unchanged within {within}",
            grouped(unchanged.len())
        ));
    }
    if !small.is_empty() {
        let largest = small.iter().filter_map(|it| it.largest_change());
        let within = bound_text(largest.fold(0.0, f64::max));
        parts.push(format!("{} changed by at most {within}", small.len()));
    }
    if !equal.is_empty() {
        parts.push(format!("{} equal", equal.len()));
    }
    parts
}

/// Returns the number of replicates that give a verdict: `needs about 12 instances per side`.
fn needed_text(comparison: &Comparison, needed: NeededReplicates) -> String {
    let unit = comparison.replication.as_ref().map(|it| it.unit);
    let noun = match unit {
        Some(ReplicationUnit::Session) => "sessions",
        Some(ReplicationUnit::Host) => "hosts",
        Some(ReplicationUnit::Pair | ReplicationUnit::Block | ReplicationUnit::Instance) | None => {
            "instances"
        }
    };
    match needed {
        NeededReplicates::About(number) => {
            format!("needs about {number} {noun} per side")
        }
        NeededReplicates::MoreThan(number) => {
            format!("needs more than {number} {noun} per side")
        }
        NeededReplicates::NoNumber => {
            format!(
                "more {noun} may not decide whether it is more or less than the smallest effect"
            )
        }
    }
}

/// Returns why a comparison has no other verdict: `needs about 12 instances per side`.
pub fn reason_text(comparison: &Comparison) -> Option<String> {
    let instances = [comparison.baseline_estimate, comparison.candidate_estimate]
        .map(|it| it.map_or(0, |it| it.size.instances));
    Some(match comparison.reason? {
        VerdictReason::FewInstances => format!(
            "need {INSTANCES_FOR_A_VERDICT} instances per side, got {} and {}",
            instances[0], instances[1]
        ),
        VerdictReason::FewSessions { sessions, required } => format!(
            "need {required} sessions per side, got {} and {}",
            sessions[0], sessions[1]
        ),
        VerdictReason::OnlySummaries => format!(
            "the source kept only summaries, one value per run; need {INSTANCES_FOR_A_VERDICT} runs per side"
        ),
        VerdictReason::OtherCentre => {
            "the sides have other centres, such as medians and means".to_owned()
        }
        VerdictReason::NotPositive { instances: 0 } => {
            "a mean is not positive, so there is no ratio".to_owned()
        }
        VerdictReason::NotPositive { instances } => {
            let whose = match instances {
                1 => "1 instance has a mean".to_owned(),
                several => format!("{several} instances have a mean"),
            };
            format!("{whose} that is not positive, which has no logarithm; try `--method fieller`")
        }
        VerdictReason::Undefined => {
            "the method has no result for these values; try another `--method`".to_owned()
        }
        VerdictReason::OtherBenchmark => {
            "the benchmark itself changed between the sides (fingerprint or parameters differ)"
                .to_owned()
        }
        VerdictReason::OtherUnit => {
            "the units of the sides cannot be converted into each other".to_owned()
        }
        VerdictReason::OtherDirection => {
            "more of the metric is better on one side and worse on the other".to_owned()
        }
        VerdictReason::NoDirection => "the metric does not say whether more is better".to_owned(),
        VerdictReason::TooWide { needed } => {
            let why = if comparison.has_changed() && !contains_one(comparison) {
                "it changed, by about the smallest effect; "
            } else {
                ""
            };
            match needed {
                Some(needed) => format!("{why}{}", needed_text(comparison, needed)),
                None if why.is_empty() => return None,
                None => why.trim_end_matches("; ").to_owned(),
            }
        }
        VerdictReason::ManyComparisons {
            comparisons,
            needed,
        } => {
            let correction = format!(
                "not significant after correction for {}",
                counted(comparisons, "comparison")
            );
            match needed {
                Some(needed) => format!("{correction}; {}", needed_text(comparison, needed)),
                None => correction,
            }
        }
        VerdictReason::AllEqual => return None,
        VerdictReason::NoBaseline => "only in the candidate".to_owned(),
        VerdictReason::NoCandidate => "only in the baseline".to_owned(),
        VerdictReason::NeverSteady => {
            format!("{} never reaches a steady state", empty_side(comparison))
        }
        VerdictReason::NothingLeft { failures } => {
            let side = empty_side(comparison);
            match failures {
                0 => format!("no usable value in {side}"),
                1 => format!("1 failure in {side}"),
                failures => format!("{failures} failures in {side}"),
            }
        }
    })
}

/// Returns the name of the side without analysed values.
fn empty_side(comparison: &Comparison) -> &str {
    if comparison.baseline_estimate.is_none() {
        &comparison.baseline
    } else {
        &comparison.candidate
    }
}

fn contains_one(comparison: &Comparison) -> bool {
    let interval = comparison.ratio.and_then(|it| it.interval);
    interval.is_some_and(|it| it.contains(1.0))
}

/// Returns the note on excluded instances of earlier epochs.
pub fn earlier_epoch_text(instances: usize) -> String {
    let (noun, verb) = match instances {
        1 => ("instance", "is"),
        _ => ("instances", "are"),
    };
    format!(
        "{} {noun} of an earlier epoch {verb} excluded: the benchmark itself has changed since",
        grouped(instances)
    )
}

/// Returns a caution in words: `measured on different machines: a against b`.
pub fn caution_text(caution: &Caution) -> String {
    match caution {
        Caution::OtherMachines {
            baseline,
            candidate,
        } => format!("measured on different machines: {baseline} against {candidate}"),
        Caution::EarlierEpoch { instances } => earlier_epoch_text(*instances),
        Caution::MeasuredApart { instances } => {
            let (noun, was, verb) = match instances {
                1 => ("instance", "was", "is"),
                _ => ("instances", "were", "are"),
            };
            format!(
                "{} {noun} that {was} not measured together with the other side {verb} left out",
                grouped(*instances)
            )
        }
        Caution::OtherUnits {
            baseline,
            candidate,
        } => format!("the baseline is in {baseline}, the candidate in {candidate}"),
        Caution::Failures {
            candidate,
            baseline,
        } => format!(
            "the candidate failed more often than the baseline: {candidate} against {baseline} \
             times; failures are not in the ratio"
        ),
        Caution::NotInterleaved => "one side was measured before the other, so drift of the machine is \
                                    part of the ratio; `lapwing run` interleaves variants of one session"
            .to_owned(),
        Caution::OneSession => "the sides are from different sessions, so a change of the machine may look like a \
                                change of the benchmark; measure variants in one session, or three sessions per side"
            .to_owned(),
        Caution::FewApart(ReplicationUnit::Instance) => {
            "every value of one side is above every value of the other; with so few instances, noise that \
             jumps between two levels can do this by chance: measure five or more per side"
                .to_owned()
        }
        Caution::FewApart(unit) => {
            let unit = unit.name();
            format!(
                "one side is above the other in every {unit}; with so few {unit}s, noise that jumps between two \
                 levels can do this by chance: measure five or more {unit}s"
            )
        }
        Caution::NarrowMethod => "intervals of this method are too narrow with fewer than 10 instances per side".to_owned(),
        Caution::FewOfSeveralModes => {
            "the instances fall into groups, and with fewer than 10 per side the interval may be too \
             narrow"
                .to_owned()
        }
        Caution::Outliers => "a few instances are far from the others of their side, and widen the interval; \
                              `--method mann-whitney` compares typical instances: choose it before you measure"
            .to_owned(),
        Caution::PoolDrifts { ratio, .. } => {
            format!("{} (by about {})", drift_text(caution), shift_text(*ratio))
        }
    }
}

/// Returns what is said of a pool that drifts, without the size; empty for other cautions.
pub fn drift_text(caution: &Caution) -> String {
    let Caution::PoolDrifts { side, is_step, .. } = caution else {
        return String::new();
    };
    let how = if *is_step {
        "step to another level"
    } else {
        "drift"
    };
    format!(
        "the sessions of {side} {how} over time, so when they were measured is part of the ratio"
    )
}
