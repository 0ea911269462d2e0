//! Groups the rows of a table: runs by date and version, in them instances with their iterations.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use lapwing_model::{Benchmark, Object, Version};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::BadLine;
use crate::csv::columns::{Column, Columns};
use crate::csv::earlier::IdentityColumns;
use crate::csv::heading::{Heading, key};
use crate::csv::instance::{CsvInstance, Figures};
use crate::csv::role::Role;
use crate::csv::table::{CsvRow, CsvTable};
use crate::shared::intake::InstanceDraft;
use crate::shared::notes::Notes;
use crate::shared::reading::cells::{is_missing, number, time};
use crate::shared::units::Unit;

/// Rows of one version within this time are one run.
pub(super) const ONE_RUN: SignedDuration = SignedDuration::from_hours(1);

/// The rows of one version at one time.
#[derive(Debug, Default)]
pub(super) struct CsvRun {
    pub(super) started: Option<Timestamp>,
    pub(super) version: Version,
    pub(super) instances: Vec<CsvInstance>,
    /// The place of its first row in the table.
    pub(super) first: usize,
    places: BTreeMap<Vec<String>, usize>,
}

impl CsvRun {
    /// Returns the places of its rows.
    pub(super) fn rows(&self) -> Vec<usize> {
        let instances = self.instances.iter();
        instances.flat_map(|it| it.rows.iter().copied()).collect()
    }
}

/// What is known before a row is read.
#[derive(Clone, Copy)]
pub(super) struct RowMeaning<'t> {
    pub(super) table: &'t CsvTable,
    pub(super) columns: &'t Columns,
    /// The columns that ids come from.
    pub(super) identity: &'t IdentityColumns,
    /// The name of what was measured, where no column has it.
    pub(super) benchmark: &'t str,
}

/// Reads the rows of a table.
pub(super) struct RowReader<'t> {
    meaning: RowMeaning<'t>,
    runs: Vec<CsvRun>,
    by_version: BTreeMap<[Option<String>; 4], Vec<usize>>,
}

impl<'t> RowReader<'t> {
    pub(super) fn new(meaning: RowMeaning<'t>) -> Self {
        Self {
            meaning,
            runs: Vec::new(),
            by_version: BTreeMap::new(),
        }
    }

    /// Returns the runs of these rows, in the order of their first ones, and the rows that cannot be used.
    pub(super) fn read(mut self, rows: &[usize], notes: &mut Notes) -> (Vec<CsvRun>, Vec<BadLine>) {
        let mut bad = Vec::new();
        let table = self.meaning.table;
        for at in rows {
            if let Err(reason) = self.add(*at, notes) {
                let row = &table.rows[*at];
                let id = self.meaning.instance(row, None).draft.benchmark.id;
                bad.push(BadLine::new(row.line, reason).of(id));
            }
        }
        (self.runs, bad)
    }

    fn add(&mut self, at: usize, notes: &mut Notes) -> Result<(), String> {
        let table = self.meaning.table;
        let row = &table.rows[at];
        let Some(content) = self.meaning.content(row)? else {
            notes.left_line(row.line, "the row has no value");
            return Ok(());
        };
        let run = self.run(content.started, at);
        let meaning = &self.meaning;
        let run = &mut self.runs[run];
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
        if meaning.columns.statistic().is_some() {
            // Each of them is of other samples.
            let metric = meaning.columns.the(Role::Metric);
            key.push(metric.map_or_else(String::new, |column| row.cell(column.at).to_owned()));
            key.push(run.instances.len().to_string());
        }
        let place = *run.places.entry(key).or_insert(run.instances.len());
        if place == run.instances.len() {
            run.instances.push(meaning.instance(row, content.started));
        }
        meaning.add(at, content, &mut run.instances[place], notes);
        Ok(())
    }

    /// Returns the place of the run of a row.
    fn run(&mut self, started: Option<Timestamp>, row: usize) -> usize {
        let first = row;
        let row = &self.meaning.table.rows[row];
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
            first,
            ..CsvRun::default()
        });
        self.runs.len() - 1
    }
}

