//! The noise of benchmarks: `lapwing variability`.

use lapwing_analyse::explain::{Association, Noise, NoisePart};
use lapwing_model::text::{counted, first_names};
use lapwing_stats::Modes;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::analysed::Analysed;
use super::audit::{AuditFields, AuditPart};
use super::not_judged::NotJudged;
use super::session::hosts_note;
use super::{MetricFields, SettingFields, identity, identity_cells, identity_columns, not_judged};
use crate::chart::{Chart, variability};
use crate::words::detection::noun_of_rows;
use crate::writing::Align::Right;
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};
use crate::{
    FIRST_METRIC, NoiseCounts, NoisePartText, NoiseText, RowTitles, TitledRow, noise_advice,
    noise_headline, percent, quantity,
};

/// Whether the table says how much of the variance lies between hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostColumn {
    /// It does.
    Shown,
    /// It does not.
    Hidden,
}

/// The noise of each benchmark, the noisiest first.
#[derive(Debug)]
pub struct VariabilityAnswer {
    noise: Analysed<Noise>,
    hosts: HostColumn,
}

impl VariabilityAnswer {
    /// Returns the answer with its rows in order.
    pub fn new(mut noise: Analysed<Noise>, hosts: HostColumn) -> Self {
        let between = |row: &Noise| row.between.map_or(-1.0, |part| part.value);
        noise.rows.sort_by(|one, other| {
            let by_between = between(other).total_cmp(&between(one));
            let total = |row: &Noise| row.variability.cv_total;
            by_between.then(total(other).total_cmp(&total(one)))
        });
        Self { noise, hosts }
    }

    /// Returns the noise of each benchmark.
    pub fn noise(&self) -> &[Noise] {
        &self.noise.rows
    }
}

/// Of more rows only the noisiest are listed.
const SHOWN: usize = 40;

/// The noise of benchmarks for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct VariabilityFields<'a> {
    counts: NoiseCounts,
    /// The noisiest first.
    variability: Vec<NoiseRow<'a>>,
    not_judged: Vec<NotJudged>,
    audit: AuditFields<'a>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<VariabilityFields<'_>>("variability").listing("variability");

impl VariabilityAnswer {
    fn listed(&self, view: View) -> &[Noise] {
        let rows = &self.noise.rows;
        if view.full {
            rows
        } else {
            &rows[..rows.len().min(SHOWN)]
        }
    }
}

impl Answer for VariabilityAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, view: View) -> TextAnswer {
        let mut notes = Vec::new();
        if let more @ 1.. = self.omitted_rows(view) {
            let text = format!("not shown: {more} less noisy (`--full` shows them)");
            notes.push(Note::new("not_shown", text).with("rows", more));
        }
        notes.extend(self::notes(&self.noise));
        if self.hosts == HostColumn::Shown {
            notes.extend(host_advice(&self.noise.rows));
        }
        let hosts = self
            .noise
            .rows
            .iter()
            .filter_map(|row| row.variability.size.hosts);
        notes.extend(hosts_note(hosts));
        TextAnswer {
            headline: noise_headline(&self.noise.rows),
            table: table(self.listed(view), self.hosts),
            notes,
            ..TextAnswer::default()
        }
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        Ok(serde_json::to_value(VariabilityFields {
            counts: NoiseCounts::of(&self.noise.rows),
            variability: self.listed(view).iter().map(NoiseRow::new).collect(),
            not_judged: not_judged::of_audit(&self.noise.audit),
            audit: self.noise.audit_part().fields(),
        })?)
    }

    fn charts(&self) -> Vec<Chart> {
        vec![variability(self.noise())]
    }

    fn verdict(&self) -> Option<&'static str> {
        Some(NoiseCounts::of(&self.noise.rows).verdict())
    }

    fn omitted_rows(&self, view: View) -> usize {
        self.noise.rows.len() - self.listed(view).len()
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        let rows: Vec<NoiseRow> = self.noise.rows.iter().map(NoiseRow::new).collect();
        csv_rows(&rows)
    }

    fn audit(&self) -> Option<AuditPart<'_>> {
        Some(self.noise.audit_part())
    }
}

