//! Groups the rows of a table: runs by date and version, in them instances with their iterations.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use lapwing_model::{Benchmark, Object, Version};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::BadLine;
use crate::csv::cells::{is_missing, number, time};
use crate::csv::columns::{Column, Columns};
use crate::csv::heading::{Heading, key};
use crate::csv::role::{DEVIATIONS, Role};
use crate::csv::table::{CsvRow, CsvTable};
use crate::shared::intake::{InstanceDraft, SummaryDraft};
use crate::shared::notes::Notes;
use crate::shared::units::Unit;

/// Rows of one version within this time are one run.
const ONE_RUN: SignedDuration = SignedDuration::from_hours(1);

/// The rows of one version at one time.
#[derive(Debug, Default)]
pub(super) struct CsvRun {
    pub(super) started: Option<Timestamp>,
    pub(super) version: Version,
    pub(super) instances: Vec<CsvInstance>,
    places: BTreeMap<Vec<String>, usize>,
    digest: Sha256,
}

/// Rows of one instance.
#[derive(Debug)]
pub(super) struct CsvInstance {
    pub(super) line: u64,
    pub(super) variant: Option<String>,
    pub(super) draft: InstanceDraft,
    digest: Sha256,
}

impl CsvRun {
    /// Returns a digest of its rows.
    pub(super) fn digest(&self) -> [u8; 32] {
        self.digest.clone().finalize().into()
    }
}

impl CsvInstance {
    /// Returns a digest of its rows.
    pub(super) fn digest(&self) -> [u8; 32] {
        self.digest.clone().finalize().into()
    }
}

/// What is known before a row is read.
pub(super) struct RowMeaning<'t> {
    pub(super) table: &'t CsvTable,
    pub(super) columns: &'t Columns,
    /// The name of what was measured, where no column has it.
    pub(super) benchmark: &'t str,
}

/// Reads the rows of a table.
pub(super) struct RowReader<'t> {
    meaning: RowMeaning<'t>,
    statistic: Option<String>,
    runs: Vec<CsvRun>,
    by_version: BTreeMap<[Option<String>; 4], Vec<usize>>,
}

impl<'t> RowReader<'t> {
    pub(super) fn new(meaning: RowMeaning<'t>) -> Self {
        Self {
            statistic: meaning.columns.statistic(),
            meaning,
            runs: Vec::new(),
            by_version: BTreeMap::new(),
        }
    }

    /// Returns the runs, in the order of their first rows, and the rows that cannot be used.
    pub(super) fn read(mut self, notes: &mut Notes) -> (Vec<CsvRun>, Vec<BadLine>) {
        let mut bad = Vec::new();
        let table = self.meaning.table;
        for row in &table.rows {
            if let Err(reason) = self.add(row, notes) {
                bad.push(BadLine::new(row.line, reason));
            }
        }
        (self.runs, bad)
    }

    fn add(&mut self, row: &CsvRow, notes: &mut Notes) -> Result<(), String> {
        let meaning = &self.meaning;
        let values = meaning.values(row)?;
        if values.iter().all(|(_, value)| value.is_nan()) {
            notes.left_line(row.line, "the row has no value");
            return Ok(());
        }
        let started = meaning.started(row)?;
        let figures = meaning.figures(row)?;
        let burn_in = meaning.burn_in(row)?;
        let run = self.run(started, row);
        let meaning = &self.meaning;
        let summary = self.statistic.as_deref().map(|name| (name, figures));
        let run = &mut self.runs[run];
        hash(&mut run.digest, row);
        let mut key: Vec<String> = [
            Role::Benchmark,
            Role::Parameter,
            Role::Host,
            Role::Variant,
            Role::Instance,
        ]
        .into_iter()
        .flat_map(|role| meaning.columns.of_role(role))
        .map(|column| row.cell(column.at).to_owned())
        .collect();
        if summary.is_some() {
            // Each of them is of other samples.
            let metric = meaning.columns.the(Role::Metric);
            key.push(metric.map_or_else(String::new, |column| row.cell(column.at).to_owned()));
            key.push(run.instances.len().to_string());
        }
        let at = *run.places.entry(key).or_insert(run.instances.len());
        if at == run.instances.len() {
            run.instances.push(meaning.instance(row, started));
        }
        let instance = &mut run.instances[at];
        hash(&mut instance.digest, row);
        instance.keep_attributes(meaning.columns, row, notes);
        match summary {
            Some((statistic, figures)) => {
                for (at, (column, value)) in values.into_iter().enumerate() {
                    let figures = if at == 0 {
                        figures.clone()
                    } else {
                        Figures::default()
                    };
                    let (metric, unit) = meaning.metric(column, row);
                    let summary = figures.summary(&metric, &unit, value, statistic);
                    instance.draft.summarise(&unit, summary);
                }
            }
            None => {
                // A row of one metric continues that metric; of several, it is an iteration.
                let is_long = meaning.columns.the(Role::Metric).is_some();
                let iteration = (!is_long).then_some(instance.draft.iterations.count);
                for (column, value) in values {
                    let (metric, unit) = meaning.metric(column, row);
                    instance.push(metric, &unit, value, iteration);
                }
                instance.end_row(burn_in);
            }
        }
        Ok(())
    }

