//! A section of the page of changes: what the detector does on replays of these histories.

use lapwing_analyse::detect::{
    AlarmCount, DriftShare, JUDGED_NIGHTS, RUNS_FOR_A_SELF_TEST, SeenStep, SuiteSelfTest,
};
use lapwing_model::text::{capitalised, counted, grouped};
use maud::{Markup, html};

use super::ChangesView;
use crate::answers::subject_title;
use crate::{alarm_cell, alarms_text, drift_cell, round_percent, step_cell};

/// Returns the section; nothing if it was not asked for.
pub(super) fn self_test_section(view: &ChangesView) -> Markup {
    let Some((test, wanted)) = &view.self_test else {
        return html! {};
    };
    html! {
        section #self-test {
            h2 { "On these histories" }
            @if test.suites.is_empty() {
                p { "No history has the " (RUNS_FOR_A_SELF_TEST) " runs that a self-test needs." }
            } @else {
                @for suite in &test.suites {
                    p { strong { (capitalised(&alarms_text(suite))) } " of " (suite.suite) ", if nothing changed." }
                    (table(suite, &wanted.slowdowns))
                }
                p.hint {
                    "From " (grouped(test.replays.quiet)) " replays of " (JUDGED_NIGHTS) " runs without a change, "
                    (grouped(test.replays.steps)) " steps and " (grouped(2 * test.replays.drifts))
                    " drifts of each size, in one history at a time. Step: runs until half (90 %) of them are found, at most "
                    (JUDGED_NIGHTS) ". Drift: share found, over the whole history / over its last half."
                    @if test.removed > 0 { " Before, " (counted(test.removed, "known change")) " removed." }
                }
            }
        }
    }
}

fn table(suite: &SuiteSelfTest, slowdowns: &[f64]) -> Markup {
    let sizes = || slowdowns.iter().map(|it| round_percent(it - 1.0));
    let row = |alarms: AlarmCount, steps: Vec<SeenStep>, drifts: Vec<DriftShare>| {
        html! {
            td.number { (alarm_cell(suite, alarms)) }
            @for step in &steps { td.number { (step_cell(step)) } }
            @for drift in drifts { td.number { (drift_cell(drift)) } }
        }
    };
    let all = 0..slowdowns.len();
    html! {
        div.scroll { table {
            thead { tr {
                th { "history" }
                th.number { @if suite.runs_per_year.is_some() { "alarms a year" } @else { "alarms in 100 runs" } }
                @for size in sizes() { th.number { "step " (size) } }
                @for size in sizes() { th.number { "drift " (size) } }
            } }
            tbody {
                tr {
                    th { "all" }
                    (row(
                        suite.alarms,
                        all.clone().map(|at| suite.step(at)).collect(),
                        all.map(|at| suite.drift(at)).collect(),
                    ))
                }
                @for series in suite.series.iter().filter(|it| !it.steps.is_empty()) {
                    tr {
                        th { (subject_title(&series.subject)) }
                        (row(series.alarms, series.steps.clone(), series.drifts.clone()))
                    }
                }
            }
        } }
    }
}
