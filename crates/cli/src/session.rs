//! What the program gives to the sessions of the library: places, clock, ids, signals, the terminal.

use std::env;
use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use lapwing_measure::session::{
    Interrupts, MeasuringParts, OpenMeasurement, SessionOpening, SessionPlaces, SessionRemark,
    SessionSurroundings, SessionWatch,
};
use lapwing_measure::{Clock, Consumer, DistrustedRepository, RunEnd, RunError};
use lapwing_model::Id;
use lapwing_model::text::{counted, first_names};
use lapwing_record::Store;

use crate::error::{CliError, ExitStatus};
use crate::hints::distrust_hint;
use crate::options::Context;
use crate::temporary;

/// The name and version of this program, as sessions record it.
pub const TOOL: &str = concat!("lapwing ", env!("CARGO_PKG_VERSION"));

/// The clocks of the operating system, and the places of this machine.
#[derive(Debug)]
pub struct Machine {
    start: Instant,
    places: SessionPlaces,
}

impl Machine {
    /// Returns this machine, as the environment describes it.
    pub fn new() -> Self {
        let program = env::current_exe().unwrap_or_else(|_gone| PathBuf::from("/proc/self/exe"));
        Self {
            start: Instant::now(),
            places: SessionPlaces {
                directory: working_directory(),
                launcher: crate::launcher_program(),
                program,
                tool: TOOL.to_owned(),
                caches: own_folders("XDG_CACHE_HOME", ".cache"),
                states: own_folders("XDG_STATE_HOME", ".local/state"),
                temporary: env::temp_dir(),
                home: home_folder(),
                search_path: env::var_os("PATH").unwrap_or_default(),
                variables: env::vars_os().collect(),
            },
        }
    }

    /// Returns the places.
    pub fn places(&self) -> &SessionPlaces {
        &self.places
    }
}

impl Clock for Machine {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// Returns the working directory; the root if it is gone.
pub fn working_directory() -> PathBuf {
    env::current_dir().unwrap_or_else(|_gone| PathBuf::from("/"))
}

/// Returns the home folder that paths here begin with: of the working directory, or of the user.
pub fn home_folder() -> Option<String> {
    let here = working_directory();
    let mut parts = here.components().skip(1);
    let of_here = match (parts.next(), parts.next()) {
        (Some(homes), Some(_)) if homes.as_os_str() == "home" || homes.as_os_str() == "Users" => {
            here.ancestors().nth(here.components().count() - 3)
        }
        _ => None,
    };
    let home = of_here
        .map(Path::to_owned)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?)));
    let home = home?.to_str()?.trim_end_matches('/').to_owned();
    home.starts_with('/').then_some(home)
}

/// Returns the folders for files of a kind: that of the user, which a variable or its place in the home folder names, and
/// one of temporary files.
fn own_folders(name: &str, in_home: &str) -> Vec<PathBuf> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from);
    let own = variable(name).filter(|it| it.is_absolute());
    let own = own.or_else(|| Some(variable("HOME")?.join(in_home)));
    let user = rustix::process::geteuid().as_raw();
    // Other users can create folders there too, whose files must not be executed.
    let shared = env::temp_dir().join(format!("lapwing-{user}"));
    let own = own.map(|it| it.join("lapwing"));
    own.into_iter().chain([shared]).collect()
}

/// Returns a new id.
pub fn new_id() -> Id {
    Id::from(uuid::Uuid::now_v7())
}

/// Returns the signals to stop, such as Ctrl-C, that this process received.
pub fn interrupts() -> &'static Interrupts {
    static INTERRUPTS: OnceLock<Interrupts> = OnceLock::new();
    INTERRUPTS.get_or_init(Interrupts::default)
}

/// Whether signals end what is measured, and not this process.
static MEASURES: AtomicBool = AtomicBool::new(false);

/// Lets signals such as Ctrl-C end what is measured, and not this process.
pub fn catch_signals() -> Result<(), CliError> {
    handle_signals()?;
    MEASURES.store(true, Ordering::SeqCst);
    Ok(())
}

/// Lets signals such as Ctrl-C remove the temporary folders of this process before they end it.
pub fn handle_signals() -> Result<(), CliError> {
    static IS_HANDLED: OnceLock<()> = OnceLock::new();
    // A study may have several measurements, one after the other.
    if IS_HANDLED.set(()).is_err() {
        return Ok(());
    }
    let handler = || {
        if MEASURES.load(Ordering::SeqCst) {
            interrupts().interrupt();
        } else {
            temporary::remove_all();
            process::exit(i32::from(ExitStatus::Interrupted.number()));
        }
    };
    ctrlc::set_handler(handler)
        .map_err(|error| CliError::input(error).hint("another signal handler is in the way"))
}

