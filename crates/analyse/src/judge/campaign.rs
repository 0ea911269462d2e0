//! Campaigns: many attempts to make something faster, and how many of those accepted may do nothing.
//!
//! An attempt is kept as annotations of the store, so that it is shared and survives like all else: one when it
//! begins, one before its confirmation is measured, one with its outcome.

use std::collections::BTreeSet;

use jiff::Timestamp;
use lapwing_model::{Annotation, Id, Object};
use lapwing_record::Remark;
use lapwing_stats::{ComparisonLook, Confidence, Interval, LookedDifference, TestStream};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Comparison;

/// The share of accepted attempts that may do nothing.
pub const FALSE_SHARE: f64 = 0.05;

const BEGUN: &str = "attempt";
const CONFIRMING: &str = "attempt_confirmation";
const ENDED: &str = "attempt_end";
/// The key of the runs of an annotation.
const RUNS: &str = "runs";

/// The attempts of one name.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// Its name.
    pub name: String,
    /// Its attempts, in the order in which they began.
    pub attempts: Vec<Attempt>,
    /// Whether each confirmation found something, in the order in which they began.
    confirmations: Vec<(AnnotationOrder, Id)>,
}

/// When something was noted.
type AnnotationOrder = (Timestamp, Id);

/// A change that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Identifies it.
    pub id: Id,
    /// When it began.
    pub at: Timestamp,
    /// Who tried it.
    pub by: String,
    /// What was tried.
    pub tried: TriedChange,
    /// The runs of its measurements, as far as they are noted.
    pub runs: BTreeSet<Id>,
    /// How it is confirmed, once the first measurements call it faster.
    pub confirmation: Option<PlannedConfirmation>,
    /// What became of it; `None` if it is under way or was interrupted.
    pub end: Option<AttemptEnd>,
}

/// What an attempt tries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TriedChange {
    /// The session that measures it; `None` of stored measurements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What it is compared with.
    pub baseline: String,
    /// What is tried: `the working tree`, or the name of a side.
    pub candidate: String,
    /// The commit that is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The digest of the differences from that commit; `None` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// The command line.
    pub command: String,
    /// The id of the benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// The smallest change that matters, as a share.
    pub smallest_effect: f64,
}

impl TriedChange {
    /// Returns whether it compares the same sides, of the same state of the repository, by the same metric.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let key = |it: &Self| {
            let names = [&it.baseline, &it.candidate, &it.benchmark, &it.metric];
            (
                names.map(String::clone),
                it.commit.clone(),
                it.patch.clone(),
            )
        };
        key(self) == key(other)
    }
}

/// The confirmation of an attempt, fixed before it is measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlannedConfirmation {
    /// The one-sided p-value that suffices.
    pub level: f64,
    /// The number of fresh instances of each side.
    pub instances: usize,
    /// What is to be confirmed.
    pub first: MeasuredRatio,
}

impl PlannedConfirmation {
    /// Returns the look at it.
    #[must_use]
    pub fn look(&self) -> ComparisonLook {
        ComparisonLook {
            replicates: self.instances,
            level: 2.0 * self.level,
        }
    }
}

/// The outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// It was faster twice, the second time on fresh instances.
    Accepted,
    /// It was faster at first, and not surely so on fresh instances.
    NotConfirmed,
    /// It is not faster by the smallest change that matters.
    NotFaster,
    /// It is slower.
    Slower,
    /// The first measurements gave no answer.
    Undecided,
    /// It could not be built or measured.
    NotMeasured,
}

impl AttemptOutcome {
    /// Returns its name: `not_confirmed`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::NotConfirmed => "not_confirmed",
            Self::NotFaster => "not_faster",
            Self::Slower => "slower",
            Self::Undecided => "undecided",
            Self::NotMeasured => "not_measured",
        }
    }

    /// Returns whether the attempt succeeded; `None` if it has no answer.
    #[must_use]
    pub fn is_accepted(self) -> Option<bool> {
        match self {
            Self::Accepted => Some(true),
            Self::NotConfirmed | Self::NotFaster | Self::Slower => Some(false),
            Self::Undecided | Self::NotMeasured => None,
        }
    }
}

