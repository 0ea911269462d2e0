//! The noise of benchmarks in words.

use std::collections::BTreeSet;

use lapwing_stats::Modes;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::quantity::{percent, quantity, ratio, round_percent};
use super::super::sample::metric_title;
use crate::writing::Note;
use lapwing_analyse::explain::{
    Association, Detectability, InstanceGroup, LevelCount, More, Noise, NoisePart,
};
use lapwing_analyse::sample::Setting;
use lapwing_model::Better;
use lapwing_model::text::{first_names, plural};

/// Noise between instances above this is named.
pub const NOISY: f64 = 0.05;

/// More names than this would make a sentence too long to read.
const NAMES: usize = 4;

/// The words for a source of noise.
pub trait NoisePartText {
    /// Returns `15 % [12–19 %]`.
    fn text(&self) -> String;
}

impl NoisePartText for NoisePart {
    fn text(&self) -> String {
        match self.interval {
            None => percent(self.value),
            Some(interval) if interval.lower >= interval.upper => percent(self.value),
            Some(interval) => format!(
                "{} [{}–{}]",
                percent(self.value),
                percent(interval.lower).trim_end_matches(" %"),
                percent(interval.upper)
            ),
        }
    }
}

/// What distinguishes the rows of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowTitles {
    /// Whether they are of several suites.
    pub suites: bool,
    /// Whether they are of several settings.
    pub settings: bool,
    /// Whether they are of several metrics.
    pub metrics: bool,
}

/// The benchmark, setting and metric of a row.
#[derive(Debug, Clone, Copy)]
pub struct RowSubject<'a> {
    /// The suite of the benchmark.
    pub suite: &'a str,
    /// Its id.
    pub benchmark: &'a str,
    /// The variant and version.
    pub setting: &'a Setting,
    /// The metric's name.
    pub metric: &'a str,
}

/// A row about a metric of a benchmark in one setting.
pub trait TitledRow {
    /// Returns its subject.
    fn about(&self) -> RowSubject<'_>;
}

impl TitledRow for Noise {
    fn about(&self) -> RowSubject<'_> {
        RowSubject {
            suite: &self.suite,
            benchmark: &self.benchmark,
            setting: &self.setting,
            metric: &self.name,
        }
    }
}

impl TitledRow for Detectability {
    fn about(&self) -> RowSubject<'_> {
        RowSubject {
            suite: &self.suite,
            benchmark: &self.benchmark,
            setting: &self.setting,
            metric: &self.name,
        }
    }
}

impl RowTitles {
    /// Returns the properties that distinguish these rows.
    pub fn of<R: TitledRow>(rows: &[R]) -> Self {
        let differs = |same: &dyn Fn(RowSubject<'_>, RowSubject<'_>) -> bool| {
            rows.first()
                .is_some_and(|first| rows.iter().any(|row| !same(first.about(), row.about())))
        };
        Self {
            suites: differs(&|one, other| one.suite == other.suite),
            settings: differs(&|one, other| one.setting.text() == other.setting.text()),
            metrics: differs(&|one, other| one.metric == other.metric),
        }
    }

    /// Returns the title of a row: `test_join (fast, 2026.9), peak memory`.
    pub fn title(self, row: &impl TitledRow) -> String {
        let about = row.about();
        let mut title = about.benchmark.to_owned();
        if self.suites {
            title = format!("{}: {title}", about.suite);
        }
        if let Some(setting) = about.setting.text().filter(|_| self.settings) {
            title.push_str(&format!(" ({setting})"));
        }
        if self.metrics {
            title.push_str(&format!(", {}", metric_title(about.metric)));
        }
        title
    }
}

/// Number of benchmarks by their noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct NoiseCounts {
    benchmarks: usize,
    /// Those whose noise between instances is known.
    known: usize,
    /// Those that vary by more than `noisy_above` between instances.
    pub noisy: usize,
    noisy_above: f64,
    /// Those whose instances fall into two groups.
    two_groups: usize,
}

impl NoiseCounts {
    /// Counts benchmarks.
    pub fn of(rows: &[Noise]) -> Self {
        let benchmarks = |keep: &dyn Fn(&Noise) -> bool| {
            let kept = rows.iter().filter(|row| keep(row));
            let names: BTreeSet<_> = kept.map(|row| (&row.suite, &row.benchmark)).collect();
            names.len()
        };
        Self {
            benchmarks: benchmarks(&|_| true),
            known: benchmarks(&|row| row.between.is_some()),
            noisy: benchmarks(&|row| row.between.is_some_and(|it| it.value > NOISY)),
            noisy_above: NOISY,
            two_groups: benchmarks(&Noise::has_two_groups),
        }
    }

