//! The physical cores of this machine, divided between the two sides of a duet.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::cpus::{CpusError, allowed_cpus, available_cpus, parse_cpus};
use crate::suite::DuetCores;

/// Why this machine cannot measure two sides at the same time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CoresError {
    /// The processors to use are wrongly stated.
    #[error(transparent)]
    Cpus(#[from] CpusError),
    /// The kernel does not say which processors belong to one physical core.
    #[error("the physical cores of this machine are unknown: {path} cannot be read")]
    Unknown {
        /// The missing file.
        path: String,
    },
    /// There are not enough.
    #[error("a duet needs two physical cores, and only one can be used here (CPU {cpus})")]
    TooFew {
        /// The usable processors.
        cpus: String,
    },
}

/// Divides the usable processors, or those of a list, into two sets with equally many physical cores. The hardware
/// threads of a core stay together; of an odd number of cores the middle one is not used.
///
/// `root` is the root of the file system.
///
/// # Errors
/// If the list is wrong, the cores are unknown, or there are fewer than two.
pub fn duet_cores(root: &Path, list: Option<&str>) -> Result<DuetCores, CoresError> {
    let text = match list {
        Some(list) => list.to_owned(),
        None => allowed_cpus().unwrap_or_default(),
    };
    divide(root, &available_cpus(&text)?)
}

fn divide(root: &Path, cpus: &[usize]) -> Result<DuetCores, CoresError> {
    let mut cores: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for cpu in cpus {
        let path = root.join(format!(
            "sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        ));
        let siblings = fs::read_to_string(&path).ok();
        let siblings = siblings.and_then(|text| parse_cpus(&text).ok());
        let Some(first) = siblings.and_then(|it| it.first().copied()) else {
            let path = path.display().to_string();
            return Err(CoresError::Unknown { path });
        };
        cores.entry(first).or_default().push(*cpu);
    }
    let cores: Vec<Vec<usize>> = cores.into_values().collect();
    let half = cores.len() / 2;
    if half == 0 {
        return Err(CoresError::TooFew {
            cpus: text_of(cpus),
        });
    }
    Ok(DuetCores {
        first: text_of(&cores[..half].concat()),
        second: text_of(&cores[cores.len() - half..].concat()),
    })
}

fn text_of(cpus: &[usize]) -> String {
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
    cpus.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the root of a machine whose processors have these hardware threads beside them.
    fn machine(siblings: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (cpu, list) in siblings.iter().enumerate() {
            let folder = root
                .path()
                .join(format!("sys/devices/system/cpu/cpu{cpu}/topology"));
            fs::create_dir_all(&folder).expect("made");
            fs::write(folder.join("thread_siblings_list"), format!("{list}\n")).expect("written");
        }
        root
    }

    fn divided(siblings: &[&str], cpus: &[usize]) -> Result<(String, String), String> {
        let cores = divide(machine(siblings).path(), cpus);
        cores
            .map(|it| (it.first, it.second))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn hardware_threads_of_a_core_stay_on_one_side() {
        let sets = |first: &str, second: &str| Ok((first.to_owned(), second.to_owned()));
        let plain = ["0", "1"];
        assert_eq!(divided(&plain, &[0, 1]), sets("0", "1"));
        let threaded = ["0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"];
        let all: Vec<usize> = (0..8).collect();
        assert_eq!(divided(&threaded, &all), sets("0,1,4,5", "2,3,6,7"));
        assert_eq!(divided(&threaded, &[0, 1, 2, 4]), sets("0,4", "2"));
        let ranges = ["0-1", "0-1", "2-3", "2-3"];
        assert_eq!(divided(&ranges, &[0, 1, 2, 3]), sets("0,1", "2,3"));
    }

    #[test]
    fn two_threads_of_one_core_are_no_duet() {
        assert_eq!(
            divided(&["0-1", "0-1"], &[0, 1]),
            Err(
                "a duet needs two physical cores, and only one can be used here (CPU 0,1)"
                    .to_owned()
            )
        );
        let unknown = divided(&[], &[0, 1]).expect_err("nothing is known");
        assert!(unknown.starts_with("the physical cores of this machine are unknown: "));
    }
}
