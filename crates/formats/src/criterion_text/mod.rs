//! What Criterion prints: the estimate of each benchmark with its interval, rounded.

use std::sync::LazyLock;

use regex::Regex;

use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use crate::shared::keys::put;
use crate::shared::reading::lines::{Line, Lines};
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};

pub(super) const FORMAT: Format = Format::new(
    "criterion-text",
    "output of Criterion.rs (its folder has the samples)",
    looks_like,
    read,
);

/// A line of three figures with their units, with or without the name before it.
static FIGURES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(.*?)\s*\b(time|thrpt):\s+\[(\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\]").ok()
});

/// The line that tells the number of samples.
static OUTLIERS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^Found \d+ outliers among (\d+) measurements").ok());

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(head);
    let has_time = |line: &str| figures(&plain(line)).is_some_and(|it| !it.is_rate);
    text.lines()
        .any(has_time)
        .then_some("it has a line `time: [… … …]` of Criterion")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let session = SessionDraft {
        suite: Some("criterion".to_owned()),
        ..SessionDraft::of("Criterion")
    };
    let mut intake = Intake::begin(source, &digest, sink, session)?;
    let run = intake.run(RunDraft::default())?;
    let mut lines = Lines::of(source)?;
    let mut reader = TextReader::default();
    while let Some((number, line)) = lines.next()? {
        let ended = match line {
            Line::Text(text) => {
                for overwritten in text.split('\r').map(plain) {
                    reader.announce(&overwritten);
                }
                reader.line(number, &plain(text))
            }
            Line::Bad(reason) => Err(BadLine::new(number, reason)),
        };
        if let Some(Some((line, draft))) = intake.good(ended) {
            intake.instance(line, run, draft)?;
        }
        for name in reader.lost.drain(..) {
            intake.found().without_result(&name, 0, "it has no time");
        }
    }
    let last = reader.end();
    for name in reader.lost.drain(..) {
        intake.found().without_result(&name, 0, "it has no time");
    }
    if let Some((line, draft)) = last {
        intake.instance(line, run, draft)?;
    }
    intake.finish()
}

/// A benchmark, and the line where it stands.
type Found = (u64, InstanceDraft);

/// Puts the lines of a benchmark together.
#[derive(Default)]
struct TextReader {
    /// The benchmark that was announced last (`Benchmarking …`), until its time comes.
    announced: Option<String>,
    /// The line before, which is the name of a benchmark if that is long.
    before: String,
    current: Option<Found>,
    /// Benchmarks that were announced and have no time.
    lost: Vec<String>,
}

impl TextReader {
    /// Takes what a terminal shows for some time, if it says that a benchmark begins.
    fn announce(&mut self, shown: &str) {
        let Some(rest) = shown.strip_prefix("Benchmarking ") else {
            return;
        };
        let name = rest.split_once(": ").map_or(rest, |(name, _)| name).trim();
        if self.announced.as_deref() != Some(name) {
            self.lost.extend(self.announced.replace(name.to_owned()));
        }
    }

    /// Takes the next line; returns the benchmark that it ends.
    fn line(&mut self, number: u64, line: &str) -> Result<Option<Found>, BadLine> {
        let before = std::mem::replace(&mut self.before, line.to_owned());
        if line.starts_with("Benchmarking ") {
            return Ok(self.current.take());
        }
        if let Some(found) = OUTLIERS.as_ref().and_then(|it| it.captures(line)) {
            let count = found[1].parse().ok();
            let draft = self.current.as_mut().map(|(_, draft)| draft);
            for summary in draft.into_iter().flat_map(|it| &mut it.summaries) {
                summary.n = count;
            }
            return Ok(None);
        }
        let Some(figures) = figures(line) else {
            // Changes are in per cent.
            let is_time = line.contains("time:   [") && !line.contains('%');
            let cut = || BadLine::new(number, format!("a time that is cut off: {line}"));
            return if is_time { Err(cut()) } else { Ok(None) };
        };
        let summary = figures.summary();
        let (metric, unit, summary) = summary
            .ok_or_else(|| BadLine::new(number, format!("no figures of Criterion: {line}")))?;
        if metric != "wall_time" {
            if let Some((_, draft)) = &mut self.current {
                draft.summarise(&unit, summary);
            }
            return Ok(None);
        }
        let announced = self.announced.take();
        let name = match figures.name.as_str() {
            "" if before.starts_with("Benchmarking ") => announced.clone().unwrap_or_default(),
            "" => before,
            name => name.to_owned(),
        };
        self.lost
            .extend(announced.filter(|announced| *announced != name));
        let mut draft = InstanceDraft::of(name);
        draft.summarise(&unit, summary);
        Ok(self.current.replace((number, draft)))
    }

    /// Returns the last benchmark.
    fn end(&mut self) -> Option<Found> {
        self.lost.extend(self.announced.take());
        self.current.take()
    }
}

/// The figures of a line: lower bound, estimate and upper bound, each with its unit.
struct Figures {
    name: String,
    is_rate: bool,
    figures: [(f64, String); 3],
}

/// Returns the figures of a line; not those of a change, which are percentages.
fn figures(line: &str) -> Option<Figures> {
    let found = FIGURES.as_ref()?.captures(line)?;
    let figure = |at: usize| Some((found[at].parse().ok()?, found[at + 1].to_owned()));
    Some(Figures {
        name: found[1].to_owned(),
        is_rate: &found[2] == "thrpt",
        figures: [figure(3)?, figure(5)?, figure(7)?],
    })
}

impl Figures {
    /// Returns the metric, its unit and its summary; `None` for unknown units.
    fn summary(&self) -> Option<(&'static str, Unit, SummaryDraft)> {
        let base = |(value, name): &(f64, String)| {
            let (times, name) = without_elements(name);
            let unit = Unit::named(name);
            (unit.base(times * value), unit)
        };
        let [lower, (estimate, unit), upper] = self.figures.each_ref().map(base);
        let metric = match (self.is_rate, unit.metric.unit.as_str()) {
            (false, "s") => "wall_time",
            (true, "B/s") => "bytes_per_second",
            (true, "1/s") => "throughput",
            (true | false, _) => return None,
        };
        let mut summary = SummaryDraft::of(metric, estimate, "estimate");
        put(&mut summary.extra, "lower_bound", Some(lower.0));
        put(&mut summary.extra, "upper_bound", Some(upper.0));
        Some((metric, unit, summary))
    }
}

/// Returns elements per second, with their prefix as a factor, as operations.
fn without_elements(unit: &str) -> (f64, &str) {
    match unit {
        "elem/s" => (1.0, "ops/s"),
        "Kelem/s" => (1e3, "ops/s"),
        "Melem/s" => (1e6, "ops/s"),
        "Gelem/s" => (1e9, "ops/s"),
        other => (1.0, other),
    }
}

/// Returns what a terminal shows of a line: without colours, and without what was overwritten.
fn plain(line: &str) -> String {
    static COLOURS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new("\u{1b}\\[[0-9;]*[A-Za-z]").ok());
    let shown = line.rsplit('\r').find(|part| !part.trim().is_empty());
    let shown = shown.unwrap_or_default();
    match COLOURS.as_ref() {
        Some(colours) => colours.replace_all(shown, "").trim().to_owned(),
        None => shown.trim().to_owned(),
    }
}

#[cfg(test)]
mod tests;
