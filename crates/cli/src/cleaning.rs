//! Options of every command that judges: exclusions.

use std::path::{Path, PathBuf};

use clap::Args;
use lapwing_analyse::clean::{BurnInRule, CleaningRules, OutlierMetrics, OutlierRule};
use lapwing_formats::EachRun;
use lapwing_measure::{ancestry, number_of_commits, remote_address};
use lapwing_model::{JudgeSettings, JudgedFrom};
use lapwing_stats::Confidence;

use crate::audit::AuditDetail;
use crate::burn_in_file;
use crate::error::CliError;
use crate::options::within;
use crate::profile::{Compat, Profile};
use crate::suite_file;

/// Expected values of a minimum.
const LEAST: &str = "write a whole number of 1 or more";

/// Exclusions from analysis.
#[derive(Debug, Clone, Default, Args)]
pub struct CleaningOptions {
    /// Burn-in to exclude: `recorded` (as planned), `auto` (detected from the values), or a number
    /// of iterations [default: recorded]
    #[arg(long, value_name = "BURN-IN", value_parser = parse_burn_in, help_heading = "Exclusions")]
    pub burn_in: Option<JudgedFrom>,
    /// Read the first steady iteration per benchmark from this file (JSON or YAML, name to index);
    /// --burn-in applies to all others
    #[arg(long, value_name = "FILE", help_heading = "Exclusions")]
    pub burn_in_file: Option<PathBuf>,
    /// Exclude values more than FACTOR times above or below the median of their instance [default:
    /// keep all]
    #[arg(long, value_name = "FACTOR", value_parser = parse_factor, help_heading = "Exclusions")]
    pub outlier_factor: Option<f64>,
    /// Exclude instances with fewer usable iterations [default: 1]
    #[arg(long, value_name = "N", value_parser = within(1.., LEAST), help_heading = "Exclusions")]
    pub min_iterations: Option<usize>,
    /// Exclude benchmarks with fewer usable instances [default: 1]
    #[arg(long, value_name = "N", value_parser = within(1.., LEAST), help_heading = "Exclusions")]
    pub min_instances: Option<usize>,
    /// Reproduce another tool's method, bugs included
    #[arg(long, value_name = "TOOL", help_heading = "Exclusions")]
    pub compat: Option<Compat>,
    /// Suite file whose [judge] table sets defaults for these options [default: lapwing.toml if
    /// present]
    #[arg(
        long = "suite",
        id = "suite_file",
        value_name = "FILE",
        help_heading = "Exclusions"
    )]
    pub suite: Option<PathBuf>,
    /// Do not read a suite file
    #[arg(long, conflicts_with = "suite_file", help_heading = "Exclusions")]
    pub no_suite: bool,
    /// Show what was excluded, by rule and benchmark, and which benchmarks lack enough data
    /// to analyse
    #[arg(long, help_heading = "Exclusions")]
    pub audit: bool,
}

/// Settings of judging, from the options or else the suite file; the command has the other defaults.
#[derive(Debug, Clone)]
pub struct JudgingOptions {
    /// Exclusions.
    pub rules: CleaningRules,
    /// The smallest change that matters, as a share.
    pub smallest_effect: Option<f64>,
    /// The level of intervals.
    pub confidence: Option<Confidence>,
    /// The accepted share of false findings among the reported changes.
    pub false_discovery_rate: Option<f64>,
    /// What the suite file says, also of single benchmarks and metrics.
    pub suite: JudgeSettings,
    /// The meaning of a run of a command in files that do not state it.
    pub each_run: EachRun,
}

impl JudgingOptions {
    /// Returns the commit that a revision means in the repository under test, and its ancestors; empty if it means none.
    pub fn ancestry(&self, revision: &str) -> Vec<String> {
        let repository = self.suite.repository.as_deref();
        repository.map_or_else(Vec::new, |folder| ancestry(folder, revision))
    }

    /// Returns the number of commits after one up to another; `None` if the repository under test does not have them.
    pub fn number_of_commits(&self, after: &str, up_to: &str) -> Option<usize> {
        number_of_commits(self.suite.repository.as_deref()?, after, up_to)
    }

    /// Returns the address of the remote of the repository under test, if the repository has this commit.
    pub fn remote_with(&self, commit: &str) -> Option<String> {
        self.number_of_commits(commit, commit)?;
        remote_address(self.suite.repository.as_deref()?)
    }
}

/// Returns the start of the steady state.
fn parse_burn_in(text: &str) -> Result<JudgedFrom, String> {
    match text {
        "recorded" => Ok(JudgedFrom::Recorded),
        "auto" => Ok(JudgedFrom::Auto),
        number => number
            .parse()
            .map(JudgedFrom::Index)
            .map_err(|_not_a_number| "write `recorded`, `auto` or a number".to_owned()),
    }
}

