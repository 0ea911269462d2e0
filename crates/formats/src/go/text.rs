//! What Go's benchmark text says as a whole.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use jiff::Timestamp;

use crate::BadLine;
use crate::go::drafts::benchmark_id;
use crate::go::line::GoName;
use lapwing_model::Outcome;

/// Values of settings by key.
pub(super) type Settings = BTreeMap<String, String>;

/// What a source says as a whole: what there are results of, and not the results. It is
/// complete when the source was read once; the results come when it is read again.
#[derive(Default)]
pub(super) struct GoText {
    /// The groups of results, in the order of the first result of each.
    pub(super) groups: Vec<GoGroup>,
    /// The number of groups that the reading has come to.
    begun: usize,
    /// The number of results that it has come to.
    pub(super) measured: u64,
    /// The group of the last result.
    pub(super) last: Option<u32>,
    /// The failures, by the number of the result.
    pub(super) failures: BTreeMap<u64, Failure>,
    /// The names of benchmarks as they are printed.
    pub(super) names: Texts,
    /// The units that values have.
    pub(super) units: Texts,
    /// Every combination of settings that results have.
    pub(super) settings: Vec<Settings>,
    pub(super) places_of_settings: BTreeMap<Settings, u32>,
    /// The benchmarks that began, with the line of the first time.
    pub(super) begun_names: BTreeMap<String, u64>,
    /// The packages that were not built, with the line of the first time.
    pub(super) not_built: BTreeMap<String, u64>,
    /// Descriptions of units: unit, key, value.
    pub(super) unit_metadata: BTreeMap<String, BTreeMap<String, String>>,
    /// Its start, where it says so.
    pub(super) started: Option<Timestamp>,
    /// Benchmarks that failed because a part of them did.
    pub(super) failed_in_part: BTreeSet<String>,
}

/// The results of one benchmark in one process with the same settings, or the failures that
/// stand in place of results.
#[derive(Clone, Copy)]
pub(super) struct GoGroup {
    /// The line of the first.
    pub(super) line: u64,
    /// The place of their combination of settings.
    pub(super) settings: u32,
    /// The place of their name.
    pub(super) name: u32,
    /// The number of the process that printed them.
    pub(super) process: u32,
    /// Whether they have values.
    pub(super) has_values: bool,
    /// Whether they say nothing that a part of the benchmark does not say.
    pub(super) left_out: bool,
}

/// The end of something that did not go well.
pub(super) struct Failure {
    pub(super) outcome: Outcome,
    pub(super) message: Option<String>,
}

/// Different texts, each with a place.
#[derive(Default)]
pub(super) struct Texts {
    texts: Vec<Rc<str>>,
    places: HashMap<Rc<str>, u32>,
}

impl Texts {
    /// Returns the place of a text, which may be new.
    pub(super) fn place_of(&mut self, text: &str) -> u32 {
        if let Some(&place) = self.places.get(text) {
            return place;
        }
        let place = place(self.texts.len());
        let text: Rc<str> = Rc::from(text);
        self.texts.push(Rc::clone(&text));
        self.places.insert(text, place);
        place
    }

    /// Returns the text at a place.
    pub(super) fn at(&self, place: u32) -> &str {
        &self.texts[place as usize]
    }

    /// Returns every text, by place.
    pub(super) fn all(&self) -> &[Rc<str>] {
        &self.texts
    }
}

/// Returns a number of places as the next place; memory ends before their numbers do.
pub(super) fn place(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl GoText {
    /// Returns the place of the next group, which is new when the source is read for the
    /// first time.
    pub(super) fn begin_group(&mut self, group: GoGroup) -> u32 {
        if self.begun == self.groups.len() {
            self.groups.push(group);
        }
        self.begun += 1;
        place(self.begun - 1)
    }

    /// Returns the benchmarks that began and of which neither they nor a part of them came to an end, with the line of
    /// the first time.
    pub(super) fn never_ended(&self) -> impl Iterator<Item = (&String, u64)> {
        let ended = self.groups.iter().flat_map(|group| {
            let settings = &self.settings[group.settings as usize];
            let name = self.names.at(group.name);
            // In verbose text they begin without the number of processors.
            [name, GoName::of(name).stem].map(|name| benchmark_id(settings, name))
        });
        let ended: BTreeSet<String> = ended.collect();
        let begun = self.begun_names.iter().map(|(id, line)| (id, *line));
        begun.filter(move |(id, _)| {
            let parts = format!("{id}/");
            let is_part = |name: Option<&String>| name.is_some_and(|it| it.starts_with(&parts));
            let has_parts = is_part(ended.range(parts.clone()..).next());
            let parts_begun = self.begun_names.range(parts.clone()..).next();
            !ended.contains(*id) && !has_parts && !is_part(parts_begun.map(|(name, _)| name))
        })
    }

    /// Gets ready for reading the source again, which comes to the same groups and the same
    /// failures; returns what did not go well.
    pub(super) fn rewind(&mut self) -> BTreeMap<u64, Failure> {
        self.begun = 0;
        self.measured = 0;
        self.last = None;
        std::mem::take(&mut self.failures)
    }

    /// Takes what a line says of a unit; returns what contradicts the lines before.
    pub(super) fn describe_unit(
        &mut self,
        line: u64,
        unit: &str,
        pairs: &[(&str, &str)],
    ) -> Vec<BadLine> {
        let known = self.unit_metadata.entry(unit.to_owned()).or_default();
        let mut bad = Vec::new();
        for &(key, value) in pairs {
            let before = known
                .entry(key.to_owned())
                .or_insert_with(|| value.to_owned());
            if before != value {
                let reason =
                    format!("`Unit {unit}` says {key}={value} here and {key}={before} before");
                bad.push(BadLine::new(line, reason));
            }
        }
        bad
    }

    /// Puts right what can be known only in the end.
    pub(super) fn complete(&mut self) {
        if self.groups.iter().any(|it| !it.has_values) {
            self.leave_out_failures_of_parts();
            self.complete_names();
        }
    }

    /// A benchmark that has parts fails when one of them does, and measures nothing itself.
    fn leave_out_failures_of_parts(&mut self) {
        let names = &self.names;
        let parts: HashSet<(u32, &str)> = self
            .groups
            .iter()
            .flat_map(|it| {
                let name = names.at(it.name);
                let ends = name.match_indices('/');
                ends.map(|(end, _)| (it.process, &name[..end]))
            })
            .collect();
        for group in self.groups.iter_mut().filter(|group| !group.has_values) {
            let name = names.at(group.name);
            if parts.contains(&(group.process, name)) {
                group.left_out = true;
                self.failed_in_part.insert(name.to_owned());
            }
        }
    }

    /// A failure is told without the number of processors that the same benchmark has where
    /// it has results. Where all results of the source have the same, it is that one.
    fn complete_names(&mut self) {
        let numbers: BTreeSet<Option<u32>> = self
            .groups
            .iter()
            .filter(|it| it.has_values)
            .map(|it| GoName::of(self.names.at(it.name)).processors)
            .collect();
        let mut numbers = numbers.into_iter();
        let (Some(Some(only)), None) = (numbers.next(), numbers.next()) else {
            return;
        };
        for group in self.groups.iter_mut().filter(|group| !group.has_values) {
            let name = self.names.at(group.name);
            if GoName::of(name).processors != Some(only) {
                let name = format!("{name}-{only}");
                group.name = self.names.place_of(&name);
            }
        }
    }
}