/// Returns the sentence on what is to be measured on more hosts.
fn host_advice(rows: &[Noise]) -> Option<Note> {
    /// More names than this are a number.
    const NAMED: usize = 3;
    let titles = RowTitles::of(rows);
    let mostly = rows
        .iter()
        .filter(|row| row.between_hosts.is_some_and(|it| it.value > 0.5));
    let names: Vec<String> = mostly.map(|row| titles.title(row)).collect();
    (!names.is_empty()).then(|| {
        let text = format!(
            "most of the variance of {} lies between hosts: for results that hold on others too, measure on more hosts, not more on each",
            first_names(&names, NAMED)
        );
        Note::new("between_hosts", text).with("rows", names.len())
    })
}

fn table(rows: &[Noise], hosts: HostColumn) -> Table {
    let titles = RowTitles {
        // The wall time is the usual metric; others are named.
        metrics: rows.iter().any(|row| row.name != FIRST_METRIC),
        ..RowTitles::of(rows)
    };
    let best = rows
        .iter()
        .any(|row| row.effort.is_some_and(|it| it.best_iterations.is_some()));
    let mut columns = identity_columns(titles).to_vec();
    columns.extend([
        (true, "value", Right),
        (true, "cv of all", Right),
        (true, "between instances", Right),
        (hosts == HostColumn::Shown, "of it between hosts", Right),
        (true, "within", Right),
        (true, "sample", Right),
        (best, "best iterations", Right),
    ]);
    let last = ["best iterations", "suite", "cv of all", "setting", "metric"];
    let mut table = Table::of_shown(&columns).dispensable(&last);
    for row in rows {
        let variability = &row.variability;
        let part = |part: Option<NoisePart>| part.map_or("–".to_owned(), |it| it.text());
        let best = row.effort.and_then(|it| it.best_iterations);
        let mut cells = identity_cells(row);
        cells.extend([
            quantity(variability.value, &row.metric.unit),
            percent(variability.cv_total),
            part(row.between),
            part(row.between_hosts),
            part(row.within),
            variability.size.short(),
            best.map_or_else(String::new, |it| it.to_string()),
        ]);
        table.row(cells);
    }
    table
}

/// More benchmarks in two groups than this are a number.
const GROUPS: usize = 5;

/// Returns the notes below the table.
fn notes(found: &Analysed<Noise>) -> Vec<Note> {
    let titles = RowTitles::of(&found.rows);
    let rows = found.rows.iter();
    let groups: Vec<Note> = rows.filter_map(|row| groups_note(row, titles)).collect();
    let mut notes: Vec<Note> = groups.iter().take(GROUPS).cloned().collect();
    if let Some(more @ 1..) = groups.len().checked_sub(GROUPS) {
        let text = format!("{more} more fall into two groups; --format json lists them");
        notes.push(Note::new("more_groups", text).with("rows", more));
    }
    notes.extend(noise_advice(&found.rows));
    let single = found
        .rows
        .iter()
        .filter(|row| row.variability.size.instances == 1)
        .count();
    if single > 0 && single < found.rows.len() {
        let noun = noun_of_rows(found.rows.iter().map(|it| (&it.suite, &it.benchmark)));
        let text = format!(
            "{} with a single instance: noise between instances is unknown",
            counted(single, noun)
        );
        notes.push(Note::new("single_instance", text).with("benchmarks", single));
    }
    if found.older > 0 {
        let text = format!(
            "only the latest version of each variant is used; {} in the store (`--settings each`)",
            match found.older {
                1 => "an older one is".to_owned(),
                several => format!("{several} older ones are"),
            }
        );
        notes.push(Note::new("older_versions", text).with("older_versions", found.older));
    }
    notes.extend(found.exclusions());
    notes
}

/// Returns a note on the two groups of a row, if there are two.
fn groups_note(row: &Noise, titles: RowTitles) -> Option<Note> {
    let Modes::Two { split, .. } = row.variability.modes else {
        return None;
    };
    let upper = row.variability.size.instances - split.lower_count;
    let note = Note::new("two_groups", row.groups_text(titles)?);
    let note = note.with("lower_instances", split.lower_count);
    let note = note.with("upper_instances", upper);
    let note = note.with("lower_mean", split.lower_mean);
    let note = note.with("upper_mean", split.upper_mean);
    Some(note.with("ratio", split.upper_mean / split.lower_mean))
}

