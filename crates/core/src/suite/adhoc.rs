//! A plan for commands given on the command line, without a suite file.

use std::collections::BTreeMap;
use std::path::Path;

use super::case::fingerprint;
use super::plan::{
    Case, CaseInput, CommandLine, ExitCodes, OutputMetrics, Plan, Variant, VersionSource,
};
use super::settings::Settings;
use crate::model::Run;

/// What an ad-hoc plan has besides commands and settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdHoc {
    /// The commands to time, in order.
    pub commands: Vec<CommandLine>,
    /// Names for them, in the same order; the rest are called by their text.
    pub names: Vec<String>,
    /// Runs before each instance, untimed.
    pub setup: Option<CommandLine>,
    /// Runs before each iteration, untimed.
    pub prepare: Option<CommandLine>,
    /// Runs after each instance, untimed.
    pub teardown: Option<CommandLine>,
    /// Runs after each iteration, untimed.
    pub check: Option<CommandLine>,
    /// A file to read from.
    pub stdin: Option<String>,
    /// Whether any exit code is accepted.
    pub any_exit_code: bool,
    /// Whether numbers are read from what the program prints.
    pub output: OutputMetrics,
}

impl AdHoc {
    /// The suite that benchmarks of ad-hoc plans belong to.
    pub const SUITE: &'static str = "commands";

    /// Returns the plan that measures the commands in `folder`.
    pub fn plan(&self, folder: &Path, settings: &Settings, seed: u64) -> Plan {
        let directory = folder.display().to_string();
        let mut cases: Vec<Case> = Vec::new();
        for (position, command) in self.commands.iter().enumerate() {
            let name = self
                .names
                .get(position)
                .cloned()
                .unwrap_or_else(|| text(command));
            // The same command twice is an A/A comparison and stays two benchmarks.
            let twins = cases
                .iter()
                .filter(|case| without_number(&case.benchmark.id) == name)
                .count();
            let id = if twins == 0 {
                name
            } else {
                format!("{name} #{}", twins + 1)
            };
            cases.push(self.case(id, command, &directory, settings));
        }
        Plan {
            suite: Self::SUITE.to_owned(),
            cases,
            variants: vec![Variant {
                name: Run::DEFAULT_VARIANT.to_owned(),
                ..Variant::default()
            }],
            version: VersionSource::WorkingDirectory,
            build: None,
            interleave: true,
            environment_commands: BTreeMap::new(),
            directory: Some(directory),
            cpus: settings.cpus.clone(),
            stop_early: None,
            seed,
            duet: None,
        }
    }

    fn case(
        &self,
        id: String,
        command: &CommandLine,
        directory: &str,
        settings: &Settings,
    ) -> Case {
        let mut case = Case {
            setup: self.setup.clone(),
            prepare: self.prepare.clone(),
            teardown: self.teardown.clone(),
            check: self.check.clone(),
            directory: Some(directory.to_owned()),
            stdin: self.stdin.clone().map_or(CaseInput::Null, CaseInput::File),
            output: self.output,
            ..Case::new(id, command.clone())
        };
        if self.any_exit_code {
            case.exit_codes = ExitCodes::Any;
        }
        settings.apply(&mut case);
        case.benchmark.fingerprint = Some(fingerprint(&case));
        case
    }
}

fn without_number(id: &str) -> &str {
    match id.rsplit_once(" #") {
        Some((name, number)) if number.chars().all(|c| c.is_ascii_digit()) => name,
        Some(_) | None => id,
    }
}

/// Returns a command as people would type it.
pub fn text(command: &CommandLine) -> String {
    match command {
        CommandLine::Shell(text) => text.clone(),
        CommandLine::Words(words) => words
            .iter()
            .map(|word| {
                let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%^".contains(c);
                if !word.is_empty() && word.chars().all(plain) {
                    word.clone()
                } else {
                    format!("'{}'", word.replace('\'', "'\\''"))
                }
            })
            .collect::<Vec<_>>()
            .join(" "),
    }
}
