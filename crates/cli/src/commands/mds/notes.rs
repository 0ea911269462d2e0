//! Notes on detection rates.

use lapwing_analyse::explain::Detectability;
use lapwing_analyse::judge::{DetectionCell, INSTANCES_FOR_A_VERDICT};
use lapwing_model::text::{counted, grouped};
use lapwing_show::answers::not_judged;
use lapwing_show::{
    DetectionAbility, EnoughConfigurations, few_instances_caution, interval_text, outliers_caution,
    percent, round_percent,
};
use lapwing_stats::{DetectionMethod, Strategy};

use super::text::{Ends, ShownDetection, rate_titles, wide_rows};
use super::{FoundDetection, too_little_of};
use crate::commands::plan::text::beyond_band_note;

/// Returns the notes below the table.
pub fn notes(shown: ShownDetection<'_>, ends: Ends) -> Vec<String> {
    let (found, command, view, enough) = (shown.found, shown.command, shown.view, shown.enough);
    let rows = found.all.rows.as_slice();
    let mut notes = Vec::new();
    if !command.wide {
        notes.push(format!(
            "minimal detectable slowdown (MDS) with instances × iterations per side; {}",
            view.basis()
        ));
        notes.extend(false_positives(shown));
    }
    notes.extend(simulation(shown, ends));
    notes.extend(unsure(shown));
    notes.extend(undetermined(shown));
    notes.extend(signs(shown));
    notes.extend(no_verdict(shown));
    notes.extend(beyond_band_note(found.smallest_effect));
    let known: Vec<&Detectability> = rows.iter().filter(|row| !is_unknown(row, shown)).collect();
    notes.extend(few_instances_caution(&known));
    notes.extend(outliers_caution(&known));
    if found.all.older > 0 && command.samples.settings.is_none() {
        notes.push("only the latest versions are used (all of them: `--settings each`)".to_owned());
    }
    notes.extend(found.all.exclusions());
    let able = enough.iter().all(|it| it.able() == DetectionAbility::Yes);
    notes.push(format!(
        "`lapwing plan --slowdown {}` {}",
        view.target_text().replace(' ', ""),
        if able {
            "chooses how much to run"
        } else {
            "shows what is needed"
        }
    ));
    notes
}

/// Returns the false-positive rates of the smallest and the largest configuration.
fn false_positives(shown: ShownDetection<'_>) -> Option<String> {
    let (found, view) = (shown.found, shown.view);
    let configurations = found.options.grid.configurations();
    let mut ends = vec![*configurations.first()?, *configurations.last()?];
    ends.dedup();
    let rates: Vec<String> = ends
        .into_iter()
        .filter_map(|it| {
            Some(format!(
                "{} with {it}",
                view.false_positives(&found.all.rows, it)?
            ))
        })
        .collect();
    let confidence = round_percent(found.options.confidence.level());
    (!rates.is_empty()).then(|| {
        let rates = rates.join(", ");
        format!("false positives, without any slowdown: {rates} (confidence {confidence})")
    })
}

/// Returns the size of the simulation and its accuracy.
fn simulation(shown: ShownDetection<'_>, ends: Ends) -> Vec<String> {
    let (found, command, view) = (shown.found, shown.command, shown.view);
    let cells = || told(shown).filter(|it| it.experiments().is_some());
    if cells().next().is_none() {
        return Vec::new();
    }
    let resamples = command.wide || view.method != DetectionMethod::Paired;
    let resampled = if resamples {
        format!(", resampled {} times", grouped(found.options.replicates))
    } else {
        String::new()
    };
    let each = counted(found.options.experiments, "experiment");
    let mut lines = vec![format!("simulated: {each} per configuration{resampled}")];
    let has_no_end = || {
        let mut found = cells().filter_map(|it| it.detectable(command.power));
        found.any(|it| it.slowdown.is_finite() && it.interval.upper.is_infinite())
    };
    match (ends, command.wide) {
        (Ends::Shown, _) => lines.push(format!(
            "[…] 95 % interval of the simulation{}",
            if !command.wide && has_no_end() { "; ∞: no upper limit" } else { "" }
        )),
        (Ends::Below, true) => lines.extend(widest_rate(found)),
        (Ends::Below, false) => lines.push(format!(
            "with this number of experiments each value is accurate to ± {} or better (--format json has the intervals)",
            if has_no_end() { "an unknown number of points".to_owned() } else { points(cells().filter_map(|it| {
                    let found = it
                        .detectable(command.power)
                        .filter(|it| it.slowdown.is_finite())?;
                    let (lower, upper) = (found.interval.lower, found.interval.upper);
                    Some((found.slowdown - lower).max(upper - found.slowdown))
                })) }
        )),
    }
    lines
}

/// Returns the accuracy of all rates.
fn widest_rate(found: &FoundDetection) -> Option<String> {
    let rows = found.all.rows.iter().flat_map(|row| wide_rows(row, found));
    let rates: Vec<f64> = rows
        .flat_map(|row| row.rates)
        .filter_map(|rate| {
            let rate = rate?;
            let interval = rate.interval?;
            Some((rate.value - interval.lower).max(interval.upper - rate.value))
        })
        .collect();
    (!rates.is_empty()).then(|| {
        format!(
            "with this number of experiments each rate is accurate to ± {} or better (--format json has the intervals)",
            points(rates)
        )
    })
}

/// Returns the largest of some shares: `9.8 points`.
fn points(shares: impl IntoIterator<Item = f64>) -> String {
    let most = 100.0 * shares.into_iter().fold(0.0, f64::max);
    if most < 9.95 {
        format!("{most:.1} points")
    } else {
        format!("{most:.0} points")
    }
}

