//! The changes of one benchmark: on its page, in its row of the index, and in the charts of its history.

use crate::FindingText;
use crate::MomentText;
use crate::report::FindingSentence;
use maud::{Markup, html};
use serde::Serialize;

use super::ChangesView;
use super::words::{since_text, state_text, subject_text};
use crate::answers::detect::finding_mark;
use crate::chart::{HistoryPoint, LevelMark, history};
use crate::report::directory::DirectoryError;
use crate::report::sections::metric::history_points;
use crate::report::{MetricView, ReportSite};
use lapwing_analyse::detect::{ChangeKind, Direction, FAILURES, Finding};
use lapwing_model::text::counted;

/// More changes than this are only on the page of changes.
const SHOWN: usize = 8;

/// The largest change of a row of the index that still holds, regressions first; its fields are columns of the side file.
#[derive(Debug, Clone, Default, Serialize)]
pub(in crate::report) struct HistorySince {
    /// `+14 % since a1b2c3`; empty if there is none.
    pub(in crate::report) since: String,
    /// Its name, which is the class of its colour.
    pub(in crate::report) since_direction: &'static str,
    /// Its size, to sort by: larger is worse.
    pub(in crate::report) since_size: Option<f64>,
    /// All changes of the row.
    pub(in crate::report) since_title: String,
    pub(in crate::report) since_link: String,
}

impl HistorySince {
    /// Returns that of a variant of a benchmark by a metric.
    pub(in crate::report) fn of(
        view: Option<&ChangesView>,
        slug: &str,
        metric: &str,
        variant: &str,
    ) -> Self {
        let Some(view) = view else {
            return Self::default();
        };
        let of_row = view.open_of(slug).into_iter().filter(|at| {
            let finding = view.finding(*at);
            finding.subject.metric == metric && is_of(finding, variant)
        });
        let of_row: Vec<usize> = of_row.collect();
        let Some(&worst) = of_row.first() else {
            return Self::default();
        };
        let texts: Vec<String> = of_row
            .into_iter()
            .map(|at| {
                let finding = view.finding(at);
                format!("{} {}", finding.sentence(), since_text(view, finding))
            })
            .collect();
        let finding = view.finding(worst);
        let what = match finding.kind {
            ChangeKind::Step | ChangeKind::Alarm => "",
            ChangeKind::Drift => " drift",
        };
        let label = view.histories.moments[finding.since()].night_text();
        let sign = match finding.direction {
            Direction::Regression => 1.0,
            Direction::Improvement | Direction::Neither => -1.0,
        };
        Self {
            since: format!("{}{what} since {label}", finding.brief_text()),
            since_direction: finding.direction.name(),
            since_size: Some(sign * finding.size.relative()).filter(|it| it.is_finite()),
            since_title: texts.join("; "),
            since_link: view.link(worst),
        }
    }

    pub(in crate::report) fn is_regression(&self) -> bool {
        self.since_direction == Direction::Regression.name()
    }
}

/// Returns whether a finding is about a variant of its benchmark.
fn is_of(finding: &Finding, variant: &str) -> bool {
    let name = finding.subject.setting.variant_name();
    name.is_none_or(|name| name == variant)
}

/// Returns the chip of a finding: its direction with a symbol.
pub(super) fn chip(finding: &Finding) -> Markup {
    let name = match finding.explained {
        Some(_) => "explained",
        None => finding.direction.name(),
    };
    html! {
        span class=(format!("chip {name}")) { span aria-hidden="true" { (finding.symbol()) } " " (name) }
    }
}

