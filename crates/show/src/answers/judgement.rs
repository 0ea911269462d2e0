//! Whether a state is slower or faster than a baseline, or the same: `lapwing judge`.

use lapwing_analyse::judge::{Caution, SessionNoise};
use lapwing_model::text::counted;
use lapwing_stats::{ChangeAnswer, ExpectedChange, LookedDifference, NeededReplicates};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::campaign::{JudgedAttempt, JudgedAttemptFields};
use super::compare::{caution_note, needed_about, needed_more_than};
use crate::writing::{
    Answer, AnswerKind, CsvRows, NextStep, Note, TextAnswer, View, WriteError, csv_rows,
};
use crate::{LookedText, percent, ratio, session_noise_note};

/// A judgement of the checked-out state.
#[derive(Debug)]
pub struct JudgeAnswer {
    /// The id of the benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// The baseline.
    pub baseline: String,
    /// The smallest change that matters, as a share.
    pub smallest_effect: f64,
    /// What was expected.
    pub expected: ExpectedChange,
    /// The confidence of the answer.
    pub confidence: f64,
    /// The judgement.
    pub judged: Judged,
    /// The sessions of both sides.
    pub sessions: JudgedSessions,
    /// How it was measured, if that was chosen.
    pub notes: Vec<Note>,
    /// The attempt of a campaign that it is.
    pub attempt: Option<JudgedAttempt>,
    /// The name of the session.
    pub session: String,
    /// Commands that continue from here.
    pub next: Vec<NextStep>,
}

/// The sessions of a judged state and of its baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JudgedSessions {
    /// Both were measured in one.
    Same,
    /// The baseline is from others, and it is known how much these differ.
    Others(SessionNoise),
    /// The baseline is from others, and nothing shows how much sessions differ.
    Unknown,
}

impl JudgedSessions {
    fn notes(self) -> Vec<Note> {
        match self {
            Self::Same => Vec::new(),
            Self::Others(noise) if noise.sessions > 0 => {
                session_noise_note(vec![noise]).into_iter().collect()
            }
            Self::Others(_) => Vec::new(),
            Self::Unknown => vec![caution_note(&Caution::OneSession)],
        }
    }

    /// Returns what a statement is about, after its verb.
    fn scope(self) -> &'static str {
        match self {
            Self::Same | Self::Others(_) => "",
            Self::Unknown => " within these sessions",
        }
    }
}

/// The judgement, or why there is none.
#[derive(Debug)]
pub enum Judged {
    /// Both sides were measured.
    Measured {
        /// The judgement.
        answer: ChangeAnswer,
        /// Their comparison.
        comparison: LookedDifference,
        /// The instances per side that would probably decide, if it is undecided.
        needed: Option<NeededReplicates>,
    },
    /// It was faster at first, and not surely so on fresh instances.
    NotConfirmed {
        /// The first comparison.
        first: LookedDifference,
        /// The one on fresh instances.
        second: LookedDifference,
    },
    /// The metric is 0 in all instances of both sides.
    BothZero,
    /// They were not.
    NotMeasured {
        /// Identifies the reason.
        code: &'static str,
        /// The reason in words.
        reason: String,
    },
}

/// The judgement for programs.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct JudgeFields<'a> {
    benchmark: &'a str,
    metric: &'a str,
    baseline: &'a str,
    /// What was expected: `not-slower`, `faster`, `same` or `slower`.
    expected: &'static str,
    /// Whether the answer is that; `null` if it is undecided.
    as_expected: Option<bool>,
    /// The smallest change that matters, as a share.
    smallest_effect: f64,
    /// The confidence of the answer.
    confidence: f64,
    ratio: Option<f64>,
    /// Bounds of the ratio, corrected for repeated looks.
    lower: Option<f64>,
    upper: Option<f64>,
    baseline_instances: usize,
    candidate_instances: usize,
    /// The number of instances per side that would probably decide.
    needed_instances: Option<usize>,
    /// A number of instances per side that is too small, where the needed number is unknown.
    needed_more_than: Option<usize>,
    /// Why there is no answer: `too_wide`, `not_built`, `not_measured` or `baseline_not_measured`.
    reason: Option<&'static str>,
    reason_text: Option<String>,
    /// The attempt of the campaign.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<JudgedAttemptFields<'a>>,
    session: &'a str,
}

