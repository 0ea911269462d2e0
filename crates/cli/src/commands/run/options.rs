//! The arguments of `lapwing run`, and their plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use lapwing_measure::session::{
    BenchmarkSelection, EnvironmentBuilds, RequestedBenchmarks, RequestedCommits, SessionRequest,
};
use lapwing_measure::suite::{
    AdHoc, BurnIn, CommandLine, ExecutorTables, ExitCodes, MOST_INSTANCES, MOST_ITERATIONS,
    OutputMetrics, Settings, StopEarly, parse_duration,
};
use lapwing_model::GateRule;
use lapwing_model::Object;
use lapwing_model::text::grouped;

use super::cluster::ClusterOptions;
use super::commits::leave_out_measured;
use super::duet::say_cores;
use super::familiar::{ALL_NON_ZERO, CommandSweep, REFERENCE, parse_exit_codes};
use super::from_file::{FilePlan, PlannedRun};
use super::measuring::MeasuringOptions;
use super::tool_files::ToolFiles;
use super::words;
use crate::cleaning::SUITE_FILE_OF_SESSION;
use crate::commands::bisect::check_metric;
use crate::commands::campaign::CampaignOption;
use crate::commands::compare::CONDITIONS;
use crate::comparing::parse_change;
use crate::error::CliError;
use crate::isolation::IsolationOptions;
use crate::options::{AnswerOptions, Context, ExportOptions, gate_rules};
use crate::suite::plan_file::PlanFile;
use crate::suite::suite_file::{self, SUITE_FILE};

/// Minimum measured time of commands without a number of iterations.
pub const QUICK: Duration = Duration::from_secs(1);

