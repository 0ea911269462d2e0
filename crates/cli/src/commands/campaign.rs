//! `lapwing campaign`: what was tried to make something faster, and how `judge` keeps it.

use std::collections::BTreeSet;
use std::time::Instant;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use lapwing_analyse::judge::{
    Attempt, AttemptEnd, AttemptNote, AttemptOutcome, Campaign, Caution, CompareOptions,
    Comparison, MeasuredRatio, PlannedConfirmation, TriedChange, Verdict, looked_difference,
};
use lapwing_measure::session::repository;
use lapwing_measure::suite::{Plan, Variant, VersionSource};
use lapwing_measure::{patch_digest, version};
use lapwing_model::text::{counted, first_names};
use lapwing_model::{Better, Id};
use lapwing_record::Store;
use lapwing_show::answers::campaign::{CampaignAnswer, JudgedAttempt};
use lapwing_show::answers::judgement::Judged;
use lapwing_show::writing::Note;
use lapwing_stats::{ChangeAnswer, Confidence, LookedDifference, confirming_look};
use uuid::Uuid;

use super::db::said::author_name;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};
use crate::store::{open_for_reading, open_for_writing};

/// The metric of a comparison, where none is named.
const USUAL_METRIC: &str = "wall_time";
/// The most instances per side of a comparison, where none are stated.
const USUAL_MOST: usize = 30;
/// A confirmation has at most so many times as many instances as a first comparison.
const CONFIRMING: usize = 3;

/// Show what was tried to make something faster, and what of it was accepted
///
/// `lapwing judge --campaign NAME` adds an attempt. docs/campaign.md describes what is controlled.
#[derive(Debug, Args)]
pub struct CampaignCommand {
    #[command(subcommand)]
    action: CampaignAction,
}

#[derive(Debug, Subcommand)]
enum CampaignAction {
    Show(CampaignShow),
}

/// Show the attempts of a campaign: accepted, rejected, open, and how strict the next confirmation is
#[derive(Debug, Args)]
struct CampaignShow {
    /// Name of the campaign [default: that of the last attempt]
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    answer: AnswerOptions,
}

impl CampaignCommand {
    /// Acts.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match self.action {
            CampaignAction::Show(command) => command.act(context),
        }
    }
}

impl CampaignShow {
    fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let store = open_for_reading(context)?;
        let mut campaigns = Campaign::all(&store.annotations().all()?);
        let last = |it: &Campaign| it.attempts.last().map(|it| (it.at, it.id));
        let found = match &self.name {
            Some(name) => campaigns.iter().position(|it| it.name == *name),
            None => (0..campaigns.len()).max_by_key(|place| last(&campaigns[*place])),
        };
        let Some(place) = found else {
            let names: Vec<String> = campaigns
                .iter()
                .map(|it| format!("`{}`", it.name))
                .collect();
            let program = context.program();
            let hint = match names.is_empty() {
                true => format!(
                    "start one: `{program} judge --campaign NAME --baseline main -- COMMAND`"
                ),
                false => format!("there is {}", first_names(&names, 5)),
            };
            let error = match self.name {
                Some(name) => format!("no campaign is called `{name}`"),
                None => "there are no campaigns in the store".to_owned(),
            };
            return Err(CliError::input(error).hint(hint));
        };
        let campaign = campaigns.remove(place);
        let answer = CampaignAnswer {
            campaign,
            others: campaigns.into_iter().map(|it| it.name).collect(),
            next: Vec::new(),
        };
        context.show(&answer.answer()?, &self.answer)
    }
}

/// The attempt of a campaign that is under way.
pub(super) struct OpenAttempt<'c> {
    context: &'c Context,
    campaign: String,
    id: Id,
    by: String,
    begun: Instant,
}

