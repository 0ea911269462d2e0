//! Principal components of sequences: which treatments take the place of each other.

use lapwing_stats::deltas::MeasuredSets;
use lapwing_stats::{PrincipalComponent, Seed, principal_components};

use crate::data::StudyData;
use crate::scale::StudyScale;

/// The principal components of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyComponents {
    /// The components, the one with the largest variance first.
    pub components: Vec<PrincipalComponent>,
    /// The numbers of the treatments whose deltas the columns are.
    pub treatments: Vec<usize>,
    /// The number of sequences.
    pub sequences: usize,
    /// The setting where all sequences begin …
    pub from: u128,
    /// … and end.
    pub to: u128,
}

/// Returns the components of up to `count` sequences of measured settings from one set to another.
///
/// Each sequence changes one treatment at a time; its observation is what each of them changed. Without an end, it is
/// the largest measured set that at least two sequences reach. `None` if there are fewer than two sequences, or all
/// are alike.
pub fn components(
    data: &StudyData,
    scale: StudyScale,
    from: u128,
    to: Option<u128>,
    count: usize,
    seed: Seed,
) -> Option<StudyComponents> {
    let sets = MeasuredSets::new(&data.sets(scale))?;
    let mut ends: Vec<u128> = match to {
        Some(to) => vec![to],
        None => sets
            .sets()
            .iter()
            .copied()
            .filter(|set| set & from == from && *set != from)
            .collect(),
    };
    ends.sort_by_key(|set| std::cmp::Reverse(set.count_ones()));
    ends.into_iter().find_map(|to| {
        // Two sequences with one step each would be the same.
        if (from ^ to).count_ones() < 2 {
            return None;
        }
        let sequences = sets.sequences(from, to, count, seed);
        let rows = sequences.iter().map(|sequence| {
            let deltas = sets.sequence_deltas(sequence).into_iter();
            deltas.unzip::<usize, f64, Vec<usize>, Vec<f64>>()
        });
        let (treatments, values): (Vec<Vec<usize>>, Vec<Vec<f64>>) = rows.unzip();
        let observations: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
        Some(StudyComponents {
            components: principal_components(&observations)?,
            treatments: treatments.into_iter().next()?,
            sequences: sequences.len(),
            from,
            to,
        })
    })
}
