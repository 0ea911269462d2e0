//! One visit to a benchmark: set-up, iterations, teardown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::Regex;

use super::super::repository::source::VariantPlace;
use super::event::Event;
use super::execute::{
    Clock, Execution, ExecutionEnd, ExecutionResult, Executor, ExecutorError, LeftoverPolicy, Stdin,
};
use super::kept::{TAIL, last_lines, with_printed};
use super::runner::{EventOutlet, MachineWatch, RunError, describe, processor_time};
use super::values::{ExecutionValues, values};
use crate::suite::{Case, CaseInput, CommandLine, ExitCodes, OutputMetrics, Variant};
use lapwing_model::{
    Id, InstanceEnd, InstanceOutcome, MOST_METRICS, MetricName, Object, Outcome, Record,
    too_many_metrics,
};

/// How much output is kept for a machine to read.
const DOCUMENT: usize = 16 * 1024 * 1024;
/// An instance of a very quick command ends here whatever its time budget.
const MAX_ITERATIONS: u32 = 100_000;

/// Which benchmark is visited, in which setting.
pub(crate) struct InstanceVisit<'p> {
    pub(crate) id: Id,
    pub(crate) case: &'p Case,
    pub(crate) variant: &'p Variant,
}

/// What stands around one instance.
pub(crate) struct InstanceSurroundings<'r> {
    pub(crate) executor: &'r mut dyn Executor,
    pub(crate) clock: &'r dyn Clock,
    pub(crate) scratch: &'r Path,
}

pub(crate) struct InstanceRunner<'r, 'p> {
    pub(super) visit: InstanceVisit<'p>,
    executor: &'r mut dyn Executor,
    clock: &'r dyn Clock,
    patterns: BTreeMap<MetricName, Regex>,
    environment: BTreeMap<String, String>,
    directory: Option<PathBuf>,
    metrics_file: Option<PathBuf>,
    began: Duration,
    own: Duration,
    pub(super) index: u32,
    pub(super) failures: u32,
    pub(super) measured: Duration,
    /// The names of all metrics so far.
    metrics: BTreeSet<MetricName>,
}

/// Why an instance ends before its time.
pub(crate) struct GivenUp {
    pub(crate) outcome: InstanceOutcome,
    pub(crate) message: String,
}

impl GivenUp {
    /// Returns the end of an instance that somebody interrupted.
    pub(crate) fn interrupted() -> Self {
        Self {
            outcome: InstanceOutcome::Lost,
            message: "interrupted".to_owned(),
        }
    }

    pub(crate) fn is_interruption(&self) -> bool {
        self.outcome == InstanceOutcome::Lost
    }

    pub(super) fn failed(message: String) -> Self {
        Self {
            outcome: InstanceOutcome::Failed,
            message,
        }
    }
}

/// The result of one execution.
pub(crate) enum ExecutionStep {
    Went(ExecutionValues),
    Failed { outcome: Outcome, message: String },
    Interrupted,
}

impl ExecutionStep {
    fn failed(message: String) -> Self {
        Self::Failed {
            outcome: Outcome::Failed,
            message,
        }
    }
}

impl<'r, 'p> InstanceRunner<'r, 'p> {
    pub(crate) fn new(
        visit: InstanceVisit<'p>,
        place: &VariantPlace,
        around: InstanceSurroundings<'r>,
    ) -> Self {
        let mut environment = place.environment(visit.case, visit.variant);
        let metrics_file = match visit.case.output {
            OutputMetrics::Json => {
                let path = around.scratch.join(format!("{}.json", visit.id));
                environment.insert("LAPWING_METRICS".to_owned(), path.display().to_string());
                Some(path)
            }
            OutputMetrics::None | OutputMetrics::Indicator => None,
        };
        // The suite was checked when it was read; a plan of a newer program is not.
        let patterns = visit
            .case
            .patterns
            .iter()
            .filter_map(|(name, it)| Some((name.clone(), Regex::new(&it.regex).ok()?)))
            .collect();
        Self {
            began: around.clock.elapsed(),
            directory: place.directory(visit.case),
            visit,
            executor: around.executor,
            clock: around.clock,
            patterns,
            environment,
            metrics_file,
            own: Duration::ZERO,
            index: 0,
            failures: 0,
            measured: Duration::ZERO,
            metrics: BTreeSet::new(),
        }
    }