impl<'c> OpenAttempt<'c> {
    /// Notes that an attempt begins.
    pub(super) fn begin(
        campaign: &str,
        tried: TriedChange,
        store: &mut Store,
        context: &'c Context,
    ) -> Result<Self, CliError> {
        let attempt = Self {
            context,
            campaign: campaign.to_owned(),
            id: Id::from(Uuid::now_v7()),
            by: author_name(),
            begun: Instant::now(),
        };
        attempt.note(store, attempt.id, |_| {
            AttemptNote::Begun(tried.clone(), BTreeSet::new())
        })?;
        Ok(attempt)
    }

    /// Returns how the result of a first comparison is confirmed, and notes it before anything is measured.
    pub(super) fn confirm(
        &self,
        found: &LookedDifference,
        better: Better,
        smallest_effect: f64,
        most: usize,
        runs: &BTreeSet<Id>,
    ) -> Result<PlannedConfirmation, CliError> {
        let mut store = open_for_writing(self.context)?;
        let first = MeasuredRatio::from(found);
        let found = oriented(found, better);
        let effect = smallest_effect.ln_1p();
        let planned = |campaign: &Campaign| {
            let level = campaign.stream().level();
            PlannedConfirmation {
                level,
                instances: confirming_look(&found, effect, level, CONFIRMING * most).replicates,
                first,
            }
        };
        let campaign = self.note(&mut store, Id::from(Uuid::now_v7()), |campaign| {
            AttemptNote::Confirming(self.id, planned(campaign), runs.clone())
        })?;
        Ok(planned(&campaign))
    }

    /// Notes the outcome, and returns the attempt with its campaign.
    pub(super) fn end(
        &self,
        judged: &Judged,
        planned: Option<PlannedConfirmation>,
    ) -> Result<JudgedAttempt, CliError> {
        let (outcome, last) = match judged {
            Judged::NotConfirmed { second, .. } => (AttemptOutcome::NotConfirmed, Some(second)),
            Judged::NotMeasured { .. } => (AttemptOutcome::NotMeasured, None),
            Judged::BothZero => (AttemptOutcome::NotFaster, None),
            Judged::Measured {
                answer, comparison, ..
            } => {
                let outcome = match answer {
                    ChangeAnswer::Faster => AttemptOutcome::Accepted,
                    ChangeAnswer::Slower => AttemptOutcome::Slower,
                    ChangeAnswer::NotFaster | ChangeAnswer::NotSlower | ChangeAnswer::Same => {
                        AttemptOutcome::NotFaster
                    }
                    ChangeAnswer::Undecided => AttemptOutcome::Undecided,
                };
                (outcome, Some(comparison))
            }
        };
        let last = last.map(MeasuredRatio::from);
        let first = planned.map(|it| it.first);
        let end = AttemptEnd {
            outcome,
            first: first.or(last),
            second: first.and(last),
            seconds: Some(self.begun.elapsed().as_secs_f64()),
        };
        self.noted(end, planned, BTreeSet::new())
    }

    fn noted(
        &self,
        end: AttemptEnd,
        planned: Option<PlannedConfirmation>,
        runs: BTreeSet<Id>,
    ) -> Result<JudgedAttempt, CliError> {
        let mut store = open_for_writing(self.context)?;
        self.note(&mut store, Id::from(Uuid::now_v7()), |_| {
            AttemptNote::Ended(self.id, end, runs.clone())
        })?;
        Ok(JudgedAttempt {
            campaign: Campaign::named(&self.campaign, &store.annotations().all()?),
            id: self.id,
            planned,
            end: Some(end),
        })
    }

    /// Adds a note, and returns the campaign as it was before. If another process notes something meanwhile, it looks
    /// again, so that no two confirmations have the same place.
    fn note(
        &self,
        store: &mut Store,
        id: Id,
        note: impl Fn(&Campaign) -> AttemptNote,
    ) -> Result<Campaign, CliError> {
        loop {
            let known = store.annotations().ids()?;
            let campaign = Campaign::named(&self.campaign, &store.annotations().all()?);
            let note = note(&campaign);
            let annotation = note.annotation(&self.campaign, id, Timestamp::now(), &self.by);
            let annotation = annotation.map_err(|error| CliError::input(error.to_string()))?;
            if store.write(|writer| writer.put_unless_annotated_since(&known, &[annotation]))? {
                return Ok(campaign);
            }
        }
    }
}