    /// Returns the place of the run of a row.
    fn run(&mut self, started: Option<Timestamp>, row: &CsvRow) -> usize {
        let text = |role: Role| {
            let cell = self
                .meaning
                .columns
                .the(role)
                .map(|column| row.cell(column.at).to_owned());
            cell.filter(|cell| !is_missing(cell))
        };
        let version = Version {
            name: text(Role::Version),
            commit: text(Role::Commit),
            branch: text(Role::Branch),
            ..Version::default()
        };
        let is_named = version.name.is_some() || version.commit.is_some();
        let session = text(Role::Session);
        let is_session = session.is_some();
        let key = [
            version.name.clone(),
            version.commit.clone(),
            version.branch.clone(),
            session,
        ];
        let known = self.by_version.entry(key).or_default();
        let is_same = |at: &usize| match (self.runs[*at].started, started) {
            _any if is_session => true,
            (Some(known), Some(new)) if is_named => known.duration_since(new).abs() <= ONE_RUN,
            (known, new) => known == new,
        };
        if let Some(at) = known.iter().copied().rev().find(is_same) {
            let first = &mut self.runs[at].started;
            *first = (*first).min(started);
            return at;
        }
        known.push(self.runs.len());
        self.runs.push(CsvRun {
            started,
            version,
            ..CsvRun::default()
        });
        self.runs.len() - 1
    }
}

impl<'t> RowMeaning<'t> {
    /// Returns the values of a row, by their columns.
    fn values(&self, row: &CsvRow) -> Result<Vec<(&'t Column, f64)>, String> {
        let values = self.columns.of_role(Role::Value);
        values
            .map(|column| Ok((column, self.number(column, row)?)))
            .collect()
    }

    fn number(&self, column: &Column, row: &CsvRow) -> Result<f64, String> {
        let cell = row.cell(column.at);
        number(cell, self.table.has_decimal_comma)
            .ok_or_else(|| format!("`{}` is not a number: {cell:?}", column.title))
    }

    fn started(&self, row: &CsvRow) -> Result<Option<Timestamp>, String> {
        let Some(column) = self.columns.the(Role::Date) else {
            return Ok(None);
        };
        let cell = row.cell(column.at);
        let found = time(cell);
        found
            .map(Some)
            .ok_or_else(|| format!("`{}` is not a time: {cell:?}", column.title))
    }

    fn burn_in(&self, row: &CsvRow) -> Result<bool, String> {
        let Some(column) = self.columns.the(Role::BurnIn) else {
            return Ok(false);
        };
        let cell = row.cell(column.at);
        match cell.to_lowercase().as_str() {
            "true" | "1" | "yes" => Ok(true),
            "false" | "0" | "no" | "" => Ok(false),
            _ => Err(format!(
                "`{}` is neither true nor false: {cell:?}",
                column.title
            )),
        }
    }

    /// Returns an instance with nothing measured yet.
    fn instance(&self, row: &CsvRow, started: Option<Timestamp>) -> CsvInstance {
        let text = |role: Role| {
            let cell = self.columns.the(role).map(|column| row.cell(column.at));
            cell.filter(|cell| !is_missing(cell)).map(str::to_owned)
        };
        let mut params = Object::new();
        let mut choices = Vec::new();
        for column in self.columns.of_role(Role::Parameter) {
            let cell = row.cell(column.at);
            if !cell.is_empty() {
                let name = parameter_name(&column.title);
                choices.push(format!("{name}={cell}"));
                params.insert(name.to_owned(), json!(cell));
            }
        }
        let name = text(Role::Benchmark);
        let mut id = match (self.columns.the(Role::Benchmark), name) {
            (_, Some(name)) => name,
            (Some(_), None) => String::new(),
            (None, None) => self.benchmark.to_owned(),
        };
        if !choices.is_empty() {
            id.push_str(&format!("[{}]", choices.join(",")));
        }
        CsvInstance {
            line: row.line,
            variant: text(Role::Variant),
            draft: InstanceDraft {
                benchmark: Benchmark {
                    id,
                    params,
                    ..Benchmark::default()
                },
                host: text(Role::Host),
                started,
                ..InstanceDraft::default()
            },
            digest: Sha256::new(),
        }
    }

