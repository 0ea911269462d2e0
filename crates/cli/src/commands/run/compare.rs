//! Sentences that compare the measurements of a session.

use lapwing_core::judge::{INSTANCES_FOR_A_VERDICT, ratio};
use lapwing_core::model::Better;
use lapwing_core::show::comparison_sentence;

use super::summary::Row;

/// Maximum number of commands that are compared one by one.
const CONTEST: usize = 12;

/// Returns a sentence for each comparison: of the variants of a benchmark with its first variant, or
/// of commands with the fastest one.
pub fn sentences(rows: &[Row], variants: usize, ad_hoc: bool) -> Vec<String> {
    if variants > 1 {
        return rows
            .chunk_by(|one, other| one.benchmark == other.benchmark)
            .flat_map(|group| {
                group[1..]
                    .iter()
                    .filter_map(|row| versus(&group[0], row, &|it| it.variant.clone()))
                    .map(|sentence| format!("{}: {sentence}", group[0].benchmark))
            })
            .collect();
    }
    let mut ranked: Vec<&Row> = rows.iter().filter(|row| row.wall.is_some()).collect();
    ranked.sort_by(|one, other| {
        let value = |row: &Row| row.wall.map_or(f64::INFINITY, |it| it.value);
        value(one).total_cmp(&value(other))
    });
    let [fastest, others @ ..] = ranked.as_slice() else {
        return Vec::new();
    };
    let label = |row: &Row| row.benchmark.clone();
    if ad_hoc && ranked.len() <= CONTEST {
        return others
            .iter()
            .filter_map(|row| versus(row, fastest, &label))
            .collect();
    }
    // For a suite, the slowest and the fastest are enough; the table has the rest.
    others
        .last()
        .and_then(|slowest| versus(slowest, fastest, &label))
        .into_iter()
        .collect()
}

/// Returns the sentence about `candidate` against `baseline`.
fn versus(baseline: &Row, candidate: &Row, label: &dyn Fn(&Row) -> String) -> Option<String> {
    let (a, b) = (label(candidate), label(baseline));
    let fewest = baseline
        .wall?
        .size
        .instances
        .min(candidate.wall?.size.instances);
    if fewest < INSTANCES_FOR_A_VERDICT {
        return Some(format!(
            "no verdict on {a} and {b}: that takes {INSTANCES_FOR_A_VERDICT} instances of each, and there are {fewest}"
        ));
    }
    let ratio = ratio(&baseline.cleaned, &candidate.cleaned)?;
    if ratio.interval.contains(1.0) {
        return Some(format!(
            "no difference shown between {a} and {b}: the ratio is {:.3} (95 % CI {:.3}–{:.3})",
            ratio.value, ratio.interval.lower, ratio.interval.upper
        ));
    }
    comparison_sentence(&a, &b, "s", Some(Better::Lower), &ratio)
        .map(|sentence| format!("{sentence}."))
}