    /// Returns whether there are noisy benchmarks.
    pub fn verdict(self) -> &'static str {
        match (self.known, self.noisy) {
            (0, _) => "unknown",
            (_, 0) => "quiet",
            (_, _) => "noisy",
        }
    }
}

/// Returns the conclusion in a sentence: the numbers of noisy benchmarks and of those with two groups.
pub fn noise_headline(rows: &[Noise]) -> String {
    let counts = NoiseCounts::of(rows);
    let all = counts.benchmarks;
    let nouns = plural(all, "benchmark", "benchmarks");
    if counts.known == 0 {
        return format!(
            "{all} {nouns}, none with enough measurements: noise between instances needs two instances and two iterations"
        );
    }
    let limit = round_percent(NOISY);
    let mut text = match (counts.noisy, all) {
        (0, 1) => format!("the one benchmark varies by {limit} or less between instances"),
        (0, _) => format!("none of {all} benchmarks varies by more than {limit} between instances"),
        (1, _) => format!("1 of {all} {nouns} varies by more than {limit} between instances"),
        (noisy, _) => {
            format!("{noisy} of {all} {nouns} vary by more than {limit} between instances")
        }
    };
    match counts.two_groups {
        0 => {}
        1 => text.push_str("; 1 falls into two groups"),
        several => text.push_str(&format!("; {several} fall into two groups")),
    }
    text
}

/// Returns the sentence on whether to measure more instances or iterations; `None` if it is unknown for every row.
pub fn noise_advice(rows: &[Noise]) -> Option<Note> {
    let titles = RowTitles::of(rows);
    let of = |more: More| -> Vec<String> {
        let rows = rows.iter();
        let rows = rows.filter(|row| row.effort.is_some_and(|it| it.more == more));
        rows.map(|row| titles.title(row)).collect()
    };
    let (instances, iterations) = (of(More::Instances), of(More::Iterations));
    let text = match (instances.len(), iterations.len()) {
        (0, 0) => return None,
        (_, 0) => {
            "measure more instances for narrower intervals: more iterations would hardly help"
                .to_owned()
        }
        (0, _) => {
            "measure more iterations for narrower intervals: the instances hardly differ".to_owned()
        }
        (_, _) => format!(
            "for narrower intervals, measure more iterations of {}, and more instances of the others",
            first_names(&iterations, NAMES)
        ),
    };
    let note = Note::new("more", text).with("more_instances", instances.len());
    Some(note.with("more_iterations", iterations.len()))
}

/// The words for the noise of a benchmark.
pub trait NoiseText {
    /// Returns the two groups and what explains them, as sentences; `None` for a single group.
    fn groups_text(&self, titles: RowTitles) -> Option<String>;
}

impl NoiseText for Noise {
    fn groups_text(&self, titles: RowTitles) -> Option<String> {
        let Modes::Two { split, .. } = self.variability.modes else {
            return None;
        };
        let upper = self.variability.size.instances - split.lower_count;
        let value = |value: f64| quantity(value, &self.metric.unit);
        let mut text = format!(
            "{} falls into two groups: {} instances around {} and {upper} around {} ({})",
            titles.title(self),
            split.lower_count,
            value(split.lower_mean),
            value(split.upper_mean),
            ratio(split.upper_mean / split.lower_mean),
        );
        let Some(first) = self.associations.first() else {
            text.push_str("; no known attribute of the instances explains it");
            return Some(text);
        };
        let is_time = self.metric.unit == "s" && self.metric.better != Some(Better::Higher);
        let words = if is_time {
            ["faster", "slower"]
        } else {
            ["lower", "higher"]
        };
        let attribute = first.attributes.first().map_or("", String::as_str);
        text.push_str(&format!(
            "; {attribute} separates them: {} {}; {} {}",
            words[1],
            levels_text(first, InstanceGroup::Upper),
            words[0],
            levels_text(first, InstanceGroup::Lower)
        ));
        let others: Vec<&str> = first.attributes[1..]
            .iter()
            .chain(
                self.associations[1..]
                    .iter()
                    .flat_map(|it| it.attributes.first()),
            )
            .map(String::as_str)
            .collect();
        if !others.is_empty() {
            text.push_str(&format!("; {} as well", first_names(&others, NAMES)));
        }
        Some(text)
    }
}

fn levels_text(association: &Association, group: InstanceGroup) -> String {
    let level = |it: &LevelCount| {
        let inside = match group {
            InstanceGroup::Lower => it.lower,
            InstanceGroup::Upper => it.upper,
        };
        let name = if it.level.is_empty() {
            "unknown"
        } else {
            &it.level
        };
        format!("{name} ({inside} of {})", it.lower + it.upper)
    };
    let levels: Vec<String> = association.levels_of(group).map(level).collect();
    first_names(&levels, NAMES)
}
