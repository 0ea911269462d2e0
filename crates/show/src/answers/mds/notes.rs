//! Notes on detection rates.

use lapwing_analyse::explain::Detectability;
use lapwing_analyse::judge::{DetectionCell, INSTANCES_FOR_A_VERDICT, WantedBasis};
use lapwing_model::text::{counted, grouped};
use lapwing_stats::{DetectionMethod, Strategy};

use super::table::{IntervalPlace, rate_titles, wide_rows};
use super::{FORMULA_NEEDS, MdsAnswer, ShownDetection, too_little_of};
use crate::answers::not_judged;
use crate::{
    DetectionAbility, EnoughConfigurations, beyond_band_note, few_instances_caution, interval_text,
    outliers_caution, percent, round_percent,
};

/// Returns the notes below the table.
pub fn notes(shown: ShownDetection<'_>, intervals: IntervalPlace) -> Vec<String> {
    let (answer, view) = (shown.answer, shown.view);
    let mut notes = Vec::new();
    if !shown.is_wide() {
        notes.push(format!(
            "minimal detectable slowdown (MDS) with instances × iterations per side; {}",
            view.basis()
        ));
        notes.extend(false_positives(shown));
    }
    notes.extend(simulation(shown, intervals));
    notes.extend(unsure(shown));
    notes.extend(undetermined(shown));
    notes.extend(signs(shown));
    notes.extend(no_verdict(shown));
    notes.extend(beyond_band_note(answer.smallest_effect));
    let known: Vec<&Detectability> = known_rows(shown).collect();
    notes.extend(few_instances_caution(&known));
    notes.extend(outliers_caution(&known));
    if answer.detection.older > 0 {
        notes.push("only the latest versions are used (all of them: `--settings each`)".to_owned());
    }
    notes.extend(answer.detection.exclusions().into_iter().map(|it| it.text));
    let mut abilities = shown.enough.iter().map(|enough| enough.able());
    notes.push(format!(
        "`lapwing plan --slowdown {}` {}",
        view.target_text().replace(' ', ""),
        if abilities.all(|able| able == DetectionAbility::Yes) {
            "chooses how much to run"
        } else {
            "shows what is needed"
        }
    ));
    notes
}

/// Returns the false-positive rates of the smallest and the largest configuration.
fn false_positives(shown: ShownDetection<'_>) -> Option<String> {
    let options = &shown.answer.options;
    let configurations = options.grid.configurations();
    let mut ends = vec![*configurations.first()?, *configurations.last()?];
    ends.dedup();
    let rates = ends.into_iter().filter_map(|configuration| {
        let rate = shown.view.false_positives(shown.rows, configuration)?;
        Some(format!("{rate} with {configuration}"))
    });
    let rates: Vec<String> = rates.collect();
    (!rates.is_empty()).then(|| {
        format!(
            "false positives, without any slowdown: {} (confidence {})",
            rates.join(", "),
            round_percent(options.confidence.level())
        )
    })
}

/// Returns the size of the simulation and its accuracy.
fn simulation(shown: ShownDetection<'_>, intervals: IntervalPlace) -> Vec<String> {
    const ACCURACY: &str = "or better (--format json has the intervals)";
    let options = &shown.answer.options;
    let simulated: Vec<&DetectionCell> = shown_cells(shown)
        .filter(|cell| cell.experiments().is_some())
        .collect();
    if simulated.is_empty() {
        return Vec::new();
    }
    let resampled = if shown.is_wide() || shown.view.method != DetectionMethod::Paired {
        format!(", resampled {} times", grouped(options.replicates))
    } else {
        String::new()
    };
    let each = counted(options.experiments, "experiment");
    let mut notes = vec![format!("simulated: {each} per configuration{resampled}")];
    if shown.is_wide() {
        match intervals {
            IntervalPlace::Cells => {
                notes.push("[…] 95 % interval of the simulation".to_owned());
            }
            IntervalPlace::Below => notes.extend(widest_rate(shown.answer).map(|widest| {
                format!(
                    "with this number of experiments each rate is accurate to ± {widest} {ACCURACY}"
                )
            })),
        }
        return notes;
    }
    let detectable = simulated
        .iter()
        .filter_map(|cell| cell.detectable(shown.view.power))
        .filter(|smallest| smallest.slowdown.is_finite());
    let detectable: Vec<_> = detectable.collect();
    let mut uppers = detectable.iter().map(|smallest| smallest.interval.upper);
    let has_no_end = uppers.any(f64::is_infinite);
    notes.push(match intervals {
        IntervalPlace::Cells if has_no_end => {
            "[…] 95 % interval of the simulation; ∞: no upper limit".to_owned()
        }
        IntervalPlace::Cells => "[…] 95 % interval of the simulation".to_owned(),
        IntervalPlace::Below => {
            let widest = if has_no_end {
                "an unknown number of points".to_owned()
            } else {
                points(detectable.iter().map(|smallest| {
                    let interval = smallest.interval;
                    (smallest.slowdown - interval.lower).max(interval.upper - smallest.slowdown)
                }))
            };
            format!(
                "with this number of experiments each value is accurate to ± {widest} {ACCURACY}"
            )
        }
    });
    notes
}

