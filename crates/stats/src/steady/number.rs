//! Shares of numbers of iterations.

use crate::number::as_f64;

/// Rounds down; negative values and NaN become 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` keeps it in range"
)]
pub(super) fn whole(number: f64) -> usize {
    number as usize
}

/// Rounds a share of a number up.
pub(super) fn share(number: usize, share: f64) -> usize {
    whole((as_f64(number) * share).ceil())
}
