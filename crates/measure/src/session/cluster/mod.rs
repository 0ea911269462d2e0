//! Instances as jobs on a cluster.
//!
//! Each instance is a job that runs this same program on its node ([`measure_task`]), which measures it with the
//! local executor and writes records to a folder that all nodes share ([`SharedFolder`]). Without such a folder, the
//! task is in the script of the job, and its records are in what it prints ([`measure_packet`]). The client submits,
//! polls and collects ([`ClusterMeasurement`]). What differs between schedulers is behind [`JobScheduler`]; each has
//! its file.

mod attached;
mod collecting;
mod command;
mod endings;
mod folder;
mod heartbeat;
mod hosts;
mod measurement;
mod node;
mod packet;
mod programs;
mod scheduler;
mod script;
mod shares;
mod slurm;
mod slurm_text;
mod ssh;
mod tasks;

pub use folder::{SharedFolder, TaskPlace};
pub use heartbeat::is_client_gone;
pub use measurement::{
    ClusterMeasurement, ClusterSession, ClusterVisit, EXECUTOR, program_of, scheduler_of,
    shared_folder,
};
pub use node::{JobPlace, measure_packet, measure_task};
pub use scheduler::{JobBatch, JobError, JobReport, JobScheduler, JobState};
pub use script::job_script;
pub use shares::{ClusterShares, ShareBatch, ShareFiles};
pub use tasks::{node_of, nodes_of, tasks_of};
