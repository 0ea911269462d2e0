//! The lines that `cargo bench` prints, one result each.

use std::collections::BTreeMap;

use crate::shared::reading::lines::{Line, Lines};
use crate::{BadLine, ImportError, Source};

/// The separator between a name and its result.
const DOTS: &str = " ... ";

/// A line `test …`.
pub(super) struct TestResult<'l> {
    pub(super) name: &'l str,
    /// The program that it ran in, where cargo's own lines are there too.
    pub(super) target: Option<&'l str>,
    pub(super) came: Came<'l>,
}

/// The result of a test.
pub(super) enum Came<'l> {
    Measured(LibtestFigures<'l>),
    Failed,
    NotRun,
    /// Its result is missing.
    Lost,
}

/// The figures of a line, as they stand there.
pub(super) struct LibtestFigures<'l> {
    pub(super) centre: f64,
    pub(super) spread: f64,
    pub(super) unit: &'l str,
    pub(super) rate: Option<(f64, &'l str)>,
    pub(super) statistic: &'static str,
}

/// The state of the reading, from the lines before.
#[derive(Default)]
struct LibtestPlace {
    target: Option<String>,
    /// Whether the harness of Rust itself speaks: it says how many tests it runs first.
    in_harness: bool,
    /// The failure whose output follows, and the lines of it so far.
    speaks: Option<(String, Vec<String>)>,
}

/// The output of failed benchmarks, by name.
pub(super) type FailureMessages = BTreeMap<String, String>;

/// Lines to keep of what a failed benchmark said.
const SAID: usize = 10;

