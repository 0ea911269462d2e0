//! The rule that finds changes, and its options.

use clap::Args;
use lapwing_analyse::detect::{DetectOptions, DetectRule, ThresholdRule};
use lapwing_measure::suite::parse_duration;

use crate::comparing::parse_share;
use crate::error::CliError;
use crate::options::{NamedValue, one_of, within};
use crate::profile::Compat;

/// What counts as a change.
#[derive(Debug, Args)]
pub struct RuleOptions {
    /// How changes are found [default: changepoint; threshold with --compat coiled]
    #[arg(long, value_name = "RULE", value_parser = one_of(&RULES), help_heading = "Rule")]
    rule: Option<RuleName>,
    /// Accepted share of false findings, which is also the accepted probability of any finding if
    /// nothing changed [changepoint; default: 5%]
    #[arg(long, value_name = "SHARE", value_parser = parse_share, help_heading = "Rule")]
    false_discovery_rate: Option<f64>,
    /// Fewest runs between two changes [changepoint; default: 3, and more in long histories]
    #[arg(long, value_name = "N", value_parser = within(1..=1000, "write a whole number from 1 to 1000"), help_heading = "Rule")]
    min_runs: Option<usize>,
    /// Number of latest runs that all have to reach the threshold; 1 for a pull request
    /// [threshold; default: 3]
    #[arg(long, value_name = "N", value_parser = within(1..=1000, "write a whole number from 1 to 1000"), help_heading = "Rule")]
    last: Option<usize>,
    /// Number of runs before those, whose mean and standard deviation set the threshold
    /// [threshold; default: 10]
    #[arg(long, value_name = "N", value_parser = within(2..=100_000, "write a whole number of 2 or more"), help_heading = "Rule")]
    window: Option<usize>,
    /// Distance of the threshold from the mean in standard deviations [threshold; default: 3]
    #[arg(long, value_name = "X", value_parser = parse_deviations, help_heading = "Rule")]
    deviations: Option<f64>,
    /// Least distance of the threshold from the mean for times, such as 50ms [threshold; default:
    /// 1s]
    #[arg(long, value_name = "TIME", value_parser = parse_seconds, help_heading = "Rule")]
    time_floor: Option<f64>,
    /// Least distance of the threshold from the mean for memory, such as 100MiB [threshold;
    /// default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, help_heading = "Rule")]
    memory_floor: Option<f64>,
}

/// The names of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RuleName {
    ChangePoint,
    Threshold,
}

const RULES: [NamedValue<RuleName>; 2] = [
    (
        "changepoint",
        "Tests of every place of a history, corrected for the number of histories",
        RuleName::ChangePoint,
    ),
    (
        "threshold",
        "The latest runs against the mean and standard deviation of those before (Coiled's detector)",
        RuleName::Threshold,
    ),
];

impl RuleOptions {
    /// Returns the options of detection, with the rate of the suite file if there is no other.
    ///
    /// # Errors
    /// If an option is of another rule.
    pub fn options(
        &self,
        compat: Option<Compat>,
        false_discovery_rate: Option<f64>,
    ) -> Result<DetectOptions, CliError> {
        let usual = DetectOptions::default();
        let rule = match (self.rule, compat) {
            (None | Some(RuleName::Threshold), Some(Compat::Coiled)) => {
                DetectRule::Threshold(self.threshold(ThresholdRule::coiled()))
            }
            (Some(_), Some(Compat::Coiled)) => {
                return Err(CliError::input(
                    "--compat coiled is the rule `threshold`, no other",
                ));
            }
            (None | Some(RuleName::ChangePoint), _) => DetectRule::ChangePoint,
            (Some(RuleName::Threshold), _) => {
                DetectRule::Threshold(self.threshold(ThresholdRule::default()))
            }
        };
        self.refuse_others(rule)?;
        Ok(DetectOptions {
            false_discovery_rate: self
                .false_discovery_rate
                .or(false_discovery_rate)
                .unwrap_or(usual.false_discovery_rate),
            minimum_runs: self.min_runs,
            rule,
            ..usual
        })
    }

    fn threshold(&self, usual: ThresholdRule) -> ThresholdRule {
        ThresholdRule {
            last: self.last.unwrap_or(usual.last),
            window: self.window.unwrap_or(usual.window),
            deviations: self.deviations.unwrap_or(usual.deviations),
            time_floor: self.time_floor.unwrap_or(usual.time_floor),
            memory_floor: self.memory_floor.unwrap_or(usual.memory_floor),
            ..usual
        }
    }

    /// Refuses options of another rule than this one.
    fn refuse_others(&self, rule: DetectRule) -> Result<(), CliError> {
        let given = [
            (
                "--false-discovery-rate",
                self.false_discovery_rate.is_some(),
            ),
            ("--min-runs", self.min_runs.is_some()),
            ("--last", self.last.is_some()),
            ("--window", self.window.is_some()),
            ("--deviations", self.deviations.is_some()),
            ("--time-floor", self.time_floor.is_some()),
            ("--memory-floor", self.memory_floor.is_some()),
        ];
        let own: &[&str] = match rule {
            DetectRule::ChangePoint => &["--false-discovery-rate", "--min-runs"],
            DetectRule::Threshold(_) => &[
                "--last",
                "--window",
                "--deviations",
                "--time-floor",
                "--memory-floor",
            ],
        };
        let mut others = given.iter().filter(|(option, _)| !own.contains(option));
        match others.find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(CliError::input(format!(
                "{option} has no effect on the rule `{}`",
                rule.name()
            ))
            .hint("`lapwing detect --help` says which rule an option belongs to")),
            None => Ok(()),
        }
    }
}

fn parse_deviations(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number >= 0.0 && number.is_finite() => Ok(number),
        Ok(_) | Err(_) => Err("write a number of 0 or more, such as 3".to_owned()),
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    parse_duration(text).map(|duration| duration.as_secs_f64())
}

/// Returns the number of bytes of a size such as `1GiB`, `100 MB` or `4096`.
fn parse_bytes(text: &str) -> Result<f64, String> {
    const UNITS: [(&str, f64); 10] = [
        ("", 1.0),
        ("B", 1.0),
        ("kB", 1e3),
        ("KiB", 1024.0),
        ("MB", 1e6),
        ("MiB", 1_048_576.0),
        ("GB", 1e9),
        ("GiB", 1_073_741_824.0),
        ("TB", 1e12),
        ("TiB", 1_099_511_627_776.0),
    ];
    let text = text.trim();
    let split = text.find(|it: char| it.is_ascii_alphabetic());
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let factor = UNITS.iter().find(|(name, _)| *name == unit);
    let number = number.trim().parse::<f64>().ok();
    match (number, factor) {
        (Some(number), Some((_, factor))) if number >= 0.0 && number.is_finite() => {
            Ok(number * factor)
        }
        _ => Err("write a size such as 100MiB".to_owned()),
    }
}
