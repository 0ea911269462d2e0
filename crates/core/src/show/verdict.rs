//! The words for what a comparison came to, the same in the terminal and on the page.

use std::cmp::Ordering;

use super::estimate::{ratio_interval, ratio_value};
use super::quantity::round_percent;
use crate::judge::{
    Caution, CompareOptions, ComparedRatio, Comparison, INSTANCES_FOR_A_VERDICT, Method, Reason,
    Verdict,
};
use crate::text::{counted, grouped};

impl Verdict {
    /// Returns the sign that stands before the verdict, for those who see no colours.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Regression => "✗",
            Self::Improvement => "✓",
            Self::Equivalent => "=",
            Self::Inconclusive => "?",
            Self::NotMeasured => "–",
        }
    }

    /// Returns so many of them in words: `2 regressions`, `4 inconclusive`.
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
    /// Returns the verdict and why there is no other: `inconclusive: 12 instances a side would
    /// settle 5 %`.
    pub fn verdict_text(&self) -> String {
        match reason_text(self) {
            Some(reason) => format!("{}: {reason}", self.verdict.title()),
            None => self.verdict.title().to_owned(),
        }
    }
}

impl ComparedRatio {
    /// Returns `1.04×`, with as many digits as its interval needs.
    pub fn value_text(&self) -> String {
        ratio_value(self.value, self.interval)
    }

    /// Returns the interval alone, `[1.02, 1.07]`; `None` where the data do not bound it.
    pub fn interval_text(&self) -> Option<String> {
        ratio_interval(self.value, self.interval)
    }
}

impl Method {
    /// Returns what the method is called in text.
    pub fn title(self) -> &'static str {
        match self {
            Self::Default => "Welch's t or the studentised bootstrap",
            Self::Welch => "Welch's t on logarithms",
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

/// Returns the order in which comparisons are listed: regressions, improvements, what was not
/// measured, what is inconclusive, what is equivalent; of each the largest changes first.
pub fn news_first(one: &Comparison, other: &Comparison) -> Ordering {
    let rank = |it: &Comparison| match it.verdict {
        Verdict::Regression => 0,
        Verdict::Improvement => 1,
        Verdict::NotMeasured => 2,
        Verdict::Inconclusive => 3,
        Verdict::Equivalent => 4,
    };
    // Twice and half are changes of the same size; what rounding adds puts nothing first.
    let change = |it: &Comparison| {
        let size = it.ratio.map_or(0.0, |ratio| ratio.value.ln().abs());
        (size * 1e9).round()
    };
    rank(one)
        .cmp(&rank(other))
        .then(change(other).total_cmp(&change(one)))
}

/// Returns how many comparisons came to each verdict, worst first: `2 regressions, 1
/// improvement, 37 equivalent within 3 %, 4 inconclusive`.
pub fn verdicts_text(comparisons: &[Comparison], options: &CompareOptions) -> String {
    let count = |verdict| {
        let of_it = comparisons.iter().filter(|it| it.verdict == verdict);
        of_it.count()
    };
    let mut parts = Vec::new();
    for verdict in Verdict::ALL {
        match (verdict, count(verdict), options.smallest_effect) {
            // That there is none is what people want to hear.
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

/// Nobody measures more instances than this because a table says so.
const WORTH_NAMING: usize = 500;

/// Returns why a comparison has no other verdict: `12 instances a side would settle 5 %`.
pub fn reason_text(comparison: &Comparison) -> Option<String> {
    let instances = [comparison.baseline_estimate, comparison.candidate_estimate]
        .map(|it| it.map_or(0, |it| it.size.instances));
    Some(match comparison.reason? {
        Reason::FewInstances => format!(
            "a verdict takes {INSTANCES_FOR_A_VERDICT} instances a side, and there are {} and {}",
            instances[0], instances[1]
        ),
        Reason::OnlySummaries => "the source kept summaries and no samples".to_owned(),
        Reason::NotPositive { instances: 0 } => {
            "a mean is not above zero, so that there is no ratio".to_owned()
        }
        Reason::NotPositive { instances } => {
            let whose = match instances {
                1 => "1 instance has a mean".to_owned(),
                several => format!("{several} instances have a mean"),
            };
            format!(
                "{whose} that is not above zero, and so no logarithm; `--method fieller` answers"
            )
        }
        Reason::Undefined => {
            "the method has no answer for these values; another --method may".to_owned()
        }
        Reason::OtherBenchmark => {
            "the benchmark itself changed between the sides (its fingerprint or parameters differ)"
                .to_owned()
        }
        Reason::OtherUnit => {
            "the sides count in units that cannot be converted into each other".to_owned()
        }
        Reason::NoDirection => "it changed; nobody said whether more of it is better".to_owned(),
        Reason::TooWide {
            instances,
            half_width,
        } if instances > WORTH_NAMING => format!(
            "too noisy: more than {WORTH_NAMING} instances a side would settle {}",
            round_percent(half_width)
        ),
        Reason::TooWide {
            instances,
            half_width,
        } => format!(
            "{instances} instances a side would settle {}",
            round_percent(half_width)
        ),
        Reason::ManyComparisons => "sure alone, not among so many comparisons".to_owned(),
        Reason::Straddles if contains_one(comparison) => {
            "perhaps unchanged, perhaps changed by more than matters".to_owned()
        }
        Reason::Straddles => "it changed, but perhaps by less than matters".to_owned(),
        Reason::NoChangeSeen => "no change seen".to_owned(),
        Reason::NoBaseline => format!("new: not in {}", comparison.baseline),
        Reason::NoCandidate => format!("not in {}", comparison.candidate),
        Reason::NeverSteady => format!("{} never gets steady", empty_side(comparison)),
        Reason::NothingLeft { failures } => {
            let side = empty_side(comparison);
            match failures {
                0 => format!("no value in {side} that counts"),
                1 => format!("1 failure in {side}"),
                failures => format!("{failures} failures in {side}"),
            }
        }
    })
}

/// Returns the name of the side of which nothing counts.
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

/// Returns what to say of so many instances of earlier epochs that are left out.
pub fn earlier_epoch_text(instances: usize) -> String {
    let (noun, verb) = match instances {
        1 => ("instance", "is"),
        _ => ("instances", "are"),
    };
    format!(
        "{} {noun} of an earlier epoch {verb} left out: the benchmark itself has changed since",
        grouped(instances)
    )
}

/// Returns what to know when reading a comparison: `measured on different machines: a against b`.
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
        } => format!("the baseline counts in {baseline}, the candidate in {candidate}"),
        Caution::Failures {
            candidate,
            baseline,
        } => format!(
            "the candidate failed more often than the baseline: {candidate} against {baseline} \
             times; what failed is not in the ratio"
        ),
        Caution::FewOfSeveralModes => {
            "the instances fall into groups, and with fewer than 10 a side the interval may be too \
             narrow"
                .to_owned()
        }
    }
}
