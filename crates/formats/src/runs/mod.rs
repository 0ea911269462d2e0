//! Tables of the runs of a factor study: CSV with a column per factor, the time of the run, and its cost.

use std::collections::BTreeSet;

use csv::{ReaderBuilder, StringRecord, Trim};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::shared::detect::first_line;
use crate::shared::intake::{InstanceDraft, Intake, SessionDraft, iterations_of};
use crate::shared::reading::moment::moment;
use crate::shared::rows::{bad_header, bad_row};
use crate::shared::sink::Sink;
use crate::shared::spans::named_run;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::{Better, Level, Object};

pub(super) const FORMAT: Format = Format {
    takes_names: true,
    ..Format::new(
        "runs",
        "runs of a factor study (CSV): a column per factor, `unix_time`, and the cost",
        looks_like,
        read,
    )
};

/// Names of the column with the time of a run; the first one is a sign of the format.
const TIMES: [&str; 2] = ["unix_time", "timestamp"];

/// Units at the beginning of a column's name, as in `usec_per_task`.
const PREFIXES: [(&str, &str); 9] = [
    ("usec", "us"),
    ("msec", "ms"),
    ("nsec", "ns"),
    ("seconds", "s"),
    ("sec", "s"),
    ("µs", "us"),
    ("us", "us"),
    ("ms", "ms"),
    ("ns", "ns"),
];

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let line = first_line(head);
    let mut reader = reader(delimiter(line), line);
    let columns = RunsColumns::of(reader.headers().ok()?).ok()?;
    let is_stamp = columns.time.is_some_and(|(_, name)| name == TIMES[0]);
    (is_stamp && columns.states_unit)
        .then_some("its first line has `unix_time`, and its last column a unit")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    const HEAD: u64 = 1 << 16;
    let digest = source.sha256()?;
    let mut head = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(source.text()?, HEAD), &mut head)
        .map_err(|error| source.failed(error))?;
    let mut reader = reader(delimiter(first_line(&head)), source.text()?);
    let columns = match reader.headers() {
        Ok(names) => RunsColumns::of(names).map_err(|reason| BadLine::new(1, reason)),
        Err(error) => Err(bad_row(source, error)?),
    };
    let columns = columns.map_err(|bad| bad_header(source, bad))?;
    let mut rows = Vec::new();
    let mut record = StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => rows.push(columns.row(&record)),
            Err(error) => rows.push(Err(bad_row(source, error)?)),
        }
    }
    let levels = columns.levels(&rows);
    let session = SessionDraft {
        started: rows.iter().flatten().filter_map(|row| row.time).min(),
        tool: "runs of a study (CSV)".to_owned(),
        attributes: columns.attributes(&levels),
        ..SessionDraft::default()
    };
    let mut intake = Intake::begin(source, &digest, sink, session)?;
    let mut place = 0;
    for row in rows {
        let Some(row) = intake.good(row) else {
            continue;
        };
        let mut draft = columns.draft(&row, source.stem());
        let mut run = named_run(&intake.options().trace, &mut draft);
        run.factors = columns
            .names()
            .zip(levels.iter().map(|column| column[place].clone()))
            .collect();
        place += 1;
        run.key = json!(run.factors).to_string();
        let run = intake.run(run)?;
        intake.instance(row.line, run, draft)?;
    }
    intake.finish()
}

fn reader<R: std::io::Read>(delimiter: u8, text: R) -> csv::Reader<R> {
    let mut builder = ReaderBuilder::new();
    builder.delimiter(delimiter).trim(Trim::All);
    builder.from_reader(text)
}

/// Returns which of semicolon, comma and tab separates the columns: the most frequent one.
fn delimiter(line: &[u8]) -> u8 {
    let count = |delimiter: &u8| line.iter().filter(|byte| *byte == delimiter).count();
    let found = [b'\t', b',', b';'].into_iter().max_by_key(count);
    found.unwrap_or(b';')
}

