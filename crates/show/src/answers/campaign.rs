//! Attempts of a campaign, and what became of them: `lapwing campaign show`.

use lapwing_analyse::judge::{
    Attempt, AttemptEnd, AttemptOutcome, Campaign, FALSE_SHARE, MeasuredRatio, PlannedConfirmation,
};
use lapwing_model::Id;
use lapwing_model::text::{counted, first_names, plural};
use schemars::JsonSchema;
use serde::Serialize;

use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, NextStep, Note, ReadyAnswer, Table, TextAnswer, WriteError};
use crate::{machine_time, percent, ratio};

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<CampaignFields<'_>>("campaign").listing("attempts");

/// Digits of a patch's digest that are shown.
const PATCH_DIGITS: usize = 8;
/// Digits of a commit that are shown.
const COMMIT_DIGITS: usize = 10;

/// What became of an attempt that was just judged.
#[derive(Debug)]
pub struct JudgedAttempt {
    /// The campaign, with this attempt.
    pub campaign: Campaign,
    /// Identifies the attempt.
    pub id: Id,
    /// The confirmation, if there was one.
    pub planned: Option<PlannedConfirmation>,
    /// The outcome; `None` if it is still to be confirmed.
    pub end: Option<AttemptEnd>,
}

/// The attempt of a judgement, for programs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JudgedAttemptFields<'a> {
    campaign: &'a str,
    /// The number of the attempt, from 1 on.
    number: usize,
    /// `accepted`, `not_confirmed`, `not_faster`, `slower`, `undecided`, `not_measured`, or `open` if it is to be
    /// confirmed.
    outcome: &'static str,
    /// The ratio by which it was faster at first; `null` if that needed no confirmation.
    first_ratio: Option<f64>,
    /// The one-sided p-value that sufficed on fresh instances.
    level: Option<f64>,
    /// The number of attempts that were accepted, with this one.
    accepted: usize,
    /// The largest probability that a change that does nothing is accepted next.
    next_level: f64,
}

impl JudgedAttempt {
    pub(crate) fn fields(&self) -> JudgedAttemptFields<'_> {
        let attempts = &self.campaign.attempts;
        JudgedAttemptFields {
            campaign: &self.campaign.name,
            number: 1 + attempts.iter().position(|it| it.id == self.id).unwrap_or(0),
            outcome: self.end.map_or("open", |it| it.outcome.name()),
            first_ratio: self.planned.map(|it| it.first.ratio),
            level: self.planned.map(|it| it.level),
            accepted: accepted(&self.campaign),
            next_level: self.campaign.stream().level(),
        }
    }

    /// Returns a note on an attempt that was accepted before against the same baseline, which may be judged again.
    pub fn same_baseline(&self) -> Option<Note> {
        let attempts = &self.campaign.attempts;
        let own = attempts.iter().position(|it| it.id == self.id)?;
        let tried = &attempts[own].tried;
        let is_before = |it: &&Attempt| {
            it.end
                .is_some_and(|end| end.outcome == AttemptOutcome::Accepted)
                && tried.session.is_some()
                && it.tried.baseline == tried.baseline
                && it.tried.benchmark == tried.benchmark
                && !it.tried.is_same(tried)
        };
        let before = attempts[..own].iter().rposition(|it| is_before(&it))?;
        let text = format!(
            "attempt {} was accepted against the same baseline: if its change is still there, both are judged together, and this \
             one alone may do nothing. Commit what is accepted, and name the new state",
            before + 1,
        );
        Some(Note::marked("same_baseline", text).with("attempt", before + 1))
    }

    /// Returns which attempt it was, and how probable it is that the next one is accepted by chance.
    pub fn note(&self) -> Note {
        let fields = self.fields();
        let (number, campaign) = (fields.number, fields.campaign);
        let open = self.planned.filter(|_| self.end.is_none());
        let text = match open {
            Some(planned) => format!(
                "attempt {number} of campaign `{campaign}`: better at first. To confirm it, measure both sides again, \
                 with at least {} per side, and compare only these",
                counted(planned.instances, "instance"),
            ),
            None => format!(
                "attempt {number} of campaign `{campaign}`: {}; {} so far. {}",
                self.end
                    .map_or("not finished", |it| outcome_text(it.outcome)),
                accepted_text(fields.accepted),
                chance_text(fields.next_level),
            ),
        };
        let note = Note::marked("campaign", text)
            .with("attempts", number)
            .with("accepted", fields.accepted)
            .with("outcome", fields.outcome);
        match open {
            Some(planned) => note.with("needed_instances", planned.instances),
            None => note,
        }
    }
}

