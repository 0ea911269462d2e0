//! The values of an experiment, laid out for drawing.

use super::lanes::{LANES, LaneLimits};

/// Values become whole numbers up to this one: sums of those are exact in any order.
pub(super) const LEVELS: u32 = 1 << 25;

/// A value that is there counts one in the bits from here on.
const COUNT_BIT: u32 = 44;

/// The largest number of values per side may have, so that their sum stays below the count.
pub(super) const MOST_VALUES: usize = 1 << (COUNT_BIT - 25);

/// How the values of a configuration lie in rows, and the rows in the lanes of random numbers.
#[derive(Debug, Clone)]
pub(super) struct DrawShape {
    pub(super) instances: usize,
    pub(super) iterations: usize,
    /// How many lanes a row has: 8, 16, 32 or a multiple of that.
    pub(super) width: usize,
    /// How many rows share the lanes of one draw.
    pub(super) slots: usize,
    /// The limits of each draw that a row needs.
    pub(super) limits: Vec<LaneLimits>,
}

impl DrawShape {
    /// Returns the layout of so many instances of so many iterations.
    pub(super) fn new(instances: usize, iterations: u16) -> Self {
        let count = usize::from(iterations);
        let width = match count {
            0..=8 => 8,
            9..=16 => 16,
            _ => count.next_multiple_of(LANES),
        };
        let limits = (0..width.div_ceil(LANES)).map(|draw| {
            let is_used = |lane: usize| (draw * LANES + lane) % width < count;
            LaneLimits::new(std::array::from_fn(|lane| {
                if is_used(lane) { iterations } else { 0 }
            }))
        });
        Self {
            instances,
            iterations: count,
            width,
            slots: (LANES / width).max(1),
            limits: limits.collect(),
        }
    }
}

/// The values of a side as levels, a row for each instance.
#[derive(Debug, Clone, Default)]
pub(super) struct LevelGroup {
    /// Each value: its level, and one in the bits of the count; 0 where it is missing.
    pub(super) values: Vec<u64>,
}

impl LevelGroup {
    /// Makes room for a layout; nothing is there yet.
    pub(super) fn clear(&mut self, shape: &DrawShape) {
        self.values.clear();
        self.values.resize(shape.instances * shape.width, 0);
    }

    /// Returns the row of an instance.
    pub(super) fn row<'a>(&'a self, shape: &DrawShape, instance: usize) -> &'a [u64] {
        &self.values[instance * shape.width..][..shape.width]
    }

    /// Returns the row of an instance, to be filled in.
    pub(super) fn row_mut<'a>(&'a mut self, shape: &DrawShape, instance: usize) -> &'a mut [u64] {
        &mut self.values[instance * shape.width..][..shape.iterations]
    }
}

/// Returns a level as it lies in a row; `None` is a missing value.
pub(super) fn entry(level: Option<u32>) -> u64 {
    level.map_or(0, |level| u64::from(level) | 1 << COUNT_BIT)
}

/// Returns the sum of the levels of drawn entries and how many of them are there.
pub(super) fn sum_and_count(drawn: u64) -> (u64, u64) {
    (drawn & ((1 << COUNT_BIT) - 1), drawn >> COUNT_BIT)
}

/// The sides of an experiment.
#[derive(Debug, Clone, Default)]
pub(super) struct ExperimentGroups {
    pub(super) control: LevelGroup,
    /// Values of other instances than the control's.
    pub(super) different: Option<LevelGroup>,
    /// Other values of the control's instances.
    pub(super) same: Option<LevelGroup>,
}

/// What replicates drew of each side, as sums of entries; nothing of a side that is not there.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ReplicateSums {
    /// Of the control.
    pub(super) control: Vec<u64>,
    /// Of the other instances, drawn independently of the control.
    pub(super) different: Vec<u64>,
    /// Of the same instances, with the draws of instances that the control had.
    pub(super) paired: Vec<u64>,
    /// Of the same instances, drawn independently of the control.
    pub(super) same: Vec<u64>,
}

impl ExperimentGroups {
    /// Returns whether no value is missing.
    pub(super) fn is_whole(&self, shape: &DrawShape) -> bool {
        let mut groups = [&self.control]
            .into_iter()
            .chain(&self.different)
            .chain(&self.same);
        groups.all(|group| {
            let rows = group.values.chunks_exact(shape.width).take(shape.instances);
            rows.flat_map(|row| &row[..shape.iterations])
                .all(|entry| *entry > 0)
        })
    }

    /// Returns the same with 1 for every value that is there and 0 for every other.
    pub(super) fn presence(&self) -> Self {
        let presence = |group: &LevelGroup| LevelGroup {
            values: group.values.iter().map(|it| sum_and_count(*it).1).collect(),
        };
        Self {
            control: presence(&self.control),
            different: self.different.as_ref().map(presence),
            same: self.same.as_ref().map(presence),
        }
    }
}

impl ReplicateSums {
    /// Returns the sums of every side.
    pub(super) fn each(&self) -> [&Vec<u64>; 4] {
        [&self.control, &self.different, &self.paired, &self.same]
    }

    /// Returns the sums of every side, to be changed.
    pub(super) fn each_mut(&mut self) -> [&mut Vec<u64>; 4] {
        [
            &mut self.control,
            &mut self.different,
            &mut self.paired,
            &mut self.same,
        ]
    }
}
