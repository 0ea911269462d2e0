//! Tables of the runs of a factor study: CSV with a column per factor, the time of the run, and its cost.

mod columns;
mod finding;
mod level;
mod metric;
mod table;

use std::collections::HashMap;

use csv::StringRecord;
use jiff::{SignedDuration, Timestamp};
use lapwing_model::text::{counted, first_names};
use lapwing_model::{Id, InstanceOutcome, Level, Object};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::runs::columns::{
    CostTitle, FactorColumn, RunsColumns, RunsRefusal, TimeColumn, are_runs,
};
use crate::runs::level::levels;
use crate::runs::table::{RunsTable, header_of};
use crate::shared::intake::{InstanceDraft, Intake, SessionDraft, hex, new_session};
use crate::shared::reading::cells::{is_missing, number, time};
use crate::shared::rows::bad_header;
use crate::shared::sink::Sink;
use crate::shared::spans::named_run;
use crate::{BadLine, ColumnsUsed, Format, ImportError, Source};
use lapwing_record::IterationColumns;

pub(super) const FORMAT: Format = Format {
    takes_names: true,
    ..Format::new(
        "runs",
        "runs of a factor study (CSV): a column per factor, `unix_time`, and the cost",
        looks_like,
        read,
    )
};

/// Words for a run that has no cost because it failed, beside those for a missing number.
const FAILURES: [&str; 7] = [
    "failed", "failure", "fail", "error", "crashed", "crash", "timeout",
];

/// Cells that stand for an unknown level.
const UNKNOWN_LEVELS: [&str; 4] = ["na", "nan", "n/a", "#n/a"];

/// Lines to spell out.
const LINES_TOLD: usize = 5;

fn looks_like(head: &[u8]) -> Option<&'static str> {
    are_runs(&header_of(head)?)
        .then_some("its first line has `unix_time`, and its last column a unit")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let table = RunsTable::of(source)?;
    let columns = match RunsColumns::of(&table, &sink.options.columns) {
        Ok(columns) => columns,
        Err(RunsRefusal::Wrong(reason)) => {
            return Err(bad_header(source, BadLine::new(1, reason)));
        }
        Err(RunsRefusal::Unclear(unclear)) => {
            return Err(ImportError::UnclearColumns {
                name: source.name().to_owned(),
                doubts: unclear.doubts,
                choices: unclear.choices,
            });
        }
    };
    let rows: Vec<Result<RunRow<'_>, BadLine>> = (table.rows.iter())
        .map(|row| columns.row(row.as_ref().map_err(Clone::clone)?))
        .collect();
    let levels = columns.levels(&rows);
    let started = rows.iter().flatten().filter_map(|row| row.time).min();
    let session = SessionDraft {
        identity: identity_in_store(source, &table, (started, &digest), sink)?,
        started,
        tool: "runs of a study (CSV)".to_owned(),
        attributes: columns.study(&levels),
        read_with: vec![("columns", columns.text())],
        ..SessionDraft::default()
    };
    let failed: Vec<u64> = (rows.iter().flatten())
        .filter(|row| row.outcome != InstanceOutcome::Ok)
        .map(|row| row.line)
        .collect();
    sink.columns(ColumnsUsed {
        text: told(&columns, rows.len(), &failed),
        rivals: Vec::new(),
        unclear: Vec::new(),
    });
    let mut intake = Intake::begin(source, &digest, sink, session)?;
    let mut known: HashMap<Id, u64> = HashMap::new();
    let mut place = 0;
    for row in rows {
        let Some(row) = intake.good(row) else {
            continue;
        };
        // The same row may come again: a repetition. Its place does not count, so that rows may be added anywhere.
        let content = content_id(intake.session(), row.cells);
        let copies = known.entry(content).or_default();
        let id = Id::derived(&[content.as_bytes(), &copies.to_le_bytes()]);
        *copies += 1;
        let mut draft = columns.draft(&row, source.stem());
        draft.id = Some(id);
        let mut run = named_run(&intake.options().trace, &mut draft);
        let of_row = levels.iter().map(|column| column[place].clone());
        run.factors = (columns.names().zip(of_row))
            .filter_map(|(name, level)| Some((name, level?)))
            .collect();
        place += 1;
        run.key = json!(run.factors).to_string();
        let run = intake.run(run)?;
        intake.instance(row.line, run, draft)?;
    }
    intake.finish()
}

