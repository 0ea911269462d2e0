//! Principal components: the directions in which observations differ most.

use crate::cholesky::dot;
use crate::mean;
use crate::number::as_f64;

/// One principal component.
#[derive(Debug, Clone, PartialEq)]
pub struct PrincipalComponent {
    /// The variance of the scores (n − 1 in the denominator).
    pub variance: f64,
    /// The share of all variance.
    pub share: f64,
    /// The weight of each column; the squares sum to 1, and the largest weight is positive.
    pub loadings: Vec<f64>,
    /// The position of each observation along the component.
    pub scores: Vec<f64>,
}

/// Returns the principal components of observations, the one with the largest variance first.
///
/// Of the n × p matrix of centred columns, the singular value decomposition U D Vᵀ: loadings V, scores U D, variances
/// D² / (n − 1). By one-sided Jacobi rotations, which keep the digits of small components. As many components as
/// columns, or n − 1 if that is less.
///
/// `observations` are rows of equal length with the same column order and unit, such as the deltas of all factors in
/// one sequence. The sign is fixed by the largest loading, the first of equals. `None` with fewer than two
/// observations, rows of different length, values that are not finite, or without any variance.
///
/// Source: Jolliffe, *Principal Component Analysis* 2002; Hestenes, *Journal of the SIAM* 1958.
///
/// ```
/// let rows: [&[f64]; 3] = [&[1.0, 2.0], &[2.0, 4.0], &[3.0, 6.0]];
/// let components = lapwing_stats::principal_components(&rows).expect("varies");
/// assert!((components[0].share - 1.0).abs() < 1e-12 && (components[0].variance - 5.0).abs() < 1e-12);
/// ```
pub fn principal_components(observations: &[&[f64]]) -> Option<Vec<PrincipalComponent>> {
    let width = observations.first()?.len();
    let fits = |row: &&[f64]| row.len() == width && row.iter().all(|value| value.is_finite());
    if observations.len() < 2 || !observations.iter().all(fits) {
        return None;
    }
    let mut columns: Vec<Vec<f64>> = (0..width)
        .map(|column| observations.iter().map(|row| row[column]).collect())
        .collect();
    for column in &mut columns {
        let centre = mean(column)?;
        column.iter_mut().for_each(|value| *value -= centre);
    }
    let mut rotation = vec![vec![0.0; width]; width];
    for (at, row) in rotation.iter_mut().enumerate() {
        row[at] = 1.0;
    }
    orthogonalise(&mut columns, &mut rotation);
    let total: f64 = columns.iter().map(|column| dot(column, column)).sum();
    if total <= 0.0 {
        return None;
    }
    let mut components: Vec<PrincipalComponent> = columns
        .into_iter()
        .zip(rotation)
        .map(|(scores, loadings)| component(scores, loadings, total))
        .collect();
    components.sort_by(|one, other| other.variance.total_cmp(&one.variance));
    components.truncate(width.min(observations.len() - 1));
    Some(components)
}

/// Rotates pairs of columns, and the unit matrix with them, until all are orthogonal.
fn orthogonalise(columns: &mut [Vec<f64>], rotation: &mut [Vec<f64>]) {
    let total: f64 = columns.iter().map(|column| dot(column, column)).sum();
    for _ in 0..60 {
        let mut is_done = true;
        for one in 0..columns.len() {
            for other in one + 1..columns.len() {
                let [a, b] = [one, other].map(|at| dot(&columns[at], &columns[at]));
                let cross = dot(&columns[one], &columns[other]);
                // Between columns of rounding errors there is no angle.
                if cross.abs() <= 1e-15 * (a * b).sqrt() || cross.abs() <= 1e-30 * total {
                    continue;
                }
                is_done = false;
                let (cosine, sine) = angle(a, b, cross);
                rotate(columns, one, other, cosine, sine);
                rotate(rotation, one, other, cosine, sine);
            }
        }
        if is_done {
            return;
        }
    }
}

/// Returns cosine and sine of the rotation that makes two columns orthogonal.
fn angle(a: f64, b: f64, cross: f64) -> (f64, f64) {
    let half = (b - a) / (2.0 * cross);
    let tangent = half.signum() / (half.abs() + half.hypot(1.0));
    let cosine = tangent.hypot(1.0).recip();
    (cosine, cosine * tangent)
}

fn rotate(vectors: &mut [Vec<f64>], one: usize, other: usize, cosine: f64, sine: f64) {
    let (front, back) = vectors.split_at_mut(other);
    for (a, b) in front[one].iter_mut().zip(&mut back[0]) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
}

fn component(mut scores: Vec<f64>, mut loadings: Vec<f64>, total: f64) -> PrincipalComponent {
    // Equal loadings differ by rounding; the first of them decides.
    let sizes = || loadings.iter().map(|loading| loading.abs());
    let largest = sizes().fold(0.0, f64::max);
    let first = loadings
        .iter()
        .find(|loading| loading.abs() >= largest * (1.0 - 1e-9));
    if first.is_some_and(|loading| *loading < 0.0) {
        for value in scores.iter_mut().chain(&mut loadings) {
            *value = -*value;
        }
    }
    let square = dot(&scores, &scores);
    PrincipalComponent {
        variance: square / as_f64(scores.len() - 1),
        share: square / total,
        loadings,
        scores,
    }
}