/// What the columns mean.
struct RunsColumns {
    factors: Vec<FactorColumn>,
    /// Place and name of the column with the time.
    time: Option<(usize, &'static str)>,
    cost: String,
    cost_at: usize,
    metric: String,
    unit: Unit,
    /// Whether the column of the cost states its unit.
    states_unit: bool,
}

/// A column of a factor: `workers`, or `workers (base 4)`.
struct FactorColumn {
    at: usize,
    name: String,
    base: Option<String>,
}

/// A row with its levels as texts.
struct RunRow {
    line: u64,
    levels: Vec<String>,
    time: Option<Timestamp>,
    cost: f64,
}

impl RunsColumns {
    /// Returns the meaning of the first line: the cost is the last column that is not the time, all others are factors.
    fn of(names: &StringRecord) -> Result<Self, String> {
        let names: Vec<&str> = names
            .iter()
            .map(|name| name.trim_start_matches('\u{feff}'))
            .collect();
        let is_time = |name: &str| TIMES.into_iter().find(|it| name.eq_ignore_ascii_case(it));
        let time = (names.iter().enumerate()).find_map(|(at, name)| Some((at, is_time(name)?)));
        let mut others = (0..names.len()).filter(|at| time.is_none_or(|(it, _)| it != *at));
        let cost_at = others.next_back();
        let factors: Vec<FactorColumn> = others.map(|at| FactorColumn::of(at, names[at])).collect();
        let (Some(cost_at), false) = (cost_at, factors.is_empty()) else {
            return Err("the first line needs a column per factor, and the cost as the last column beside the time".to_owned());
        };
        let mut known = BTreeSet::new();
        for FactorColumn { at, name, .. } in &factors {
            if name.is_empty() {
                return Err(format!("column {} has no name", at + 1));
            }
            if !known.insert(name) {
                return Err(format!("there are two columns `{name}`"));
            }
        }
        let (metric, unit, states_unit) = metric_of(names[cost_at]);
        Ok(Self {
            factors,
            time,
            cost: names[cost_at].to_owned(),
            cost_at,
            metric,
            unit,
            states_unit,
        })
    }

    fn names(&self) -> impl Iterator<Item = String> {
        self.factors.iter().map(|factor| factor.name.clone())
    }

    fn row(&self, record: &StringRecord) -> Result<RunRow, BadLine> {
        let line = record.position().map_or(0, csv::Position::line);
        let text = |at: usize| record.get(at).unwrap_or_default();
        let cost = text(self.cost_at).parse::<f64>().ok();
        let cost = cost.filter(|it| it.is_finite()).ok_or_else(|| {
            let (cost, text) = (&self.cost, text(self.cost_at));
            BadLine::new(line, format!("`{cost}` is the cost, because it is the last column beside the time, and `{text}` is no number"))
        })?;
        let time = self.time.map(|(at, name)| {
            let text = text(at);
            time_of(text).ok_or_else(|| {
                let reason = format!(
                    "`{name}` is neither a Unix time stamp nor a date with a time: `{text}`"
                );
                BadLine::new(line, reason)
            })
        });
        let factors = self.factors.iter();
        Ok(RunRow {
            line,
            levels: factors.map(|factor| text(factor.at).to_owned()).collect(),
            time: time.transpose()?,
            cost: self.unit.base(cost),
        })
    }

    /// Returns the levels of each factor: those of the good rows, then the base if it is stated.
    fn levels(&self, rows: &[Result<RunRow, BadLine>]) -> Vec<Vec<Level>> {
        let column = |(place, factor): (usize, &FactorColumn)| {
            let rows = rows.iter().flatten();
            let texts = rows.map(|row| row.levels[place].as_str());
            levels(&texts.chain(factor.base.as_deref()).collect::<Vec<&str>>())
        };
        self.factors.iter().enumerate().map(column).collect()
    }

    /// Returns what analyses of studies ask a session for: the order of its factors, and their bases.
    fn attributes(&self, levels: &[Vec<Level>]) -> Object {
        let factors = self.factors.iter().zip(levels).map(|(column, levels)| {
            let mut factor = json!({"name": column.name});
            if let (Some(_), Some(base)) = (&column.base, levels.last()) {
                factor["levels"] = json!([base]);
            }
            factor
        });
        let study = json!({"factors": factors.collect::<Vec<Value>>()});
        Object::from_iter([("study".to_owned(), study)])
    }