    /// Returns how the instance ended; `None` if it was interrupted.
    pub(crate) fn run(
        mut self,
        watch: &mut dyn MachineWatch,
        outlet: &mut EventOutlet<'_, '_>,
    ) -> Result<Option<InstanceOutcome>, RunError> {
        let given_up = match self.set_up()? {
            Some(failure) => Some(failure),
            None => self.iterations(outlet)?,
        };
        let end = self.tear_down(given_up, outlet)?;
        let observed = watch.end(self.own);
        self.keep_end(end, observed, outlet)
    }

    /// Executes the timed command once, changed by `wrap`, with everything around it, and records nothing; returns
    /// what went wrong, if anything.
    pub(crate) fn once(
        mut self,
        wrap: impl FnOnce(&CommandLine) -> CommandLine,
    ) -> Result<Option<GivenUp>, ExecutorError> {
        let case = self.visit.case;
        let mut failure = self.set_up()?;
        if failure.is_none() {
            failure = self.untimed("prepare", case.prepare.as_ref())?;
        }
        if failure.is_none() {
            let mut execution = self.execution();
            execution.command = wrap(&execution.command);
            let executed = self.executor.execute(&execution)?;
            failure = match self.assess(&executed)? {
                ExecutionStep::Went(_) => None,
                ExecutionStep::Interrupted => Some(GivenUp::interrupted()),
                ExecutionStep::Failed { message, .. } => {
                    let printed = last_lines(&executed.stderr);
                    Some(GivenUp::failed(with_printed(message, printed)))
                }
            };
        }
        let torn_down = self.untimed("teardown", case.teardown.as_ref())?;
        self.executor.end_kept()?;
        Ok(failure.or(torn_down))
    }

    /// Tears down, unless the instance was interrupted, and returns its end.
    pub(crate) fn tear_down(
        &mut self,
        given_up: Option<GivenUp>,
        outlet: &mut EventOutlet<'_, '_>,
    ) -> Result<InstanceEnd, RunError> {
        let (variant, case) = (self.visit.variant, self.visit.case);
        let teardown = if given_up.as_ref().is_some_and(GivenUp::is_interruption) {
            None
        } else {
            self.untimed("teardown", case.teardown.as_ref())?
        };
        if variant.setups().chain(&case.setup).next().is_some() {
            self.executor.end_kept()?;
        }
        let (outcome, mut message) = match given_up {
            Some(given_up) => (given_up.outcome, Some(given_up.message)),
            None => (InstanceOutcome::Ok, None),
        };
        if let Some(teardown) = teardown {
            self.note(&format!(": {}", teardown.message), outlet)?;
            message.get_or_insert(teardown.message);
        }
        Ok(InstanceEnd {
            message,
            ..InstanceEnd::new(self.visit.id, Some(self.clock.now()), outcome)
        })
    }

    /// Says something about the benchmark, whose id comes first.
    pub(super) fn note(
        &self,
        text: &str,
        outlet: &mut EventOutlet<'_, '_>,
    ) -> Result<(), RunError> {
        let id = &self.visit.case.benchmark.id;
        outlet.send(&Event::Note(format!("{id}{text}")))
    }

    /// Records the end of the instance; returns how it ended, `None` if it was interrupted.
    pub(crate) fn keep_end(
        &self,
        end: InstanceEnd,
        observed: Object,
        outlet: &mut EventOutlet<'_, '_>,
    ) -> Result<Option<InstanceOutcome>, RunError> {
        let outcome = end.outcome;
        outlet.keep(&Record::InstanceEnd(InstanceEnd { observed, ..end }))?;
        Ok((outcome != InstanceOutcome::Lost).then_some(outcome))
    }

    /// Returns the processor time that its commands used.
    pub(crate) fn own(&self) -> Duration {
        self.own
    }

    /// Returns the number of the next iteration.
    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    /// Leaves out the numbers of iterations before this one.
    pub(crate) fn skip_to(&mut self, index: u32) {
        self.index = self.index.max(index);
    }

    /// Sets up the factors, the variant, then the benchmark; returns what went wrong, if anything.
    pub(crate) fn set_up(&mut self) -> Result<Option<GivenUp>, ExecutorError> {
        let (variant, case) = (self.visit.variant, self.visit.case);
        for setup in variant.setups().chain(&case.setup) {
            let failure = self.untimed("setup", Some(setup))?;
            if failure.is_some() {
                return Ok(failure);
            }
        }
        Ok(None)
    }

