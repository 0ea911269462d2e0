//! Reads Go's benchmark text: which settings hold for a result, which process printed it,
//! and how benchmarks failed.
//!
//! `go test -json` wraps the same text into events, one stream of it for each package.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::Deserialize;

use crate::go::drafts::benchmark_id;
use crate::go::line::{GoLine, GoResult, continued, is_name_of_go, parse};
use crate::go::text::{Failure, GoGroup, GoText, Settings, place};
use crate::shared::reading::lines::{Line, Lines};
use crate::{BadLine, ImportError, Source};
use lapwing_model::Outcome;

/// How many settings hold at a time. Every result may have others than the one before it, and
/// keeps all of them: without a limit, a short text would take all memory.
pub(super) const MOST_SETTINGS: usize = 200;

/// Something that a source says.
pub(super) enum GoSaid<'s> {
    /// A result, or a failure in place of one.
    Measured(GoMeasured<'s>),
    /// A line that cannot be understood.
    Bad(BadLine),
    /// The number of a line that says nothing.
    Nothing(u64),
    /// The key of a setting that was too many.
    Surplus(&'s str),
}

/// A result, or a failure in place of one.
pub(super) struct GoMeasured<'s> {
    /// The number of results before it in the source.
    pub(super) number: u64,
    /// The place of its group.
    pub(super) group: u32,
    /// The number of iterations that the values are means of.
    pub(super) loops: u64,
    /// Its values, each with the place of its unit.
    pub(super) values: &'s [(f64, u32)],
}

/// The callback for each thing that a source says.
type Take<'r> = dyn FnMut(&GoText, GoSaid<'_>) -> Result<(), ImportError> + 'r;

/// Reads all of a source: hands out what it says, in order, and notes what it says as a whole.
pub(super) fn read_text(
    source: &Source,
    text: &mut GoText,
    take: &mut Take<'_>,
) -> Result<(), ImportError> {
    let mut lines = Lines::of(source)?;
    let mut streams: BTreeMap<String, Stream> = BTreeMap::new();
    let mut reading = Reading {
        text,
        take,
        processes: 0,
        values: Vec::new(),
    };
    while let Some((number, line)) = lines.next_indented()? {
        let line = match line {
            Line::Text(line) => line,
            Line::Bad(reason) => {
                reading.bad(number, reason)?;
                continue;
            }
        };
        if line.starts_with('{') {
            let Ok(event) = serde_json::from_str::<Event>(line) else {
                reading.say(GoSaid::Nothing(number))?;
                continue;
            };
            reading.text.started = reading.text.started.or(event.time);
            let stream = streams.entry(event.package).or_default();
            stream.partial.push_str(&event.output);
            if !event.output.contains('\n') {
                continue;
            }
            while let Some(end) = stream.partial.find('\n') {
                let rest = stream.partial.split_off(end + 1);
                let whole = std::mem::replace(&mut stream.partial, rest);
                let whole = whole.trim_end();
                stream.take(number, whole, &mut reading)?;
            }
        } else {
            let stream = streams.entry(String::new()).or_default();
            stream.take(number, line, &mut reading)?;
        }
    }
    Ok(())
}

/// A reading under way.
struct Reading<'r, 't> {
    text: &'r mut GoText,
    take: &'r mut Take<'t>,
    /// The number of processes so far.
    processes: u32,
    /// Room for the values of a result.
    values: Vec<(f64, u32)>,
}

impl Reading<'_, '_> {
    fn say(&mut self, said: GoSaid<'_>) -> Result<(), ImportError> {
        (self.take)(self.text, said)
    }

    fn bad(&mut self, line: u64, reason: String) -> Result<(), ImportError> {
        self.say(GoSaid::Bad(BadLine::new(line, reason)))
    }

    /// Hands out a result of a group.
    fn measure(
        &mut self,
        group: u32,
        loops: u64,
        values: &[(f64, &str)],
    ) -> Result<(), ImportError> {
        let units = &mut self.text.units;
        self.values.clear();
        self.values
            .extend(values.iter().map(|&(it, unit)| (it, units.place_of(unit))));
        let measured = GoMeasured {
            number: self.text.measured,
            group,
            loops,
            values: &self.values,
        };
        self.text.measured += 1;
        self.text.last = Some(group);
        (self.take)(self.text, GoSaid::Measured(measured))
    }
}

/// An event of `go test -json`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Event {
    time: Option<Timestamp>,
    package: String,
    output: String,
}

