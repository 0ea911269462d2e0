//! rebar's CSV: a row for each benchmark and regex engine, with rounded statistics.

use std::collections::BTreeMap;

use csv::{ReaderBuilder, StringRecord};
use lapwing_stats::as_f64;
use serde_json::json;

use crate::shared::detect::first_line;
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use crate::shared::keys::put;
use crate::shared::notes::Notes;
use crate::shared::rows::{bad_header, bad_row};
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::{InstanceOutcome, Version};

pub(super) const FORMAT: Format = Format::new("rebar", "CSV of rebar measure", looks_like, read);

/// The columns without which a row says nothing.
const NEEDED: [&str; 3] = ["name", "engine", "median"];

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let line = first_line(head);
    let columns: Vec<&[u8]> = line.split(|&byte| byte == b',').collect();
    ["name", "model", "engine", "engine_version", "median"]
        .iter()
        .all(|name| columns.contains(&name.as_bytes()))
        .then_some("its first line has `name`, `model` and `engine`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let mut rows = Rows::of(source)?;
    let mut next = rows.next()?;
    // rebar writes no date; those who keep results call the folder or the file by it.
    let session = SessionDraft {
        tool: tool(next.as_ref()),
        ..SessionDraft::default()
    };
    let mut intake = Intake::begin(source, &digest, sink, session)?;
    while let Some(row) = next {
        let drafted = row.and_then(|row| Ok((draft(&row, intake.notes())?, row)));
        if let Some((draft, row)) = intake.good(drafted) {
            let run = intake.run(run_of(&row))?;
            intake.instance(row.line, run, draft)?;
        }
        next = rows.next()?;
    }
    intake.finish()
}

/// The rows of a source.
struct Rows<'s> {
    source: &'s Source,
    reader: csv::Reader<Box<dyn std::io::BufRead + 's>>,
    columns: Vec<String>,
}

/// A row by column; a column that is empty is not there.
struct RebarRow {
    line: u64,
    fields: BTreeMap<String, String>,
}

type Read = Result<RebarRow, BadLine>;

impl<'s> Rows<'s> {
    fn of(source: &'s Source) -> Result<Self, ImportError> {
        let mut reader = ReaderBuilder::new().from_reader(source.text()?);
        let header = match reader.headers() {
            Ok(header) => header.clone(),
            Err(error) => return Err(bad_header(source, bad_row(source, error)?)),
        };
        let columns: Vec<String> = header
            .iter()
            .map(|name| name.trim_start_matches('\u{feff}').trim().to_owned())
            .collect();
        if let Some(missing) = NEEDED.iter().find(|it| !columns.iter().any(|c| c == *it)) {
            let reason = format!("there is no column `{missing}`");
            return Err(bad_header(source, BadLine::new(1, reason)));
        }
        Ok(Self {
            source,
            reader,
            columns,
        })
    }

    fn next(&mut self) -> Result<Option<Read>, ImportError> {
        let mut record = StringRecord::new();
        match self.reader.read_record(&mut record) {
            Ok(false) => Ok(None),
            Ok(true) => {
                let fields = self.columns.iter().zip(record.iter());
                let fields = fields
                    .filter(|(_, value)| !value.is_empty())
                    .map(|(name, value)| (name.clone(), value.to_owned()))
                    .collect();
                let line = record.position().map_or(0, csv::Position::line);
                Ok(Some(Ok(RebarRow { line, fields })))
            }
            Err(error) => Ok(Some(Err(bad_row(self.source, error)?))),
        }
    }
}

fn tool(first: Option<&Read>) -> String {
    let version = first.and_then(|row| row.as_ref().ok()?.fields.get("rebar_version"));
    match version {
        Some(version) => format!("rebar {version}"),
        None => "rebar".to_owned(),
    }
}

