//! Verdicts of comparisons in words, the same in the terminal and on pages.

use std::cmp::Ordering;

use super::estimate::{ratio_interval, ratio_text, ratio_value};
use super::quantity::{quantity, round_percent};
use crate::judge::{
    Caution, CompareMethod, CompareOptions, ComparedRatio, Comparison, INSTANCES_FOR_A_VERDICT,
    Looks, ReplicationUnit, Verdict, VerdictReason,
};
use crate::text::{counted, grouped};
use lapwing_stats::{Interval, median};

impl Verdict {
    /// Returns the symbol of the verdict, readable without colours.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Regression => "✗",
            Self::Improvement => "✓",
            Self::Equivalent => "=",
            Self::Inconclusive => "?",
            Self::NotMeasured => "–",
        }
    }

    /// Returns a number of such verdicts in words: `2 regressions`, `4 inconclusive`.
    fn counted(self, count: usize) -> String {
        match self {
            Self::Regression | Self::Improvement => counted(count, self.title()),
            Self::Equivalent | Self::Inconclusive | Self::NotMeasured => {
                format!("{count} {}", self.title())
            }
        }
    }
}

impl Comparison {
    /// Returns the verdict and why there is no other: `inconclusive: needs about 12
    /// instances per side to resolve 5 %`.
    pub fn verdict_text(&self) -> String {
        match reason_text(self) {
            Some(reason) => format!("{}: {reason}", self.verdict.title()),
            None => self.verdict.title().to_owned(),
        }
    }
}

impl Comparison {
    /// Returns the ratio and its interval as text, a descriptive one as `≈1.04×` and `(1.02, 1.07)`, or else the difference with its unit: `1.04×` and `[1.02, 1.07]`.
    pub fn change_texts(&self) -> [String; 2] {
        if let Some(ratio) = self.ratio {
            return [
                ratio.value_text(),
                ratio.interval_text().unwrap_or_default(),
            ];
        }
        if let Some(ratio) = self.descriptive {
            let value = ratio_value(ratio.value, ratio.interval);
            let interval = ratio.interval.map(|it| {
                let text = ratio_text(ratio.value, Some(it));
                let bounds = text.split_once('[').map_or("", |(_, it)| it);
                format!("({})", bounds.trim_end_matches(']'))
            });
            return [format!("≈{value}"), interval.unwrap_or_default()];
        }
        let Some(difference) = self.difference else {
            return [String::new(), String::new()];
        };
        let text = |value: f64| {
            let sign = if value < 0.0 { "−" } else { "+" };
            format!("{sign}{}", quantity(value.abs(), &self.metric.unit))
        };
        let Interval { lower, upper } = difference.interval;
        [
            text(difference.value),
            format!("[{}, {}]", text(lower), text(upper)),
        ]
    }
}

impl ComparedRatio {
    /// Returns `1.04×`, with as many digits as its interval needs.
    pub fn value_text(&self) -> String {
        ratio_value(self.value, self.interval)
    }

    /// Returns `1.04× [1.02, 1.07]`.
    pub fn text(&self) -> String {
        ratio_text(self.value, self.interval)
    }

    /// Returns the interval alone, `[1.02, 1.07]`; `None` if the data do not bound it.
    pub fn interval_text(&self) -> Option<String> {
        ratio_interval(self.value, self.interval)
    }
}

