//! Options that other tools for measuring commands have, with the same letters.

use clap::Args;
use lapwing_measure::suite::{CommandLine, MOST_ITERATIONS, Settings};
use serde_json::{Value, json};

use super::options::parse_iterations;
use crate::error::CliError;

/// Options of commands on the command line: parameters, the number of executions, and no shell.
#[derive(Debug, Clone, Default, Args)]
pub struct CommandSweep {
    /// Timed executions per command in all, spread over the instances
    #[arg(long, short, value_name = "N", value_parser = parse_iterations, conflicts_with_all = ["iterations", "min_time"], help_heading = "Repetitions and limits")]
    pub runs: Option<u32>,
    /// Measure with each of these values in place of `{NAME}`, as in `-L threads 1,2,4`; `\,` is a
    /// comma within a value; can be repeated
    #[arg(long, short = 'L', num_args = 2, value_names = ["NAME", "VALUES"], help_heading = "Commands")]
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

    /// Sets the numbers of instances and iterations from the number of executions.
    pub fn apply(&self, settings: &mut Settings) {
        let Some(runs) = self.runs else {
            return;
        };
        let instances = settings.instances.unwrap_or(Settings::INSTANCES).min(runs);
        settings.instances = Some(instances);
        settings.iterations = Some(runs.div_ceil(instances).min(MOST_ITERATIONS));
    }

    /// Returns the commands, split into words if no shell is wanted.
    pub fn split(&self, commands: Vec<CommandLine>) -> Result<Vec<CommandLine>, CliError> {
        if !self.no_shell {
            return Ok(commands);
        }
        let split = commands.into_iter().map(|command| match command {
            CommandLine::Shell(text) => match shlex::split(&text) {
                Some(words) if !words.is_empty() => Ok(CommandLine::Words(words)),
                Some(_) | None => Err(CliError::input(format!(
                    "`{text}` cannot be split into words: a quote is not closed"
                ))),
            },
            words @ CommandLine::Words(_) => Ok(words),
        });
        split.collect()
    }

    /// Returns the options that were given and apply to commands only, with what a suite has instead.
    pub fn given(&self) -> [(&'static str, &'static str, bool); 4] {
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
            ("--no-shell", "command", self.no_shell),
        ]
    }
}

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
            sweep.apply(&mut settings);
            (settings.instances, settings.iterations)
        };
        assert_eq!(spread(10, None), (Some(5), Some(2)));
        assert_eq!(spread(3, None), (Some(3), Some(1)));
        assert_eq!(spread(21, Some(10)), (Some(10), Some(3)));
    }
}
