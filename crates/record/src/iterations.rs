//! Iterations of one instance in columns: of the store, and of an importer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Column, ColumnEntry, StoreError};
use lapwing_model::{Id, Iteration, MetricName, NEVER_NEGATIVE, Object, Outcome, fail};

/// Iterations of one instance in columns: entry *k* of every column belongs to the same iteration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Iterations {
    /// How many numbers within the instance are missing before its own: without gaps the same for all.
    pub(crate) missing: Column<u32>,
    /// Seconds from the start of the instance; NaN where unknown.
    pub offset: Column<f64>,
    /// Whether the runner planned it as burn-in.
    pub burn_in: Column<bool>,
    /// The number of executions of which its values are the means.
    pub loops: Column<u64>,
    /// The outcome.
    pub outcome: Column<Outcome>,
    /// Messages of failures, by position in the columns.
    pub messages: BTreeMap<usize, String>,
    /// Fields without a column, by position in the columns.
    pub details: BTreeMap<usize, IterationDetail>,
    /// The values of each metric; NaN where an iteration has none.
    pub values: BTreeMap<MetricName, Vec<f64>>,
}

/// The fields of an iteration that have no column.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct IterationDetail {
    /// Attributes.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub attributes: Object,
    /// Name and location of each artifact.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub artifacts: Object,
    /// Unknown keys of the record.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub extra: Object,
}

impl IterationDetail {
    /// Returns the ends of standard output and standard error in the attributes, if any.
    pub fn printed(&self) -> Option<String> {
        let texts: Vec<&str> = ["stdout", "stderr"]
            .iter()
            .filter_map(|name| self.attributes.get(*name)?.as_str())
            .map(str::trim_end)
            .filter(|text| !text.is_empty())
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }
}

impl Iterations {
    /// Returns the number of iterations.
    pub fn len(&self) -> usize {
        self.missing.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty()
    }

    /// Returns the number of an iteration within the instance; numbers increase.
    pub fn index(&self, at: usize) -> u32 {
        number(at).wrapping_add(self.missing[at])
    }

    /// Returns the numbers of the iterations within the instance.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + Clone {
        (0..self.len()).map(|at| self.index(at))
    }

    /// Appends iterations with these numbers; the caller makes the other columns as long.
    pub fn push_indices(&mut self, indices: impl IntoIterator<Item = u32>) {
        let positions = self.len()..;
        let indices = positions.zip(indices);
        // Less than nothing is missing before an iteration that came too early, until they are sorted.
        self.missing
            .extend(indices.map(|(at, index)| index.wrapping_sub(number(at))));
    }

    /// Returns the artifacts of the iterations that have any, by position in the columns.
    pub fn artifacts(&self) -> impl Iterator<Item = (usize, &Object)> {
        self.details
            .iter()
            .filter(|(_, detail)| !detail.artifacts.is_empty())
            .map(|(&place, detail)| (place, &detail.artifacts))
    }

    /// Returns columns of these iterations, whose indices increase.
    pub(super) fn from_records(iterations: Vec<Iteration>) -> Self {
        let mut columns = Self::default();
        let count = iterations.len();
        for (place, iteration) in iterations.into_iter().enumerate() {
            columns.push_indices([iteration.index]);
            columns
                .offset
                .extend([iteration.offset.unwrap_or(f64::NAN)]);
            columns.burn_in.extend([iteration.burn_in]);
            columns.loops.extend([iteration.loops]);
            columns.outcome.extend([iteration.outcome]);
            if let Some(message) = iteration.message {
                columns.messages.insert(place, message);
            }
            let detail = IterationDetail {
                attributes: iteration.attributes,
                artifacts: iteration.artifacts,
                extra: iteration.extra,
            };
            if detail != IterationDetail::default() {
                columns.details.insert(place, detail);
            }
            for (name, value) in iteration.metrics {
                let column = columns.values.entry(name);
                column.or_insert_with(|| vec![f64::NAN; count])[place] = value;
            }
        }
        columns
    }

    /// Returns the iterations as records.
    pub fn into_records(mut self, instance: Id) -> impl Iterator<Item = Iteration> {
        (0..self.len()).map(move |place| {
            let detail = self.details.remove(&place).unwrap_or_default();
            let metrics = self.values.iter();
            Iteration {
                instance,
                index: self.index(place),
                offset: Some(self.offset[place]).filter(|offset| !offset.is_nan()),
                burn_in: self.burn_in[place],
                loops: self.loops[place],
                outcome: self.outcome[place],
                message: self.messages.remove(&place),
                metrics: metrics
                    .filter(|(_, column)| !column[place].is_nan())
                    .map(|(name, column)| (name.clone(), column[place]))
                    .collect(),
                attributes: detail.attributes,
                artifacts: detail.artifacts,
                extra: detail.extra,
            }
        })
    }

    /// Makes iterations with a time or size below zero failures, as reading their records does:
    /// stores of older programs may have some.
    pub(super) fn fail_impossible_values(&mut self) {
        for metric in NEVER_NEGATIVE {
            let Some(column) = self.values.get_mut(metric) else {
                continue;
            };
            for (place, value) in column.iter_mut().enumerate().filter(|it| *it.1 < 0.0) {
                let mut message = self.messages.remove(&place);
                let mut outcome = self.outcome[place];
                fail(&mut outcome, &mut message, metric, *value);
                self.outcome.set(place, outcome);
                self.messages.extend(message.map(|text| (place, text)));
                *value = f64::NAN;
            }
            if column.iter().all(|value| value.is_nan()) {
                self.values.remove(metric);
            }
        }
    }

    /// Gives back the room that columns were given while they grew: up to as much as they take.
    pub(super) fn shrink(&mut self) {
        self.missing.shrink();
        self.offset.shrink();
        self.burn_in.shrink();
        self.loops.shrink();
        self.outcome.shrink();
    }

    /// Sorts by index. Returns whether every index was unique.
    pub(super) fn sort(&mut self) -> bool {
        let increases = |it: &Self| it.indices().is_sorted_by(|left, right| left < right);
        if increases(self) {
            return true;
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&place| self.index(place));
        let indices: Vec<u32> = order.iter().map(|&place| self.index(place)).collect();
        self.missing = Column::default();
        self.push_indices(indices);
        reorder(&mut self.offset, &order);
        reorder(&mut self.burn_in, &order);
        reorder(&mut self.loops, &order);
        reorder(&mut self.outcome, &order);
        for column in self.values.values_mut() {
            *column = order.iter().map(|&place| column[place]).collect();
        }
        let mut place_of = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place_of[old] = new;
        }
        let messages = std::mem::take(&mut self.messages).into_iter();
        self.messages = messages.map(|(old, it)| (place_of[old], it)).collect();
        let details = std::mem::take(&mut self.details).into_iter();
        self.details = details.map(|(old, it)| (place_of[old], it)).collect();
        increases(self)
    }
}

