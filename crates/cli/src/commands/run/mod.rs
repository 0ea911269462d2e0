//! `lapwing run`: measures commands or a suite, stores every iteration, and reports the results.

use lapwing_model::text::grouped;

mod again;
mod budget;
mod cluster;
mod commits;
mod dry_run;
mod duet;
mod early_stop;
mod familiar;
mod from_file;
mod measuring;
mod options;
mod progress;
mod refusals;
mod results;
mod resume;
mod study_session;
mod tool_files;
mod words;

use std::path::PathBuf;

use lapwing_analyse::explain::Advice;
use lapwing_analyse::judge::Comparison;
use lapwing_analyse::sample::{RunKey, Selector};
use lapwing_measure::session::{MeasuredSession, MeasuringParts, SessionOpening, SessionRequest};
use lapwing_measure::stack::STACKS;
use lapwing_measure::suite::{
    AdHoc, Confinement, Isolation, MOST_INSTANCES_IN_ALL, Plan, StopEarly, Variant,
};
use lapwing_measure::{FixedSchedule, NextLook, RunEnd};
use lapwing_model::text::shell_word;
use lapwing_model::{GateRule, Session};
use lapwing_record::Store;
use lapwing_record::private::hidden_in_plan;
use lapwing_show::answers::campaign::JudgedAttempt;
use lapwing_show::answers::session::{SessionAnswer, nothing_to_measure};
use lapwing_show::writing::NextStep;

pub use self::again::next_step_of_latest;
use self::budget::SlowdownBudget;
pub use self::cluster::{
    ClusterOptions, ClusterPacketCommand, ClusterShareCommand, ClusterTaskCommand, JobShare,
    ShareJobs, ShareUnit, SimulationStart,
};
pub use self::dry_run::past_seconds;
use self::early_stop::JudgedSession;
use self::familiar::REFERENCE;
pub use self::from_file::PlannedRun;
pub use self::measuring::MeasuringOptions;
pub use self::options::{
    AgainWhat, QUICK, Run, executors_here, executors_of, parse_burn_in, random_seed, suite_of,
};
use self::progress::RunProgress;
pub use self::refusals::refuse_options_of_commands;
pub use self::results::{session_answer, session_results};
pub use self::resume::resume;
pub use self::study_session::STUDY;
pub use self::study_session::study_request;
pub use self::tool_files::ToolFiles;
pub use self::words::{ProgramOrigin, commands, is_executable};
use crate::commands::campaign::{CampaignOption, ComparedAttempt};
use crate::commands::compare::gate_status;
use crate::commands::indicator::inherited_variables;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, ExportOptions};
use crate::session;

/// Refuses a plan that would not fit into memory.
fn refuse_too_many(plan: &Plan) -> Result<(), CliError> {
    let instances: u64 = plan.cases.iter().map(|it| u64::from(it.instances)).sum();
    let instances = instances.saturating_mul(plan.variants.len() as u64);
    if instances <= MOST_INSTANCES_IN_ALL {
        return Ok(());
    }
    Err(CliError::input(format!(
        "that would be {} instances in all, and {} is the most",
        grouped(instances),
        grouped(MOST_INSTANCES_IN_ALL)
    ))
    .hint("measure fewer benchmarks at a time (--benchmark), or each of them less often (--instances)"))
}

impl Run {
    /// Returns the command that compares both ends of the range of commits.
    fn ends_compared(&self, context: &Context) -> Vec<NextStep> {
        let ends = self.commits.as_deref().and_then(|it| it.split_once(".."));
        let ends = ends.filter(|(first, last)| first != last);
        let compared = ends.map(|(first, last)| {
            let last = if last.is_empty() { "HEAD" } else { last };
            let sides = [first, last].map(|it| shell_word(&format!("commit:{it}")));
            let command = format!("{} compare {}", context.program(), sides.join(" "));
            NextStep::new(command, "compares the first and the last")
        });
        compared.into_iter().collect()
    }

