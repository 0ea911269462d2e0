//! A section of the page of changes: a cause, with the evidence for it.

use crate::FindingGroupText;
use crate::FindingText;
use crate::MomentText;
use crate::report::FindingSentence;
use std::collections::BTreeSet;

use lapwing_stats::median;
use maud::{Markup, html};

use super::benchmark::chip;
use super::words::{cost, metric_text, place_text, since_text, state_text, subject_text, suspects};
use super::{ChangesView, CommitWords, SHOWN_CAUSES, SHOWN_FINDINGS};
use crate::difference_text;
use crate::quantity::{percent, quantity, round_percent};
use crate::report::frame::url_part;
use crate::report::headline::News;
use crate::report::picture::{SideRuns, runs_picture};
use crate::report::slug::slug;
use lapwing_analyse::detect::{ChangeKind, FAILURES, Finding, FindingGroup, SeriesPoint};
use lapwing_model::Version;
use lapwing_model::text::{counted, first_names, plural, shell_word};

/// Of more suspects only the first and the last are named.
pub(super) const SHOWN_SUSPECTS: usize = 6;
/// Of more observations only those that tell the runs apart best are shown.
const SHOWN_OBSERVATIONS: usize = 8;
/// Of more values of an observation only the most frequent are shown.
const SHOWN_VALUES: usize = 2;

/// Returns the sections of the most important causes.
pub(super) fn causes(view: &ChangesView) -> Markup {
    let groups = view.listed_causes();
    html! {
        @for (at, group) in groups.iter().take(SHOWN_CAUSES).enumerate() { (cause(view, at + 1, group)) }
        @if groups.len() > SHOWN_CAUSES {
            p.hint { (counted(groups.len() - SHOWN_CAUSES, "cause")) " of smaller changes "
                (plural(groups.len() - SHOWN_CAUSES, "is", "are")) " only in the table below." }
        }
    }
}

fn cause(view: &ChangesView, number: usize, group: &FindingGroup) -> Markup {
    let lead = view.lead(group);
    let file = format!("changes-c{number}");
    html! {
        section.cause #(format!("c{number}")) aria-labelledby=(format!("c{number}-title")) {
            h2 #(format!("c{number}-title")) { (chip(lead)) " " (heading(view, group)) }
            div.charts data-chart-file=(file) {}
            dl.facts {
                dt { "since" }
                dd { (place(view, group)) }
                dt { "suspects" }
                dd { (suspects_part(view, group)) }
                @if let Some(command) = view.bisect_command(group) {
                    dt { "bisect" }
                    dd { code { (command) } }
                }
                @if let Some(picture) = before_and_after(view, lead) {
                    dt { "runs" }
                    dd { (picture) }
                }
                @if let Some(seconds) = cost(view, group) {
                    dt { "cost" }
                    dd { (difference_text(seconds, "s")) " wall time per run of " (benchmarks_text(view, group)) }
                }
                dt { "changed there too" }
                dd { (environment_part(lead)) }
                dt { "state" }
                dd { (state_part(view, group)) }
            }
            (findings_table(view, number, group))
        }
    }
}

/// Returns the values of the runs before and after a change, as dots on one axis.
fn before_and_after(view: &ChangesView, finding: &Finding) -> Option<Markup> {
    let points = &view.histories.series[finding.series].points;
    if finding.subject.metric == FAILURES {
        return None;
    }
    let values = |points: &[SeriesPoint]| points.iter().map(|it| it.value).collect::<Vec<_>>();
    let [runs_before, runs_after] = finding.runs;
    let until = points.partition_point(|it| it.moment <= finding.last_before);
    let from = points.partition_point(|it| it.moment < finding.first_after);
    let before = points.get(until.saturating_sub(runs_before)..until)?;
    let after = points.get(from..points.len().min(from + runs_after))?;
    let unit = &finding.metric.unit;
    let side = |name, points, level| SideRuns {
        name,
        values: values(points),
        level,
        text: quantity(level, unit),
    };
    let sides = [
        side("before", before, finding.size.before),
        side("after", after, finding.size.after),
    ];
    let news = News::of(finding.direction);
    (!before.is_empty() && !after.is_empty()).then(|| runs_picture(&sides, news))
}

