//! `lapwing cluster-share`: the work of a job of a simulation or a search.
//!
//! It calls the same command again, which leaves out the experiments of other jobs and writes its own to the shared
//! folder. A job of `detect` reads its series from there.

use lapwing_show::writing::AnswerFormat;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Args;
use lapwing_analyse::detect::search_file;
use lapwing_analyse::judge::{ExperimentShare, ExperimentWriter};
use lapwing_measure::session::cluster::{ShareBatch, SharedFolder, TaskPlace, is_client_gone};
use serde::{Deserialize, Serialize};

use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::session::TOOL;

/// The time between two looks for the client.
const BETWEEN_LOOKS: Duration = Duration::from_secs(10);
/// The time between two attempts to remove its folder.
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

/// Do one share of an analysis, as a job of a cluster
#[derive(Debug, Args)]
#[command(hide = true)]
pub struct ClusterShareCommand {
    /// The folder that the nodes share
    folder: PathBuf,
    /// The number of the batch
    batch: u32,
    /// The number of the task in it
    index: usize,
}

/// The share of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobShare {
    /// The share among all tasks or benchmarks.
    pub share: ExperimentShare,
    /// The copy of the store.
    store: PathBuf,
    /// The file of its series.
    work: PathBuf,
    /// The file of what it makes or finds.
    output: PathBuf,
}

impl ClusterShareCommand {
    /// Calls the command with its share.
    pub fn act(self) -> Result<ExitStatus, CliError> {
        let folder = SharedFolder::open(&self.folder);
        let batch: ShareBatch = folder.batch(self.batch)?;
        if batch.tool != TOOL {
            return Err(CliError::input(format!(
                "this program is {TOOL}, and the client is {}",
                batch.tool
            ))
            .hint("name the same program with `program` under [executor.slurm]"));
        }
        let number = batch.shares.get(self.index).ok_or_else(|| {
            CliError::input(format!("batch {} has no task {}", self.batch, self.index))
        })?;
        let place = TaskPlace {
            batch: self.batch,
            index: self.index,
        };
        let share = JobShare {
            share: ExperimentShare {
                number: *number,
                of: batch.of,
            },
            store: ShareBatch::store(&folder),
            work: ShareBatch::work(&folder, *number),
            output: folder.records(place),
        };
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(&batch.arguments)
            .arg(format!("--share={}", serde_json::to_string(&share)?))
            .current_dir(&batch.directory);
        // Where Slurm does not bind processes to the processors of the job, it only counts them.
        if let Ok(cpus) = std::env::var("SLURM_CPUS_ON_NODE") {
            command.env("RAYON_NUM_THREADS", cpus);
        }
        // It returns only if that fails.
        Err(CliError::input(command.exec()))
    }
}

impl JobShare {
    /// Returns the share that an argument describes.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Returns the context of the job, whose experiments are for an answer in the same format.
    pub fn context(&self, format: AnswerFormat) -> Context {
        Context {
            store_is_copy: true,
            ..Context::quiet(self.store.clone(), format)
        }
    }

    /// Makes the experiments of this share among all tasks, or all of those that are asked for, and writes them to its
    /// file.
    pub fn open(&self, unit: ShareUnit) -> io::Result<Arc<ExperimentWriter>> {
        self.end_with_client();
        let share = match unit {
            ShareUnit::Tasks => Some(self.share),
            ShareUnit::Benchmarks => None,
        };
        ExperimentWriter::create(&self.output, share)
    }

    /// Makes the searches of this share.
    pub fn search(&self) -> io::Result<()> {
        self.end_with_client();
        search_file(&self.work, &self.output)
    }
}

impl JobShare {
    /// Ends this process when the client is gone, and removes its folder.
    fn end_with_client(&self) {
        let (Some(name), Some(folder)) = (
            self.output.file_stem().map(OsStr::to_owned),
            self.output.ancestors().nth(2).map(Path::to_owned),
        ) else {
            return;
        };
        let own = format!("alive-{}", name.to_string_lossy());
        thread::spawn(move || {
            let mut tries = 20;
            // What cannot be told now may be told later.
            while !is_client_gone(&folder, &own).unwrap_or(false) {
                thread::sleep(BETWEEN_LOOKS);
            }
            // Other jobs do the same, and may just have written something.
            while fs::remove_dir_all(&folder).is_err() && folder.exists() && tries > 0 {
                tries -= 1;
                thread::sleep(BETWEEN_TRIES);
            }
            process::exit(i32::from(ExitStatus::Interrupted.number()));
        });
    }
}

/// The unit in which a simulation is divided into shares.
#[derive(Debug, Clone, Copy)]
pub enum ShareUnit {
    /// Tasks of the simulations of each benchmark.
    Tasks,
    /// Whole benchmarks, where a simulation decides on the next one.
    Benchmarks,
}
