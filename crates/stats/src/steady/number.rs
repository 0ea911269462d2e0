//! Numbers of iterations as real numbers and back.

#[expect(clippy::cast_precision_loss, reason = "no series has 2^53 values")]
pub(super) fn real(number: usize) -> f64 {
    number as f64
}

/// Rounds down; what is negative or no number is 0.
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
    whole((real(number) * share).ceil())
}