/// Measure a suite or commands, and store every iteration
///
/// `lapwing run` measures the suite in lapwing.toml, `lapwing run -- gzip -k file` measures a
/// command, and `lapwing run --command 'gzip -1 -kf f' --command 'gzip -9 -kf f'` measures several
/// commands and compares them.
#[derive(Debug, Clone, Default, Args)]
pub struct Run {
    /// Suite file [default: lapwing.toml]
    #[arg(conflicts_with_all = ["command", "words"])]
    pub suite: Option<PathBuf>,
    /// Commands in the place of a suite file, as hyperfine has them
    #[arg(hide = true, conflicts_with_all = ["command", "words"])]
    pub more: Vec<String>,
    /// Shell command to measure instead of a suite; can be repeated
    #[arg(long, short, value_name = "COMMAND", conflicts_with = "words")]
    pub command: Vec<String>,
    /// Command to measure: `-- gzip -k f` is one command, run without a shell; `-- 'gzip -k a' 'zstd
    /// a'` are several shell commands
    #[arg(last = true, value_name = "COMMAND")]
    pub words: Vec<String>,
    /// Name of a command; repeat it in the order of the commands
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), help_heading = "Commands")]
    pub command_name: Vec<String>,

    #[command(flatten)]
    pub measuring: MeasuringOptions,
    #[command(flatten)]
    pub isolation: IsolationOptions,
    /// Kill an iteration that takes longer than this
    #[arg(long, value_name = "TIME", value_parser = parse_time_limit, help_heading = "Repetitions and limits")]
    pub time_limit: Option<Duration>,
    /// Abandon an instance after N consecutive failures, 0 for never [default: 3]
    #[arg(long, value_name = "N", help_heading = "Repetitions and limits")]
    pub max_failures: Option<u32>,
    /// Keep adding iterations until this much time was measured per benchmark [default: 1s for
    /// commands without --iterations]
    #[arg(long, alias = "min-benchmarking-time", value_name = "TIME", value_parser = parse_duration, help_heading = "Repetitions and limits")]
    pub min_time: Option<Duration>,
    /// Start no more iterations of a benchmark after this much time
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Repetitions and limits")]
    pub max_time: Option<Duration>,
    /// Measure two variants, or two commands, at the same time on separate cores, so that what
    /// disturbs the machine disturbs both
    #[arg(long, help_heading = "Repetitions and limits")]
    pub duet: bool,
    /// Read instances, iterations and burn-in per benchmark from this plan (YAML or JSON), and
    /// measure only the benchmarks it names
    #[arg(long, value_name = "FILE", help_heading = "Repetitions and limits")]
    pub plan: Option<PathBuf>,
    /// Exit with code 1 if one of these occurs, compared with the first command or variant; separate several with
    /// commas, and write `regression:peak_memory` for one metric
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = gate_rules(&CONDITIONS), conflicts_with_all = ["resume", "again"])]
    pub fail_on: Vec<GateRule>,
    #[command(flatten)]
    pub campaign: CampaignOption,
    /// Ask whether the second command or variant is slower than the first by this much; how to measure that within
    /// --budget is chosen from a pilot. Exit code 1 if it is slower, 3 if undecided
    #[arg(long, value_name = "CHANGE", value_parser = parse_change, requires = "budget", conflicts_with_all = ["instances", "iterations", "min_time", "max_time", "duet", "stop_early", "plan", "fail_on", "campaign", "smallest_effect", "commits", "again", "resume", "executor", "dry_run", "runs", "aa", "export", "export_json", "export_csv", "export_markdown", "plot", "every"])]
    pub slowdown: Option<f64>,
    /// Time for all measurements of --slowdown, its pilot included, such as 10m
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "slowdown")]
    pub budget: Option<Duration>,
    /// Stop measuring a benchmark when the comparison of its variants, of commits with the first, or of commands with the
    /// fastest, has a verdict, or will hardly get one; --instances is the maximum. False alarms stay at 5 %
    #[arg(
        long,
        conflicts_with = "resume",
        help_heading = "Repetitions and limits"
    )]
    pub stop_early: bool,
    /// Smallest change that matters, such as 3%
    #[arg(long, value_name = "CHANGE", value_parser = parse_change, help_heading = "Repetitions and limits")]
    pub smallest_effect: Option<f64>,
    /// Metric to judge by [default: wall_time]
    #[arg(long, value_name = "METRIC", help_heading = "Repetitions and limits")]
    pub metric: Option<String>,
    /// Run this command before each instance, untimed
    #[arg(long, short, value_name = "COMMAND", help_heading = "Commands")]
    pub setup: Option<String>,
    /// Run this command before each iteration, untimed; repeat it to give one for each command, in
    /// their order
    #[arg(long, short, value_name = "COMMAND", help_heading = "Commands")]
    pub prepare: Vec<String>,
    /// Run this command after each instance, untimed
    #[arg(
        long,
        visible_alias = "cleanup",
        value_name = "COMMAND",
        help_heading = "Commands"
    )]
    pub teardown: Option<String>,
    /// Pipe the output of each iteration to this command; if it fails, so does the iteration
    #[arg(long, value_name = "COMMAND", help_heading = "Commands")]
    pub check: Option<String>,
    /// Read standard input from this file [default: null, which is empty]
    #[arg(
        long,
        visible_alias = "input",
        value_name = "FILE",
        help_heading = "Commands"
    )]
    pub stdin: Option<PathBuf>,
    /// Accept any exit code, or these besides 0, as in `--ignore-failure=1,2`
    #[arg(long, short = 'f', value_name = "CODES", num_args = 0..=1, require_equals = true, default_missing_value = ALL_NON_ZERO, value_parser = parse_exit_codes, help_heading = "Commands")]
    pub ignore_failure: Option<ExitCodes>,
    /// Record the numbers in the last JSON object of the command's output as metrics
    #[arg(long, value_name = "KIND", value_parser = ["json"], help_heading = "Commands")]
    pub metrics: Option<String>,
    /// Execute each benchmark once more before its first instance, under this profiler, such as `perf
    /// record -o {artifact} --`; its page names the file
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["resume", "duet", "executor"], help_heading = "Commands")]
    pub profile: Option<String>,

    /// Only measure benchmarks whose id equals NAME, matches it as a pattern (`*`, `?`) or contains
    /// it
    #[arg(long, short, value_name = "NAME")]
    pub benchmark: Vec<String>,
    /// Only measure this variant of the suite; can be repeated, the first is the baseline
    #[arg(long, value_name = "NAME")]
    pub variant: Vec<String>,
    /// Also measure a copy of the first variant (`aa-control`), as a control where nothing differs
    #[arg(long, conflicts_with_all = ["commits", "resume"], help_heading = "Repetitions and limits")]
    pub aa: bool,
    /// Only measure benchmarks with this tag
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Measure each commit from A to B, both included (first parents, oldest first), each in its
    /// own worktree
    #[arg(long, value_name = "A..B", help_heading = "Versions")]
    pub commits: Option<String>,
    /// Measure only every Nth of these commits, always including the first and last
    #[arg(long, value_name = "N", requires = "commits", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Versions")]
    pub every: Option<u32>,
    /// Run this command in the worktree of each commit before it is measured
    #[arg(
        long,
        value_name = "COMMAND",
        requires = "commits",
        help_heading = "Versions"
    )]
    pub build: Option<String>,
    /// Measure again: `inconclusive` adds instances to the benchmarks of the latest session (or of
    /// --name) whose comparison is inconclusive; without a value, --commits also measures commits
    /// that were measured before
    #[arg(long, value_name = "WHAT", num_args = 0..=1, default_missing_value = "commits", conflicts_with = "resume", help_heading = "Repetitions and limits")]
    pub again: Option<AgainWhat>,
    /// Measure the rest of an interrupted session [default session: the latest]
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["suite", "command", "words", "dry_run", "plan", "commits", "instances", "iterations", "burn_in", "name", "duet"])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub sweep: CommandSweep,
    #[command(flatten)]
    pub answer: AnswerOptions,
    #[command(flatten)]
    pub export: ExportOptions,
    #[command(flatten)]
    pub files: ToolFiles,
    #[command(flatten)]
    pub cluster: ClusterOptions,
}