impl CleaningOptions {
    /// Returns the defaults of the options.
    pub fn profile(&self) -> Profile {
        Profile::of(self.compat)
    }

    /// Returns the detail of the audit.
    pub fn detail(&self) -> AuditDetail {
        if self.audit {
            AuditDetail::All
        } else {
            AuditDetail::Line
        }
    }

    /// Returns the settings of the options, else of the suite file, else the defaults.
    pub fn judging(&self) -> Result<JudgingOptions, CliError> {
        if self.compat == Some(Compat::Coiled) {
            return Err(CliError::input(
                "--compat coiled reproduces a detector of changes in a history",
            )
            .hint("use it with `lapwing detect`"));
        }
        self.judging_histories()
    }

    /// Returns the options of the suite file in a folder, if it has one.
    pub fn of_folder(folder: Option<&Path>) -> Self {
        let file = folder.map(|it| it.join(suite_file::SUITE_FILE));
        Self {
            suite: file.filter(|it| it.is_file()),
            ..Self::default()
        }
    }

    /// Returns the same, also for tools that judge histories.
    pub fn judging_histories(&self) -> Result<JudgingOptions, CliError> {
        let suite = self.suite_settings()?;
        let confidence = suite.confidence.map(Confidence::new).transpose()?;
        Ok(JudgingOptions {
            rules: self.rules_with(&suite)?,
            smallest_effect: suite.smallest_effect,
            confidence,
            false_discovery_rate: suite.false_discovery_rate,
            suite,
            each_run: EachRun::Iteration,
        })
    }

    /// Returns the rules of cleaning.
    pub fn rules(&self) -> Result<CleaningRules, CliError> {
        Ok(self.judging()?.rules)
    }

    fn suite_settings(&self) -> Result<JudgeSettings, CliError> {
        let path = match (&self.suite, self.no_suite) {
            (Some(path), _) => Some(suite_file::named(path)),
            (None, true) => None,
            (None, false) => suite_file::here(),
        };
        let Some(path) = path else {
            return Ok(JudgeSettings {
                repository: Some(PathBuf::from(".")),
                ..JudgeSettings::default()
            });
        };
        suite_file::judging(&path, "has settings for judging")
    }

    fn rules_with(&self, suite: &JudgeSettings) -> Result<CleaningRules, CliError> {
        // A burn-in on the command line applies to all benchmarks, despite a file of the suite.
        let file_of_suite = match self.burn_in {
            Some(_) => None,
            None => suite.burn_in_file.as_ref(),
        };
        let starts = match self.burn_in_file.as_ref().or(file_of_suite) {
            Some(path) => Some(burn_in_file::read(path)?),
            None => None,
        };
        if let Some(Compat::Hail) = self.compat {
            let Some(starts) = starts else {
                return Err(CliError::input(
                    "--compat hail needs the first steady iterations",
                )
                .hint(
                    "name their file with --burn-in-file; `lapwing burn-in --write FILE` writes one",
                ));
            };
            // The rules of Hail, except those that options set.
            return Ok(self.over(CleaningRules::hail(starts)));
        }
        let usual = CleaningRules::default();
        let least = |number: Option<u32>, usual: usize| {
            number.map_or(usual, |it| usize::try_from(it).unwrap_or(usize::MAX))
        };
        Ok(self.over(CleaningRules {
            burn_in: BurnInRule {
                listed: starts,
                others: Some(
                    self.burn_in
                        .or(suite.burn_in)
                        .unwrap_or(JudgedFrom::Recorded),
                ),
            },
            outliers: suite.outlier_factor.map(outliers),
            min_iterations: least(suite.min_iterations, usual.min_iterations),
            min_instances: least(suite.min_instances, usual.min_instances),
            ..usual
        }))
    }

    /// Returns the rules with the limits of the options.
    fn over(&self, rules: CleaningRules) -> CleaningRules {
        CleaningRules {
            outliers: self.outlier_factor.map(outliers).or(rules.outliers),
            min_iterations: self.min_iterations.unwrap_or(rules.min_iterations),
            min_instances: self.min_instances.unwrap_or(rules.min_instances),
            ..rules
        }
    }
}

fn outliers(factor: f64) -> OutlierRule {
    OutlierRule {
        factor,
        fewest_values: 0,
        metrics: OutlierMetrics::Times,
    }
}

fn parse_factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor > 1.0 && factor.is_finite() => Ok(factor),
        Ok(_) | Err(_) => Err("write a number above 1, such as 10".to_owned()),
    }
}
