//! Comparisons for people: a sentence, the table, notes.

use std::collections::BTreeMap;

use lapwing_analyse::judge::{
    Caution, CompareOptions, Comparison, DescribedValues, INSTANCES_FOR_A_VERDICT, SuiteComparison,
    Verdict,
};
use lapwing_analyse::sample::Subject;
use lapwing_model::text::{counted, joined_with_and};

use super::CompareAnswer;
use super::listed::{ListedComparisons, shown};
use super::rows::caution_note;
use super::table::{ComparisonTable, NameColumns, table};
use crate::words::verdict::not_shown_text;
use crate::writing::{IntervalBar, Note, Picture, Table, TextAnswer, View};
use crate::{
    ComparisonText, quantity, replication_notes, round_percent, suite_ratio_text, verdicts_text,
    within_text,
};

/// Returns the answer: what is no news is folded into a line; reasons of verdicts become footnotes if there is no room
/// for them.
pub fn text_answer(answer: &CompareAnswer, view: View) -> TextAnswer {
    let ListedComparisons { rows, mut hidden } = shown(answer, view);
    let ComparisonTable {
        table,
        footnotes,
        whole_rows,
    } = table(answer, &rows, view.room);
    let columns = NameColumns::of(answer);
    hidden.retain(|it| !whole_rows.contains(&columns.row(it)));
    let mut below: Vec<Note> = not_shown(&hidden).into_iter().collect();
    below.extend(footnotes);
    let suites = answer.suites.iter();
    let mut notes: Vec<Note> = suites.map(|suite| suite_note(answer, suite)).collect();
    notes.extend(self::notes(answer));
    TextAnswer {
        headline: headline(answer),
        table: if rows.is_empty() {
            Table::default()
        } else {
            table
        },
        below,
        notes,
        next: answer.next.clone(),
        pictures: pictures(answer, &rows),
        has_ranked_notes: true,
        ..TextAnswer::default()
    }
}

/// Returns the line on comparisons that are not listed, with their numbers by verdict.
fn not_shown(hidden: &[&Comparison]) -> Option<Note> {
    let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
    for comparison in hidden {
        *counts.entry(comparison.verdict).or_default() += 1;
    }
    let note = counts.into_iter().fold(
        Note::new("not_shown", not_shown_text(hidden)),
        |note, (verdict, count)| note.with(verdict.name(), count),
    );
    (!hidden.is_empty()).then_some(note)
}

pub(super) fn headline(answer: &CompareAnswer) -> String {
    if answer.comparisons.is_empty() {
        return "nothing to compare: no side has usable values".to_owned();
    }
    let versus = match answer.names.as_slice() {
        sides if answer.each_baseline => format!("{} against each other", sides.join(", ")),
        [baseline, candidate] => format!("{candidate} against {baseline}"),
        [baseline, candidates @ ..] => format!("{} against {baseline}", candidates.join(", ")),
        [] => String::new(),
    };
    format!(
        "{versus}: {}   ({}, FDR {}, {} {})",
        verdicts_text(&answer.comparisons),
        counted(answer.comparisons.len(), "comparison"),
        round_percent(answer.options.false_discovery_rate),
        match common_effect(answer) {
            Some(_) => "smallest effect",
            None => "no change: within",
        },
        round_percent(common_effect(answer).unwrap_or(CompareOptions::USUAL_BAND)),
    )
}

/// Returns the intervals of the listed comparisons on one axis.
fn pictures(answer: &CompareAnswer, listed: &[&Comparison]) -> Vec<Picture> {
    let columns = NameColumns::of(answer);
    let bars = listed.iter().filter_map(|comparison| {
        let mut name = columns.name(comparison, true);
        if columns.sides {
            name.push_str(&format!(", {}", comparison.candidate));
        }
        IntervalBar::of(name, comparison)
    });
    let bars: Vec<IntervalBar> = bars.collect();
    if bars.is_empty() {
        Vec::new()
    } else {
        vec![Picture::Intervals(bars)]
    }
}