/// Returns the origin of the ids of a file. A file with times that begins like another one is the same under a new name
/// only if nothing in it has changed.
fn identity_in_store(
    source: &Source,
    table: &RunsTable,
    (started, digest): (Option<Timestamp>, &[u8; 32]),
    sink: &Sink<'_, '_>,
) -> Result<Option<[u8; 32]>, ImportError> {
    let named = identity(table, Some(&source.telling_name()));
    if started.is_none() {
        return Ok(named);
    }
    let identity = identity(table, None);
    let draft = SessionDraft {
        identity,
        started,
        ..SessionDraft::default()
    };
    let known = sink.stored_session(new_session(source, digest, sink, draft).id)?;
    let about = known.as_ref().and_then(|it| it.attributes.get("source"));
    let is_other = about.is_some_and(|about| {
        about["file"] != json!(source.name()) && about["sha256"] != json!(hex(digest))
    });
    Ok(if is_other { named } else { identity })
}

/// Returns a digest of the columns and the first row, so that a file that has grown is the same.
fn identity(table: &RunsTable, name: Option<&str>) -> Option<[u8; 32]> {
    let first = table.rows.iter().flatten().next()?;
    let mut hash = Sha256::new();
    let header = table.header.iter().map(String::as_str);
    for text in header.chain(first).chain(name) {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    Some(hash.finalize().into())
}

fn content_id(session: Id, cells: &StringRecord) -> Id {
    let mut parts = vec![b"runs instance".as_slice(), session.as_bytes().as_slice()];
    parts.extend(cells.iter().map(str::as_bytes));
    Id::derived(&parts)
}

/// Returns what was taken for what, in one line.
fn told(columns: &RunsColumns, rows: usize, failed: &[u64]) -> String {
    let columns = columns.told();
    if failed.is_empty() {
        return format!("{columns}; {}", counted(rows, "row"));
    }
    let lines = failed.iter().map(u64::to_string);
    format!(
        "{columns}; {}, of which {} {} no cost and {} as failed (line {})",
        counted(rows, "row"),
        failed.len(),
        if failed.len() == 1 { "has" } else { "have" },
        if failed.len() == 1 { "counts" } else { "count" },
        first_names(lines, LINES_TOLD)
    )
}

/// A row with its levels as texts.
struct RunRow<'t> {
    line: u64,
    cells: &'t StringRecord,
    time: Option<Timestamp>,
    /// The costs in base units; not a number where one is missing.
    costs: Vec<f64>,
    outcome: InstanceOutcome,
}

impl RunsColumns {
    fn names(&self) -> impl Iterator<Item = String> {
        self.factors.iter().map(|factor| factor.name.clone())
    }

