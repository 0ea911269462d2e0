//! Options about parameters, limits and repetitions of indicators.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use lapwing_measure::suite::{BurnIn, Confinement, Settings, parse_duration};
use lapwing_model::{Better, Metric, MetricName};

use crate::commands::run::{
    ClusterOptions, Measurement, RunReport, executors_here, parse_burn_in, resume,
};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use lapwing_measure::session::{RequestedBenchmarks, SessionRequest};
use lapwing_measure::suite::Plan;
use lapwing_model::Object;
use lapwing_show::writing::AnswerFormat;

/// The environment variables that indicators inherit.
pub const INHERITED: [&str; 7] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
];

/// The smallest limit of memory, below which the launcher itself could not work.
const LEAST_MEMORY: u64 = 64 << 20;

/// Options about how scripts are executed.
#[derive(Debug, Clone, Args)]
pub struct IndicatorOptions {
    /// Set a parameter by the environment variable of that name (in upper case); several values make several benchmarks
    #[arg(
        long = "param",
        value_name = "NAME=A,B",
        help_heading = "Parameters and limits"
    )]
    params: Vec<String>,
    /// Declare the direction of a metric for scripts that do not: `rate=higher`
    #[arg(
        long,
        value_name = "METRIC=DIRECTION",
        help_heading = "Parameters and limits"
    )]
    better: Vec<String>,
    /// Kill an iteration that takes longer than this
    #[arg(long, value_name = "TIME", default_value = "10 min", value_parser = parse_duration, help_heading = "Parameters and limits")]
    pub time_limit: Duration,
    /// Largest address space of each process of a script
    #[arg(long, value_name = "SIZE", default_value = "8GiB", value_parser = parse_memory, help_heading = "Parameters and limits")]
    memory_limit: u64,
    /// Let scripts inherit this environment variable; all but PATH, TMPDIR, TZ, LD_LIBRARY_PATH and those of the
    /// language are cleared
    #[arg(long, value_name = "NAME", help_heading = "Parameters and limits")]
    keep_env: Vec<String>,
}

impl IndicatorOptions {
    /// Returns every combination of the given values of parameters, by environment variable.
    pub fn combinations(&self) -> Result<Vec<BTreeMap<String, String>>, CliError> {
        let mut all = vec![BTreeMap::new()];
        for text in &self.params {
            let wrong = || {
                CliError::input(format!("--param {text} has no value"))
                    .hint("write it like `--param matrix_size=256,512`")
            };
            let (name, values) = text.split_once('=').ok_or_else(wrong)?;
            if name.is_empty() || values.is_empty() {
                return Err(wrong());
            }
            // Names of parameters are usually in lower case, variables in upper case.
            let variable = name.to_uppercase();
            let mut extended = Vec::new();
            for combination in &all {
                for value in values.split(',') {
                    let mut combination: BTreeMap<String, String> = combination.clone();
                    if combination
                        .insert(variable.clone(), value.trim().to_owned())
                        .is_some()
                    {
                        return Err(CliError::input(format!("--param {name} is given twice"))
                            .hint(format!("write all values together: `--param {name}=A,B`")));
                    }
                    extended.push(combination);
                }
            }
            all = extended;
        }
        Ok(all)
    }

    /// Returns the limits of scripts.
    pub fn confinement(&self) -> Confinement {
        let names = INHERITED.iter().copied();
        let names = names.chain(self.keep_env.iter().map(String::as_str));
        Confinement {
            variables: names
                .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)))
                .collect(),
            memory: Some(self.memory_limit),
        }
    }

    /// Adds the given directions to the metrics that a script declares.
    pub fn declare(&self, metrics: &mut BTreeMap<MetricName, Metric>) -> Result<(), CliError> {
        for text in &self.better {
            let (name, direction) = text.split_once('=').unwrap_or((text, ""));
            let better = match direction {
                "higher" => Better::Higher,
                "lower" => Better::Lower,
                _ => {
                    return Err(CliError::input(format!("--better {text} has no direction"))
                        .hint(format!("write `--better {name}=higher` or `{name}=lower`")));
                }
            };
            metrics.entry(name.to_owned()).or_default().better = Some(better);
        }
        Ok(())
    }
}

