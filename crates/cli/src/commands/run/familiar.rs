//! Options that other tools for measuring commands have, with the same letters.

use clap::Args;
use lapwing_measure::suite::{
    BurnIn, CommandLine, ExitCodes, MOST_ITERATIONS, Settings, command_text,
};
use serde_json::{Value, json};

use super::options::parse_iterations;
use crate::error::CliError;

/// Options of commands on the command line: parameters, the number of executions, and no shell.
#[derive(Debug, Clone, Default, Args)]
pub struct CommandSweep {
    /// Timed executions per command in all, spread over the instances; without burn-in, unless
    /// --burn-in is given
    #[arg(long, short, value_name = "N", value_parser = parse_iterations, conflicts_with_all = ["iterations", "min_time"], help_heading = "Repetitions and limits")]
    pub runs: Option<u32>,
    /// Timed executions per command in all, at least; a quick command is executed more often, see
    /// --min-time
    #[arg(long, short, value_name = "N", value_parser = parse_iterations, conflicts_with_all = ["iterations", "runs"], help_heading = "Repetitions and limits")]
    pub min_runs: Option<u32>,
    /// Measure with each of these values in place of `{NAME}`, as in `-L threads 1,2,4`; `\,` is a
    /// comma within a value; can be repeated
    #[arg(long, short = 'L', num_args = 2, value_names = ["NAME", "VALUES"], allow_hyphen_values = true, help_heading = "Commands")]
    pub parameter_list: Vec<String>,
    /// Measure with each number from MIN to MAX in place of `{NAME}`, as in `-P threads 1 8`; can
    /// be repeated
    #[arg(long, short = 'P', num_args = 3, value_names = ["NAME", "MIN", "MAX"], allow_negative_numbers = true, help_heading = "Commands")]
    pub parameter_scan: Vec<String>,
    /// Step of --parameter-scan [default: 1]
    #[arg(
        long,
        short = 'D',
        value_name = "STEP",
        requires = "parameter_scan",
        help_heading = "Commands"
    )]
    pub parameter_step_size: Option<String>,
    /// Run commands without a shell: their words are split at spaces, and quotes are respected
    #[arg(long, short = 'N', help_heading = "Commands")]
    pub no_shell: bool,
    /// Shell that runs the commands, such as `bash` or `bash --norc`; `none` means --no-shell
    /// [default: sh]
    #[arg(
        long,
        short = 'S',
        value_name = "SHELL",
        conflicts_with = "no_shell",
        help_heading = "Commands"
    )]
    pub shell: Option<String>,
    /// Measure this command, too, and compare each with it instead of with the fastest
    #[arg(long, value_name = "COMMAND", help_heading = "Commands")]
    pub reference: Option<String>,
    /// Name of the --reference
    #[arg(
        long,
        value_name = "NAME",
        requires = "reference",
        help_heading = "Commands"
    )]
    pub reference_name: Option<String>,
}

/// The attribute of a session that has the benchmark which the others are compared with.
pub const REFERENCE: &str = "reference";

/// The program that runs the text of a command.
enum CommandShell {
    /// `sh`.
    Usual,
    /// Nothing: its words are a program and arguments.
    None,
    /// This program with these arguments.
    Other(Vec<String>),
}

/// More values than this of one scan are a slip.
const MOST_VALUES: usize = 10_000;

impl CommandSweep {
    /// Returns the parameters and their values.
    pub fn parameters(&self) -> Result<Vec<(String, Vec<Value>)>, CliError> {
        let mut all: Vec<(String, Vec<Value>)> = Vec::new();
        for pair in self.parameter_list.chunks_exact(2) {
            let values = list(&pair[1]).iter().map(|it| value(it.trim())).collect();
            all.push((pair[0].clone(), values));
        }
        let step = self.parameter_step_size.as_deref().unwrap_or("1");
        for three in self.parameter_scan.chunks_exact(3) {
            all.push((three[0].clone(), scan([&three[1], &three[2], step])?));
        }
        for (position, (name, values)) in all.iter().enumerate() {
            if all[..position].iter().any(|(other, _)| other == name) {
                return Err(CliError::input(format!(
                    "parameter `{name}` is given twice"
                )));
            }
            if let Some(twice) = values
                .iter()
                .enumerate()
                .find_map(|(at, value)| values[..at].contains(value).then_some(value))
            {
                return Err(CliError::input(format!(
                    "parameter `{name}` has the value {twice} twice"
                )));
            }
        }
        Ok(all)
    }