#[derive(Debug, Default, Serialize)]
struct JudgeRow<'a> {
    verdict: &'static str,
    #[serde(flatten)]
    fields: JudgeFields<'a>,
}

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<JudgeFields<'_>>("judge");

impl JudgeAnswer {
    fn fields(&self) -> JudgeFields<'_> {
        let fields = JudgeFields {
            benchmark: &self.benchmark,
            metric: &self.metric,
            baseline: &self.baseline,
            expected: match self.expected {
                ExpectedChange::NotSlower => "not-slower",
                ExpectedChange::Faster => "faster",
                ExpectedChange::Same => "same",
                ExpectedChange::Slower => "slower",
            },
            as_expected: self.as_expected(),
            smallest_effect: self.smallest_effect,
            confidence: self.confidence,
            attempt: self.attempt.as_ref().map(JudgedAttempt::fields),
            session: &self.session,
            ..JudgeFields::default()
        };
        let measured = |comparison: &LookedDifference, fields| {
            let (ratio, interval) = comparison.ratio();
            let has_interval = interval.upper.is_finite();
            JudgeFields {
                ratio: Some(ratio),
                lower: has_interval.then_some(interval.lower),
                upper: has_interval.then_some(interval.upper),
                baseline_instances: comparison.instances[0],
                candidate_instances: comparison.instances[1],
                ..fields
            }
        };
        match &self.judged {
            Judged::BothZero => fields,
            Judged::NotConfirmed { second, .. } => measured(second, fields),
            Judged::NotMeasured { code, reason } => JudgeFields {
                reason: Some(code),
                reason_text: Some(reason.clone()),
                ..fields
            },
            Judged::Measured {
                answer,
                comparison,
                needed,
            } => {
                let is_undecided = *answer == ChangeAnswer::Undecided;
                JudgeFields {
                    needed_instances: needed_about(*needed),
                    needed_more_than: needed_more_than(*needed),
                    reason: is_undecided.then_some("too_wide"),
                    reason_text: is_undecided.then(|| self.too_wide()),
                    ..measured(comparison, fields)
                }
            }
        }
    }

    /// Returns whether the answer is the expected one; `None` if there is none.
    pub fn as_expected(&self) -> Option<bool> {
        if matches!(self.judged, Judged::NotConfirmed { .. }) {
            return Some(false);
        }
        self.answer().and_then(|it| self.expected.is_met(it))
    }

    /// Returns the answer; `None` if it was not measured, or not confirmed.
    fn answer(&self) -> Option<ChangeAnswer> {
        match &self.judged {
            Judged::Measured { answer, .. } => Some(*answer),
            Judged::BothZero => Some(match self.expected {
                ExpectedChange::NotSlower | ExpectedChange::Slower => ChangeAnswer::NotSlower,
                ExpectedChange::Faster => ChangeAnswer::NotFaster,
                ExpectedChange::Same => ChangeAnswer::Same,
            }),
            Judged::NotMeasured { .. } | Judged::NotConfirmed { .. } => None,
        }
    }

    fn too_wide(&self) -> String {
        let effect = percent(self.smallest_effect);
        let other = match self.expected {
            ExpectedChange::NotSlower | ExpectedChange::Slower => "a slowdown",
            ExpectedChange::Faster => "a speed-up",
            ExpectedChange::Same => "a change",
        };
        format!("the interval contains both no change and {other} of {effect}")
    }

    /// Returns `slower than v1.4 within these sessions`, what an answer says; empty if it is undecided.
    fn said(&self, answer: ChangeAnswer, scope: &str) -> String {
        let (baseline, effect) = (&self.baseline, percent(self.smallest_effect));
        match answer {
            ChangeAnswer::Slower => format!("slower than {baseline}{scope}"),
            ChangeAnswer::Faster => format!("faster than {baseline}{scope}"),
            ChangeAnswer::NotSlower => {
                format!("not slower than {baseline} by {effect} or more{scope}")
            }
            ChangeAnswer::NotFaster => {
                format!("not faster than {baseline} by {effect} or more{scope}")
            }
            ChangeAnswer::Same => format!("within {effect} of {baseline}{scope}"),
            ChangeAnswer::Undecided => String::new(),
        }
    }
}

