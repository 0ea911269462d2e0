//! Limits of all processes of an execution together, by control groups.

use std::fs::{self, File};
use std::path::PathBuf;

use super::cgroup::{self, CgroupVersion, GroupError, MemoryGroup};

/// The most processes and threads of an isolated command.
pub(super) const MOST_PROCESSES: u32 = 4096;

/// A control group that limits the number of processes, for version 1, where each limit has a hierarchy of its own.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    directory: PathBuf,
}

impl ProcessGroup {
    /// Makes a group below the one that this process is in.
    pub(super) fn make() -> Result<Self, GroupError> {
        let hierarchies = cgroup::own_hierarchies("pids");
        let first = hierarchies
            .iter()
            .find(|it| it.version == CgroupVersion::One);
        let home = &first
            .ok_or(GroupError::None("the number of processes"))?
            .home;
        let refused = |source| GroupError::Refused {
            parent: home.clone(),
            source,
        };
        cgroup::remove_stale(home);
        let directory = home.join(cgroup::own_name("processes"));
        fs::create_dir(&directory).map_err(refused)?;
        let group = Self { directory };
        fs::write(group.directory.join("pids.max"), MOST_PROCESSES.to_string()).map_err(refused)?;
        Ok(group)
    }

    /// Returns the file by which a process enters it.
    pub(super) fn entrance(&self) -> std::io::Result<File> {
        File::options()
            .write(true)
            .open(self.directory.join("cgroup.procs"))
    }
}

impl Drop for ProcessGroup {
    /// What fails here is removed by the next launcher.
    fn drop(&mut self) {
        let _later = fs::remove_dir(&self.directory);
    }
}

impl MemoryGroup {
    /// Limits the memory of all processes in it together, or lifts the limit; in version 2, their number too.
    pub(super) fn limit(&self, memory: Option<u64>) -> std::io::Result<()> {
        let file = |name: &str| self.directory.join(name);
        let text = memory.map(|it| it.to_string());
        match self.version {
            CgroupVersion::One => fs::write(
                file("memory.limit_in_bytes"),
                text.as_deref().unwrap_or("-1"),
            ),
            CgroupVersion::Two => {
                if self.limits_processes() {
                    let most = MOST_PROCESSES.to_string();
                    fs::write(file("pids.max"), memory.map_or("max", |_| &most))?;
                }
                fs::write(file("memory.max"), text.as_deref().unwrap_or("max"))
            }
        }
    }

    /// Returns whether it limits the number of processes too.
    pub(super) fn limits_processes(&self) -> bool {
        self.version == CgroupVersion::Two && self.directory.join("pids.max").exists()
    }
}