pub(super) fn heading(view: &ChangesView, group: &FindingGroup) -> Markup {
    let lead = view.lead(group);
    let number = group.findings.len();
    let largest = html! { (lead.subject.benchmark) ": " (subject_text(lead)) (lead.sentence()) };
    let of_benchmark = benchmarks(view, group).len() == 1;
    html! {
        @if group.is_shared {
            "Suite " (lead.subject.suite) ": " (counted(number, "history")) " changed together"
            @if let Some(middle) = middle(view, group) { ", by " (middle) " in the median" }
        } @else if number == 1 {
            (largest)
        } @else if of_benchmark {
            (largest) ", and " (counted(number - 1, "other metric"))
        } @else {
            (benchmarks_text(view, group)) " changed together, above all " (largest)
        }
    }
}

fn benchmarks<'v>(view: &'v ChangesView, group: &FindingGroup) -> BTreeSet<&'v str> {
    let findings = group.findings.iter().map(|at| view.finding(*at));
    findings.map(|it| it.subject.benchmark.as_str()).collect()
}

fn benchmarks_text(view: &ChangesView, group: &FindingGroup) -> String {
    counted(benchmarks(view, group).len(), "benchmark")
}

/// Returns the median of the changes of a group as ratios.
fn middle(view: &ChangesView, group: &FindingGroup) -> Option<String> {
    let findings = group.findings.iter().map(|at| view.finding(*at));
    let ratios: Vec<f64> = findings
        .filter(|it| it.size.is_ratio)
        .map(|it| it.size.change.ln())
        .collect();
    let ratio = median(&ratios)?.exp();
    let sign = if ratio < 1.0 { "−" } else { "+" };
    Some(format!("{sign}{}", percent((ratio - 1.0).abs())))
}

/// Returns where a cause was first seen, as all of its findings allow.
fn place(view: &ChangesView, group: &FindingGroup) -> String {
    let lead = view.lead(group);
    match lead.kind {
        ChangeKind::Step | ChangeKind::Alarm => {
            let (first, last) = (*group.range.start(), *group.range.end());
            place_text(view, lead.first_after.clamp(first, last))
        }
        ChangeKind::Drift => {
            let since = since_text(view, lead);
            since.trim_start_matches("since ").to_owned()
        }
    }
}

/// Returns the state of a cause and, if it is new, the command that marks it as known.
fn state_part(view: &ChangesView, group: &FindingGroup) -> Markup {
    let lead = view.lead(group);
    let open: Vec<String> = (group.findings.iter())
        .map(|at| view.finding(*at))
        .filter(|it| it.is_open())
        .map(|it| view.id(it))
        .collect();
    let moment = &view.histories.moments[lead.first_after];
    let program = &view.program;
    let command = match moment.version().label() {
        // A command with many ids is hard to read, and later findings of the same version would be new again.
        Some(version) if open.len() > SHOWN_FINDINGS => {
            let version = shell_word(&version);
            format!("{program} triage expect '*' --at-version {version}")
        }
        Some(_) | None => format!("{program} triage acknowledge {}", open.join(" ")),
    };
    html! {
        span.state { (state_text(view, lead)) @if let Some(date) = view.said_on(lead) { ", " (date) } }
        @if !open.is_empty() { span.hint { "; if it is known: " } code { (command) } }
    }
}

/// Returns the versions that may have made the change.
fn suspects_part(view: &ChangesView, group: &FindingGroup) -> Markup {
    let lead = view.lead(group);
    let suspects = suspects(view, group);
    let number = suspects.len();
    let commits = view.suspected(group);
    let is_described = lead.kind != ChangeKind::Drift && !commits.is_empty();
    let range = html! { code { (group.suspects_text(&view.detection, &view.histories)) } };
    html! {
        @if lead.kind == ChangeKind::Drift {
            "a drift over " (counted(number, "version")) ": look for something that grows, or fills up"
        } @else {
            (plural(number, "1 version", &counted(number, "version"))) @if !is_described { ": " }
            @for (at, moment) in suspects.iter().enumerate().filter(|_| !is_described) {
                @if number <= SHOWN_SUSPECTS || at < SHOWN_SUSPECTS - 2 || at == number - 1 {
                    @if at > 0 { ", " }
                    (version_part(view, *moment))
                    @if let Some(date) = view.histories.moments[*moment].date_text() { " (" (date) ")" }
                } @else if at == SHOWN_SUSPECTS - 2 { ", …" }
            }
            @if group.is_shared { ". As the whole suite changed, look for a change of the machine first." }
        }
        " " span.hint { "("
            @match view.difference_link(group.good, *group.range.end()) {
                Some(link) => a href=(link) rel="noopener noreferrer" title="The difference on the web" { (range) },
                None => (range),
            }
            ")" }
        @if is_described {
            ul.suspects {
                @for it in commits { (described_part(view, lead, it)) }
                @let all = group.commits.unwrap_or(commits.len());
                @if all > commits.len() { li.hint { "and " (counted(all - commits.len(), "older commit")) } }
            }
        }
    }
}