    fn draft(&self, row: &RunRow, benchmark: &str) -> InstanceDraft {
        InstanceDraft {
            started: row.time,
            metrics: [(self.metric.clone(), self.unit.metric.clone())].into(),
            iterations: iterations_of(&self.metric, vec![row.cost]),
            ..InstanceDraft::of(benchmark)
        }
    }
}

impl FactorColumn {
    fn of(at: usize, title: &str) -> Self {
        let stated = title.strip_suffix(')');
        let stated = stated.and_then(|rest| rest.rsplit_once(" (base "));
        let (name, base) = stated.map_or((title, None), |(name, base)| (name, Some(base)));
        Self {
            at,
            name: name.to_owned(),
            base: base.map(str::to_owned),
        }
    }
}

/// Returns the metric of a column such as `usec_per_task`, `wall_time (ms)`, `score (1, higher is better)` or `cost`,
/// what it is counted in, and whether the column states that.
fn metric_of(title: &str) -> (String, Unit, bool) {
    let stated = title.strip_suffix(')');
    if let Some((name, marks)) = stated.and_then(|rest| rest.rsplit_once(" (")) {
        let (unit, better) = match marks.split_once(',') {
            Some((unit, words)) => (unit, direction(words)),
            None if direction(marks).is_some() => ("", direction(marks)),
            None => (marks, None),
        };
        return (name.to_owned(), unit_of(unit, better), true);
    }
    let prefixed = PREFIXES.into_iter().find_map(|(prefix, unit)| {
        let rest = title.to_lowercase().strip_prefix(prefix)?.to_owned();
        match rest.strip_prefix("_per_") {
            Some(what) => Some((format!("time_per_{what}"), unit)),
            None => rest.is_empty().then(|| ("time".to_owned(), unit)),
        }
    });
    match prefixed {
        Some((name, unit)) => (name, unit_of(unit, None), true),
        None => (title.to_owned(), unit_of("", None), false),
    }
}

fn direction(words: &str) -> Option<Better> {
    match words.trim() {
        "higher is better" => Some(Better::Higher),
        "lower is better" => Some(Better::Lower),
        _ => None,
    }
}

/// Returns the unit of a cost, of which less is better, but for rates and where another direction is stated.
fn unit_of(name: &str, better: Option<Better>) -> Unit {
    let unit = Unit::named(name.trim());
    let usual = if unit.metric.unit.ends_with("/s") {
        Better::Higher
    } else {
        Better::Lower
    };
    unit.with_better(better.or(Some(usual)))
}

fn time_of(text: &str) -> Option<Timestamp> {
    match text.parse::<f64>() {
        Ok(seconds) => {
            let since = SignedDuration::try_from_secs_f64(seconds).ok()?;
            Timestamp::from_duration(since).ok()
        }
        Err(_) => moment(text),
    }
}

/// Returns the levels of a column: absent and present if all are, else numbers if all are, else texts.
fn levels(texts: &[&str]) -> Vec<Level> {
    let boolean = |text: &&str| match text.to_lowercase().as_str() {
        "0" | "false" | "" => Some(Level::Bool(false)),
        "1" | "true" => Some(Level::Bool(true)),
        _ => None,
    };
    let number = |text: &&str| {
        let whole = text.parse().map(Level::Integer).ok();
        let real = text.parse::<f64>().ok().filter(|it| it.is_finite());
        whole.or(real.map(Level::Number))
    };
    let all = |of: &dyn Fn(&&str) -> Option<Level>| -> Option<Vec<Level>> {
        texts.iter().map(of).collect()
    };
    let found = all(&boolean).or_else(|| all(&number));
    let text = |text: &&str| Level::Text((*text).to_owned());
    found.unwrap_or_else(|| texts.iter().map(text).collect())
}

#[cfg(test)]
mod tests;
