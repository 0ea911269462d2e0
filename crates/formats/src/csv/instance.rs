//! Puts the rows of one instance together.

use serde_json::{Value, json};

use crate::csv::columns::Columns;
use crate::csv::role::{DEVIATIONS, Role};
use crate::csv::table::CsvRow;
use crate::shared::intake::{InstanceDraft, SummaryDraft};
use crate::shared::notes::Notes;
use crate::shared::units::Unit;

/// Rows of one instance.
#[derive(Debug)]
pub(super) struct CsvInstance {
    pub(super) line: u64,
    pub(super) variant: Option<String>,
    pub(super) draft: InstanceDraft,
    /// The places of its rows in the table.
    pub(super) rows: Vec<usize>,
}

/// What is said of a value beside it.
#[derive(Debug, Clone, Default)]
pub(super) struct Figures {
    pub(super) count: Option<f64>,
    /// Names, units if they state one, and values.
    pub(super) list: Vec<(String, Option<String>, f64)>,
}

impl Figures {
    pub(super) fn summary(
        self,
        metric: &str,
        unit: &Unit,
        value: f64,
        statistic: &str,
    ) -> SummaryDraft {
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
    pub(super) fn push(
        &mut self,
        metric: String,
        unit: &Unit,
        value: f64,
        iteration: Option<usize>,
    ) {
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
    pub(super) fn end_row(&mut self, burn_in: bool) {
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
    pub(super) fn keep_attributes(&mut self, columns: &Columns, row: &CsvRow, notes: &mut Notes) {
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
