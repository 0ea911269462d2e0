//! The elbow of a curve.

use crate::number::as_f64;

/// Returns the index of the elbow of a falling, convex curve, as `kneed` finds it; `None`
/// when there is none.
///
/// Kneedle (Satopää et al., ICDCS workshops 2011) with sensitivity 1 and without
/// smoothing: both axes scaled to 0…1, d = (1 − y) − x, and the elbow is the first local
/// maximum of d after which d falls by more than the mean distance of neighbouring x, before
/// it rises again. The points are taken in the given order, which need not be that of x:
/// who gives them from the largest x to the smallest finds the elbow from that side.
pub fn elbow(points: &[(f64, f64)]) -> Option<usize> {
    let x = scaled(points.iter().map(|point| point.0))?;
    let y = scaled(points.iter().map(|point| point.1))?;
    let difference: Vec<f64> = x.iter().zip(&y).map(|(x, y)| (1.0 - y) - x).collect();
    let last = difference.len() - 1;
    let fall = ((x[last] - x[0]) / as_f64(last)).abs();
    let mut watched: Option<(usize, f64)> = None;
    for at in 0..last {
        let here = difference[at];
        let (left, right) = (difference[at.saturating_sub(1)], difference[at + 1]);
        if here >= left && here >= right {
            watched = Some((at, here - fall));
        }
        if here <= left && here <= right {
            watched = watched.map(|(maximum, _)| (maximum, 0.0));
        }
        if let Some((maximum, threshold)) = watched
            && right < threshold
        {
            return Some(maximum);
        }
    }
    None
}

/// Scales to 0…1; `None` if there are no two different values.
fn scaled(values: impl Iterator<Item = f64> + Clone) -> Option<Vec<f64>> {
    let smallest = values.clone().fold(f64::INFINITY, f64::min);
    let largest = values.clone().fold(f64::NEG_INFINITY, f64::max);
    let width = largest - smallest;
    (width > 0.0).then(|| values.map(|value| (value - smallest) / width).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    // kneed 0.9.0: KneeLocator(x, y, S=1.0, curve="convex", direction="decreasing").elbow
    const CURVE: [(f64, f64); 10] = [
        (1.0, 100.0),
        (2.0, 52.0),
        (3.0, 30.0),
        (4.0, 20.0),
        (5.0, 15.0),
        (6.0, 12.0),
        (7.0, 10.0),
        (8.0, 9.0),
        (9.0, 8.5),
        (10.0, 8.2),
    ];
    const PENALTIES: [(f64, f64); 7] = [
        (40.0, 30.0),
        (60.0, 21.0),
        (95.0, 14.0),
        (130.0, 9.0),
        (400.0, 4.0),
        (2000.0, 2.0),
        (9000.0, 0.0),
    ];

    #[test]
    fn elbows_are_those_of_kneed_from_both_sides() {
        for (curve, elbow_at) in [(CURVE.as_slice(), 3.0), (PENALTIES.as_slice(), 400.0)] {
            let mut points = curve.to_vec();
            assert_eq!(elbow(&points).map(|at| points[at].0), Some(elbow_at));
            points.reverse();
            assert_eq!(elbow(&points).map(|at| points[at].0), Some(elbow_at));
        }
    }

    #[test]
    fn a_line_and_a_point_have_no_elbow() {
        assert_eq!(elbow(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), None);
        assert_eq!(elbow(&[(1.0, 3.0)]), None);
        assert_eq!(elbow(&[]), None);
    }
}
