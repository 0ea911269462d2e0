//! What Go's benchmark text says as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use jiff::Timestamp;

use super::BadLine;
use super::go_line::GoName;
use crate::model::Outcome;

/// Values of settings by key.
pub(super) type Settings = BTreeMap<String, String>;

/// Everything that a source says.
#[derive(Default)]
pub(super) struct GoText {
    /// What was measured, in order.
    pub(super) measured: Vec<Measured>,
    /// The values of everything that was measured, one after another.
    pub(super) values: Vec<(f64, u32)>,
    /// The names of benchmarks as they are printed.
    pub(super) names: Texts,
    /// The units that values have.
    pub(super) units: Texts,
    /// Every combination of settings that results have.
    pub(super) settings: Vec<Settings>,
    pub(super) places_of_settings: BTreeMap<Settings, usize>,
    /// What is said of units: unit, key, value.
    pub(super) unit_metadata: BTreeMap<String, BTreeMap<String, String>>,
    /// When it began, where it says so.
    pub(super) started: Option<Timestamp>,
    /// Lines that cannot be understood.
    pub(super) bad: Vec<BadLine>,
    /// The numbers of lines that say nothing.
    pub(super) other: Vec<u64>,
    /// Units of which some value is no finite number.
    pub(super) not_finite: BTreeSet<String>,
    /// Benchmarks that failed because a part of them did.
    pub(super) failed_in_part: BTreeSet<String>,
}

/// A result, or a failure in place of one. Texts that come again and again are told by their
/// places, so that a long source takes hardly more memory than its text.
pub(super) struct Measured {
    /// The line that it stands on.
    pub(super) line: u64,
    /// Which of the names it has.
    pub(super) name: usize,
    /// Which process of the source printed it.
    pub(super) process: u32,
    /// Which of the combinations of settings it has.
    pub(super) settings: usize,
    /// How many iterations the values are means of.
    pub(super) loops: u64,
    /// Where its values stand.
    pub(super) values: Range<usize>,
    pub(super) outcome: Outcome,
    #[expect(clippy::box_collection, reason = "hardly any result has one")]
    pub(super) message: Option<Box<String>>,
}

/// Different texts, each with a place.
#[derive(Default)]
pub(super) struct Texts {
    texts: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Texts {
    /// Returns the place of a text, which may be new.
    pub(super) fn place_of(&mut self, text: &str) -> usize {
        if let Some(&place) = self.places.get(text) {
            return place;
        }
        let place = self.texts.len();
        self.texts.push(text.to_owned());
        self.places.insert(text.to_owned(), place);
        place
    }

    /// Returns the text at a place.
    pub(super) fn at(&self, place: usize) -> &str {
        &self.texts[place]
    }

    /// Returns every text, by place.
    pub(super) fn all(&self) -> &[String] {
        &self.texts
    }
}

impl GoText {
    /// Returns the values of something that was measured, and which of the units they have.
    pub(super) fn values(&self, measured: &Measured) -> impl Iterator<Item = (f64, usize)> {
        let values = self.values[measured.values.clone()].iter();
        values.map(|&(value, unit)| (value, unit as usize))
    }

    pub(super) fn describe_unit(&mut self, line: u64, unit: &str, pairs: &[(&str, &str)]) {
        for &(key, value) in pairs {
            let known = self.unit_metadata.entry(unit.to_owned()).or_default();
            let before = known
                .entry(key.to_owned())
                .or_insert_with(|| value.to_owned());
            if before != value {
                let reason =
                    format!("`Unit {unit}` says {key}={value} here and {key}={before} before");
                self.bad.push(BadLine { line, reason });
            }
        }
    }

    /// Puts right what can be known only in the end.
    pub(super) fn settle(&mut self) {
        self.drop_failures_of_parts();
        self.complete_names();
    }

    /// A benchmark that has parts fails when one of them does, and measures nothing itself.
    fn drop_failures_of_parts(&mut self) {
        let names = &self.names;
        let failed = |it: &&Measured| it.values.is_empty();
        if !self.measured.iter().any(|it| failed(&it)) {
            return;
        }
        let parts: BTreeSet<(u32, &str)> = self
            .measured
            .iter()
            .flat_map(|it| {
                let name = names.at(it.name);
                let ends = name.match_indices('/');
                ends.map(|(end, _)| (it.process, &name[..end]))
            })
            .collect();
        let dropped = &mut self.failed_in_part;
        self.measured.retain(|it| {
            let name = names.at(it.name);
            let of_parts = it.values.is_empty() && parts.contains(&(it.process, name));
            if of_parts {
                dropped.insert(name.to_owned());
            }
            !of_parts
        });
    }

    /// A failure is told without the number of processors that the same benchmark has where
    /// it has results. Where all results of the source have the same, it is that one.
    fn complete_names(&mut self) {
        let numbers: BTreeSet<Option<u32>> = self
            .measured
            .iter()
            .filter(|it| !it.values.is_empty())
            .map(|it| GoName::of(self.names.at(it.name)).processors)
            .collect();
        let mut numbers = numbers.into_iter();
        let (Some(Some(only)), None) = (numbers.next(), numbers.next()) else {
            return;
        };
        for it in &mut self.measured {
            let name = self.names.at(it.name);
            if it.values.is_empty() && GoName::of(name).processors != Some(only) {
                let name = format!("{name}-{only}");
                it.name = self.names.place_of(&name);
            }
        }
    }
}