/// Returns the geometric mean of a suite, with what distinguishes it from the others.
fn suite_note(answer: &CompareAnswer, suite: &SuiteComparison) -> Note {
    let others = || answer.suites.iter();
    let mut parts = Vec::new();
    if others().any(|other| other.suite != suite.suite) {
        parts.push(suite.suite.clone());
    }
    if others().any(|other| other.metric != suite.metric) {
        parts.push(suite.metric.clone());
    }
    if answer.each_baseline {
        parts.push(format!("{} against {}", suite.candidate, suite.baseline));
    } else if answer.names.len() > 2 {
        parts.push(suite.candidate.clone());
    }
    let is_part = |other: &SuiteComparison| {
        other.setting.is_some()
            && other.suite == suite.suite
            && other.metric == suite.metric
            && other.candidate == suite.candidate
            && other.baseline == suite.baseline
    };
    if suite.setting.is_none() && others().any(is_part) {
        parts.push("all other settings".to_owned());
    }
    parts.extend(suite.setting.clone());
    let parts = if parts.is_empty() {
        String::new()
    } else {
        format!(" ({})", parts.join(", "))
    };
    let mut members = answer.comparisons.iter().filter(|it| {
        it.ratio.is_some() != suite.is_descriptive
            && it.subject.suite == suite.suite
            && it.subject.metric == suite.metric
            && it.candidate == suite.candidate
            && it.baseline == suite.baseline
    });
    // All of a suite are of the same sessions.
    let within = if suite.is_descriptive {
        let one_process = members.find(|it| it.is_one_process());
        one_process.map(|it| format!(" in {}", it.runs_text()))
    } else {
        members.find(|it| it.is_within_sessions()).map(within_text)
    };
    let text = format!(
        "suite{parts}: {}{}, the geometric mean of {}",
        suite_ratio_text(suite),
        within.unwrap_or_default(),
        counted(suite.ratio.benchmarks, "benchmark"),
    );
    let interval = suite.ratio.interval;
    let [ratio, lower, upper] = if suite.is_descriptive {
        [
            "descriptive_ratio",
            "descriptive_lower",
            "descriptive_upper",
        ]
    } else {
        ["ratio", "lower", "upper"]
    };
    Note::new("suite", text)
        .with(ratio, suite.ratio.ratio)
        .with(lower, interval.map(|it| it.lower))
        .with(upper, interval.map(|it| it.upper))
        .with("benchmarks", suite.ratio.benchmarks)
}

/// Returns the notes, each once with its benchmarks.
pub(super) fn notes(answer: &CompareAnswer) -> Vec<Note> {
    /// More names than this are a number.
    const NAMED: usize = 3;
    let mut notes = answer.notes.clone();
    notes.extend(own_limits_note(answer));
    notes.extend(replication_notes(&answer.comparisons));
    let mut cautions: Vec<(Note, Vec<&str>)> = Vec::new();
    let judged = answer.comparisons.iter();
    for comparison in judged.filter(|it| it.verdict != Verdict::NotMeasured) {
        let name = comparison.subject.benchmark.as_str();
        // Where there is a verdict, a wide interval does no harm.
        let is_decided = comparison.verdict != Verdict::Inconclusive;
        let told = comparison.cautions.iter();
        let told = told.filter(|it| !(is_decided && **it == Caution::Outliers));
        for note in told.map(caution_note) {
            match cautions.iter_mut().find(|(known, _)| *known == note) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => cautions.push((note, vec![name])),
            }
        }
    }
    notes.extend(cautions.into_iter().map(|(mut note, names)| {
        let text = if names.len() > NAMED {
            counted(names.len(), "benchmark")
        } else {
            names.join(", ")
        };
        note.text = format!("{text}: {}", note.text);
        note.with("benchmarks", names.len())
    }));
    if answer.comparisons.iter().any(|it| it.needed().is_some()) {
        let text = "measured anew with as many instances as a row needs, it is decided with a probability of 80 %";
        notes.push(Note::marked("needed", text).with("probability", 0.8));
    }
    let mut all = answer.comparisons.iter();
    let is_apart = |it: &Comparison| it.verdict == Verdict::NotMeasured;
    if answer.comparisons.len() > 1 && all.all(is_apart) {
        let text = "no benchmark was measured on both sides: they are compared by their names";
        notes.push(Note::marked("nothing_in_common", text));
    }
    notes.extend(described_notes(&answer.comparisons));
    notes.extend(mean_note(&answer.comparisons));
    notes.sort_by_key(place);
    notes
}

/// Returns the smallest effect of all comparisons, or else the usual one.
fn common_effect(answer: &CompareAnswer) -> Option<f64> {
    let mut effects = answer.comparisons.iter().map(|it| it.smallest_effect);
    let first = effects.next().unwrap_or(answer.options.smallest_effect);
    match effects.all(|it| it == first) {
        true => first,
        false => answer.options.smallest_effect,
    }
}

