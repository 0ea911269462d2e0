//! Output of Catch2's benchmarks: mean and standard deviation with their bounds, rounded.

use std::sync::LazyLock;

use lapwing_model::InstanceOutcome;
use regex::{Captures, Regex};

use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use crate::shared::keys::put;
use crate::shared::reading::lines::{Line, Lines};
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};

pub(super) const FORMAT: Format = Format::new(
    "catch2-text",
    "output of Catch2's benchmarks (its XML has more digits)",
    looks_like,
    read,
);

/// Why a benchmark has no result.
const NO_MEAN: &str = "it has no mean";

macro_rules! pattern {
    ($name:ident, $text:literal) => {
        static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($text).ok());
    };
}

pattern!(
    HEADER,
    r"^benchmark name\s+samples\s+iterations\s+(est run time|estimated|mean)$"
);
pattern!(ROW, r"^(.*?)\s*\b(\d+)\s+(\d+)\s+(\S+) (ns|us|ms|s|m|h)$");
pattern!(
    FIGURES,
    r"^\s+(\S+) (ns|us|ms|s|m|h)\s+(\S+) (ns|us|ms|s|m|h)\s+(\S+) (ns|us|ms|s|m|h)$"
);
pattern!(TIME, r"^\S+ (ns|us|ms|s|m|h)$");
pattern!(FAILED, r"^(.*?)\s*Benchmark failed \((.*)\)$");
pattern!(TOOL, r"^\S.* is a Catch2? v(\S+) host application\.$");

fn captures<'l>(pattern: &'static LazyLock<Option<Regex>>, line: &'l str) -> Option<Captures<'l>> {
    pattern.as_ref()?.captures(line)
}

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(head);
    text.lines()
        .any(|line| captures(&HEADER, line.trim_end()).is_some())
        .then_some("it has the table `benchmark name … samples … iterations` of Catch2")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let mut text = Vec::new();
    let mut bad = Vec::new();
    let mut lines = Lines::of(source)?;
    while let Some((number, line)) = lines.next_indented()? {
        match line {
            Line::Text(line) => text.push((number, line.to_owned())),
            Line::Bad(reason) => bad.push(BadLine::new(number, reason)),
        }
    }
    let tool = text.iter().find_map(|(_, line)| captures(&TOOL, line));
    let tool = match tool {
        Some(found) => format!("Catch2 {}", &found[1]),
        None => "Catch2".to_owned(),
    };
    let session = SessionDraft {
        suite: Some("catch2".to_owned()),
        ..SessionDraft::of(&tool)
    };
    let mut intake = Intake::begin(source, &digest, sink, session)?;
    let run = intake.run(RunDraft::default())?;
    let mut reader = TextReader::default();
    reader.read(&text);
    for (line, draft) in reader.found {
        intake.instance(line, run, draft)?;
    }
    for (line, name) in reader.lost {
        intake.found().without_result(&name, line, NO_MEAN);
    }
    bad.into_iter().for_each(|bad| intake.bad(bad));
    intake.finish()
}

/// A benchmark whose figures stand on the lines below its name.
struct BegunBenchmark {
    line: u64,
    draft: InstanceDraft,
    samples: Option<u64>,
    summary: Option<SummaryDraft>,
}

#[derive(Default)]
struct TextReader {
    /// The names of test case and sections.
    names: Vec<String>,
    /// The first lines of a name that is too long for one.
    name: Vec<String>,
    begun: Option<BegunBenchmark>,
    found: Vec<(u64, InstanceDraft)>,
    lost: Vec<(u64, String)>,
}

impl TextReader {
    fn read(&mut self, mut lines: &[(u64, String)]) {
        while let Some(((_, line), rest)) = lines.split_first() {
            let here = lines;
            lines = rest;
            let next_rule = || rest.iter().position(|(_, line)| is_rule(line));
            if let Some(found) = captures(&HEADER, line) {
                let is_mean = &found[1] == "mean";
                let rows = &rest[next_rule().map_or(rest.len(), |rule| rule + 1)..];
                let end = rows.iter().position(|(_, line)| is_rule(line));
                let end = end.unwrap_or(rows.len());
                for (number, line) in &rows[..end] {
                    self.row(*number, line, is_mean);
                }
                self.end_row();
                self.lose_name(rows.first().map_or(0, |(number, _)| *number));
                lines = &rows[end..];
            } else if !is_rule(line) {
                self.outside(&here[..1]);
            } else if let Some(rule) = next_rule() {
                let between = &rest[..rule];
                // The other lines of dashes are below the title of a table.
                if !between
                    .iter()
                    .any(|(_, line)| captures(&HEADER, line).is_some())
                {
                    self.outside(between);
                    let parts = between.iter().flat_map(|(_, line)| line.split("  "));
                    let names = parts.map(|part| part.trim().to_owned());
                    let names = names.filter(|name| !name.is_empty());
                    if line.starts_with('-') && rest[rule].1.starts_with('-') && rule > 0 {
                        self.names = names.collect();
                    }
                    lines = &rest[rule..];
                }
            }
        }
    }

