//! How many repetitions at which level: Kalibera and Jones.

/// Returns how many iterations an instance should have, for the narrowest interval at a given total
/// cost.
///
/// √((c_instance / c_iteration) · σ_W² / σ_B²), rounded up and at least 1. `instance_cost` is what one more
/// instance costs besides its iterations that count: its start and its burn-in; both costs in one unit.
/// `None` when σ_B² or a cost is not positive: then no number of iterations is too many.
///
/// Source: Kalibera & Jones 2013, §6.
///
/// ```
/// assert_eq!(lapwing_stats::best_iterations(4.0, 1.0, 16.0, 1.0), Some(8));
/// ```
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number; of too large ones the largest is meant"
)]
pub fn best_iterations(within: f64, between: f64, instance_cost: f64, cost: f64) -> Option<usize> {
    let all = [between, instance_cost, cost];
    if !all.iter().all(|number| *number > 0.0 && number.is_finite()) || within < 0.0 {
        return None;
    }
    let best = (instance_cost / cost * within / between).sqrt();
    best.is_finite().then(|| (best.ceil() as usize).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_spread_between_no_number_of_iterations_is_best() {
        assert_eq!(best_iterations(1.0, 0.0, 1.0, 1.0), None);
        assert_eq!(best_iterations(0.0, 1.0, 1.0, 1.0), Some(1));
        assert_eq!(best_iterations(1.0, f64::NAN, 1.0, 1.0), None);
    }
}
