//! Findings of change detection in words, for the terminal and the page alike.

use crate::report::{FindingSentence, SizeWords};
use lapwing_analyse::detect::{
    ChangeKind, ChangeSize, Detection, Direction, DriftRate, EnvironmentChange, Evidence, FAILURES,
    Finding, FindingGroup, Histories, Moment, SurroundingEffect, Suspicion,
};
use lapwing_model::text::{counted, joined};

use super::super::FIRST_METRIC;
use super::super::quantity::{UnitScale, percent};
use super::estimate::{difference_text, ratio_text};

/// The number of environment changes that are named.
pub const NAMED_ENVIRONMENT_CHANGES: usize = 4;

/// The words for a change of a history.
pub trait FindingText {
    /// Returns `1.14× [1.10, 1.19]`, or the difference where there is no ratio.
    fn change_text(&self) -> String;

    /// Returns the levels before and after: `4.12 s`, `4.71 s`; those of failures as shares of the iterations.
    fn level_texts(&self) -> [String; 2];

    /// Returns `regression`, `regression (drift)`, `regression (until v61)`, `regression (acknowledged)` or
    /// `explained by the host`.
    fn kind_text(&self, histories: &Histories) -> String;

    /// Returns `✗` for a regression, `✓` for an improvement, `·` for a change without direction or with an
    /// explanation.
    fn symbol(&self) -> &'static str;

    /// Returns where it happened: `a1b2c3..d4e5f6`, from the last run that is certainly before it to the last that
    /// may be the first one after it.
    fn suspects_text(&self, histories: &Histories) -> String;

    /// Returns `threshold 44.9 s, mean 42.9 s, sd 0.670 s; latest 45.5 s, 43.7 s, 42.0 s`; `None` if it rests on a
    /// test.
    fn threshold_text(&self) -> Option<String>;

    /// Returns how fast a drift is: `slower by 0.5 % a week [0.4, 0.6]`, and if that changed `slower by 0.2 % a week
    /// [0.1, 0.3], later by 0.5 % a week [0.4, 0.6]`; `None` if it is none.
    fn rate_text(&self) -> Option<String>;

    /// Returns one of its rates: `slower by 0.5 % a week [0.4, 0.6]`.
    fn rate_words(&self, rate: &DriftRate) -> String;
}

impl FindingText for Finding {
    fn change_text(&self) -> String {
        let size = &self.size;
        if size.is_ratio {
            return ratio_text(size.change, Some(size.interval));
        }
        let unit = &self.metric.unit;
        format!(
            "{} [{}, {}]",
            difference_text(size.change, unit),
            difference_text(size.interval.lower, unit),
            difference_text(size.interval.upper, unit)
        )
    }

    fn level_texts(&self) -> [String; 2] {
        let levels = [self.size.before, self.size.after];
        if self.subject.metric == FAILURES {
            return levels.map(percent);
        }
        UnitScale::of_all(levels, &self.metric.unit).distinct_texts(levels)
    }

    fn kind_text(&self, histories: &Histories) -> String {
        let mut told = Vec::new();
        if self.kind == ChangeKind::Drift {
            told.push("drift".to_owned());
        }
        if let Some(back) = self.went_away {
            told.push(format!("until {}", histories.moments[back].night_text()));
        }
        if let Some(triaged) = &self.triage {
            told.push(triaged.state.name().to_owned());
        }
        let explained = self.explained.as_ref();
        let name = explained.map_or_else(
            || self.direction.name().to_owned(),
            |explained| format!("explained by {}", surrounding_name(&explained.key)),
        );
        if told.is_empty() {
            name
        } else {
            format!("{name} ({})", told.join(", "))
        }
    }

