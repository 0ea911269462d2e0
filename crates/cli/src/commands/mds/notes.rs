//! What there is to say of detection rates besides the numbers.

use lapwing_core::explain::Detectability;
use lapwing_core::show::{DetectionView, count, few_instances_caution, round_percent};
use lapwing_stats::{Confidence, DetectionMethod, wilson_interval};

use super::text::rate_titles;
use super::{Found, Mds};
use crate::audit::Detail;
use crate::cleaning::Compat;
use crate::commands::plan::text::beyond_band_note;
use crate::store::earlier_note;
use crate::table::counted;

/// Returns what there is to say below the table.
pub fn notes(found: &Found, command: &Mds, view: DetectionView) -> Vec<String> {
    let rows = found.rows.as_slice();
    let cells = || rows.iter().flat_map(|row| view.cells(row));
    let simulated = cells().any(|it| it.experiments().is_some());
    let by_formula = cells().any(|it| it.experiments().is_none());
    let mut notes = Vec::new();
    if !command.wide {
        notes.push(format!(
            "the minimal detectable slowdown (MDS) with instances × iterations a side; {}",
            view.basis()
        ));
        notes.extend(false_positives(found, view));
    }
    if simulated {
        notes.extend(simulation(found, command, view));
    }
    let takes = "twice the instances (ibs) or iterations (tbs)";
    if by_formula && !command.closed_form {
        notes.push(format!("~ by formula: a simulation takes {takes}"));
    }
    let configurations = found.options.grid.configurations().len();
    let (told, all) = match command.wide {
        true => (None, configurations * rate_titles(found).len()),
        false => (Some(view), configurations),
    };
    let found_of = |row: &Detectability| told.map_or(row.cells.len(), |it| it.cells(row).count());
    if rows.iter().any(|row| found_of(row) < all) {
        notes.push(match command.cleaning.compat {
            Some(Compat::Hail) => format!("– too little was measured for that: it takes {takes}"),
            None => format!("– too little was measured for that: {}", super::LEAST),
        });
    }
    notes.extend(beyond_band_note(found.smallest_effect));
    notes.extend(few_instances_caution(rows));
    if found.older > 0 && command.settings.is_none() {
        notes.push("older versions were passed over (`--settings each`)".to_owned());
    }
    notes.extend(earlier_note(found.earlier));
    notes.extend(not_judged(found, command));
    let unable = rows.iter().any(|row| view.cheapest(row).is_none());
    notes.push(format!(
        "`lapwing plan --slowdown {}` {}",
        view.target_text().replace(' ', ""),
        match unable {
            true => "says what would be enough",
            false => "chooses how much to run",
        }
    ));
    notes
}

/// Returns how often a slowdown is found where there is none, with the least and with the most.
fn false_positives(found: &Found, view: DetectionView) -> Option<String> {
    let configurations = found.options.grid.configurations();
    let mut ends = vec![*configurations.first()?, *configurations.last()?];
    ends.dedup();
    let rates: Vec<String> = ends
        .into_iter()
        .filter_map(|it| {
            Some(format!(
                "{} with {it}",
                view.false_positives(&found.rows, it)?
            ))
        })
        .collect();
    let confidence = round_percent(found.options.confidence.level());
    (!rates.is_empty()).then(|| {
        let rates = rates.join(", ");
        format!("false positives, where nothing got slower: {rates} (confidence {confidence})")
    })
}

/// Returns what was simulated, and how sure that makes the power.
fn simulation(found: &Found, command: &Mds, view: DetectionView) -> Vec<String> {
    let experiments = found.options.experiments;
    let resamples = command.wide || view.method != DetectionMethod::Welch;
    let resampled = match resamples {
        true => format!(", resampled {} times", count(found.options.replicates)),
        false => String::new(),
    };
    let each = counted(u64::from(experiments), "experiment");
    let mut lines = vec![format!(
        "simulated: {each} of each configuration{resampled}"
    )];
    lines.extend(sureness(experiments, view));
    lines
}

/// Returns what a power that so many experiments show may really be.
fn sureness(experiments: u32, view: DetectionView) -> Option<String> {
    let wanted = view.power * f64::from(experiments);
    let detected = (0..=experiments).find(|it| f64::from(*it) >= wanted - 1e-9)?;
    let of = |count: u32| usize::try_from(count).ok();
    let interval = wilson_interval(of(detected)?, of(experiments)?, Confidence::P95)?;
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    let (lower, upper) = (percent(interval.lower), percent(interval.upper));
    Some(format!(
        "where {detected} of them detect a slowdown the power may be {lower}–{upper} % (--experiments)"
    ))
}

/// Returns how many benchmarks there is nothing to say of.
fn not_judged(found: &Found, command: &Mds) -> Vec<String> {
    let mut notes = Vec::new();
    if found.zeros > 0 {
        let zeros = counted(found.zeros as u64, "benchmark");
        notes.push(format!(
            "not judged: {zeros} with instances of nothing but zeros"
        ));
    }
    let not_viable = found.audit.not_viable().count();
    if not_viable > 0 && command.cleaning.detail() == Detail::Line {
        let benchmarks = counted(not_viable as u64, "benchmark");
        notes.push(format!("not judged: {benchmarks}; --audit says why"));
    }
    notes
}
