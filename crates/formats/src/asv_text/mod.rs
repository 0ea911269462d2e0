//! Output of asv: the results of `asv run` and `asv show`, and the two sides of `asv compare`, rounded.

mod table;
mod value;

use std::sync::LazyLock;

use lapwing_model::Version;
use regex::Regex;

use crate::asv_text::table::{ParameterTable, TableLine, is_rule};
use crate::asv_text::value::AsvValue;
use crate::shared::intake::{Intake, RunDraft, SessionDraft};
use crate::shared::reading::lines::{Line, Lines};
use crate::shared::sink::Sink;
use crate::{BadLine, Format, ImportError, Source};

pub(super) const FORMAT: Format = Format::new(
    "asv-text",
    "output of `asv run`, `asv show` and `asv compare` (its results have more)",
    looks_like,
    read,
);

/// Why a benchmark has no result.
const NO_VALUE: &str = "it has no value of asv";

macro_rules! pattern {
    ($name:ident, $text:literal) => {
        static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($text).ok());
    };
}

pattern!(COMMIT, r"For .*commit (?:hash )?([0-9a-f]{7,40})\b");
pattern!(SHOWN_COMMIT, r"^Commit: (\S+)");
pattern!(ENVIRONMENT, r"^\[\s*[\d.]+%\] ··+ Benchmarking (\S+)$");
pattern!(MEASURED, r"^\[\s*[\d.]+%\] ···+ ([\w.]+\.\w+)\s+(\S.*)$");
pattern!(SHOWN, r"^([\w.]+\.\w+) \[([^/\]]+)/([^\]]+)\]$");
pattern!(CUT, r"^([\w.]+\.\w+)(?: \[.*)?$");
pattern!(SIDE, r"\[([0-9a-f]{7,40})\](?: <(.*)>)?");

fn captures<'l>(
    pattern: &'static LazyLock<Option<Regex>>,
    line: &'l str,
) -> Option<regex::Captures<'l>> {
    pattern.as_ref()?.captures(line)
}

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(head);
    let has = |pattern| text.lines().any(|line| captures(pattern, line).is_some());
    if has(&MEASURED) && text.contains("·· Benchmarking") {
        return Some("it has the progress of `asv run`");
    }
    if has(&SHOWN_COMMIT) && has(&SHOWN) {
        return Some("it has results of `asv show`");
    }
    text.lines()
        .any(|line| sides(line).is_some())
        .then_some("it has the table of `asv compare`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let session = SessionDraft {
        suite: Some("asv".to_owned()),
        ..SessionDraft::of("asv")
    };
    let mut intake = Intake::begin(source, &digest, sink, session)?;
    let mut lines = Lines::of(source)?;
    let mut reader = TextReader::default();
    while let Some((number, line)) = lines.next_indented()? {
        match line {
            Line::Text(text) => reader.line(number, text),
            Line::Bad(reason) => intake.bad(BadLine::new(number, reason)),
        }
        reader.put(&mut intake)?;
    }
    reader.lose();
    reader.put(&mut intake)?;
    intake.finish()
}

/// A benchmark whose value stands on a line below.
struct Expected {
    line: u64,
    name: String,
    table: Option<ParameterTable>,
    has_cells: bool,
}

/// A value, and where it stands.
struct FoundValue {
    line: u64,
    name: String,
    value: Option<AsvValue>,
    place: AsvPlace,
}

/// The kind of value that was measured there.
#[derive(Debug, Clone, Default)]
struct AsvPlace {
    version: Version,
    environment: Option<String>,
    host: Option<String>,
}

#[derive(Default)]
struct TextReader {
    place: AsvPlace,
    /// The two sides of a comparison.
    sides: Option<[AsvPlace; 2]>,
    expected: Option<Expected>,
    found: Vec<FoundValue>,
    bad: Vec<BadLine>,
}

impl TextReader {
    fn line(&mut self, number: u64, line: &str) {
        if let Some(places) = sides(line) {
            self.sides = Some(places);
        } else if line.starts_with('|') {
            self.compared(number, line);
        } else if let Some(found) = captures(&SHOWN_COMMIT, line) {
            self.lose();
            self.place.version = version(&found[1]);
        } else if let Some(found) = captures(&SHOWN, line) {
            self.lose();
            self.place.host = Some(found[2].to_owned());
            self.place.environment = Some(found[3].to_owned());
            self.expect(number, &found[1]);
        } else if let Some(found) = captures(&CUT, line) {
            self.lose();
            self.expect(number, &found[1]);
        } else if let Some(found) = captures(&ENVIRONMENT, line) {
            self.lose();
            self.place.environment = Some(found[1].to_owned());
        } else if let Some(found) = captures(&MEASURED, line) {
            self.lose();
            self.value(number, &found[1], &found[2]);
        } else if let Some(found) = captures(&COMMIT, line).filter(|_| line.starts_with('[')) {
            self.lose();
            self.place.version = version(&found[1]);
        } else {
            self.below(number, line);
        }
    }

