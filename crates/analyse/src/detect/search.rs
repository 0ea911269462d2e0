//! The search for changes in all series, with the share of false findings controlled.

use std::collections::BTreeMap;

use lapwing_stats::changepoint::LevelOptions;
use lapwing_stats::{PValue, as_f64, benjamini_hochberg};
use rayon::prelude::*;

use super::cause::groups;
use super::environment::EnvironmentChange;
use super::finding::{Finding, FindingGroup, Suspicion};

use super::newest::{NewestChange, newest_runs, suite_moves};
use super::noise::search_all;
use super::options::{DetectOptions, DetectRule};
use super::searched::{EnoughRuns, FEWEST_RUNS, SearchedSeries, SeriesChange, is_testable};
use super::searcher::{LocalSearcher, SeriesSearcher};
use super::series::{FAILURES, Histories, HistorySeries};
use super::shared::{MEMBERS, SharedChange, shared_changes};
use super::states::{JudgedCount, SeriesState, states_of};
use super::surroundings::{SurroundingEffect, is_of_machine, without_surroundings};
use super::threshold::ThresholdRule;

/// The share of the level that goes to changes that a whole suite shares; the rest is for those of single series.
const SHARED: f64 = 0.2;

/// The changes of all series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Detection {
    /// The findings, by series and place.
    pub findings: Vec<Finding>,
    /// The findings by cause, those that change most first.
    pub groups: Vec<FindingGroup>,
    /// Possible changes that only the newest one or two runs show, the largest first.
    pub suspicions: Vec<Suspicion>,
    /// Whether each series was tested.
    pub states: Vec<SeriesState>,
    /// Number of series that were judged, and why the others were not.
    pub judged: JudgedCount,
    /// Number of runs that a series needs to be tested.
    pub fewest_runs: usize,
    /// Number of runs from which on a change of one series alone can be found.
    pub enough_runs: EnoughRuns,
    /// Number of changes that are smaller than the smallest effect.
    pub small: usize,
    /// Number of changes before the moment from which on they are reported.
    pub earlier: usize,
    /// The moment of the last finding that was accepted with all before it; `None` if none was.
    pub accepted_until: Option<usize>,
    /// The effects of surroundings that were taken out, by series.
    pub surroundings: Vec<Vec<SurroundingEffect>>,
}

/// Returns the changes of all series, which are in order.
pub fn detect(histories: &Histories, options: &DetectOptions) -> Detection {
    match detect_by(histories, options, &mut LocalSearcher) {
        Ok(detection) => detection,
        Err(never) => match never {},
    }
}

/// Returns the changes of all series, which are in order; those of [`DetectRule::ChangePoint`] are searched for by this
/// searcher.
///
/// # Errors
///
/// If the searcher cannot go on.
pub fn detect_by<S: SeriesSearcher>(
    histories: &Histories,
    options: &DetectOptions,
    searcher: &mut S,
) -> Result<Detection, S::Error> {
    let mut detection = match options.rule {
        DetectRule::ChangePoint => change_points(histories, options, searcher)?,
        DetectRule::Threshold(rule) => alarms(histories, options, &rule),
    };
    detection.judged = JudgedCount::of(histories, &detection.states);
    Ok(detection)
}

/// Returns the alarms of a threshold, which looks at each series for itself.
fn alarms(histories: &Histories, options: &DetectOptions, rule: &ThresholdRule) -> Detection {
    let fewest_runs = rule.fewest_runs();
    let states = rule.states(histories);
    let states = states.unwrap_or_else(|| states_of(histories, fewest_runs));
    let states_in_order = states.par_iter().enumerate();
    let found: Vec<Option<Finding>> = states_in_order
        .map(|(at, state)| match state {
            SeriesState::Tested => rule.alarm(histories, at),
            _ => None,
        })
        .collect();
    let mut detection = Detection {
        states,
        fewest_runs,
        ..Detection::default()
    };
    for (series, findings) in histories.series.iter().zip(found) {
        detection.add(findings, series, options);
    }
    detection.groups = groups(histories, &detection.findings, &BTreeMap::new());
    detection
}

impl Detection {
    /// Adds the findings that are large enough, and counts the others.
    fn add(
        &mut self,
        findings: impl IntoIterator<Item = Finding>,
        series: &HistorySeries,
        options: &DetectOptions,
    ) {
        for finding in findings {
            if is_earlier(&finding, options) {
                self.earlier += 1;
            } else if is_large(&finding, series, options) {
                self.findings.push(finding);
            } else {
                self.small += 1;
            }
        }
    }
}

fn is_earlier(finding: &Finding, options: &DetectOptions) -> bool {
    let since = options.changed_since;
    since.is_some_and(|since| *finding.range.end() < since)
}

fn is_large(finding: &Finding, series: &HistorySeries, options: &DetectOptions) -> bool {
    let smallest = series.smallest_effect.or(options.smallest_effect);
    finding.size.relative() >= smallest.unwrap_or(0.0)
}