    /// Returns why the iterations ended early, if they did.
    fn iterations(
        &mut self,
        outlet: &mut EventOutlet<'_, '_>,
    ) -> Result<Option<GivenUp>, RunError> {
        while self.goes_on() {
            let offset = self.since_start();
            let (step, executed) = match self.prepare()? {
                Some(failure) => (failure, None),
                None => {
                    let execution = self.execution();
                    let executed = self.executor.execute(&execution)?;
                    (self.assess(&executed)?, Some(executed))
                }
            };
            let given_up = self.keep_step(offset, step, executed.as_ref(), outlet)?;
            if given_up.is_some() {
                return Ok(given_up);
            }
        }
        Ok(None)
    }

    /// Returns whether there is another iteration.
    pub(crate) fn goes_on(&self) -> bool {
        let case = self.visit.case;
        let burn_in = self.burn_in();
        if self.index < burn_in.saturating_add(1) {
            // Even a spent budget leaves one iteration that counts.
            return true;
        }
        if self.index - burn_in >= MAX_ITERATIONS {
            return false;
        }
        let share = |budget: Duration| budget / case.instances.max(1);
        let since = self.clock.elapsed().saturating_sub(self.began);
        if case.max_time.is_some_and(|budget| since >= share(budget)) {
            return false;
        }
        let min_time = case.min_time;
        self.index < burn_in.saturating_add(case.iterations)
            || min_time.is_some_and(|budget| self.measured < share(budget))
    }

    pub(super) fn burn_in(&self) -> u32 {
        self.visit.case.burn_in.planned()
    }

    /// Returns the seconds since the instance began.
    pub(crate) fn since_start(&self) -> f64 {
        let since = self.clock.elapsed().saturating_sub(self.began);
        since.as_secs_f64()
    }

    /// Runs `prepare`; returns the step that the iteration ends with if that fails.
    pub(crate) fn prepare(&mut self) -> Result<Option<ExecutionStep>, ExecutorError> {
        let prepare = self.visit.case.prepare.as_ref();
        Ok(self.untimed("prepare", prepare)?.map(failed))
    }

    /// Starts the timed command.
    pub(crate) fn begin(&mut self) -> Result<(), ExecutorError> {
        let execution = self.execution();
        self.executor.begin(&execution)
    }

    /// Waits for the timed command.
    pub(crate) fn finish(&mut self) -> Result<ExecutionResult, ExecutorError> {
        self.executor.finish()
    }

    /// Checks an execution of the timed command and returns what came of it.
    pub(crate) fn assess(
        &mut self,
        executed: &ExecutionResult,
    ) -> Result<ExecutionStep, ExecutorError> {
        let case = self.visit.case;
        self.own += processor_time(executed);
        Ok(match &executed.end {
            ExecutionEnd::Interrupted => ExecutionStep::Interrupted,
            ExecutionEnd::Exited(code) if accepted(*code, &case.exit_codes) => {
                match self.check(executed)? {
                    Some(failure) => failed(failure),
                    None => match self.values(executed) {
                        Ok(values) => ExecutionStep::Went(values),
                        Err(message) => ExecutionStep::failed(message),
                    },
                }
            }
            end @ (ExecutionEnd::Exited(_)
            | ExecutionEnd::Signalled(_)
            | ExecutionEnd::NotStarted(_)) => ExecutionStep::failed(describe(end, None)),
            ExecutionEnd::TimedOut => ExecutionStep::Failed {
                outcome: Outcome::TimedOut,
                message: describe(&ExecutionEnd::TimedOut, case.time_limit),
            },
        })
    }

    /// Returns the execution of the timed command.
    fn execution(&self) -> Execution {
        let case = self.visit.case;
        if let Some(path) = &self.metrics_file {
            // What an earlier iteration wrote must not be read as this one's.
            let _absent = std::fs::remove_file(path);
        }
        let reads_output =
            case.check.is_some() || case.output != OutputMetrics::None || !case.patterns.is_empty();
        let keep = if reads_output { DOCUMENT } else { TAIL };
        let variant = self.visit.variant;
        let command = with_arguments(variant.command_of(case), &variant.arguments);
        Execution {
            stdin: match &case.stdin {
                CaseInput::Null => Stdin::Null,
                CaseInput::File(path) => Stdin::File(PathBuf::from(path)),
            },
            keep_stdout: keep,
            keep_stderr: if case.patterns.is_empty() { TAIL } else { keep },
            counters: true,
            cpus: variant.cpu_list(),
            confinement: case.confinement.clone(),
            ..self.around(command)
        }
    }

