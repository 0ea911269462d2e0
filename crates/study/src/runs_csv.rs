//! Runs of a study as CSV: a column per factor, the time of the run, and its cost.

use jiff::Timestamp;
use lapwing_model::{Better, Id, Level, Metric};
use serde_json::{Map, Value, json};

use crate::data::FACTOR_ORDER;

/// Names of columns with the time of a run.
const TIMES: [&str; 5] = ["unix_time", "unixtime", "run_time", "timestamp", "time"];

/// What the columns of a file of runs mean.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunsColumns {
    /// The column of the cost; by default the last one that is not the time.
    pub cost: Option<String>,
    /// The column of the time of the run, as a Unix time stamp; by default the one with a usual name.
    pub time: Option<String>,
    /// The unit of the cost: `us`, `ms`, `s`, or any other; by default as the column's name says.
    pub unit: Option<String>,
    /// The direction of the metric; by default less is better.
    pub better: Option<Better>,
}

/// Runs as a file has them.
#[derive(Debug, Clone, PartialEq)]
pub struct RunsTable {
    factors: Vec<String>,
    rows: Vec<RunRow>,
    metric: String,
    unit: Metric,
}

#[derive(Debug, Clone, PartialEq)]
struct RunRow {
    levels: Vec<Level>,
    time: Option<Timestamp>,
    cost: f64,
}

/// Why a file of runs cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RunsCsvError {
    /// The file is not valid CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// There is no row.
    #[error("the file has no runs")]
    Empty,
    /// A column is missing.
    #[error("there is no column `{column}` in the first line")]
    NoColumn {
        /// The column.
        column: String,
    },
    /// Two columns have the same name.
    #[error("there are two columns `{column}` in the first line")]
    Twice {
        /// Their name.
        column: String,
    },
    /// A field is not what its column needs.
    #[error("line {line}: `{column}` is {wrong}: `{text}`")]
    Field {
        /// The line.
        line: u64,
        /// The column.
        column: String,
        /// What is wrong with it.
        wrong: &'static str,
        /// The field.
        text: String,
    },
}