impl CompareMethod {
    /// Returns the name of the method in text.
    pub fn title(self) -> &'static str {
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

/// Returns the order of comparisons in lists: regressions, improvements, not measured, inconclusive, equivalent;
/// within each the largest changes first.
pub fn news_first(one: &Comparison, other: &Comparison) -> Ordering {
    // Twice and half are changes of the same size; what rounding adds puts nothing first.
    let change = |it: &Comparison| {
        let size = it.ratio.map_or(0.0, |ratio| ratio.value.ln().abs());
        (size * 1e9).round()
    };
    news_rank(one.verdict)
        .cmp(&news_rank(other.verdict))
        .then(change(other).total_cmp(&change(one)))
}

/// Returns the place of a verdict among all, the worst news first.
pub(super) fn news_rank(verdict: Verdict) -> usize {
    match verdict {
        Verdict::Regression => 0,
        Verdict::Improvement => 1,
        Verdict::NotMeasured => 2,
        Verdict::Inconclusive => 3,
        Verdict::Equivalent => 4,
    }
}

/// Returns how many comparisons came to each verdict, worst first: `2 regressions, 1
/// improvement, 37 equivalent within 3 %, 4 inconclusive`.
pub fn verdicts_text(comparisons: &[Comparison], options: &CompareOptions) -> String {
    let count = |verdict| {
        let of_it = comparisons.iter().filter(|it| it.verdict == verdict);
        of_it.count()
    };
    let is_open =
        |it: &Comparison| matches!(it.verdict, Verdict::Inconclusive | Verdict::NotMeasured);
    let nothing_judged = comparisons.iter().all(is_open);
    let mut parts = Vec::new();
    for verdict in Verdict::ALL {
        match (verdict, count(verdict), options.smallest_effect) {
            (Verdict::Regression, 0, _) if nothing_judged => parts.push("no verdict".to_owned()),
            // The absence of regressions is the good news, so it is named.
            (Verdict::Regression, 0, _) => parts.push("no regressions".to_owned()),
            (_, 0, _) => {}
            (Verdict::Equivalent, count, Some(effect)) => {
                parts.push(format!(
                    "{} within {}",
                    verdict.counted(count),
                    round_percent(effect)
                ));
            }
            (_, count, _) => parts.push(verdict.counted(count)),
        }
    }
    parts.join(", ")
}

/// More instances than this are not suggested: hardly any benchmark is worth them.
const WORTH_NAMING: usize = 500;

/// Returns why a comparison has no other verdict: `needs about 12 instances per side to resolve 5 %`.
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
        VerdictReason::OnlySummaries => "the source kept only summaries, no samples".to_owned(),
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
        VerdictReason::NoDirection => {
            "it changed, but the metric does not say whether more is better".to_owned()
        }
        VerdictReason::TooWide {
            instances,
            half_width,
        } if instances > WORTH_NAMING => format!(
            "too noisy: needs more than {WORTH_NAMING} instances per side to resolve {}",
            round_percent(half_width)
        ),
        VerdictReason::TooWide {
            instances,
            half_width,
        } => format!(
            "needs about {instances} instances per side to resolve {}",
            round_percent(half_width)
        ),
        VerdictReason::ManyComparisons => {
            "not significant after correction for multiple comparisons".to_owned()
        }
        VerdictReason::Straddles if contains_one(comparison) => {
            "may be unchanged, or changed by more than the smallest effect".to_owned()
        }
        VerdictReason::Straddles => {
            "it changed, but perhaps by less than the smallest effect".to_owned()
        }
        VerdictReason::AllEqual => "all values are equal".to_owned(),
        VerdictReason::NoChangeSeen => "no change seen".to_owned(),
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
        Caution::FewApart => "the sides part completely, which noise with two modes can do by chance with so \
                              few replicates; five or more per side rule that out"
            .to_owned(),
        Caution::NarrowMethod => "intervals of this method are too narrow with fewer than 10 instances per side".to_owned(),
        Caution::FewOfSeveralModes => {
            "the instances fall into groups, and with fewer than 10 per side the interval may be too \
             narrow"
                .to_owned()
        }
    }
}

/// Returns the note on comparisons whose unit of replication is not the instance, with what pairing gained:
/// `the unit of replication is the block (10 pairs); pairing made intervals 35 % narrower`.
pub fn replication_text(comparisons: &[Comparison]) -> Vec<String> {
    let mut notes = Vec::new();
    for unit in [
        ReplicationUnit::Session,
        ReplicationUnit::Pair,
        ReplicationUnit::Block,
        ReplicationUnit::Host,
    ] {
        let ratios: Vec<&ComparedRatio> = comparisons
            .iter()
            .filter_map(|comparison| comparison.ratio.as_ref())
            .filter(|ratio| ratio.unit == unit)
            .collect();
        let mut sizes: Vec<usize> = ratios
            .iter()
            .map(|ratio| ratio.replicates[0].min(ratio.replicates[1]))
            .collect();
        sizes.sort_unstable();
        let (Some(least), Some(most)) = (sizes.first(), sizes.last()) else {
            continue;
        };
        let number = if least == most {
            least.to_string()
        } else {
            format!("{least}–{most}")
        };
        let width = |interval: Interval| (interval.upper / interval.lower).ln();
        let gains: Vec<f64> = ratios
            .iter()
            .filter_map(|ratio| Some(width(ratio.interval?) / width(ratio.unpaired?)))
            .filter(|share| share.is_finite())
            .collect();
        let (what, gain) = match median(&gains) {
            None => ("per side", String::new()),
            Some(share) if share < 1.0 => (
                "pairs",
                format!(
                    "; pairing made intervals {} narrower",
                    whole_percent(1.0 - share)
                ),
            ),
            Some(share) => (
                "pairs",
                format!(
                    "; pairing made intervals {} wider",
                    whole_percent(share - 1.0)
                ),
            ),
        };
        notes.push(format!(
            "the unit of replication is the {}: {number} {what}{gain}",
            unit.name()
        ));
    }
    let looks = comparisons.iter().filter_map(|it| it.replication.as_ref());
    let looks = looks.map(|it| &it.looks).filter(|it| !it.are_plain());
    if let Some(most) = looks.map(Looks::count).max() {
        notes.push(format!(
            "the results were looked at while instances were added ({}): intervals and p-values allow for it",
            counted(most, "look")
        ));
    }
    notes
}

fn whole_percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