    /// Gives up the benchmarks of a table without a heading.
    fn outside(&mut self, lines: &[(u64, String)]) {
        for (number, line) in lines {
            let row = captures(&ROW, line).or_else(|| captures(&FAILED, line));
            if let Some(found) = row {
                let begun = self.begin(*number, &found[1]);
                self.lost.push((*number, begun.draft.benchmark.id));
            }
        }
    }

    /// Takes a line of a table.
    fn row(&mut self, number: u64, line: &str, is_mean: bool) {
        if let Some(found) = captures(&FIGURES, line) {
            self.figures(&found);
        } else if let Some(found) = captures(&ROW, line) {
            self.end_row();
            let mut begun = self.begin(number, &found[1]);
            begun.samples = found[2].parse().ok();
            put(
                &mut begun.draft.attributes,
                "iterations",
                found[3].parse::<u64>().ok(),
            );
            if is_mean {
                begun.summary = value(&found[4], &found[5]).map(summary);
            }
            self.begun = Some(begun);
        } else if let Some(found) = captures(&FAILED, line) {
            self.end_row();
            let mut begun = self.begin(number, &found[1]);
            begun.draft.outcome = InstanceOutcome::Failed;
            begun.draft.message = Some(found[2].to_owned());
            self.found.push((number, begun.draft));
        } else if let Some((name, _)) = line.split_once("  ").filter(|(name, _)| !name.is_empty()) {
            // Figures that are cut off.
            self.end_row();
            let begun = self.begin(number, name);
            self.lost.push((number, begun.draft.benchmark.id));
        } else if !line.starts_with(' ') && captures(&TIME, line).is_none() {
            self.end_row();
            self.name.push(line.trim().to_owned());
        }
    }

    /// Takes the mean with its bounds, or the standard deviation with its own.
    fn figures(&mut self, found: &Captures<'_>) {
        let Some(begun) = &mut self.begun else {
            return;
        };
        let figure = |at: usize| value(&found[at], &found[at + 1]);
        let [Some(first), lower, upper] = [1, 3, 5].map(figure) else {
            return;
        };
        begun.summary = match begun.summary.take() {
            None => {
                let mut mean = summary(first);
                put(&mut mean.extra, "lower_bound", lower);
                put(&mut mean.extra, "upper_bound", upper);
                Some(mean)
            }
            Some(mean) => Some(mean.with_spread(Some(first), "sd")),
        };
    }

    fn begin(&mut self, line: u64, end_of_name: &str) -> BegunBenchmark {
        self.name.push(end_of_name.trim().to_owned());
        let parts: Vec<String> = self
            .name
            .drain(..)
            .filter(|part| !part.is_empty())
            .collect();
        let benchmark = Some(parts.join(" ")).filter(|name| !name.is_empty());
        let names = self.names.iter().cloned().chain(benchmark);
        BegunBenchmark {
            line,
            draft: InstanceDraft::of(names.collect::<Vec<_>>().join("::")),
            samples: None,
            summary: None,
        }
    }

    fn end_row(&mut self) {
        let Some(mut begun) = self.begun.take() else {
            return;
        };
        match begun.summary {
            Some(mut summary) => {
                summary.n = begun.samples;
                begun.draft.summarise(&Unit::named("s"), summary);
                self.found.push((begun.line, begun.draft));
            }
            None => self.lost.push((begun.line, begun.draft.benchmark.id)),
        }
    }

    /// Gives up a name without figures.
    fn lose_name(&mut self, line: u64) {
        if !self.name.is_empty() {
            let begun = self.begin(line, "");
            self.lost.push((line, begun.draft.benchmark.id));
        }
    }
}

fn summary(mean: f64) -> SummaryDraft {
    SummaryDraft::of("wall_time", mean, "mean")
}

/// Returns a time in seconds.
fn value(number: &str, unit: &str) -> Option<f64> {
    let number: f64 = number.parse().ok()?;
    Some(match unit {
        "m" => 60.0 * number,
        "h" => 3600.0 * number,
        unit => Unit::named(unit).base(number),
    })
}

/// Returns whether a line separates parts of the output.
fn is_rule(line: &str) -> bool {
    let signs = ['-', '=', '~', '.'];
    line.len() >= 20 && signs.iter().any(|sign| line.chars().all(|it| it == *sign))
}

#[cfg(test)]
mod tests;