/// Returns the changes by tests of all places.
///
/// First each suite is searched, by metric, for changes that most of its series share; they split every series. Then
/// each part is searched. Of the changes found, those remain that the procedure of Benjamini and Hochberg selects
/// among all series of the metric, at the level divided by the number of metrics, so that both hold: at most that
/// share of the findings of a metric is false, and at most that share of quiet suites has any finding.
///
/// Effects of the surroundings, such as the host, are removed first.
fn change_points<S: SeriesSearcher>(
    recorded: &Histories,
    options: &DetectOptions,
    searcher: &mut S,
) -> Result<Detection, S::Error> {
    let without = without_surroundings(recorded);
    let histories = without.as_ref().map_or(recorded, |it| &it.histories);
    let states = states_of(histories, FEWEST_RUNS);
    let has_order = |at: usize| !matches!(states[at], SeriesState::NoOrder);
    let mut families: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    let in_order = histories.series.iter().enumerate();
    for (at, series) in in_order.filter(|(at, _)| has_order(*at)) {
        let key = (
            series.subject.suite.as_str(),
            series.subject.metric.as_str(),
        );
        families.entry(key).or_default().push(at);
    }
    let level = |share: f64| level_options(options, share);
    // Only what is tested shares the level.
    let is_tested = |at: &&usize| is_testable(&histories.series[**at]);
    let can_share = |metric: &str, members: &[usize]| {
        metric != FAILURES && members.iter().filter(is_tested).count() >= MEMBERS
    };
    let sharing = families.iter();
    let sharing = sharing.filter(|((_, metric), members)| can_share(metric, members));
    let sharing = sharing.count();
    let mut shared: Vec<Vec<SharedChange>> = families
        .par_iter()
        .map(|((_, metric), members)| {
            if can_share(metric, members) {
                shared_changes(histories, members, &level(SHARED / as_f64(sharing)))
            } else {
                Vec::new()
            }
        })
        .collect();
    let moves = suite_moves(histories, &families, &shared, options);
    for of_suite in &moves {
        shared[of_suite.family].extend(of_suite.shared_change());
    }
    let mut of_series: Vec<&[SharedChange]> = vec![&[]; histories.series.len()];
    for (members, shared) in families.values().zip(&shared) {
        for member in members {
            of_series[*member] = shared;
        }
    }
    let mut searched = search_all(histories, &of_series, &level(1.0), searcher)?;
    for (_, found) in searched
        .iter_mut()
        .enumerate()
        .filter(|(at, _)| !has_order(*at))
    {
        *found = SearchedSeries::default();
    }
    let mut metrics: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, series) in histories.series.iter().enumerate() {
        if searched[at].is_tested {
            let metric = series.subject.metric.as_str();
            metrics.entry(metric).or_default().push(at);
        }
    }
    let share = if sharing > 0 { 1.0 - SHARED } else { 1.0 };
    let rate = options.false_discovery_rate * share / as_f64(metrics.len().max(1));
    let mut adjusted = vec![BTreeMap::new(); searched.len()];
    let level = options.false_discovery_rate;
    for members in metrics.values() {
        select(&mut searched, &mut adjusted, members, rate, level);
    }
    let mut detection = Detection {
        states,
        fewest_runs: FEWEST_RUNS,
        enough_runs: enough_runs(histories, &metrics, rate, options),
        ..Detection::default()
    };
    for (state, found) in detection.states.iter_mut().zip(&searched) {
        if found.wanders && matches!(state, SeriesState::Tested) {
            *state = SeriesState::Wanders;
        }
    }
    let newest = newest_runs(histories, &searched, &detection.states, &moves, options);
    for NewestChange {
        series,
        change,
        p_adjusted,
    } in newest.changes
    {
        adjusted[series].insert(change.point, p_adjusted);
        if matches!(detection.states[series], SeriesState::Wanders) {
            detection.states[series] = SeriesState::Tested;
        }
        searched[series].add(change);
    }
    for (at, found) in searched.iter().enumerate() {
        let findings = found.findings(histories, at, &adjusted[at]);
        detection.add(findings, &histories.series[at], options);
    }
    let is_reported = |finding: &Finding| {
        !is_earlier(finding, options)
            && is_large(finding, &histories.series[finding.series], options)
    };
    for suspect in &newest.suspects {
        let findings = suspect.findings(histories, &searched).into_iter();
        let mut findings: Vec<Finding> = findings.filter(is_reported).collect();
        findings.sort_by(|one, other| one.size.change.total_cmp(&other.size.change));
        let histories = findings.len();
        let middle = findings.into_iter().nth(histories / 2);
        let middle = middle.map(explained_by_machine);
        detection
            .suspicions
            .extend(middle.map(|finding| Suspicion { finding, histories }));
    }
    let size = |suspicion: &Suspicion| suspicion.finding.size.relative();
    detection
        .suspicions
        .sort_by(|one, other| size(other).total_cmp(&size(one)));
    if let Some(without) = &without {
        let of_suspicions = detection.suspicions.iter_mut().map(|it| &mut it.finding);
        for finding in detection.findings.iter_mut().chain(of_suspicions) {
            without.as_recorded(finding);
        }
        for (at, effects) in without.effects.iter().enumerate() {
            if !effects.is_empty() {
                let explained = explained(recorded, at, effects, &searched[at], options);
                detection.add(explained, &recorded.series[at], options);
            }
        }
    }
    detection
        .findings
        .sort_by_key(|finding| (finding.series, finding.first_after));
    let shared = families.into_keys().zip(shared).collect();
    detection.groups = groups(histories, &detection.findings, &shared);
    detection.surroundings = without.map(|it| it.effects).unwrap_or_default();
    Ok(detection)
}

