//! Observations around each run, once for all benchmarks, in side files of bounded size.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::data_pack::write_entry;
use super::directory::{DirectoryError, ReportDirectory};
use super::environment::observe_run;
use lapwing_model::{Id, Run, Session};

/// The approximate size of a file in characters.
const CHARACTERS: usize = 100_000;

/// One side file.
#[derive(Debug, Default, Serialize)]
struct EnvironmentFile {
    /// Observations, as key and value; most of them are those of many runs.
    observed: Vec<(String, String)>,
    /// For each run the positions of its observations.
    runs: BTreeMap<Id, Vec<usize>>,
    #[serde(skip)]
    positions: BTreeMap<(String, String), usize>,
    #[serde(skip)]
    characters: usize,
}

/// The runs that were seen, and the side files that say what was observed around them.
#[derive(Debug, Default)]
pub(super) struct RunEnvironments {
    /// The number of the side file of each run.
    files: BTreeMap<Id, usize>,
    finished: Vec<EnvironmentFile>,
    current: EnvironmentFile,
}

impl RunEnvironments {
    /// Adds a run, unless it is known.
    pub(super) fn add(&mut self, run: &Run, session: &Session) {
        if self.files.contains_key(&run.id) {
            return;
        }
        let piece = &mut self.current;
        let mut positions = Vec::new();
        for observation in observe_run(run, session) {
            let length = observation.0.len() + observation.1.len() + 8;
            let next = piece.observed.len();
            let position = piece.positions.entry(observation);
            let position = *position.or_insert_with_key(|observation| {
                piece.observed.push(observation.clone());
                piece.characters += length;
                next
            });
            positions.push(position);
        }
        piece.characters += 45 + 4 * positions.len();
        piece.runs.insert(run.id, positions);
        self.files.insert(run.id, self.finished.len());
        if piece.characters > CHARACTERS {
            self.finished.push(std::mem::take(piece));
        }
    }

    /// Returns the number of the side file of a run.
    pub(super) fn file(&self, run: &Id) -> Option<usize> {
        self.files.get(run).copied()
    }

    /// Writes the side files.
    pub(super) fn write(&self, directory: &Arc<ReportDirectory>) -> Result<(), DirectoryError> {
        let all = self.finished.iter().chain([&self.current]);
        for (number, file) in all.enumerate() {
            write_entry(directory, &format!("environments-{number}"), file)?;
        }
        Ok(())
    }
}