/// Returns the bytes of a size such as `512MiB`, `1Gi` or `1000000`.
pub fn parse_memory(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text.find(|it: char| !it.is_ascii_digit());
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let factor = match unit.trim() {
        "" | "B" => Some(1),
        "k" | "kB" => Some(1_000),
        "M" | "MB" => Some(1_000_000),
        "G" | "GB" => Some(1_000_000_000),
        "Ki" | "KiB" => Some(1 << 10),
        "Mi" | "MiB" => Some(1 << 20),
        "Gi" | "GiB" => Some(1 << 30),
        _ => None,
    };
    let bytes = factor.and_then(|factor| number.parse::<u64>().ok()?.checked_mul(factor));
    match bytes {
        Some(bytes) if bytes >= LEAST_MEMORY => Ok(bytes),
        Some(_) => Err("at least 64MiB".to_owned()),
        None => Err("write a size such as 512MiB or 4GiB".to_owned()),
    }
}

/// Options about repetitions.
#[derive(Debug, Clone, Args)]
pub struct RepetitionOptions {
    /// Instances per benchmark: fresh starts, in random order [default: 5]
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Repetitions")]
    instances: Option<u32>,
    /// Iterations per instance, after burn-in [default: 5]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Repetitions")]
    iterations: Option<u32>,
    /// Burn-in iterations per instance, stored but excluded from analysis [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_burn_in, help_heading = "Repetitions")]
    burn_in: Option<BurnIn>,
    /// Run benchmarks on these CPUs only, such as 0-1,3
    #[arg(long, value_name = "LIST", help_heading = "Repetitions")]
    cpus: Option<String>,
    /// Seed of random choices [default: random]
    #[arg(long, value_name = "N", help_heading = "Repetitions")]
    pub seed: Option<u64>,
    /// Suite that the results belong to
    #[arg(long = "suite-name", value_name = "NAME", default_value = "indicators")]
    pub suite: String,
    /// Name of the session [default: two random words]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Show what would be done, without doing it
    #[arg(long)]
    pub dry_run: bool,
    /// Measure the rest of an interrupted session [default session: the latest]
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,
    #[command(flatten)]
    pub cluster: ClusterOptions,
}

impl RepetitionOptions {
    /// Measures the rest of a stored session, if that is wanted.
    pub fn resumed(
        &self,
        format: AnswerFormat,
        context: &Context,
    ) -> Option<Result<ExitStatus, CliError>> {
        let session = self.resume.as_ref()?;
        Some(resume(session, &self.cluster, &report(format), context))
    }

    /// Returns what measures a plan and reports the results.
    pub fn measurement(
        &self,
        plan: &Plan,
        attributes: Object,
        format: AnswerFormat,
    ) -> Result<Measurement, CliError> {
        let benchmarks = RequestedBenchmarks::Plan(Box::new(plan.clone()));
        Ok(Measurement {
            request: SessionRequest {
                name: self.name.clone(),
                attributes,
                cluster: self.cluster.for_instances(executors_here()?)?,
                leave_jobs: self.cluster.leave_jobs(),
                ..SessionRequest::new(benchmarks)
            },
            report: report(format),
            dry_run: self.dry_run,
        })
    }

    /// Returns the numbers of instances and iterations.
    pub fn settings(&self) -> Settings {
        Settings {
            instances: self.instances,
            iterations: self.iterations,
            burn_in: self.burn_in,
            cpus: self.cpus.clone(),
            ..Settings::default()
        }
    }
}

fn report(format: AnswerFormat) -> RunReport {
    RunReport {
        format,
        ..RunReport::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_people_and_as_kubernetes_write_them() {
        for (text, bytes) in [
            ("64MiB", Ok(64 << 20)),
            ("1Gi", Ok(1 << 30)),
            ("100 MB", Ok(100_000_000)),
            ("500m", Err("write a size such as 512MiB or 4GiB")),
            ("1KiB", Err("at least 64MiB")),
        ] {
            assert_eq!(parse_memory(text), bytes.map_err(str::to_owned), "{text}");
        }
    }
}
