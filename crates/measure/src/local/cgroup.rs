//! A control group of our own, for the peak memory of all processes of an execution together.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::mem;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process;

const PREFIX: &str = "lapwing-";

/// Why there is no control group to be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum GroupError {
    /// No hierarchy of control groups is for this.
    #[error("no control groups for {0} (neither version 2 nor version 1)")]
    None(&'static str),
    /// The group cannot be made or entered.
    #[error("no control group under {}: {source}", parent.display())]
    Refused { parent: PathBuf, source: io::Error },
}

/// A control group with this process in it.
#[derive(Debug)]
pub(super) struct MemoryGroup {
    pub(super) version: CgroupVersion,
    renewal: PeakRenewal,
    /// What it was made below.
    parent: PathBuf,
    /// Where this process came from and returns to.
    home: PathBuf,
    pub(super) directory: PathBuf,
    /// The file with the peak, open for as long as the group is there.
    peak: File,
    /// How many groups were made before this one.
    number: u64,
}

/// How a new peak is begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PeakRenewal {
    /// By writing to the file with the peak.
    Write,
    /// By moving to a new group: before Linux 6.12 version 2 has no other way.
    NewGroup,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CgroupVersion {
    One,
    Two,
}

impl CgroupVersion {
    fn peak_file(self) -> &'static str {
        match self {
            Self::One => "memory.max_usage_in_bytes",
            Self::Two => "memory.peak",
        }
    }

    /// What is to be written to the peak's file to begin anew.
    fn reset_text(self) -> &'static [u8] {
        match self {
            Self::One => b"0",
            Self::Two => b"reset",
        }
    }
}

/// A hierarchy of control groups, and our place in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CgroupHierarchy {
    pub(super) version: CgroupVersion,
    mount: PathBuf,
    pub(super) home: PathBuf,
}

impl MemoryGroup {
    /// Makes a group below the one that this process is in and moves this process there.
    pub(super) fn enter() -> Result<Self, GroupError> {
        let mut first_error = GroupError::None("memory");
        for hierarchy in own_hierarchies("memory") {
            for parent in candidates(&hierarchy) {
                remove_stale(&parent);
                match Self::make(&hierarchy, &parent) {
                    Ok(group) => return Ok(group),
                    Err(error) => {
                        if matches!(first_error, GroupError::None(_)) {
                            first_error = error;
                        }
                    }
                }
            }
        }
        Err(first_error)
    }

    fn make(hierarchy: &CgroupHierarchy, parent: &Path) -> Result<Self, GroupError> {
        let refused = |source| GroupError::Refused {
            parent: parent.to_owned(),
            source,
        };
        let version = hierarchy.version;
        let (directory, peak) = new_group(version, parent, 0).map_err(refused)?;
        let mut group = Self {
            version,
            renewal: PeakRenewal::Write,
            parent: parent.to_owned(),
            home: hierarchy.home.clone(),
            directory,
            peak,
            number: 0,
        };
        if group.reset_peak().is_err() {
            group.renewal = PeakRenewal::NewGroup;
        }
        Ok(group)
    }

    /// Returns by what means the peak is had.
    pub(super) fn means(&self) -> &'static str {
        match self.version {
            CgroupVersion::One => "control group version 1 (memory.max_usage_in_bytes)",
            CgroupVersion::Two => "control group version 2 (memory.peak)",
        }
    }

    /// Begins a new peak.
    pub(super) fn reset_peak(&mut self) -> io::Result<()> {
        match self.renewal {
            PeakRenewal::Write => {
                self.peak.rewind()?;
                self.peak.write_all(self.version.reset_text())
            }
            PeakRenewal::NewGroup => {
                self.number += 1;
                let (directory, peak) = new_group(self.version, &self.parent, self.number)?;
                let old = mem::replace(&mut self.directory, directory);
                self.peak = peak;
                // Nobody is in it any more: all children of earlier executions are gone.
                let _later = fs::remove_dir(old);
                Ok(())
            }
        }
    }

    /// Returns the peak since the last reset, in bytes.
    pub(super) fn peak(&self) -> io::Result<u64> {
        let mut text = [0; 32];
        let length = self.peak.read_at(&mut text, 0)?;
        let text = String::from_utf8_lossy(&text[..length]);
        text.trim().parse().map_err(io::Error::other)
    }
}

/// Returns the name of a group of this process.
pub(super) fn own_name(suffix: &str) -> String {
    format!("{PREFIX}{}-{suffix}", process::id())
}

/// Makes a group, moves this process there and opens the file with its peak.
fn new_group(version: CgroupVersion, parent: &Path, number: u64) -> io::Result<(PathBuf, File)> {
    let directory = parent.join(own_name(&number.to_string()));
    fs::create_dir(&directory)?;
    let path = directory.join(version.peak_file());
    let peak = File::options()
        .read(true)
        .write(true)
        .open(&path)
        // Where the peak cannot be reset its file can only be read.
        .or_else(|_read_only| File::open(&path))
        .and_then(|peak| move_this_process(&directory).map(|()| peak));
    match peak {
        Ok(peak) => Ok((directory, peak)),
        Err(error) => {
            let _nothing_in_it = fs::remove_dir(&directory);
            Err(error)
        }
    }
}

impl Drop for MemoryGroup {
    /// Goes home and removes the group. What fails here is removed by the next launcher.
    fn drop(&mut self) {
        if move_this_process(&self.home).is_ok() {
            let _later = fs::remove_dir(&self.directory);
        }
    }
}

fn move_this_process(directory: &Path) -> io::Result<()> {
    File::options()
        .write(true)
        .open(directory.join("cgroup.procs"))?
        .write_all(process::id().to_string().as_bytes())
}

