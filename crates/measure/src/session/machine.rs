//! The machine around a session: a folder for files, and what else goes on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lapwing_model::Object;
use lapwing_record::files::create_folder;

use crate::{MachineSnapshot, MachineWatch, observed};

/// A folder that exists during a measurement.
pub struct ScratchFolder {
    path: PathBuf,
}

impl ScratchFolder {
    /// Creates it.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        create_folder(path)?;
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
