//! The lines that `cargo bench` prints, one result each.

use std::collections::BTreeMap;

use super::lines::{Line, Lines};
use super::{BadLine, ImportError, Source};

/// What stands between a name and what came of it.
const DOTS: &str = " ... ";

/// A line `test …`.
pub(super) struct TestResult {
    pub(super) line: u64,
    pub(super) name: String,
    /// The program that it ran in, where cargo's own lines are there too.
    pub(super) target: Option<String>,
    pub(super) came: Came,
}

/// What came of a test.
pub(super) enum Came {
    Measured(Measured),
    /// With what it said.
    Failed(Option<String>),
    NotRun,
}

/// The figures of a line, as they stand there.
pub(super) struct Measured {
    pub(super) centre: f64,
    pub(super) spread: f64,
    pub(super) unit: String,
    pub(super) rate: Option<(f64, String)>,
    pub(super) statistic: &'static str,
}

/// What is known at a line from the lines before it.
#[derive(Default)]
struct Place {
    target: Option<String>,
    /// Whether the harness of Rust itself speaks: it says how many tests it runs first.
    in_harness: bool,
    /// The failure whose output follows, and the lines of it so far.
    speaks: Option<(String, Vec<String>)>,
}

/// Lines to keep of what a failed benchmark said.
const SAID: usize = 10;

/// Returns the results of all lines `test …`, and the lines that are wrong.
pub(super) fn read_results(
    source: &Source,
) -> Result<(Vec<TestResult>, Vec<BadLine>), ImportError> {
    let mut lines = Lines::of(source)?;
    let mut place = Place::default();
    let (mut results, mut bad) = (Vec::new(), Vec::new());
    let mut said: BTreeMap<String, String> = BTreeMap::new();
    while let Some((line, text)) = lines.next()? {
        let text = match text {
            Line::Text(text) => text,
            Line::Bad(reason) => {
                bad.push(BadLine { line, reason });
                continue;
            }
        };
        place.move_on(text, &mut said);
        let Some((name, rest)) = test_line(text) else {
            continue;
        };
        match came(rest, place.in_harness) {
            Err(reason) => bad.push(BadLine { line, reason }),
            Ok(came) => results.push(TestResult {
                line,
                name: name.to_owned(),
                target: place.target.clone(),
                came,
            }),
        }
    }
    place.hush(&mut said);
    for result in &mut results {
        if let Came::Failed(message) = &mut result.came {
            *message = said.get(&result.name).cloned();
        }
    }
    Ok((results, bad))
}

impl Place {
    /// Takes a line's word for where the next ones stand.
    fn move_on(&mut self, text: &str, said: &mut BTreeMap<String, String>) {
        let speaker = text
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" stdout ----"));
        if let Some(name) = speaker {
            self.hush(said);
            self.speaks = Some((name.to_owned(), Vec::new()));
        } else if text == "failures:" || text.starts_with("test result: ") {
            self.hush(said);
            self.in_harness = self.in_harness && text == "failures:";
        } else if text.starts_with("running ")
            && (text.ends_with(" tests") || text.ends_with(" test"))
        {
            self.in_harness = true;
        } else if let Some(target) = target_in(text) {
            self.target = Some(target.to_owned());
        } else if let Some((_, lines)) = &mut self.speaks
            && lines.len() < SAID
            && !text.starts_with("note: ")
        {
            lines.push(text.to_owned());
        }
    }

    /// Ends what a failed benchmark said.
    fn hush(&mut self, said: &mut BTreeMap<String, String>) {
        if let Some((name, lines)) = self.speaks.take()
            && !lines.is_empty()
        {
            said.insert(name, lines.join("\n"));
        }
    }
}

/// Returns the program that cargo says it runs: `Running benches/a.rs (target/…)`.
fn target_in(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Running ")?;
    let (target, file) = rest.split_once(" (")?;
    file.ends_with(')').then_some(target)
}

/// Returns the name of the test that a line is about, and what came of it.
fn test_line(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("test ")?;
    // A name may have dots as well.
    rest.match_indices(DOTS)
        .map(|(at, _)| (&rest[..at], &rest[at + DOTS.len()..]))
        .find(|(_, rest)| {
            ["bench:", "ignored", "FAILED", "ok"]
                .iter()
                .any(|word| rest.starts_with(word))
        })
        .map(|(name, rest)| (name.trim_end(), rest))
}

fn came(rest: &str, in_harness: bool) -> Result<Came, String> {
    let Some(figures) = rest.strip_prefix("bench:") else {
        return Ok(if rest.starts_with("FAILED") {
            Came::Failed(None)
        } else {
            Came::NotRun
        });
    };
    let (centre, figures) = word(figures);
    let (unit, figures) = word(figures);
    let figures = figures.trim_start();
    let (spread, rate) = figures
        .strip_prefix("(+/- ")
        .and_then(|rest| rest.split_once(')'))
        .ok_or_else(|| format!("there is no `(+/- …)` behind the figure: {rest:?}"))?;
    let rate = match rate.trim().strip_prefix('=') {
        None => None,
        Some(rate) => {
            let (value, unit) = word(rate);
            Some((number(value)?, unit.trim().to_owned()))
        }
    };
    Ok(Came::Measured(Measured {
        centre: number(centre)?,
        spread: number(spread)?,
        unit: unit.to_owned(),
        rate,
        statistic: if in_harness {
            "median/range"
        } else {
            "median/sd"
        },
    }))
}

/// Returns the first word and what follows it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(' ').unwrap_or((text, ""))
}

/// Returns a number written with commas between thousands.
fn number(text: &str) -> Result<f64, String> {
    let plain = text.trim().replace(',', "");
    match plain.parse::<f64>() {
        Ok(number) if number < 0.0 => Err(format!("a figure is negative: {text}")),
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) | Err(_) => Err(format!("not a number: {text:?}")),
    }
}
