//! Sentences that compare the results of a session.

use lapwing_analyse::explain::{SessionComparison, SessionResults};
use lapwing_analyse::judge::{Comparison, INSTANCES_FOR_A_VERDICT};
use lapwing_model::Metric;
use lapwing_model::text::counted;

use super::table::SessionTable;
use crate::answers::compare::{control_note, needed_about};
use crate::words::verdict::{is_unchanged, not_shown_text};
use crate::writing::{Note, NoteWeight};
use crate::{
    ComparisonText, RatioText, after, comparison_sentence, explanation_text, verdicts_text,
};

/// Up to this many comparisons have a sentence each.
const MOST_SENTENCES: usize = 12;
/// Number of differences that have a sentence where there are more comparisons.
const WORST: usize = 8;

/// Fewer sentences on what is unchanged are not worth a line that stands for them.
const FOLDED_FROM: usize = 3;

/// Returns a sentence for each comparison, and one on the control. People get those with news: the table may have the
/// other ratios, else what is unchanged is folded into a line.
pub fn sentences(
    results: &SessionResults,
    mut compared: Vec<SessionComparison<'_>>,
    table: &SessionTable,
) -> Vec<Note> {
    let all = (compared.len() > MOST_SENTENCES).then(|| keep_worst(&mut compared));
    let unchanged = compared.iter().map(|pair| &pair.comparison);
    let unchanged: Vec<&Comparison> = unchanged.filter(|it| is_unchanged(it)).collect();
    let is_folded = unchanged.len() >= FOLDED_FROM;
    let is_told = |comparison: &Comparison| {
        if table.has_ratios {
            comparison.differs()
        } else {
            !(is_folded && is_unchanged(comparison))
        }
    };
    let folded = (is_folded && !table.has_ratios).then(|| not_shown_text(&unchanged));
    let line = |text: String| Note::new("comparison", text);
    let note = |pair: &SessionComparison<'_>| {
        let comparison = &pair.comparison;
        let ratio = comparison.ratio;
        let interval = ratio.and_then(|it| it.interval);
        let note = line(sentence(results, pair)?).with("verdict", comparison.verdict.name());
        let note = note.with("ratio", ratio.map(|it| it.value));
        let note = note.with("lower", interval.map(|it| it.lower));
        let note = note.with("upper", interval.map(|it| it.upper));
        let note = note.with("needed_instances", needed_about(comparison.needed()));
        Some(if is_told(comparison) {
            note
        } else {
            note.weighing(NoteWeight::Detail)
        })
    };
    let mut sentences: Vec<Note> = compared.iter().filter_map(note).collect();
    sentences.extend(folded.map(line));
    // Above the sentences it is the headline.
    let all = all.filter(|all| !table.has_ratios || all.contains(';'));
    sentences.extend(all.map(line));
    sentences.extend(control_sentence(results));
    sentences
}

/// Keeps the largest differences, those for the worse first; returns a sentence about all comparisons.
fn keep_worst(compared: &mut Vec<SessionComparison<'_>>) -> String {
    let number = counted(compared.len(), "comparison");
    let verdicts = verdicts_text(compared.iter().map(|pair| &pair.comparison));
    compared.retain(|pair| pair.comparison.differs());
    let differences = compared.len();
    compared.sort_by(|one, other| {
        let (one, other) = (one.comparison.loss(), other.comparison.loss());
        let order = (other > 0.0).cmp(&(one > 0.0));
        order.then(other.abs().total_cmp(&one.abs()))
    });
    compared.truncate(WORST);
    if differences > WORST {
        format!("{number}: {verdicts}; these are the worst, and `lapwing compare` lists all")
    } else {
        format!("{number}: {verdicts}")
    }
}

/// Returns how often the copy of the first variant seemed to differ from it, if there is one.
fn control_sentence(results: &SessionResults) -> Option<Note> {
    let compared = results.compare_controls();
    let comparisons = compared.iter().map(|pair| &pair.comparison);
    let ratios = comparisons.filter_map(|comparison| Some((comparison, comparison.ratio?.value)));
    let alarms: Vec<(String, f64)> = ratios
        .clone()
        .filter(|(comparison, _)| comparison.differs())
        .map(|(comparison, ratio)| (comparison.subject.benchmark.clone(), ratio))
        .collect();
    let number = ratios.count();
    (number > 0).then(|| control_note(number, &alarms).mark())
}

fn sentence(results: &SessionResults, compared: &SessionComparison<'_>) -> Option<String> {
    let [baseline, candidate] = compared.names();
    let comparison = &compared.comparison;
    let estimates = [
        comparison.baseline_estimate?,
        comparison.candidate_estimate?,
    ];
    let [first, second] = estimates.map(|estimate| estimate.size.instances);
    let fewest = first.min(second);
    let sentence = if fewest < INSTANCES_FOR_A_VERDICT {
        format!(
            "no verdict on {candidate} and {baseline}: need {INSTANCES_FOR_A_VERDICT} instances of each, got {fewest}"
        )
    } else if comparison.differs() {
        let Metric { unit, better } = &comparison.metric;
        let ratio = comparison.ratio?;
        let sentence = comparison_sentence(candidate, baseline, unit, *better, &ratio)?;
        format!("{sentence}.")
    } else {
        let grade = comparison.grade_text();
        let ratio = comparison
            .ratio
            .map_or_else(String::new, |ratio| format!(" ({})", ratio.text()));
        let reason = explanation_text(comparison)
            .map_or_else(String::new, |reason| format!("{}{reason}", after(&grade)));
        format!("{candidate} against {baseline}: {grade}{ratio}{reason}")
    };
    let metric = &comparison.subject.metric;
    Some(if compared.is_of_variants && *metric != results.metric {
        format!("{}, {metric}: {sentence}", compared.baseline.benchmark)
    } else if compared.is_of_variants {
        format!("{}: {sentence}", compared.baseline.benchmark)
    } else {
        sentence
    })
}