    /// Measures.
    pub fn act(mut self, context: &Context) -> Result<ExitStatus, CliError> {
        let suite = self.suite.iter().map(|it| it.display().to_string());
        let texts: Vec<String> = suite.chain(self.more.iter().cloned()).collect();
        let commands = words::in_place_of_suite(&texts, &context.command)?;
        if !commands.is_empty() {
            self.suite = None;
            self.command = commands;
        }
        let is_more = self.resume.is_some() || self.again == Some(AgainWhat::Inconclusive);
        if self.campaign.campaign.is_some() && is_more {
            return Err(
                CliError::input("an attempt of a campaign is a session of its own").hint(
                    "remove --campaign; `lapwing compare --campaign NAME` adds stored measurements",
                ),
            );
        }
        if let Some(session) = &self.resume {
            return resume(session, &self.cluster, &self.report(), context);
        }
        if self.again == Some(AgainWhat::Inconclusive) {
            return again::again(&self, context);
        }
        self.export.check()?;
        self.files.check(context)?;
        // The metric of the only rule is what is compared.
        if let [
            GateRule {
                metric: Some(metric),
                ..
            },
        ] = &self.fail_on[..]
            && self.metric.is_none()
        {
            self.metric = Some(metric.clone());
        }
        let mut request = self.request(context)?;
        if let (Some(slowdown), Some(budget)) = (self.slowdown, self.budget) {
            let asked = SlowdownBudget { slowdown, budget };
            return budget::act(&self, request, asked, context);
        }
        let mut planned = self.planned(&request, context)?;
        let is_campaign = self.campaign.campaign.is_some();
        if is_campaign && planned.session.plan.stop_early.is_some() {
            return Err(
                CliError::input("a campaign judges when all is measured, not early")
                    .hint("remove --campaign or --stop-early"),
            );
        }
        if !self.fail_on.is_empty() || is_campaign {
            let plan = &planned.session.plan;
            let is_of_commands = plan.suite == AdHoc::SUITE;
            if plan.variants.len() < 2 && !(is_of_commands && plan.cases.len() > 1) {
                let option = match is_campaign {
                    true => "--campaign",
                    false => "--fail-on",
                };
                return Err(CliError::input(format!(
                    "{option} compares variants or commands, and there is one"
                ))
                .hint("give two commands (-c), or a suite with variants"));
            }
            let variants = plan.variants.iter().filter(|it| it.control_of.is_none());
            if is_campaign && plan.cases.len() * variants.count() != 2 {
                return Err(CliError::input(
                    "an attempt of a campaign is one comparison: of two commands, or of two variants of one benchmark",
                )
                .hint("choose them with --benchmark and --variant"));
            }
            if is_of_commands && plan.variants.len() < 2 {
                let first = plan.cases[0].benchmark.id.clone();
                let reference = request.attributes.entry(REFERENCE.to_owned());
                reference.or_insert(first.into());
            }
        }
        self.isolate(&mut planned.session.plan, context)?;
        self.files.check_plan(&planned.session.plan)?;
        if planned.session.plan.variants.is_empty() {
            // Not an error: a nightly job may find no new commit.
            return context.tell(&nothing_to_measure(self.ends_compared(context))?);
        }
        let measurement = Measurement {
            request,
            report: self.report(),
            dry_run: self.measuring.dry_run,
        };
        measurement.act_on(planned, context)
    }

    /// Isolates the timed commands of a plan, if that is wanted.
    fn isolate(&self, plan: &mut Plan, context: &Context) -> Result<(), CliError> {
        let isolation = self.isolation.isolation();
        if isolation == Isolation::Off {
            return Ok(());
        }
        if plan.cases.iter().any(|case| case.pytest.is_some()) {
            return Err(CliError::input("tests of pytest cannot be isolated")
                .hint("measure commands with --isolate, or the whole run in a container"));
        }
        let mut executor = context.surroundings().start_executor(plan)?;
        self.isolation.check(&mut executor, context)?;
        for case in &mut plan.cases {
            case.confinement = Some(Confinement {
                variables: inherited_variables([]),
                memory: None,
                isolation,
            });
        }
        Ok(())
    }