    fn row<'t>(&self, cells: &'t StringRecord) -> Result<RunRow<'t>, BadLine> {
        let line = cells.position().map_or(0, csv::Position::line);
        let bad = |reason| BadLine::new(line, reason);
        for FactorColumn { at, name, .. } in &self.factors {
            if UNKNOWN_LEVELS
                .iter()
                .any(|it| cells[*at].eq_ignore_ascii_case(it))
            {
                return Err(bad(format!(
                    "the level of `{name}` is not known: `{}`",
                    &cells[*at]
                )));
            }
        }
        let costs = self.costs.iter().map(|cost| cost.of(&cells[cost.at]));
        let costs: Vec<f64> = costs.collect::<Result<_, _>>().map_err(bad)?;
        let is_timeout = cells[self.costs[0].at].eq_ignore_ascii_case("timeout");
        let outcome = match (costs[0].is_nan(), is_timeout) {
            (false, _) => InstanceOutcome::Ok,
            (true, true) => InstanceOutcome::TimedOut,
            (true, false) => InstanceOutcome::Failed,
        };
        let time = self.time.as_ref().map(|it| it.of(&cells[it.at]));
        Ok(RunRow {
            line,
            cells,
            time: time.transpose().map_err(bad)?,
            costs,
            outcome,
        })
    }

    /// Returns the levels of each factor: those of the good rows, then the base if it is stated.
    fn levels(&self, rows: &[Result<RunRow<'_>, BadLine>]) -> Vec<Vec<Option<Level>>> {
        let column = |factor: &FactorColumn| {
            let rows = rows.iter().flatten();
            let texts = rows.map(|row| &row.cells[factor.at]);
            let texts: Vec<&str> = texts.chain(factor.base.as_deref()).collect();
            levels(&texts, factor.mark)
        };
        self.factors.iter().map(column).collect()
    }

    /// Returns what analyses of studies ask a session for: the order of its factors, and their bases.
    fn study(&self, levels: &[Vec<Option<Level>>]) -> Object {
        let factors = self.factors.iter().zip(levels).map(|(column, levels)| {
            let mut factor = json!({"name": column.name});
            if let (Some(_), Some(Some(base))) = (&column.base, levels.last()) {
                factor["levels"] = json!([base]);
            }
            factor
        });
        let study = json!({"factors": factors.collect::<Vec<Value>>()});
        Object::from_iter([("study".to_owned(), study)])
    }

    fn draft(&self, row: &RunRow<'_>, benchmark: &str) -> InstanceDraft {
        let is_good = row.outcome == InstanceOutcome::Ok;
        let named = |cost: &CostTitle| cost.metric.name.clone();
        let iterations = IterationColumns {
            count: 1,
            values: (self.costs.iter().map(named))
                .zip(row.costs.iter().map(|cost| vec![*cost]))
                .collect(),
            ..IterationColumns::default()
        };
        let attributes = self.attributes.iter();
        InstanceDraft {
            started: row.time,
            host: self.host.as_ref().map(|(at, _)| row.cells[*at].to_owned()),
            attributes: attributes
                .map(|(at, name)| (name.clone(), json!(row.cells[*at])))
                .collect(),
            metrics: (self.costs.iter())
                .map(|cost| (named(cost), cost.metric.unit.metric.clone()))
                .collect(),
            iterations: if is_good {
                iterations
            } else {
                IterationColumns::default()
            },
            outcome: row.outcome,
            message: (!is_good).then(|| match &row.cells[self.costs[0].at] {
                "" => "no cost".to_owned(),
                cell => format!("no cost: `{cell}`"),
            }),
            ..InstanceDraft::of(benchmark)
        }
    }
}

impl CostTitle {
    /// Returns the cost in its base unit; not a number where it is missing.
    fn of(&self, cell: &str) -> Result<f64, String> {
        if is_missing(cell) || FAILURES.iter().any(|it| cell.eq_ignore_ascii_case(it)) {
            return Ok(f64::NAN);
        }
        match number(cell, self.mark) {
            Some(cost) => Ok(self.metric.unit.base(cost)),
            None => Err(format!(
                "`{}` is the cost, and `{cell}` is no number",
                self.title
            )),
        }
    }
}

impl TimeColumn {
    fn of(&self, cell: &str) -> Result<Timestamp, String> {
        let of_seconds = || {
            let since =
                SignedDuration::try_from_secs_f64(cell.replace(',', ".").parse().ok()?).ok()?;
            Timestamp::from_duration(since).ok()
        };
        time(cell, self.order).or_else(of_seconds).ok_or_else(|| {
            format!(
                "`{}` is neither a Unix time stamp nor a date: `{cell}`",
                self.title
            )
        })
    }
}

#[cfg(test)]
mod tests;