/// The outcome with its measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AttemptEnd {
    /// The outcome.
    pub outcome: AttemptOutcome,
    /// The measurements that found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<MeasuredRatio>,
    /// Those of fresh instances: what the change is worth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<MeasuredRatio>,
    /// How long building and measuring took, in seconds; `None` of stored measurements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// The ratio of a candidate to its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRatio {
    /// The ratio.
    pub ratio: f64,
    /// The bounds of its interval; `None` if there are too few instances for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// The same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// Two-sided p-value of "there is no difference".
    pub p_value: f64,
    /// The instances of both sides.
    pub instances: [usize; 2],
}

impl From<&LookedDifference> for MeasuredRatio {
    fn from(looked: &LookedDifference) -> Self {
        let (ratio, interval) = looked.ratio();
        let is_bounded = interval.upper.is_finite();
        Self {
            ratio,
            lower: is_bounded.then_some(interval.lower),
            upper: is_bounded.then_some(interval.upper),
            p_value: looked.p_value,
            instances: looked.instances,
        }
    }
}

/// Returns the difference of logarithms that a comparison found; `None` without a ratio.
#[must_use]
pub fn looked_difference(
    comparison: &Comparison,
    confidence: Confidence,
) -> Option<LookedDifference> {
    let ratio = comparison.ratio?;
    let sides = [
        comparison.baseline_estimate?,
        comparison.candidate_estimate?,
    ];
    Some(LookedDifference {
        instances: sides.map(|it| it.size.instances),
        value: ratio.value.ln(),
        interval: ratio.interval.map_or(
            Interval {
                lower: f64::NEG_INFINITY,
                upper: f64::INFINITY,
            },
            |it| Interval {
                lower: it.lower.ln(),
                upper: it.upper.ln(),
            },
        ),
        p_value: ratio.p_value,
        level: 1.0 - confidence.level(),
    })
}

/// What is noted of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub enum AttemptNote {
    /// It begins, with these runs if they are measured already.
    Begun(TriedChange, BTreeSet<Id>),
    /// This attempt, found in these runs, is going to be confirmed.
    Confirming(Id, PlannedConfirmation, BTreeSet<Id>),
    /// This attempt ended, after these runs.
    Ended(Id, AttemptEnd, BTreeSet<Id>),
}

impl AttemptNote {
    /// Returns the annotation of a campaign.
    ///
    /// # Errors
    /// When a number is not finite.
    pub fn annotation(
        &self,
        campaign: &str,
        id: Id,
        at: Timestamp,
        by: &str,
    ) -> serde_json::Result<Annotation> {
        let (action, attempt, mut extra, runs) = match self {
            Self::Begun(tried, runs) => (BEGUN, None, serde_json::to_value(tried)?, runs),
            Self::Confirming(attempt, planned, runs) => {
                let planned = serde_json::to_value(planned)?;
                (CONFIRMING, Some(attempt), planned, runs)
            }
            Self::Ended(attempt, end, runs) => {
                (ENDED, Some(attempt), serde_json::to_value(end)?, runs)
            }
        };
        if !runs.is_empty() {
            extra[RUNS] = serde_json::to_value(runs)?;
        }
        let mut target = Object::new();
        target.insert("campaign".to_owned(), campaign.into());
        if let Some(attempt) = attempt {
            target.insert("attempt".to_owned(), attempt.to_string().into());
        }
        Ok(Annotation {
            id,
            at,
            by: by.to_owned(),
            action: action.to_owned(),
            target,
            reason: None,
            extra: serde_json::from_value(extra)?,
        })
    }
}