/// Returns the accuracy of all rates.
fn widest_rate(answer: &MdsAnswer) -> Option<String> {
    let rows = answer.detection.rows.iter();
    let rates = rows
        .flat_map(|row| wide_rows(row, &answer.options))
        .flat_map(|row| row.rates)
        .filter_map(|rate| {
            let rate = rate?;
            let interval = rate.interval?;
            Some((rate.value - interval.lower).max(interval.upper - rate.value))
        });
    let rates: Vec<f64> = rates.collect();
    (!rates.is_empty()).then(|| points(rates))
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
    if shown.is_wide() {
        row.cells.is_empty()
    } else {
        shown.view.cells(row).next().is_none()
    }
}

fn known_rows(shown: ShownDetection<'_>) -> impl Iterator<Item = &Detectability> {
    let rows = shown.rows.iter();
    rows.filter(move |row| !is_unknown(row, shown))
}

/// Returns the cells in the table.
fn shown_cells(shown: ShownDetection<'_>) -> impl Iterator<Item = &DetectionCell> {
    let view = shown.view;
    let cells = shown.rows.iter().flat_map(|row| &row.cells);
    cells.filter(move |cell| {
        shown.is_wide() || (cell.method == view.method && cell.strategy == view.strategy)
    })
}

/// Returns the certainty of the answer: the detection rate of a single benchmark, or the meaning of the question
/// mark.
fn unsure(shown: ShownDetection<'_>) -> Option<String> {
    let (view, enough) = (shown.view, shown.enough);
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
    if shown.is_wide() || !enough.iter().any(has_mark) {
        return None;
    }
    Some(format!(
        "? too close to call: the power may be below {} (increase --experiments)",
        round_percent(view.power)
    ))
}

/// Returns notes on undetermined experiments, and the reason.
fn undetermined(shown: ShownDetection<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let is_hopeless = |cell: &DetectionCell| {
        cell.method == DetectionMethod::Paired && cell.configuration.instances == 1
    };
    if shown_cells(shown).any(is_hopeless) {
        notes.push("paired needs at least 2 instances per side".to_owned());
    }
    let others = shown_cells(shown).filter(|cell| !is_hopeless(cell));
    let counts = others.filter_map(|cell| Some(cell.rate(shown.view.target)?.undetermined));
    if let Some(most @ 1..) = counts.max() {
        notes.push(format!(
            "up to {} of {} are undetermined and count as not detected: a side had only zeros, or no value",
            grouped(most),
            counted(shown.answer.options.experiments, "experiment")
        ));
    }
    notes
}

/// Returns the meaning of the signs in the table.
fn signs(shown: ShownDetection<'_>) -> Vec<String> {
    let (view, options) = (shown.view, &shown.answer.options);
    let mut notes = Vec::new();
    let is_by_formula = |cell: &DetectionCell| cell.experiments().is_none();
    if options.basis != WantedBasis::ClosedForm && shown_cells(shown).any(is_by_formula) {
        notes.push("~ computed by formula: too few measured instances to simulate".to_owned());
    }
    let configurations = options.grid.configurations().len();
    let lacks_cells = |row: &Detectability| {
        if shown.is_wide() {
            row.cells.len() < configurations * rate_titles(options).len()
        } else {
            view.cells(row).count() < configurations
        }
    };
    if known_rows(shown).any(lacks_cells) {
        let needs = match options.basis {
            WantedBasis::AsHail => "needs twice the instances (ibs) or iterations (tbs)",
            WantedBasis::Both | WantedBasis::ClosedForm => FORMULA_NEEDS,
        };
        notes.push(format!("– too few measurements: {needs}"));
    }
    let unknown = too_little_of(shown.rows, |row| is_unknown(row, shown));
    if let Some(names) = not_judged::names(&unknown) {
        notes.push(format!("– too few measurements of {names}"));
    }
    if shown.is_wide() {
        return notes;
    }
    let is_never = |cell: &DetectionCell| {
        let smallest = cell.detectable(view.power);
        smallest.is_some_and(|smallest| smallest.slowdown.is_infinite())
    };
    if known_rows(shown).any(|row| view.cells(row).any(is_never)) {
        notes.push(format!(
            "none: no slowdown, however large, is detected {} of the time",
            round_percent(view.power)
        ));
    }
    let mut abilities = shown.enough.iter().map(|enough| enough.able());
    if shown.rows.len() > 1 && abilities.any(|able| able == DetectionAbility::No) {
        notes.push(format!(
            "– for {}: no configuration of the grid is enough",
            view.target_text()
        ));
    }
    notes
}

/// Returns a note if `lapwing compare` gives no verdict for so few instances.
fn no_verdict(shown: ShownDetection<'_>) -> Option<String> {
    let (view, options) = (shown.view, &shown.answer.options);
    let fewest = *options.grid.instances.first()?;
    let (paired, ibs) = (DetectionMethod::Paired, Strategy::DifferentInstances);
    let is_shown = if shown.is_wide() {
        options.methods.contains(&paired) && options.strategies.contains(&ibs)
    } else {
        view.method == paired && view.strategy == ibs
    };
    (is_shown && fewest < INSTANCES_FOR_A_VERDICT).then(|| {
        format!(
            "`lapwing compare` gives no verdict below {INSTANCES_FOR_A_VERDICT} instances per side; with {fewest} the values are those of its test alone"
        )
    })
}