/// The text of one package's processes, as far as it was read.
#[derive(Default)]
struct Stream {
    partial: String,
    settings: Settings,
    /// The place of the settings among the text's, where they have not changed since.
    settings_place: Option<u32>,
    /// The process that is under way.
    process: Option<Process>,
    /// The benchmark whose line its own output broke.
    interrupted: Option<String>,
}

/// The process under way.
struct Process {
    number: u32,
    /// Whether it has printed a result.
    has_results: bool,
    /// The benchmark that began last, and what it has logged.
    begun: Option<(String, Vec<String>)>,
    /// The number of the result that indented lines describe.
    described: Option<u64>,
    /// Whether it crashed: what follows are traces.
    crashed: bool,
    /// The groups of its results, by settings, name, and whether they have values.
    groups: HashMap<(u32, u32, bool), u32>,
}

impl Process {
    /// Returns the group of a result that stands on a line.
    fn group(
        &mut self,
        line: u64,
        settings: u32,
        name: &str,
        has_values: bool,
        text: &mut GoText,
    ) -> u32 {
        let name = text.names.place_of(name);
        let key = (settings, name, has_values);
        *self.groups.entry(key).or_insert_with(|| {
            text.begin_group(GoGroup {
                line,
                settings,
                name,
                process: self.number,
                has_values,
                left_out: false,
            })
        })
    }
}

impl Stream {
    fn take(
        &mut self,
        number: u64,
        line: &str,
        reading: &mut Reading<'_, '_>,
    ) -> Result<(), ImportError> {
        if let Some(name) = self.interrupted.take() {
            if let Some(result) = continued(&name, line) {
                return self.result(number, &result, reading);
            }
            self.interrupted = Some(name);
        }
        let line = match parse(line) {
            Ok(line) => line,
            Err(reason) => {
                let name = line.split_whitespace().next();
                if let Some(name) = name.filter(|it| is_name_of_go(it)) {
                    self.named(number, name, reading.text);
                }
                return reading.bad(number, reason);
            }
        };
        match line {
            GoLine::Setting(key, value) => return self.set(key, value, reading),
            GoLine::Unit(unit, pairs) => {
                for bad in reading.text.describe_unit(number, unit, &pairs) {
                    reading.say(GoSaid::Bad(bad))?;
                }
            }
            GoLine::NotBuilt(package) => {
                let not_built = &mut reading.text.not_built;
                not_built.entry(package.to_owned()).or_insert(number);
                self.process = None;
            }
            GoLine::End => {
                self.process = None;
                self.interrupted = None;
            }
            GoLine::Progress => {}
            GoLine::Indented(words) => self.indented(words, reading.text),
            GoLine::Interrupted(name) => {
                self.named(number, name, reading.text);
                self.interrupted = Some(name.to_owned());
            }
            GoLine::Begins(name) => {
                self.named(number, name, reading.text);
                let process = self.process(reading);
                process.described = None;
                process.begun = Some((name.to_owned(), Vec::new()));
            }
            GoLine::Logged => {
                let process = self.process(reading);
                process.described = None;
                process.begun = None;
            }
            GoLine::Result(result) => return self.result(number, &result, reading),
            GoLine::Failed(name) => {
                return self.without_result(number, name, Outcome::Failed, reading);
            }
            GoLine::Skipped(name) => {
                return self.without_result(number, name, Outcome::Skipped, reading);
            }
            GoLine::Crash(words) => return self.crash(number, words, reading),
            GoLine::Other => {
                if !self.process.as_ref().is_some_and(|it| it.crashed) {
                    return reading.say(GoSaid::Nothing(number));
                }
            }
        }
        Ok(())
    }

    /// Remembers a benchmark that begins, whose figures may never come.
    fn named(&mut self, line: u64, name: &str, text: &mut GoText) {
        let id = benchmark_id(&self.settings, name);
        text.begun_names.entry(id).or_insert(line);
    }

    /// Returns the process that is under way; a new one if there is none.
    fn process(&mut self, reading: &mut Reading<'_, '_>) -> &mut Process {
        self.process.get_or_insert_with(|| {
            reading.processes += 1;
            Process {
                number: reading.processes - 1,
                has_results: false,
                begun: None,
                described: None,
                crashed: false,
                groups: HashMap::new(),
            }
        })
    }

