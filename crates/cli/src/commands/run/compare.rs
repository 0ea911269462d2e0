//! Sentences that compare the measurements of a session.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_analyse::judge::{
    CompareOptions, Comparison, EarlierComparisons, INSTANCES_FOR_A_VERDICT, SideSample, Verdict,
    VerdictReason, compare, decide,
};
use lapwing_analyse::sample::{Setting, Subject};
use lapwing_model::text::counted;
use lapwing_model::{Better, Metric};
use lapwing_show::answers::compare::control_text;
use lapwing_show::{
    ComparisonText, RatioText, after, comparison_sentence, reason_text, verdicts_text,
};

use super::summary::Row;

/// Maximum number of comparisons that are all told.
const ALL_TOLD: usize = 12;
/// Number of differences that are told of more comparisons.
const WORST: usize = 8;

/// Returns a sentence for each comparison: of the variants of a benchmark with its first variant, or
/// of commands with the fastest one. They are judged together, as `lapwing compare` judges them.
pub fn sentences(
    rows: &[Row],
    variants: usize,
    ad_hoc: bool,
    family: &ComparedFamily<'_>,
) -> Vec<String> {
    let contests = if variants > 1 {
        of_variants(rows)
    } else {
        of_commands(rows, ad_hoc)
    };
    let comparisons = judged(&contests, family);
    let mut all: Vec<(&Contest<'_>, &Comparison)> = contests.iter().zip(&comparisons).collect();
    let rest = (all.len() > ALL_TOLD).then(|| worst(&mut all, &comparisons));
    let told = all.into_iter();
    let mut sentences: Vec<String> = told
        .filter_map(|(contest, comparison)| contest.sentence(comparison))
        .collect();
    sentences.extend(rest);
    sentences.extend(control_sentence(rows, family));
    sentences
}

/// The suite, metric and earlier sessions that all comparisons of a session share.
pub struct ComparedFamily<'a> {
    pub suite: &'a str,
    pub metric: &'a str,
    pub earlier: &'a EarlierComparisons,
}

/// Returns the comparisons with their verdicts.
fn judged(contests: &[Contest<'_>], family: &ComparedFamily<'_>) -> Vec<Comparison> {
    let options = CompareOptions::default();
    let compared = contests.iter().map(|contest| {
        let subject = Subject {
            suite: family.suite.to_owned(),
            benchmark: contest.baseline.benchmark.clone(),
            setting: Setting::default(),
            metric: family.metric.to_owned(),
        };
        let names = contest.names();
        // Commands and variants are compared although they are defined differently.
        let sides = [contest.baseline, contest.candidate].map(|row| SideSample {
            fingerprints: BTreeSet::new(),
            params: BTreeMap::new(),
            ..row.side.clone()
        });
        compare(
            subject,
            contest.baseline.metric.clone(),
            [&names[0], &names[1]],
            sides.each_ref(),
            &options,
        )
    });
    let mut comparisons: Vec<Comparison> = compared.collect();
    decide(&mut comparisons, family.earlier, &options);
    comparisons
}

/// Returns whether a comparison has found a change.
fn differs(it: &Comparison) -> bool {
    match it.verdict {
        Verdict::Regression | Verdict::Improvement => true,
        Verdict::Inconclusive => it.reason == Some(VerdictReason::NoDirection),
        Verdict::WorseInRuns
        | Verdict::BetterInRuns
        | Verdict::UnchangedInRuns
        | Verdict::Equivalent
        | Verdict::NotMeasured => false,
    }
}

/// Keeps the largest differences, those for the worse first; returns a sentence about all comparisons.
fn worst(all: &mut Vec<(&Contest<'_>, &Comparison)>, comparisons: &[Comparison]) -> String {
    let number = counted(all.len(), "comparison");
    all.retain(|(_, comparison)| differs(comparison));
    let differences = all.len();
    // How much worse: the logarithm of the ratio, towards the worse direction.
    let loss = |comparison: &Comparison| {
        let change = comparison.ratio.map_or(0.0, |ratio| ratio.value.ln());
        match comparison.metric.better {
            Some(Better::Higher) => -change,
            Some(Better::Lower) | None => change,
        }
    };
    all.sort_by(|(_, one), (_, other)| {
        let (one, other) = (loss(one), loss(other));
        let order = (other > 0.0).cmp(&(one > 0.0));
        order.then(other.abs().total_cmp(&one.abs()))
    });
    all.truncate(WORST);
    let verdicts = verdicts_text(comparisons);
    if differences > WORST {
        format!("{number}: {verdicts}; these are the worst, and `lapwing compare` lists all")
    } else {
        format!("{number}: {verdicts}")
    }
}

/// Returns how often the copy of the first variant seemed to differ from it, if there is one.
fn control_sentence(rows: &[Row], family: &ComparedFamily<'_>) -> Option<String> {
    let by_benchmark = rows.chunk_by(|one, other| one.benchmark == other.benchmark);
    let contests: Vec<Contest<'_>> = by_benchmark
        .filter_map(|group| {
            let control = group.iter().find(|it| it.is_control)?;
            Some(Contest {
                baseline: &group[0],
                candidate: control,
                benchmark: Some(&group[0].benchmark),
            })
        })
        .collect();
    let comparisons = judged(&contests, family);
    let ratios = comparisons.iter().filter_map(|it| Some((it, it.ratio?)));
    let alarms: Vec<(String, f64)> = ratios
        .clone()
        .filter(|(it, _)| differs(it))
        .map(|(it, ratio)| (it.subject.benchmark.clone(), ratio.value))
        .collect();
    let number = ratios.count();
    (number > 0).then(|| control_text(number, &alarms))
}

/// Two rows to compare.
struct Contest<'a> {
    baseline: &'a Row,
    candidate: &'a Row,
    /// The benchmark, where both rows are variants of it.
    benchmark: Option<&'a str>,
}

fn of_variants(rows: &[Row]) -> Vec<Contest<'_>> {
    let by_benchmark = rows.chunk_by(|one, other| one.benchmark == other.benchmark);
    let contests = by_benchmark.flat_map(|group| {
        let candidates = group[1..].iter().filter(|it| !it.is_control);
        candidates.map(|candidate| Contest {
            baseline: &group[0],
            candidate,
            benchmark: Some(&group[0].benchmark),
        })
    });
    contests.collect()
}