impl Campaign {
    /// Returns whether an annotation is a note of an attempt.
    #[must_use]
    pub fn has_noted(annotation: &Annotation) -> bool {
        [BEGUN, CONFIRMING, ENDED].contains(&annotation.action.as_str())
    }

    /// Returns all campaigns by name.
    ///
    /// What is noted cannot be undone: an attempt that is forgotten would count as one that was never made.
    #[must_use]
    pub fn all(remarks: &[Remark]) -> Vec<Self> {
        let annotations = || remarks.iter().map(|remark| &remark.annotation);
        let mut campaigns: Vec<Self> = Vec::new();
        for annotation in annotations().filter(|it| it.action == BEGUN) {
            let (Some(name), Some(tried)) = (text(annotation, "campaign"), extra(annotation))
            else {
                continue;
            };
            let attempt = Attempt {
                id: annotation.id,
                at: annotation.at,
                by: annotation.by.clone(),
                tried,
                runs: runs(annotation),
                confirmation: None,
                end: None,
            };
            match campaigns.iter_mut().find(|it| it.name == name) {
                Some(campaign) => campaign.attempts.push(attempt),
                None => campaigns.push(Self {
                    name: name.to_owned(),
                    attempts: vec![attempt],
                    confirmations: Vec::new(),
                }),
            }
        }
        for annotation in annotations() {
            let id = text(annotation, "attempt").and_then(|it| it.parse::<Id>().ok());
            let campaign = text(annotation, "campaign");
            let campaign = campaigns.iter_mut().find(|it| Some(&*it.name) == campaign);
            let (Some(id), Some(campaign)) = (id, campaign) else {
                continue;
            };
            let Some(attempt) = campaign.attempts.iter_mut().find(|it| it.id == id) else {
                continue;
            };
            attempt.runs.extend(runs(annotation));
            match annotation.action.as_str() {
                CONFIRMING if attempt.confirmation.is_none() => {
                    attempt.confirmation = extra(annotation);
                    let order = (annotation.at, annotation.id);
                    campaign.confirmations.push((order, id));
                }
                // The first outcome counts.
                ENDED if attempt.end.is_none() => attempt.end = extra(annotation),
                _ => {}
            }
        }
        campaigns.sort_by(|one, other| one.name.cmp(&other.name));
        campaigns
    }

    /// Returns the campaign of a name, without attempts if it is new.
    #[must_use]
    pub fn named(name: &str, remarks: &[Remark]) -> Self {
        let found = Self::all(remarks).into_iter().find(|it| it.name == name);
        found.unwrap_or_else(|| Self {
            name: name.to_owned(),
            attempts: Vec::new(),
            confirmations: Vec::new(),
        })
    }

    /// Returns whether some of these runs had a part in one of its attempts.
    #[must_use]
    pub fn has_used(&self, runs: &BTreeSet<Id>) -> bool {
        let mut attempts = self.attempts.iter();
        attempts.any(|it| !it.runs.is_disjoint(runs))
    }

    /// Returns the stream of its confirmations. One that is under way has found nothing yet.
    #[must_use]
    pub fn stream(&self) -> TestStream {
        let mut stream = TestStream::new(FALSE_SHARE);
        for (_, id) in &self.confirmations {
            let attempt = self.attempts.iter().find(|it| it.id == *id);
            let outcome = attempt.and_then(|it| Some(it.end?.outcome));
            stream.add(outcome == Some(AttemptOutcome::Accepted));
        }
        stream
    }
}

fn text<'a>(annotation: &'a Annotation, key: &str) -> Option<&'a str> {
    annotation.target.get(key)?.as_str()
}

fn runs(annotation: &Annotation) -> BTreeSet<Id> {
    let runs = annotation.extra.get(RUNS);
    runs.and_then(|it| BTreeSet::deserialize(it).ok())
        .unwrap_or_default()
}

