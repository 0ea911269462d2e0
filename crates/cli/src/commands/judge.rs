//! `lapwing judge`: whether the checked-out state is slower than a baseline, as an exit code.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use lapwing_analyse::judge::{EarlierComparisons, SessionNoise, TriedChange, failing_side};
use lapwing_analyse::sample::{SampleFilter, SideSpec};
use lapwing_measure::bisection::{
    CommitReadiness, CommitVisits, ComparisonEnd, InstanceWatch, SideComparison, StoredBaseline,
    StoredMeasurements, instance_mean,
};
use lapwing_measure::session::{
    MeasuringParts, PythonEnvironments, SessionOpening, new_session, repository,
};
use lapwing_measure::suite::{Plan, Variant};
use lapwing_measure::{
    RunEnd, SOURCE_VARIABLE, ancestry, declared_metrics, first_good_commit, single_commit,
};
use lapwing_model::text::counted;
use lapwing_model::{Better, Id};
use lapwing_show::GateTests;
use lapwing_show::answers::judgement::{JudgeAnswer, Judged, JudgedSessions};
use lapwing_show::writing::{NextStep, Note};
use lapwing_stats::{
    ChangeAnswer, Confidence, ExpectedChange, LookedDifference, NeededReplicates, VerdictRule,
    comparison_looks,
};

use super::bisect::{CommitOptions, check_metric, say_news};
use super::campaign::{OpenAttempt, direction_note, oriented, working_state};
use crate::cleaning::CleaningOptions;
use crate::comparing::{FoundSides, parse_change, parse_side};
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, GateFiles};
use crate::session;

/// So many sessions of a stored baseline show by themselves how much sessions differ.
const SESSIONS: usize = 3;
/// The fewest instances of a stored baseline.
const FEWEST: usize = 5;
/// The smallest change that matters, where nothing says another.
const USUAL_EFFECT: f64 = 0.05;

/// Judge whether the checked-out state is slower or faster than a baseline, for scripts and `git bisect run`
///
/// `lapwing judge --baseline v1.4 -- ./bench` measures the working tree as it is, and v1.4 in its own
/// worktree, alternately, until the answer is clear. Exit code 0: as expected, which is not slower by default;
/// 1: not as expected; 125: cannot be built or measured, or undecided after --instances, which
/// `git bisect run` skips; 128: wrong usage, which ends `git bisect run`.
#[derive(Debug, Args)]
pub struct JudgeCommand {
    /// Baseline: a Git revision, which is measured too; or stored measurements as in `compare`, such as
    /// `session:nightly` [default: the first good commit of the `git bisect` in progress]
    #[arg(long, value_name = "SIDE")]
    baseline: Option<String>,
    /// Answer that is exit code 0: `not-slower`, `faster`, `same` (within the smallest change that matters), or
    /// `slower`, by which `git bisect run` finds an improvement; `faster=3%` sets that change, too [default:
    /// not-slower]
    #[arg(long, value_name = "WHAT", value_parser = parse_expected)]
    expect: Option<(ExpectedChange, Option<f64>)>,
    /// Smallest change that matters, such as 3% [default: the suite's for this benchmark, or 5%]
    #[arg(long, value_name = "CHANGE", value_parser = parse_change)]
    smallest_effect: Option<f64>,
    /// Make this an attempt of a campaign, which expects `faster`: what is faster is measured again on fresh instances
    /// (up to three times --instances) before it is accepted; of all that is accepted, at most 5 % is expected to do
    /// nothing
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    campaign: Option<String>,
    #[command(flatten)]
    files_of_ci: GateFiles,
    #[command(flatten)]
    options: CommitOptions,
}

/// The baseline of a judgement.
enum JudgedBaseline {
    /// It is measured too.
    Measured,
    /// Logarithms of the instance means of this side, by session.
    Stored {
        name: String,
        logs: BTreeMap<Id, Vec<f64>>,
        sessions: BTreeSet<Id>,
    },
}