/// A row of the answer for programs.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct NoiseRow<'a> {
    #[serde(flatten)]
    metric: MetricFields<'a>,
    unit: &'a str,
    #[serde(flatten)]
    setting: SettingFields<'a>,
    instances: usize,
    iterations: usize,
    /// Geometric mean of the instances.
    value: f64,
    /// Mean of all values.
    mean: f64,
    cv_total: f64,
    cv_instance_mean: Option<f64>,
    cv_instance_sd: Option<f64>,
    cv_between: Option<f64>,
    cv_between_lower: Option<f64>,
    cv_between_upper: Option<f64>,
    cv_within: Option<f64>,
    cv_within_lower: Option<f64>,
    cv_within_upper: Option<f64>,
    share_between: Option<f64>,
    share_between_lower: Option<f64>,
    share_between_upper: Option<f64>,
    hosts: usize,
    share_between_hosts: Option<f64>,
    share_between_hosts_lower: Option<f64>,
    share_between_hosts_upper: Option<f64>,
    best_iterations: Option<usize>,
    /// The groups of the instance means; `null` if there are too few instances.
    modes: Option<ModesFields<'a>>,
}

impl<'a> NoiseRow<'a> {
    fn new(row: &'a Noise) -> Self {
        let (metric, setting) = identity(row.about());
        let variability = &row.variability;
        let value = |part: Option<NoisePart>| part.map(|it| it.value);
        let interval = |part: Option<NoisePart>| part?.interval;
        let share = variability.components;
        let share_interval = share.and_then(|it| it.share_interval);
        Self {
            metric,
            unit: &row.metric.unit,
            setting,
            instances: variability.size.instances,
            iterations: variability.size.iterations,
            value: variability.value,
            mean: variability.mean,
            cv_total: variability.cv_total,
            cv_instance_mean: variability.cv_instance_mean,
            cv_instance_sd: variability.cv_instance_sd,
            cv_between: value(row.between),
            cv_between_lower: interval(row.between).map(|it| it.lower),
            cv_between_upper: interval(row.between).map(|it| it.upper),
            cv_within: value(row.within),
            cv_within_lower: interval(row.within).map(|it| it.lower),
            cv_within_upper: interval(row.within).map(|it| it.upper),
            share_between: share.and_then(|it| it.share_between),
            share_between_lower: share_interval.map(|it| it.lower),
            share_between_upper: share_interval.map(|it| it.upper),
            hosts: row.hosts,
            share_between_hosts: value(row.between_hosts),
            share_between_hosts_lower: interval(row.between_hosts).map(|it| it.lower),
            share_between_hosts_upper: interval(row.between_hosts).map(|it| it.upper),
            best_iterations: row.effort.and_then(|it| it.best_iterations),
            modes: ModesFields::of(row),
        }
    }
}

/// The groups of the instance means.
#[derive(Debug, Serialize, JsonSchema)]
struct ModesFields<'a> {
    /// Number of groups: 1 or 2.
    count: usize,
    /// Of the test whether there are two.
    p_value: f64,
    lower: Option<GroupFields>,
    upper: Option<GroupFields>,
    /// What the instances of the groups differ in.
    associations: Vec<AssociationFields<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct GroupFields {
    instances: usize,
    mean: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AssociationFields<'a> {
    attributes: &'a [String],
    levels: Vec<LevelFields<'a>>,
    p_value: f64,
    p_adjusted: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LevelFields<'a> {
    level: &'a str,
    /// Number of instances in each group.
    lower: usize,
    upper: usize,
    /// Number of instances in both.
    instances: usize,
}

impl<'a> ModesFields<'a> {
    /// Returns the groups; `None` if there are too few instances.
    fn of(row: &'a Noise) -> Option<Self> {
        match row.variability.modes {
            Modes::TooFew => None,
            Modes::One { dip } => Some(Self {
                count: 1,
                p_value: dip.p_value,
                lower: None,
                upper: None,
                associations: Vec::new(),
            }),
            Modes::Two { dip, split } => Some(Self {
                count: 2,
                p_value: dip.p_value,
                lower: Some(GroupFields {
                    instances: split.lower_count,
                    mean: split.lower_mean,
                }),
                upper: Some(GroupFields {
                    instances: row.variability.size.instances - split.lower_count,
                    mean: split.upper_mean,
                }),
                associations: row
                    .associations
                    .iter()
                    .map(AssociationFields::new)
                    .collect(),
            }),
        }
    }
}

impl<'a> AssociationFields<'a> {
    fn new(association: &'a Association) -> Self {
        let levels = association.levels.iter().map(|it| LevelFields {
            level: &it.level,
            lower: it.lower,
            upper: it.upper,
            instances: it.lower + it.upper,
        });
        Self {
            attributes: &association.attributes,
            levels: levels.collect(),
            p_value: association.p_value,
            p_adjusted: association.p_adjusted,
        }
    }
}