/// The value of `--again`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum AgainWhat {
    /// Commits that were measured before
    Commits,
    /// Benchmarks whose comparison is undecided
    #[value(alias = "undecided")]
    Inconclusive,
}

fn parse_time_limit(text: &str) -> Result<Duration, String> {
    let limit = parse_duration(text)?;
    if limit.is_zero() {
        return Err("must be above zero".to_owned());
    }
    Ok(limit)
}

pub(super) fn parse_instances(text: &str) -> Result<u32, String> {
    parse_count(text, MOST_INSTANCES).map_err(|error| match text.parse::<f64>() {
        Ok(_) => error,
        Err(_) => format!("{error}; the name of a command is --command-name"),
    })
}

pub(super) fn parse_iterations(text: &str) -> Result<u32, String> {
    parse_count(text, MOST_ITERATIONS).map_err(|error| match text.parse::<f64>() {
        Ok(_) => error,
        Err(_) => format!("{error}; -f (--ignore-failure) accepts any exit code"),
    })
}

fn parse_count(text: &str, most: u32) -> Result<u32, String> {
    match text.parse() {
        Ok(count) if (1..=most).contains(&count) => Ok(count),
        Ok(_) | Err(_) => Err(format!("write a whole number from 1 to {}", grouped(most))),
    }
}

pub fn parse_burn_in(text: &str) -> Result<BurnIn, String> {
    if text == "auto" {
        return Ok(BurnIn::Auto);
    }
    match text.parse() {
        Ok(count @ 0..=MOST_ITERATIONS) => Ok(BurnIn::Fixed(count)),
        Ok(_) => Err(format!("at most {}", grouped(MOST_ITERATIONS))),
        Err(_no_number) => Err("a whole number or `auto`".to_owned()),
    }
}