fn extra<T: DeserializeOwned>(annotation: &Annotation) -> Option<T> {
    T::deserialize(serde_json::Value::Object(annotation.extra.clone())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(command: &str) -> TriedChange {
        TriedChange {
            session: Some("s".to_owned()),
            candidate: "the working tree".to_owned(),
            baseline: "main".to_owned(),
            commit: None,
            patch: Some("p".to_owned()),
            command: command.to_owned(),
            benchmark: "b".to_owned(),
            metric: "wall_time".to_owned(),
            smallest_effect: 0.05,
        }
    }

    fn end(outcome: AttemptOutcome) -> AttemptEnd {
        AttemptEnd {
            outcome,
            first: None,
            second: None,
            seconds: Some(1.5),
        }
    }

    /// Returns the annotations of notes, a second apart.
    fn noted(notes: &[(&str, AttemptNote)]) -> Vec<Remark> {
        let annotations = notes.iter().enumerate().map(|(place, (campaign, note))| {
            let at = Timestamp::from_second(i64::try_from(place).unwrap()).unwrap();
            note.annotation(campaign, id(place), at, "ada").unwrap()
        });
        Remark::all(annotations.collect())
    }

    fn id(place: usize) -> Id {
        let text = format!("00000000-0000-7000-8000-{place:012}");
        text.parse().unwrap()
    }

    fn runs(places: &[usize]) -> BTreeSet<Id> {
        places.iter().map(|it| id(*it)).collect()
    }

    #[test]
    fn campaigns_are_read_from_what_was_noted() {
        let planned = PlannedConfirmation {
            level: 0.01,
            instances: 12,
            first: MeasuredRatio {
                ratio: 0.9,
                lower: Some(0.8),
                upper: Some(0.95),
                p_value: 0.01,
                instances: [5, 5],
            },
        };
        let notes = [
            ("one", AttemptNote::Begun(tried("a"), runs(&[]))),
            ("one", AttemptNote::Confirming(id(0), planned, runs(&[7]))),
            ("two", AttemptNote::Begun(tried("b"), runs(&[]))),
            ("one", AttemptNote::Begun(tried("c"), runs(&[]))),
            ("one", AttemptNote::Confirming(id(3), planned, runs(&[]))),
            (
                "one",
                AttemptNote::Ended(id(0), end(AttemptOutcome::Accepted), runs(&[8])),
            ),
            // A second outcome does not replace the first.
            (
                "one",
                AttemptNote::Ended(id(0), end(AttemptOutcome::NotConfirmed), runs(&[])),
            ),
            (
                "two",
                AttemptNote::Ended(id(2), end(AttemptOutcome::Slower), runs(&[])),
            ),
        ];
        let remarks = noted(&notes);
        let names = Campaign::all(&remarks);
        let names: Vec<&str> = names.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["one", "two"]);

        let one = Campaign::named("one", &remarks);
        let outcomes = one.attempts.iter().map(|it| it.end.map(|end| end.outcome));
        let outcomes: Vec<_> = outcomes.collect();
        assert_eq!(outcomes, [Some(AttemptOutcome::Accepted), None]);
        assert_eq!(one.attempts[0].confirmation, Some(planned));
        assert_eq!(one.attempts[1].tried, tried("c"));
        // What found it and what confirmed it is used.
        assert!(one.has_used(&runs(&[7, 9])) && one.has_used(&runs(&[8])));
        assert!(!one.has_used(&runs(&[9])));
        // The one under way counts as a test that found nothing.
        let mut stream = TestStream::new(FALSE_SHARE);
        stream.add(true);
        stream.add(false);
        assert_eq!(one.stream(), stream);

        let two = Campaign::named("two", &remarks);
        assert_eq!(two.stream(), TestStream::new(FALSE_SHARE));
        assert_eq!(two.attempts[0].end, Some(end(AttemptOutcome::Slower)));
        assert!(Campaign::named("three", &remarks).attempts.is_empty());
    }
}
