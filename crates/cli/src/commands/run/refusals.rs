//! Options that contradict each other, or would have no effect.

use lapwing_model::text::counted;

use super::{AgainWhat, Run};
use crate::error::CliError;

impl Run {
    /// Refuses options that contradict each other, or would have no effect on these commands.
    pub(super) fn refuse_contradictions(&self, commands: usize) -> Result<(), CliError> {
        self.measuring.check()?;
        if let (Some(least), Some(most)) = (self.min_time, self.max_time)
            && least > most
        {
            return Err(CliError::input("--min-time is longer than --max-time"));
        }
        if self.again == Some(AgainWhat::Commits) && self.commits.is_none() {
            return Err(
                CliError::input("--again without a value belongs to --commits").hint(
                    "`--again inconclusive` adds instances to what the last comparison left open",
                ),
            );
        }
        let judged = self.metric.is_some() || self.smallest_effect.is_some();
        let is_campaign = self.campaign.campaign.is_some();
        let is_chosen = self.slowdown.is_some();
        if judged && !self.stop_early && self.fail_on.is_empty() && !is_campaign && !is_chosen {
            return Err(CliError::input(
                "--metric and --smallest-effect belong to --fail-on, --campaign, --slowdown, --stop-early or --again inconclusive",
            )
            .hint("`lapwing compare --smallest-effect 3%` judges a measured session"));
        }
        if commands == 0 {
            return Ok(());
        }
        let filters = [
            ("--benchmark", !self.benchmark.is_empty()),
            ("--tag", !self.tag.is_empty()),
            ("--variant", !self.variant.is_empty()),
        ];
        if let Some((option, _)) = filters.iter().find(|(_, given)| *given) {
            let command = if self.command.is_empty() {
                "the command"
            } else {
                "--command"
            };
            return Err(CliError::input(format!(
                "{option} selects from a suite; remove it, or remove {command}"
            )));
        }
        if self.command_name.len() > commands {
            return Err(CliError::input(format!(
                "{} for {}",
                counted(self.command_name.len(), "--command-name"),
                counted(commands, "command")
            ))
            .hint("give at most one --command-name per command"));
        }
        let measured = commands + usize::from(self.sweep.reference.is_some());
        if self.prepare.len() > 1 && self.prepare.len() != measured {
            let commands = counted(measured, "command");
            return Err(CliError::input(format!(
                "{} for {commands}",
                counted(self.prepare.len(), "--prepare")
            ))
            .hint(
                "give it once for all commands, or once for each; the --reference is the first",
            ));
        }
        Ok(())
    }

    /// Refuses options that would have no effect.
    pub(super) fn refuse_options_of_commands(&self) -> Result<(), CliError> {
        let given = [
            (
                "--command-name",
                "[benchmark.NAME]",
                !self.command_name.is_empty(),
            ),
            ("--setup", "setup", self.setup.is_some()),
            ("--prepare", "prepare", !self.prepare.is_empty()),
            ("--teardown", "teardown", self.teardown.is_some()),
            ("--check", "check", self.check.is_some()),
            ("--stdin", "stdin", self.stdin.is_some()),
            (
                "--ignore-failure",
                "exit_codes",
                self.ignore_failure.is_some(),
            ),
            ("--metrics", "metrics", self.metrics.is_some()),
        ];
        refuse_options_of_commands(given.into_iter().chain(self.sweep.given()))
    }
}

/// Refuses the first option that is given: an option, the key of the suite file that does the same, and whether it is
/// given.
pub fn refuse_options_of_commands<'a>(
    options: impl IntoIterator<Item = (&'a str, &'a str, bool)>,
) -> Result<(), CliError> {
    let mut given = options.into_iter();
    match given.find(|(.., given)| *given) {
        Some((option, key, _)) => Err(CliError::input(format!(
            "{option} applies only to commands; set `{key}` in the suite file"
        ))
        .hint("to measure a command, give it with `--command` or after `--`")),
        None => Ok(()),
    }
}