/// Removes the groups of launchers that were killed. One with processes in it cannot be removed.
pub(super) fn remove_stale(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.split('-').next())
            .and_then(|owner| owner.parse::<u32>().ok());
        if owner.is_some_and(|owner| !Path::new(&format!("/proc/{owner}")).exists()) {
            let _still_used = fs::remove_dir(entry.path());
        }
    }
}

/// Returns the groups below which ours may be made, nearest first.
///
/// In version 2 a group that has processes cannot give its children a memory
/// controller, so that an ancestor must serve. Nothing is ever switched on there.
fn candidates(hierarchy: &CgroupHierarchy) -> Vec<PathBuf> {
    match hierarchy.version {
        CgroupVersion::One => vec![hierarchy.home.clone()],
        CgroupVersion::Two => hierarchy
            .home
            .ancestors()
            .take_while(|directory| directory.starts_with(&hierarchy.mount))
            .filter(|directory| gives_memory(directory))
            .map(Path::to_owned)
            .collect(),
    }
}

fn gives_memory(directory: &Path) -> bool {
    fs::read_to_string(directory.join("cgroup.subtree_control")).is_ok_and(|controllers| {
        controllers
            .split_ascii_whitespace()
            .any(|it| it == "memory")
    })
}

/// Returns the hierarchies of this machine that have a controller, version 2 first.
pub(super) fn own_hierarchies(controller: &str) -> Vec<CgroupHierarchy> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    hierarchies(controller, &mounts, &own)
}

/// Returns the hierarchies that have a controller, version 2 first, as told by the
/// kernel's lists of mounts and of this process's groups.
fn hierarchies(controller: &str, mounts: &str, own: &str) -> Vec<CgroupHierarchy> {
    let mut found = Vec::new();
    for line in mounts.lines() {
        let Some((left, right)) = line.split_once(" - ") else {
            continue;
        };
        let mut left = left.split(' ').skip(3);
        let (Some(root), Some(mount)) = (left.next(), left.next()) else {
            continue;
        };
        let mut right = right.split(' ');
        let kind = right.next().unwrap_or_default();
        let options = right.nth(1).unwrap_or_default();
        let version = match kind {
            "cgroup2" => CgroupVersion::Two,
            "cgroup" if options.split(',').any(|option| option == controller) => CgroupVersion::One,
            _ => continue,
        };
        let Some(group) = own_group(controller, own, version) else {
            continue;
        };
        // A container may see a part of the hierarchy only.
        let inner = Path::new(group).strip_prefix(root).unwrap_or(Path::new(""));
        let inner = inner.strip_prefix("/").unwrap_or(inner);
        let mount = PathBuf::from(mount);
        found.push(CgroupHierarchy {
            version,
            home: mount.join(inner),
            mount,
        });
    }
    found.sort_by_key(|hierarchy| match hierarchy.version {
        CgroupVersion::Two => 0,
        CgroupVersion::One => 1,
    });
    found
}

/// Returns this process's group in the hierarchy of a version: `/user.slice/…`.
fn own_group<'a>(controller: &str, own: &'a str, version: CgroupVersion) -> Option<&'a str> {
    own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let number = fields.next()?;
        let controllers = fields.next()?;
        let path = fields.next()?;
        let matches = match version {
            CgroupVersion::Two => number == "0" && controllers.is_empty(),
            CgroupVersion::One => controllers.split(',').any(|it| it == controller),
        };
        matches.then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Needs a machine where groups can be made; elsewhere there is nothing to test.
    #[test]
    fn a_new_group_forgets_the_peak_and_the_old_one_is_removed() {
        let Ok(mut group) = MemoryGroup::enter() else {
            return;
        };
        let ballast = vec![1_u8; 64 << 20];
        assert!(group.peak().expect("readable") > 64 << 20);
        drop(std::hint::black_box(ballast));
        let old = group.directory.clone();
        group.renewal = PeakRenewal::NewGroup;
        group.reset_peak().expect("a new group can be made");
        assert!(group.peak().expect("readable") < 32 << 20);
        let new = group.directory.clone();
        assert_eq!((old.exists(), new.exists()), (false, true));
        drop(group);
        assert!(!new.exists());
    }

    #[test]
    fn version_two_comes_before_version_one() {
        let mounts = "\
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup/devices rw,relatime - cgroup cgroup rw,devices
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:3 - cgroup2 cgroup2 rw
";
        let own = "4:memory:/jobs/7\n1:cpu:/\n0::/user.slice/a\n";
        let expected = vec![
            CgroupHierarchy {
                version: CgroupVersion::Two,
                mount: "/sys/fs/cgroup/unified".into(),
                home: "/sys/fs/cgroup/unified/user.slice/a".into(),
            },
            CgroupHierarchy {
                version: CgroupVersion::One,
                mount: "/sys/fs/cgroup/memory".into(),
                home: "/sys/fs/cgroup/memory/jobs/7".into(),
            },
        ];
        assert_eq!(hierarchies("memory", mounts, own), expected);
    }

    #[test]
    fn a_container_sees_its_part_of_the_hierarchy() {
        let mounts = "35 31 0:32 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let own = "4:memory:/docker/ab\n";
        let expected = vec![CgroupHierarchy {
            version: CgroupVersion::One,
            mount: "/sys/fs/cgroup/memory".into(),
            home: "/sys/fs/cgroup/memory".into(),
        }];
        assert_eq!(hierarchies("memory", mounts, own), expected);
        assert_eq!(hierarchies("memory", "", ""), Vec::new());
    }
}
