//! Executes commands on this machine.
//!
//! Commands are not started by the program itself but by a small helper process,
//! the launcher: on exec the kernel takes the resident size of the process as it
//! was before exec into the peak memory of the new program, so that a program that
//! is started by a large one seems large itself. The launcher is the program
//! `lapwing-launcher`, else this one started anew; it serves one execution after another over a
//! socket pair that is its standard input.
//!
//! What is measured how is written in `docs/measuring.md`.

use std::time::Duration;

mod abilities;
mod capture;
mod cgroup;
mod cgroup_limits;
mod child;
mod client;
mod confine;
mod cores;
mod counters;
mod cpus;
mod file_rules;
mod guard;
mod isolation;
mod isolator;
mod launcher;
mod leftovers;
mod own_root;
mod processes;
mod protocol;
mod secrecy;
mod sys;
mod tail;

pub use abilities::{Abilities, Ability, IsolationPart};
pub use client::{Interrupter, LauncherOptions, LocalExecutor};
pub use confine::signals_can_be_kept;
pub use cores::{CoresError, duet_cores};
pub use cpus::{CpusError, available_cpus, parse_cpus};
pub use launcher::{LAUNCHER_ARGUMENT, serve_as_launcher};
pub use processes::{ProcessUsage, watch_processes};
pub use secrecy::hide_from_children;

/// A process that is asked to end by SIGTERM has this long before it gets SIGKILL.
pub const GRACE: Duration = Duration::from_secs(1);