/// The campaign of stored measurements
#[derive(Debug, Clone, Default, Args)]
pub struct CampaignOption {
    /// Make this comparison an attempt of a campaign: what is better is accepted once other measurements, which had no
    /// part in finding it, confirm it; of all that is accepted, at most 5 % is expected to do nothing
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub campaign: Option<String>,
}

impl CampaignOption {
    /// Begins an attempt of `run` before it measures, or takes up the one that is to be confirmed; `None` without a
    /// campaign.
    pub fn begin<'c>(
        &self,
        plan: &Plan,
        (metric, smallest_effect): (Option<&str>, Option<f64>),
        context: &'c Context,
    ) -> Result<Option<ComparedAttempt<'c>>, CliError> {
        let Some(campaign) = &self.campaign else {
            return Ok(None);
        };
        let (commit, patch) = working_state(plan, context);
        let mut names = match &plan.cases[..] {
            [_] => plan.variants.iter().map(Variant::label).collect(),
            cases => cases
                .iter()
                .map(|it| it.benchmark.id.clone())
                .collect::<Vec<_>>(),
        };
        let candidate = names.pop().unwrap_or_default();
        let tried = TriedChange {
            session: None,
            baseline: names.pop().unwrap_or_default(),
            candidate,
            commit,
            patch,
            command: context.own_command(),
            benchmark: plan
                .cases
                .last()
                .map_or_else(String::new, |it| it.benchmark.id.clone()),
            metric: metric.unwrap_or(USUAL_METRIC).to_owned(),
            smallest_effect: smallest_effect.unwrap_or(CompareOptions::USUAL_BAND),
        };
        let attempt = ComparedAttempt::begin(campaign, tried, context)?;
        let instances = plan.cases.iter().map(|it| it.instances as usize);
        if let Some(planned) = attempt.planned
            && instances.min().is_some_and(|it| it < planned.instances)
        {
            let needed = counted(planned.instances, "instance");
            let error = format!("the confirmation of this attempt needs {needed} of each side");
            let hint = format!("`{}`", context.with_instances(planned.instances));
            return Err(CliError::input(error).hint(hint));
        }
        Ok(Some(attempt))
    }

    /// Adds a comparison of stored measurements to the campaign, and returns what became of the attempt; `None`
    /// without a campaign.
    pub fn compared(
        &self,
        comparisons: &[Comparison],
        confidence: Confidence,
        context: &Context,
    ) -> Result<Option<JudgedAttempt>, CliError> {
        let Some(campaign) = &self.campaign else {
            return Ok(None);
        };
        let comparison = the_only(comparisons)?;
        if comparison.baseline.starts_with("benchmark:") {
            // Their copies have runs of their own, so that nothing tells whether they are fresh.
            let error = "benchmarks as sides of a comparison are no attempt of a campaign";
            return Err(CliError::input(error).hint("`lapwing run --campaign NAME` tries commands"));
        }
        let is_apart = |it: &Caution| {
            matches!(
                it,
                Caution::OneSession | Caution::NotInterleaved | Caution::OtherMachines { .. }
            )
        };
        if comparison.cautions.iter().any(is_apart) {
            let error = "the sides of an attempt have to be measured in turn, in the same sessions: others differ by more than the change";
            return Err(
                CliError::input(error).hint("`lapwing run --campaign NAME` measures them so")
            );
        }
        let tried = TriedChange {
            session: None,
            baseline: comparison.baseline.clone(),
            candidate: comparison.candidate.clone(),
            commit: None,
            patch: None,
            command: context.own_command(),
            benchmark: comparison.subject.benchmark.clone(),
            metric: comparison.subject.metric.clone(),
            smallest_effect: comparison.band(),
        };
        let runs: BTreeSet<Id> = comparison.runs.iter().flatten().copied().collect();
        let known = Campaign::named(campaign, &open_for_reading(context)?.annotations().all()?);
        let open = open_attempt(&known, &tried);
        let is_known = open.is_some_and(|it| !it.runs.is_disjoint(&runs));
        // Several candidates may share a baseline.
        if is_known || (open.is_some() && known.has_used(&comparison.runs[1])) {
            let error = "these measurements had a part in finding what they are to confirm, or in another attempt";
            let needed = open.and_then(|it| it.confirmation);
            let needed = needed.map_or(3, |it| it.instances);
            let hint = format!(
                "measure both sides again, with at least {} each, and compare only these",
                counted(needed, "instance")
            );
            return Err(CliError::input(error).hint(hint));
        }
        if let Some(planned) = open.and_then(|it| it.confirmation)
            && instances(comparison).is_none_or(|it| it < planned.instances)
        {
            let needed = counted(planned.instances, "instance");
            let error = format!("the confirmation needs {needed} per side, and these are fewer");
            return Err(CliError::input(error).hint("measure both sides again, as often"));
        }
        let attempt = ComparedAttempt::begin(campaign, tried, context)?;
        attempt.judge(Some(comparison), &runs, confidence).map(Some)
    }
}