    /// Returns the execution of a command of the benchmark: where, with which variables, and for how long at most.
    fn around(&self, command: CommandLine) -> Execution {
        Execution {
            directory: self.directory.clone(),
            environment: self.environment.clone(),
            time_limit: self.visit.case.time_limit,
            keep_stdout: TAIL,
            keep_stderr: TAIL,
            ..Execution::new(command)
        }
    }

    fn check(&mut self, executed: &ExecutionResult) -> Result<Option<GivenUp>, ExecutorError> {
        let Some(check) = &self.visit.case.check else {
            return Ok(None);
        };
        let stdout = &executed.stdout;
        if stdout.total > stdout.bytes.len() as u64 {
            return Ok(Some(GivenUp::failed(format!(
                "printed {} bytes, and a check can be given {DOCUMENT} at most",
                stdout.total
            ))));
        }
        let execution = Execution {
            stdin: Stdin::Bytes(stdout.bytes.clone()),
            ..self.around(check.clone())
        };
        self.execute_untimed("check", &execution)
    }

    fn values(&mut self, executed: &ExecutionResult) -> Result<ExecutionValues, String> {
        let text = self.metrics_file.as_deref().map(metrics_text).transpose()?;
        let text = text.flatten().filter(|text| !text.trim().is_empty());
        let values = values(self.visit.case, &self.patterns, executed, text.as_deref())?;
        for name in values.iterations.iter().flat_map(BTreeMap::keys) {
            if !self.metrics.contains(name) {
                if self.metrics.len() == MOST_METRICS {
                    return Err(too_many_metrics());
                }
                self.metrics.insert(name.clone());
            }
        }
        Ok(values)
    }

    /// Executes a command that is not timed, if there is one; returns what went wrong, if anything.
    fn untimed(
        &mut self,
        what: &str,
        command: Option<&CommandLine>,
    ) -> Result<Option<GivenUp>, ExecutorError> {
        let Some(command) = command else {
            return Ok(None);
        };
        let execution = Execution {
            leftovers: match what {
                "setup" => LeftoverPolicy::Keep,
                _timed_soon => LeftoverPolicy::End,
            },
            ..self.around(command.clone())
        };
        self.execute_untimed(what, &execution)
    }

    fn execute_untimed(
        &mut self,
        what: &str,
        execution: &Execution,
    ) -> Result<Option<GivenUp>, ExecutorError> {
        let executed = self.executor.execute(execution)?;
        self.own += processor_time(&executed);
        Ok(match &executed.end {
            ExecutionEnd::Exited(0) => None,
            ExecutionEnd::Interrupted => Some(GivenUp::interrupted()),
            end => {
                let ended = describe(end, execution.time_limit);
                let printed = last_lines(&executed.stderr).or_else(|| last_lines(&executed.stdout));
                let message = with_printed(format!("{what} failed: {ended}"), printed);
                Some(GivenUp::failed(message))
            }
        })
    }
}

/// Returns the text of the file that `$LAPWING_METRICS` named, if there is one. A program could put a
/// pipe or a device in its place, which have no end.
fn metrics_text(path: &Path) -> Result<Option<String>, String> {
    let Ok(metadata) = std::fs::metadata(path) else {
        return Ok(None);
    };
    if !metadata.is_file() {
        return Err("$LAPWING_METRICS is not a regular file".to_owned());
    }
    if metadata.len() > DOCUMENT as u64 {
        return Err(format!(
            "$LAPWING_METRICS holds {} bytes, and {DOCUMENT} is the most",
            metadata.len()
        ));
    }
    Ok(std::fs::read_to_string(path).ok())
}

fn failed(failure: GivenUp) -> ExecutionStep {
    if failure.is_interruption() {
        ExecutionStep::Interrupted
    } else {
        ExecutionStep::failed(failure.message)
    }
}

fn accepted(code: i32, codes: &ExitCodes) -> bool {
    match codes {
        ExitCodes::Any => true,
        ExitCodes::These(codes) => codes.contains(&code),
    }
}

/// Returns the command with what a variant adds to it.
fn with_arguments(command: &CommandLine, arguments: &[String]) -> CommandLine {
    if arguments.is_empty() {
        return command.clone();
    }
    match command {
        CommandLine::Words(words) => CommandLine::Words([words, arguments].concat()),
        CommandLine::Shell(text) => {
            let added = crate::suite::command_text(&CommandLine::Words(arguments.to_vec()));
            CommandLine::Shell(format!("{text} {added}"))
        }
    }
}