    fn report(&self) -> RunReport {
        RunReport {
            answer: self.answer.clone(),
            export: self.export.clone(),
            files: self.files.clone(),
            plot: self.measuring.plot.clone(),
            metric: self.metric.clone(),
            smallest_effect: self.smallest_effect,
            fail_on: self.fail_on.clone(),
            campaign: self.campaign.clone(),
            is_again: self.again == Some(AgainWhat::Inconclusive),
            is_part: false,
        }
    }
}

/// A session to measure, and its report.
pub struct Measurement {
    pub request: SessionRequest,
    pub report: RunReport,
    /// Whether only the plan is shown.
    pub dry_run: bool,
}

impl Measurement {
    /// Measures what the request asks for, and reports the results.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let session = self.request.plan(&context.surroundings())?;
        let planned = PlannedRun::with(session.plan, session.environments);
        self.act_on(planned, context)
    }

    /// Measures a plan and reports the results.
    pub fn act_on(self, planned: PlannedRun, context: &Context) -> Result<ExitStatus, CliError> {
        refuse_too_many(&planned.session.plan)?;
        refuse_commits_in_turn(&planned.session.plan)?;
        if self.dry_run {
            let plan = &planned.session.plan;
            let submission = self.request.cluster;
            let submission = submission.map(|it| cluster::preview(&it, plan, context));
            return dry_run::show(
                &planned,
                submission.transpose()?,
                &self.report.answer,
                context,
            );
        }
        let plan = planned.session.plan.clone();
        if self.request.profile.is_some() && plan.cases.iter().any(|case| case.pytest.is_some()) {
            context.terminal.say(
                "note: tests are not profiled; pytest-memray and the like do so within the test",
            );
        }
        let report = &self.report;
        let by = (report.metric.as_deref(), report.smallest_effect);
        let attempt = report.campaign.begin(&plan, by, context)?;
        let store = crate::store::open_for_writing(context)?;
        session::catch_signals()?;
        let mut schedule = FixedSchedule::new(&plan);
        let mut progress = RunProgress::new(context);
        let measured = planned.session.measure_by(
            &self.request,
            store,
            &context.surroundings(),
            &mut progress,
            |session, measurement| match &plan.stop_early {
                Some(rule) => JudgedSession {
                    plan: &plan,
                    session,
                    rule,
                    context,
                }
                .measure(measurement, &schedule),
                None => measurement.visit_all(&mut schedule),
            },
        );
        drop(progress);
        let measured = measured?;
        let MeasuredSession {
            plan,
            store,
            session,
            end,
        } = &measured;
        self.report
            .conclude(plan, store, session, *end, attempt, context)
    }
}

/// Refuses looks at commits of which one is measured after the other.
fn refuse_commits_in_turn(plan: &Plan) -> Result<(), CliError> {
    let has_commits = plan.variants.iter().any(|it| it.commit.is_some());
    if plan.stop_early.is_some() && has_commits && !plan.interleave {
        return Err(CliError::input(
            "--stop-early measures commits alternately, and the suite has `interleave = false`",
        )
        .hint(
            "let `build` install each commit into a folder of its own, and remove `interleave`",
        ));
    }
    Ok(())
}

/// Measures the rest of a stored session and reports the results; `look` is the look at them, if there were others.
fn continue_session(
    report: &RunReport,
    parts: MeasuringParts<'_>,
    opening: SessionOpening,
    mut schedule: FixedSchedule,
    look: Option<NextLook>,
    context: &Context,
) -> Result<ExitStatus, CliError> {
    let plan = parts.plan;
    let stored = opening.session().clone();
    let mut progress = RunProgress::new(context);
    let measured = session::measure(parts, opening, &mut progress, |measurement| {
        measurement.set_look(look.clone());
        match &plan.stop_early {
            Some(rule) if look.is_none() => JudgedSession {
                plan,
                session: &stored,
                rule,
                context,
            }
            .measure(measurement, &schedule),
            Some(_) | None => measurement.visit_all(&mut schedule),
        }
    });
    drop(progress);
    let (end, store) = measured?;
    report.conclude(plan, &store, &stored, end, None, context)
}

