//! The answer of a comparison for people: a sentence, the table, notes.

use std::collections::BTreeMap;
use std::io::Write;

use lapwing_analyse::judge::{Comparison, Estimate, SuiteComparison, Verdict};
use lapwing_model::text::{counted, grouped};
use lapwing_show::writing::Align::{Left, Right, Whole};
use lapwing_show::writing::{Table, markdown_text};
use lapwing_show::{
    ComparisonText, EstimateText, VerdictText, after, caution_text, news_first, ratio_text,
    reason_text, replication_text, round_percent, verdicts_text,
};

use super::CompareAnswer;
use crate::error::CliError;
use crate::options::Context;

/// Of more comparisons only changes are listed.
const ALL_UP_TO: usize = 40;

/// Maximum number of listed changes.
const SHOWN: usize = 200;

/// Format of an answer for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextForm {
    Text,
    Markdown,
}

/// Writes the answer for a terminal.
pub(super) fn text(
    answer: &CompareAnswer,
    all: bool,
    context: &Context,
    out: &mut impl Write,
) -> Result<(), CliError> {
    writeln!(out, "{}\n", headline(answer))?;
    let (listed, hidden) = listed(answer, all);
    let width = context.terminal.width();
    let whole = table(answer, &listed, None);
    if width.is_some_and(|width| whole.width() > width) {
        let mut footnotes = Footnotes::default();
        table(answer, &listed, Some(&mut footnotes)).text_within(width, out)?;
        footnotes.write(out)?;
    } else if !listed.is_empty() {
        whole.text_within(width, out)?;
    }
    below(answer, &hidden, TextForm::Text, out)
}