    /// Takes a line that may belong to the benchmark above it.
    fn below(&mut self, number: u64, line: &str) {
        let Some(expected) = &mut self.expected else {
            return;
        };
        if let Some(table) = &mut expected.table {
            // Other lines are not indented.
            if !line.starts_with(' ') {
                return;
            }
            match table.line(line) {
                TableLine::Header => {}
                TableLine::End => {
                    if expected.has_cells {
                        self.expected = None;
                    } else {
                        self.lose();
                    }
                }
                TableLine::Cells(cells) => {
                    expected.has_cells |= !cells.is_empty();
                    let name = expected.name.clone();
                    for (parameters, value) in cells {
                        self.value(number, &format!("{name}({parameters})"), &value);
                    }
                }
            }
        } else if is_rule(line, '=') {
            let mut table = ParameterTable::default();
            table.line(line);
            expected.table = Some(table);
        } else if line.starts_with(' ') && AsvValue::of(line.trim()).is_some() {
            let (line_of, name) = (expected.line, expected.name.clone());
            if AsvValue::of(line.trim()) != Some(AsvValue::Table) {
                self.expected = None;
                self.value(line_of, &name, line.trim());
            }
        }
    }

    fn expect(&mut self, line: u64, name: &str) {
        self.expected = Some(Expected {
            line,
            name: name.to_owned(),
            table: None,
            has_cells: false,
        });
    }

    fn value(&mut self, line: u64, name: &str, text: &str) {
        match AsvValue::of(text) {
            Some(AsvValue::Table) => self.expect(line, name),
            value => self.found.push(FoundValue {
                line,
                name: name.to_owned(),
                value,
                place: self.place.clone(),
            }),
        }
    }

    /// Takes a row of a comparison, which has a value of each side.
    fn compared(&mut self, line: u64, text: &str) {
        let cells: Vec<&str> = text.trim_matches('|').split('|').map(str::trim).collect();
        if cells
            .iter()
            .all(|cell| cell.chars().all(|sign| sign == '-'))
        {
            return;
        }
        let ([_, before, after, _, name], Some(sides)) = (&cells[..], &self.sides) else {
            // What is broken off may have the name.
            let names = cells
                .iter()
                .filter(|cell| cell.contains('.') && AsvValue::of(cell).is_none());
            let lost = names.map(|name| FoundValue {
                line,
                name: (*name).to_owned(),
                value: None,
                place: AsvPlace::default(),
            });
            self.found.extend(lost);
            self.bad.extend(self.sides.is_some().then(|| {
                let reason = format!("the row has {} cells instead of 5", cells.len());
                BadLine::new(line, reason)
            }));
            return;
        };
        for (text, place) in [before, after].into_iter().zip(sides) {
            self.found.push(FoundValue {
                line,
                name: (*name).to_owned(),
                value: AsvValue::of(text),
                place: place.clone(),
            });
        }
    }

    /// Gives up the benchmark whose value has not come.
    fn lose(&mut self) {
        if let Some(expected) = self.expected.take().filter(|it| !it.has_cells) {
            self.found.push(FoundValue {
                line: expected.line,
                name: expected.name,
                value: None,
                place: self.place.clone(),
            });
        }
    }

    fn put(&mut self, intake: &mut Intake<'_, '_, '_>) -> Result<(), ImportError> {
        self.bad.drain(..).for_each(|bad| intake.bad(bad));
        for FoundValue {
            line,
            name,
            value,
            place,
        } in self.found.drain(..)
        {
            let Some(mut draft) = value.and_then(|value| value.draft(&name)) else {
                intake.found().without_result(&name, line, NO_VALUE);
                continue;
            };
            draft.host = place.host;
            let environment = place.environment.as_deref().unwrap_or_default();
            let label = place.version.label().unwrap_or_default();
            let run = intake.run(RunDraft {
                key: format!("{label}\0{environment}"),
                variant: place.environment,
                version: place.version,
                ..RunDraft::default()
            })?;
            intake.instance(line, run, draft)?;
        }
        Ok(())
    }
}

fn version(text: &str) -> Version {
    let is_commit = text.len() >= 7 && text.bytes().all(|it| it.is_ascii_hexdigit());
    let text = Some(text.to_owned());
    match is_commit {
        true => Version {
            commit: text,
            ..Version::default()
        },
        false => Version {
            name: text,
            ..Version::default()
        },
    }
}

/// Returns the versions that the first line of a comparison names.
fn sides(line: &str) -> Option<[AsvPlace; 2]> {
    let cells: Vec<&str> = line
        .trim()
        .trim_matches('|')
        .split('|')
        .map(str::trim)
        .collect();
    let [_, before, after, "Ratio", name] = cells[..] else {
        return None;
    };
    let is_header = before.starts_with("Before") && after.starts_with("After");
    let place = |cell: &str| {
        let found = captures(&SIDE, cell)?;
        Some(AsvPlace {
            version: version(&found[1]),
            ..AsvPlace::default()
        })
    };
    let places = [place(before)?, place(after)?];
    (is_header && name.starts_with("Benchmark")).then_some(places)
}

#[cfg(test)]
mod tests;