/// Puts a column into the order given.
fn reorder<T: ColumnEntry>(column: &mut Column<T>, order: &[usize]) {
    *column = order.iter().map(|&place| column[place]).collect();
}

/// Returns a position as a number; an instance has fewer iterations than there are numbers.
fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Consecutive iterations of an importer, in columns: number `k` of them has index `first + k`.
///
/// An empty column stands for the default: no burn-in, one loop, an unknown offset.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IterationColumns {
    /// The index of the first.
    pub first: u32,
    /// The number of iterations.
    pub count: usize,
    /// Whether the runner planned them as burn-in.
    pub burn_in: Vec<bool>,
    /// The number of executions of which their values are the means.
    pub loops: Vec<u64>,
    /// Seconds from the start of the instance to their own; NaN where unknown.
    pub offsets: Vec<f64>,
    /// The values of each metric; NaN where an iteration has none.
    pub values: BTreeMap<MetricName, Vec<f64>>,
    /// Outcomes and attributes of single iterations, by number.
    pub marks: BTreeMap<u32, Mark>,
}

/// Outcome and attributes of one iteration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mark {
    /// The outcome.
    pub outcome: Outcome,
    /// The reason of a failure.
    pub message: Option<String>,
    /// Attributes.
    pub attributes: Object,
}

impl IterationColumns {
    /// Returns the complete columns.
    ///
    /// # Errors
    /// If the columns have different lengths, or an index is too large.
    pub fn complete(self) -> Result<Iterations, StoreError> {
        let (first, count) = (self.first, self.count);
        let empty_or_complete = |length: usize| length == 0 || length == count;
        let agree = empty_or_complete(self.offsets.len())
            && empty_or_complete(self.burn_in.len())
            && empty_or_complete(self.loops.len())
            && self.values.values().all(|column| column.len() == count)
            && self.marks.keys().all(|&number| (number as usize) < count);
        if !agree {
            return Err(StoreError::damaged(format!(
                "columns of different lengths were given for {count} iterations"
            )));
        }
        let end = u32::try_from(count.saturating_sub(1)).ok();
        let Some(last) = end.and_then(|last| last.checked_add(first)) else {
            return Err(StoreError::damaged(format!(
                "{count} iterations from {first} on are more than an instance can have"
            )));
        };
        let mut iterations = Iterations {
            offset: self.offsets.into_iter().collect(),
            burn_in: self.burn_in.into_iter().collect(),
            loops: self.loops.into_iter().collect(),
            values: self.values,
            ..Iterations::default()
        };
        iterations.push_indices((first..=last).take(count));
        iterations.outcome.resize(count, Outcome::Ok);
        iterations.offset.resize(count, f64::NAN);
        iterations.burn_in.resize(count, false);
        iterations.loops.resize(count, 1);
        for (number, mark) in self.marks {
            let place = number as usize;
            iterations.outcome.set(place, mark.outcome);
            iterations
                .messages
                .extend(mark.message.map(|text| (place, text)));
            if !mark.attributes.is_empty() {
                let detail = IterationDetail {
                    attributes: mark.attributes,
                    ..IterationDetail::default()
                };
                iterations.details.insert(place, detail);
            }
        }
        Ok(iterations)
    }
}
