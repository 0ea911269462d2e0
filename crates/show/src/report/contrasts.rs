//! The findings of a study as a table: each sentence with the effects that it tells, on one axis.

use maud::{Markup, html};

use crate::study::{StudyMetricText, finding_title, study_finding_text};
use lapwing_study::{
    BesideEffect, FindingKind, StudyContrast, StudyData, StudyFinding, StudyScale,
};

/// The size of a plot in its own units, and the height of one of its lines.
const WIDTH: f64 = 280.0;
const LINE: f64 = 18.0;

/// An effect with the condition that it holds under.
struct Contrast {
    condition: String,
    change: f64,
    /// The ends of its interval, or the change itself.
    ends: [f64; 2],
    /// Whether it is more than chance explains.
    is_told: bool,
}

impl Contrast {
    fn new(condition: impl Into<String>, contrast: &StudyContrast) -> Self {
        let StudyContrast {
            change, interval, ..
        } = contrast;
        Self {
            condition: condition.into(),
            change: *change,
            ends: interval.map_or([*change; 2], |it| [it.lower, it.upper]),
            is_told: true,
        }
    }
}

/// Returns the effects that a finding tells.
fn contrasts(finding: &StudyFinding, data: &StudyData, scale: StudyScale) -> Vec<Contrast> {
    let name = |at: usize| &data.treatments[at].name;
    let at = |value: f64| format!("at {}", data.metric.value_text(scale, value));
    match finding {
        StudyFinding::Setting(own) if own.is_told => vec![Contrast::new("", &own.beside_base)],
        StudyFinding::Effect(own) => vec![Contrast::new("", &own.effect)],
        StudyFinding::Undecided(own) => vec![Contrast {
            is_told: false,
            ..Contrast::new("", &own.effect)
        }],
        StudyFinding::Pair(pair) => {
            let other = name(pair.first.other);
            vec![
                Contrast::new(format!("without {other}"), &pair.first.without),
                Contrast::new(format!("with {other}"), &pair.first.with),
            ]
        }
        StudyFinding::Level(level) => [level.low, level.high]
            .iter()
            .map(|(value, effect)| Contrast::new(at(*value), effect))
            .collect(),
        StudyFinding::Beside(BesideEffect::Drift {
            change, interval, ..
        }) => vec![Contrast {
            condition: String::new(),
            change: *change,
            ends: interval.map_or([*change; 2], |it| [it.lower, it.upper]),
            is_told: true,
        }],
        StudyFinding::Setting(_) | StudyFinding::Beside(_) | StudyFinding::Next(_) => Vec::new(),
    }
}

/// Returns the table of these findings, with a head for each kind.
pub(super) fn contrast_table(
    findings: &[&StudyFinding],
    data: &StudyData,
    scale: StudyScale,
) -> Markup {
    let all = findings.iter().flat_map(|it| contrasts(it, data, scale));
    let end = all
        .flat_map(|it| it.ends)
        .filter(|it| it.is_finite())
        .fold(0.0, |most: f64, it| most.max(it.abs()));
    let text = |value: f64| data.metric.change_text(scale, value);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Findings" {
        table.contrasts {
            thead { tr {
                th scope="col" { "finding" }
                th scope="col" {
                    @if end > 0.0 {
                        span.unseen { "effect" }
                        span.contrast-axis aria-hidden="true" { span { (text(-end)) } span { "0" } span { (text(end)) } }
                    }
                }
            } }
            @for kind in FindingKind::ALL {
                @let of_kind: Vec<_> = findings.iter().filter(|it| it.kind() == kind).collect();
                @if !of_kind.is_empty() {
                    tbody {
                        tr { th colspan="2" scope="rowgroup" { (finding_title(kind)) } }
                        @for finding in of_kind {
                            tr {
                                td { (study_finding_text(finding, data, scale).replace('`', "")) }
                                td { (plot(&contrasts(finding, data, scale), end, data, scale)) }
                            }
                        }
                    }
                }
            }
        }
        }
    }
}

/// Returns the effects as dots with intervals around a line at none.
fn plot(contrasts: &[Contrast], end: f64, data: &StudyData, scale: StudyScale) -> Markup {
    let x = |value: f64| WIDTH / 2.0 * (1.0 + (value / end).clamp(-1.0, 1.0) * 0.97);
    let class = |it: &Contrast| {
        let is_apart = it.ends[0] > 0.0 || it.ends[1] < 0.0;
        match (
            it.is_told && is_apart,
            data.metric.is_gain(scale, it.change),
        ) {
            (false, _) => "no-news",
            (true, true) => "better",
            (true, false) => "worse",
        }
    };
    let title = |it: &Contrast| {
        let change = data.metric.change_text(scale, it.change);
        format!("{} {change}", it.condition).trim().to_owned()
    };
    html! {
        @if !contrasts.is_empty() && end > 0.0 {
            @let titles: Vec<String> = contrasts.iter().map(title).collect();
            @let rows = contrasts.len();
            @let is_named = contrasts.iter().any(|it| !it.condition.is_empty());
            @let line = if is_named { 2.0 * LINE } else { LINE };
            @let height = line * lapwing_stats::as_f64(rows);
            svg.contrast viewBox=(format!("0 0 {WIDTH} {height}")) width=(WIDTH) height=(height) role="img" aria-label=(titles.join(", ")) {
                line.zero x1=(x(0.0)) x2=(x(0.0)) y1="0" y2=(height) {}
                @for (at, it) in contrasts.iter().enumerate() {
                    @let top = line * lapwing_stats::as_f64(at);
                    @let y = top + line - LINE / 2.0;
                    g class=(class(it)) {
                        title { (titles[at]) }
                        @if is_named { text x=(x(0.0) + 4.0) y=(top + 13.0) { (it.condition) } }
                        line x1=(x(it.ends[0])) x2=(x(it.ends[1])) y1=(y) y2=(y) {}
                        circle cx=(x(it.change)) cy=(y) r="4.5" {}
                    }
                }
            }
        }
    }
}
