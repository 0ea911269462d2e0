//! A root directory with nothing but what an isolated command may use: what is not there has neither a name nor a
//! socket that could be connected to.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change,
    unmount,
};
use rustix::process::{chdir, getcwd, pivot_root};

use super::file_rules::SHARED_MEMORY;

/// The links in `/dev` that programs take for granted.
const LINKS: [(&str, &str); 4] = [
    ("/proc/self/fd", "dev/fd"),
    ("/proc/self/fd/0", "dev/stdin"),
    ("/proc/self/fd/1", "dev/stdout"),
    ("/proc/self/fd/2", "dev/stderr"),
];
/// The size of what is written to the scratch folder and to shared memory.
const SIZE: &std::ffi::CStr = c"mode=0755,size=1g";

/// Mounts what shows the processes of this process's namespace only.
pub(super) fn mount_processes(target: &Path) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("proc", target, "proc", flags, None)?)
}

/// Keeps mounts of this process from appearing elsewhere.
pub(super) fn make_private() -> io::Result<()> {
    let flags = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    Ok(mount_change("/", flags)?)
}

/// Moves this process to a root directory in memory with these paths only, and with a scratch folder. The folder that
/// is there now serves to mount it.
pub(super) fn enter(paths: &[PathBuf], scratch: &Path) -> io::Result<()> {
    let directory = getcwd(Vec::new())?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", scratch, "tmpfs", flags, SIZE)?;
    for path in shortest(paths) {
        show(&path, scratch)?;
    }
    for folder in [scratch, Path::new(SHARED_MEMORY)] {
        make_folder(&inside(folder, scratch))?;
    }
    for (target, link) in LINKS {
        symlink(target, scratch.join(link))?;
    }
    let processes = scratch.join("proc");
    make_folder(&processes)?;
    mount_processes(&processes)?;
    chdir(scratch)?;
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    if chdir(directory.as_c_str()).is_err() {
        chdir("/")?;
    }
    Ok(())
}

/// Returns where a path is below a root directory.
fn inside(path: &Path, root: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Returns the paths that are in no other of them, with those that links lead to.
fn shortest(paths: &[PathBuf]) -> Vec<PathBuf> {
    let real = paths.iter().filter_map(|it| it.canonicalize().ok());
    let mut all: Vec<PathBuf> = paths.iter().cloned().chain(real).collect();
    all.retain(|path| path.is_absolute() && !path.starts_with("/proc"));
    all.sort();
    let mut found: Vec<PathBuf> = Vec::new();
    for path in all {
        if !found.iter().any(|known| path.starts_with(known)) {
            found.push(path);
        }
    }
    found
}

/// Makes a path of the machine appear below a root directory.
fn show(path: &Path, root: &Path) -> io::Result<()> {
    let Ok(about) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    let place = inside(path, root);
    if let Some(above) = place.parent() {
        make_folder(above)?;
    }
    if about.is_symlink() {
        return symlink(fs::read_link(path)?, place);
    }
    if about.is_dir() {
        make_folder(&place)?;
    } else {
        File::create(&place)?;
    }
    Ok(mount_bind_recursive(path, &place)?)
}

fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(path)
}
