//! `-o`: the first steady iterations as a file for editing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lapwing_analyse::clean::bare_name;
use lapwing_analyse::explain::BenchmarkBurnIn;
use lapwing_measure::suite::burn_in_file;
use lapwing_model::text::grouped;
use lapwing_record::BenchmarkRow;
use lapwing_show::answers::burn_in::why_not_written;

use crate::error::CliError;
use crate::options::{Context, check_output, is_stdout, write_output};
use lapwing_record::atomic;

/// Writes a burn-in file, and keeps its entries of other benchmarks.
pub struct BurnInWriter {
    path: PathBuf,
    before: BTreeMap<String, u32>,
    /// The suites of every benchmark id in the store, which share an entry.
    suites: BTreeMap<String, BTreeSet<String>>,
}

impl BurnInWriter {
    /// Returns the writer of a file, which may be an earlier burn-in file. `known` are all benchmarks
    /// of the store.
    pub fn new(path: &Path, known: &[BenchmarkRow], context: &Context) -> Result<Self, CliError> {
        let ending = path.extension().and_then(|it| it.to_str());
        if !is_stdout(path) && !matches!(ending, Some("json" | "yaml" | "yml")) {
            return Err(CliError::input(format!(
                "`{}` does not end in .json or .yaml",
                path.display()
            )));
        }
        check_output(path, context)?;
        let is_new = is_stdout(path) || std::fs::metadata(path).map_or(true, |it| it.len() == 0);
        let before = if is_new {
            BTreeMap::new()
        } else {
            burn_in_file::read(path).map_err(|error| {
                let name = path.display();
                CliError::input(error)
                    .consequence(format!("{name} already exists and was not changed"))
            })?
        };
        let mut suites: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for row in known {
            let of_id = suites.entry(row.benchmark.clone()).or_default();
            of_id.insert(row.suite.clone());
        }
        Ok(Self {
            path: path.to_owned(),
            before,
            suites,
        })
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all known starts, and reports those that are missing in the file.
    pub fn write_all(&self, rows: &[BenchmarkBurnIn], context: &Context) -> Result<(), CliError> {
        self.write(rows, |_| true, context)?;
        if context.quiet {
            return Ok(());
        }
        if is_stdout(&self.path) {
            self.say_what_is_missing(rows, context);
            self.say_what_is_shared(rows, context);
            return Ok(());
        }
        let written = rows.iter().filter(|row| row.known_start().is_some());
        let written = grouped(written.count());
        context.terminal.say(&format!(
            "{} has the first steady iteration of {written} of {}; use it with --clean burn_in_file=FILE",
            self.path.display(),
            grouped(rows.len())
        ));
        self.say_what_is_missing(rows, context);
        self.say_what_is_shared(rows, context);
        let changed = self.changed(rows);
        if !changed.is_empty() {
            context.terminal.note(&format!(
                "replaced the earlier values of {}; to keep such values, also give the file with --burn-in-file",
                changed.join(", ")
            ));
        }
        Ok(())
    }

    /// Writes the known starts of the benchmarks that `wanted` selects by index.
    pub fn write(
        &self,
        rows: &[BenchmarkBurnIn],
        wanted: impl Fn(usize) -> bool,
        context: &Context,
    ) -> Result<(), CliError> {
        // Entries that others added since are kept.
        let to_file = !is_stdout(&self.path);
        let _lock = to_file
            .then(|| atomic::lock_beside(&self.path))
            .transpose()?;
        let earlier = to_file
            .then(|| burn_in_file::read(&self.path).ok())
            .flatten();
        let mut starts = earlier.unwrap_or_else(|| self.before.clone());
        let chosen = rows.iter().enumerate();
        let chosen: Vec<&BenchmarkBurnIn> = chosen
            .filter(|(at, _)| wanted(*at))
            .map(|(_, row)| row)
            .collect();
        for row in &chosen {
            let key = self.key(row);
            // Benchmarks of several suites with one id share an entry: the largest start, including
            // that of other suites.
            let namesakes = || chosen.iter().filter(|it| it.benchmark == row.benchmark);
            let found = namesakes().filter_map(|it| it.known_start()).max();
            let said = if namesakes().count() < self.suites_of(row) {
                starts.get(&key).copied()
            } else {
                None
            };
            match found.max(said) {
                Some(start) => starts.insert(key, start),
                None => starts.remove(&key),
            };
        }
        let text = burn_in_file::text(&self.path, &starts)?;
        write_output(&self.path, text, context)
    }

    /// Reports the benchmarks that are not in the file, with the reasons.
    pub fn say_what_is_missing(&self, rows: &[BenchmarkBurnIn], context: &Context) {
        let missing: Vec<String> = rows
            .iter()
            .filter_map(|row| Some(format!("{} ({})", row.benchmark, why_not_written(row)?)))
            .collect();
        if !missing.is_empty() {
            context
                .terminal
                .note(&format!("not in it: {}", missing.join(", ")));
        }
    }

    /// Reports the benchmarks that share an entry because several suites have the id.
    pub fn say_what_is_shared(&self, rows: &[BenchmarkBurnIn], context: &Context) {
        let shared = rows.iter().filter(|row| self.suites_of(row) > 1);
        let shared: BTreeSet<String> = shared
            .filter_map(|row| {
                let suites = self.suites.get(&row.benchmark)?;
                let suites: Vec<&str> = suites.iter().map(String::as_str).collect();
                Some(format!("{} ({})", row.benchmark, suites.join(", ")))
            })
            .collect();
        if !shared.is_empty() {
            let shared: Vec<String> = shared.into_iter().collect();
            context.terminal.note(&format!(
                "one entry applies to all suites with the benchmark, with the largest start: {}",
                shared.join(", ")
            ));
        }
    }

    /// Returns the number of suites with a benchmark of this id.
    fn suites_of(&self, row: &BenchmarkBurnIn) -> usize {
        self.suites.get(&row.benchmark).map_or(1, BTreeSet::len)
    }

    /// Returns the key of a benchmark: the name that the file used before, or its id.
    fn key(&self, row: &BenchmarkBurnIn) -> String {
        let bare = bare_name(&row.benchmark);
        let namesakes = self.suites.keys().filter(|id| bare_name(id) == bare);
        let by_bare_name = !self.before.contains_key(&row.benchmark)
            && self.before.contains_key(bare)
            && namesakes.count() == 1;
        if by_bare_name {
            bare.to_owned()
        } else {
            row.benchmark.clone()
        }
    }

    fn changed(&self, rows: &[BenchmarkBurnIn]) -> Vec<String> {
        rows.iter()
            .filter_map(|row| {
                let before = *self.before.get(&self.key(row))?;
                let now = row.known_start()?;
                (before != now).then(|| format!("{} ({before} → {now})", row.benchmark))
            })
            .collect()
    }
}
