//! `lapwing cluster-share`: what a job of a simulation does, and the file of the experiments that it makes.
//!
//! It calls the same command again, which leaves out the experiments of other jobs and writes its own to the shared
//! folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use lapwing_analyse::judge::{ExperimentSource, ExperimentTask, SharedSource};
use lapwing_measure::session::cluster::{SharedFolder, TaskPlace};
use lapwing_stats::{Bounds, Configuration, Experiments};
use serde::{Deserialize, Serialize};

use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::session::TOOL;
use crate::terminal::Terminal;

/// Simulate one share, as a job of a cluster
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

/// The tasks of an array, each a share of a simulation.
#[derive(Debug, Serialize, Deserialize)]
pub struct ShareBatch {
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The command to call.
    pub arguments: Vec<String>,
    pub directory: PathBuf,
    /// The numbers of the shares.
    pub shares: Vec<u64>,
    /// The number of all shares.
    pub of: u64,
}

/// The share of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobShare {
    pub number: u64,
    pub of: u64,
    /// The copy of the store.
    store: PathBuf,
    /// The file of its experiments.
    output: PathBuf,
}

/// The copy of the store in a shared folder.
pub fn store_copy(folder: &SharedFolder) -> PathBuf {
    folder.path().join("store.db")
}

impl ClusterShareCommand {
    /// Calls the command with its share.
    pub fn act(self) -> Result<ExitStatus, CliError> {
        let folder = SharedFolder::open(&self.folder);
        let batch: ShareBatch = folder.batch(self.batch)?;
        if batch.tool != TOOL {
            return Err(CliError::input(format!(
                "this program is {TOOL}, and the simulation is {}'s",
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
            number: *number,
            of: batch.of,
            store: store_copy(&folder),
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

    /// Returns the context of the job.
    pub fn context(&self) -> Context {
        Context {
            store: self.store.clone(),
            store_is_copy: true,
            quiet: true,
            verbose: false,
            terminal: Terminal::new(false),
            machine: crate::session::Machine::new(),
        }
    }

    /// Makes the experiments of this share among all tasks, or all of those that are asked for, and writes them to its
    /// file.
    pub fn open(&self, unit: ShareUnit) -> io::Result<ShareWriter> {
        let own = match unit {
            ShareUnit::Tasks => Some((self.number, self.of)),
            ShareUnit::Benchmarks => None,
        };
        let file = File::create(&self.output)?;
        Ok(ShareWriter(Arc::new(OpenShareFile {
            own,
            state: Mutex::new((file, Ok(()))),
        })))
    }

    /// Returns whether the benchmark with this number belongs to the share.
    pub fn has_benchmark(&self, number: u64) -> bool {
        number % self.of == self.number
    }
}

/// How a simulation is divided into shares.
#[derive(Debug, Clone, Copy)]
pub enum ShareUnit {
    /// Tasks of the simulations of each benchmark.
    Tasks,
    /// Whole benchmarks, where a simulation decides on the next one.
    Benchmarks,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
enum ShareLine {
    Made(MadeExperiments),
    /// There are no more.
    End,
}

/// Experiments in the file.
#[derive(Serialize, Deserialize)]
struct MadeExperiments {
    key: String,
    instances: usize,
    iterations: usize,
    /// The bits of the lower and upper bounds, in turn, by method and strategy: JSON has no infinity.
    bounds: [[Vec<u64>; 2]; 3],
}

impl MadeExperiments {
    fn of(key: &str, made: &Experiments) -> Self {
        let bits = |bounds: &Vec<Bounds>| {
            let ends = bounds.iter().flat_map(|it| [it.lower, it.upper]);
            ends.map(f64::to_bits).collect()
        };
        Self {
            key: key.to_owned(),
            instances: made.configuration.instances,
            iterations: made.configuration.iterations,
            bounds: made
                .all_bounds()
                .each_ref()
                .map(|it| it.each_ref().map(bits)),
        }
    }

    fn experiments(&self) -> Experiments {
        let bounds = |bits: &Vec<u64>| {
            let of = |ends: &[u64; 2]| Bounds {
                lower: f64::from_bits(ends[0]),
                upper: f64::from_bits(ends[1]),
            };
            bits.as_chunks::<2>().0.iter().map(of).collect()
        };
        let configuration = Configuration {
            instances: self.instances,
            iterations: self.iterations,
        };
        let all = self.bounds.each_ref().map(|it| it.each_ref().map(bounds));
        Experiments::of_bounds(configuration, all)
    }
}

/// Writes the experiments of a share.
pub struct ShareWriter(Arc<OpenShareFile>);

struct OpenShareFile {
    /// The number of the share and of all shares, if others make the other tasks.
    own: Option<(u64, u64)>,
    /// The file, and the first failure to write to it.
    state: Mutex<(File, io::Result<()>)>,
}

impl ShareWriter {
    pub fn source(&self) -> SharedSource {
        SharedSource(Arc::<OpenShareFile>::clone(&self.0))
    }

    /// Ends the file.
    pub fn finish(&self) -> io::Result<()> {
        self.0.write(&ShareLine::End);
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut state.1, Ok(()))
    }
}

impl OpenShareFile {
    fn write(&self, line: &ShareLine) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, written) = &mut *state;
        if written.is_ok() {
            let text = serde_json::to_string(line).map_err(io::Error::from);
            *written = text.and_then(|text| file.write_all(format!("{text}\n").as_bytes()));
        }
    }
}

impl ExperimentSource for OpenShareFile {
    fn experiments(&self, task: &ExperimentTask, make: &dyn Fn() -> Experiments) -> Experiments {
        if self
            .own
            .is_some_and(|(number, of)| task.number % of != number)
        {
            return Experiments::of_bounds(task.configuration, Default::default());
        }
        let made = make();
        self.write(&ShareLine::Made(MadeExperiments::of(&task.key, &made)));
        made
    }
}

/// Reads what a job has written until now into `known`. Returns whether it is complete.
pub fn read_share(path: &Path, known: &mut BTreeMap<String, Experiments>) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    for line in text.lines() {
        match serde_json::from_str(line) {
            Ok(ShareLine::Made(made)) => {
                known.insert(made.key.clone(), made.experiments());
            }
            Ok(ShareLine::End) => return true,
            // The job was ended while it wrote.
            Err(_cut_off) => return false,
        }
    }
    false
}