/// Returns the state of the repository under test: its commit, and the digest of the differences from it.
pub(super) fn working_state(plan: &Plan, context: &Context) -> (Option<String>, Option<String>) {
    let folder = repository(plan, &context.surroundings()).ok();
    let source = VersionSource::WorkingDirectory;
    let commit = folder.as_deref().and_then(|it| version(&source, it).commit);
    (commit, folder.as_deref().and_then(patch_digest))
}

/// Returns the comparison that is an attempt. Where no metric is chosen, the usual one is.
fn the_only(comparisons: &[Comparison]) -> Result<&Comparison, CliError> {
    let usual = comparisons
        .iter()
        .filter(|it| it.subject.metric == USUAL_METRIC);
    let chosen: Vec<&Comparison> = match comparisons {
        [_] => comparisons.iter().collect(),
        _ => usual.collect(),
    };
    let [comparison] = chosen[..] else {
        let error = format!(
            "an attempt of a campaign is one comparison, and these are {}",
            comparisons.len()
        );
        let hint = "choose one benchmark (--benchmark) and metric (--metric), and two sides";
        return Err(CliError::input(error).hint(hint));
    };
    Ok(comparison)
}

/// Returns the attempt of the same sides that is to be confirmed.
fn open_attempt<'a>(campaign: &'a Campaign, tried: &TriedChange) -> Option<&'a Attempt> {
    let mut attempts = campaign.attempts.iter().rev();
    attempts.find(|it| it.end.is_none() && it.confirmation.is_some() && it.tried.is_same(tried))
}

/// Returns the instances of the side with fewer; `None` if a side has none.
fn instances(comparison: &Comparison) -> Option<usize> {
    let [one, other] = [
        comparison.baseline_estimate?,
        comparison.candidate_estimate?,
    ];
    Some(one.size.instances.min(other.size.instances))
}

/// An attempt by a comparison of `run` or `compare`.
pub struct ComparedAttempt<'c> {
    attempt: OpenAttempt<'c>,
    /// The confirmation that this is to be; `None` at first.
    planned: Option<PlannedConfirmation>,
}

impl<'c> ComparedAttempt<'c> {
    fn begin(campaign: &str, tried: TriedChange, context: &'c Context) -> Result<Self, CliError> {
        let mut store = open_for_writing(context)?;
        let known = Campaign::named(campaign, &store.annotations().all()?);
        let Some(open) = open_attempt(&known, &tried) else {
            return Ok(Self {
                attempt: OpenAttempt::begin(campaign, tried, &mut store, context)?,
                planned: None,
            });
        };
        Ok(Self {
            attempt: OpenAttempt {
                context,
                campaign: campaign.to_owned(),
                id: open.id,
                by: author_name(),
                begun: Instant::now(),
            },
            planned: open.confirmation,
        })
    }