fn run_of(row: &RebarRow) -> RunDraft {
    let engine = row.fields.get("engine").cloned();
    let version = row.fields.get("engine_version").cloned();
    RunDraft {
        // The length keeps the two apart.
        key: format!(
            "{}:{}:{}",
            engine.as_ref().map_or(0, String::len),
            engine.as_deref().unwrap_or_default(),
            version.as_deref().unwrap_or_default()
        ),
        variant: engine,
        version: Version {
            name: version,
            ..Version::default()
        },
        ..RunDraft::default()
    }
}

/// The columns that are understood.
const KNOWN: [&str; 15] = [
    "name",
    "model",
    "rebar_version",
    "engine",
    "engine_version",
    "err",
    "haystack_len",
    "iters",
    "total",
    "median",
    "mad",
    "mean",
    "stddev",
    "min",
    "max",
];

fn draft(row: &RebarRow, notes: &mut Notes) -> Result<InstanceDraft, BadLine> {
    let field = |column: &str| row.fields.get(column).cloned();
    let mut draft = InstanceDraft::of(field("name").unwrap_or_default());
    draft.benchmark.tags.extend(field("model"));
    let length = row.whole("haystack_len")?;
    put(&mut draft.benchmark.params, "model", field("model"));
    put(&mut draft.benchmark.params, "haystack_len", length);
    for (column, value) in &row.fields {
        if !KNOWN.contains(&column.as_str()) {
            notes.kept(column, "attributes of the instance");
            draft.attributes.insert(column.clone(), json!(value));
        }
    }
    if let Some(message) = row.fields.get("err") {
        draft.outcome = InstanceOutcome::Failed;
        draft.message = Some(message.clone());
        return Ok(draft);
    }
    summarise(row, length, &mut draft)?;
    Ok(draft)
}

fn summarise(
    row: &RebarRow,
    length: Option<u64>,
    draft: &mut InstanceDraft,
) -> Result<(), BadLine> {
    let Some(median) = row.time("median")? else {
        return Err(row.wrong("`median` is empty where there is no `err`"));
    };
    let n = row.whole("iters")?;
    let mut summary = SummaryDraft::of("wall_time", median, "median");
    summary.n = n;
    for (column, name) in [
        ("mean", "mean"),
        ("stddev", "sd"),
        ("min", "min"),
        ("max", "max"),
        ("total", "total"),
    ] {
        put(&mut summary.extra, name, row.time(column)?);
    }
    let spread = row.time("mad")?;
    draft.summarise(&Unit::named("s"), summary.with_spread(spread, "mad"));
    if let Some(length) = length
        && median > 0.0
    {
        let mut rate = SummaryDraft::of("bytes_per_second", as_f64(length) / median, "median");
        rate.n = n;
        draft.summarise(&Unit::named("B/s"), rate);
    }
    Ok(())
}

impl RebarRow {
    fn wrong(&self, reason: impl Into<String>) -> BadLine {
        let name = self.fields.get("name").cloned();
        BadLine::new(self.line, reason).of(name.unwrap_or_default())
    }

    fn whole(&self, column: &str) -> Result<Option<u64>, BadLine> {
        let Some(text) = self.fields.get(column) else {
            return Ok(None);
        };
        text.parse()
            .map(Some)
            .map_err(|_error| self.wrong(format!("`{column}` is not a whole number: {text:?}")))
    }

    /// Returns a duration such as `66.37us` in seconds.
    fn time(&self, column: &str) -> Result<Option<f64>, BadLine> {
        let Some(text) = self.fields.get(column) else {
            return Ok(None);
        };
        let digits = text.trim_end_matches(|it: char| it.is_alphabetic() || it.is_whitespace());
        let unit = match text[digits.len()..].trim() {
            "m" => Unit::named("min"),
            other => Unit::named(other),
        };
        let number = digits.parse::<f64>().ok().filter(|it| it.is_finite());
        match number {
            Some(number) if number < 0.0 => {
                Err(self.wrong(format!("`{column}` is negative: {text}")))
            }
            Some(number) if unit.metric.unit == "s" => Ok(Some(unit.base(number))),
            Some(_) | None => Err(self.wrong(format!("`{column}` is not a duration: {text:?}"))),
        }
    }
}

#[cfg(test)]
mod tests;