impl RunsTable {
    /// Reads runs; semicolons, commas and tabs separate fields.
    ///
    /// # Errors
    /// When the file is not such a table; with the line and column.
    pub fn read(text: &str, columns: &RunsColumns) -> Result<Self, RunsCsvError> {
        let first = text.lines().next().unwrap_or_default();
        let count = |separator: &u8| first.bytes().filter(|byte| byte == separator).count();
        let separator = [b';', b',', b'\t']
            .into_iter()
            .max_by_key(count)
            .unwrap_or(b';');
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(separator)
            .trim(csv::Trim::All)
            .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        let names: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        if let Some(column) = (names.iter().enumerate())
            .find_map(|(at, name)| names[..at].contains(name).then_some(name))
        {
            return Err(RunsCsvError::Twice {
                column: column.clone(),
            });
        }
        let find = |column: &String| {
            let found = names.iter().position(|name| name == column);
            found.ok_or_else(|| RunsCsvError::NoColumn {
                column: column.clone(),
            })
        };
        let is_time = |name: &String| TIMES.contains(&name.to_lowercase().as_str());
        let time = match &columns.time {
            Some(column) => Some(find(column)?),
            None => names.iter().position(is_time),
        };
        let cost = match &columns.cost {
            Some(column) => find(column)?,
            None => {
                let last = (0..names.len()).rev().find(|at| Some(*at) != time);
                last.ok_or(RunsCsvError::Empty)?
            }
        };
        let (metric, unit, factor) = metric_of(&names[cost], columns);
        let of_factor: Vec<usize> = (0..names.len())
            .filter(|at| *at != cost && Some(*at) != time)
            .collect();
        let mut texts: Vec<Vec<String>> = Vec::new();
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record?;
            let line = record.position().map_or(0, csv::Position::line);
            let number = |at: usize, wrong: &'static str| {
                let text = &record[at];
                let number = text.parse::<f64>().ok().filter(|value| value.is_finite());
                number.ok_or_else(|| RunsCsvError::Field {
                    line,
                    column: names[at].clone(),
                    wrong,
                    text: text.to_owned(),
                })
            };
            let moment = |at: usize| {
                let seconds = number(at, "not a Unix time stamp")?;
                let moment = jiff::SignedDuration::try_from_secs_f64(seconds).ok();
                let moment = moment.and_then(|since| Timestamp::from_duration(since).ok());
                moment.ok_or_else(|| RunsCsvError::Field {
                    line,
                    column: names[at].clone(),
                    wrong: "not a Unix time stamp",
                    text: record[at].to_owned(),
                })
            };
            rows.push(RunRow {
                levels: Vec::new(),
                time: time.map(moment).transpose()?,
                cost: number(cost, "not a number")? * factor,
            });
            texts.push(of_factor.iter().map(|at| record[*at].to_owned()).collect());
        }
        if rows.is_empty() {
            return Err(RunsCsvError::Empty);
        }
        for column in 0..of_factor.len() {
            let of_column: Vec<&str> = texts.iter().map(|row| row[column].as_str()).collect();
            for (row, level) in rows.iter_mut().zip(levels(&of_column)) {
                row.levels.push(level);
            }
        }
        Ok(Self {
            factors: of_factor.iter().map(|at| names[*at].clone()).collect(),
            rows,
            metric,
            unit,
        })
    }

    /// Returns the number of runs.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no runs.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the id of the session that the runs are: the same for the same runs, suite and benchmark, whatever their columns mean.
    pub fn session_id(&self, text: &str, suite: &str, benchmark: &str) -> Id {
        let parts = ["study runs", text, suite, benchmark];
        Id::derived(&parts.map(str::as_bytes))
    }

    /// Returns the name, unit and direction of the metric.
    pub fn metric(&self) -> (&str, &Metric) {
        (&self.metric, &self.unit)
    }

    /// Returns the runs as lines of records: a run per setting, an instance with one iteration per row.
    ///
    /// Without a column of times they started at `now`.
    pub fn records(
        &self,
        session: Id,
        suite: &str,
        benchmark: &str,
        name: &str,
        now: Timestamp,
    ) -> String {
        let mut lines = String::new();
        let mut line = |kind: &str, mut content: Value| {
            content["v"] = json!(1);
            content["kind"] = json!(kind);
            lines.push_str(&content.to_string());
            lines.push('\n');
        };
        let started = self
            .rows
            .iter()
            .filter_map(|row| row.time)
            .min()
            .unwrap_or(now);
        let mut attributes = Map::new();
        attributes.insert(FACTOR_ORDER.to_owned(), json!(self.factors));
        line(
            "session",
            json!({
                "id": session, "suite": suite, "started": started, "tool": "study runs (CSV)", "name": name,
                "attributes": attributes,
            }),
        );
        let mut known = std::collections::BTreeMap::new();
        for (position, row) in self.rows.iter().enumerate() {
            let key = json!(row.levels).to_string();
            let run = *known.entry(key.clone()).or_insert_with(|| {
                let id = Id::derived(&[b"study run", session.as_bytes(), key.as_bytes()]);
                let factors: Map<String, Value> = self.factors.iter().cloned()
                    .zip(row.levels.iter().map(|level| json!(level))).collect();
                line("run", json!({
                    "id": id, "session": session, "factors": factors, "metrics": {self.metric.as_str(): self.unit},
                }));
                id
            });
            let place = position.to_string();
            let id = Id::derived(&[b"study instance", session.as_bytes(), place.as_bytes()]);
            let mut instance = json!({
                "id": id, "run": run, "benchmark": {"id": benchmark}, "position": position,
            });
            if let Some(time) = row.time {
                instance["started"] = json!(time);
            }
            line("instance", instance);
            line(
                "iteration",
                json!({
                    "instance": id, "index": 0, "outcome": "ok", "metrics": {self.metric.as_str(): row.cost},
                }),
            );
            line("instance_end", json!({"instance": id, "outcome": "ok"}));
        }
        lines
    }
}

