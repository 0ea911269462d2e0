//! Notes on detection rates.

use lapwing_analyse::explain::{Detectability, TooLittle};
use lapwing_analyse::judge::{CellRate, DetectionCell, INSTANCES_FOR_A_VERDICT, WantedBasis};
use lapwing_model::text::{counted, grouped};
use lapwing_stats::{Configuration, DetectionMethod, Interval, Strategy};

use super::rows::false_positives;
use super::table::{IntervalPlace, rate_titles, wide_rows};
use super::{FORMULA_NEEDS, MdsAnswer, ShownDetection, too_little_of};
use crate::answers::not_judged;
use crate::writing::Note;
use crate::{
    DetectionAbility, EnoughConfigurations, beyond_band_note, few_instances_caution, interval_text,
    outliers_caution, percent, rate_with_interval, round_percent,
};

/// Returns the notes below the table.
pub fn notes(shown: ShownDetection<'_>, intervals: IntervalPlace) -> Vec<Note> {
    let (answer, view) = (shown.answer, shown.view);
    let mut notes = Vec::new();
    if !shown.is_wide() {
        let text = format!(
            "minimal detectable slowdown (MDS) with instances × iterations per side; {}",
            view.basis()
        );
        notes.push(Note::new("basis", text).with("power", view.power));
        notes.extend(false_positives_note(shown));
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
    if let older @ 1.. = answer.detection.older {
        let text = "only the latest versions are used (all of them: `--settings each`)";
        notes.push(Note::new("older_versions", text).with("older_versions", older));
    }
    notes.extend(answer.detection.exclusions());
    notes
}

/// Returns the false-positive rates of the smallest and the largest configuration.
fn false_positives_note(shown: ShownDetection<'_>) -> Option<Note> {
    let rates = false_positives(shown);
    let texts = rates.iter().map(|it| {
        let configuration = Configuration {
            instances: it.instances,
            iterations: it.iterations,
        };
        let interval = it.lower.zip(it.upper);
        let rate = CellRate {
            value: it.rate,
            interval: interval.map(|(lower, upper)| Interval { lower, upper }),
            undetermined: 0,
        };
        format!("{} with {configuration}", rate_with_interval(rate))
    });
    let texts: Vec<String> = texts.collect();
    let confidence = shown.answer.options.confidence.level();
    (!texts.is_empty()).then(|| {
        let text = format!(
            "false positives, without any slowdown: {} (confidence {})",
            texts.join(", "),
            round_percent(confidence)
        );
        Note::new("false_positives", text).with("confidence", confidence)
    })
}

/// Returns the size of the simulation and its accuracy.
fn simulation(shown: ShownDetection<'_>, intervals: IntervalPlace) -> Vec<Note> {
    let options = &shown.answer.options;
    let simulated: Vec<&DetectionCell> = shown_cells(shown)
        .filter(|cell| cell.experiments().is_some())
        .collect();
    if simulated.is_empty() {
        return Vec::new();
    }
    let is_resampled = shown.is_wide() || shown.view.method != DetectionMethod::Paired;
    let each = counted(options.experiments, "experiment");
    let mut text = format!("simulated: {each} per configuration");
    if is_resampled {
        text.push_str(&format!(
            ", resampled {} times",
            grouped(options.replicates)
        ));
    }
    let size = Note::new("simulated", text).with("experiments", options.experiments);
    let size = size.with("replicates", is_resampled.then_some(options.replicates));
    let in_cells = |text: &str| Note::new("interval", text).with("confidence", 0.95);
    if shown.is_wide() {
        let accuracy = match intervals {
            IntervalPlace::Cells => Some(in_cells("[…] 95 % interval of the simulation")),
            IntervalPlace::Below => {
                widest_rate(shown.answer).map(|widest| accuracy("rate", Some(widest)))
            }
        };
        return [size].into_iter().chain(accuracy).collect();
    }
    let detectable = simulated
        .iter()
        .filter_map(|cell| cell.detectable(shown.view.power))
        .filter(|smallest| smallest.slowdown.is_finite());
    let detectable: Vec<_> = detectable.collect();
    let mut uppers = detectable.iter().map(|smallest| smallest.interval.upper);
    let has_no_end = uppers.any(f64::is_infinite);
    let accuracy = match intervals {
        IntervalPlace::Cells if has_no_end => {
            in_cells("[…] 95 % interval of the simulation; ∞: no upper limit")
        }
        IntervalPlace::Cells => in_cells("[…] 95 % interval of the simulation"),
        IntervalPlace::Below => {
            let widths = detectable.iter().map(|smallest| {
                let interval = smallest.interval;
                (smallest.slowdown - interval.lower).max(interval.upper - smallest.slowdown)
            });
            accuracy(
                "value",
                Some(widths.fold(0.0, f64::max)).filter(|_| !has_no_end),
            )
        }
    };
    vec![size, accuracy]
}

/// Returns a note on the largest distance of values from the ends of their intervals; `None` is unknown.
fn accuracy(what: &str, widest: Option<f64>) -> Note {
    let points = widest.map_or("an unknown number of points".to_owned(), points);
    let text = format!(
        "with this number of experiments each {what} is accurate to ± {points} or better (--format json has the intervals)"
    );
    Note::new("accuracy", text).with("widest", widest)
}

/// Returns the accuracy of all rates.
fn widest_rate(answer: &MdsAnswer) -> Option<f64> {
    let rows = answer.detection.rows.iter();
    let rates = rows
        .flat_map(|row| wide_rows(row, &answer.options))
        .flat_map(|row| row.rates)
        .filter_map(|rate| {
            let rate = rate?;
            let interval = rate.interval?;
            Some((rate.value - interval.lower).max(interval.upper - rate.value))
        });
    rates.max_by(f64::total_cmp)
}

/// Returns a share: `9.8 points`.
fn points(share: f64) -> String {
    let most = 100.0 * share;
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
fn unsure(shown: ShownDetection<'_>) -> Option<Note> {
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
        let text = format!(
            "a slowdown of {} is detected {} {} of the time with {with}{more}",
            view.target_text(),
            percent(rate.value),
            interval_text(interval)
        );
        let note = Note::new("detection_rate", text).with("rate", rate.value);
        return Some(
            note.with("lower", interval.lower)
                .with("upper", interval.upper),
        );
    }
    if shown.is_wide() || !enough.iter().any(has_mark) {
        return None;
    }
    let text = format!(
        "? too close to call: the power may be below {} (increase --experiments)",
        round_percent(view.power)
    );
    Some(Note::new("too_close", text).with("power", view.power))
}

/// Returns notes on undetermined experiments, and the reason.
fn undetermined(shown: ShownDetection<'_>) -> Vec<Note> {
    let mut notes = Vec::new();
    let is_hopeless = |cell: &DetectionCell| {
        cell.method == DetectionMethod::Paired && cell.configuration.instances == 1
    };
    if shown_cells(shown).any(is_hopeless) {
        let note = Note::new(
            "paired_needs_two",
            "paired needs at least 2 instances per side",
        );
        notes.push(note.with("required_instances", 2));
    }
    let others = shown_cells(shown).filter(|cell| !is_hopeless(cell));
    let counts = others.filter_map(|cell| Some(cell.rate(shown.view.target)?.undetermined));
    if let Some(most @ 1..) = counts.max() {
        let experiments = shown.answer.options.experiments;
        let text = format!(
            "up to {} of {} are undetermined and count as not detected: a side had only zeros, or no value",
            grouped(most),
            counted(experiments, "experiment")
        );
        let note = Note::new("undetermined", text).with("undetermined", most);
        notes.push(note.with("experiments", experiments));
    }
    notes
}

/// Returns the meaning of the signs in the table.
fn signs(shown: ShownDetection<'_>) -> Vec<Note> {
    let (view, options) = (shown.view, &shown.answer.options);
    let mut notes = Vec::new();
    let is_by_formula = |cell: &DetectionCell| cell.experiments().is_none();
    if options.basis != WantedBasis::ClosedForm && shown_cells(shown).any(is_by_formula) {
        let is_few = |row: &Detectability| {
            row.variability.size.hosts.is_none() && row.cells.iter().any(is_by_formula)
        };
        let is_on_hosts = |row: &Detectability| row.variability.size.hosts.is_some();
        let reasons = [
            (
                known_rows(shown).any(is_few),
                "too few measured instances to simulate",
            ),
            (
                known_rows(shown).any(is_on_hosts),
                "several instances were on one host, and the noise is that of instances on different hosts",
            ),
        ];
        let reasons = reasons.iter().filter(|(holds, _)| *holds).map(|it| it.1);
        let reasons: Vec<&str> = reasons.collect();
        let text = format!("~ computed by formula: {}", reasons.join("; or "));
        notes.push(Note::new("by_formula", text));
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
        notes.push(match options.basis {
            WantedBasis::AsHail => Note::new(
                "too_few_measurements",
                "– too few measurements: needs twice the instances (ibs) or iterations (tbs)",
            ),
            WantedBasis::Both | WantedBasis::ClosedForm => {
                let text = format!("– too few measurements: {FORMULA_NEEDS}");
                let note = Note::new("too_few_measurements", text);
                note.with("required_instances", TooLittle::INSTANCES)
                    .with("required_iterations", 2)
            }
        });
    }
    let unknown = too_little_of(shown.rows, |row| is_unknown(row, shown));
    if let Some(names) = not_judged::names(&unknown) {
        let note = Note::new("too_little", format!("– too few measurements of {names}"));
        notes.push(note.with("rows", unknown.len()));
    }
    if shown.is_wide() {
        return notes;
    }
    let is_never = |cell: &DetectionCell| {
        let smallest = cell.detectable(view.power);
        smallest.is_some_and(|smallest| smallest.slowdown.is_infinite())
    };
    if known_rows(shown).any(|row| view.cells(row).any(is_never)) {
        let text = format!(
            "none: no slowdown, however large, is detected {} of the time",
            round_percent(view.power)
        );
        notes.push(Note::new("none_detected", text).with("power", view.power));
    }
    let mut abilities = shown.enough.iter().map(|enough| enough.able());
    if shown.rows.len() > 1 && abilities.any(|able| able == DetectionAbility::No) {
        let text = format!(
            "– for {}: no configuration of the grid is enough",
            view.target_text()
        );
        notes.push(Note::new("none_enough", text).with("slowdown", view.target));
    }
    notes
}

/// Returns a note if `lapwing compare` gives no verdict for so few instances.
fn no_verdict(shown: ShownDetection<'_>) -> Option<Note> {
    let (view, options) = (shown.view, &shown.answer.options);
    let fewest = *options.grid.instances.first()?;
    let (paired, ibs) = (DetectionMethod::Paired, Strategy::DifferentInstances);
    let is_shown = if shown.is_wide() {
        options.methods.contains(&paired) && options.strategies.contains(&ibs)
    } else {
        view.method == paired && view.strategy == ibs
    };
    (is_shown && fewest < INSTANCES_FOR_A_VERDICT).then(|| {
        let text = format!(
            "`lapwing compare` gives no verdict below {INSTANCES_FOR_A_VERDICT} instances per side; with {fewest} the values are those of its test alone"
        );
        let note = Note::new("no_verdict", text).with("instances", fewest);
        note.with("required_instances", INSTANCES_FOR_A_VERDICT)
    })
}
