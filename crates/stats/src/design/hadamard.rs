//! Plackett–Burman designs: main effects of many treatments in few runs.

/// The largest design: runs are bit masks of up to 127 factors.
const MOST_RUNS: usize = 128;

/// Returns the Plackett–Burman design of so many runs: N sets of N − 1 factors, all pairs of which are balanced.
///
/// For N − 1 prime and ≡ 3 mod 4 its first row is + at 0 and the quadratic residues, and the others are its cyclic
/// shifts and a row of − (for N = 12, 20 and 24 the published rows); else by doubling (Sylvester) or Paley's second
/// construction. N main effects are estimated as well as by one factor in N runs. Each pair of factors is partly
/// aliased with the main effects of all others (by ±1/3 for N = 12): [`fold_over`] frees them.
///
/// The last run has no factor. `None` unless N is a multiple of 4 up to 128 with such a construction (52, 92, 100 and
/// 116 have none).
///
/// Source: Plackett & Burman, *Biometrika* 1946; Paley, *Journal of Mathematics and Physics* 1933.
///
/// ```
/// use lapwing_stats::design::plackett_burman;
/// let runs = plackett_burman(12).expect("cyclic");
/// // ++-+++---+- is the first row.
/// assert_eq!(runs[0], 0b010_0011_1011);
/// assert_eq!(runs[11], 0);
/// ```
pub fn plackett_burman(runs: usize) -> Option<Vec<u128>> {
    let matrix = hadamard(runs)?;
    let last = matrix.last()?.clone();
    let row = |row: &Vec<i8>| {
        // The first column becomes +, and then the last row − in all others.
        let present = |at: usize| row[at] * row[0] != last[at] * last[0];
        (1..runs)
            .filter(|at| present(*at))
            .fold(0, |set, at| set | 1_u128 << (at - 1))
    };
    Some(matrix.iter().map(row).collect())
}

/// Returns the smallest number of runs that has a Plackett–Burman design for so many factors.
///
/// ```
/// use lapwing_stats::design::plackett_burman_runs;
/// assert_eq!(plackett_burman_runs(11), Some(12));
/// assert_eq!(plackett_burman_runs(12), Some(16));
/// ```
pub fn plackett_burman_runs(factors: usize) -> Option<usize> {
    (factors + 1..=MOST_RUNS).find(|runs| *runs >= 4 && hadamard(*runs).is_some())
}

/// Returns a design and its mirror image, each run with exactly the factors that its image has not: main effects are
/// free of all pairs.
///
/// Source: Box & Wilson, *JRSS B* 1951.
///
/// ```
/// use lapwing_stats::design::fold_over;
/// assert_eq!(fold_over(&[0b01, 0b10], 3), [0b001, 0b010, 0b110, 0b101]);
/// ```
pub fn fold_over(runs: &[u128], factors: usize) -> Vec<u128> {
    let all = if factors < 128 {
        (1 << factors) - 1
    } else {
        u128::MAX
    };
    let mirrored = runs.iter().map(|run| !run & all);
    runs.iter().copied().chain(mirrored).collect()
}

/// Returns a matrix of ±1 whose rows are orthogonal.
fn hadamard(size: usize) -> Option<Vec<Vec<i8>>> {
    if size == 1 {
        return Some(vec![vec![1]]);
    }
    if size > MOST_RUNS || (size != 2 && !size.is_multiple_of(4)) {
        return None;
    }
    if is_prime(size - 1) && size.is_multiple_of(4) {
        return Some(cyclic(size - 1));
    }
    if size.is_multiple_of(2)
        && let Some(half) = hadamard(size / 2)
    {
        return Some(doubled(&half));
    }
    let prime = size / 2 - 1;
    (is_prime(prime) && prime % 4 == 1).then(|| second_paley(prime))
}

fn is_prime(number: usize) -> bool {
    number >= 2
        && (2..)
            .take_while(|divisor| divisor * divisor <= number)
            .all(|divisor| !number.is_multiple_of(divisor))
}

