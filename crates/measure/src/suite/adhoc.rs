//! A plan for commands given on the command line, without a suite file.

use lapwing_model::text::shell_word;
use std::path::Path;

use serde_json::Value as Json;

use super::case::{resolve, texts_of};
use super::error::SuiteProblem;
use super::numbers::settings::Settings;
use super::plan::{Case, CaseInput, CommandLine, ExitCodes, OutputMetrics, Plan};
use super::sweep::{LONGEST_PARAMETERS, SweepParameter, combinations, fill};

/// What an ad-hoc plan has besides commands and settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdHoc {
    /// The commands to time, in order.
    pub commands: Vec<CommandLine>,
    /// Names for them, in the same order; the rest are called by their text. A name may mention parameters.
    pub names: Vec<String>,
    /// Parameters and their values, for `{name}` in the commands.
    pub parameters: Vec<(String, Vec<Json>)>,
    /// Runs before each instance, untimed.
    pub setup: Option<CommandLine>,
    /// Run before each iteration, untimed: one for all commands, or one for each in the same order.
    pub prepare: Vec<CommandLine>,
    /// Runs after each instance, untimed.
    pub teardown: Option<CommandLine>,
    /// Runs after each iteration, untimed.
    pub check: Option<CommandLine>,
    /// A file to read from.
    pub stdin: Option<String>,
    /// The exit codes that count as success; 0 by default.
    pub exit_codes: Option<ExitCodes>,
    /// Whether numbers are read from what the program prints.
    pub output: OutputMetrics,
}

impl AdHoc {
    /// The suite that benchmarks of ad-hoc plans belong to.
    pub const SUITE: &'static str = "commands";

    /// Returns the plan that measures the commands in `folder`, each with every combination of the parameters that it
    /// mentions.
    ///
    /// # Errors
    /// When the parameters have too many combinations, or a command mentions a misspelt one.
    pub fn plan(
        &self,
        folder: &Path,
        settings: &Settings,
        seed: u64,
    ) -> Result<Plan, SuiteProblem> {
        let directory = folder.display().to_string();
        let mut room = 4 * LONGEST_PARAMETERS;
        let mut cases: Vec<Case> = Vec::new();
        let mut unused: Vec<&String> = self.parameters.iter().map(|(name, _)| name).collect();
        for (position, command) in self.commands.iter().enumerate() {
            let given = self.names.get(position);
            let mut template = self.template(given, command, &directory, settings);
            template.prepare = self.prepare_of(position);
            let mentioned = self.mentioned(&template);
            unused.retain(|name| mentioned.iter().all(|it| it.name != **name));
            for combination in combinations(&mentioned)? {
                let mut case = resolve(&template, combination, &mut room)?;
                let named = given.map(|name| (name, fill(name, &case.benchmark.params)));
                match named {
                    None => case.benchmark.id = text(&case.command),
                    Some((name, filled)) if filled != *name => case.benchmark.id = filled,
                    Some(_) => {}
                }
                // The same command twice is an A/A comparison and stays two benchmarks.
                let twins = cases
                    .iter()
                    .filter(|it| without_number(&it.benchmark.id) == case.benchmark.id)
                    .count();
                if twins > 0 {
                    case.benchmark.id.push_str(&format!(" #{}", twins + 1));
                }
                cases.push(case);
            }
        }
        if let Some(name) = unused.first() {
            return Err(SuiteProblem::Value {
                key: (*name).clone(),
                reason: format!("is in no command: write `{{{name}}}` where its value belongs"),
            });
        }
        Ok(Plan {
            directory: Some(directory),
            cpus: settings.cpus.clone(),
            ..Plan::of_cases(Self::SUITE, cases, seed)
        })
    }

    /// Returns what runs before each iteration of the command at a position.
    fn prepare_of(&self, position: usize) -> Option<CommandLine> {
        match self.prepare.as_slice() {
            [one] => Some(one.clone()),
            several => several.get(position).cloned(),
        }
    }

    /// Returns the parameters that a command, or what runs around it, mentions.
    fn mentioned(&self, case: &Case) -> Vec<SweepParameter> {
        let mut case = case.clone();
        let stdin = match &case.stdin {
            CaseInput::File(path) => Some(path.clone()),
            CaseInput::Null => None,
        };
        let commands = [
            Some(&mut case.command),
            case.setup.as_mut(),
            case.prepare.as_mut(),
            case.teardown.as_mut(),
            case.check.as_mut(),
        ];
        let texts = commands.into_iter().flatten().flat_map(texts_of);
        let texts: Vec<String> = texts.map(|it| it.clone()).chain(stdin).collect();
        let parameters = self.parameters.iter().filter(|(name, _)| {
            let place = format!("{{{name}}}");
            texts.iter().any(|text| text.contains(&place))
        });
        parameters
            .map(|(name, values)| SweepParameter {
                name: name.clone(),
                values: values.clone(),
                swept: true,
            })
            .collect()
    }

    fn template(
        &self,
        name: Option<&String>,
        command: &CommandLine,
        directory: &str,
        settings: &Settings,
    ) -> Case {
        let id = name.cloned().unwrap_or_else(|| text(command));
        let mut case = Case {
            setup: self.setup.clone(),
            teardown: self.teardown.clone(),
            check: self.check.clone(),
            directory: Some(directory.to_owned()),
            stdin: self.stdin.clone().map_or(CaseInput::Null, CaseInput::File),
            output: self.output,
            ..Case::new(id, command.clone())
        };
        if let Some(codes) = &self.exit_codes {
            case.exit_codes = codes.clone();
        }
        settings.apply(&mut case);
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
        CommandLine::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
            words.join(" ")
        }
    }
}
