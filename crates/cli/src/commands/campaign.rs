//! `lapwing campaign`: what was tried to make something faster, and how `judge` keeps it.

use std::collections::BTreeSet;
use std::time::Instant;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use lapwing_analyse::judge::{
    AttemptEnd, AttemptNote, AttemptOutcome, Campaign, Comparison, MeasuredRatio,
    PlannedConfirmation, TriedChange, Verdict, looked_difference,
};
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
        attempt.note(store, attempt.id, |_| AttemptNote::Begun(tried.clone()))?;
        Ok(attempt)
    }

    /// Returns how the result of a first comparison is confirmed, and notes it before anything is measured.
    pub(super) fn confirm(
        &self,
        found: &LookedDifference,
        better: Better,
        smallest_effect: f64,
        most: usize,
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
            AttemptNote::Confirming(self.id, planned(campaign))
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
        self.noted(end, planned, &mut open_for_writing(self.context)?)
    }

    fn noted(
        &self,
        end: AttemptEnd,
        planned: Option<PlannedConfirmation>,
        store: &mut Store,
    ) -> Result<JudgedAttempt, CliError> {
        self.note(store, Id::from(Uuid::now_v7()), |_| {
            AttemptNote::Ended(self.id, end)
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
    /// part in finding it, confirm it, so strictly that few of all attempts are accepted by chance
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub campaign: Option<String>,
}

impl CampaignOption {
    /// Adds a comparison of these runs to the campaign, and returns what became of the attempt; `None` without a campaign.
    pub fn attempt(
        &self,
        comparisons: &[Comparison],
        runs: BTreeSet<Id>,
        confidence: Confidence,
        context: &Context,
    ) -> Result<Option<JudgedAttempt>, CliError> {
        let Some(campaign) = &self.campaign else {
            return Ok(None);
        };
        if comparisons
            .iter()
            .any(|it| it.baseline.starts_with("benchmark:"))
        {
            // Their copies have runs of their own, so that nothing tells whether they are fresh.
            let error = "benchmarks as sides of a comparison are no attempt of a campaign";
            return Err(CliError::input(error).hint("`lapwing run --campaign NAME` tries commands"));
        }
        // Where no metric is chosen, the usual one is.
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
        // As in `judge`.
        let better = comparison.metric.better.unwrap_or(Better::Lower);
        let found = looked_difference(comparison, confidence);
        let tried = TriedChange {
            session: None,
            runs,
            baseline: comparison.baseline.clone(),
            candidate: comparison.candidate.clone(),
            commit: None,
            patch: None,
            command: context.own_command(),
            benchmark: comparison.subject.benchmark.clone(),
            metric: comparison.subject.metric.clone(),
            smallest_effect: comparison.band(),
        };
        let mut store = open_for_writing(context)?;
        let known = Campaign::named(campaign, &store.annotations().all()?);
        let open =
            known.attempts.iter().rev().find(|it| {
                it.end.is_none() && it.confirmation.is_some() && it.tried.is_same(&tried)
            });
        let Some((open, planned)) = open.and_then(|it| Some((it, it.confirmation?))) else {
            let attempt = OpenAttempt::begin(campaign, tried.clone(), &mut store, context)?;
            // Without a direction, a change is neither.
            let verdict = match (comparison.verdict, &found) {
                (Verdict::Changed, Some(it)) if oriented(it, better).value < 0.0 => {
                    Verdict::Improvement
                }
                (Verdict::Changed, Some(_)) => Verdict::Regression,
                (verdict, _) => verdict,
            };
            if let (Some(found), Verdict::Improvement) = (&found, verdict) {
                let most = found.instances[0].max(found.instances[1]).max(USUAL_MOST);
                let planned = attempt.confirm(found, better, tried.smallest_effect, most)?;
                return Ok(Some(JudgedAttempt {
                    campaign: Campaign::named(campaign, &store.annotations().all()?),
                    id: attempt.id,
                    planned: Some(planned),
                    end: None,
                }));
            }
            let outcome = match verdict {
                Verdict::Regression => AttemptOutcome::Slower,
                Verdict::Equivalent => AttemptOutcome::NotFaster,
                Verdict::NotMeasured => AttemptOutcome::NotMeasured,
                _ => AttemptOutcome::Undecided,
            };
            let end = AttemptEnd {
                outcome,
                first: found.as_ref().map(MeasuredRatio::from),
                second: None,
                seconds: None,
            };
            return attempt.noted(end, None, &mut store).map(Some);
        };
        let attempt = OpenAttempt {
            context,
            campaign: campaign.clone(),
            id: open.id,
            by: author_name(),
            begun: Instant::now(),
        };
        let needed = counted(planned.instances, "instance");
        if !open.tried.runs.is_disjoint(&tried.runs) {
            let error = "these measurements had a part in finding what they are to confirm";
            let hint = format!(
                "measure both sides again, with at least {needed} each, and compare only these"
            );
            return Err(CliError::input(error).hint(hint));
        }
        let fresh = found.filter(|it| it.instances.iter().all(|side| *side >= planned.instances));
        let Some(second) = fresh else {
            let error = format!("the confirmation needs {needed} per side, and these are fewer");
            return Err(CliError::input(error).hint("measure both sides again, as often"));
        };
        let fresh = oriented(&second, better);
        let is_confirmed = fresh.value < 0.0 && fresh.p_value <= planned.look().level;
        let end = AttemptEnd {
            outcome: match is_confirmed {
                true => AttemptOutcome::Accepted,
                false => AttemptOutcome::NotConfirmed,
            },
            first: Some(planned.first),
            second: Some(MeasuredRatio::from(&second)),
            seconds: None,
        };
        attempt.noted(end, Some(planned), &mut store).map(Some)
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
