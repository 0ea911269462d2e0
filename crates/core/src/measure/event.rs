//! Events of measuring, for any consumer.

use std::error::Error;

use super::schedule::InstancePlan;
use crate::model::Record;
use crate::suite::{Case, Plan, Variant};

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
    /// Measuring ended, by itself or by an interrupt.
    Ended,
}

/// Takes events: the terminal, the record file, the store.
pub trait Consumer {
    /// Takes one event.
    ///
    /// # Errors
    /// When nothing more can be kept; measuring stops then.
    fn take(&mut self, event: &Event<'_>) -> Result<(), Box<dyn Error + Send + Sync>>;
}