/// Returns how many instances per side would probably decide; empty if that is unknown.
fn needed_text(needed: Option<NeededReplicates>) -> String {
    match needed {
        Some(NeededReplicates::About(number)) => {
            let instances = counted(number, "instance");
            format!("; needs about {instances} per side (--instances)")
        }
        Some(NeededReplicates::MoreThan(number)) => {
            format!("; needs more than {} per side", counted(number, "instance"))
        }
        Some(NeededReplicates::NoNumber) | None => String::new(),
    }
}

impl Answer for JudgeAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let Self {
            benchmark,
            baseline,
            ..
        } = self;
        let headline = match &self.judged {
            Judged::BothZero => {
                let same = match self.expected {
                    ExpectedChange::Faster => "not faster than",
                    ExpectedChange::Same => "the same as",
                    ExpectedChange::NotSlower | ExpectedChange::Slower => "not slower than",
                };
                format!(
                    "`{benchmark}` is {same} {baseline}: {} is 0 in both",
                    self.metric
                )
            }
            Judged::NotMeasured { reason, .. } => {
                format!("`{benchmark}` cannot be measured: {reason}")
            }
            Judged::NotConfirmed { first, second } => {
                let planned = self.attempt.as_ref().and_then(|it| it.planned);
                let lacking = planned
                    .filter(|planned| second.instances.iter().any(|it| *it < planned.instances));
                let lacking = lacking.map_or_else(String::new, |it| {
                    format!(" of the {} that are needed", it.instances)
                });
                format!(
                    "`{benchmark}` is not confirmed to be faster than {baseline} on fresh instances: {}, {}{lacking} ({} at first)",
                    second.text(),
                    second.instances_text(),
                    ratio(first.ratio().0),
                )
            }
            Judged::Measured {
                answer,
                comparison,
                needed,
            } => {
                let again = match &self.attempt {
                    Some(JudgedAttempt { end: Some(end), .. }) if end.second.is_some() => {
                        ", again on fresh instances"
                    }
                    _ => "",
                };
                let evidence = format!("{}, {}", comparison.text(), comparison.instances_text());
                match answer {
                    ChangeAnswer::Undecided => format!(
                        "`{benchmark}`: undecided against {baseline}: {evidence}{}",
                        needed_text(*needed)
                    ),
                    decided => {
                        let said = self.said(*decided, self.sessions.scope());
                        format!("`{benchmark}` is {said}{again}: {evidence}")
                    }
                }
            }
        };
        TextAnswer {
            headline,
            notes: match self.judged {
                Judged::Measured { .. } | Judged::NotConfirmed { .. } => self.sessions.notes(),
                Judged::BothZero | Judged::NotMeasured { .. } => Vec::new(),
            }
            .into_iter()
            .chain(self.notes.clone())
            .chain(self.attempt.as_ref().map(JudgedAttempt::note))
            .chain(self.attempt.as_ref().and_then(JudgedAttempt::same_baseline))
            .collect(),
            next: self.next.clone(),
            ..TextAnswer::default()
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        Ok(serde_json::to_value(self.fields())?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&[JudgeRow {
            verdict: self.verdict().unwrap_or_default(),
            fields: self.fields(),
        }])
    }

    fn verdict(&self) -> Option<&'static str> {
        Some(match self.answer() {
            None if matches!(self.judged, Judged::NotConfirmed { .. }) => "not_confirmed",
            None => "not_measured",
            Some(ChangeAnswer::Slower) => "slower",
            Some(ChangeAnswer::Faster) => "faster",
            Some(ChangeAnswer::NotSlower) => "not_slower",
            Some(ChangeAnswer::NotFaster) => "not_faster",
            Some(ChangeAnswer::Same) => "same",
            Some(ChangeAnswer::Undecided) => "undecided",
        })
    }
}