/// Returns a note on benchmarks whose smallest effect is not that of the others.
fn own_limits_note(answer: &CompareAnswer) -> Option<Note> {
    /// More than these are a number.
    const NAMED: usize = 3;
    let usual = common_effect(answer);
    let mut own: Vec<(String, f64)> = Vec::new();
    let has_several = |comparison: &Comparison| {
        answer.comparisons.iter().any(|it| {
            it.subject.benchmark == comparison.subject.benchmark
                && it.smallest_effect != comparison.smallest_effect
        })
    };
    for comparison in &answer.comparisons {
        let effect = comparison
            .smallest_effect
            .filter(|_| comparison.smallest_effect != usual);
        if let Some(effect) = effect {
            let Subject {
                benchmark, metric, ..
            } = &comparison.subject;
            let name = match has_several(comparison) {
                true => format!("{benchmark} ({metric})"),
                false => benchmark.clone(),
            };
            let limit = (name, effect);
            if !own.contains(&limit) {
                own.push(limit);
            }
        }
    }
    let texts = own
        .iter()
        .map(|(name, effect)| format!("{} for {name}", round_percent(*effect)));
    let text = match own.len() {
        0 => return None,
        1..=NAMED => joined_with_and(&texts.collect::<Vec<_>>()),
        several => format!("another one for {}", counted(several, "benchmark")),
    };
    let note = Note::marked(
        "own_limits",
        format!("smallest effect: {text} (suite file)"),
    );
    Some(note.with("benchmarks", own.len()))
}

/// Kinds of notes that make verdicts doubtful, the most important first.
const DOUBTS: [&str; 16] = [
    "nothing_in_common",
    "control",
    "failures",
    "other_machines",
    "other_units",
    "pool_drifts",
    "not_interleaved",
    "one_session",
    "session_noise",
    "other_environment",
    "few_of_several_modes",
    "outliers",
    "few_apart",
    "narrow_method",
    "one_process",
    "only_summaries",
];

/// Kinds of notes that say how verdicts were made, and then what was excluded.
const LAST: [&str; 10] = [
    "own_limits",
    "pooled",
    "replication",
    "looks",
    "exact",
    "earlier_sessions",
    "needed",
    "geometric_means",
    "uncommitted",
    "not_used",
];

/// Returns the place of a note among all.
fn place(note: &Note) -> usize {
    let at = |codes: &[&str]| codes.iter().position(|it| *it == note.code);
    match (at(&DOUBTS), at(&LAST)) {
        (Some(at), _) => at,
        (None, None) => DOUBTS.len(),
        (None, Some(at)) => DOUBTS.len() + 1 + at,
    }
}

/// Returns a note on the value whose arithmetic mean is furthest from the geometric one that is shown.
fn mean_note(comparisons: &[Comparison]) -> Option<Note> {
    let judged = comparisons.iter().filter(|it| it.ratio.is_some());
    let values = judged.flat_map(|it| {
        let estimates = [it.baseline_estimate, it.candidate_estimate];
        let names = [&it.baseline, &it.candidate];
        let sides = estimates.into_iter().zip(names).zip(it.arithmetic);
        sides.filter_map(move |((estimate, name), mean)| Some((it, name, estimate?.value, mean?)))
    });
    let (it, name, geometric, mean) =
        values.max_by(|one, other| (one.3 / one.2).total_cmp(&(other.3 / other.2)))?;
    let text = format!(
        "values are geometric means of the instances, of which ratios are made; a few far ones move the arithmetic mean more: that of {} in {name} is {}",
        it.subject.benchmark,
        quantity(mean, &it.metric.unit)
    );
    let note = Note::marked("geometric_means", text);
    Some(note.with("geometric", geometric).with("arithmetic", mean))
}

/// Returns what ratios marked ≈ rest on, and what a verdict needs.
fn described_notes(comparisons: &[Comparison]) -> Vec<Note> {
    let kinds = [
        (
            DescribedValues::Iterations,
            "one_process",
            "ratios marked ≈ are of one or two processes per side: their intervals, in parentheses, are of iterations within these processes, and others \
             may differ. For a regression or improvement, compare at least 3 instances per side: several files ('old*.json'), or measurements of \
             `lapwing run`",
        ),
        (
            DescribedValues::Summaries,
            "only_summaries",
            "ratios marked ≈ are of one value per run, as their source kept no samples; another run may differ. For a regression or improvement, compare at \
             least 3 runs per side: several files ('old*.json')",
        ),
        (
            DescribedValues::Instances,
            "few_instances",
            "ratios marked ≈ are of fewer than 3 instances on one side: their intervals, in parentheses, are of the instances of both sides together, and one \
             may be an outlier. For a regression or improvement, compare at least 3 instances per side",
        ),
    ];
    let has = |basis: DescribedValues| {
        let mut described = comparisons.iter().filter_map(|it| it.descriptive.as_ref());
        described.any(|it| it.basis == basis)
    };
    let kinds = kinds.into_iter().filter(|kind| has(kind.0));
    kinds
        .map(|(_, code, text)| {
            Note::marked(code, text).with("required_instances", INSTANCES_FOR_A_VERDICT)
        })
        .collect()
}