    /// Returns the name of the metric that a column has in a row, and its unit.
    fn metric(&self, column: &Column, row: &CsvRow) -> (String, Unit) {
        let cell = |role: Role| {
            let cell = self.columns.the(role).map(|column| row.cell(column.at));
            cell.filter(|cell| !cell.is_empty())
        };
        let named = cell(Role::Metric).map(Heading::of);
        let heading = named.as_ref().unwrap_or(&column.heading);
        let of_row = cell(Role::Unit).or(column.heading.unit.as_deref());
        let unit = heading.unit(of_row);
        let mut metric = heading.metric(&unit.metric.unit);
        // Two columns may have one name but for the unit, or both be wall times.
        let mut before = self
            .columns
            .of_role(Role::Value)
            .take_while(|it| it.at != column.at);
        if before.any(|it| {
            it.heading
                .metric(&it.heading.unit(cell(Role::Unit)).metric.unit)
                == metric
        }) {
            metric.clone_from(&column.title);
        }
        (metric, unit)
    }

    fn figures(&self, row: &CsvRow) -> Result<Figures, String> {
        let mut figures = Figures::default();
        if let Some(column) = self.columns.the(Role::Count) {
            let count = self.number(column, row)?;
            figures.count = Some(count).filter(|count| *count >= 0.0);
        }
        for column in self.columns.of_role(Role::Statistic) {
            let value = self.number(column, row)?;
            if !value.is_nan() {
                let key = column.heading.key();
                figures.list.push((key, column.heading.unit.clone(), value));
            }
        }
        Ok(figures)
    }
}

/// What is said of a value beside it.
#[derive(Debug, Clone, Default)]
struct Figures {
    count: Option<f64>,
    /// Names, units if they state one, and values.
    list: Vec<(String, Option<String>, f64)>,
}

impl Figures {
    fn summary(self, metric: &str, unit: &Unit, value: f64, statistic: &str) -> SummaryDraft {
        let mut summary = SummaryDraft::of(metric, unit.base(value), statistic);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count, which is not negative; out of range saturates"
        )]
        let count = self.count.map(|count| count as u64);
        summary.n = count;
        let mut deviation = None;
        for (name, stated, figure) in self.list {
            let is_ratio = name == "cv";
            let base = match stated {
                _any if is_ratio => figure,
                Some(stated) => Unit::named(&stated).base(figure),
                None => unit.base(figure),
            };
            if DEVIATIONS.contains(&name.as_str()) && statistic == "mean" && deviation.is_none() {
                deviation = Some(base);
            } else {
                summary.extra.insert(name, json!(base));
            }
        }
        summary.with_spread(deviation, "sd")
    }
}

impl CsvInstance {
    /// Adds a value of that iteration, or of the next one that has none of that metric.
    fn push(&mut self, metric: String, unit: &Unit, value: f64, iteration: Option<usize>) {
        let metrics = &mut self.draft.metrics;
        let metric = match metrics.get(&metric) {
            Some(known) if *known != unit.metric => format!("{metric} ({})", unit.metric.unit),
            Some(_) | None => metric,
        };
        metrics
            .entry(metric.clone())
            .or_insert_with(|| unit.metric.clone());
        let column = self.draft.iterations.values.entry(metric).or_default();
        if let Some(iteration) = iteration {
            column.resize(iteration, f64::NAN);
        }
        column.push(unit.base(value));
    }

    /// Ends a row, which may have begun an iteration.
    fn end_row(&mut self, burn_in: bool) {
        let iterations = &mut self.draft.iterations;
        let longest = iterations.values.values().map(Vec::len).max().unwrap_or(0);
        if longest > iterations.count {
            iterations.count = longest;
            iterations.burn_in.push(burn_in);
        }
    }

    /// Fills up the metrics that have fewer values than others.
    pub(super) fn complete(&mut self) {
        let iterations = &mut self.draft.iterations;
        for column in iterations.values.values_mut() {
            column.resize(iterations.count, f64::NAN);
        }
    }

    /// Keeps the cells that mean nothing, where they are the same in all rows.
    fn keep_attributes(&mut self, columns: &Columns, row: &CsvRow, notes: &mut Notes) {
        for column in columns.of_role(Role::Attribute) {
            let cell = row.cell(column.at);
            if cell.is_empty() {
                continue;
            }
            if column.title.is_empty() {
                notes.left(&format!("column {}", column.at + 1), "it has no name");
                continue;
            }
            let attributes = &mut self.draft.attributes;
            match attributes.get(&column.title) {
                None => {
                    notes.kept(&column.title, "attributes of the instance");
                    attributes.insert(column.title.clone(), json!(cell));
                }
                Some(Value::String(known)) if known != cell => {
                    notes.left(
                        &column.title,
                        "it differs between rows of one instance, of which the first is kept",
                    );
                }
                Some(_) => {}
            }
        }
    }
}

fn parameter_name(title: &str) -> &str {
    let rest = title
        .split_once(':')
        .filter(|(word, _)| key(word) == "param");
    rest.map_or(title, |(_, name)| name.trim())
}

fn hash(digest: &mut Sha256, row: &CsvRow) {
    for cell in &row.cells {
        digest.update((cell.len() as u64).to_le_bytes());
        digest.update(cell);
    }
}