/// A campaign and the names of the others.
#[derive(Debug)]
pub struct CampaignAnswer {
    /// The campaign.
    pub campaign: Campaign,
    /// The names of the others.
    pub others: Vec<String>,
    /// Commands that continue from here.
    pub next: Vec<NextStep>,
}

/// The campaign for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct CampaignFields<'a> {
    campaign: &'a str,
    /// Numbers of attempts by their outcome.
    accepted: usize,
    rejected: usize,
    /// Neither: undecided, not measured, to be confirmed, under way, or interrupted.
    open: usize,
    undecided: usize,
    not_measured: usize,
    /// To be confirmed by another call of `run` or `compare`.
    to_confirm: usize,
    /// The largest share of accepted attempts that is expected to do nothing.
    false_share: f64,
    /// The largest probability that a change that does nothing is accepted next.
    next_level: f64,
    /// The same of all further attempts together, if none of them is accepted.
    remaining: f64,
    /// How long all attempts took that `judge` measured, in seconds.
    seconds: f64,
    attempts: &'a [AttemptFields<'a>],
    /// The names of the other campaigns.
    others: &'a [String],
}

/// An attempt.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct AttemptFields<'a> {
    /// Its number, from 1 on.
    number: usize,
    at: String,
    by: &'a str,
    /// `accepted`, `not_confirmed`, `not_faster`, `slower`, `undecided`, `not_measured` or `open`.
    outcome: &'static str,
    baseline: &'a str,
    /// `the working tree`, or the name of a side.
    candidate: &'a str,
    /// The commit that was checked out.
    commit: Option<&'a str>,
    /// The digest of the differences from it; `null` if there were none.
    patch: Option<&'a str>,
    command: &'a str,
    benchmark: &'a str,
    metric: &'a str,
    /// The smallest change that matters, as a share.
    smallest_effect: f64,
    /// The ratio to the baseline: on fresh instances, if it was confirmed or was to be.
    ratio: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    /// The ratio by which it was faster at first.
    first_ratio: Option<f64>,
    /// The one-sided p-value that suffices on fresh instances.
    level: Option<f64>,
    /// The number of fresh instances of each side that confirm it.
    needed_instances: Option<usize>,
    baseline_instances: usize,
    candidate_instances: usize,
    /// How long building and measuring took; `null` of stored measurements.
    seconds: Option<f64>,
    session: Option<&'a str>,
}

impl<'a> AttemptFields<'a> {
    fn of(number: usize, attempt: &'a Attempt) -> Self {
        let tried = &attempt.tried;
        let end = attempt.end;
        let (first, second) = end.map_or((None, None), |it| (it.first, it.second));
        // What was to be confirmed has the ratio of the confirmation.
        let last = second.or(first.filter(|_| attempt.confirmation.is_none()));
        let instances = [first, second].into_iter().flatten();
        let side = |side: usize| instances.clone().map(|it| it.instances[side]).sum();
        Self {
            number,
            at: attempt.at.to_string(),
            by: &attempt.by,
            outcome: end.map_or("open", |it| it.outcome.name()),
            baseline: &tried.baseline,
            candidate: &tried.candidate,
            commit: tried.commit.as_deref(),
            patch: tried.patch.as_deref(),
            command: &tried.command,
            benchmark: &tried.benchmark,
            metric: &tried.metric,
            smallest_effect: tried.smallest_effect,
            ratio: last.map(|it| it.ratio),
            lower: last.and_then(|it| it.lower),
            upper: last.and_then(|it| it.upper),
            first_ratio: attempt.confirmation.map(|it| it.first.ratio),
            level: attempt.confirmation.map(|it| it.level),
            needed_instances: attempt.confirmation.map(|it| it.instances),
            baseline_instances: side(0),
            candidate_instances: side(1),
            seconds: end.and_then(|it| it.seconds),
            session: tried.session.as_deref(),
        }
    }
}