impl Run {
    /// Returns what is to be measured.
    pub fn request(&self, context: &Context) -> Result<SessionRequest, CliError> {
        let origin = match self.build {
            _ if self.sweep.has_other_shell() => words::ProgramOrigin::OtherShell,
            Some(_) => words::ProgramOrigin::Built,
            None => words::ProgramOrigin::Present,
        };
        let commands = words::commands(&self.command, &self.words, origin)?;
        self.refuse_contradictions(commands.len())?;
        if let Some(note) = words::one_command_note(&self.words) {
            context.terminal.note(&note);
        }
        let commands = self.sweep.with_reference(commands)?;
        let mut settings = self.settings();
        let mut attributes = Object::new();
        let benchmarks = if commands.is_empty() {
            self.refuse_options_of_commands()
                .or_else(|error| words::refuse_unknown(self.suite.as_deref()).and(Err(error)))?;
            if let Some(path) = &self.suite
                && let Ok(path) = std::path::absolute(suite_file::named(path))
                && path.file_name().is_none_or(|it| it != SUITE_FILE)
            {
                let path = path.display().to_string();
                attributes.insert(SUITE_FILE_OF_SESSION.to_owned(), path.into());
            }
            suite_of(self.suite.as_deref(), context)?
        } else {
            if settings.iterations.is_none() && self.sweep.runs.is_none() && self.plan.is_none() {
                // Additional iterations of a quick command are cheap.
                settings.min_time = settings.min_time.or(Some(QUICK));
            }
            if let Some(planned) = self.sweep.apply(&mut settings) {
                context.terminal.note(&format!(
                    "{planned} executions per command: instances have equally many iterations"
                ));
            }
            if let Some(note) = self.sweep.warmups_note(&settings) {
                context.terminal.note(&note);
            }
            // hyperfine's name for it is an alias.
            let is_cleanup = |it: &String| it.starts_with("--cleanup");
            let teardown = match context.command.iter().any(is_cleanup) {
                true => "--cleanup",
                false => "--teardown",
            };
            let once = [("--setup", &self.setup), (teardown, &self.teardown)];
            let once = once.into_iter().filter(|it| it.1.is_some());
            let once: Vec<&str> = once.map(|it| it.0).collect();
            if let Some(note) = self.sweep.once_note(&settings, &once) {
                context.terminal.note(&note);
            }
            let commands = self.ad_hoc(commands)?;
            if let (Some(_), Some(name)) = (&self.sweep.reference, commands.names.first()) {
                attributes.insert(REFERENCE.to_owned(), name.clone().into());
            }
            RequestedBenchmarks::Commands(Box::new(commands))
        };
        let cluster = self.cluster.for_instances(executors_of(&benchmarks))?;
        Ok(SessionRequest {
            settings,
            seed: self.measuring.seed(),
            selection: BenchmarkSelection {
                benchmarks: self.benchmark.clone(),
                tags: self.tag.clone(),
                variants: self.variant.clone(),
            },
            with_control: self.aa,
            build: self.build.clone().map(CommandLine::Shell),
            commits: self.commits.clone().map(|range| RequestedCommits {
                range,
                every: self.every.map_or(1, |it| it as usize),
            }),
            stop_early: self.stop_early.then(|| StopEarly {
                metric: self.metric.clone(),
                smallest_effect: self.smallest_effect,
            }),
            name: self.measuring.name.clone(),
            attributes,
            cluster,
            leave_jobs: self.cluster.leave_jobs(),
            profile: self.profile.clone(),
            builds: if self.measuring.dry_run {
                EnvironmentBuilds::None
            } else {
                EnvironmentBuilds::Missing
            },
            ..SessionRequest::new(benchmarks)
        })
    }

