//! The best segmentation for one penalty.

use super::NormalMean;

use crate::number::as_f64;

/// A series cut into segments.
#[derive(Debug, Clone, PartialEq)]
pub struct Segmentation {
    /// The first index of every segment but the first, rising.
    pub change_points: Vec<usize>,
    /// The sum of the segments' costs, without penalties.
    pub cost: f64,
}

/// Returns the segmentation with the smallest cost + penalty · (number of change points),
/// among those whose segments have at least `shortest` values.
///
/// Pruned exact linear time (Killick, Fearnhead & Eckley, *JASA* 2012): F(t) = min over τ of
/// F(τ) + C(τ..t) + β with F(0) = −β, where a τ with F(τ) + C(τ..t) > F(t) need never be looked
/// at again, once t itself may begin a segment. It always finds the optimum. A series
/// shorter than `shortest` is one segment.
///
/// Change points are at the places in `grid` alone, which rises from 0 to the length of the series; with few places a
/// long series is quick.
pub fn pelt_on_grid(
    cost: &NormalMean,
    grid: &[usize],
    penalty: f64,
    shortest: usize,
) -> Segmentation {
    let shortest = shortest.max(1);
    if cost.length() == 0 {
        return Segmentation {
            change_points: Vec::new(),
            cost: 0.0,
        };
    }
    let mut best = vec![f64::INFINITY; grid.len()];
    let mut before = vec![0; grid.len()];
    if let Some(first) = best.first_mut() {
        *first = -penalty;
    }
    let mut candidates: Vec<SegmentStart> = Vec::new();
    let mut waiting = 0;
    for to in 1..grid.len() {
        let end = grid[to];
        while waiting < to && grid[waiting] + shortest <= end {
            if best[waiting].is_finite() {
                candidates.push(SegmentStart {
                    from: waiting,
                    until: usize::MAX,
                    value: 0.0,
                });
            }
            waiting += 1;
        }
        candidates.retain(|candidate| candidate.until > end);
        for candidate in &mut candidates {
            let from = candidate.from;
            candidate.value = best[from] + cost.segment(grid[from], end);
            if candidate.value + penalty < best[to] {
                best[to] = candidate.value + penalty;
                before[to] = from;
            }
        }
        for candidate in &mut candidates {
            if candidate.value > best[to] {
                candidate.until = candidate.until.min(end + shortest);
            }
        }
    }
    let mut change_points = Vec::new();
    let mut at = before.last().copied().unwrap_or(0);
    while at > 0 {
        change_points.push(grid[at]);
        at = before[at];
    }
    change_points.reverse();
    Segmentation {
        cost: match best.last() {
            Some(total) if total.is_finite() => total - penalty * as_f64(change_points.len()),
            _ => cost.segment(0, cost.length()),
        },
        change_points,
    }
}

/// A place where the last segment may begin.
struct SegmentStart {
    from: usize,
    /// From this end on it cannot be the best any more.
    until: usize,
    value: f64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::changepoint::cost::tests::STEPS;

    fn pelt(cost: &NormalMean, penalty: f64, shortest: usize) -> Segmentation {
        let grid: Vec<usize> = (0..=cost.length()).collect();
        pelt_on_grid(cost, &grid, penalty, shortest)
    }

    #[test]
    fn change_points_are_those_of_ruptures() {
        // ruptures 1.1.10: Pelt(model="l2", min_size=2, jump=1).fit(x).predict(pen)
        let level = NormalMean::new(&STEPS, 1.0);
        for (penalty, expected) in [
            (0.1, vec![12, 32, 34, 38, 43, 45, 49]),
            (0.5, vec![12, 49]),
            (30.0, vec![]),
        ] {
            assert_eq!(pelt(&level, penalty, 2).change_points, expected);
        }
    }

    #[test]
    fn a_grid_keeps_change_points_on_it() {
        // The change at 12 leaves a mixed segment between two places.
        let level = NormalMean::new(&STEPS, 1.0);
        let grid: Vec<usize> = (0..=65).step_by(5).collect();
        assert_eq!(
            pelt_on_grid(&level, &grid, 0.5, 2).change_points,
            [10, 15, 50]
        );
    }

    /// The optimum by trying every last change point, without pruning.
    fn optimal_partitioning(cost: &NormalMean, penalty: f64, shortest: usize) -> f64 {
        let n = cost.length();
        let mut best = vec![f64::INFINITY; n + 1];
        best[0] = -penalty;
        for end in shortest..=n {
            for start in 0..=end - shortest {
                best[end] = best[end].min(best[start] + cost.segment(start, end) + penalty);
            }
        }
        best[n]
    }

    fn penalised(segmentation: &Segmentation, penalty: f64) -> f64 {
        let changes = u32::try_from(segmentation.change_points.len()).expect("few");
        segmentation.cost + penalty * f64::from(changes)
    }

    proptest! {
        #[test]
        fn pruning_never_loses_the_optimum(
            values in prop::collection::vec(prop_oneof![0.9..1.1_f64, 1.9..2.1_f64, 0.0..9.0_f64], 8..60),
            penalty in 0.1..40.0_f64,
            shortest in 1..5_usize,
        ) {
            let level = NormalMean::new(&values, 0.01);
            let found = penalised(&pelt(&level, penalty, shortest), penalty);
            let best = optimal_partitioning(&level, penalty, shortest);
            prop_assert!((found - best).abs() < 1e-8 * best.abs().max(1.0), "{found} {best}");
        }

        #[test]
        fn segments_are_as_long_as_asked(
            values in prop::collection::vec(0.0..9.0_f64, 8..60),
            shortest in 1..6_usize,
        ) {
            let changes = pelt(&NormalMean::new(&values, 1.0), 1.0, shortest).change_points;
            let mut ends = vec![0];
            ends.extend(changes);
            ends.push(values.len());
            prop_assert!(ends.windows(2).all(|pair| pair[1] >= pair[0] + shortest), "{ends:?}");
        }
    }

    #[test]
    fn a_series_without_values_or_shorter_than_a_segment_is_whole() {
        let none = pelt(&NormalMean::new(&[], 1.0), 1.0, 2);
        assert_eq!((none.change_points, none.cost), (vec![], 0.0));
        let one = pelt(&NormalMean::new(&[1.0, 9.0], 1.0), 1.0, 3);
        assert_eq!((one.change_points, one.cost), (vec![], 32.0));
    }
}