impl JudgeCommand {
    /// Measures and judges. Errors about the checked-out state say that it cannot be measured.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let skipped = |error: CliError| CliError {
            exit: ExitStatus::Skip,
            ..error
        };
        self.options.check_selection().map_err(|error| CliError {
            exit: ExitStatus::Abort,
            ..error
        })?;
        self.files_of_ci.check(context).map_err(|error| CliError {
            exit: ExitStatus::Abort,
            ..error
        })?;
        let request = self.options.request(context).map_err(skipped)?;
        let planned = request.plan(&context.surroundings());
        let mut plan = planned.map_err(|error| skipped(error.into()))?.plan;
        let wrong = |error: CliError| CliError {
            exit: ExitStatus::Abort,
            ..error
        };
        if self.options.confidence.level() <= 0.5 {
            let error =
                CliError::input("--confidence is that of the answer, and must be above 50 %");
            return Err(wrong(error));
        }
        let (expected, effect) = self.expected();
        if self.campaign.is_some() && expected != ExpectedChange::Faster {
            let error = CliError::input("a campaign expects `faster`");
            return Err(wrong(error.hint("remove --expect, or --campaign")));
        }
        if effect.is_some() && self.smallest_effect.is_some() {
            let error = CliError::input(
                "--smallest-effect and --expect both set the smallest change that matters",
            );
            return Err(wrong(error.hint("remove one of them")));
        }
        check_metric(&plan, &self.options.metric).map_err(wrong)?;
        let candidate = self.candidate(&plan).map_err(wrong)?;
        plan.variants = vec![candidate];
        let baseline = self.baseline(&mut plan, context).map_err(wrong)?;
        self.judge(plan, baseline, context).map_err(skipped)
    }

    /// Returns what is expected, with the smallest change that matters if it stands there.
    fn expected(&self) -> (ExpectedChange, Option<f64>) {
        let usual = match self.campaign {
            Some(_) => ExpectedChange::Faster,
            None => ExpectedChange::NotSlower,
        };
        self.expect.unwrap_or((usual, None))
    }

    /// Returns the variant of the working tree.
    fn candidate(&self, plan: &Plan) -> Result<Variant, CliError> {
        if let [_, _, ..] = &plan.cases[..] {
            return Err(CliError::input(format!(
                "the suite has {}, and this judges one",
                counted(plan.cases.len(), "benchmark")
            ))
            .hint("choose it with --benchmark"));
        }
        CommitOptions::only_variant(plan)
    }

    /// Finds the baseline; a commit becomes the first variant of the plan.
    fn baseline(&self, plan: &mut Plan, context: &Context) -> Result<JudgedBaseline, CliError> {
        let folder = repository(plan, &context.surroundings()).ok();
        let in_progress = || folder.as_deref().and_then(first_good_commit);
        let Some(text) = self.baseline.clone().or_else(in_progress) else {
            return Err(CliError::input("there is no baseline, and no `git bisect` in progress")
                .hint("name it: `--baseline main`, or stored measurements such as `--baseline session:nightly`"));
        };
        let side = parse_side(&text).map_err(CliError::input)?;
        let revision = folder.filter(|folder| {
            // `commit:ab12` is what was measured of it.
            side.text == text && !ancestry(folder, &text).is_empty()
        });
        let Some(folder) = revision else {
            if self.campaign.is_some() {
                let error = format!("`{text}` is no Git revision here, which a campaign needs");
                let hint = "a campaign measures its baseline beside each change: `--baseline HEAD`";
                return Err(CliError::input(error).hint(hint));
            }
            return self.stored(plan, side, context);
        };
        let commit = single_commit(&folder, &text, plan.build.is_some())?;
        let top = PathBuf::from(&commit.repository);
        for variant in &mut plan.variants {
            let source = (SOURCE_VARIABLE.to_owned(), top.display().to_string());
            variant.environment.extend([source]);
        }
        let baseline = Variant {
            commit: Some(commit),
            ..plan.variants[0].clone()
        };
        plan.variants.insert(0, baseline);
        Ok(JudgedBaseline::Measured)
    }

    fn stored(
        &self,
        plan: &Plan,
        side: SideSpec,
        context: &Context,
    ) -> Result<JudgedBaseline, CliError> {
        let judging = CleaningOptions::default().judging()?;
        let id = &plan.cases[0].benchmark.id;
        let filter = SampleFilter::default();
        let found = FoundSides::find(&[side], &filter, &judging, context)?;
        let mut logs: BTreeMap<Id, Vec<f64>> = BTreeMap::new();
        found.sides.each_benchmark(&filter, |data, places_of| {
            let own = data.instances.iter().filter(|it| !places_of(it).is_empty());
            if data.benchmark.id == *id {
                for it in own {
                    let mean = instance_mean(it, &self.options.metric);
                    if let Some(mean) = mean.filter(|mean| *mean > 0.0) {
                        logs.entry(it.session.id).or_default().push(mean.ln());
                    }
                }
            }
        })?;
        let name = found.sides.names().concat();
        let instances: usize = logs.values().map(Vec::len).sum();
        if instances < FEWEST {
            return Err(CliError::input(format!(
                "need {FEWEST} instances of `{id}` in the baseline {name}, got {instances}"
            )));
        }
        let sessions = found.sides.sessions().into_iter().map(|(_, id)| id);
        Ok(JudgedBaseline::Stored {
            name,
            logs,
            sessions: sessions.collect(),
        })
    }

    fn judge(
        &self,
        plan: Plan,
        baseline: JudgedBaseline,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let (expected, effect) = self.expected();
        let mut store = crate::store::open_for_writing(context)?;
        let judging = CleaningOptions::default().judging()?;
        if let Some(note) = judging.honour(&store)? {
            context.terminal.note(&note.text);
        }
        let sessions = match &baseline {
            JudgedBaseline::Measured => BTreeSet::new(),
            JudgedBaseline::Stored { sessions, .. } => sessions.clone(),
        };
        let judged_sessions = match &baseline {
            JudgedBaseline::Measured => JudgedSessions::Same,
            JudgedBaseline::Stored { logs, .. } => {
                let known = EarlierComparisons::session_noise_of(
                    &store,
                    &plan.suite,
                    &plan.cases[0].benchmark.id,
                    &self.options.metric,
                    &sessions,
                    &judging.rules,
                )?;
                match known {
                    Some(noise) => JudgedSessions::Others(noise),
                    None if logs.len() >= SESSIONS => JudgedSessions::Others(SessionNoise::UNKNOWN),
                    None => JudgedSessions::Unknown,
                }
            }
        };
        let session = new_session(
            self.options.name.clone(),
            &plan,
            &store,
            &context.surroundings(),
        )?;
        let session_name = session.name.clone().unwrap_or_default();
        let environments = PythonEnvironments::prepare(&plan, &context.surroundings())?;
        let mut watch = InstanceWatch::new(&self.options.metric, context);
        let readiness = CommitReadiness {
            install: None,
            working_tree: repository(&plan, &context.surroundings()).ok(),
        };
        let stored = StoredMeasurements::default();
        let news = |news| say_news(news, context);
        let mut visits =
            CommitVisits::new(plan.clone(), readiness, watch.measured(), stored, &news);
        let working_tree = plan.variants.len() - 1;
        let (stored_baseline, name) = match baseline {
            JudgedBaseline::Measured => (None, visits.label(0)),
            JudgedBaseline::Stored { name, logs, .. } => {
                let noise = match judged_sessions {
                    JudgedSessions::Others(noise) => Some(noise.variance),
                    JudgedSessions::Same | JudgedSessions::Unknown => None,
                };
                let sessions = logs.into_values().collect();
                (Some(StoredBaseline { sessions, noise }), name)
            }
        };
        let most = self.options.instances as usize;
        let comparison = SideComparison {
            case: 0,
            commits: [0, working_tree],
            looks: comparison_looks(
                most,
                stored_baseline.as_ref().map(StoredBaseline::instances),
                expected.two_sided_level(1.0 - self.options.confidence.level()),
            ),
            baseline: stored_baseline,
        };
        let limits = judging
            .suite
            .limits_of(&plan.cases[0].benchmark.id, &self.options.metric);
        let muted = (limits.mute == Some(true)).then(|| {
            let id = &plan.cases[0].benchmark.id;
            let text =
                format!("`{id}` is muted in the suite file, and judged because it was asked for");
            Note::new("muted", text)
        });
        let asked = effect.or(self.smallest_effect);
        let smallest_effect = asked.or(limits.smallest_effect).unwrap_or(USUAL_EFFECT);
        let better = limits
            .better
            .or_else(|| declared_better(&plan, &self.options.metric));
        let rule = JudgementRule {
            expected,
            better: better.unwrap_or(Better::Lower),
            smallest_effect,
        };
        let tried = |campaign: &String| {
            let (commit, patch) = working_state(&plan, context);
            let tried = TriedChange {
                session: Some(session_name.clone()),
                baseline: name.clone(),
                candidate: visits.label(working_tree),
                commit,
                patch,
                command: context.own_command(),
                benchmark: plan.cases[0].benchmark.id.clone(),
                metric: self.options.metric.clone(),
                smallest_effect,
            };
            OpenAttempt::begin(campaign, tried, &mut store, context)
        };
        let attempt = self.campaign.as_ref().map(tried).transpose()?;
        let mut unbuilt = None;
        let mut confirmation = None;
        let ended = Cell::new(None);
        let parts =
            MeasuringParts::start(&plan, store, environments, None, context.surroundings())?;
        let (end, _store) = session::measure(
            parts,
            SessionOpening::New(session),
            &mut watch,
            |measurement| {
                let (end, reason) = visits.build_working_tree(measurement, working_tree)?;
                unbuilt = reason;
                if end == RunEnd::Interrupted || unbuilt.is_some() {
                    return Ok(end);
                }
                let compared = comparison.measure(&mut visits, measurement, |looked| {
                    rule.answer(looked) != ChangeAnswer::Undecided
                })?;
                let compared = match (&attempt, compared) {
                    (Some(attempt), ComparisonEnd::Compared(first))
                        if rule.answer(&first.looked) == ChangeAnswer::Faster =>
                    {
                        let planned = attempt.confirm(
                            &first.looked,
                            rule.better,
                            smallest_effect,
                            most,
                            &BTreeSet::new(),
                        );
                        match planned {
                            Ok(planned) => {
                                let count = counted(planned.instances, "fresh instance");
                                let text = format!("faster; to be confirmed on {count} per side");
                                context.terminal.note(&text);
                                let second = SideComparison {
                                    case: comparison.case,
                                    commits: comparison.commits,
                                    looks: vec![planned.look()],
                                    baseline: None,
                                };
                                confirmation = Some(Ok((first.looked, planned)));
                                second.measure(&mut visits, measurement, |_| true)?
                            }
                            Err(error) => {
                                confirmation = Some(Err(error));
                                ComparisonEnd::Compared(first)
                            }
                        }
                    }
                    (_, compared) => compared,
                };
                let end = match &compared {
                    ComparisonEnd::Interrupted => RunEnd::Interrupted,
                    ComparisonEnd::Broken(_) | ComparisonEnd::Compared(_) => RunEnd::Complete,
                };
                ended.set(Some(compared));
                Ok(end)
            },
        )?;
        if end == RunEnd::Interrupted {
            let text = match (&attempt, &confirmation) {
                (None, _) => "interrupted: nothing is judged",
                (Some(_), None) => "interrupted: the attempt has no outcome",
                (Some(_), Some(_)) => "interrupted: the confirmation counts as one that failed",
            };
            context.terminal.note(text);
            return Ok(ExitStatus::Interrupted);
        }
        let confirmation = confirmation.transpose()?;
        // No other state can be judged if the baseline cannot be measured.
        let mut can_others = true;
        let judged = match (ended.take(), unbuilt) {
            (_, Some(reason)) => Judged::NotMeasured {
                code: "not_built",
                reason,
            },
            (Some(ComparisonEnd::Compared(compared)), None) if confirmation.is_some() => {
                let (first, needed) =
                    confirmation.map_or((compared.looked, 0), |(first, it)| (first, it.instances));
                // With fewer than planned nothing is confirmed.
                match compared.looked.instances.iter().all(|it| *it >= needed) {
                    true => rule.confirmed(first, compared.looked),
                    false => Judged::NotConfirmed {
                        first,
                        second: compared.looked,
                    },
                }
            }
            (Some(ComparisonEnd::Compared(compared)), None) => {
                let answer = rule.answer(&compared.looked);
                let is_undecided = answer == ChangeAnswer::Undecided;
                let are_others = matches!(judged_sessions, JudgedSessions::Others(_));
                Judged::Measured {
                    answer,
                    comparison: compared.looked,
                    // More instances do not make sessions alike.
                    needed: needed(&compared.looked, smallest_effect)
                        .filter(|_| is_undecided && !are_others),
                }
            }
            (Some(ComparisonEnd::Broken(_)), None)
                if comparison.commits.iter().all(|variant| {
                    let means = visits.means(0, *variant);
                    !means.is_empty() && means.iter().all(|mean| mean.abs() <= 0.0)
                }) =>
            {
                Judged::BothZero
            }
            (Some(ComparisonEnd::Broken(broken)), None) => {
                let reasons = broken.iter().map(|variant| {
                    let reason = visits.failure(0, *variant);
                    format!("{}: {reason}", visits.label(*variant))
                });
                can_others = broken.iter().all(|it| *it == working_tree);
                Judged::NotMeasured {
                    code: if can_others {
                        "not_measured"
                    } else {
                        "baseline_not_measured"
                    },
                    reason: reasons.collect::<Vec<_>>().join("; "),
                }
            }
            (Some(ComparisonEnd::Interrupted) | None, None) => Judged::NotMeasured {
                code: "not_measured",
                reason: String::new(),
            },
        };
        let failed = comparison
            .commits
            .map(|variant| visits.failures(0, variant));
        let failed_text = || {
            let sides = comparison
                .commits
                .iter()
                .zip(failed)
                .filter(|(_, [failed, _])| *failed > 0);
            let sides = sides.map(|(variant, [failed, all])| {
                let (label, reason) = (visits.label(*variant), visits.failure(0, *variant));
                format!(
                    "{label}: {failed} of {} failed: {reason}",
                    counted(all, "instance")
                )
            });
            sides.collect::<Vec<_>>().join("; ")
        };
        let is_compared = matches!(
            judged,
            Judged::Measured { .. } | Judged::NotConfirmed { .. }
        );
        let judged = match failing_side(failed).filter(|_| is_compared) {
            Some(side) => {
                can_others = side == 1;
                Judged::NotMeasured {
                    code: if can_others {
                        "not_measured"
                    } else {
                        "baseline_not_measured"
                    },
                    reason: failed_text(),
                }
            }
            None => judged,
        };
        let failures = (is_compared && failed.iter().any(|[failed, _]| *failed > 0)).then(|| {
            let [baseline, candidate] = failed.map(|[failed, _]| failed);
            let note = Note::marked("failures", failed_text());
            note.with("baseline_failures", baseline)
                .with("candidate_failures", candidate)
        });
        let failures = failures.filter(|_| !matches!(judged, Judged::NotMeasured { .. }));
        let attempt = attempt
            .map(|attempt| attempt.end(&judged, confirmation.map(|(_, planned)| planned)))
            .transpose()?;
        let status = match &judged {
            Judged::NotConfirmed { .. } => ExitStatus::Judged,
            Judged::Measured { answer, .. } => match expected.is_met(*answer) {
                Some(true) => ExitStatus::Fine,
                Some(false) => ExitStatus::Judged,
                None => ExitStatus::Skip,
            },
            Judged::BothZero => match expected {
                ExpectedChange::NotSlower | ExpectedChange::Same => ExitStatus::Fine,
                ExpectedChange::Faster | ExpectedChange::Slower => ExitStatus::Judged,
            },
            Judged::NotMeasured { .. } if !can_others => ExitStatus::Abort,
            Judged::NotMeasured { .. } => ExitStatus::Skip,
        };
        let answer = JudgeAnswer {
            benchmark: plan.cases[0].benchmark.id.clone(),
            metric: self.options.metric.clone(),
            baseline: name,
            smallest_effect,
            expected,
            confidence: self.options.confidence.level(),
            next: next_step(&judged, context).into_iter().collect(),
            judged,
            sessions: judged_sessions,
            attempt,
            notes: direction_note(&self.options.metric, better)
                .into_iter()
                .chain(muted)
                .chain(failures)
                .collect(),
            session: session_name,
        };
        let files = self.files_of_ci.paths();
        context.show_beside(files, &answer, &self.options.answer)?;
        let tests = GateTests::judged(&answer);
        self.files_of_ci.write(&tests, context)?;
        Ok(status)
    }
}