    fn symbol(&self) -> &'static str {
        match self.direction {
            _ if self.explained.is_some() => "·",
            Direction::Regression => "✗",
            Direction::Improvement => "✓",
            Direction::Neither => "·",
        }
    }

    fn suspects_text(&self, histories: &Histories) -> String {
        match self.kind {
            ChangeKind::Step | ChangeKind::Drift => {
                suspects_text(histories, self.good, *self.range.end())
            }
            // The runs before set the threshold, and may be at the new level themselves.
            ChangeKind::Alarm => {
                format!(
                    "from {} on",
                    histories.moments[self.first_after].night_text()
                )
            }
        }
    }

    fn threshold_text(&self) -> Option<String> {
        let Evidence::Threshold(exceeded) = &self.evidence else {
            return None;
        };
        let unit = &self.metric.unit;
        let scale = UnitScale::of_all([exceeded.mean, exceeded.threshold], unit);
        let latest = exceeded.latest.iter().map(|value| scale.text(*value));
        Some(format!(
            "threshold {}, mean {}, sd {}; latest {}",
            scale.text(exceeded.threshold),
            scale.text(exceeded.mean),
            scale.text(exceeded.deviation),
            joined(latest),
        ))
    }

    fn rate_text(&self) -> Option<String> {
        let rates: Vec<String> = self.rates.iter().map(|it| self.rate_words(it)).collect();
        (!rates.is_empty()).then(|| rates.join(", then "))
    }

    fn rate_words(&self, rate: &DriftRate) -> String {
        let size = ChangeSize {
            change: rate.change,
            interval: rate.interval,
            ..self.size
        };
        let (word, text, interval) = size.words(&self.metric);
        format!("{word} by {text} a {} {interval}", rate.per.name())
    }
}

/// Returns `the host` and `the branch`, and the name of any other observation.
pub(super) fn surrounding_name(key: &str) -> String {
    match key {
        "host" | "branch" => format!("the {key}"),
        "measured with" => "the tool that measured".to_owned(),
        _ => format!("`{key}`"),
    }
}

/// Returns `explained by the host: m6i → m7i`.
pub fn explained_text(explained: &EnvironmentChange) -> String {
    let name = surrounding_name(&explained.key);
    let [before, after] = [&explained.before, &explained.after].map(joined);
    format!("explained by {name}: {before} → {after}")
}

/// Returns `m6i 1.15×, m5 1.32× of m7i`.
pub fn surrounding_text(effect: &SurroundingEffect, unit: &str, is_ratio: bool) -> String {
    let newest = effect.newest().unwrap_or("the newest");
    let others = effect.effects.iter().filter(|it| it.0 != newest);
    let others = others.map(|(name, size)| {
        if is_ratio {
            format!("{name} {}", ratio_text(*size, None))
        } else {
            format!("{name} {}", difference_text(*size, unit))
        }
    });
    let others: Vec<String> = others.take(NAMED_ENVIRONMENT_CHANGES).collect();
    format!("{} of {newest}", joined(others))
}

/// The words for changes with one cause.
pub trait FindingGroupText {
    /// Returns where it happened, as all of its findings allow: `a1b2c3..d4e5f6 (3 commits)`.
    fn suspects_text(&self, detection: &Detection, histories: &Histories) -> String;

    /// Returns whether it is between nights of one version, which its text then names.
    fn is_within_version(&self, histories: &Histories) -> bool;
}

impl FindingGroupText for FindingGroup {
    fn suspects_text(&self, detection: &Detection, histories: &Histories) -> String {
        let first = &detection.findings[self.findings[0]];
        match first.kind {
            ChangeKind::Step | ChangeKind::Drift => {
                let range = suspects_text(histories, self.good, *self.range.end());
                let commits = self.commits.filter(|number| *number > 0);
                match commits {
                    Some(number) => format!("{range} ({})", counted(number, "commit")),
                    None => range,
                }
            }
            ChangeKind::Alarm => first.suspects_text(histories),
        }
    }

    fn is_within_version(&self, histories: &Histories) -> bool {
        let moments = [self.good, *self.range.end()].map(|at| &histories.moments[at]);
        let [good, last] = moments.map(Moment::night);
        moments[0].label() == moments[1].label() && good != last
    }
}

