//! What a session takes from the program around it: places, clock, ids, interrupts.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use lapwing_model::Id;
use lapwing_record::private::{PrivacyRules, RecordCleaner};

use super::SessionError;
use crate::local::{Interrupter, LauncherOptions, LocalExecutor, available_cpus};
use crate::suite::Plan;
use crate::{Clock, DistrustedRepository, RunError};

/// The program around a session.
#[derive(Clone, Copy)]
pub struct SessionSurroundings<'a> {
    /// The store that keeps the session.
    pub store: &'a Path,
    /// The places of the machine.
    pub places: &'a SessionPlaces,
    /// The clock of records.
    pub clock: &'a dyn Clock,
    /// Makes an id.
    pub new_id: fn() -> Id,
    /// Requests to stop.
    pub interrupts: &'a Interrupts,
    /// Receives remarks, and answers questions.
    pub watch: &'a dyn SessionWatch,
}

impl fmt::Debug for SessionSurroundings<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("SessionSurroundings");
        text.field("store", &self.store).finish_non_exhaustive()
    }
}

/// The places of a machine that a session needs.
#[derive(Debug, Clone)]
pub struct SessionPlaces {
    /// The working directory.
    pub directory: PathBuf,
    /// The program that starts measured commands: `lapwing-launcher`, or `lapwing` itself.
    pub launcher: PathBuf,
    /// `lapwing` itself, which jobs call on their nodes.
    pub program: PathBuf,
    /// Its name and version, as sessions record it.
    pub tool: String,
    /// Folders for commits and Python environments; the first one that is usable is taken.
    pub caches: Vec<PathBuf>,
    /// Folders for what is kept of a user; the first one that is usable is taken.
    pub states: Vec<PathBuf>,
    /// The folder of temporary files.
    pub temporary: PathBuf,
    /// The home folder, which records call `~`.
    pub home: Option<String>,
    /// The folders of programs, as in `$PATH`.
    pub search_path: OsString,
    /// The environment variables that commands inherit.
    pub variables: Vec<(OsString, OsString)>,
}

impl SessionPlaces {
    /// Returns the places of a program that measures in a directory by this `lapwing`, on its own nodes too.
    pub fn new(directory: PathBuf, lapwing: PathBuf, temporary: PathBuf) -> Self {
        Self {
            directory,
            launcher: lapwing.with_file_name("lapwing-launcher"),
            program: lapwing,
            tool: concat!("lapwing ", env!("CARGO_PKG_VERSION")).to_owned(),
            caches: vec![temporary.join("lapwing")],
            states: vec![temporary.join("lapwing")],
            temporary,
            home: None,
            search_path: OsString::new(),
            variables: Vec::new(),
        }
    }

    /// Returns the name of a benchmark or variant as records have it.
    pub(crate) fn clean_name(&self, name: &str) -> String {
        let home = self.home.clone();
        let rules = PrivacyRules {
            home,
            ..PrivacyRules::default()
        };
        RecordCleaner::new(rules, Vec::new()).clean_name(name)
    }

    /// Returns whether there is such a program.
    pub fn has_program(&self, name: &str) -> bool {
        self.program(name).is_some()
    }

    /// Returns the path of a program as a shell in the working directory finds it; links stay.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        if name.contains('/') {
            return Some(self.directory.join(name)).filter(|it| it.is_file());
        }
        let mut folders = std::env::split_paths(&self.search_path);
        folders.find_map(|folder| Some(folder.join(name)).filter(|it| it.is_file()))
    }
}

/// Receives remarks of a session, and answers its questions.
pub trait SessionWatch {
    /// Receives a remark.
    fn remark(&self, remark: SessionRemark);

    /// Answers, after an interrupt, whether these jobs are to be cancelled. Otherwise they stay in the queue.
    fn cancels_jobs(&self, jobs: usize) -> bool;
}

/// Passes over remarks, and cancels jobs.
impl SessionWatch for () {
    fn remark(&self, _remark: SessionRemark) {}

    fn cancels_jobs(&self, _jobs: usize) -> bool {
        true
    }
}

