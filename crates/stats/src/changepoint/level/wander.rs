//! Steps that a series needs, told from those that follow its wandering.

use crate::number::as_f64;

/// Returns the steps at these indices that a description of the scores needs besides the autocorrelation of the noise,
/// eᵢ = ρ eᵢ₋₁ + ε around levels with steps: they are dropped one by one, each time the one that is missed least, and
/// the best of all these descriptions wins.
///
/// Steps can follow any walk, the more of them the better: a series without levels would have many changes, and
/// none of them a cause.
pub(super) fn needed(scores: &[f64], steps: &[usize]) -> Vec<usize> {
    let mut fewer = steps.to_vec();
    let mut best = (f64::INFINITY, steps.to_vec());
    while !fewer.is_empty() {
        let all = criterion(scores, &fewer);
        if all < best.0 {
            best = (all, fewer.clone());
        }
        let without = |at: usize| {
            let mut fewer = fewer.clone();
            fewer.remove(at);
            fewer
        };
        let candidates = (0..fewer.len()).map(without);
        let candidates = candidates.map(|steps| (criterion(scores, &steps), steps));
        let Some((lowest, steps)) = candidates.min_by(|one, other| one.0.total_cmp(&other.0))
        else {
            break;
        };
        if steps.is_empty() && lowest < best.0 {
            return steps;
        }
        fewer = steps;
    }
    best.1
}

/// Returns how badly levels with steps and autocorrelated noise around them describe the scores, allowing for the
/// number of steps m and the lengths of the segments nₛ: n ln(RSS / n) + 3 m ln n + Σ ln(nₛ / n).
///
/// Source: the modified Bayes information criterion of Zhang & Siegmund, *Biometrics* 2007.
fn criterion(scores: &[f64], steps: &[usize]) -> f64 {
    let mut around = Vec::with_capacity(scores.len());
    let mut shares = 0.0;
    let mut start = 0;
    for end in steps.iter().copied().chain([scores.len()]) {
        let part = &scores[start..end];
        let level = part.iter().sum::<f64>() / as_f64(part.len());
        shares += (as_f64(part.len()) / as_f64(scores.len())).ln();
        around.extend(part.iter().map(|score| score - level));
        start = end;
    }
    let sum = |product: fn(f64, f64) -> f64| -> f64 {
        around
            .windows(2)
            .map(|pair| product(pair[0], pair[1]))
            .sum()
    };
    let squares = sum(|before, _| before * before);
    let autocorrelation = if squares > 0.0 {
        sum(|before, after| before * after) / squares
    } else {
        0.0
    };
    let rss: f64 = around
        .windows(2)
        .map(|pair| (pair[1] - autocorrelation * pair[0]).powi(2))
        .sum();
    let count = as_f64(scores.len() - 1);
    count * (rss / count).max(1e-30).ln() + 3.0 * as_f64(steps.len()) * count.ln() + shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changepoint::level::testing::{Noise, series};
    use crate::changepoint::level::{LevelOptions, level_changes};

    fn found(values: &[f64]) -> Vec<usize> {
        let found = level_changes(values, &LevelOptions::default()).changes;
        found.iter().map(|change| change.index).collect()
    }

    #[test]
    fn walks_have_few_steps() {
        let walk = |seed| {
            let mut at = 0.0;
            let steps = series(Noise::Normal, 200, seed);
            let walk = steps.iter().map(|step| {
                at += step;
                at
            });
            walk.collect::<Vec<f64>>()
        };
        let with_steps = (0..100).filter(|seed| !found(&walk(*seed)).is_empty());
        assert!(with_steps.count() <= 10);
    }

    #[test]
    fn steps_that_stand_out_of_wandering_noise_stay() {
        let kept = (0..50).filter(|seed| {
            let mut values = series(Noise::Autocorrelated(0.8), 200, *seed);
            for value in &mut values[100..] {
                *value += 6.0;
            }
            found(&values).iter().any(|step| step.abs_diff(100) <= 2)
        });
        assert!(kept.count() >= 45);
    }

    #[test]
    fn a_step_that_nothing_speaks_for_goes() {
        let mut values = series(Noise::Normal, 100, 1);
        for value in &mut values[50..] {
            *value += 5.0;
        }
        assert_eq!(needed(&values, &[20, 50]), [50]);
        assert_eq!(needed(&values, &[]), [0_usize; 0]);
    }
}
