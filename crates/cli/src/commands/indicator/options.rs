//! Options about parameters, limits and repetitions of indicators.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::Args;
use lapwing_measure::PythonFolder;
use lapwing_measure::indicator::{
    IndicatorScript, ParameterValues, ScriptLimits, indicator_cases, parse_memory,
};
use lapwing_measure::local::LocalExecutor;
use lapwing_measure::session::{RequestedBenchmarks, SessionRequest};
use lapwing_measure::suite::{
    BurnIn, Case, Confinement, Plan, Settings, VersionSource, parse_duration,
};
use lapwing_model::{Better, MetricName, Object};

use crate::commands::run::{
    ClusterOptions, Measurement, RunReport, executors_here, parse_burn_in, random_seed, resume,
};
use crate::error::{CliError, ExitStatus};
use crate::isolation::IsolationOptions;
use crate::options::{AnswerOptions, Context};
use crate::progress;
use crate::session::working_directory;

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

/// Returns the variables that confined commands have, and those that are kept besides.
pub fn inherited_variables<'a>(kept: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    let names = INHERITED.into_iter().chain(kept);
    names.map(str::to_owned).collect()
}

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
    time_limit: Duration,
    /// Largest address space of each process of a script
    #[arg(long, value_name = "SIZE", default_value = "8GiB", value_parser = parse_memory, help_heading = "Parameters and limits")]
    memory_limit: u64,
    /// Let scripts inherit this environment variable; all but PATH, TMPDIR, TZ, LD_LIBRARY_PATH and those of the
    /// language are cleared
    #[arg(long, value_name = "NAME", help_heading = "Parameters and limits")]
    keep_env: Vec<String>,
    #[command(flatten)]
    pub isolation: IsolationOptions,
}

impl IndicatorOptions {
    /// Returns every combination of the given values of parameters, by environment variable.
    pub fn combinations(&self) -> Result<Vec<ParameterValues>, CliError> {
        let mut all = vec![ParameterValues::new()];
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
                    let mut combination = combination.clone();
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
    pub fn limits(&self) -> ScriptLimits {
        let kept = self.keep_env.iter().map(String::as_str);
        ScriptLimits {
            confinement: Confinement {
                variables: inherited_variables(kept),
                memory: Some(self.memory_limit),
                isolation: self.isolation.isolation(),
            },
            time_limit: self.time_limit,
            directory: working_directory(),
        }
    }

    /// Executes scripts once per combination of parameters, and returns their benchmarks.
    pub fn cases(
        &self,
        scripts: &[IndicatorScript],
        environments: &[Option<&PythonFolder>],
        executor: &mut LocalExecutor,
        context: &Context,
    ) -> Result<Vec<Case>, CliError> {
        let directions = self.directions()?;
        let combinations = self.combinations()?;
        let bar = progress::bar(
            "checking scripts",
            scripts.len() * combinations.len(),
            context,
        );
        let mut cases = indicator_cases(
            scripts,
            &combinations,
            &self.limits(),
            environments,
            executor,
            &mut || bar.inc(1),
        )?;
        bar.finish_and_clear();
        for case in &mut cases {
            for (name, better) in &directions {
                let metric = case.metrics.entry(name.clone()).or_default();
                metric.better = Some(*better);
            }
        }
        Ok(cases)
    }

    /// Returns the benchmarks of scripts that are not executed, by the names of their files: what their own names are,
    /// only they can say.
    pub fn unchecked_cases(&self, scripts: &[IndicatorScript]) -> Result<Vec<Case>, CliError> {
        let combinations = self.combinations()?;
        let cases = scripts.iter().flat_map(|script| {
            let name = script.path.file_name().unwrap_or(script.path.as_os_str());
            let name = name.to_string_lossy();
            combinations.iter().map(move |values| {
                let values: Vec<String> = values
                    .iter()
                    .map(|(name, value)| format!("{}={value}", name.to_lowercase()))
                    .collect();
                let id = match values.as_slice() {
                    [] => name.to_string(),
                    some => format!("{name}[{}]", some.join(",")),
                };
                Case::new(id, script.command())
            })
        });
        Ok(cases.collect())
    }

    /// Returns the given directions of metrics.
    fn directions(&self) -> Result<Vec<(MetricName, Better)>, CliError> {
        let directions = self.better.iter().map(|text| {
            let (name, direction) = text.split_once('=').unwrap_or((text, ""));
            let better = match direction {
                "higher" => Better::Higher,
                "lower" => Better::Lower,
                _ => {
                    return Err(CliError::input(format!("--better {text} has no direction"))
                        .hint(format!("write `--better {name}=higher` or `{name}=lower`")));
                }
            };
            Ok((name.to_owned(), better))
        });
        directions.collect()
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
        answer: &AnswerOptions,
        context: &Context,
    ) -> Option<Result<ExitStatus, CliError>> {
        let session = self.resume.as_ref()?;
        Some(resume(session, &self.cluster, &report(answer), context))
    }

    /// Returns what measures a plan and reports the results.
    pub fn measurement(
        &self,
        plan: &Plan,
        attributes: Object,
        answer: &AnswerOptions,
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
            report: report(answer),
            dry_run: self.dry_run,
        })
    }

    /// Returns the plan that measures these benchmarks.
    pub fn plan(&self, mut cases: Vec<Case>) -> Plan {
        let settings = self.settings();
        cases.iter_mut().for_each(|case| settings.apply(case));
        Plan {
            version: VersionSource::Absent,
            directory: Some(working_directory().display().to_string()),
            cpus: settings.cpus,
            ..Plan::of_cases(&self.suite, cases, self.seed.unwrap_or_else(random_seed))
        }
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

fn report(answer: &AnswerOptions) -> RunReport {
    RunReport {
        answer: answer.clone(),
        ..RunReport::default()
    }
}