/// Something that people may want to know while a session is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionRemark {
    /// A commit or the working tree (`None`) is being built.
    Building {
        /// The commit.
        label: Option<String>,
    },
    /// The Python environment of a variant is being built.
    BuildingEnvironment {
        /// The variant.
        variant: String,
    },
    /// Jobs do parts of an analysis.
    Sharing {
        /// What they do: `simulating`.
        doing: &'static str,
        /// Their number.
        jobs: usize,
    },
    /// Each benchmark is profiled once.
    Profiling {
        /// The folder of the profiles.
        folder: PathBuf,
    },
    /// No version is recorded, because Git does not read the repository.
    NoVersion(DistrustedRepository),
    /// The session cannot be resumed, because its plan has a text that is not kept.
    NotResumable {
        /// The kind of the text.
        what: String,
    },
    /// A commit or variant is not measured.
    NotMeasured {
        /// What it is known by.
        label: String,
        /// The reason.
        reason: String,
    },
    /// The environments of two variants do not have the same tests.
    OtherTests {
        /// The variants.
        variants: [String; 2],
        /// The tests that only one of them has.
        tests: Vec<String>,
    },
    /// Something that the runner noticed.
    Note(String),
    /// The store cannot be written to, and a record file is.
    StoreFailed {
        /// The error of the store.
        error: String,
    },
    /// Jobs were left in the queue.
    JobsLeft {
        /// Their number.
        jobs: usize,
        /// Whether they could have been cancelled.
        can_cancel: bool,
    },
    /// Jobs were cancelled.
    JobsCancelled {
        /// Their number.
        jobs: usize,
    },
    /// The scheduler did not answer when jobs were to be cancelled.
    JobsUnknown {
        /// Their number.
        jobs: usize,
        /// The error.
        error: String,
    },
    /// Jobs of an analysis could not be cancelled.
    JobsNotCancelled {
        /// Their number.
        jobs: usize,
    },
}

/// Requests to stop, such as Ctrl-C: counted, and passed on to the executors that measure. Clones share their count.
#[derive(Debug, Clone, Default)]
pub struct Interrupts(Arc<InterruptState>);

#[derive(Debug, Default)]
struct InterruptState {
    count: AtomicUsize,
    executors: Mutex<Vec<Interrupter>>,
}

impl Interrupts {
    /// Returns the number of requests so far.
    pub fn count(&self) -> usize {
        self.0.count.load(Ordering::SeqCst)
    }

    /// Requests the end of what is measured.
    pub fn interrupt(&self) {
        self.0.count.fetch_add(1, Ordering::SeqCst);
        self.executors().iter().for_each(Interrupter::interrupt);
    }

    /// Passes on requests to these executors alone.
    pub fn watch<'e>(&self, executors: impl IntoIterator<Item = &'e LocalExecutor>) {
        let executors = executors.into_iter().map(LocalExecutor::interrupter);
        *self.executors() = executors.collect();
    }

    fn executors(&self) -> MutexGuard<'_, Vec<Interrupter>> {
        let executors = self.0.executors.lock();
        executors.unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionSurroundings<'_> {
    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Passes on a remark.
    pub(crate) fn remark(&self, remark: SessionRemark) {
        self.watch.remark(remark);
    }

    /// Starts the executor of the process that measures.
    ///
    /// # Errors
    /// If processors of the plan do not exist, or commands cannot be executed.
    pub fn start_executor(&self, plan: &Plan) -> Result<LocalExecutor, SessionError> {
        for variant in &plan.variants {
            if let Some(Err(reason)) = variant.cpus.as_deref().map(available_cpus) {
                let variant = variant.name.clone();
                let reason = reason.to_string();
                return Err(SessionError::Processors { variant, reason });
            }
        }
        let cpus = match &plan.duet {
            Some(cores) => Some(cores.first.clone()),
            None => plan.cpus.clone(),
        };
        self.launch(cpus)
    }

    /// Starts the executor of the second side of a duet.
    pub(crate) fn start_second_executor(
        &self,
        plan: &Plan,
    ) -> Result<Option<LocalExecutor>, SessionError> {
        let cores = plan.duet.as_ref();
        let cores = cores.map(|cores| self.launch(Some(cores.second.clone())));
        cores.transpose()
    }

    /// Starts an executor on these processors, or on all.
    ///
    /// # Errors
    /// If commands cannot be executed.
    pub fn launch(&self, cpus: Option<String>) -> Result<LocalExecutor, SessionError> {
        let launched = LocalExecutor::start(&LauncherOptions {
            program: self.places.launcher.clone(),
            cpus,
            environment: self.places.variables.clone(),
        });
        Ok(launched.map_err(RunError::from)?)
    }
}
