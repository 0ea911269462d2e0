//! What Go's benchmark text says as a whole.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use jiff::Timestamp;

use super::BadLine;
use super::go_line::GoName;
use crate::model::Outcome;

/// Values of settings by key.
pub(super) type Settings = BTreeMap<String, String>;

/// Everything that a source says. Texts that come again and again are told by their places
/// and values stand in one row, so that millions of results take little more memory than
/// their numbers do.
#[derive(Default)]
pub(super) struct GoText {
    /// What was measured, in order.
    pub(super) measured: Vec<Measured>,
    /// The values of everything that was measured, one after another.
    values: Vec<f64>,
    /// Which units the values of a result have, one list for each combination.
    shapes: Vec<Vec<u32>>,
    places_of_shapes: BTreeMap<Vec<u32>, u32>,
    /// What results belong to, in the order of the first result of each.
    pub(super) groups: Vec<Group>,
    /// What did not go well, by the place of the result.
    pub(super) failures: BTreeMap<usize, Failure>,
    /// The names of benchmarks as they are printed.
    pub(super) names: Texts,
    /// The units that values have.
    pub(super) units: Texts,
    /// Every combination of settings that results have.
    pub(super) settings: Vec<Settings>,
    pub(super) places_of_settings: BTreeMap<Settings, u32>,
    /// What is said of units: unit, key, value.
    pub(super) unit_metadata: BTreeMap<String, BTreeMap<String, String>>,
    /// When it began, where it says so.
    pub(super) started: Option<Timestamp>,
    /// Lines that cannot be understood.
    pub(super) bad: Vec<BadLine>,
    /// The numbers of lines that say nothing.
    pub(super) other: Vec<u64>,
    /// The keys of settings that were too many.
    pub(super) surplus_settings: Vec<String>,
    /// Benchmarks that failed because a part of them did.
    pub(super) failed_in_part: BTreeSet<String>,
}

/// A result, or a failure in place of one.
pub(super) struct Measured {
    /// How many iterations the values are means of.
    pub(super) loops: u64,
    /// Where its values begin.
    begin: usize,
    /// Which of the groups it belongs to.
    pub(super) group: u32,
    /// Which of the shapes its values have.
    shape: u32,
}

/// The results of one benchmark in one process with the same settings, or the failures that
/// stand in place of results.
#[derive(Clone, Copy)]
pub(super) struct Group {
    /// The line of the first.
    pub(super) line: u64,
    /// Which of the combinations of settings they have.
    pub(super) settings: u32,
    /// Which of the names they have.
    pub(super) name: u32,
    /// Which process of the source printed them.
    pub(super) process: u32,
    /// Whether they have values.
    pub(super) has_values: bool,
    /// Whether they say nothing that a part of the benchmark does not say.
    pub(super) left_out: bool,
}

/// How something ended that did not go well.
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

    /// Forgets how to find places, which takes as much memory as short texts do.
    fn only_read(&mut self) {
        self.places = HashMap::new();
    }
}

/// Returns a number of places as the next place; memory ends before their numbers do.
pub(super) fn place(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl GoText {
    /// Returns the values of something that was measured, and which of the units they have.
    pub(super) fn values(&self, measured: &Measured) -> impl Iterator<Item = (f64, usize)> {
        let units = &self.shapes[measured.shape as usize];
        let values = &self.values[measured.begin..][..units.len()];
        let units = units.iter().map(|&unit| unit as usize);
        values.iter().copied().zip(units)
    }

    /// Adds a result of a group.
    pub(super) fn measure(&mut self, group: u32, loops: u64, values: &[(f64, &str)]) {
        let begin = self.values.len();
        self.values.extend(values.iter().map(|&(value, _)| value));
        let shape = self.shape_of(values);
        self.measured.push(Measured {
            loops,
            begin,
            group,
            shape,
        });
    }

    /// Returns the place of the shape of these values. Results that follow each other
    /// mostly have the same.
    fn shape_of(&mut self, values: &[(f64, &str)]) -> u32 {
        if let Some(last) = self.measured.last() {
            let units = &self.shapes[last.shape as usize];
            let same = units.len() == values.len()
                && units
                    .iter()
                    .zip(values)
                    .all(|(&place, &(_, unit))| self.units.at(place) == unit);
            if same {
                return last.shape;
            }
        }
        let units = &mut self.units;
        let shape: Vec<u32> = values.iter().map(|&(_, it)| units.place_of(it)).collect();
        if let Some(&known) = self.places_of_shapes.get(&shape) {
            return known;
        }
        let new = place(self.shapes.len());
        self.shapes.push(shape.clone());
        self.places_of_shapes.insert(shape, new);
        new
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
                self.bad.push(BadLine::new(line, reason));
            }
        }
    }

    /// Puts right what can be known only in the end.
    pub(super) fn settle(&mut self) {
        if self.groups.iter().any(|it| !it.has_values) {
            self.leave_out_failures_of_parts();
            self.complete_names();
        }
        self.names.only_read();
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
        for it in self.groups.iter_mut().filter(|it| !it.has_values) {
            let name = names.at(it.name);
            if parts.contains(&(it.process, name)) {
                it.left_out = true;
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
        for it in self.groups.iter_mut().filter(|it| !it.has_values) {
            let name = self.names.at(it.name);
            if GoName::of(name).processors != Some(only) {
                let name = format!("{name}-{only}");
                it.name = self.names.place_of(&name);
            }
        }
    }
}
