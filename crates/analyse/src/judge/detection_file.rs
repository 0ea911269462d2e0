//! Files of experiments: what one process makes of a simulation, others read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lapwing_stats::{Bounds, Configuration, Experiments};
use serde::{Deserialize, Serialize};

use super::detection_source::{ExperimentSource, ExperimentTask};

/// The share of a process in the tasks of a simulation.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ExperimentShare {
    /// Its number.
    pub number: u64,
    /// The number of all shares.
    pub of: u64,
}

impl ExperimentShare {
    /// Returns whether the task or benchmark with this number belongs to the share.
    pub fn has(self, number: u64) -> bool {
        number % self.of == self.number
    }
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
enum ExperimentLine {
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
    fn new(key: &str, made: &Experiments) -> Self {
        let bits = |bounds: &Vec<Bounds>| {
            let ends = bounds.iter().flat_map(|it| [it.lower, it.upper]);
            ends.map(f64::to_bits).collect()
        };
        let bounds = made.all_bounds().each_ref();
        Self {
            key: key.to_owned(),
            instances: made.configuration.instances,
            iterations: made.configuration.iterations,
            bounds: bounds.map(|strategies| strategies.each_ref().map(bits)),
        }
    }

    fn experiments(&self) -> Experiments {
        let bounds = |bits: &Vec<u64>| {
            let ends = bits.as_chunks::<2>().0.iter();
            let bounds = ends.map(|[lower, upper]| Bounds {
                lower: f64::from_bits(*lower),
                upper: f64::from_bits(*upper),
            });
            bounds.collect()
        };
        let configuration = Configuration {
            instances: self.instances,
            iterations: self.iterations,
        };
        let all = self.bounds.each_ref();
        let all = all.map(|strategies| strategies.each_ref().map(bounds));
        Experiments::of_bounds(configuration, all)
    }
}

/// Makes experiments, and writes them to a file.
pub struct ExperimentWriter {
    /// The share in the tasks; `None` if all that are asked for are made.
    share: Option<ExperimentShare>,
    /// The file, and the first failure to write to it.
    state: Mutex<(File, io::Result<()>)>,
}

impl ExperimentWriter {
    /// Creates the file, for a share of the tasks or for all that are asked for.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn create(path: &Path, share: Option<ExperimentShare>) -> io::Result<Arc<Self>> {
        let state = Mutex::new((File::create(path)?, Ok(())));
        Ok(Arc::new(Self { share, state }))
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// Returns the first error of writing.
    pub fn finish(&self) -> io::Result<()> {
        self.write(&ExperimentLine::End);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut state.1, Ok(()))
    }

    fn write(&self, line: &ExperimentLine) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, written) = &mut *state;
        if written.is_ok() {
            let text = serde_json::to_string(line).map_err(io::Error::from);
            *written = text.and_then(|text| file.write_all(format!("{text}\n").as_bytes()));
        }
    }
}

impl ExperimentSource for ExperimentWriter {
    fn experiments(&self, task: &ExperimentTask, make: &dyn Fn() -> Experiments) -> Experiments {
        if self.share.is_some_and(|share| !share.has(task.number)) {
            return Experiments::of_bounds(task.configuration, Default::default());
        }
        let made = make();
        self.write(&ExperimentLine::Made(MadeExperiments::new(
            &task.key, &made,
        )));
        made
    }
}

/// Experiments that other processes made; those that are missing are made here.
#[derive(Default)]
pub struct KnownExperiments {
    known: BTreeMap<String, Experiments>,
    missed: AtomicUsize,
}

impl KnownExperiments {
    /// Reads what a process has written until now. Returns whether it is complete.
    pub fn read(&mut self, path: &Path) -> bool {
        let text = fs::read_to_string(path).unwrap_or_default();
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(ExperimentLine::Made(made)) => {
                    self.known.insert(made.key.clone(), made.experiments());
                }
                Ok(ExperimentLine::End) => return true,
                // The process was ended while it wrote.
                Err(_cut_off) => return false,
            }
        }
        false
    }

    /// Returns the number of tasks that were missing.
    pub fn missed(&self) -> usize {
        self.missed.load(Ordering::Relaxed)
    }
}

impl ExperimentSource for KnownExperiments {
    fn experiments(&self, task: &ExperimentTask, make: &dyn Fn() -> Experiments) -> Experiments {
        self.known.get(&task.key).cloned().unwrap_or_else(|| {
            self.missed.fetch_add(1, Ordering::Relaxed);
            make()
        })
    }
}
