//! Reads Go's benchmark text: which settings hold for a result, which process printed it,
//! and how benchmarks failed.
//!
//! `go test -json` wraps the same text into events, one stream of it for each package.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::Deserialize;

use super::go_line::{GoLine, GoResult, parse};
use super::go_text::{Failure, GoText, Group, Settings, place};
use super::lines::{Line, Lines};
use super::{BadLine, ImportError, Source};
use crate::model::Outcome;

/// How many settings hold at a time. Every result may have others than the one before it, and
/// keeps all of them: without a limit, a short text would take all memory.
pub(super) const MOST_SETTINGS: usize = 200;

/// Reads all of a source.
pub(super) fn read_text(source: &Source) -> Result<GoText, ImportError> {
    let mut lines = Lines::of(source)?;
    let mut text = GoText::default();
    let mut streams: BTreeMap<String, Stream> = BTreeMap::new();
    let mut processes = 0;
    while let Some((number, line)) = lines.next_indented()? {
        let line = match line {
            Line::Text(line) => line,
            Line::Bad(reason) => {
                text.bad.push(BadLine::new(number, reason));
                continue;
            }
        };
        if line.starts_with('{') {
            let Ok(event) = serde_json::from_str::<Event>(line) else {
                text.other.push(number);
                continue;
            };
            text.started = text.started.or(event.time);
            let stream = streams.entry(event.package).or_default();
            stream.partial.push_str(&event.output);
            if !event.output.contains('\n') {
                continue;
            }
            while let Some(end) = stream.partial.find('\n') {
                let rest = stream.partial.split_off(end + 1);
                let whole = std::mem::replace(&mut stream.partial, rest);
                let whole = whole.trim_end();
                stream.take(number, whole, &mut processes, &mut text);
            }
        } else {
            let stream = streams.entry(String::new()).or_default();
            stream.take(number, line, &mut processes, &mut text);
        }
    }
    text.settle();
    Ok(text)
}

/// An event of `go test -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    #[serde(default)]
    time: Option<Timestamp>,
    #[serde(default)]
    package: String,
    #[serde(default)]
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
}

/// What is known of the process under way.
struct Process {
    number: u32,
    /// Whether it has printed a result.
    has_results: bool,
    /// The benchmark that began last, and what it has logged.
    begun: Option<(String, Vec<String>)>,
    /// What the lines that are indented describe.
    described: Option<usize>,
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
            text.groups.push(Group {
                line,
                settings,
                name,
                process: self.number,
                has_values,
                left_out: false,
            });
            place(text.groups.len() - 1)
        })
    }
}

impl Stream {
    fn take(&mut self, number: u64, line: &str, processes: &mut u32, text: &mut GoText) {
        let line = match parse(line) {
            Ok(line) => line,
            Err(reason) => {
                text.bad.push(BadLine::new(number, reason));
                return;
            }
        };
        match line {
            GoLine::Setting(key, value) => self.set(key, value, text),
            GoLine::Unit(unit, pairs) => text.describe_unit(number, unit, &pairs),
            GoLine::End => self.process = None,
            GoLine::Progress => {}
            GoLine::Indented(words) => self.indented(words, text),
            GoLine::Begins(name) => {
                let process = self.process(processes);
                process.described = None;
                process.begun = Some((name.to_owned(), Vec::new()));
            }
            GoLine::Logged => {
                let process = self.process(processes);
                process.described = None;
                process.begun = None;
            }
            GoLine::Result(result) => self.result(number, &result, processes, text),
            GoLine::Failed(name) => {
                self.without_result(number, name, Outcome::Failed, processes, text);
            }
            GoLine::Skipped(name) => {
                self.without_result(number, name, Outcome::Skipped, processes, text);
            }
            GoLine::Crash(words) => self.crash(number, words, processes, text),
            GoLine::Other => {
                if !self.process.as_ref().is_some_and(|it| it.crashed) {
                    text.other.push(number);
                }
            }
        }
    }

    /// Returns the process that is under way; a new one if there is none.
    fn process(&mut self, processes: &mut u32) -> &mut Process {
        self.process.get_or_insert_with(|| {
            *processes += 1;
            Process {
                number: *processes - 1,
                has_results: false,
                begun: None,
                described: None,
                crashed: false,
                groups: HashMap::new(),
            }
        })
    }

    fn set(&mut self, key: &str, value: &str, text: &mut GoText) {
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
            return;
        }
        self.settings_place = None;
        if value.is_empty() {
            self.settings.remove(key);
        } else if self.settings.len() == MOST_SETTINGS && !self.settings.contains_key(key) {
            text.surplus_settings.push(key.to_owned());
        } else {
            self.settings.insert(key.to_owned(), value.to_owned());
        }
    }

    fn indented(&mut self, words: &str, text: &mut GoText) {
        let Some(process) = self.process.as_mut().filter(|it| !it.crashed) else {
            return;
        };
        match (process.described, &mut process.begun) {
            (Some(place), _) => {
                let Some(failure) = text.failures.get_mut(&place) else {
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
        number: u64,
        result: &GoResult<'_>,
        processes: &mut u32,
        text: &mut GoText,
    ) {
        let settings = self.settings_place(text);
        let process = self.process(processes);
        process.has_results = true;
        process.begun = None;
        process.described = None;
        let group = process.group(number, settings, result.name, true, text);
        // Go prints a result without iterations when the benchmark panics.
        if result.loops == 0 {
            let failure = Failure {
                outcome: Outcome::Failed,
                message: None,
            };
            text.failures.insert(text.measured.len(), failure);
        }
        text.measure(group, result.loops.max(1), &result.values);
    }

    fn without_result(
        &mut self,
        number: u64,
        name: &str,
        outcome: Outcome,
        processes: &mut u32,
        text: &mut GoText,
    ) {
        let settings = self.settings_place(text);
        let place = text.measured.len();
        let process = self.process(processes);
        let logged = process
            .begun
            .take()
            .filter(|(begun, logged)| begun == name && !logged.is_empty());
        // In verbose text the reasons stand before, else behind it.
        process.described = logged.is_none().then_some(place);
        let group = process.group(number, settings, name, false, text);
        let failure = Failure {
            outcome,
            message: logged.map(|(_name, logged)| logged.join("\n")),
        };
        text.failures.insert(place, failure);
        text.measure(group, 1, &[]);
    }

    fn crash(&mut self, number: u64, words: &str, processes: &mut u32, text: &mut GoText) {
        let outcome = if words.starts_with("panic: test timed out") {
            Outcome::TimedOut
        } else {
            Outcome::Failed
        };
        let process = self.process(processes);
        if process.crashed {
            return;
        }
        process.crashed = true;
        let which = process.number;
        let begun = process.begun.take();
        let last = text.measured.last();
        let of_this_process =
            last.is_some_and(|it| text.groups[it.group as usize].process == which);
        let place = text.measured.len().wrapping_sub(1);
        let unfinished = text
            .failures
            .get_mut(&place)
            .filter(|it| of_this_process && it.outcome == Outcome::Failed)
            .filter(|it| it.message.is_none());
        match (unfinished, begun) {
            (Some(failure), _) => {
                failure.outcome = outcome;
                failure.message = Some(words.to_owned());
            }
            (None, Some((name, _logged))) => {
                self.without_result(number, &name, outcome, processes, text);
                if let Some(mut failure) = text.failures.last_entry() {
                    failure.get_mut().message = Some(words.to_owned());
                }
            }
            (None, None) => text.other.push(number),
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
