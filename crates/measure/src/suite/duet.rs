//! Duets: two sides that are measured at the same time, each on its own cores (Bulej et al. 2020).

use serde::{Deserialize, Serialize};

use super::plan::Plan;

/// The processors of the two sides of a duet: no physical core is in both sets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuetCores {
    /// The first set, such as `0,1`.
    pub first: String,
    /// The second set, with as many physical cores.
    pub second: String,
}

/// One of the two sets of cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoreSet {
    /// The first.
    First,
    /// The second.
    Second,
}

impl CoreSet {
    /// Returns its name: `first`.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Second => "second",
        }
    }
}

impl DuetCores {
    /// Returns the processors of a set.
    pub fn of(&self, set: CoreSet) -> &str {
        match set {
            CoreSet::First => &self.first,
            CoreSet::Second => &self.second,
        }
    }
}

impl Plan {
    /// Returns the case and variant that a case and variant are measured together with; `None` without a duet.
    ///
    /// The sides are the two variants, or the two commands where nothing varies.
    pub fn duet_partner(&self, (case, variant): (usize, usize)) -> Option<(usize, usize)> {
        self.duet.as_ref()?;
        match (self.variants.len(), self.cases.len()) {
            (2, _) => Some((case, 1 - variant)),
            (1, 2) => Some((1 - case, variant)),
            _ => None,
        }
    }

    /// Returns the cores that a side of a duet has in a block. The sides swap them with each instance of a
    /// benchmark, so that a difference between the cores is none between the sides.
    pub fn core_set(&self, (case, variant): (usize, usize), block: u32) -> CoreSet {
        let blocks = self.cases.iter().map(|it| it.instances).max();
        let blocks = u64::from(blocks.unwrap_or(1).max(1));
        let instances = self.cases.get(case).map_or(0, |it| u64::from(it.instances));
        let earlier = u64::from(block) * instances / blocks;
        let is_second_side = if self.variants.len() == 2 {
            variant == 1
        } else {
            case == 1
        };
        if is_second_side == earlier.is_multiple_of(2) {
            CoreSet::Second
        } else {
            CoreSet::First
        }
    }
}
