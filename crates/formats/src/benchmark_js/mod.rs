//! What Benchmark.js prints: the rate of each benchmark with its margin of error, rounded.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use crate::shared::keys::put;
use crate::shared::reading::lines::{Line, Lines};
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};

pub(super) const FORMAT: Format =
    Format::new("benchmarkjs", "output of Benchmark.js", looks_like, read);

/// A line such as `sort x 1,415.20 ops/sec ±8.8% (7 runs sampled)`.
static RESULT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(.*?) x ([0-9][0-9,]*(?:\.[0-9]+)?) ops/sec \x{b1}([0-9.]+)% \(([0-9]+) runs? sampled\)",
    )
    .ok()
});

/// Returns the results in a line, whose end may be missing, and what follows them.
fn results(line: &str) -> (Vec<Captures<'_>>, &str) {
    let all = RESULT.as_ref().map(|it| it.captures_iter(line));
    let all: Vec<Captures<'_>> = all.into_iter().flatten().collect();
    let end = all.last().map_or(0, |last| last.get_match().end());
    (all, &line[end..])
}

fn looks_like(head: &[u8]) -> Option<&'static str> {
    String::from_utf8_lossy(head)
        .lines()
        .any(|line| !results(line).0.is_empty())
        .then_some("it has a line `… x … ops/sec ±…% (… runs sampled)`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let session = SessionDraft::of("Benchmark.js");
    let mut intake = Intake::begin(source, &digest, sink, session)?;
    let run = intake.run(RunDraft::default())?;
    let mut lines = Lines::of(source)?;
    while let Some((number, line)) = lines.next()? {
        match line {
            Line::Text(text) => {
                let (found, rest) = results(text);
                for found in &found {
                    intake.read_instance(number, run, draft(number, found))?;
                }
                if rest.contains(" ops/sec") {
                    let bad = BadLine::new(number, "not a whole result of Benchmark.js");
                    let name = rest.split_once(" x ").map_or("", |(name, _)| name.trim());
                    intake.bad(bad.of(name));
                    continue;
                }
                for name in named(rest) {
                    intake
                        .found()
                        .without_result(name, number, "no whole result");
                }
                if found.is_empty() {
                    intake.notes().left_line(number, "they are no results");
                }
            }
            Line::Bad(reason) => intake.bad(BadLine::new(number, reason)),
        }
    }
    intake.finish()
}

/// Returns the benchmarks that a line names which is no whole result: one that is cut off, or the last one of a suite.
fn named(line: &str) -> Vec<&str> {
    if let Some(fastest) = line.strip_prefix("Fastest is ") {
        return fastest.split(',').map(str::trim).collect();
    }
    let cut = line.split_once(" x ");
    let cut = cut.filter(|(_, rest)| {
        rest.trim_start()
            .starts_with(|it: char| it.is_ascii_digit())
    });
    cut.map(|(name, _)| name.trim()).into_iter().collect()
}

fn draft(line: u64, found: &Captures<'_>) -> Result<InstanceDraft, BadLine> {
    let number = |text: &str| {
        let number = text.replace(',', "").parse::<f64>();
        number.map_err(|_error| {
            BadLine::new(line, format!("not a number: {text}")).of(found[1].trim())
        })
    };
    let mut draft = InstanceDraft::of(found[1].trim());
    let mut summary = SummaryDraft::of("throughput", number(&found[2])?, "mean");
    summary.n = found[4].parse().ok();
    let margin = number(&found[3])? / 100.0;
    put(&mut summary.extra, "relative_margin_of_error", Some(margin));
    draft.summarise(&Unit::named("ops/s"), summary);
    Ok(draft)
}

#[cfg(test)]
mod tests;