/// Returns the changes of a benchmark in words: those that still hold first, the worst first.
pub(in crate::report) fn section(view: &ChangesView, slug: &str) -> Markup {
    let (accepted, closed): (Vec<usize>, Vec<usize>) = (view.of_benchmark(slug).iter())
        .filter(|at| !view.finding(**at).is_open())
        .partition(|at| view.finding(**at).is_accepted());
    let mut found = view.open_of(slug);
    found.extend(closed);
    html! {
        @if !found.is_empty() || !accepted.is_empty() {
            ul.verdicts #history-changes aria-label="Changes in the history" {
                @for at in found.iter().take(SHOWN) {
                    @let finding = view.finding(*at);
                    @let [before, after] = finding.level_texts();
                    @let group = &view.detection.groups[view.cause_of[*at]];
                    li {
                        @if group.is_shared { span.chip { "shared by the suite" } } @else { (chip(finding)) } " " (subject_text(finding)) strong { (finding.sentence()) } " "
                        a href=(format!("../{}", view.link(*at))) { (since_text(view, finding)) }
                        @if finding.subject.metric != FAILURES { ", from " (before) " to " (after) }
                        @if !finding.is_open() { "; " span.state { (state_text(view, finding)) } }
                        "."
                    }
                }
                @if found.len() > SHOWN {
                    li { "and " (found.len() - SHOWN) " more" }
                }
                @if !accepted.is_empty() { li { (counted(accepted.len(), "change")) " in the accepted past" } }
            }
        }
    }
}

/// Returns the marks of the changes in the history of a metric. The first metric also has those of failures, which have
/// no history of their own.
pub(in crate::report) fn level_marks(
    view: Option<&ChangesView>,
    slug: &str,
    metric: &MetricView,
    is_first: bool,
) -> Vec<LevelMark> {
    let Some(view) = view else {
        return Vec::new();
    };
    let mut found: Vec<usize> = view
        .of_benchmark(slug)
        .iter()
        .copied()
        .filter(|at| is_drawn_in(view.finding(*at), metric, is_first))
        .collect();
    found.reverse();
    found
        .into_iter()
        .flat_map(|at| level_marks_of(view, at))
        .collect()
}

/// Returns the mark of a finding; of a drift with several rates, one for each of its parts.
fn level_marks_of(view: &ChangesView, at: usize) -> Vec<LevelMark> {
    let whole = level_mark(view, at);
    let finding = view.finding(at);
    let [first, .., last] = &finding.rates[..] else {
        return vec![whole];
    };
    let position = |moment: usize| view.histories.moments[moment].position;
    let marks = finding.rates.iter().map(|rate| {
        let ends = rate.moments.map(position);
        let [from, to] = whole.span;
        LevelMark {
            span: [
                if rate == first { from } else { ends[0] },
                if rate == last { to } else { ends[1] },
            ],
            change: ends,
            levels: rate.levels,
            label: if rate == last {
                whole.label.clone()
            } else {
                String::new()
            },
            ..whole.clone()
        }
    });
    marks.collect()
}

/// Returns whether a finding is marked in the history of a metric.
fn is_drawn_in(finding: &Finding, metric: &MetricView, is_first: bool) -> bool {
    let name = &finding.subject.metric;
    *name == metric.sample.name || (is_first && name == FAILURES)
}

fn level_mark(view: &ChangesView, at: usize) -> LevelMark {
    let finding = view.finding(at);
    let [before, after] = finding.level_texts();
    LevelMark {
        text: format!(
            "{} {}; {before} → {after}; {}",
            finding.sentence(),
            since_text(view, finding),
            state_text(view, finding)
        ),
        ..finding_mark(&view.histories, &view.detection, at)
    }
}

/// Writes the charts of the causes that this benchmark stands for: its history, with links to its page.
pub(in crate::report) fn write_charts(
    site: &ReportSite,
    slug: &str,
    views: &[MetricView],
) -> Result<(), DirectoryError> {
    let Some(view) = &site.changes else {
        return Ok(());
    };
    for at in view.of_benchmark(slug) {
        let number = view.cause_of[*at];
        let finding = view.finding(*at);
        let is_lead = view.detection.groups[number].lead() == *at;
        let mut metrics = views.iter().enumerate();
        let drawn = metrics.find(|(number, it)| is_drawn_in(finding, it, *number == 0));
        let Some((metric, drawn)) = drawn.filter(|_| is_lead && number < view.sections()) else {
            continue;
        };
        let marks = level_marks(Some(view), slug, drawn, metric == 0);
        let points = history_points(drawn).into_iter().map(|(_, point)| {
            let link = format!("benchmark/{slug}.html{}", point.link);
            HistoryPoint { link, ..point }
        });
        let sample = &drawn.sample;
        let chart = history(
            &sample.name,
            &sample.metric.unit,
            &points.collect::<Vec<_>>(),
            &marks,
            &site.colours,
        );
        let file = format!("changes-c{}", number + 1);
        site.write_data(&file, &chart)?;
    }
    Ok(())
}