impl CampaignAnswer {
    /// Returns the answer.
    ///
    /// # Errors
    /// Returns the error of a row that JSON has no form for.
    pub fn answer(self) -> Result<ReadyAnswer, WriteError> {
        let attempts = &self.campaign.attempts;
        let mut table = Table::new(&[
            ("", Right),
            ("change", Left),
            ("outcome", Left),
            ("ratio", Left),
            ("at first", Right),
            ("instances", Right),
            ("time", Right),
            ("session", Left),
        ])
        .dispensable(&["session", "instances"]);
        for (place, attempt) in attempts.iter().enumerate() {
            table.row(text_row(place + 1, attempt));
        }
        let numbers = attempts.iter().enumerate();
        let rows: Vec<AttemptFields<'_>> = numbers
            .map(|(place, attempt)| AttemptFields::of(place + 1, attempt))
            .collect();
        let with =
            |wanted: &dyn Fn(&Attempt) -> bool| attempts.iter().filter(|it| wanted(it)).count();
        let ended = |outcome| with(&|it| it.end.is_some_and(|end| end.outcome == outcome));
        let is_rejected =
            |it: &Attempt| it.end.and_then(|end| end.outcome.is_accepted()) == Some(false);
        let rejected = with(&is_rejected);
        let undecided = ended(AttemptOutcome::Undecided);
        let not_measured = ended(AttemptOutcome::NotMeasured);
        let unfinished = with(&|it| it.end.is_none());
        let to_confirm = with(&is_to_be_confirmed);
        let accepted = accepted(&self.campaign);
        let counts = [
            (undecided, "undecided"),
            (not_measured, "not measured"),
            (to_confirm, "to be confirmed"),
            (unfinished - to_confirm, "not finished"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: String = counts
            .map(|(count, what)| format!(", {count} {what}"))
            .collect();
        let stream = self.campaign.stream();
        let mut notes = vec![
            Note::new(
                "false_share",
                format!(
                    "at most {} of what a campaign accepts is expected to do nothing. {}",
                    percent(FALSE_SHARE),
                    chance_text(stream.level())
                ),
            )
            .with("false_share", FALSE_SHARE),
        ];
        let tries = repeated(attempts);
        if tries > 0 {
            let text = format!(
                "{} {} an earlier one: its command, commit and differences of tracked files",
                counted(tries, "attempt"),
                plural(tries, "repeats", "repeat"),
            );
            notes.push(Note::new("repeated", text).with("attempts", tries));
        }
        if !self.others.is_empty() {
            let names: Vec<String> = self.others.iter().map(|it| format!("`{it}`")).collect();
            let text = format!("other campaigns: {}", first_names(&names, 5));
            notes.push(Note::new("others", text));
        }
        let text = TextAnswer {
            headline: format!(
                "campaign `{}`: {accepted} of {} accepted, {rejected} rejected{counts}",
                self.campaign.name,
                counted(attempts.len(), "attempt"),
            ),
            table,
            notes,
            next: self.next,
            ..TextAnswer::default()
        };
        let fields = CampaignFields {
            campaign: &self.campaign.name,
            accepted,
            rejected,
            open: attempts.len() - accepted - rejected,
            undecided,
            not_measured,
            to_confirm,
            false_share: FALSE_SHARE,
            next_level: stream.level(),
            remaining: stream.remaining(),
            seconds: attempts
                .iter()
                .filter_map(|it| it.end?.seconds)
                .fold(0.0, |all, it| all + it),
            attempts: &rows,
            others: &self.others,
        };
        ReadyAnswer::new(&KIND, text, &fields, &rows)
    }
}

fn text_row(number: usize, attempt: &Attempt) -> Vec<String> {
    let end = attempt.end;
    let (first, second) = end.map_or((None, None), |it| (it.first, it.second));
    let last = second.or(first.filter(|_| attempt.confirmation.is_none()));
    let at_first = attempt.confirmation.map(|it| it.first);
    let instances: usize = [first, second]
        .into_iter()
        .flatten()
        .flat_map(|it| it.instances)
        .sum();
    vec![
        number.to_string(),
        change_text(attempt),
        match (attempt.confirmation, end) {
            (Some(planned), None) if is_to_be_confirmed(attempt) => {
                format!(
                    "to be confirmed: {} each",
                    counted(planned.instances, "instance")
                )
            }
            (_, None) => "not finished".to_owned(),
            (_, Some(end)) => outcome_text(end.outcome).to_owned(),
        },
        last.map(ratio_text).unwrap_or_default(),
        at_first.map(|it| ratio(it.ratio)).unwrap_or_default(),
        end.map(|_| instances.to_string()).unwrap_or_default(),
        end.and_then(|it| it.seconds)
            .map(machine_time)
            .unwrap_or_default(),
        attempt.tried.session.clone().unwrap_or_default(),
    ]
}

/// Returns `ab12cd34ef+1f3c5a7b`: the commit, and the differences from it.
fn change_text(attempt: &Attempt) -> String {
    let digits = |text: &Option<String>, count: usize| -> String {
        let hash = text.as_ref().map(|it| it.trim_start_matches("sha256:"));
        hash.iter().flat_map(|it| it.chars().take(count)).collect()
    };
    let commit = digits(&attempt.tried.commit, COMMIT_DIGITS);
    match &attempt.tried.patch {
        None if commit.is_empty() => attempt.tried.candidate.clone(),
        Some(_) => format!("{commit}+{}", digits(&attempt.tried.patch, PATCH_DIGITS)),
        None => commit,
    }
}

fn ratio_text(measured: MeasuredRatio) -> String {
    match (measured.lower, measured.upper) {
        (Some(lower), Some(upper)) => format!(
            "{} [{}, {}]",
            ratio(measured.ratio),
            ratio(lower).trim_end_matches('×'),
            ratio(upper).trim_end_matches('×')
        ),
        _ => ratio(measured.ratio),
    }
}

/// Returns whether another call of `run` or `compare` confirms it; `judge` does so itself.
fn is_to_be_confirmed(attempt: &Attempt) -> bool {
    attempt.end.is_none() && attempt.confirmation.is_some() && attempt.tried.session.is_none()
}

fn outcome_text(outcome: AttemptOutcome) -> &'static str {
    match outcome {
        AttemptOutcome::Accepted => "accepted",
        AttemptOutcome::NotConfirmed => "not confirmed",
        AttemptOutcome::NotFaster => "not faster",
        AttemptOutcome::Slower => "slower",
        AttemptOutcome::Undecided => "undecided",
        AttemptOutcome::NotMeasured => "not measured",
    }
}

/// Returns `2 accepted`.
fn accepted_text(accepted: usize) -> String {
    match accepted {
        0 => "none accepted".to_owned(),
        some => format!("{some} accepted"),
    }
}

fn chance_text(level: f64) -> String {
    format!(
        "A change that does nothing is accepted next in at most 1 of {:.0} cases",
        level.recip().floor()
    )
}

fn accepted(campaign: &Campaign) -> usize {
    let outcomes = campaign.attempts.iter().filter_map(|it| it.end);
    outcomes
        .filter(|it| it.outcome == AttemptOutcome::Accepted)
        .count()
}

/// Returns how many attempts try what an earlier one tried.
fn repeated(attempts: &[Attempt]) -> usize {
    let is_same = |one: &Attempt, other: &Attempt| {
        one.tried.commit.is_some()
            && one.tried.commit == other.tried.commit
            && one.tried.patch == other.tried.patch
            && one.tried.command == other.tried.command
    };
    let repeats = attempts.iter().enumerate();
    repeats
        .filter(|(place, it)| attempts[..*place].iter().any(|before| is_same(before, it)))
        .count()
}