/// What stands in a row.
struct RowContent<'t> {
    values: Vec<(&'t Column, f64)>,
    started: Option<Timestamp>,
    figures: Figures,
    burn_in: bool,
}

impl<'t> RowMeaning<'t> {
    /// Returns whether a row has a value.
    pub(super) fn has_value(&self, row: &CsvRow) -> bool {
        matches!(self.content(row), Ok(Some(_)))
    }

    /// Returns what stands in a row; nothing if it has no value.
    fn content(&self, row: &CsvRow) -> Result<Option<RowContent<'t>>, String> {
        let values = self.values(row)?;
        if values.iter().all(|(_, value)| value.is_nan()) {
            return Ok(None);
        }
        Ok(Some(RowContent {
            values,
            started: self.started(row)?,
            figures: self.figures(row)?,
            burn_in: self.burn_in(row)?,
        }))
    }

    /// Adds a row to its instance.
    fn add(
        &self,
        at: usize,
        content: RowContent<'t>,
        instance: &mut CsvInstance,
        notes: &mut Notes,
    ) {
        let row = &self.table.rows[at];
        instance.rows.push(at);
        instance.keep_attributes(self.columns, row, notes);
        if let Some(statistic) = self.columns.statistic() {
            let main = self.columns.main_value().map(|main| main.at);
            for (column, value) in content.values {
                let figures = if main == Some(column.at) {
                    content.figures.clone()
                } else {
                    Figures::default()
                };
                let (metric, unit) = self.metric(column, row);
                let summary = figures.summary(&metric, &unit, value, statistic);
                instance.draft.summarise(&unit, summary);
            }
            return;
        }
        // A row of one metric continues that metric; of several, it is an iteration.
        let is_long = self.columns.the(Role::Metric).is_some();
        let iteration = (!is_long).then_some(instance.draft.iterations.count);
        for (column, value) in content.values {
            let (metric, unit) = self.metric(column, row);
            instance.push(metric, &unit, value, iteration);
        }
        instance.end_row(content.burn_in);
    }

    /// Returns an instance of some rows of another one.
    pub(super) fn part(&self, rows: &[usize], notes: &mut Notes) -> CsvInstance {
        let first = rows.first().map(|at| &self.table.rows[*at]);
        let row = first.unwrap_or(&self.table.rows[0]);
        let mut part = self.instance(row, self.started(row).ok().flatten());
        for at in rows {
            if let Ok(Some(content)) = self.content(&self.table.rows[*at]) {
                self.add(*at, content, &mut part, notes);
            }
        }
        part
    }

    /// Returns a digest of rows.
    pub(super) fn digest(&self, rows: &[usize]) -> [u8; 32] {
        let mut hash = Sha256::new();
        for at in rows {
            self.identity.add_row(&mut hash, &self.table.rows[*at]);
        }
        hash.finalize().into()
    }

    /// Returns the values of a row, by their columns.
    fn values(&self, row: &CsvRow) -> Result<Vec<(&'t Column, f64)>, String> {
        let values = self.columns.of_role(Role::Value);
        values
            .map(|column| Ok((column, self.number(column, row)?)))
            .collect()
    }

    fn number(&self, column: &Column, row: &CsvRow) -> Result<f64, String> {
        let cell = row.cell(column.at);
        number(cell, column.mark)
            .ok_or_else(|| format!("`{}` is not a number: {cell:?}", column.title))
    }

    fn started(&self, row: &CsvRow) -> Result<Option<Timestamp>, String> {
        let Some(column) = self.columns.the(Role::Date) else {
            return Ok(None);
        };
        let cell = row.cell(column.at);
        let found = time(cell, column.order);
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
            rows: Vec::new(),
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
        let of_row = cell(Role::Unit).filter(|_| self.columns.takes_unit(column));
        let of_row = of_row.or(column.heading.unit.as_deref());
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

fn parameter_name(title: &str) -> &str {
    let rest = title
        .split_once(':')
        .filter(|(word, _)| key(word) == "param");
    rest.map_or(title, |(_, name)| name.trim())
}
