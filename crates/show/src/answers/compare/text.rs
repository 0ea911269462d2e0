//! Comparisons for people: a sentence, the table, notes.

use std::collections::BTreeMap;

use lapwing_analyse::judge::{
    Comparison, DescribedValues, Estimate, INSTANCES_FOR_A_VERDICT, SuiteComparison, Verdict,
};
use lapwing_analyse::sample::Subject;
use lapwing_model::text::{counted, grouped};

use super::CompareAnswer;
use super::rows::caution_note;
use crate::answers::subject_title;
use crate::writing::Align::{Left, Right, Whole};
use crate::writing::{IntervalBar, Note, Picture, Table, TextAnswer, View};
use crate::{
    ComparisonText, EstimateText, VerdictText, explanation_text, news_first, quantity,
    replication_notes, round_percent, suite_ratio_text, verdicts_text, within_text,
};

/// Of more comparisons only changes are listed.
const ALL_UP_TO: usize = 40;

/// Maximum number of listed changes.
const SHOWN: usize = 200;

/// In a narrower terminal, metrics stand beside names.
const ROOM_FOR_METRICS: usize = 100;

/// Returns the answer; reasons of verdicts become footnotes if there is no room for them.
pub fn text_answer(answer: &CompareAnswer, view: View) -> TextAnswer {
    let room = view.room;
    let (listed, hidden) = listed(answer, view);
    let mut table = table(answer, &listed, None, false);
    let mut notes = Vec::new();
    if room.is_some_and(|room| table.width() > room) {
        let mut footnotes = Footnotes::default();
        let is_narrow = room.is_some_and(|room| room < ROOM_FOR_METRICS);
        table = self::table(answer, &listed, Some(&mut footnotes), is_narrow);
        notes = footnotes.lines();
    }
    notes.extend(not_shown(&hidden));
    notes.extend(answer.suites.iter().map(|suite| suite_note(answer, suite)));
    notes.extend(self::notes(answer));
    TextAnswer {
        headline: headline(answer),
        table: if listed.is_empty() {
            Table::default()
        } else {
            table
        },
        notes,
        next: answer.next.clone(),
        pictures: pictures(answer, &listed),
        ..TextAnswer::default()
    }
}

fn headline(answer: &CompareAnswer) -> String {
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
        match answer.options.smallest_effect {
            Some(_) => "smallest effect",
            None => "no change: within",
        },
        round_percent(answer.options.band()),
    )
}

/// Returns the listed comparisons, changes first, and the number of others by verdict.
pub fn listed(answer: &CompareAnswer, view: View) -> (Vec<&Comparison>, BTreeMap<Verdict, usize>) {
    let mut listed: Vec<&Comparison> = answer.comparisons.iter().collect();
    listed.sort_by(|one, other| news_first(one, other));
    let mut hidden = BTreeMap::new();
    if view.full || listed.len() <= ALL_UP_TO {
        return (listed, hidden);
    }
    let mut kept = 0;
    listed.retain(|comparison| {
        let is_news = match comparison.verdict {
            Verdict::Regression
            | Verdict::Improvement
            | Verdict::WorseInRuns
            | Verdict::BetterInRuns
            | Verdict::Changed
            | Verdict::NotMeasured => kept < SHOWN,
            Verdict::Equivalent | Verdict::UnchangedInRuns | Verdict::Inconclusive => false,
        };
        kept += usize::from(is_news);
        if !is_news {
            *hidden.entry(comparison.verdict).or_insert(0) += 1;
        }
        is_news
    });
    if !listed.is_empty() {
        return (listed, hidden);
    }
    // Nothing is decided: then the largest differences say the most.
    let change = |comparison: &Comparison| {
        let descriptive = comparison.descriptive.as_ref().map(|ratio| ratio.value);
        let ratio = comparison.ratio.map(|ratio| ratio.value).or(descriptive);
        ratio.map_or(0.0, |ratio| ratio.ln().abs())
    };
    listed = answer.comparisons.iter().collect();
    listed.retain(|comparison| change(comparison) > 0.0);
    listed.sort_by(|one, other| change(other).total_cmp(&change(one)));
    listed.truncate(ALL_UP_TO);
    for comparison in &listed {
        if let Some(count) = hidden.get_mut(&comparison.verdict) {
            *count -= 1;
        }
    }
    hidden.retain(|_, count| *count > 0);
    (listed, hidden)
}

