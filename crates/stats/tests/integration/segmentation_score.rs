//! Scores of change points against those that several people marked, as TCPDBench defines them.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::as_f64;

/// The first indices of the segments that each person marked in one series.
pub type Annotations = BTreeMap<String, Vec<usize>>;

/// Returns how many of `marked` are found within `margin`, each by a point of its own: in
/// rising order, by the nearest point, of two equally near ones the earlier.
fn true_positives(marked: &BTreeSet<usize>, found: &BTreeSet<usize>, margin: usize) -> f64 {
    let mut left = found.clone();
    let mut count = 0.0;
    for point in marked {
        let near = left.iter().filter(|it| it.abs_diff(*point) <= margin);
        if let Some(nearest) = near.min_by_key(|it| it.abs_diff(*point)).copied() {
            left.remove(&nearest);
            count += 1.0;
        }
    }
    count
}

/// Returns F₁ = 2PR / (P + R), where index 0 counts as a change point: P against the marks of all
/// people, R the mean of those against each person.
///
/// Source: van den Burg & Williams, "An evaluation of change point detection algorithms",
/// arXiv 2003.06222.
pub fn f1(annotations: &Annotations, found: &[usize], margin: usize) -> f64 {
    let with_start = |points: &[usize]| points.iter().copied().chain([0]).collect();
    let found: BTreeSet<usize> = with_start(found);
    let people: Vec<BTreeSet<usize>> = annotations.values().map(|it| with_start(it)).collect();
    let union = people.iter().flatten().copied().collect();
    let precision = true_positives(&union, &found, margin) / as_f64(found.len());
    let recall =
        |marked: &BTreeSet<usize>| true_positives(marked, &found, margin) / as_f64(marked.len());
    let recall = people.iter().map(recall).sum::<f64>() / as_f64(people.len());
    precision * recall / (0.5 * recall + 0.5 * precision)
}

/// Returns the segments between the points of a series of `length` values.
fn segments(points: &[usize], length: usize) -> Vec<(usize, usize)> {
    let inside = points.iter().copied().filter(|it| (1..length).contains(it));
    let bounds: BTreeSet<usize> = inside.chain([0, length]).collect();
    let bounds: Vec<usize> = bounds.into_iter().collect();
    bounds.windows(2).map(|it| (it[0], it[1])).collect()
}

/// Returns the covering of the marked segments by the found ones: 1/n Σ |A| max |A ∩ B| / |A ∪ B|, the mean over
/// all people.
pub fn covering(annotations: &Annotations, found: &[usize], length: usize) -> f64 {
    let found = segments(found, length);
    let best = |&(start, end): &(usize, usize)| {
        let overlap = |&(from, to): &(usize, usize)| {
            let common = end.min(to).saturating_sub(start.max(from));
            as_f64(common) / as_f64(end.max(to) - start.min(from))
        };
        as_f64(end - start) * found.iter().map(overlap).fold(0.0, f64::max)
    };
    let person = |marked: &Vec<usize>| {
        segments(marked, length).iter().map(best).sum::<f64>() / as_f64(length)
    };
    annotations.values().map(person).sum::<f64>() / as_f64(annotations.len())
}

#[test]
fn scores_are_those_of_the_doctests_of_tcpdbench() {
    let people = |marks: &[&[usize]]| -> Annotations {
        let person = |(at, marks): (usize, &&[usize])| (at.to_string(), marks.to_vec());
        marks.iter().enumerate().map(person).collect()
    };
    let four = people(&[&[10, 20], &[11, 20], &[10], &[0, 5]]);
    let three = people(&[&[], &[10], &[50]]);
    for (annotations, found, expected) in [
        (&four, vec![10, 20], 1.0),
        (&three, vec![10], 0.909_090_909_090_909_1),
        (&three, vec![], 0.8),
    ] {
        let score = f1(annotations, &found, 5);
        assert!((score - expected).abs() < 1e-12, "{score} {expected}");
    }
    let three_others = people(&[&[10, 20], &[10], &[0, 5]]);
    let one_later = people(&[&[], &[10], &[40]]);
    for (annotations, found, expected) in [
        (&three_others, vec![10, 20], 0.796_296_296_296_296_3),
        (&one_later, vec![10], 0.795_414_462_081_128_6),
        (&one_later, vec![], 0.818_930_041_152_263_4),
    ] {
        let score = covering(annotations, &found, 45);
        assert!((score - expected).abs() < 1e-12, "{score} {expected}");
    }
}
