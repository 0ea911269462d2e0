//! Copies of inputs that tasks wait for.

use super::{Candidate, Cause, Model};
use crate::replay::{Changes, WithoutCopies};

/// Returns candidates of copies: of redundant ones, and of all others.
pub(super) fn copies(model: &Model<'_>) -> Vec<Candidate> {
    let sums = model.replay.copy_sums();
    let without = |copies| Changes {
        copies: Some(copies),
        ..Changes::default()
    };
    let mut candidates = Vec::new();
    if let (copies @ 1.., sum) = sums.redundant {
        let cause = Cause::RedundantCopies { copies, sum };
        candidates.push(Candidate::new(3, cause, without(WithoutCopies::Redundant)));
    }
    if let (copies @ 1.., sum) = sums.needed {
        let cause = Cause::Copies {
            copies,
            sum,
            avoidable: sums.avoidable,
        };
        candidates.push(Candidate::new(5, cause, without(WithoutCopies::Needed)));
    }
    candidates
}