/// Returns the intervals of the listed comparisons on one axis.
fn pictures(answer: &CompareAnswer, listed: &[&Comparison]) -> Vec<Picture> {
    let columns = NameColumns::of(answer, listed);
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

/// What tells listed comparisons apart.
struct NameColumns {
    suites: bool,
    metrics: bool,
    sides: bool,
}

impl NameColumns {
    fn of(answer: &CompareAnswer, listed: &[&Comparison]) -> Self {
        let subjects = || listed.iter().map(|comparison| &comparison.subject);
        let first = subjects().next();
        let differs = |same: &dyn Fn(&Subject, &Subject) -> bool| {
            first.is_some_and(|first| !subjects().all(|subject| same(first, subject)))
        };
        Self {
            suites: differs(&|one, other| one.suite == other.suite),
            metrics: differs(&|one, other| one.metric == other.metric),
            sides: answer.names.len() > 2 || answer.each_baseline,
        }
    }

    /// Returns the name of what is compared, with the metric if that has no column.
    fn name(&self, comparison: &Comparison, is_narrow: bool) -> String {
        let subject = &comparison.subject;
        let mut name = subject_title(subject);
        if self.suites {
            name = format!("{}: {name}", subject.suite);
        }
        if self.metrics && is_narrow {
            name.push_str(&format!(", {}", subject.metric));
        }
        name
    }
}

/// Reasons of verdicts, below a table that is too narrow for them.
#[derive(Debug, Default)]
struct Footnotes(Vec<String>);

impl Footnotes {
    /// Returns the number of a reason.
    fn number(&mut self, reason: String) -> usize {
        let known = self.0.iter().position(|it| *it == reason);
        known.unwrap_or_else(|| {
            self.0.push(reason);
            self.0.len() - 1
        }) + 1
    }

    /// Returns the footnotes, and an empty line below them.
    fn lines(self) -> Vec<Note> {
        let reasons = self.0.iter().enumerate();
        let line = |text: String| Note::new("footnote", text);
        let mut lines: Vec<Note> = reasons
            .map(|(at, reason)| line(format!(" [{}] {reason}", at + 1)))
            .collect();
        if !lines.is_empty() {
            lines.push(line(String::new()));
        }
        lines
    }
}

/// Returns the table: the ratio with its grade of certainty first, then what it rests on. The reasons of verdicts are
/// its last column, or become footnotes.
fn table(
    answer: &CompareAnswer,
    listed: &[&Comparison],
    mut footnotes: Option<&mut Footnotes>,
    is_narrow: bool,
) -> Table {
    let columns = NameColumns::of(answer, listed);
    let has_notes = footnotes.is_none() && listed.iter().any(|it| explanation_text(it).is_some());
    let mut table = Table::of_shown(&[
        (true, "benchmark", Left),
        (columns.metrics && !is_narrow, "metric", Left),
        (columns.sides, "candidate of", Left),
        (answer.each_baseline, "against", Left),
        (true, "ratio", Right),
        (true, "interval", Whole),
        (true, "verdict", Left),
        (true, "baseline", Right),
        (true, "candidate", Right),
        (true, "instances", Right),
        (has_notes, "note", Left),
    ])
    .dispensable(&["instances", "candidate", "baseline", "interval"])
    .strong(format!(
        "{} {}",
        Verdict::Regression.symbol(),
        Verdict::Regression.title()
    ));
    for comparison in listed {
        let subject = &comparison.subject;
        let estimates = [comparison.baseline_estimate, comparison.candidate_estimate];
        let [ratio, interval] = comparison.change_texts();
        let [baseline, candidate] = estimates.map(|estimate| match estimate.map(|it| it.size) {
            // The iterations of one process are what its row rests on.
            Some(size) if comparison.is_one_process() && size.most_iterations > 1 => {
                format!("{} × {}", size.instances, size.most_iterations)
            }
            size => size.map_or(0, |it| it.instances).to_string(),
        });
        let mut cells = vec![
            columns.name(comparison, is_narrow),
            subject.metric.clone(),
            comparison.candidate.clone(),
            comparison.baseline.clone(),
        ];
        let reason = explanation_text(comparison);
        let number = reason
            .clone()
            .zip(footnotes.as_deref_mut())
            .map(|(reason, footnotes)| footnotes.number(reason));
        cells.extend([ratio, interval, verdict_cell(comparison, number)]);
        cells.extend(Estimate::row_text(&estimates, &comparison.metric.unit));
        cells.extend([
            format!("{baseline} / {candidate}"),
            reason.unwrap_or_default(),
        ]);
        table.row(cells);
    }
    table
}

/// Returns `✗ regression`, or `? undecided [1]` with the number of a footnote. The bounds of what is undecided stand
/// in the interval beside it.
fn verdict_cell(comparison: &Comparison, footnote: Option<usize>) -> String {
    let symbol = comparison.verdict.symbol();
    let grade = comparison.grade_text();
    let short = grade.split(": ").next().unwrap_or(&grade);
    match footnote {
        Some(number) => format!("{symbol} {short} [{number}]"),
        None => format!("{symbol} {short}"),
    }
}

fn not_shown(hidden: &BTreeMap<Verdict, usize>) -> Option<Note> {
    let counts = hidden.iter();
    let counts: Vec<String> = counts
        .map(|(verdict, count)| format!("{} {}", grouped(*count), verdict.title()))
        .collect();
    let text = format!("not shown: {} (`--full` shows them)", counts.join(", "));
    let note = hidden
        .iter()
        .fold(Note::new("not_shown", text), |note, (verdict, count)| {
            note.with(verdict.name(), *count)
        });
    (!counts.is_empty()).then_some(note)
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
fn notes(answer: &CompareAnswer) -> Vec<Note> {
    /// More names than this are a number.
    const NAMED: usize = 3;
    let mut notes = answer.notes.clone();
    notes.extend(replication_notes(&answer.comparisons));
    let mut cautions: Vec<(Note, Vec<&str>)> = Vec::new();
    let judged = answer.comparisons.iter();
    for comparison in judged.filter(|it| it.verdict != Verdict::NotMeasured) {
        let name = comparison.subject.benchmark.as_str();
        for note in comparison.cautions.iter().map(caution_note) {
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
    notes
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
