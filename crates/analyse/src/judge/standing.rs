//! Whether more instances would answer a comparison.

use lapwing_model::Better;
use lapwing_stats::FutureReplicates;

use super::compare::Comparison;
use super::verdict::{Verdict, VerdictReason};

/// The distance of a comparison from an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Standing {
    /// It has a verdict.
    Answered,
    /// More instances may give one.
    Open,
    /// More instances will hardly give one, with this probability.
    Hopeless(f64),
    /// No number of instances will: a side cannot be measured, or the sides cannot be compared.
    Impossible,
}

/// Below this chance of an answer more instances are not worth their time.
const HOPELESS: f64 = 0.2;

impl Comparison {
    /// Returns whether it found a change.
    pub fn differs(&self) -> bool {
        match self.verdict {
            // Of one process per side, only these runs changed.
            Verdict::Changed => !self.is_one_process(),
            Verdict::Regression | Verdict::Improvement => true,
            Verdict::Inconclusive
            | Verdict::WorseInRuns
            | Verdict::BetterInRuns
            | Verdict::UnchangedInRuns
            | Verdict::Equivalent
            | Verdict::NotMeasured => false,
        }
    }

    /// Returns how much worse it is: the logarithm of the ratio, towards the worse direction.
    pub fn loss(&self) -> f64 {
        let change = self.ratio.map_or(0.0, |ratio| ratio.value.ln());
        match self.metric.better {
            Some(Better::Higher) => -change,
            Some(Better::Lower) | None => change,
        }
    }

    /// Returns how far it is from an answer if it can have `most` instances per side.
    pub fn standing(&self, most: usize) -> Standing {
        match (self.verdict, self.reason) {
            (
                Verdict::Regression | Verdict::Improvement | Verdict::Changed | Verdict::Equivalent,
                _,
            ) => {
                return Standing::Answered;
            }
            (
                _,
                Some(
                    VerdictReason::OnlySummaries
                    | VerdictReason::OtherCentre
                    | VerdictReason::NotPositive { .. }
                    | VerdictReason::Undefined
                    | VerdictReason::NoDirection
                    | VerdictReason::NoBaseline
                    | VerdictReason::NoCandidate
                    | VerdictReason::OtherBenchmark
                    | VerdictReason::OtherUnit
                    | VerdictReason::OtherDirection
                    | VerdictReason::NeverSteady
                    | VerdictReason::NothingLeft { .. },
                ),
            ) => return Standing::Impossible,
            (
                _,
                Some(
                    VerdictReason::FewInstances
                    | VerdictReason::FewSessions { .. }
                    | VerdictReason::TooWide { .. }
                    | VerdictReason::ManyComparisons { .. }
                    | VerdictReason::AllEqual,
                )
                | None,
            ) => {}
        }
        let chance = self.answer.as_ref().map(|answer| {
            let total = FutureReplicates::Total(most);
            answer.test.chance_of_verdict(total, &answer.rule)
        });
        match chance {
            Some(chance) if chance < HOPELESS => Standing::Hopeless(chance),
            Some(_) | None => Standing::Open,
        }
    }
}
