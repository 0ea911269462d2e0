//! The best segmentations for a whole range of penalties.

use super::{SegmentCost, Segmentation, pelt};

use crate::number::as_f64;

/// The segmentation that is best for a range of penalties.
#[derive(Debug, Clone, PartialEq)]
pub struct PenaltyRange {
    /// The smallest penalty for which it is the best.
    pub from: f64,
    /// The segmentation.
    pub best: Segmentation,
}

/// Returns every segmentation that is the best for some penalty between `smallest` and
/// `largest`, the one with most change points first.
///
/// Change points for a range of penalties (Haynes, Eckley & Fearnhead, *JCGS* 2017): the
/// penalised cost is linear in the penalty, so two segmentations with a and b change
/// points change places at (Q_b − Q_a) / (a − b), and nothing lies between them when
/// the best one there has as many change points as one of the two. A range begins where the
/// segmentation before it stops being the best, and the first at `smallest`.
pub fn crops(
    cost: &impl SegmentCost,
    smallest: f64,
    largest: f64,
    shortest: usize,
) -> Vec<PenaltyRange> {
    let most = pelt(cost, smallest, shortest);
    let fewest = pelt(cost, largest, shortest);
    let mut found = Vec::new();
    between(cost, shortest, &most, &fewest, &mut found);
    found.extend([most, fewest]);
    // What was found at several penalties is the same but for rounding: the cheapest stays.
    found.sort_by(|one, other| {
        let changes = |it: &Segmentation| it.change_points.len();
        let by_changes = changes(other).cmp(&changes(one));
        by_changes.then(one.cost.total_cmp(&other.cost))
    });
    found.dedup_by_key(|it| it.change_points.len());
    let mut ranges: Vec<PenaltyRange> = Vec::with_capacity(found.len());
    for best in found {
        let from = ranges
            .last()
            .map_or(smallest, |last| crossing(&last.best, &best));
        ranges.push(PenaltyRange { from, best });
    }
    ranges
}

/// Adds what lies between two segmentations.
fn between(
    cost: &impl SegmentCost,
    shortest: usize,
    many: &Segmentation,
    few: &Segmentation,
    found: &mut Vec<Segmentation>,
) {
    let changes = |it: &Segmentation| it.change_points.len();
    if changes(many) <= changes(few) + 1 {
        return;
    }
    let middle = pelt(cost, crossing(many, few), shortest);
    if changes(few) < changes(&middle) && changes(&middle) < changes(many) {
        between(cost, shortest, many, &middle, found);
        between(cost, shortest, &middle, few, found);
    }
    found.push(middle);
}

/// The penalty at which both cost the same.
fn crossing(many: &Segmentation, few: &Segmentation) -> f64 {
    let fewer = many.change_points.len() - few.change_points.len();
    (few.cost - many.cost) / as_f64(fewer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changepoint::NormalMean;

    const STEPS: [f64; 14] = [
        9.0, 9.2, 8.9, 5.0, 5.2, 5.1, 4.9, 2.0, 2.3, 1.9, 2.1, 2.6, 2.5, 2.7,
    ];

    #[test]
    fn every_penalty_of_the_range_has_its_segmentation() {
        let cost = NormalMean::new(&STEPS, 1.0);
        let ranges = crops(&cost, 0.02, 100.0, 2);
        for step in 0..200 {
            let penalty = 0.021 * 1.04_f64.powi(step);
            if penalty > 100.0 {
                break;
            }
            let here = ranges
                .iter()
                .rfind(|range| range.from <= penalty)
                .expect("from the smallest on");
            let best = pelt(&cost, penalty, 2);
            assert_eq!(here.best.change_points, best.change_points, "{penalty}");
            assert!((here.best.cost - best.cost).abs() < 1e-9, "{penalty}");
        }
        let changes: Vec<usize> = ranges
            .iter()
            .map(|range| range.best.change_points.len())
            .collect();
        assert!(
            changes.windows(2).all(|pair| pair[0] > pair[1]),
            "{changes:?}"
        );
        assert_eq!(changes.last(), Some(&0));
    }

    #[test]
    fn a_range_that_changes_nothing_is_one() {
        let ranges = crops(&NormalMean::new(&STEPS, 1.0), 1e6, 1e7, 2);
        assert_eq!(ranges.len(), 1);
        assert_eq!(ranges[0].best.change_points, Vec::<usize>::new());
    }
}
