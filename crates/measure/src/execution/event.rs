//! Events of measuring, for any consumer.

use std::collections::BTreeSet;
use std::error::Error;

use super::schedule::InstancePlan;
use crate::suite::{Case, Plan, Variant};
use lapwing_model::Record;

/// Something that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// Measuring begins: this many instances are left.
    Started {
        /// What is to be measured.
        plan: &'a Plan,
        /// How many instances are left.
        instances: usize,
    },
    /// An instance begins. Its record comes right before; that of a test comes with its iterations, when pytest has
    /// ended.
    InstanceStarted {
        /// Its place in the schedule.
        planned: InstancePlan,
        /// What is measured.
        case: &'a Case,
        /// In which setting.
        variant: &'a Variant,
    },
    /// Something is to be kept.
    Record(&'a Record),
    /// Something deserves attention and is not worth stopping for.
    Note(String),
    /// Instances are jobs on a cluster, and this is their state now.
    Jobs(&'a JobCounts),
    /// Measuring ended, by itself or by an interrupt.
    Ended,
}

/// The numbers of instances by state, where they are jobs on a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// They wait for a node.
    pub queued: usize,
    /// They are being measured.
    pub running: usize,
    /// They are measured, whether or not their benchmark failed.
    pub done: usize,
    /// They are lost and not tried again.
    pub lost: usize,
    /// They were lost and tried again.
    pub resubmitted: usize,
    /// The nodes of those that are being measured.
    pub nodes: BTreeSet<String>,
}

/// Takes events: the terminal, the record file, the store.
pub trait Consumer {
    /// Takes one event.
    ///
    /// # Errors
    /// When nothing more can be kept; measuring stops then.
    fn take(&mut self, event: &Event<'_>) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// Passes over every event.
impl Consumer for () {
    fn take(&mut self, _event: &Event<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }
}
