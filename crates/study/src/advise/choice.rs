//! The choice of a stack.

use lapwing_stats::as_f64;

use super::evidence::{PairEffect, StackChange, StackExpectation, VersionEffect};
use super::model::StackModel;

/// A loss of the goal that a balanced choice accepts for newer versions.
const BALANCED_LOSS: f64 = 0.02;

/// Which stack is advised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdviceKind {
    /// The best expected goal.
    Performance,
    /// The latest version of each package.
    Latest,
    /// The best expected goal among measured stacks that never failed.
    Stable,
    /// The latest versions among measured stacks that never failed and are expected to be at most 2 % worse than the
    /// best of them.
    Balanced,
}

/// A stack with its evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The advised stack.
    pub kind: AdviceKind,
    /// The stack.
    pub advised: StackExpectation,
    /// Comparisons with `latest`, `locked` and the `runner-up`, or else the `best`: the name, the other stack, and
    /// the change from it to the advised one.
    pub against: Vec<(&'static str, StackExpectation, StackChange)>,
    /// The packages that change from the locked stack, or else from the latest one.
    pub drivers: Vec<VersionEffect>,
    /// Pairs of them that interact.
    pub interactions: Vec<PairEffect>,
    /// The candidates with the best expected goal, the best first.
    pub best: Vec<StackExpectation>,
    /// The number of candidates that cannot be distinguished from the advised one.
    pub alike: usize,
}

/// Why there is no advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAdvice {
    /// Every measured candidate failed at least once.
    #[error("every measured stack that fulfils the requirements failed at least once")]
    NoneStable,
}

/// So many of the best stacks are listed.
const LISTED: usize = 10;

impl AdviceKind {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Performance => "performance",
            Self::Latest => "latest",
            Self::Stable => "stable",
            Self::Balanced => "balanced",
        }
    }
}

impl Advice {
    /// Chooses a stack, and compares it with the locked one, if given.
    ///
    /// # Errors
    /// When no stack is of the kind.
    pub fn new(
        model: &StackModel<'_>,
        kind: AdviceKind,
        locked: Option<&[usize]>,
    ) -> Result<Self, NoAdvice> {
        let mut ranked: Vec<(f64, &Vec<usize>)> = model
            .candidates
            .iter()
            .map(|stack| (model.worth(stack), stack))
            .collect();
        ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
        let ranked: Vec<&Vec<usize>> = ranked.into_iter().map(|own| own.1).collect();
        let latest = newest(model, ranked.iter().copied());
        let stack = match kind {
            AdviceKind::Performance => ranked.first().copied(),
            AdviceKind::Latest => latest,
            AdviceKind::Stable => ranked.iter().find(|own| is_stable(model, own)).copied(),
            AdviceKind::Balanced => balanced(model, &ranked),
        };
        let stack = stack.ok_or(NoAdvice::NoneStable)?;
        let runner_up = ranked.iter().find(|own| **own != stack).copied();
        let is_first = ranked.first().is_some_and(|own| *own == stack);
        let others = [
            ("latest", latest.map(Vec::as_slice)),
            ("locked", locked),
            (
                if is_first { "runner-up" } else { "best" },
                runner_up.map(Vec::as_slice),
            ),
        ];
        let against = others.into_iter().filter_map(|(name, other)| {
            let other = other.filter(|other| *other != stack.as_slice())?;
            let change = model.against(stack, other);
            Some((name, model.expectation(other), change))
        });
        let from = locked.or(latest.map(Vec::as_slice)).unwrap_or(stack);
        let is_alike = |other: &&&Vec<usize>| {
            **other != stack && !model.against(stack, other).is_distinguishable()
        };
        Ok(Self {
            kind,
            advised: model.expectation(stack),
            against: against.collect(),
            drivers: model.drivers(stack, from),
            interactions: model.interactions(stack, from),
            best: (ranked.iter().take(LISTED))
                .map(|own| model.expectation(own))
                .collect(),
            alike: ranked.iter().filter(is_alike).count(),
        })
    }
}

/// Returns the candidate whose versions are the latest ones; the first of several.
fn newest<'m>(
    model: &StackModel<'_>,
    stacks: impl Iterator<Item = &'m Vec<usize>>,
) -> Option<&'m Vec<usize>> {
    // Each package counts the same, whatever the number of its versions.
    let age = |stack: &Vec<usize>| -> f64 {
        let levels = stack.iter().zip(&model.data.factors);
        let ages = levels.map(|(level, factor)| {
            let newer = factor.versions.len() - 1 - level;
            as_f64(newer) / as_f64(factor.versions.len())
        });
        ages.sum()
    };
    stacks.min_by(|one, other| age(one).total_cmp(&age(other)))
}

/// Returns whether a stack was measured and never failed.
fn is_stable(model: &StackModel<'_>, stack: &[usize]) -> bool {
    let outcome = model.data.outcomes.get(stack);
    outcome.is_some_and(|own| own.attempts > 0 && own.failures == 0)
}

fn balanced<'m>(model: &StackModel<'_>, ranked: &[&'m Vec<usize>]) -> Option<&'m Vec<usize>> {
    let best = ranked.iter().find(|own| is_stable(model, own))?;
    let worth = model.worth(best);
    let is_near =
        |own: &&&'m Vec<usize>| is_stable(model, own) && model.worth(own) - worth <= BALANCED_LOSS;
    newest(model, ranked.iter().filter(is_near).copied())
}