fn of_commands(rows: &[Row], ad_hoc: bool) -> Vec<Contest<'_>> {
    let mut ranked: Vec<&Row> = rows.iter().filter(|row| row.wall.is_some()).collect();
    ranked.sort_by(|one, other| {
        let value = |row: &Row| row.wall.map_or(f64::INFINITY, |wall| wall.value);
        value(one).total_cmp(&value(other))
    });
    let [fastest, others @ ..] = ranked.as_slice() else {
        return Vec::new();
    };
    // The benchmarks of a suite are different things.
    let shown: &[&Row] = if ad_hoc { others } else { &[] };
    let against_fastest = shown.iter().map(|row| Contest {
        baseline: row,
        candidate: fastest,
        benchmark: None,
    });
    against_fastest.collect()
}

impl Contest<'_> {
    /// Returns the names of the baseline and the candidate.
    fn names(&self) -> [String; 2] {
        [self.baseline, self.candidate].map(|row| match self.benchmark {
            Some(_) => row.variant.clone(),
            None => row.benchmark.clone(),
        })
    }

    fn sentence(&self, comparison: &Comparison) -> Option<String> {
        let [baseline, candidate] = self.names();
        let instances =
            [self.baseline.compared?, self.candidate.compared?].map(|it| it.size.instances);
        let fewest = instances[0].min(instances[1]);
        let sentence = if fewest < INSTANCES_FOR_A_VERDICT {
            format!(
                "no verdict on {candidate} and {baseline}: need {INSTANCES_FOR_A_VERDICT} instances of each, got {fewest}"
            )
        } else if differs(comparison) {
            let Metric { unit, better } = &self.baseline.metric;
            let ratio = comparison.ratio?;
            let sentence = comparison_sentence(&candidate, &baseline, unit, *better, &ratio)?;
            format!("{sentence}.")
        } else {
            let grade = comparison.grade_text();
            let ratio = comparison.ratio.map(|it| format!(" ({})", it.text()));
            let reason = reason_text(comparison)
                .map(|reason| format!("{}{reason}", after(&grade)))
                .unwrap_or_default();
            format!(
                "{candidate} against {baseline}: {grade}{}{reason}",
                ratio.unwrap_or_default()
            )
        };
        Some(match self.benchmark {
            Some(benchmark) => format!("{benchmark}: {sentence}"),
            None => sentence,
        })
    }
}