/// Returns the options of the search of a series at a share of the level.
fn level_options(options: &DetectOptions, share: f64) -> LevelOptions {
    LevelOptions {
        false_alarms: options.false_discovery_rate * share,
        minimum_segment: options.minimum_runs,
        ..LevelOptions::default()
    }
}

/// Returns the number of runs that is enough for a change of one series among those of its metric; of the metric with
/// most, by metric. Where none has enough runs to be tested, it is that for all.
fn enough_runs(
    histories: &Histories,
    tested: &BTreeMap<&str, Vec<usize>>,
    rate: f64,
    options: &DetectOptions,
) -> EnoughRuns {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for series in &histories.series {
        *numbers.entry(&series.subject.metric).or_default() += 1;
    }
    numbers.remove(FAILURES);
    let all = numbers.into_values().max().unwrap_or(1);
    let of_tested = tested.iter().filter(|(metric, _)| **metric != FAILURES);
    let members = of_tested.map(|(_, members)| members.len()).max();
    EnoughRuns::among(members.unwrap_or(all), rate, &level_options(options, 1.0))
}

/// Marks a suspicion as explained by surroundings of the machine that changed there: two runs do not show what they add.
fn explained_by_machine(mut finding: Finding) -> Finding {
    let is_machine =
        |other: &EnvironmentChange| other.separation >= 1.0 && is_of_machine(&other.key);
    if let Some(at) = finding.environment.iter().position(is_machine) {
        finding.explained = Some(finding.environment.remove(at));
    }
    finding
}

/// Returns the changes of a series as it was recorded that its surroundings explain: those which are at a difference in
/// them, and gone without their effects.
fn explained(
    recorded: &Histories,
    at: usize,
    effects: &[SurroundingEffect],
    left: &SearchedSeries,
    options: &DetectOptions,
) -> Vec<Finding> {
    let level = level_options(options, 1.0);
    let as_recorded = SearchedSeries::of(&recorded.series[at].points, &[], &level);
    let p_values = as_recorded.changes.iter();
    let p_values = p_values.map(|change| (change.point, change.p_value));
    let findings = as_recorded.findings(recorded, at, &p_values.collect());
    let points = &recorded.series[at].points;
    let place = |moment: usize| points.partition_point(|point| point.moment < moment);
    let explained = findings.into_iter().filter_map(|mut finding| {
        let range = place(*finding.range.start())..=place(*finding.range.end());
        let is_left = |change: &SeriesChange| {
            change.range.start() <= range.end() && range.start() <= change.range.end()
        };
        if left.changes.iter().any(is_left) {
            return None;
        }
        let is_here = |effect: &&SurroundingEffect| effect.changes_within(&range);
        let keys: Vec<&str> = effects
            .iter()
            .filter(is_here)
            .map(|it| it.key.as_str())
            .collect();
        // It tells the runs before from those after.
        let is_because = |other: &EnvironmentChange| keys.contains(&other.key.as_str());
        let because = finding.environment.iter().position(is_because)?;
        let because = finding.environment.remove(because);
        finding.explained = Some(because);
        Some(finding)
    });
    explained.collect()
}

/// Keeps the changes of a family of series that are significant after correction for their number, with their adjusted
/// p-values in terms of `level`.
///
/// Each series has the p-value of its clearest change. Of a series that is selected, those changes remain whose own
/// p-value is below the border of the selected ones (Benjamini & Bogomolov, *JRSS B* 2014).
fn select(
    searched: &mut [SearchedSeries],
    adjusted: &mut [BTreeMap<usize, f64>],
    members: &[usize],
    rate: f64,
    level: f64,
) {
    let smallest: Vec<PValue> = members
        .iter()
        .map(|member| {
            let changes = searched[*member].changes.iter();
            let unshared = changes.filter(|change| !change.is_shared);
            let smallest = unshared.map(|change| change.p_value).fold(1.0, f64::min);
            PValue::new(smallest).unwrap_or(PValue::ONE)
        })
        .collect();
    let selected = benjamini_hochberg(&smallest);
    let selected = selected
        .iter()
        .filter(|p_value| p_value.value() <= rate)
        .count();
    let border = rate * as_f64(selected) / as_f64(members.len());
    for member in members {
        searched[*member]
            .changes
            .retain(|change| change.is_shared || change.p_value <= border);
        for change in &searched[*member].changes {
            let p_adjusted = if change.is_shared {
                change.p_value / SHARED
            } else {
                change.p_value * level / border
            };
            adjusted[*member].insert(change.point, p_adjusted.min(1.0));
        }
    }
}
