//! Sentences that compare the measurements of a session.

use lapwing_core::judge::{INSTANCES_FOR_A_VERDICT, JudgedRatio, differ_from_one, ratio};
use lapwing_core::model::{Better, Metric};
use lapwing_core::show::{comparison_sentence, ratio_text};
use lapwing_core::text::{counted, first_names};

use super::summary::Row;

/// Maximum number of comparisons that are all told.
const ALL_TOLD: usize = 12;
/// Number of differences that are told of more comparisons.
const WORST: usize = 8;

/// Returns a sentence for each comparison: of the variants of a benchmark with its first variant, or
/// of commands with the fastest one. They are judged together, as `lapwing compare` judges them.
pub fn sentences(rows: &[Row], variants: usize, ad_hoc: bool) -> Vec<String> {
    let contests = if variants > 1 {
        of_variants(rows)
    } else {
        of_commands(rows, ad_hoc)
    };
    let ratios: Vec<Option<JudgedRatio>> = contests
        .iter()
        .map(|contest| ratio([&contest.baseline.side, &contest.candidate.side]))
        .collect();
    let judged: Vec<&JudgedRatio> = ratios.iter().flatten().collect();
    let mut differ = differ_from_one(&judged).into_iter();
    let mut all: Vec<(&Contest<'_>, Option<&JudgedRatio>, bool)> = (contests.iter().zip(&ratios))
        .map(|(contest, ratio)| {
            let differs = ratio.is_some() && differ.next().unwrap_or(false);
            (contest, ratio.as_ref(), differs)
        })
        .collect();
    let rest = (all.len() > ALL_TOLD).then(|| worst(&mut all, contests.len()));
    let told = all.into_iter();
    let mut sentences: Vec<String> = told
        .filter_map(|(contest, ratio, differs)| contest.sentence(ratio, differs))
        .collect();
    sentences.extend(rest);
    sentences.extend(control_sentence(rows));
    sentences
}

/// Keeps the largest differences, those for the worse first; returns a sentence about all comparisons.
fn worst(all: &mut Vec<(&Contest<'_>, Option<&JudgedRatio>, bool)>, number: usize) -> String {
    all.retain(|(_, _, differs)| *differs);
    let differences = all.len();
    // How much worse: the logarithm of the ratio, towards the worse direction.
    let loss = |(contest, ratio, _): &(&Contest<'_>, Option<&JudgedRatio>, bool)| {
        let change = ratio.map_or(0.0, |it| it.ratio.value.ln());
        match contest.baseline.metric.better {
            Some(Better::Higher) => -change,
            Some(Better::Lower) | None => change,
        }
    };
    all.sort_by(|one, other| {
        let (one, other) = (loss(one), loss(other));
        let order = (other > 0.0).cmp(&(one > 0.0));
        order.then(other.abs().total_cmp(&one.abs()))
    });
    all.truncate(WORST);
    let number = counted(number, "comparison");
    match differences {
        0 => format!("no difference shown in {number}"),
        _ if differences > WORST => format!(
            "{differences} of {number} differ, of which these are the worst; `lapwing compare` lists all"
        ),
        _ => format!("{differences} of {number} differ"),
    }
}

/// Returns how often the copy of the first variant seemed to differ from it, if there is one.
fn control_sentence(rows: &[Row]) -> Option<String> {
    let by_benchmark = rows.chunk_by(|one, other| one.benchmark == other.benchmark);
    let pairs: Vec<(&str, JudgedRatio)> = by_benchmark
        .filter_map(|group| {
            let control = group.iter().find(|it| it.is_control)?;
            let judged = ratio([&group[0].side, &control.side])?;
            Some((group[0].benchmark.as_str(), judged))
        })
        .collect();
    let judged: Vec<&JudgedRatio> = pairs.iter().map(|(_, judged)| judged).collect();
    let differ = differ_from_one(&judged);
    let alarms: Vec<(&str, f64)> = pairs
        .iter()
        .zip(differ)
        .filter_map(|((name, judged), differs)| differs.then_some((*name, judged.ratio.value)))
        .collect();
    (!pairs.is_empty()).then(|| control_text(pairs.len(), &alarms))
}

/// Returns the result of an A/A control: the number of comparisons, and those that found a difference, with its ratio.
pub fn control_text(comparisons: usize, alarms: &[(&str, f64)]) -> String {
    let all = counted(comparisons, "comparison");
    if alarms.is_empty() {
        return format!("A/A control: no false alarm in {all} of the baseline with its copy");
    }
    let named = alarms
        .iter()
        .map(|(name, ratio)| format!("{name} {}", ratio_text(*ratio, None)));
    let named: Vec<String> = named.collect();
    format!(
        "A/A control: {} in {all} of the baseline with its copy ({}); differences of that size may be noise, too",
        counted(alarms.len(), "false alarm"),
        first_names(named.iter().map(String::as_str), 4)
    )
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
    fn sentence(&self, judged: Option<&JudgedRatio>, differs: bool) -> Option<String> {
        let label = |row: &Row| match self.benchmark {
            Some(_) => row.variant.clone(),
            None => row.benchmark.clone(),
        };
        let (candidate, baseline) = (label(self.candidate), label(self.baseline));
        let instances =
            [self.baseline.compared?, self.candidate.compared?].map(|it| it.size.instances);
        let fewest = instances[0].min(instances[1]);
        let sentence = if fewest < INSTANCES_FOR_A_VERDICT {
            format!(
                "no verdict on {candidate} and {baseline}: need {INSTANCES_FOR_A_VERDICT} instances of each, got {fewest}"
            )
        } else if differs {
            let Metric { unit, better } = &self.baseline.metric;
            let sentence =
                comparison_sentence(&candidate, &baseline, unit, *better, &judged?.ratio)?;
            format!("{sentence}.")
        } else {
            let ratio = judged?.ratio;
            let interval = ratio.interval?;
            format!(
                "no difference shown between {candidate} and {baseline}: the ratio is {:.3} (95 % CI {:.3}–{:.3})",
                ratio.value, interval.lower, interval.upper
            )
        };
        Some(match self.benchmark {
            Some(benchmark) => format!("{benchmark}: {sentence}"),
            None => sentence,
        })
    }
}
