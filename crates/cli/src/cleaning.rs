//! The options of every command that judges: what is left out.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use lapwing_core::clean::{BurnInRule, KnownBenchmarks, OutlierMetrics, OutlierRule, Rules};

use crate::audit::Detail;
use crate::burn_in_file;
use crate::error::CliError;

/// What is left out of a judgement.
#[derive(Debug, Clone, Default, Args)]
pub struct Cleaning {
    /// Leave these iterations out as burn-in: `recorded` (as planned), `auto` (found from the
    /// values), or a number [default: recorded]
    #[arg(long, value_name = "BURN-IN", help_heading = "What is left out")]
    pub burn_in: Option<BurnInChoice>,
    /// Take the first stable iteration of each benchmark from this file (JSON or YAML: name to
    /// index); others stay as --burn-in says
    #[arg(long, value_name = "FILE", help_heading = "What is left out")]
    pub burn_in_file: Option<PathBuf>,
    /// Leave values out that are this many times the median of their instance, or the
    /// median this many times them [default: none is left out for its size]
    #[arg(long, value_name = "FACTOR", value_parser = parse_factor, help_heading = "What is left out")]
    pub outlier_factor: Option<f64>,
    /// Leave instances out with fewer iterations that count [default: 1]
    #[arg(long, value_name = "N", help_heading = "What is left out")]
    pub min_iterations: Option<usize>,
    /// Leave benchmarks out with fewer instances that count [default: 1]
    #[arg(long, value_name = "N", help_heading = "What is left out")]
    pub min_instances: Option<usize>,
    /// Do exactly as another tool does, slips included
    #[arg(long, value_name = "TOOL", help_heading = "What is left out")]
    pub compat: Option<Compat>,
    /// Show what was left out, by rule and benchmark, and which benchmarks are not viable
    #[arg(long, help_heading = "What is left out")]
    pub audit: bool,
}

/// Another tool whose rules are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Compat {
    /// The notebook and `analyze_benchmarks` of Hail's benchmarks
    Hail,
}

/// Where the steady state begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BurnInChoice {
    /// After what was planned as burn-in.
    Recorded,
    /// Where the values say.
    Auto,
    /// At this iteration.
    Index(u32),
}

impl FromStr for BurnInChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "recorded" => Ok(Self::Recorded),
            "auto" => Ok(Self::Auto),
            number => number
                .parse()
                .map(Self::Index)
                .map_err(|_not_a_number| "write `recorded`, `auto` or a number".to_owned()),
        }
    }
}

impl Cleaning {
    /// Returns how much to say of what was left out.
    pub fn detail(&self) -> Detail {
        if self.audit {
            Detail::All
        } else {
            Detail::Line
        }
    }

    /// Returns the rules that the options describe.
    ///
    /// # Errors
    /// When the burn-in file cannot be read.
    pub fn rules(&self) -> Result<Rules, CliError> {
        let starts = match &self.burn_in_file {
            Some(path) => Some(burn_in_file::read(path)?),
            None => None,
        };
        let mut rules = match self.compat {
            Some(Compat::Hail) => {
                let Some(starts) = starts else {
                    return Err(CliError::input(
                        "--compat hail needs the first stable iterations",
                    )
                    .hint(
                        "name their file with --burn-in-file; `lapwing burn-in --write FILE` makes one",
                    ));
                };
                Rules::hail(starts)
            }
            None => Rules {
                burn_in: match (starts, self.burn_in) {
                    (Some(starts), _) => BurnInRule::Listed {
                        starts,
                        others: KnownBenchmarks::AndOthers,
                    },
                    (None, Some(BurnInChoice::Auto)) => BurnInRule::Auto,
                    (None, Some(BurnInChoice::Index(first))) => BurnInRule::Index(first),
                    (None, None | Some(BurnInChoice::Recorded)) => BurnInRule::Recorded,
                },
                ..Rules::default()
            },
        };
        if let Some(factor) = self.outlier_factor {
            rules.outliers = Some(OutlierRule {
                factor,
                fewest_values: 0,
                metrics: OutlierMetrics::Times,
            });
        }
        rules.min_iterations = self.min_iterations.unwrap_or(rules.min_iterations);
        rules.min_instances = self.min_instances.unwrap_or(rules.min_instances);
        Ok(rules)
    }
}

fn parse_factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor > 1.0 && factor.is_finite() => Ok(factor),
        Ok(_) | Err(_) => Err("write a number above 1, such as 10".to_owned()),
    }
}
