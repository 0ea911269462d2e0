//! Whether sides were measured with different levels of a factor, which nobody asked for.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_core::record::RunRow;
use lapwing_core::text::joined;

use super::{Found, Kind};

/// The levels of factors, by suite, variant and factor.
type Levels<'r> = BTreeMap<(&'r str, &'r str, &'r str), BTreeSet<&'r str>>;

/// Returns what to say where a candidate and the baseline know a factor of the same variant and have no
/// level of it in common: what looks like a change may be that. Who compares variants or runs by name has chosen so.
pub(super) fn note(sides: &[Found]) -> Option<String> {
    let is_chosen = |side: &&Found| matches!(side.kind, Kind::Variant | Kind::Run);
    let (baseline, candidates) = sides.split_first()?;
    if is_chosen(&baseline) {
        return None;
    }
    let known = levels(&baseline.runs);
    let candidates = candidates.iter().filter(|it| !is_chosen(it));
    let mut apart: Vec<String> = Vec::new();
    for (key, others) in candidates.flat_map(|it| levels(&it.runs)) {
        let Some(own) = known.get(&key).filter(|own| own.is_disjoint(&others)) else {
            continue;
        };
        let text = format!("{} ({} and {})", key.2, joined(own), joined(&others));
        if !apart.contains(&text) {
            apart.push(text);
        }
    }
    (!apart.is_empty()).then(|| {
        format!(
            "the sides share no level of {}: what it does counts as a change",
            apart.join(", ")
        )
    })
}

fn levels(runs: &[RunRow]) -> Levels<'_> {
    let mut levels = Levels::new();
    for run in runs {
        for (factor, level) in &run.levels {
            let key = (run.suite.as_str(), run.variant.as_str(), factor.as_str());
            levels.entry(key).or_default().insert(level);
        }
    }
    levels
}
