//! Sessions: what is measured together, from its opening to the store.
//!
//! A [`SessionRequest`] says what is measured, how often and where; [`SessionRequest::plan`] makes a plan of it, and
//! [`PlannedSession::measure`] measures the plan. Every record goes to a file first and to the store soon after. What
//! a session takes from the program around it (places, clock, ids, requests to stop) is in [`SessionSurroundings`].
//!
//! Two commits of a repository, measured on a Slurm cluster:
//!
//! ```no_run
//! # use std::{path::Path, time::{Duration, Instant}};
//! # use jiff::Timestamp;
//! # use lapwing_measure::{Clock, RunEnd, session::*, suite::*};
//! # use lapwing_model::Id;
//! # use lapwing_record::Store;
//! struct SystemClock(Instant);
//! impl Clock for SystemClock {
//!     fn now(&self) -> Timestamp { Timestamp::now() }
//!     fn elapsed(&self) -> Duration { self.0.elapsed() }
//! }
//!
//! let store = Path::new("lapwing.db");
//! let surroundings = SessionSurroundings {
//!     store,
//!     places: &SessionPlaces::new("repository".into(), "/usr/bin/lapwing".into(), "/tmp".into()),
//!     clock: &SystemClock(Instant::now()),
//!     new_id: || Id::from(uuid::Uuid::now_v7()),
//!     interrupts: &Interrupts::default(),
//!     watch: &(),
//! };
//! let commands = AdHoc {
//!     commands: vec![CommandLine::Shell("./bench".to_owned())],
//!     ..AdHoc::default()
//! };
//! let request = SessionRequest {
//!     settings: Settings { instances: Some(10), ..Settings::default() },
//!     commits: Some(RequestedCommits { range: "HEAD~1..HEAD".to_owned(), every: 1 }),
//!     build: Some(CommandLine::Shell("make".to_owned())),
//!     cluster: Some(ClusterSettings::of(SchedulerSettings::Slurm(SlurmSettings::default()))),
//!     ..SessionRequest::new(RequestedBenchmarks::Commands(Box::new(commands)))
//! };
//! let planned = request.plan(&surroundings)?;
//! let measured = planned.measure(&request, Store::open(store)?, &surroundings, &mut ())?;
//! assert_eq!(measured.end, RunEnd::Complete);
//! # Ok::<(), SessionError>(())
//! ```

mod build_step;
mod checkouts;
pub mod cluster;
mod error;
mod journal;
mod kept_environments;
mod lock_digest;
mod looks;
mod machine;
mod open;
mod opened;
mod opening;
mod parts;
mod python_environments;
mod recorded_plan;
mod request;
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
pub use looks::{InstanceCounts, LookedMeasurement, measure_between_looks};
pub use machine::{MachineWatcher, ScratchFolder};
pub use open::{MeasuringParts, OpenMeasurement};
pub use opening::{SessionOpening, new_session, place_in};
pub use python_environments::{EnvironmentBuilds, PythonEnvironments};
pub use recorded_plan::recorded_plan;
pub use request::{
    BenchmarkSelection, MeasuredSession, PlannedSession, RequestedBenchmarks, RequestedCommits,
    SessionRequest,
};
pub use surroundings::{
    Interrupts, SessionPlaces, SessionRemark, SessionSurroundings, SessionWatch,
};
pub use tests_of_suite::tests_of;
pub use worktrees::remove_killed_checkouts;
