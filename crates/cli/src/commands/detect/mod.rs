//! `lapwing detect`: changes in the history of benchmarks.

mod notify;
mod rule;
mod since;

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use lapwing_analyse::detect::{
    ChangeKind, DetectOptions, DetectRule, Detection, Direction, FAILURES, Finding, Histories,
    HistoryOrder, HistorySeries, SelfTestOptions, SeriesState, detect, detect_by, measured,
    self_test,
};
use lapwing_analyse::sample::{MainChoice, RunOrder, SampleFilter, each_with_all_metrics};
use lapwing_model::{GateCondition, GateRule};
use lapwing_record::StoreError;
use lapwing_show::answers::detect::{
    DetectAnswer, SelfTestAnswer, muted_note, order_name, too_short_note, unknown_note,
};
use lapwing_show::answers::earlier_note;
use lapwing_show::writing::Note;
use lapwing_show::{GateTests, badge};
use lapwing_stats::Seed;

use super::import::ReadingOptions;
use super::run::ShareJobs;
use crate::cleaning::{CleaningOptions, TriageOption};
use crate::comparing::{compared_metrics, parse_share};
use crate::error::{CliError, ExitStatus};
use crate::main_runs::MainOption;
use crate::options::{
    AnswerOptions, Context, FilterOptions, GateFiles, NamedValue, check_output, gate_rules,
    is_stdout, one_of, write_output,
};
use crate::profile::{Compat, Profile};
use crate::progress;
use crate::self_testing::SelfTestOption;
use crate::store::{note_retired, open_for_reading};
use lapwing_record::atomic;

use self::rule::RuleOptions;
use self::since::changed_since;
pub(super) use self::since::check_dates;

/// Find changes in the history of benchmarks: regressions, improvements, drifts
///
/// The history of a benchmark has one value per run, in the order of the versions under test. One
/// instance per run is enough, because runs are compared with each other. Each finding says what
/// changed, by how much, and between which versions.
#[derive(Debug, Args)]
pub struct DetectCommand {
    /// Files, glob patterns or directories with results in any format that `lapwing import` reads, to search
    /// instead of the store
    #[arg(value_name = "FILE", conflicts_with = "notify")]
    files: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "Files")]
    reading: ReadingOptions,
    /// Order of the runs
    #[arg(long, value_name = "ORDER", default_value = "version", value_parser = one_of(&ORDERS))]
    order: HistoryOrder,
    /// Smallest change that matters, such as 3%
    #[arg(long, value_name = "CHANGE", value_parser = parse_share)]
    smallest_effect: Option<f64>,
    #[command(flatten)]
    rule: RuleOptions,
    /// Only report changes that may have happened after this version, run, Git revision or date
    #[arg(long, value_name = "WHEN", conflicts_with = "self_test")]
    changed_since: Option<String>,
    /// Exit with code 1 if one of these occurs; separate several with commas, and write `regression:peak_memory` for
    /// one metric. The suite file may say something else of a benchmark
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = gate_rules(&CONDITIONS), conflicts_with = "self_test")]
    fail_on: Vec<GateRule>,
    /// Start a command if there are new changes, with these as JSON on its standard input; a change
    /// is reported once
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new(), conflicts_with = "self_test")]
    notify: Option<String>,
    /// Write a badge with the number of regressions to this .svg file
    #[arg(long, value_name = "FILE", conflicts_with = "self_test")]
    badge: Option<PathBuf>,
    #[command(flatten)]
    files_of_ci: GateFiles,
    #[command(flatten)]
    self_test: SelfTestOption,
    /// Seed of the replays of a self-test
    #[arg(
        long,
        value_name = "N",
        default_value_t = 7,
        help_heading = "Self-test"
    )]
    seed: u64,
    #[command(flatten)]
    jobs: ShareJobs,
    #[command(flatten)]
    answer: AnswerOptions,
    #[command(flatten)]
    cleaning: CleaningOptions,
    #[command(flatten)]
    triage: TriageOption,
    /// Reproduce another tool's method, bugs included
    #[arg(long, value_name = "TOOL", value_parser = one_of(&COILED), help_heading = "Exclusions")]
    compat: Option<Compat>,
    #[command(flatten)]
    main: MainOption,
    #[command(flatten)]
    filters: FilterOptions,
}

