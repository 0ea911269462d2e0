//! One visit to a benchmark: set-up, iterations, teardown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::Regex;

use super::super::repository::source::VariantPlace;
use super::event::Event;
use super::execute::{
    Clock, Execution, ExecutionEnd, ExecutionResult, Executor, ExecutorError, LeftoverPolicy,
    OutputTail, Stdin,
};
use super::runner::{EventOutlet, MachineWatch, RunError, describe, processor_time};
use super::values::{ExecutionValues, values};
use crate::suite::{Case, CaseInput, CommandLine, ExitCodes, OutputMetrics, Variant};
use lapwing_model::{
    Id, InstanceEnd, InstanceOutcome, Iteration, MOST_METRICS, MetricName, Object, Outcome, Record,
    too_many_metrics,
};

/// How much of a failure's output is kept, for people to read.
const TAIL: usize = 4 * 1024;
/// As many lines of it are in a message.
const MESSAGE_LINES: usize = 8;
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
    visit: InstanceVisit<'p>,
    executor: &'r mut dyn Executor,
    clock: &'r dyn Clock,
    patterns: BTreeMap<MetricName, Regex>,
    environment: BTreeMap<String, String>,
    directory: Option<PathBuf>,
    metrics_file: Option<PathBuf>,
    began: Duration,
    own: Duration,
    index: u32,
    failures: u32,
    measured: Duration,
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
}