/// The report of the results of a session.
#[derive(Debug, Clone, Default)]
pub struct RunReport {
    pub answer: AnswerOptions,
    pub export: ExportOptions,
    pub files: ToolFiles,
    pub plot: Option<PathBuf>,
    /// The metric that is compared; the wall time by default.
    pub metric: Option<String>,
    /// The smallest effect to decide about; that of the suite by default.
    pub smallest_effect: Option<f64>,
    /// What fails.
    pub fail_on: Vec<GateRule>,
    /// The campaign that it is an attempt of.
    pub campaign: CampaignOption,
    /// Whether more instances were added to a session.
    pub is_again: bool,
    /// Whether it is one of several rounds, whose results are not shown each.
    pub is_part: bool,
}

/// Returns the command that accepts the exit codes because of which nothing was measured.
fn accepting_failures(answer: &SessionAnswer, context: &Context) -> Option<NextStep> {
    let mut advice = answer.results.rows.iter().flat_map(|row| &row.advice);
    let is_exit_code = |it: &Advice| matches!(it, Advice::Failures { message: Some(text), .. } if text.starts_with("exit code"));
    let mut words = context.command.clone();
    let at = words.iter().position(|it| it == "run")?;
    words.insert(at + 1, "-f".to_owned());
    // Such words cannot be typed again as they are shown.
    let is_plain = |word: &String| !word.contains(char::is_control);
    let failed = answer.results.has_failed() && advice.any(is_exit_code);
    (failed && words.iter().all(is_plain)).then(|| {
        let why = "accepts any exit code (--ignore-failure)";
        NextStep::new(crate::foreign::line(&words), why)
    })
}

impl RunReport {
    /// Reports the results of a session that was measured.
    fn conclude(
        &self,
        plan: &Plan,
        store: &Store,
        session: &Session,
        end: RunEnd,
        attempt: Option<ComparedAttempt<'_>>,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let rule = plan.stop_early.as_ref();
        let stored = rule.and_then(|rule| rule.metric.as_deref());
        let metric = stored.or(self.metric.as_deref());
        let effect = rule.map_or(self.smallest_effect, |rule| rule.smallest_effect);
        let mut answer = session_answer(store, session, plan, (metric, effect))?;
        answer.all_figures = context.verbose;
        let compared = answer.compared().into_iter();
        let comparisons: Vec<Comparison> = compared.map(|it| it.comparison).collect();
        let has_failed = answer.results.has_failed() || answer.results.has_failed_teardown();
        // An interrupted attempt stays open.
        let judged = attempt.filter(|_| end == RunEnd::Complete).map(|attempt| {
            let is_judged = !has_failed && !answer.results.is_empty();
            let runs = store.catalogue().session_state(session.id)?.runs;
            let runs = runs.iter().map(|it| it.id).collect();
            attempt.measured(is_judged.then_some(&comparisons[..]), &runs)
        });
        let judged = judged.transpose()?;
        answer
            .notes
            .extend(judged.as_ref().map(JudgedAttempt::note));
        if !self.is_part {
            answer.next = self.next_steps(plan, store, session, end, context)?;
            if end == RunEnd::Interrupted {
                let instances = plan.cases.iter().map(|it| it.instances as usize);
                let planned = plan.variants.len() * instances.sum::<usize>();
                answer.interrupted_of = Some(planned).filter(|it| *it > answer.instances);
            }
            if let Some(planned) = judged
                .as_ref()
                .filter(|it| it.end.is_none())
                .and_then(|it| it.planned)
            {
                let command = context.with_instances(planned.instances);
                answer
                    .next
                    .insert(0, NextStep::new(command, "confirms it, or not"));
            }
            if end == RunEnd::Complete {
                answer
                    .next
                    .splice(0..0, accepting_failures(&answer, context));
                answer
                    .next
                    .splice(0..0, again::anew(&answer, plan, context)?);
            }
            let files = &self.files;
            if !files.show_table() || answer.results.has_failed() {
                self.show(&answer, context)?;
            }
            files.write(store, session, plan, &answer, context)?;
            if !context.quiet {
                let name = session.name.as_deref().unwrap_or_default();
                let store = context.store.display();
                let text = format!("stored in {store} as session `{name}`");
                context.terminal.say(&text);
            }
        }
        match end {
            RunEnd::Interrupted => Ok(ExitStatus::Interrupted),
            RunEnd::Complete if has_failed => Ok(ExitStatus::Failed),
            RunEnd::Complete if answer.results.is_empty() => Ok(ExitStatus::NotEnough),
            RunEnd::Complete if self.fail_on.is_empty() => Ok(ExitStatus::Fine),
            RunEnd::Complete => Ok(gate_status(&self.fail_on, &comparisons, context)),
        }
    }