/// Returns whether the table has no value of a benchmark.
fn is_unknown(row: &Detectability, shown: ShownDetection<'_>) -> bool {
    if shown.command.wide {
        row.cells.is_empty()
    } else {
        shown.view.cells(row).next().is_none()
    }
}

/// Returns the cells in the table.
fn told(shown: ShownDetection<'_>) -> impl Iterator<Item = &DetectionCell> {
    let (found, command, view) = (shown.found, shown.command, shown.view);
    let cells = found.all.rows.iter().flat_map(|row| &row.cells);
    cells.filter(move |it| {
        command.wide || (it.method == view.method && it.strategy == view.strategy)
    })
}

/// Returns the certainty of the answer: the detection rate of a single benchmark, or the meaning of the question
/// mark.
fn unsure(shown: ShownDetection<'_>) -> Option<String> {
    let (command, view, enough) = (shown.command, shown.view, shown.enough);
    let has_mark = |enough: &EnoughConfigurations<'_>| enough.told().is_some() && !enough.is_sure();
    if let [enough] = enough {
        let cell = enough.told()?;
        let (rate, with) = (cell.rate(view.target)?, cell.configuration);
        let interval = rate.interval?;
        let more = if has_mark(enough) {
            "; more --experiments narrow this"
        } else {
            ""
        };
        return Some(format!(
            "a slowdown of {} is detected {} {} of the time with {with}{more}",
            view.target_text(),
            percent(rate.value),
            interval_text(interval)
        ));
    }
    if command.wide || !enough.iter().any(has_mark) {
        return None;
    }
    Some(format!(
        "? too close to call: the power may be below {} (increase --experiments)",
        round_percent(view.power)
    ))
}

/// Returns notes on undetermined experiments, and the reason.
fn undetermined(shown: ShownDetection<'_>) -> Vec<String> {
    let (found, view) = (shown.found, shown.view);
    let mut notes = Vec::new();
    let is_hopeless = |it: &DetectionCell| {
        it.method == DetectionMethod::Paired && it.configuration.instances == 1
    };
    if told(shown).any(is_hopeless) {
        notes.push("paired needs at least 2 instances per side".to_owned());
    }
    let others = told(shown).filter(|it| !is_hopeless(it));
    let most = others
        .filter_map(|it| Some(it.rate(view.target)?.undetermined))
        .max();
    if let Some(most @ 1..) = most {
        notes.push(format!(
            "up to {} of {} are undetermined and count as not detected: a side had only zeros, or no value",
            grouped(most),
            counted(found.options.experiments, "experiment")
        ));
    }
    notes
}

/// Returns the meaning of the signs in the table.
fn signs(shown: ShownDetection<'_>) -> Vec<String> {
    let (found, command, view, enough) = (shown.found, shown.command, shown.view, shown.enough);
    let rows = found.all.rows.as_slice();
    let mut notes = Vec::new();
    let takes = "twice the instances (ibs) or iterations (tbs)";
    if !command.closed_form && told(shown).any(|it| it.experiments().is_none()) {
        notes.push("~ computed by formula: too few measured instances to simulate".to_owned());
    }
    let configurations = found.options.grid.configurations().len();
    let (told, all) = if command.wide {
        (None, configurations * rate_titles(found).len())
    } else {
        (Some(view), configurations)
    };
    let found_of = |row: &Detectability| told.map_or(row.cells.len(), |it| it.cells(row).count());
    let is_unknown = |row: &Detectability| is_unknown(row, shown);
    let known = || rows.iter().filter(|row| !is_unknown(row));
    if known().any(|row| found_of(row) < all) {
        notes.push(match command.samples.cleaning.profile().basis {
            Some(_) => format!("– too few measurements: needs {takes}"),
            None => format!("– too few measurements: {}", super::LEAST),
        });
    }
    if let Some(names) = not_judged::names(&too_little_of(rows, is_unknown)) {
        notes.push(format!("– too few measurements of {names}"));
    }
    let is_never = |cell: &DetectionCell| {
        let found = cell.detectable(view.power);
        found.is_some_and(|it| it.slowdown.is_infinite())
    };
    if !command.wide && known().any(|row| view.cells(row).any(is_never)) {
        notes.push(format!(
            "none: no slowdown, however large, is detected {} of the time",
            round_percent(view.power)
        ));
    }
    if !command.wide && rows.len() > 1 && enough.iter().any(|it| it.able() == DetectionAbility::No)
    {
        notes.push(format!(
            "– for {}: no configuration of the grid is enough",
            view.target_text()
        ));
    }
    notes
}

/// Returns a note if `lapwing compare` gives no verdict for so few instances.
fn no_verdict(shown: ShownDetection<'_>) -> Option<String> {
    let (found, command, view) = (shown.found, shown.command, shown.view);
    let fewest = *found.options.grid.instances.first()?;
    let options = &found.options;
    let (paired, ibs) = (DetectionMethod::Paired, Strategy::DifferentInstances);
    let is_told = if command.wide {
        options.methods.contains(&paired) && options.strategies.contains(&ibs)
    } else {
        view.method == paired && view.strategy == ibs
    };
    (is_told && fewest < INSTANCES_FOR_A_VERDICT).then(|| {
        format!(
            "`lapwing compare` gives no verdict below {INSTANCES_FOR_A_VERDICT} instances per side; with {fewest} the values are those of its test alone"
        )
    })
}
