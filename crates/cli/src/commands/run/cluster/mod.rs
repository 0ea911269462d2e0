//! `lapwing run --executor slurm`, and what its jobs call: options, previews, and the jobs of analyses.

mod options;
mod packet;
mod preview;
mod shares;
mod simulation;
mod task;

pub use options::ClusterOptions;
pub use packet::ClusterPacketCommand;
pub use preview::preview;
pub use shares::{ClusterShareCommand, JobShare, ShareUnit};
pub use simulation::{ShareJobs, SimulationStart};
pub use task::ClusterTaskCommand;