    /// Sets the numbers of instances and iterations from the number of executions. Returns the number that there will
    /// be, if it is not the one that was asked for.
    pub fn apply(&self, settings: &mut Settings) -> Option<u64> {
        let runs = self.runs.or(self.min_runs)?;
        let instances = settings.instances.unwrap_or_else(|| divisor(runs));
        let instances = instances.min(runs);
        let iterations = runs.div_ceil(instances).min(MOST_ITERATIONS);
        settings.instances = Some(instances);
        settings.iterations = Some(iterations);
        if self.runs.is_some() {
            // So many executions and no more, unless some are to be left out.
            settings.burn_in = settings.burn_in.or(Some(BurnIn::Fixed(0)));
        }
        let planned = u64::from(instances) * u64::from(iterations);
        (self.runs.is_some() && planned != u64::from(runs)).then_some(planned)
    }

    /// Returns a note on commands that hyperfine executes once per command, where a number of executions was asked for.
    pub fn once_note(&self, settings: &Settings, options: &[&str]) -> Option<String> {
        self.runs.or(self.min_runs)?;
        let instances = settings.instances.filter(|it| *it > 1)?;
        let verb = match options {
            [] => return None,
            [_] => "runs",
            [..] => "run",
        };
        Some(format!(
            "{} {verb} {instances} times per command, once for each of its {instances} instances",
            options.join(" and ")
        ))
    }

    /// Returns a note on the executions to warm up, which hyperfine has once per command, where a number of executions
    /// was asked for.
    pub fn warmups_note(&self, settings: &Settings) -> Option<String> {
        self.runs.or(self.min_runs)?;
        let instances = settings.instances.filter(|it| *it > 1)?;
        match settings.burn_in? {
            BurnIn::Fixed(burn_in @ 1..) => Some(format!(
                "{} warm-ups per command: each of its {instances} instances starts cold and has {burn_in}",
                u64::from(instances) * u64::from(burn_in)
            )),
            BurnIn::Fixed(0) | BurnIn::Auto => None,
        }
    }

    /// Returns the commands with the reference before them.
    pub fn with_reference(&self, commands: Vec<CommandLine>) -> Result<Vec<CommandLine>, CliError> {
        let Some(reference) = &self.reference else {
            return Ok(commands);
        };
        if commands.is_empty() {
            return Err(CliError::input(
                "--reference is compared with commands, and there are none",
            )
            .hint(
                "give them after it: `lapwing run --reference 'sort f' 'sort -n f' 'sort -g f'`",
            ));
        }
        let mut parameters = self.parameter_names();
        if let Some(name) = parameters.find(|name| reference.contains(&format!("{{{name}}}"))) {
            return Err(CliError::input(format!(
                "the reference is one command, but mentions the parameter `{name}`"
            )));
        }
        let reference = CommandLine::Shell(reference.clone());
        Ok(std::iter::once(reference).chain(commands).collect())
    }

    fn parameter_names(&self) -> impl Iterator<Item = &String> {
        let lists = self.parameter_list.chunks_exact(2).map(|it| &it[0]);
        lists.chain(self.parameter_scan.chunks_exact(3).map(|it| &it[0]))
    }

    /// Returns the names of commands: that of the reference, those that were given, and the texts of commands that
    /// another shell runs.
    pub fn names(
        &self,
        given: &[String],
        commands: &[CommandLine],
    ) -> Result<Vec<String>, CliError> {
        let texts: Vec<String> = commands.iter().map(command_text).collect();
        let mut names = Vec::new();
        if let Some(reference) = &self.reference {
            names.push(self.reference_name.as_ref().unwrap_or(reference).clone());
        }
        names.extend(given.iter().cloned());
        if let CommandShell::Other(_) = self.command_shell()? {
            names.extend(texts.into_iter().skip(names.len()));
        }
        Ok(names)
    }

    /// Returns whether another shell than `sh` runs the commands.
    pub fn has_other_shell(&self) -> bool {
        matches!(self.command_shell(), Ok(CommandShell::Other(_)))
    }