/// 0 for 0, 1 for a square modulo the prime, −1 for others.
fn legendre(number: usize, prime: usize) -> i8 {
    match number % prime {
        0 => 0,
        rest if (1..prime).any(|root| root * root % prime == rest) => 1,
        _ => -1,
    }
}

fn cyclic(prime: usize) -> Vec<Vec<i8>> {
    let sign = |at: usize| if legendre(at, prime) >= 0 { 1 } else { -1 };
    let first: Vec<i8> = (0..prime).map(sign).collect();
    let shifted = |by: usize| {
        let row = (0..prime).map(|at| first[(at + prime - by) % prime]);
        [1].into_iter().chain(row).collect()
    };
    let mut rows: Vec<Vec<i8>> = (0..prime).map(shifted).collect();
    rows.push([vec![1], vec![-1; prime]].concat());
    rows
}

fn doubled(half: &[Vec<i8>]) -> Vec<Vec<i8>> {
    let same = half.iter().map(|row| row.repeat(2));
    let opposite = half.iter().map(|row| {
        let negative = row.iter().map(|entry| -entry);
        row.iter().copied().chain(negative).collect()
    });
    same.chain(opposite).collect()
}

/// C ⊗ (+ + / + −) + I ⊗ (+ − / − −) with the symmetric conference matrix C of the prime.
fn second_paley(prime: usize) -> Vec<Vec<i8>> {
    let conference = |row: usize, column: usize| match (row, column) {
        (0, 0) => 0,
        (0, _) | (_, 0) => 1,
        (row, column) => legendre(row + prime - column, prime),
    };
    let entry = |row: usize, column: usize| {
        let (odd_row, odd_column) = (row % 2 == 1, column % 2 == 1);
        if row / 2 == column / 2 {
            if odd_row || odd_column { -1 } else { 1 }
        } else {
            let sign = if odd_row && odd_column { -1 } else { 1 };
            sign * conference(row / 2, column / 2)
        }
    };
    let size = 2 * (prime + 1);
    (0..size)
        .map(|row| (0..size).map(|column| entry(row, column)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_design_is_orthogonal() {
        let mut sizes = Vec::new();
        for runs in (4..=128).step_by(4) {
            let Some(design) = plackett_burman(runs) else {
                continue;
            };
            sizes.push(runs);
            assert_eq!(design.len(), runs);
            assert_eq!(design[runs - 1], 0);
            for one in 0..runs - 1 {
                let present = |factor: usize| move |run: &&u128| *run >> factor & 1 == 1;
                assert_eq!(design.iter().filter(present(one)).count(), runs / 2);
                for other in 0..one {
                    let both = design.iter().filter(present(one)).filter(present(other));
                    assert_eq!(both.count(), runs / 4, "{runs}: {one} {other}");
                }
            }
        }
        let expected: Vec<usize> = (4..=128)
            .step_by(4)
            .filter(|runs| ![52, 92, 100, 116].contains(runs))
            .collect();
        assert_eq!(sizes, expected);
    }

    #[test]
    fn published_rows_are_the_first() {
        for (runs, row) in [
            (12, "++-+++---+-"),
            (20, "++--++++-+-+----++-"),
            (24, "+++++-+-++--++--+-+----"),
        ] {
            let first = plackett_burman(runs).expect("cyclic")[0];
            let signs: String = (0..runs - 1)
                .map(|at| if first >> at & 1 == 1 { '+' } else { '-' })
                .collect();
            assert_eq!(signs, row);
        }
    }

    #[test]
    fn pairs_are_aliased_by_a_third_with_twelve_runs_and_freed_by_folding() {
        let design = plackett_burman(12).expect("cyclic");
        let sign = |run: u128, factor: usize| if run >> factor & 1 == 1 { 1 } else { -1 };
        let correlation = |runs: &[u128]| -> i32 {
            runs.iter()
                .map(|run| sign(*run, 0) * sign(*run, 1) * sign(*run, 2))
                .sum()
        };
        assert_eq!(correlation(&design).abs(), 4);
        assert_eq!(correlation(&fold_over(&design, 11)), 0);
    }
}