impl Context {
    /// Returns what a session takes from this program.
    pub fn surroundings(&self) -> SessionSurroundings<'_> {
        SessionSurroundings {
            store: &self.store,
            places: self.machine.places(),
            clock: &self.machine,
            new_id,
            interrupts: interrupts(),
            watch: self,
        }
    }
}

/// Opens a session, lets `work` measure until it is done or a signal ends it, and returns how that ended, with the
/// store.
pub fn measure<'a>(
    parts: MeasuringParts<'a>,
    opening: SessionOpening,
    watcher: &mut dyn Consumer,
    work: impl FnOnce(&mut OpenMeasurement<'_, 'a, '_>) -> Result<RunEnd, RunError>,
) -> Result<(RunEnd, Store), CliError> {
    catch_signals()?;
    Ok(parts.all(opening, watcher, work)?)
}

impl SessionWatch for Context {
    fn remark(&self, remark: SessionRemark) {
        let terminal = &self.terminal;
        match remark {
            SessionRemark::Building { label } if !self.quiet => {
                let label = label.as_deref().unwrap_or("the working tree");
                terminal.say(&format!("building {label}"));
            }
            SessionRemark::BuildingEnvironment { variant } if !self.quiet => {
                terminal.say(&format!("building the Python environment of {variant}"));
            }
            SessionRemark::Sharing { doing, jobs } if !self.quiet => {
                terminal.say(&format!("{doing} in {}", counted(jobs, "job")));
            }
            SessionRemark::Profiling { folder } if !self.quiet => {
                let folder = folder.display();
                terminal.say(&format!(
                    "each benchmark is profiled once; the files are in {folder}"
                ));
            }
            SessionRemark::Building { .. }
            | SessionRemark::BuildingEnvironment { .. }
            | SessionRemark::Sharing { .. }
            | SessionRemark::Profiling { .. } => {}
            SessionRemark::NotResumable { what } => terminal.note(&format!(
                "if it is interrupted, this session cannot be resumed: its plan has a text that is not kept ({what})"
            )),
            SessionRemark::NoVersion(DistrustedRepository { folder }) => terminal.note(&format!(
                "no version is recorded: the Git repository {} belongs to another user; {}",
                folder.display(),
                distrust_hint(&folder)
            )),
            SessionRemark::NotMeasured { label, reason } => {
                terminal.note(&format!("{label} is not measured: {reason}"));
            }
            SessionRemark::OtherTests { variants, tests } => {
                let [first, other] = &variants;
                let tests = first_names(tests.iter().map(String::as_str), 8);
                terminal.note(&format!(
                    "the environment of {other} does not have the same tests as that of {first}: {tests}"
                ));
            }
            SessionRemark::Note(text) => terminal.note(&text),
            SessionRemark::StoreFailed { error } => terminal.note(&format!(
                "the store cannot be written to ({error}); measuring goes on into a record file"
            )),
            SessionRemark::JobsLeft { jobs, can_cancel } => {
                let why = if can_cancel {
                    ""
                } else {
                    ", because [executor.command] has no `cancel`"
                };
                terminal.say(&format!(
                    "{} left in the queue{why}; `lapwing run --resume` collects their results",
                    counted(jobs, "job")
                ));
            }
            SessionRemark::JobsCancelled { jobs } => {
                terminal.say(&format!("cancelled {}", counted(jobs, "job")));
            }
            SessionRemark::JobsUnknown { jobs, error } => terminal.say(&format!(
                "{} may still be in the queue: {error}; `lapwing run --resume` collects them, or cancel them yourself",
                counted(jobs, "job")
            )),
            SessionRemark::JobsNotCancelled { jobs } => terminal.say(&format!(
                "{} not cancelled: [executor.command] has no `cancel`",
                counted(jobs, "job")
            )),
        }
    }

    /// Asks at a terminal; elsewhere jobs are cancelled. A second Ctrl-C is a yes.
    fn cancels_jobs(&self, jobs: usize) -> bool {
        if !self.terminal.is_interactive() || !io::stdin().is_terminal() {
            return true;
        }
        self.terminal.ask(&format!(
            "\ncancel {}? Otherwise they continue, and `lapwing run --resume` collects them. [Y/n] ",
            counted(jobs, "job")
        ));
        let (answers, answer) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let _closed = io::stdin().lock().read_line(&mut line);
            let _gone = answers.send(line);
        });
        let before = interrupts().count();
        loop {
            match answer.recv_timeout(Duration::from_millis(100)) {
                Ok(line) => return !line.trim().to_ascii_lowercase().starts_with('n'),
                Err(mpsc::RecvTimeoutError::Disconnected) => return true,
                Err(mpsc::RecvTimeoutError::Timeout) if interrupts().count() > before => {
                    return true;
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