    /// Adds the comparison of what `run` measured; without one, it could not be measured.
    pub fn measured(
        self,
        comparisons: Option<&[Comparison]>,
        runs: &BTreeSet<Id>,
    ) -> Result<JudgedAttempt, CliError> {
        let comparison = comparisons.map(the_only).transpose()?;
        self.judge(comparison, runs, Confidence::P95)
    }

    fn judge(
        self,
        comparison: Option<&Comparison>,
        runs: &BTreeSet<Id>,
        confidence: Confidence,
    ) -> Result<JudgedAttempt, CliError> {
        let fails = |it: &Comparison| {
            let mut cautions = it.cautions.iter();
            cautions.any(|it| matches!(it, Caution::Failures { .. }))
        };
        let comparison = comparison.filter(|it| !fails(it));
        let found = comparison.and_then(|it| looked_difference(it, confidence));
        // As in `judge`.
        let better = comparison.and_then(|it| it.metric.better);
        let better = better.unwrap_or(Better::Lower);
        let (outcome, second) = match (self.planned, comparison) {
            (Some(planned), _) => {
                let is_whole = comparison.and_then(instances) >= Some(planned.instances);
                let is_confirmed = found.filter(|_| is_whole).is_some_and(|it| {
                    let fresh = oriented(&it, better);
                    fresh.value < 0.0 && fresh.p_value <= planned.look().level
                });
                let outcome = match (is_confirmed, comparison) {
                    (true, _) => AttemptOutcome::Accepted,
                    (false, Some(_)) => AttemptOutcome::NotConfirmed,
                    (false, None) => AttemptOutcome::NotMeasured,
                };
                (outcome, found)
            }
            (None, None) => (AttemptOutcome::NotMeasured, None),
            (None, Some(comparison)) => {
                let is_less = found.is_some_and(|it| oriented(&it, better).value < 0.0);
                // Without a direction, a change is neither.
                let is_better = match comparison.verdict {
                    Verdict::Improvement => true,
                    Verdict::Changed => is_less,
                    _ => false,
                };
                if let Some(found) = found.filter(|_| is_better) {
                    let most = found.instances[0].max(found.instances[1]).max(USUAL_MOST);
                    let attempt = &self.attempt;
                    let planned = attempt.confirm(&found, better, comparison.band(), most, runs)?;
                    let store = open_for_reading(attempt.context)?;
                    return Ok(JudgedAttempt {
                        campaign: Campaign::named(&attempt.campaign, &store.annotations().all()?),
                        id: attempt.id,
                        planned: Some(planned),
                        end: None,
                    });
                }
                let outcome = match comparison.verdict {
                    Verdict::Regression | Verdict::Changed => AttemptOutcome::Slower,
                    Verdict::Equivalent => AttemptOutcome::NotFaster,
                    Verdict::NotMeasured => AttemptOutcome::NotMeasured,
                    _ => AttemptOutcome::Undecided,
                };
                (outcome, None)
            }
        };
        let first = self.planned.map(|it| it.first);
        let end = AttemptEnd {
            outcome,
            first: first.or(found.as_ref().map(MeasuredRatio::from)),
            second: second.as_ref().map(MeasuredRatio::from),
            seconds: None,
        };
        self.attempt.noted(end, self.planned, runs.clone())
    }
}

/// Returns a difference of which less is better.
pub(super) fn oriented(difference: &LookedDifference, better: Better) -> LookedDifference {
    match better {
        Better::Lower => *difference,
        Better::Higher => difference.reversed(),
    }
}

/// Returns the note about a metric whose direction nothing states.
pub(super) fn direction_note(metric: &str, better: Option<Better>) -> Option<Note> {
    let text = format!(
        "nothing says whether more of {metric} is better: less counts as better (`better` in the suite file says otherwise)"
    );
    better.is_none().then(|| Note::new("direction", text))
}