fn suspects_text(histories: &Histories, good: usize, last: usize) -> String {
    let moments = [good, last].map(|moment| &histories.moments[moment]);
    let [good, last] = moments.map(Moment::label);
    if good != last {
        return format!("{good}..{last}");
    }
    // One version: something else changed.
    match moments.map(Moment::night) {
        [Some(good), Some(night)] if good != night => {
            format!("{last}, between {good} and {night}")
        }
        _ => format!("within {last}"),
    }
}

/// The words for a place in a history.
pub trait MomentText {
    /// Returns its date: that of the version, or of the measurement if the version has none or was measured in several
    /// nights; `None` if neither is known.
    fn date_text(&self) -> Option<String>;

    /// Returns its version, with the night if the version was measured in several: `d4e5f6 (2026-03-05)`.
    fn night_text(&self) -> String;
}

impl MomentText for Moment {
    fn date_text(&self) -> Option<String> {
        let date = || Some(self.date()?.strftime("%Y-%m-%d").to_string());
        self.night().or_else(date)
    }

    fn night_text(&self) -> String {
        match self.night() {
            Some(night) => format!("{} ({night})", self.label()),
            None => self.label(),
        }
    }
}

/// Returns `count, slower by 2.10× [2.05, 2.15] in the newest run, a1b2c3`.
pub fn suspicion_text(histories: &Histories, suspicion: &Suspicion) -> String {
    let finding = &suspicion.finding;
    let subject = &finding.subject;
    let mut name = subject.benchmark.clone();
    let metric = Some(&subject.metric).filter(|it| *it != FIRST_METRIC && *it != FAILURES);
    let details: Vec<String> = subject
        .setting
        .text()
        .into_iter()
        .chain(metric.cloned())
        .collect();
    if !details.is_empty() {
        name = format!("{name} ({})", details.join(", "));
    }
    if suspicion.histories > 1 {
        name = format!("the suite ({name} and {} more)", suspicion.histories - 1);
    }
    let label = histories.moments[finding.first_after].night_text();
    let place = match finding.runs[1] {
        1 => format!("in the newest run, {label}"),
        runs => format!("in the newest {runs} runs, since {label}"),
    };
    format!("{name}, {} {place}", finding.sentence())
}

/// Returns `count: regression 1.37× [1.35, 1.38], 650 µs → 889 µs, in a1b2c3..d4e5f6`, of several benchmarks the one
/// that changed most.
pub fn change_text(histories: &Histories, detection: &Detection, group: &FindingGroup) -> String {
    let first = &detection.findings[group.lead()];
    let [before, after] = first.level_texts();
    let name = &first.subject.benchmark;
    let more = match group.findings.len() - 1 {
        0 => name.clone(),
        more if group.is_shared => format!("the suite ({name} and {more} more)"),
        more => format!("{name} and {more} more"),
    };
    let because = match &first.explained {
        Some(explained) => format!(", {}", explained_text(explained)),
        None => String::new(),
    };
    format!(
        "{more}: {} {}, {before} → {after}, in {}{because}",
        first.kind_text(histories),
        first.change_text(),
        group.suspects_text(detection, histories)
    )
}

/// Returns `also changed there: packages.numpy 2.3.1 → 2.4.0`; `None` if nothing else did.
pub fn environment_text(changes: &[EnvironmentChange]) -> Option<String> {
    let named: Vec<String> = changes
        .iter()
        .take(NAMED_ENVIRONMENT_CHANGES)
        .map(|change| {
            let before = joined(change.before.iter().take(2));
            let after = joined(change.after.iter().take(2));
            format!("{} {before} → {after}", change.key)
        })
        .collect();
    let more = changes.len().saturating_sub(named.len());
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    (!named.is_empty()).then(|| format!("also changed there: {}{more}", named.join(", ")))
}