    /// Returns the commands that continue from here.
    fn next_steps(
        &self,
        plan: &Plan,
        store: &Store,
        session: &Session,
        end: RunEnd,
        context: &Context,
    ) -> Result<Vec<NextStep>, CliError> {
        let program = context.program();
        let step = |command: &str, why: &str| NextStep::new(format!("{program} {command}"), why);
        Ok(match (end, plan.variants.as_slice()) {
            (RunEnd::Interrupted, _)
                if hidden_in_plan(&store.cleaner().clean_session(session)).is_some() =>
            {
                Vec::new()
            }
            (RunEnd::Interrupted, _) if self.is_again => {
                vec![step("run --again inconclusive", "continues")]
            }
            (RunEnd::Interrupted, _) => vec![step("run --resume", "measures the rest")],
            (RunEnd::Complete, _) if session.attributes.contains_key(STUDY) => vec![
                step("study findings", "explains it"),
                step("report", "shows it"),
            ],
            (RunEnd::Complete, _) if session.attributes.contains_key(STACKS) => vec![
                step("study fit", "shows the effects of the versions"),
                step("report", "shows all"),
            ],
            (RunEnd::Complete, [] | [_]) => vec![
                step("show", "prints this again"),
                step("report", "shows more"),
            ],
            (RunEnd::Complete, [first, .., last])
                if first.commit.is_some() && last.commit.is_some() && first.name == last.name =>
            {
                let hash = |variant: &Variant| -> String {
                    let hash = variant.commit.as_ref().map_or("", |commit| commit.hash());
                    hash.chars().take(10).collect()
                };
                let sides = format!("compare commit:{} commit:{}", hash(first), hash(last));
                vec![
                    step(&sides, "compares the first and the last"),
                    step("report", "shows all"),
                ]
            }
            (RunEnd::Complete, several) => {
                let compared = several.iter().filter(|it| it.control_of.is_none());
                let mut sides: Vec<String> = compared
                    .map(|it| shell_word(&format!("variant:{}", it.name)))
                    .collect();
                if sides.len() == 1 {
                    // The control is all there is to compare with.
                    sides.push(shell_word(&format!("variant:{}", Variant::CONTROL)));
                }
                let metric = self.metric.as_ref();
                let metric =
                    metric.map_or_else(String::new, |it| format!(" --metric {}", shell_word(it)));
                let selected = Selector::of(RunKey::Session, &[unique_name(store, session)]);
                let sides = format!(
                    "compare {} --where {}{metric}",
                    sides.join(" "),
                    shell_word(&selected.to_string())
                );
                let rule = StopEarly {
                    metric: self.metric.clone(),
                    smallest_effect: self.smallest_effect,
                };
                let again = again::next_step(&rule, plan, session, context)?;
                let mut steps: Vec<NextStep> = again.into_iter().collect();
                steps.push(step(&sides, "compares the variants"));
                steps.push(step("report", "shows them"));
                steps
            }
        })
    }
}

/// Returns what selects a session: its name, or its id if others have the same name.
fn unique_name(store: &Store, session: &Session) -> String {
    let heads = store.catalogue().session_heads();
    let alike = heads.map_or(0, |all| {
        all.iter().filter(|it| it.name == session.name).count()
    });
    match &session.name {
        Some(name) if alike == 1 => name.clone(),
        _ => session.id.to_string(),
    }
}