/// Returns a commit with its message and its author.
fn described_part(view: &ChangesView, lead: &Finding, it: &CommitWords) -> Markup {
    const HASH: usize = 10;
    let hash = it.commit.get(..HASH).unwrap_or(&it.commit);
    let pages = view.commit_pages(&lead.subject.suite);
    let version = Version {
        commit: Some(it.commit.clone()),
        ..Version::default()
    };
    let link = pages.and_then(|it| it.commit(&version));
    html! {
        li {
            @match link {
                Some(link) => a href=(link) rel="noopener noreferrer" title="The commit on the web" { (hash) },
                None => (hash),
            }
            " " q { (it.subject) } " " span.hint { (it.author) }
        }
    }
}

/// Returns the version of a moment, with a link to its commit if there is one.
fn version_part(view: &ChangesView, moment: usize) -> Markup {
    let moment = &view.histories.moments[moment];
    html! {
        @match view.commit_link(moment) {
            Some(link) => a href=(link) rel="noopener noreferrer" title="The commit on the web" { (moment.label()) },
            None => (moment.label()),
        }
    }
}

/// Returns what else differs between the runs before and after.
fn environment_part(finding: &Finding) -> Markup {
    let changes = &finding.environment;
    html! {
        @if changes.is_empty() && finding.explained.is_some() {
            "nothing else that was recorded of the environment"
        } @else if changes.is_empty() {
            "nothing that was recorded of the environment"
        } @else {
            ul.observed {
                @for change in changes.iter().take(SHOWN_OBSERVATIONS) {
                    li {
                        strong { (change.key) } " " (first_names(&change.before, SHOWN_VALUES)) " → " (first_names(&change.after, SHOWN_VALUES))
                        @if change.separation < 1.0 {
                            span.hint { " (tells " (round_percent((change.separation * 100.0).round() / 100.0)) " of the runs apart)" }
                        }
                    }
                }
                @if changes.len() > SHOWN_OBSERVATIONS {
                    li.hint { "and " (changes.len() - SHOWN_OBSERVATIONS) " more" }
                }
            }
        }
    }
}

fn findings_table(view: &ChangesView, number: usize, group: &FindingGroup) -> Markup {
    let all = group.findings.len();
    html! {
        div.scroll tabindex="0" role="region" aria-label=(format!("Findings of cause {number}")) {
            table {
                thead { tr {
                    th scope="col" { "benchmark" } th scope="col" { "metric" }
                    th.number scope="col" { "before" } th.number scope="col" { "after" } th.number scope="col" { "change [95 % CI]" }
                    th.number scope="col" { "runs" } th scope="col" { "since" } th scope="col" { "id" } th scope="col" { "verdict" }
                } }
                tbody {
                    @for at in group.findings.iter().take(SHOWN_FINDINGS) {
                        @let it = view.finding(*at);
                        @let [before, after] = it.level_texts();
                        tr #(view.id(it)) {
                            td.name { a href=(page_of(it)) { (it.subject.benchmark) } }
                            td { (metric_text(it)) }
                            td.number { (before) } td.number { (after) } td.number { (it.change_text()) }
                            td.number { (it.runs[0]) " / " (it.runs[1]) }
                            td { (version_part(view, it.since())) }
                            td { a href=(format!("#{}", view.id(it))) title="A link to this finding that later reports keep" { code { (view.id(it)) } } }
                            td { (chip(it)) " " @if !it.is_open() { span.state { (state_text(view, it)) } } }
                        }
                    }
                }
            }
        }
        @if all > SHOWN_FINDINGS {
            p.hint { "The largest " (SHOWN_FINDINGS) " of " (all) ". "
                a href=(format!("#cause={number}")) { "All in the table" } }
        }
    }
}

/// Returns the address of a finding's benchmark, by its metric.
fn page_of(finding: &Finding) -> String {
    let subject = &finding.subject;
    let slug = slug(&subject.suite, &subject.benchmark);
    format!("benchmark/{slug}.html#metric={}", url_part(&subject.metric))
}
