//! Heat map of changes: benchmarks against candidates. Only what is decided has a strong colour.

use crate::ComparisonText;
use std::collections::BTreeMap;

use super::Chart;
use super::change_cells::{ChangeCell, ChangeTable, MOST_SHADES};
use crate::quantity::round_percent;
use crate::sample::metric_title;
use crate::verdicts_text;
use lapwing_analyse::judge::{CompareOptions, Comparison, Verdict};
use lapwing_model::Better;
use lapwing_model::text::grouped;

/// More rows than this would be illegible.
const MOST_ROWS: usize = 100;

/// Changes from which a decided cell has the next shade, as shares.
const STEPS: [f64; 3] = [0.05, 0.15, 0.4];

/// The shade of the smallest decided change; undecided ones have the first.
const DECIDED: f64 = 2.0;

/// Returns the heat map of these comparisons, with a row for each benchmark and setting and a column for each
/// candidate, baseline and metric; those with the largest decided changes come first.
pub fn change_map(comparisons: &[Comparison], options: &CompareOptions) -> Chart {
    let mut columns: Vec<ChangeColumn<'_>> = Vec::new();
    let mut rows: BTreeMap<RowName<'_>, Vec<(usize, &Comparison)>> = BTreeMap::new();
    for comparison in comparisons {
        let column = ChangeColumn::of(comparison);
        let place = columns.iter().position(|known| *known == column);
        let place = place.unwrap_or_else(|| {
            columns.push(column);
            columns.len() - 1
        });
        let subject = &comparison.subject;
        let row = (
            subject.suite.as_str(),
            subject.benchmark.as_str(),
            subject.setting.text(),
        );
        rows.entry(row).or_default().push((place, comparison));
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    let weight = |cells: &[(usize, &Comparison)]| {
        let changes = cells.iter().map(|(_, it)| shade(it).abs());
        changes.filter(|it| it.is_finite()).fold(0.0, f64::max)
    };
    rows.sort_by(|one, other| weight(&other.1).total_cmp(&weight(&one.1)));
    let all = rows.len();
    rows.truncate(MOST_ROWS);
    let several_suites = rows.iter().any(|row| row.0.0 != rows[0].0.0);
    let name = |(suite, benchmark, setting): &RowName<'_>| {
        let mut name = (*benchmark).to_owned();
        if let Some(setting) = setting {
            name.push_str(&format!(" · {setting}"));
        }
        if several_suites {
            name = format!("{suite}: {name}");
        }
        name
    };
    let table = ChangeTable {
        rows: rows.iter().map(|row| name(&row.0)).collect(),
        columns: columns.iter().map(|it| it.name(&columns)).collect(),
        columns_name: "",
        cells: rows
            .iter()
            .enumerate()
            .flat_map(|(y, (row, cells))| {
                let title = name(row);
                cells.iter().map(move |(x, it)| ((*x, y), cell(it, &title)))
            })
            .collect(),
    };
    let title = match columns.as_slice() {
        [] => "Changes".to_owned(),
        [only] => format!(
            "{}: {} / {}",
            metric_title(only.metric),
            only.candidate,
            only.baseline
        ),
        several => {
            let first = &several[0];
            let metric = if several.iter().all(|it| it.metric == first.metric) {
                metric_title(first.metric)
            } else {
                "all metrics".to_owned()
            };
            if several.iter().all(|it| it.baseline == first.baseline) {
                format!("{metric}: candidates / {}", first.baseline)
            } else {
                format!("{metric}: each side against the others")
            }
        }
    };
    Chart::new(
        "changes",
        title,
        subtitle(comparisons, options, (rows.len(), all)),
        table.height(),
        table.into_option(),
    )
}

fn subtitle(
    comparisons: &[Comparison],
    options: &CompareOptions,
    (shown, all): (usize, usize),
) -> String {
    if comparisons.is_empty() {
        return "Nothing to draw: there are no comparisons.".to_owned();
    }
    let mut text = format!(
        "{}. Ratios candidate / baseline. Orange is worse, blue is better; a strong colour and a frame: decided (FDR {}).",
        lapwing_model::text::capitalised(&verdicts_text(comparisons)),
        round_percent(options.false_discovery_rate)
    );
    if shown < all {
        text.push_str(&format!(
            " {} of {} rows drawn, those that changed most.",
            grouped(shown),
            grouped(all)
        ));
    }
    text
}

/// Suite, benchmark and setting of a row.
type RowName<'a> = (&'a str, &'a str, Option<String>);

/// What a column is about.
#[derive(PartialEq)]
struct ChangeColumn<'a> {
    baseline: &'a str,
    candidate: &'a str,
    metric: &'a str,
}

impl<'a> ChangeColumn<'a> {
    fn of(it: &'a Comparison) -> Self {
        Self {
            baseline: &it.baseline,
            candidate: &it.candidate,
            metric: &it.subject.metric,
        }
    }

    fn name(&self, all: &[Self]) -> String {
        let mut parts = Vec::new();
        if all.iter().any(|it| it.baseline != self.baseline) {
            parts.push(format!("{} / {}", self.candidate, self.baseline));
        } else if all.iter().any(|it| it.candidate != self.candidate) {
            parts.push(self.candidate.to_owned());
        }
        if all.iter().any(|it| it.metric != self.metric) {
            parts.push(metric_title(self.metric));
        }
        if parts.is_empty() {
            parts.push(self.candidate.to_owned());
        }
        parts.join(" · ")
    }
}

/// Returns the shade of a comparison: below zero where the candidate is better.
fn shade(it: &Comparison) -> f64 {
    let Some(ratio) = it.ratio else {
        return f64::NAN;
    };
    let change = ratio.value.ln();
    let sign = match it.metric.better {
        Some(Better::Lower) => change.signum(),
        Some(Better::Higher) => -change.signum(),
        None => 0.0,
    };
    match it.verdict {
        Verdict::Regression | Verdict::Improvement => {
            let size = change.abs().exp_m1();
            let steps = STEPS.iter().filter(|step| size >= **step).count();
            sign * (DECIDED + lapwing_stats::as_f64(steps)).min(MOST_SHADES)
        }
        Verdict::Changed | Verdict::Inconclusive | Verdict::WorseInRuns | Verdict::BetterInRuns => {
            sign
        }
        Verdict::Equivalent | Verdict::UnchangedInRuns => 0.0,
        Verdict::NotMeasured => f64::NAN,
    }
}

fn cell(it: &Comparison, title: &str) -> ChangeCell {
    let [ratio, interval] = it.change_texts();
    let is_framed = matches!(it.verdict, Verdict::Regression | Verdict::Improvement);
    ChangeCell {
        shade: shade(it),
        is_framed,
        text: match it.verdict {
            Verdict::NotMeasured => "–".to_owned(),
            Verdict::Equivalent | Verdict::UnchangedInRuns => format!("= {ratio}"),
            Verdict::Regression
            | Verdict::Improvement
            | Verdict::WorseInRuns
            | Verdict::BetterInRuns
            | Verdict::Changed
            | Verdict::Inconclusive => ratio.clone(),
        },
        told: vec![
            ("", title.to_owned()),
            ("compared", format!("{} / {}", it.candidate, it.baseline)),
            ("metric", metric_title(&it.subject.metric)),
            ("ratio", format!("{ratio} {interval}")),
            ("verdict", it.verdict_text()),
        ],
    }
}