/// Writes the answer for a pull request.
pub(super) fn markdown(
    answer: &CompareAnswer,
    all: bool,
    out: &mut impl Write,
) -> Result<(), CliError> {
    writeln!(out, "**{}**\n", markdown_text(&headline(answer)))?;
    let (listed, hidden) = listed(answer, all);
    if !listed.is_empty() {
        table(answer, &listed, None)
            .strong(verdict_title(Verdict::Regression))
            .markdown(out)?;
    }
    below(answer, &hidden, TextForm::Markdown, out)
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
fn listed(answer: &CompareAnswer, all: bool) -> (Vec<&Comparison>, BTreeMap<Verdict, usize>) {
    let mut listed: Vec<&Comparison> = answer.comparisons.iter().collect();
    listed.sort_by(|one, other| news_first(one, other));
    let mut hidden = BTreeMap::new();
    if all || listed.len() <= ALL_UP_TO {
        return (listed, hidden);
    }
    let mut kept = 0;
    listed.retain(|comparison| {
        let is_news = match comparison.verdict {
            Verdict::Regression
            | Verdict::Improvement
            | Verdict::WorseInRuns
            | Verdict::BetterInRuns
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
    let change = |it: &Comparison| match (it.ratio, &it.descriptive) {
        (Some(ratio), _) => ratio.value.ln().abs(),
        (None, Some(ratio)) => ratio.value.ln().abs(),
        (None, None) => 0.0,
    };
    listed = answer
        .comparisons
        .iter()
        .filter(|it| change(it) > 0.0)
        .collect();
    listed.sort_by(|one, other| change(other).total_cmp(&change(one)));
    listed.truncate(ALL_UP_TO);
    for it in &listed {
        if let Some(count) = hidden.get_mut(&it.verdict) {
            *count -= 1;
        }
    }
    hidden.retain(|_, count| *count > 0);
    (listed, hidden)
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

    fn write(&self, out: &mut impl Write) -> Result<(), CliError> {
        if !self.0.is_empty() {
            writeln!(out)?;
        }
        for (at, reason) in self.0.iter().enumerate() {
            writeln!(out, " [{}] {reason}", at + 1)?;
        }
        Ok(())
    }
}

/// Returns the table; the reasons of verdicts become footnotes if there are any.
fn table(
    answer: &CompareAnswer,
    listed: &[&Comparison],
    mut footnotes: Option<&mut Footnotes>,
) -> Table {
    let differ = |of: &dyn Fn(&Comparison) -> String| {
        let first = listed.first().map(|it| of(it));
        listed.iter().any(|it| Some(of(it)) != first)
    };
    let suites = differ(&|it| it.subject.suite.clone());
    let metrics = differ(&|it| it.subject.metric.clone());
    let mut table = Table::of_shown(&[
        (true, "benchmark", Left),
        (metrics, "metric", Left),
        (
            answer.names.len() > 2 || answer.each_baseline,
            "candidate of",
            Left,
        ),
        (answer.each_baseline, "against", Left),
        (true, "baseline", Right),
        (true, "candidate", Right),
        (true, "ratio", Right),
        (true, "interval", Whole),
        (true, "instances", Right),
        (
            true,
            "verdict",
            if footnotes.is_some() { Whole } else { Left },
        ),
    ])
    .dispensable(&["instances", "candidate", "baseline", "interval"]);
    for it in listed {
        let mut name = it.subject.benchmark.clone();
        if let Some(setting) = it.subject.setting.text() {
            name.push_str(&format!(" ({setting})"));
        }
        if suites {
            name = format!("{}: {name}", it.subject.suite);
        }
        let mut cells = vec![
            name,
            it.subject.metric.clone(),
            it.candidate.clone(),
            it.baseline.clone(),
        ];
        let instances = |estimate: Option<Estimate>| estimate.map_or(0, |it| it.size.instances);
        let values = [it.baseline_estimate, it.candidate_estimate];
        let [ratio, interval] = it.change_texts();
        cells.extend(Estimate::row_text(&values, &it.metric.unit));
        cells.extend([
            ratio,
            interval,
            format!(
                "{} / {}",
                instances(it.baseline_estimate),
                instances(it.candidate_estimate)
            ),
            verdict_text(it, footnotes.as_deref_mut()),
        ]);
        table.row(cells);
    }
    table
}

/// Returns `✗ regression`, or `? undecided: between −2 % and +9 %; needs about 12 instances per side`. Where there is
/// no room for reasons, there is none for bounds either, which the interval has too.
fn verdict_text(it: &Comparison, footnotes: Option<&mut Footnotes>) -> String {
    let symbol = it.verdict.symbol();
    let grade = it.grade_text();
    match (reason_text(it), footnotes) {
        (Some(reason), Some(footnotes)) => {
            let short = grade.split(": ").next().unwrap_or(&grade);
            format!("{symbol} {short} [{}]", footnotes.number(reason))
        }
        (Some(reason), None) => format!("{symbol} {grade}{}{reason}", after(&grade)),
        (None, _) => format!("{symbol} {grade}"),
    }
}

fn verdict_title(verdict: Verdict) -> String {
    format!("{} {}", verdict.symbol(), verdict.title())
}

fn below(
    answer: &CompareAnswer,
    hidden: &BTreeMap<Verdict, usize>,
    form: TextForm,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let mut lines = Vec::new();
    if !hidden.is_empty() {
        let counts: Vec<String> = hidden
            .iter()
            .map(|(verdict, count)| format!("{} {}", grouped(*count), verdict.title()))
            .collect();
        lines.push(format!(
            "not shown: {} (`--all` shows them)",
            counts.join(", ")
        ));
    }
    for it in &answer.suites {
        let mut what = Vec::new();
        if answer.suites.iter().any(|other| other.suite != it.suite) {
            what.push(it.suite.clone());
        }
        if answer.suites.iter().any(|other| other.metric != it.metric) {
            what.push(it.metric.clone());
        }
        if answer.each_baseline {
            what.push(format!("{} against {}", it.candidate, it.baseline));
        } else if answer.names.len() > 2 {
            what.push(it.candidate.clone());
        }
        let is_of_the_same = |other: &&SuiteComparison| {
            (
                &other.suite,
                &other.metric,
                &other.candidate,
                &other.baseline,
            ) == (&it.suite, &it.metric, &it.candidate, &it.baseline)
        };
        let mut same = answer.suites.iter().filter(is_of_the_same);
        if it.setting.is_none() && same.any(|other| other.setting.is_some()) {
            what.push("all other settings".to_owned());
        }
        what.extend(it.setting.clone());
        let what = match what.as_slice() {
            [] => String::new(),
            parts => format!(" ({})", parts.join(", ")),
        };
        lines.push(format!(
            "suite{what}: {}, the geometric mean of {}",
            ratio_text(it.ratio.ratio, it.ratio.interval),
            counted(it.ratio.benchmarks, "benchmark"),
        ));
    }
    lines.extend(notes(answer));
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for line in lines {
        match form {
            TextForm::Text => writeln!(out, "{line}")?,
            TextForm::Markdown => writeln!(out, "- {}", markdown_text(&line))?,
        }
    }
    Ok(())
}

/// Returns the notes, each once with its benchmarks.
fn notes(answer: &CompareAnswer) -> Vec<String> {
    /// More names than this are a number.
    const NAMED: usize = 3;
    let mut notes = answer.notes.clone();
    notes.extend(replication_text(&answer.comparisons));
    let mut about: Vec<(String, Vec<&str>)> = Vec::new();
    for it in &answer.comparisons {
        for caution in &it.cautions {
            let text = caution_text(caution);
            let name = it.subject.benchmark.as_str();
            match about.iter_mut().find(|(known, _)| *known == text) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => about.push((text, vec![name])),
            }
        }
    }
    for (text, names) in about {
        let of = if names.len() > NAMED {
            counted(names.len(), "benchmark")
        } else {
            names.join(", ")
        };
        notes.push(format!("{of}: {text}"));
    }
    if answer.comparisons.iter().any(|it| it.needed().is_some()) {
        notes.push(
            "measured anew with as many instances as a row needs, it is decided with a probability of 80 %"
                .to_owned(),
        );
    }
    let described = answer
        .comparisons
        .iter()
        .filter(|it| it.descriptive.is_some());
    if described.count() > 0 {
        notes.push(
            "ratios marked ≈ are of one or two processes per side: their intervals, in parentheses, are of iterations within these processes, and others \
             may differ. For a regression or improvement, compare at least 3 instances per side: several files ('old*.json'), or measurements of \
             `lapwing run`; for files of hyperfine, `--each-run instance` does"
                .to_owned(),
        );
    }
    notes.iter().map(|note| format!("note: {note}")).collect()
}