    /// Returns the plan of a request, with the numbers of a plan file, and without commits that were measured before.
    pub fn planned(
        &self,
        request: &SessionRequest,
        context: &Context,
    ) -> Result<PlannedRun, CliError> {
        let file = self.plan.as_deref();
        let file = file.map(|path| PlanFile::read(path, context)).transpose()?;
        let mut session = request.plan(&context.surroundings())?;
        let mut means = BTreeMap::new();
        if let Some(file) = &file {
            let numbers = FilePlan::new(self, file, &session, context)?;
            means = numbers.apply(&mut session.plan, context)?;
        }
        if self.commits.is_some() && self.again.is_none() {
            leave_out_measured(&mut session.plan, context)?;
        }
        let decisive = session.plan.stop_early.as_ref();
        if let Some(metric) = decisive.and_then(|it| it.metric.as_ref()) {
            check_metric(&session.plan, metric)?;
        }
        if self.duet {
            session = session.as_duet()?;
            say_cores(&session.plan, context);
        }
        Ok(PlannedRun {
            session,
            from_file: file.is_some(),
            means,
        })
    }

    fn settings(&self) -> Settings {
        Settings {
            time_limit: self.time_limit,
            max_failures: self.max_failures,
            min_time: self.min_time,
            max_time: self.max_time,
            ..self.measuring.settings()
        }
    }

    fn ad_hoc(&self, commands: Vec<CommandLine>) -> Result<AdHoc, CliError> {
        let shell = |text: &Option<String>| text.clone().map(CommandLine::Shell);
        let prepare = self.prepare.iter().cloned().map(CommandLine::Shell);
        let input = self.stdin.iter().filter(|path| path.as_os_str() != "null");
        Ok(AdHoc {
            names: self.sweep.names(&self.command_name, &commands)?,
            commands: self.sweep.shelled(commands)?,
            parameters: self.sweep.parameters()?,
            setup: shell(&self.setup),
            prepare: prepare.collect(),
            teardown: shell(&self.teardown),
            check: shell(&self.check),
            stdin: input.map(|path| path.display().to_string()).next(),
            exit_codes: self.ignore_failure.clone(),
            output: match self.metrics {
                Some(_) => OutputMetrics::Json,
                None => OutputMetrics::None,
            },
        })
    }
}

/// Returns the benchmarks of a suite file; without a path, of that of the working directory.
pub fn suite_of(path: Option<&Path>, context: &Context) -> Result<RequestedBenchmarks, CliError> {
    let path = suite_path(path, &context.command)?;
    let suite = suite_file::load(&path)?;
    if let Some(note) = suite_file::name_note(&suite, &path) {
        context.terminal.say(&note);
    }
    let suite = Box::new(suite);
    Ok(RequestedBenchmarks::Suite { suite, path })
}

/// Returns what the suite says about clusters; nothing if commands are measured.
pub fn executors_of(benchmarks: &RequestedBenchmarks) -> ExecutorTables {
    match benchmarks {
        RequestedBenchmarks::Suite { suite, .. } => suite.executors.clone(),
        RequestedBenchmarks::Commands(_) | RequestedBenchmarks::Plan(_) => {
            ExecutorTables::default()
        }
    }
}

/// Returns what the suite file of the working directory says about clusters, if there is one.
pub fn executors_here() -> Result<ExecutorTables, CliError> {
    match suite_file::here() {
        Some(path) => suite_file::load_executors(&path),
        None => Ok(ExecutorTables::default()),
    }
}

fn suite_path(path: Option<&Path>, typed: &[String]) -> Result<PathBuf, CliError> {
    match (path, suite_file::here()) {
        (Some(path), _) => match words::not_a_suite(&path.to_string_lossy()) {
            Some(error) => Err(error),
            None => Ok(suite_file::named(path)),
        },
        (None, Some(path)) => Ok(path),
        (None, None) => {
            let command = crate::foreign::line(&crate::foreign::with_command(typed));
            Err(
                CliError::input(format!("nothing to measure: there is no {SUITE_FILE} here")).hint(
                    format!("measure a command with `{command}`, or name a suite file"),
                ),
            )
        }
    }
}

pub fn random_seed() -> u64 {
    // A seed may be typed again, so it is short; 32 bits are enough.
    u64::from(u32::from_le_bytes(
        uuid::Uuid::new_v4().into_bytes()[..4]
            .try_into()
            .unwrap_or_default(),
    ))
}
