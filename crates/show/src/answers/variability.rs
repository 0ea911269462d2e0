//! The noise of benchmarks: `lapwing variability`.

use lapwing_analyse::explain::{Association, Noise, NoisePart};
use lapwing_model::text::{counted, first_names};
use lapwing_stats::Modes;
use serde::Serialize;
use serde_json::{Value, json};

use super::analysed::Analysed;
use super::audit::AuditPart;
use super::{MetricFields, SettingFields, identity, identity_cells, identity_columns, not_judged};
use crate::writing::Align::Right;
use crate::writing::{
    Answer, AnswerKind, CsvRows, Table, TextAnswer, Untyped, View, WriteError, csv_rows, uncoded,
};
use crate::{
    FIRST_METRIC, NoisePartText, NoiseText, RowTitles, TitledRow, noise_advice, noise_headline,
    percent, quantity,
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

/// Its fields for programs.
const KIND: AnswerKind = AnswerKind::of::<Untyped>("variability");

impl Answer for VariabilityAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let mut notes = notes(&self.noise);
        if self.hosts == HostColumn::Shown {
            notes.extend(host_advice(&self.noise.rows));
        }
        TextAnswer {
            headline: noise_headline(&self.noise.rows),
            table: table(&self.noise.rows, self.hosts),
            notes: uncoded(notes),
            next: Vec::new(),
            has_table_first: false,
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let rows: Vec<NoiseRow> = self.noise.rows.iter().map(NoiseRow::new).collect();
        Ok(json!({
            "variability": rows,
            "not_judged": not_judged::of_audit(&self.noise.audit),
            "audit": self.noise.audit_part().fields(),
        }))
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
fn host_advice(rows: &[Noise]) -> Option<String> {
    /// More names than this are a number.
    const NAMED: usize = 3;
    let titles = RowTitles::of(rows);
    let mostly = rows
        .iter()
        .filter(|row| row.between_hosts.is_some_and(|it| it.value > 0.5));
    let names: Vec<String> = mostly.map(|row| titles.title(row)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "most of the variance of {} lies between hosts: for results that hold on others too, measure on more hosts, not more on each",
            first_names(&names, NAMED)
        )
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
        (true, "mean", Right),
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
            quantity(variability.mean, &row.metric.unit),
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
fn notes(found: &Analysed<Noise>) -> Vec<String> {
    let titles = RowTitles::of(&found.rows);
    let rows = found.rows.iter();
    let groups: Vec<String> = rows.filter_map(|row| row.groups_text(titles)).collect();
    let mut notes: Vec<String> = groups.iter().take(GROUPS).cloned().collect();
    if let Some(more @ 1..) = groups.len().checked_sub(GROUPS) {
        notes.push(format!(
            "{more} more fall into two groups; --format json lists them"
        ));
    }
    notes.extend(noise_advice(&found.rows));
    let single = found
        .rows
        .iter()
        .filter(|row| row.variability.size.instances == 1)
        .count();
    if single > 0 && single < found.rows.len() {
        notes.push(format!(
            "{} with a single instance: noise between instances is unknown",
            counted(single, "benchmark")
        ));
    }
    if found.older > 0 {
        notes.push(format!(
            "only the latest version of each variant is used; {} in the store (`--settings each`)",
            match found.older {
                1 => "an older one is".to_owned(),
                several => format!("{several} older ones are"),
            }
        ));
    }
    notes.extend(found.exclusions().into_iter().map(|it| it.text));
    notes
}

/// A row of the answer for programs.
#[derive(Default, Serialize)]
struct NoiseRow<'a> {
    #[serde(flatten)]
    metric: MetricFields<'a>,
    unit: &'a str,
    #[serde(flatten)]
    setting: SettingFields<'a>,
    instances: usize,
    iterations: usize,
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
    modes: Value,
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
            modes: modes(row),
        }
    }
}

/// Returns the groups of the instance means: `null` if there are too few instances.
fn modes(row: &Noise) -> Value {
    match row.variability.modes {
        Modes::TooFew => Value::Null,
        Modes::One { dip } => json!({"count": 1, "p_value": dip.p_value}),
        Modes::Two { dip, split } => json!({
            "count": 2,
            "p_value": dip.p_value,
            "lower": {"instances": split.lower_count, "mean": split.lower_mean},
            "upper": {
                "instances": row.variability.size.instances - split.lower_count,
                "mean": split.upper_mean,
            },
            "associations": row.associations.iter().map(association_json).collect::<Vec<_>>(),
        }),
    }
}

fn association_json(association: &Association) -> Value {
    let levels = association
        .levels
        .iter()
        .map(|it| json!({"level": it.level, "lower": it.lower, "upper": it.upper}));
    json!({
        "attributes": association.attributes,
        "levels": levels.collect::<Vec<_>>(),
        "p_value": association.p_value,
        "p_adjusted": association.p_adjusted,
    })
}