const COILED: [NamedValue<Compat>; 1] = [(
    "coiled",
    "The detector of Coiled's benchmarks",
    Compat::Coiled,
)];

const ORDERS: [NamedValue<HistoryOrder>; 2] = [
    (
        "version",
        "By date of the version under test, then by time of measurement",
        HistoryOrder::Version,
    ),
    ("time", "By time of measurement", HistoryOrder::Time),
];

/// Conditions that fail a gate.
const CONDITIONS: [NamedValue<GateCondition>; 6] = [
    (
        "regression",
        "A regression that was neither undone later nor triaged",
        GateCondition::Regression,
    ),
    (
        "suspected",
        "A regression, or a possible one in the newest run or the newest two, which another run has to confirm",
        GateCondition::Suspected,
    ),
    (
        "drift",
        "A regression that is a drift",
        GateCondition::Drift,
    ),
    (
        "not-measured",
        "A benchmark that is not measured any more",
        GateCondition::NotMeasured,
    ),
    (
        "improvement",
        "An improvement that was neither undone later nor triaged",
        GateCondition::Improvement,
    ),
    (
        "change",
        "A change in any direction that was neither undone later nor triaged",
        GateCondition::Change,
    ),
];

impl DetectCommand {
    /// Reads the histories, finds their changes, and shows them.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        if let Some(share) = &self.jobs.share {
            share.search()?;
            return Ok(ExitStatus::Fine);
        }
        self.check_jobs()?;
        if self.files.is_empty() {
            return self.search(context);
        }
        let files = context.files(&self.files, &self.reading.options())?;
        self.search(&files.context(context))
    }

    fn search(self, context: &Context) -> Result<ExitStatus, CliError> {
        self.files_of_ci.check(context)?;
        if self.self_test.self_test && self.files_of_ci.paths().next().is_some() {
            return Err(
                CliError::input("--self-test judges nothing").hint("omit --junit and --sarif")
            );
        }
        if let Some(path) = &self.badge {
            check_output(path, context)?;
            if !is_stdout(path) {
                atomic::check(path).map_err(|error| file_error(path, &error))?;
            }
        }
        let judging = self.triage.over(self.cleaning.judging()?);
        let compat = self.compat;
        let mut options = DetectOptions {
            smallest_effect: self.smallest_effect.or(judging.smallest_effect),
            ..self.rule.options(compat, judging.false_discovery_rate)?
        };
        let filter = self.filters.filter()?;
        let metrics = compared_metrics(&filter, Profile::of(compat));
        let mut store = match open_for_reading(context) {
            Err(error) if is_missing(&error) => {
                self.write_files(&Histories::default(), &Detection::default(), context)?;
                let exit = ExitStatus::NotEnough;
                return Err(CliError { exit, ..error });
            }
            opened => opened?,
        };
        let disregarded = judging.honour(&store)?;
        let is_all = filter == SampleFilter::default();
        let asked = filter;
        let filter = asked.resolve_in(&store, &judging.repository())?;
        let usual = match compat {
            Some(Compat::Coiled) => MainChoice::All,
            Some(Compat::Hail) | None => MainChoice::DefaultBranch,
        };
        let judged = (self.main).judged(&store, &filter, &asked, &judging, usual)?;
        let filter = judged.filter;
        note_retired(&store, &filter, context)?;
        let spinner = progress::spinner("reading the histories", context);
        let mut histories = match compat {
            Some(Compat::Coiled) => {
                let mut histories = Histories::default();
                each_with_all_metrics(&store, &filter, |data| {
                    histories.add_by_name(&data, &judging.rules, &metrics);
                    Ok::<(), StoreError>(())
                })?;
                histories
            }
            Some(Compat::Hail) | None => {
                let order = judged.history;
                Histories::read(&mut store, &filter, order, &judging.rules, &metrics)?
            }
        };
        spinner.finish_and_clear();
        histories.sort(self.order);
        let muted = histories.apply_limits(&judging.suite, self.smallest_effect);
        if histories.series.is_empty() && muted.is_empty() {
            self.write_files(&histories, &Detection::default(), context)?;
            return Err(CliError::not_enough("no benchmark has a usable value")
                .hint("`lapwing list` shows the contents of the store"));
        }
        let excluded = || {
            let notes = disregarded.clone().into_iter().chain(muted_note(&muted));
            let unknown = unknown_note(&judging.suite, &histories, &muted).filter(|_| is_all);
            notes.chain(unknown).chain(earlier_note(histories.earlier))
        };
        if self.self_test.self_test {
            let notes = judged.notes.into_iter().chain(excluded()).collect();
            return self.test_itself(&histories, options, notes, context);
        }
        let mut notes = judged.notes;
        if let Some(since) = &self.changed_since {
            let found = changed_since(since, &histories, self.order, &judging)?;
            options.changed_since = Some(found.first);
            notes.extend(found.note);
        }
        let searcher = self.jobs.searcher(self.cleaning.suite(), context)?;
        let mut detection = match searcher {
            Some(mut searcher) => detect_by(&histories, &options, &mut searcher)?,
            None => detect(&histories, &options),
        };
        detection.count_commits(&histories, |good, last| {
            judging.number_of_commits(good, last)
        });
        detection.triage(&histories, &store.annotations().all()?);
        let answer = DetectAnswer {
            detection,
            notes: notes.into_iter().chain(excluded()).collect(),
            order: match self.order {
                HistoryOrder::Version => order_name(&judged.orders),
                HistoryOrder::Time => Some(RunOrder::StartTimes.name()),
            },
            program: context.program(),
            are_files: context.file_next.is_some(),
            histories,
            changed_since: self.changed_since.clone(),
            muted,
            options,
        };
        let files = self.files_of_ci.paths().chain(&self.badge);
        context.show_beside(files, &answer, &self.answer)?;
        self.write_files(&answer.histories, &answer.detection, context)?;
        if let Some(command) = &self.notify {
            notify::notify(command, &answer, &mut store)?;
        }
        Ok(self.judge(&answer, context))
    }

    /// Refuses jobs that would have nothing to do.
    fn check_jobs(&self) -> Result<(), CliError> {
        if !self.jobs.are_used() {
            return Ok(());
        }
        let usual = self.rule.options(self.compat, None)?;
        let (here, hint) = if !self.files.is_empty() {
            (
                "files are searched here",
                "omit --executor, or `lapwing import` them first",
            )
        } else if self.self_test.self_test {
            ("a self-test is made here", "omit --executor")
        } else if usual.rule != DetectRule::ChangePoint {
            ("a threshold is looked at here", "omit --executor")
        } else {
            return Ok(());
        };
        Err(CliError::input(format!("{here}, not by jobs")).hint(hint))
    }

    /// Writes the badge and the files for CI systems that were asked for.
    fn write_files(
        &self,
        histories: &Histories,
        detection: &Detection,
        context: &Context,
    ) -> Result<(), CliError> {
        let tests = GateTests::detected(histories, detection);
        self.files_of_ci.write(&tests, context)?;
        if let Some(path) = &self.badge {
            write_output(path, badge(detection), context)?;
        }
        Ok(())
    }

    /// Shows what the detector does on replays of the histories.
    fn test_itself(
        &self,
        histories: &Histories,
        options: DetectOptions,
        notes: Vec<Note>,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let wanted = SelfTestOptions {
            slowdowns: self.self_test.slowdowns(),
            seed: Seed(self.seed),
            ..SelfTestOptions::default()
        };
        let spinner = progress::spinner("replaying the histories", context);
        let test = self_test(histories, &options, &wanted);
        spinner.finish_and_clear();
        if test.suites.is_empty() {
            let why = too_short_note(&test.too_short);
            let why = why.map_or_else(|| "no history is still measured".to_owned(), |it| it.text);
            return Err(CliError::not_enough(why));
        }
        let answer = SelfTestAnswer {
            test,
            wanted,
            options,
            notes,
        };
        context.show(&answer, &self.answer)
    }

    fn judge(&self, answer: &DetectAnswer, context: &Context) -> ExitStatus {
        let detection = &answer.detection;
        let conditions_of = |series: &HistorySeries| {
            let own = series.fail_on.as_deref();
            GateRule::conditions_of(&self.fail_on, &series.subject.metric, own)
        };
        let fails = |finding: &Finding, is_found: bool| {
            let conditions = conditions_of(&answer.histories.series[finding.series]);
            let is_regression = finding.direction == Direction::Regression;
            conditions.iter().any(|condition| match condition {
                GateCondition::Regression => is_found && is_regression,
                GateCondition::Suspected => is_regression,
                GateCondition::Drift => {
                    is_found && is_regression && finding.kind == ChangeKind::Drift
                }
                GateCondition::Improvement => {
                    is_found && finding.direction == Direction::Improvement
                }
                GateCondition::Change => is_found,
                _ => false,
            })
        };
        let found = detection.findings.iter().map(|it| (it, true));
        let suspected = detection.suspicions.iter().map(|it| (&it.finding, false));
        let mut open = found.chain(suspected).filter(|(it, _)| it.is_open());
        let is_missing = |state: &SeriesState| {
            matches!(
                state,
                SeriesState::NotMeasured { .. } | SeriesState::NothingUsable { .. }
            )
        };
        let mut states = measured(&answer.histories, &detection.states);
        let lacks = states.any(|(series, state)| {
            is_missing(&state) && conditions_of(series).contains(&GateCondition::NotMeasured)
        });
        if lacks || open.any(|(finding, is_found)| fails(finding, is_found)) {
            return ExitStatus::Judged;
        }
        let is_searched = |metric: &String| {
            let mut series = answer.histories.series.iter();
            series.any(|it| it.subject.metric == *metric)
        };
        let mut asked = self.fail_on.iter().filter_map(|rule| rule.metric.as_ref());
        if !asked.all(is_searched) {
            context.terminal.note(
                "--fail-on judged nothing of a metric that it names: no history is of that metric",
            );
            return ExitStatus::NotEnough;
        }
        // What was not judged never passes, whatever was said of by-products such as failures.
        if detection.judged.judged == 0 {
            return ExitStatus::NotEnough;
        }
        let series = answer.histories.series.iter().zip(&detection.states);
        let mut judged = series.filter(|(_, state)| matches!(state, SeriesState::Tested));
        let needs_direction = |rule: &GateRule| {
            !matches!(
                rule.condition,
                GateCondition::NotMeasured | GateCondition::Change
            )
        };
        let asks_for_regressions = self.fail_on.iter().any(needs_direction);
        let is_measured = |series: &HistorySeries| series.subject.metric != FAILURES;
        if asks_for_regressions
            && !judged.any(|(series, _)| is_measured(series) && series.metric.better.is_some())
        {
            context.terminal.note(
                "--fail-on judged nothing: no metric says whether more of it is better, so that no change is a regression",
            );
            return ExitStatus::NotEnough;
        }
        ExitStatus::Fine
    }
}

/// Returns whether there is no store yet.
fn is_missing(error: &CliError) -> bool {
    matches!(error.cause.downcast_ref(), Some(StoreError::Missing { .. }))
}

fn file_error(path: &Path, error: &io::Error) -> CliError {
    CliError::input(format!("{}: {error}", path.display()))
}
