//! Plan documents: how often each benchmark is to be measured, as files that people keep
//! (`docs/plan.md`).

mod assign;
mod error;
mod read;
#[cfg(test)]
mod tests;
mod tree;
mod write;

use std::path::Path;

use lapwing_record::files::{LONGEST_SETTINGS, read_named};

pub use assign::{PlanAssignment, UnmatchedItem, UnmatchedReason};
pub use error::{EntryName, PlanDocumentError};
pub use read::{ReadPlan, RepeatedItem};
pub use write::PlanFlavour;

/// How often each benchmark is to be measured.
///
/// ```
/// # use std::path::Path;
/// use lapwing_measure::suite::{PlanDocument, PlanFlavour};
///
/// let text = "- {item: 'a::b', burn_in: 3, config: [{slowdown: 1.1, instances: 10, iterations: 5}]}";
/// let plan = PlanDocument::parse(Path::new("plan.yaml"), text)?.document;
/// assert_eq!(plan.entries[0].first().map(|it| it.instances), Some(10));
/// assert!(plan.text(PlanFlavour::HailBatch).starts_with("- item: a::b\n  burn-in-iterations: 3\n"));
/// # Ok::<(), lapwing_measure::suite::PlanDocumentError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanDocument {
    /// The benchmarks, each once, in the order of the file.
    pub entries: Vec<PlanEntry>,
}

/// How often one benchmark is to be measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanEntry {
    /// The benchmark: its id, or what follows the last `::` of it.
    pub item: String,
    /// The iterations before those that count.
    pub burn_in: u32,
    /// The mean time of one iteration in seconds, finite and not negative; `None` where the
    /// file has none.
    pub mean: Option<f64>,
    /// The standard deviation of all iterations of all instances, relative to `mean`, finite and
    /// not negative; `None` where the file has none.
    pub cv: Option<f64>,
    /// What may be measured, at least one; the first is.
    pub configurations: Vec<PlanConfiguration>,
}

/// How many instances and iterations detect which slowdown.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanConfiguration {
    /// The slowdown that it is chosen for, finite and above 1: 1.05 for 5 %.
    pub slowdown: f64,
    /// How many instances, at least 1.
    pub instances: u32,
    /// How many iterations that count in each of them, at least 1.
    pub iterations: u32,
}

impl PlanDocument {
    /// Reads a plan, YAML or JSON.
    ///
    /// # Errors
    /// When the file cannot be read, or with the first place in it that is wrong.
    pub fn load(path: &Path) -> Result<ReadPlan, PlanDocumentError> {
        let text =
            read_named(path, LONGEST_SETTINGS).map_err(|source| PlanDocumentError::Read {
                path: path.to_owned(),
                source,
            })?;
        Self::parse(path, &text)
    }
}

impl PlanEntry {
    /// Returns the configuration that is measured: always the first, as Hail does it.
    pub fn first(&self) -> Option<&PlanConfiguration> {
        self.configurations.first()
    }
}