    fn command_shell(&self) -> Result<CommandShell, CliError> {
        match self.shell.as_deref() {
            None if self.no_shell => Ok(CommandShell::None),
            Some("none") => Ok(CommandShell::None),
            None | Some("default") => Ok(CommandShell::Usual),
            Some(shell) => match shlex::split(shell) {
                Some(words) if !words.is_empty() => Ok(CommandShell::Other(words)),
                Some(_) | None => Err(CliError::input(format!("`{shell}` is not a shell"))
                    .hint("write `--shell bash`, `--shell 'bash --norc'` or `--shell none`")),
            },
        }
    }

    /// Returns the commands as the chosen shell runs them: split into words if there is none.
    pub fn shelled(&self, commands: Vec<CommandLine>) -> Result<Vec<CommandLine>, CliError> {
        let shell = self.command_shell()?;
        let shelled = commands.into_iter().map(|command| match (&shell, command) {
            (CommandShell::None, CommandLine::Shell(text)) => match shlex::split(&text) {
                Some(words) if !words.is_empty() => Ok(CommandLine::Words(words)),
                Some(_) | None => Err(CliError::input(format!(
                    "`{text}` cannot be split into words: a quote is not closed"
                ))),
            },
            (CommandShell::Other(shell), CommandLine::Shell(text)) => {
                let words = shell.iter().cloned().chain(["-c".to_owned(), text]);
                Ok(CommandLine::Words(words.collect()))
            }
            (CommandShell::Other(_), CommandLine::Words(_)) => Err(CliError::input(
                "--shell is for commands that are texts, and words after `--` run without a shell",
            )
            .hint("give the command as one text with --command")),
            (CommandShell::Usual, command) | (CommandShell::None, command) => Ok(command),
        });
        shelled.collect()
    }

    /// Returns the options that were given and apply to commands only, with what a suite has instead.
    pub fn given(&self) -> [(&'static str, &'static str, bool); 6] {
        [
            (
                "--parameter-list",
                "params",
                !self.parameter_list.is_empty(),
            ),
            (
                "--parameter-scan",
                "params",
                !self.parameter_scan.is_empty(),
            ),
            ("--runs", "iterations", self.runs.is_some()),
            ("--min-runs", "iterations", self.min_runs.is_some()),
            ("--no-shell", "command", self.no_shell),
            ("--shell", "command", self.shell.is_some()),
        ]
    }
}

/// Returns the number of instances that a number of executions is divided among: near the usual one, and a divisor if
/// there is one.
fn divisor(runs: u32) -> u32 {
    let mut wanted = [Settings::INSTANCES, 6, 4, 7, 8, 9, 10, 3].into_iter();
    wanted
        .find(|it| runs.is_multiple_of(*it))
        .unwrap_or(Settings::INSTANCES)
}

/// Returns the exit codes that are accepted: all of them, or 0 and those of a list.
pub fn parse_exit_codes(text: &str) -> Result<ExitCodes, String> {
    if text == ALL_NON_ZERO {
        return Ok(ExitCodes::Any);
    }
    let codes = text.split(',').map(|code| code.trim().parse());
    let codes: Result<Vec<i32>, _> = std::iter::once(Ok(0)).chain(codes).collect();
    codes
        .map(ExitCodes::These)
        .map_err(|_no_number| format!("write exit codes such as `1,2`, or `{ALL_NON_ZERO}`"))
}

/// The value of `--ignore-failure` that accepts any exit code.
pub const ALL_NON_ZERO: &str = "all-non-zero";

/// Splits a list at its commas, of which a backslash makes a part of the value, and of a backslash itself.
fn list(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = (letter == '\\')
            .then(|| letters.next_if(|next| matches!(next, ',' | '\\')))
            .flatten();
        match (escaped.unwrap_or(letter), values.last_mut()) {
            (',', Some(_)) if escaped.is_none() => values.push(String::new()),
            (letter, Some(last)) => last.push(letter),
            (_, None) => {}
        }
    }
    values
}