/// Returns this command with the instances that would probably decide.
fn next_step(judged: &Judged, context: &Context) -> Option<NextStep> {
    let Judged::Measured {
        needed: Some(NeededReplicates::About(number)),
        ..
    } = judged
    else {
        return None;
    };
    Some(NextStep::new(
        context.with_instances(*number),
        "measures enough instances to decide",
    ))
}

/// How a comparison is judged.
struct JudgementRule {
    expected: ExpectedChange,
    better: Better,
    smallest_effect: f64,
}

impl JudgementRule {
    fn answer(&self, compared: &LookedDifference) -> ChangeAnswer {
        let effect = self.smallest_effect.ln_1p();
        self.expected
            .answer(&oriented(compared, self.better), effect)
    }

    /// Returns the judgement of what was faster at first, by fresh instances.
    fn confirmed(&self, first: LookedDifference, second: LookedDifference) -> Judged {
        let fresh = oriented(&second, self.better);
        match fresh.value < 0.0 && fresh.p_value <= fresh.level {
            true => Judged::Measured {
                answer: ChangeAnswer::Faster,
                comparison: second,
                needed: None,
            },
            false => Judged::NotConfirmed { first, second },
        }
    }
}

fn declared_better(plan: &Plan, metric: &str) -> Option<Better> {
    declared_metrics(&plan.cases).get(metric)?.better
}

/// Returns what is expected, with the smallest change that matters if it is given: `faster=3%`.
fn parse_expected(text: &str) -> Result<(ExpectedChange, Option<f64>), String> {
    let (name, change) = match text.split_once('=') {
        Some((name, change)) => (name, Some(parse_change(change)?)),
        None => (text, None),
    };
    let expected = match name {
        "not-slower" => ExpectedChange::NotSlower,
        "faster" => ExpectedChange::Faster,
        "same" => ExpectedChange::Same,
        "slower" => ExpectedChange::Slower,
        _ => return Err("write not-slower, faster, same or slower, such as faster=3%".to_owned()),
    };
    Ok((expected, change))
}

/// Returns how many instances per side would probably decide.
fn needed(compared: &LookedDifference, smallest_effect: f64) -> Option<NeededReplicates> {
    let rule = VerdictRule {
        border: 0.0,
        band: smallest_effect.ln_1p(),
        level: compared.level,
        confidence: Confidence::new(1.0 - compared.level).unwrap_or(Confidence::P95),
    };
    let test = compared.as_test()?;
    Some(test.replicates_for_verdict(&rule))
}
