//! The versions that were measured together: a row for each combination of versions of the other packages, a column
//! for each version of the package with the most.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::stacks::StackFailure;
use crate::answers::advise::AdviceAnswer;
use crate::study::{StudyMetricText, stack_change_text};
use lapwing_model::text::counted;
use lapwing_study::{PackagePin, StackFactor, StudyScale};

/// A combination of versions in the matrix.
struct StackCell {
    class: &'static str,
    text: String,
    title: String,
}

/// Returns the matrix; nothing if no package has several versions.
pub(super) fn matrix(answer: &AdviceAnswer<'_>, failures: &[StackFailure]) -> Markup {
    let data = answer.model.data;
    let mut varying: Vec<usize> = (0..data.factors.len())
        .filter(|at| data.factors[*at].versions.len() > 1)
        .collect();
    // The first of those with the most versions.
    let across = varying
        .iter()
        .copied()
        .rev()
        .max_by_key(|at| data.factors[*at].versions.len());
    let Some(across) = across else {
        return html! {};
    };
    varying.retain(|at| *at != across);
    let states = states(answer, failures);
    let tried: BTreeSet<&Vec<usize>> = data.outcomes.keys().collect();
    let mut rows: BTreeMap<Vec<usize>, BTreeMap<usize, StackCell>> = BTreeMap::new();
    for stack in tried {
        let row: Vec<usize> = varying.iter().map(|at| stack[*at]).collect();
        let cells = rows.entry(row).or_default();
        cells.insert(stack[across], cell(answer, stack, &states));
    }
    let columns = &data.factors[across];
    let packages: Vec<&StackFactor> = varying.iter().map(|at| &data.factors[*at]).collect();
    let caption = match data.only_goal() {
        Some(goal) => format!("change of {}", goal.metric.name.replace('_', " ")),
        None => "mean change of the goal".to_owned(),
    };
    html! {
        h2 #versions { "Versions" }
        p.hint {
            "Each measured stack with its " (caption) " against the advised one; grey if not distinguishable from it, empty if not measured."
        }
        div.scroll tabindex="0" role="region" aria-labelledby="versions" {
            table.matrix {
                thead {
                    tr {
                        @for package in &packages { th rowspan="2" scope="col" { (package.name) } }
                        th.across colspan=(columns.versions.len()) scope="colgroup" { (columns.name) }
                    }
                    tr { @for version in &columns.versions { th.number scope="col" { (version) } } }
                }
                tbody {
                    @for (row, cells) in &rows {
                        tr {
                            @for (package, level) in packages.iter().zip(row) {
                                th scope="row" { (package.versions[*level]) }
                            }
                            @for level in 0..columns.versions.len() {
                                @match cells.get(&level) {
                                    Some(it) => td class=(format!("number {}", it.class)) title=(it.title) { (it.text) },
                                    None => td.number {},
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the failed steps of stacks.
fn states<'f>(
    answer: &AdviceAnswer<'_>,
    failures: &'f [StackFailure],
) -> BTreeMap<Vec<usize>, &'f str> {
    let of_failure = |failure: &'f StackFailure| {
        let pins = failure.factors.iter().map(|(package, version)| PackagePin {
            package: package.clone(),
            version: version.clone(),
        });
        let pins: Vec<PackagePin> = pins.collect();
        Some((answer.model.data.pinned(&pins)?, failure.state.as_str()))
    };
    failures.iter().filter_map(of_failure).collect()
}

fn cell(
    answer: &AdviceAnswer<'_>,
    stack: &[usize],
    states: &BTreeMap<Vec<usize>, &str>,
) -> StackCell {
    let (model, advised) = (answer.model, &answer.advice.advised.stack);
    let data = model.data;
    let name = data.text(stack);
    let outcome = data.outcomes.get(stack).copied().unwrap_or_default();
    let instances = model.instances(stack);
    if instances == 0 {
        let state = states.get(stack).copied().unwrap_or("no value");
        let (class, text) = match outcome.failures {
            0 => ("alike", state.to_owned()),
            _ => ("failed", format!("✗ {state}")),
        };
        let title = format!("{name}: {state}");
        return StackCell { class, text, title };
    }
    let failed = match outcome.failures {
        0 => String::new(),
        some => format!(" ✗ {some} of {} failed", outcome.attempts),
    };
    let size = counted(instances, "instance");
    if stack == advised.as_slice() {
        return StackCell {
            class: "advised",
            text: format!("advised{failed}"),
            title: format!("{name}: {size}"),
        };
    }
    let change = model.against(stack, advised);
    let metric = &data.goals[0].metric;
    let text = metric.change_text(StudyScale::Log, data.shown(change).change);
    StackCell {
        class: match (outcome.failures, change.is_distinguishable()) {
            (0, true) => "",
            (0, false) => "alike",
            _ => "failed",
        },
        text: format!("{text}{failed}"),
        title: format!("{name}: {}, {size}", stack_change_text(data, change)),
    }
}