/// Returns a number if the text is written as numbers are printed, else the text.
fn value(text: &str) -> Value {
    let number: Option<Value> = text.parse::<i64>().map(|it| json!(it)).ok();
    let number = number.or_else(|| text.parse::<f64>().map(|it| json!(it)).ok());
    match number {
        Some(number) if format!("{number}") == text => number,
        Some(_) | None => json!(text),
    }
}

/// Returns the numbers from the first to the second by steps of the third, with as many decimals as these have.
fn scan(ends: [&str; 3]) -> Result<Vec<Value>, CliError> {
    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, it)| it.len());
    let most = ends.iter().map(|it| decimals(it)).max().unwrap_or(0);
    let scale = u32::try_from(most)
        .ok()
        .and_then(|it| 10_i64.checked_pow(it));
    // Whole multiples of the last decimal: sums of fractions would drift.
    let whole = |text: &str| -> Option<i64> {
        let text = text.trim();
        let (before, after) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{before}{after:0<most$}");
        digits.parse().ok()
    };
    let refuse = |why: &str| {
        CliError::input(format!("{} to {} by {}: {why}", ends[0], ends[1], ends[2]))
            .hint("write a scan like `-P threads 1 8`, or `-P share 0 1 -D 0.25`")
    };
    let (Some(scale), Some(first), Some(last), Some(step)) =
        (scale, whole(ends[0]), whole(ends[1]), whole(ends[2]))
    else {
        return Err(refuse("these are not all numbers"));
    };
    if step <= 0 || last < first {
        return Err(refuse("the step must be above zero, and MIN not above MAX"));
    }
    let steps = usize::try_from(last.abs_diff(first) / step.unsigned_abs());
    let Some(number) = steps.ok().filter(|it| *it < MOST_VALUES).map(|it| it + 1) else {
        return Err(refuse("that is more than 10,000 values"));
    };
    let mut values = Vec::with_capacity(number);
    let mut at = first;
    while at <= last {
        let sign = if at < 0 { "-" } else { "" };
        let size = at.unsigned_abs();
        let unit = scale.unsigned_abs();
        values.push(match most {
            0 => json!(at),
            _ => value(&format!("{sign}{}.{:0most$}", size / unit, size % unit)),
        });
        match at.checked_add(step) {
            Some(next) => at = next,
            None => break,
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_scans_become_values() {
        let words = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect();
        let sweep = CommandSweep {
            parameter_list: words(&["mode", "fast, slow,007,1.50,2"]),
            parameter_scan: words(&["threads", "-1", "1", "share", "0", "1"]),
            parameter_step_size: Some("0.5".to_owned()),
            ..CommandSweep::default()
        };
        let told = sweep.parameters().expect("correct");
        let told: Vec<String> = told
            .iter()
            .map(|(name, values)| format!("{name} {}", json!(values)))
            .collect();
        assert_eq!(
            told,
            [
                r#"mode ["fast","slow","007","1.50",2]"#,
                "threads [-1.0,-0.5,0.0,0.5,1.0]",
                "share [0.0,0.5,1.0]",
            ]
        );
        assert_eq!(list(r"a\,b,c\\,\d"), ["a,b", "c\\", r"\d"]);
        assert_eq!(
            scan(["1", "8", "3"]).expect("a scan"),
            [1, 4, 7].map(|it| json!(it))
        );
        for wrong in [
            ["a", "2", "1"],
            ["2", "1", "1"],
            ["1", "2", "0"],
            ["0", "1e9", "1"],
        ] {
            assert!(scan(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn executions_are_spread_over_instances() {
        let spread = |runs, instances| {
            let mut settings = Settings {
                instances,
                ..Settings::default()
            };
            let sweep = CommandSweep {
                runs: Some(runs),
                ..CommandSweep::default()
            };
            let planned = sweep.apply(&mut settings);
            (settings.instances, settings.iterations, planned)
        };
        assert_eq!(spread(10, None), (Some(5), Some(2), None));
        assert_eq!(spread(1, None), (Some(1), Some(1), None));
        assert_eq!(spread(3, None), (Some(3), Some(1), None));
        assert_eq!(spread(14, None), (Some(7), Some(2), None));
        assert_eq!(spread(11, None), (Some(5), Some(3), Some(15)));
        assert_eq!(spread(21, Some(10)), (Some(10), Some(3), Some(30)));
    }
}
