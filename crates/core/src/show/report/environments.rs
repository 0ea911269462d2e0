//! What was observed around each run, once for all benchmarks, in side files of bounded size.

use std::collections::BTreeMap;

use serde::Serialize;

use super::directory::{Directory, DirectoryError};
use super::environment::observe_run;
use super::side_file;
use crate::model::{Id, Run, Session};

/// About how many characters one file holds.
const CHARACTERS: usize = 100_000;

/// One side file.
#[derive(Debug, Default, Serialize)]
struct Piece {
    /// Observations, as key and value; most of them are those of many runs.
    observed: Vec<(String, String)>,
    /// For each run the positions of its observations.
    runs: BTreeMap<Id, Vec<usize>>,
    #[serde(skip)]
    places: BTreeMap<(String, String), usize>,
    #[serde(skip)]
    characters: usize,
}

/// The runs that were seen, and the side files that say what was observed around them.
#[derive(Debug, Default)]
pub(super) struct RunEnvironments {
    /// The number of the side file of each run.
    files: BTreeMap<Id, usize>,
    finished: Vec<Piece>,
    current: Piece,
}

impl RunEnvironments {
    /// Takes in a run, unless it is known.
    pub(super) fn add(&mut self, run: &Run, session: &Session) {
        if self.files.contains_key(&run.id) {
            return;
        }
        let piece = &mut self.current;
        let mut places = Vec::new();
        for observation in observe_run(run, session) {
            let length = observation.0.len() + observation.1.len() + 8;
            let next = piece.observed.len();
            let place = *piece.places.entry(observation).or_insert_with_key(|it| {
                piece.observed.push(it.clone());
                piece.characters += length;
                next
            });
            places.push(place);
        }
        piece.characters += 45 + 4 * places.len();
        piece.runs.insert(run.id, places);
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
    pub(super) fn write(&mut self, directory: &Directory) -> Result<(), DirectoryError> {
        self.finished.push(std::mem::take(&mut self.current));
        for (number, piece) in self.finished.iter().enumerate() {
            let name = format!("environments.{number}");
            directory.write(&format!("data/{name}.js"), &side_file(&name, piece))?;
        }
        Ok(())
    }
}