/// Hands out the results of all lines `test …` by their number, and the lines that are
/// wrong; returns what failed benchmarks said, which stands behind their results.
pub(super) fn each_result(
    source: &Source,
    mut take: impl FnMut(u64, Result<TestResult<'_>, BadLine>) -> Result<(), ImportError>,
) -> Result<FailureMessages, ImportError> {
    let mut lines = Lines::of(source)?;
    let mut place = LibtestPlace::default();
    let mut said = FailureMessages::new();
    // A test whose line another program broke, and where.
    let mut broken: Option<(u64, String)> = None;
    while let Some((line, text)) = lines.next()? {
        let text = match text {
            Line::Text(text) => text,
            Line::Bad(reason) => {
                take(line, Err(BadLine::new(line, reason)))?;
                continue;
            }
        };
        place.move_on(text, &mut said);
        let (before, tests) = tests_in(text);
        if broken.is_none() && before.starts_with(OUTCOMES[0]) && before.contains(SPREAD) {
            let reason = format!("no name of a test before the result: {before:?}");
            take(line, Err(BadLine::new(line, reason)))?;
        }
        let target = place.target.as_deref();
        let mut hand_over = |line: u64, name: &str, rest: &str| {
            let came = came(rest, place.in_harness);
            let result = came.map(|came| TestResult { name, target, came });
            take(
                line,
                result.map_err(|reason| BadLine::new(line, reason).of(name)),
            )
        };
        if is_outcome(before)
            && let Some((line, name)) = broken.take()
        {
            hand_over(line, &name, before)?;
        }
        for test in tests {
            if let Some((line, name)) = broken.take() {
                hand_over(line, &name, LOST)?;
            }
            match test_line(test) {
                TestLine::Whole(name, rest) => hand_over(line, name, rest)?,
                TestLine::Broken(name) => broken = Some((line, name.to_owned())),
            }
        }
    }
    place.hush(&mut said);
    if let Some((line, name)) = broken {
        let target = place.target.as_deref();
        let (name, came) = (name.as_str(), Came::Lost);
        take(line, Ok(TestResult { name, target, came }))?;
    }
    Ok(said)
}

impl LibtestPlace {
    /// Takes a line's word for where the next ones stand.
    fn move_on(&mut self, text: &str, said: &mut FailureMessages) {
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
    fn hush(&mut self, said: &mut FailureMessages) {
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

/// In place of the result of a test that has none.
const LOST: &str = "";

/// The words that a result begins with.
const OUTCOMES: [&str; 4] = ["bench:", "ignored", "FAILED", "ok"];

/// What stands between a figure and its spread.
const SPREAD: &str = "(+/- ";

/// What stands before a name.
const TEST: &str = "test ";

/// A test in a line.
enum TestLine<'l> {
    /// The name, and what came of the test.
    Whole(&'l str, &'l str),
    /// The name alone: what came of the test may be at the beginning of a later line.
    Broken(&'l str),
}

/// Returns what stands before the first test of a line, and for each test its name and what follows it. Other output may
/// stand before a name, and the end of a line may be missing, so that the next test stands on the same one.
fn tests_in(text: &str) -> (&str, Vec<&str>) {
    if !text.starts_with(TEST) && !text.contains(" ... bench:") {
        return (text, Vec::new());
    }
    let dots = text.match_indices(DOTS.trim_end()).map(|(at, _)| at);
    let mut begins = Vec::new();
    let mut from = 0;
    for at in dots {
        // The space behind the dots before can be that in front of these.
        from = from.min(at);
        let before = &text[from..at];
        let result = before.trim_start();
        let end = match result.split_once(SPREAD) {
            Some((_, spread)) => spread
                .find(')')
                .map(|at| before.len() - spread.len() + at + 1),
            None => OUTCOMES[1..].iter().find_map(|word| {
                let rest = result.strip_prefix(word)?;
                Some(before.len() - rest.len())
            }),
        };
        let end = end.filter(|_| from > 0).unwrap_or(0);
        let name = match before[end..].strip_prefix(TEST) {
            Some(name) => Some(before.len() - name.len()),
            None => before.rfind(TEST).map(|at| at + TEST.len()),
        };
        begins.extend(name.map(|name| from + name));
        from = at + DOTS.trim_end().len();
        // The space behind the dots is theirs.
        from += usize::from(text[from..].starts_with(' '));
    }
    let ends = begins.iter().skip(1).map(|begin| begin - TEST.len());
    let ends = ends.chain([text.len()]);
    let tests = begins
        .iter()
        .zip(ends)
        .map(|(&begin, end)| &text[begin..end]);
    let first = begins
        .first()
        .map_or(text.len(), |begin| begin - TEST.len());
    (&text[..first], tests.collect())
}

/// Returns what a line says of a test, from its name on. Other output may stand between name and result.
fn test_line(test: &str) -> TestLine<'_> {
    // A name may have dots as well.
    let mut parts = test
        .match_indices(DOTS)
        .map(|(at, _)| (test[..at].trim_end(), &test[at + DOTS.len()..]));
    let whole = parts.clone().find(|(_, rest)| {
        let mut words = OUTCOMES.iter();
        words.any(|word| rest.starts_with(word))
    });
    if let Some((name, rest)) = whole {
        return TestLine::Whole(name, rest);
    }
    match parts.next() {
        Some((name, rest)) => match rest.find("bench:") {
            Some(at) => TestLine::Whole(name, &rest[at..]),
            None => TestLine::Broken(name),
        },
        None => TestLine::Broken(test.trim_end_matches(DOTS.trim_end()).trim_end()),
    }
}

/// Returns whether what begins a line is the result of a test whose name is on a line before.
fn is_outcome(text: &str) -> bool {
    text.starts_with(OUTCOMES[0]) || OUTCOMES[1..].contains(&text)
}

fn came(rest: &str, in_harness: bool) -> Result<Came<'_>, String> {
    let Some(figures) = rest.strip_prefix("bench:") else {
        return Ok(match rest {
            LOST => Came::Lost,
            failed if failed.starts_with("FAILED") => Came::Failed,
            _not_run => Came::NotRun,
        });
    };
    let (centre, figures) = word(figures);
    let (unit, figures) = word(figures);
    let figures = figures.trim_start();
    let (spread, rate) = figures
        .strip_prefix(SPREAD)
        .and_then(|rest| rest.split_once(')'))
        .ok_or_else(|| format!("there is no `(+/- …)` behind the figure: {rest:?}"))?;
    let rate = match rate.trim().strip_prefix('=') {
        None => None,
        Some(rate) => {
            let (value, unit) = word(rate);
            Some((number(value)?, unit.trim()))
        }
    };
    Ok(Came::Measured(LibtestFigures {
        centre: number(centre)?,
        spread: number(spread)?,
        unit,
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
    let plain = text.trim();
    let number = if plain.contains(',') {
        plain.replace(',', "").parse::<f64>()
    } else {
        plain.parse::<f64>()
    };
    match number {
        Ok(number) if number < 0.0 => Err(format!("a figure is negative: {text}")),
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) | Err(_) => Err(format!("not a number: {text:?}")),
    }
}
