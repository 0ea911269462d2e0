//! The real machine around the runner.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use lapwing_measure::{Clock, MachineSnapshot, MachineWatch, observed};
use lapwing_model::Object;

/// The clocks of the operating system.
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// A folder that exists during a measurement.
pub struct ScratchFolder {
    path: PathBuf,
}

impl ScratchFolder {
    pub fn create(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        Ok(Self {
            path: path.to_owned(),
        })
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // The next command removes what remains.
        let _left = fs::remove_dir_all(&self.path);
    }
}

/// Watches this machine.
#[derive(Default)]
pub struct MachineWatcher {
    before: Option<MachineSnapshot>,
}

impl MachineWatch for MachineWatcher {
    fn begin(&mut self) {
        self.before = Some(MachineSnapshot::take(Path::new("/")));
    }

    fn end(&mut self, own: Duration) -> Object {
        let after = MachineSnapshot::take(Path::new("/"));
        self.before
            .take()
            .map_or_else(Object::new, |before| observed(&before, &after, Some(own)))
    }
}