    fn set(
        &mut self,
        key: &str,
        value: &str,
        reading: &mut Reading<'_, '_>,
    ) -> Result<(), ImportError> {
        // Every process says these first: where they come after results, they are another's.
        if matches!(key, "goos" | "goarch" | "pkg" | "cpu")
            && self
                .process
                .as_ref()
                .is_some_and(|it| it.has_results || it.crashed)
        {
            self.process = None;
        }
        if self.process.as_ref().is_some_and(|it| it.crashed) {
            return Ok(());
        }
        self.settings_place = None;
        if value.is_empty() {
            self.settings.remove(key);
        } else if self.settings.len() == MOST_SETTINGS && !self.settings.contains_key(key) {
            return reading.say(GoSaid::Surplus(key));
        } else {
            self.settings.insert(key.to_owned(), value.to_owned());
        }
        Ok(())
    }

    fn indented(&mut self, words: &str, text: &mut GoText) {
        let Some(process) = self.process.as_mut().filter(|it| !it.crashed) else {
            return;
        };
        match (process.described, &mut process.begun) {
            (Some(number), _) => {
                let Some(failure) = text.failures.get_mut(&number) else {
                    return;
                };
                let message = failure.message.get_or_insert_default();
                if !message.is_empty() {
                    message.push('\n');
                }
                message.push_str(words);
            }
            (None, Some((_name, logged))) => logged.push(words.to_owned()),
            (None, None) => {}
        }
    }

    fn result(
        &mut self,
        line: u64,
        result: &GoResult<'_>,
        reading: &mut Reading<'_, '_>,
    ) -> Result<(), ImportError> {
        self.interrupted = None;
        let settings = self.settings_place(reading.text);
        let process = self.process(reading);
        process.has_results = true;
        process.begun = None;
        process.described = None;
        let group = process.group(line, settings, result.name, true, reading.text);
        // Go prints a result without iterations when the benchmark panics; other programs count none of what they
        // build, and their values are good.
        let is_measured = result.values.iter().any(|(value, _)| value.abs() > 0.0);
        if result.loops == 0 && !is_measured {
            let failure = Failure {
                outcome: Outcome::Failed,
                message: None,
            };
            let text = &mut reading.text;
            text.failures.insert(text.measured, failure);
        }
        reading.measure(group, result.loops.max(1), &result.values)
    }

    fn without_result(
        &mut self,
        line: u64,
        name: &str,
        outcome: Outcome,
        reading: &mut Reading<'_, '_>,
    ) -> Result<(), ImportError> {
        let settings = self.settings_place(reading.text);
        let number = reading.text.measured;
        let process = self.process(reading);
        let logged = process
            .begun
            .take()
            .filter(|(begun, logged)| begun == name && !logged.is_empty());
        // In verbose text the reasons stand before, else behind it.
        process.described = logged.is_none().then_some(number);
        let group = process.group(line, settings, name, false, reading.text);
        let failure = Failure {
            outcome,
            message: logged.map(|(_name, logged)| logged.join("\n")),
        };
        reading.text.failures.insert(number, failure);
        reading.measure(group, 1, &[])
    }

    fn crash(
        &mut self,
        line: u64,
        words: &str,
        reading: &mut Reading<'_, '_>,
    ) -> Result<(), ImportError> {
        let outcome = if words.starts_with("panic: test timed out") {
            Outcome::TimedOut
        } else {
            Outcome::Failed
        };
        let process = self.process(reading);
        if process.crashed {
            return Ok(());
        }
        process.crashed = true;
        let which = process.number;
        let begun = process.begun.take();
        let text = &mut *reading.text;
        let of_this_process = text
            .last
            .is_some_and(|it| text.groups[it as usize].process == which);
        let unfinished = text
            .failures
            .get_mut(&text.measured.wrapping_sub(1))
            .filter(|it| of_this_process && it.outcome == Outcome::Failed)
            .filter(|it| it.message.is_none());
        match (unfinished, begun) {
            (Some(failure), _) => {
                failure.outcome = outcome;
                failure.message = Some(words.to_owned());
                Ok(())
            }
            (None, Some((name, _logged))) => {
                self.without_result(line, &name, outcome, reading)?;
                if let Some(mut failure) = reading.text.failures.last_entry() {
                    failure.get_mut().message = Some(words.to_owned());
                }
                Ok(())
            }
            (None, None) => reading.say(GoSaid::Nothing(line)),
        }
    }

    fn settings_place(&mut self, text: &mut GoText) -> u32 {
        if let Some(place) = self.settings_place {
            return place;
        }
        let known = text.places_of_settings.get(&self.settings).copied();
        let place = known.unwrap_or_else(|| {
            let place = place(text.settings.len());
            text.settings.push(self.settings.clone());
            text.places_of_settings.insert(self.settings.clone(), place);
            place
        });
        self.settings_place = Some(place);
        place
    }
}