/// Returns the name of the metric, what it is counted in, and how many base units a number of the column is.
fn metric_of(column: &str, columns: &RunsColumns) -> (String, Metric, f64) {
    let lower = column.to_lowercase();
    let (name, stated) = [
        "usec", "µs", "us", "msec", "ms", "nsec", "ns", "sec", "seconds",
    ]
    .into_iter()
    .find_map(|unit| match lower.strip_prefix(unit)? {
        "" => Some(("time".to_owned(), unit)),
        rest => Some((format!("time_per_{}", rest.strip_prefix("_per_")?), unit)),
    })
    .map_or((column.to_owned(), None), |(name, unit)| (name, Some(unit)));
    let unit = columns.unit.as_deref().or(stated).unwrap_or_default();
    let (base, factor) = match unit {
        "usec" | "µs" | "us" => ("s", 1e-6),
        "msec" | "ms" => ("s", 1e-3),
        "nsec" | "ns" => ("s", 1e-9),
        "sec" | "seconds" | "s" => ("s", 1.0),
        other => (other, 1.0),
    };
    let metric = Metric {
        unit: base.to_owned(),
        better: Some(columns.better.unwrap_or(Better::Lower)),
    };
    (name, metric, factor)
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
        let real = || {
            text.parse::<f64>()
                .ok()
                .filter(|value| value.is_finite())
                .map(Level::Number)
        };
        whole.or_else(real)
    };
    let booleans: Option<Vec<Level>> = texts.iter().map(boolean).collect();
    let numbers = || texts.iter().map(number).collect::<Option<Vec<Level>>>();
    booleans.or_else(numbers).unwrap_or_else(|| {
        texts
            .iter()
            .map(|text| Level::Text((*text).to_owned()))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn what_is_exported_is_read_again(treatments in 1..5_usize, exponents in proptest::collection::vec(-20.0..7.0_f64, 16), separator in 0..3_usize) {
            let cost = |set: u128, _: usize| exponents[usize::try_from(set).unwrap() % 16].exp();
            let data = crate::average::tests::study(treatments, 2, cost);
            let mut written = Vec::new();
            crate::written::write_runs(&data, [b';', b',', b'\t'][separator], &mut written).unwrap();
            let table = RunsTable::read(&String::from_utf8(written).unwrap(), &RunsColumns::default()).unwrap();
            proptest::prop_assert_eq!(table.len(), data.instances.len());
            for (row, own) in table.rows.iter().zip(&data.instances) {
                let levels: Vec<Level> = own.levels.iter().map(|level| Level::Bool(*level == 1)).collect();
                proptest::prop_assert_eq!(&row.levels, &levels);
                let seconds = row.time.unwrap().as_duration().as_secs_f64();
                proptest::prop_assert!((seconds - own.time).abs() < 1e-6);
                // Twelve significant digits are written, in microseconds; they are read in seconds.
                proptest::prop_assert!((row.cost - own.cost).abs() <= 1e-11 * own.cost, "{} {}", row.cost, own.cost);
            }
        }
    }

    #[test]
    fn wrong_files_are_refused_with_their_place() {
        let read = |text: &str| {
            let error = RunsTable::read(text, &RunsColumns::default()).expect_err("refused");
            error.to_string()
        };
        assert_eq!(
            read("a;b;cost\n1;0;x\n"),
            "line 2: `cost` is not a number: `x`"
        );
        assert_eq!(
            read("a;unix_time;cost\n1;soon;3\n"),
            "line 2: `unix_time` is not a Unix time stamp: `soon`"
        );
        assert_eq!(read("a;cost\n"), "the file has no runs");
        assert_eq!(
            read("a;a;cost\n1;0;3\n"),
            "there are two columns `a` in the first line"
        );
        assert!(read("a;b;cost\n1;2\n").contains("line: 2"));
        let columns = RunsColumns {
            cost: Some("price".to_owned()),
            ..RunsColumns::default()
        };
        let error = RunsTable::read("a;cost\n1;2\n", &columns).expect_err("refused");
        assert_eq!(
            error.to_string(),
            "there is no column `price` in the first line"
        );
    }

    #[test]
    fn columns_are_treatments_numbers_or_texts() {
        let text = "a,prefetch,python,usec_per_task\n1,100,3.13t,61\ntrue,10,3.11,1182\n";
        let table = RunsTable::read(text, &RunsColumns::default()).expect("runs");
        assert_eq!(table.factors, ["a", "prefetch", "python"]);
        assert_eq!(
            table.rows[0].levels,
            [
                Level::Bool(true),
                Level::Integer(100),
                Level::Text("3.13t".to_owned())
            ]
        );
        assert_eq!(
            (table.metric.as_str(), table.unit.unit.as_str()),
            ("time_per_task", "s")
        );
        assert!((table.rows[1].cost - 1182e-6).abs() < 1e-18);
    }
}
