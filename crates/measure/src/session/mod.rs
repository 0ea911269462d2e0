//! Sessions: what is measured together, from its opening to the store.
//!
//! [`MeasuringParts::all`] opens a session, in which any number of schedules are measured ([`OpenMeasurement::visit`]); every record goes
//! to a file first and to the store soon after. What a session takes from the program around it is in [`SessionSurroundings`].

mod build_step;
mod checkouts;
pub mod cluster;
mod error;
mod journal;
mod lock_digest;
mod machine;
mod open;
mod opening;
mod python_environments;
pub mod resume;
mod surroundings;
mod tests_of_suite;
mod worktrees;

pub use build_step::{BuildResult, build_with_log};
pub use checkouts::{
    CommitCheckouts, NOT_BUILT, NOT_CHECKED_OUT, NOT_INSTALLED, commits_between, repository,
};
pub use error::SessionError;
pub use lock_digest::{lock_digest, normal_name};
pub use machine::{MachineWatcher, ScratchFolder};
pub use open::{MeasuringParts, OpenMeasurement};
pub use opening::{SessionOpening, new_session, place_in};
pub use python_environments::PythonEnvironments;
pub use surroundings::{
    Interrupts, SessionPlaces, SessionRemark, SessionSurroundings, SessionWatch,
};
pub use tests_of_suite::tests_of;