/// The result of one execution.
pub(crate) enum ExecutionStep {
    Went(ExecutionValues),
    Failed { outcome: Outcome, message: String },
    Interrupted,
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
            failure = self.untimed("prepare", case.prepare.as_ref(), Stdin::Null)?;
        }
        if failure.is_none() {
            let execution = self.execution();
            let command = wrap(&execution.command);
            let executed = self.executor.execute(&Execution {
                command,
                ..execution
            })?;
            failure = match self.assess(&executed)? {
                ExecutionStep::Went(_) => None,
                ExecutionStep::Interrupted => Some(GivenUp::interrupted()),
                ExecutionStep::Failed { message, .. } => {
                    let printed = last_lines(&executed.stderr);
                    Some(GivenUp {
                        outcome: InstanceOutcome::Failed,
                        message: with_printed(message, printed),
                    })
                }
            };
        }
        let torn_down = self.untimed("teardown", case.teardown.as_ref(), Stdin::Null)?;
        self.executor.end_kept()?;
        Ok(failure.or(torn_down))
    }

    /// Tears down, unless the instance was interrupted, and returns its end.
    pub(crate) fn tear_down(
        &mut self,
        given_up: Option<GivenUp>,
        outlet: &mut EventOutlet<'_, '_>,
    ) -> Result<InstanceEnd, RunError> {
        let interrupted = given_up
            .as_ref()
            .is_some_and(|it| it.outcome == InstanceOutcome::Lost);
        let teardown = if interrupted {
            None
        } else {
            self.untimed("teardown", self.visit.case.teardown.as_ref(), Stdin::Null)?
        };
        let (variant, case) = (self.visit.variant, self.visit.case);
        let mut setups = variant.setup.iter().chain(&case.setup);
        if setups.next().is_some() || !variant.factor_setups.is_empty() {
            self.executor.end_kept()?;
        }
        let (outcome, mut message) = match given_up {
            Some(given_up) => (given_up.outcome, Some(given_up.message)),
            None => (InstanceOutcome::Ok, None),
        };
        if let Some(teardown) = teardown {
            let id = &self.visit.case.benchmark.id;
            outlet.send(&Event::Note(format!("{id}: {}", teardown.message)))?;
            message.get_or_insert(teardown.message);
        }
        Ok(InstanceEnd {
            instance: self.visit.id,
            ended: Some(self.clock.now()),
            outcome,
            message,
            observed: Object::new(),
            extra: Object::new(),
        })
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
        let own = variant.setup.iter().chain(&case.setup);
        for setup in variant.factor_setups.iter().chain(own) {
            let failure = self.untimed("setup", Some(setup), Stdin::Null)?;
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

    /// Records an iteration; returns why the instance ends with it, if it does.
    pub(crate) fn keep_step(
        &mut self,
        offset: f64,
        step: ExecutionStep,
        executed: Option<&ExecutionResult>,
        outlet: &mut EventOutlet<'_, '_>,
    ) -> Result<Option<GivenUp>, RunError> {
        let unstartable = executed.is_some_and(|it| matches!(it.end, ExecutionEnd::NotStarted(_)));
        // An interrupted shell leaves its children behind: that says nothing of the command.
        let left_behind =
            executed.is_some_and(|it| it.left_behind > 0 && it.end != ExecutionEnd::Interrupted);
        if left_behind {
            let id = &self.visit.case.benchmark.id;
            outlet.send(&Event::Note(format!(
                "{id} leaves processes behind when it ends; they are ended"
            )))?;
        }
        match step {
            ExecutionStep::Interrupted => return Ok(Some(GivenUp::interrupted())),
            ExecutionStep::Went(values) => {
                self.failures = 0;
                self.keep_values(offset, values, executed, outlet)?;
            }
            ExecutionStep::Failed { outcome, message } => {
                self.failures += 1;
                self.keep_failure(offset, outcome, message, executed, outlet)?;
            }
        }
        let limit = self.visit.case.max_failures;
        let message = if unstartable {
            "the command could not be started".to_owned()
        } else if limit > 0 && self.failures >= limit {
            format!("{limit} iterations failed in a row")
        } else {
            return Ok(None);
        };
        Ok(Some(GivenUp {
            outcome: InstanceOutcome::Failed,
            message,
        }))
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
        if case
            .max_time
            .is_some_and(|budget| self.clock.elapsed().saturating_sub(self.began) >= share(budget))
        {
            return false;
        }
        self.index < burn_in.saturating_add(case.iterations)
            || case
                .min_time
                .is_some_and(|budget| self.measured < share(budget))
    }

    fn burn_in(&self) -> u32 {
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
        Ok(self.untimed("prepare", prepare, Stdin::Null)?.map(failed))
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
                        Err(message) => ExecutionStep::Failed {
                            outcome: Outcome::Failed,
                            message,
                        },
                    },
                }
            }
            end @ (ExecutionEnd::Exited(_)
            | ExecutionEnd::Signalled(_)
            | ExecutionEnd::NotStarted(_)) => ExecutionStep::Failed {
                outcome: Outcome::Failed,
                message: describe(end, None),
            },
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
        Execution {
            command: with_arguments(
                self.visit.variant.command_of(case),
                &self.visit.variant.arguments,
            ),
            directory: self.directory.clone(),
            environment: self.environment.clone(),
            stdin: match &case.stdin {
                CaseInput::Null => Stdin::Null,
                CaseInput::File(path) => Stdin::File(PathBuf::from(path)),
            },
            time_limit: case.time_limit,
            keep_stdout: keep,
            keep_stderr: if case.patterns.is_empty() { TAIL } else { keep },
            counters: true,
            leftovers: LeftoverPolicy::End,
            cpus: self.visit.variant.cpu_list(),
            confinement: case.confinement.clone(),
        }
    }

    fn check(&mut self, executed: &ExecutionResult) -> Result<Option<GivenUp>, ExecutorError> {
        if self.visit.case.check.is_none() {
            return Ok(None);
        }
        let stdout = &executed.stdout;
        if stdout.total > stdout.bytes.len() as u64 {
            return Ok(Some(GivenUp {
                outcome: InstanceOutcome::Failed,
                message: format!(
                    "printed {} bytes, and a check can be given {DOCUMENT} at most",
                    stdout.total
                ),
            }));
        }
        let stdin = Stdin::Bytes(stdout.bytes.clone());
        self.untimed("check", self.visit.case.check.as_ref(), stdin)
    }

    fn values(&mut self, executed: &ExecutionResult) -> Result<ExecutionValues, String> {
        let text = match &self.metrics_file {
            Some(path) => metrics_text(path)?,
            None => None,
        };
        let text = text.filter(|text| !text.trim().is_empty());
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

    /// Executes a command that is not timed; returns what went wrong, if anything.
    fn untimed(
        &mut self,
        what: &str,
        command: Option<&CommandLine>,
        stdin: Stdin,
    ) -> Result<Option<GivenUp>, ExecutorError> {
        let Some(command) = command else {
            return Ok(None);
        };
        let case = self.visit.case;
        let executed = self.executor.execute(&Execution {
            command: command.clone(),
            directory: self.directory.clone(),
            environment: self.environment.clone(),
            stdin,
            time_limit: case.time_limit,
            keep_stdout: TAIL,
            keep_stderr: TAIL,
            counters: false,
            leftovers: match what {
                "setup" => LeftoverPolicy::Keep,
                _timed_soon => LeftoverPolicy::End,
            },
            cpus: None,
            confinement: None,
        })?;
        self.own += processor_time(&executed);
        Ok(match &executed.end {
            ExecutionEnd::Exited(0) => None,
            ExecutionEnd::Interrupted => Some(GivenUp::interrupted()),
            end => {
                let ended = describe(end, case.time_limit);
                let printed = last_lines(&executed.stderr).or_else(|| last_lines(&executed.stdout));
                let message = with_printed(format!("{what} failed: {ended}"), printed);
                Some(GivenUp {
                    outcome: InstanceOutcome::Failed,
                    message,
                })
            }
        })
    }

    fn keep_values(
        &mut self,
        offset: f64,
        values: ExecutionValues,
        executed: Option<&ExecutionResult>,
        outlet: &mut EventOutlet<'_, '_>,
    ) -> Result<(), RunError> {
        let mut attributes = facts(executed);
        if !values.parameters.is_empty() {
            attributes.insert("parameters".to_owned(), values.parameters.into());
        }
        if !values.document.is_empty() {
            attributes.insert(Iteration::DOCUMENT.to_owned(), values.document.into());
            let stderr = executed.map(|it| readable(&it.stderr)).unwrap_or_default();
            if !stderr.is_empty() {
                attributes.insert("stderr".to_owned(), stderr.into());
            }
        }
        let counts = self.index >= self.burn_in();
        for (position, metrics) in values.iterations.into_iter().enumerate() {
            let mut iteration = self.blank(offset);
            iteration.metrics = metrics;
            if position == 0 {
                iteration.attributes = std::mem::take(&mut attributes);
            }
            outlet.keep(&Record::Iteration(iteration))?;
            self.index += 1;
        }
        if counts {
            self.measured += executed.map_or(Duration::ZERO, |it| it.wall);
        }
        Ok(())
    }

    fn keep_failure(
        &mut self,
        offset: f64,
        outcome: Outcome,
        message: String,
        executed: Option<&ExecutionResult>,
        outlet: &mut EventOutlet<'_, '_>,
    ) -> Result<(), RunError> {
        let mut iteration = self.blank(offset);
        iteration.outcome = outcome;
        let printed = executed.filter(|_| outcome == Outcome::Failed);
        let printed = printed.and_then(|it| last_lines(&it.stderr));
        iteration.message = Some(with_printed(message, printed));
        iteration.attributes = facts(executed);
        if let Some(executed) = executed {
            for (name, tail) in [("stdout", &executed.stdout), ("stderr", &executed.stderr)] {
                if !tail.bytes.is_empty() {
                    let text = readable(tail);
                    iteration.attributes.insert(name.to_owned(), text.into());
                }
            }
            if let ExecutionEnd::Exited(_) | ExecutionEnd::Signalled(_) | ExecutionEnd::TimedOut =
                executed.end
            {
                let values = values(
                    &without_output(self.visit.case),
                    &BTreeMap::new(),
                    executed,
                    None,
                );
                // Nothing is read from the output here, so nothing can be missing from it.
                if let Ok(mut values) = values {
                    iteration.metrics = std::mem::take(&mut values.iterations[0]);
                }
            }
        }
        outlet.keep(&Record::Iteration(iteration))?;
        self.index += 1;
        self.measured += executed.map_or(Duration::ZERO, |it| it.wall);
        Ok(())
    }

    fn blank(&self, offset: f64) -> Iteration {
        Iteration {
            instance: self.visit.id,
            index: self.index,
            offset: Some(offset),
            burn_in: self.index < self.burn_in(),
            loops: 1,
            outcome: Outcome::Ok,
            message: None,
            metrics: BTreeMap::new(),
            attributes: Object::new(),
            artifacts: Object::new(),
            extra: Object::new(),
        }
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

/// A failed iteration keeps what the operating system counted, and no throughput.
fn without_output(case: &Case) -> Case {
    Case {
        output: OutputMetrics::None,
        patterns: BTreeMap::new(),
        work: BTreeMap::new(),
        ..case.clone()
    }
}

fn failed(failure: GivenUp) -> ExecutionStep {
    match failure.outcome {
        InstanceOutcome::Lost => ExecutionStep::Interrupted,
        InstanceOutcome::Ok
        | InstanceOutcome::Failed
        | InstanceOutcome::TimedOut
        | InstanceOutcome::Skipped => ExecutionStep::Failed {
            outcome: Outcome::Failed,
            message: failure.message,
        },
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

fn facts(executed: Option<&ExecutionResult>) -> Object {
    let mut facts = Object::new();
    let Some(executed) = executed else {
        return facts;
    };
    match executed.end {
        ExecutionEnd::Exited(code) => {
            facts.insert("exit_code".to_owned(), code.into());
        }
        ExecutionEnd::Signalled(signal) => {
            facts.insert("signal".to_owned(), signal.into());
        }
        ExecutionEnd::TimedOut | ExecutionEnd::Interrupted | ExecutionEnd::NotStarted(_) => {}
    }
    if executed.left_behind > 0 {
        facts.insert("left_behind".to_owned(), executed.left_behind.into());
    }
    facts
}

fn readable(tail: &OutputTail) -> String {
    let start = tail.bytes.len().saturating_sub(TAIL);
    String::from_utf8_lossy(&tail.bytes[start..]).into_owned()
}

/// Returns the last lines that are not blank, at most [`MESSAGE_LINES`]. Some programs print the cause of a failure
/// last (a traceback), others before a hint or their usage.
fn last_lines(tail: &OutputTail) -> Option<Vec<String>> {
    let text = readable(tail);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
    lines.drain(..lines.len().saturating_sub(MESSAGE_LINES));
    (!lines.is_empty()).then_some(lines)
}

/// Returns a message with what the program printed: a single line behind it, several below it.
fn with_printed(message: String, printed: Option<Vec<String>>) -> String {
    match printed.as_deref() {
        None | Some([]) => message,
        Some([only]) => format!("{message}: {}", only.trim()),
        Some(lines) => format!("{message}\n{}", lines.join("\n")),
    }
}
