//! The page of stacks: the advised versions, the versions that ran together, and what failed.

use lapwing_model::Levels;
use lapwing_model::text::{capitalised, counted, first_names};
use maud::{Markup, html};
use serde_json::json;

use super::ReportSite;
use super::directory::DirectoryError;
use super::frame::{PageFrame, SitePage};
use super::headline::{Headline, News};
use super::stack_matrix::matrix;
use crate::answers::advise::AdviceAnswer;
use crate::answers::stacks::explanation;
use crate::chart::Chart;
use crate::study::{chart, stack_change_text};
use crate::writing::NextStep;
use lapwing_analyse::sample::BenchmarkData;

/// The stacks of a report.
#[derive(Debug)]
pub struct StacksView<'m> {
    /// The packages that vary, and what they are judged by.
    pub about: String,
    /// The advice of `lapwing advise`, or why there is none.
    pub advice: Result<AdviceAnswer<'m>, String>,
    /// The answers by other metrics.
    pub others: Vec<GoalAdvice>,
    /// The stacks that failed.
    pub failures: Vec<StackFailure>,
    /// The command that gives the advice.
    pub command: String,
    /// The command that continues from it.
    pub next: Option<NextStep>,
}

/// An advice by another metric.
#[derive(Debug, Clone)]
pub struct GoalAdvice {
    /// The metric.
    pub metric: String,
    /// The advice in a sentence.
    pub text: String,
    /// Whether the advised stack can be told from another one.
    pub is_best: bool,
    /// The command that gives it.
    pub command: String,
}

/// A stack that failed.
#[derive(Debug, Clone)]
pub struct StackFailure {
    /// The requested packages and `python`, with their versions.
    pub factors: Levels,
    /// The failed step, in words: `does not build`, `2 of 3 instances failed`.
    pub state: String,
    /// The output that says why; may be empty.
    pub log: String,
}

impl<'m> AdviceAnswer<'m> {
    /// Returns the advice as one by another metric.
    pub fn by_goal(&self, metric: String, command: String) -> GoalAdvice {
        GoalAdvice {
            metric,
            text: self.headline(),
            is_best: self.is_best(),
            command,
        }
    }

    /// Returns the command that continues from the advice, which `command` gives.
    pub fn next_step(&self, command: &str) -> NextStep {
        match self.is_best() {
            true => NextStep::new(
                format!("{command} -o requirements.txt"),
                "writes these versions as a requirements file",
            ),
            false => NextStep::new(
                format!("{command} --explore --count 4 -o next.txt"),
                "proposes the stacks to measure next",
            ),
        }
    }
}

/// Returns whether some of these measurements are of different stacks: one alone is only where they were made.
pub(super) fn has_stacks(data: &BenchmarkData) -> bool {
    let runs = data.instances.iter().map(|it| &it.run);
    let mut stacks = runs.filter(|it| lapwing_study::is_stack(it));
    let first = stacks.next();
    stacks.any(|it| first.is_some_and(|first| first.factors != it.factors))
}

/// Writes the page, and returns its answer for the index.
pub(super) fn write(site: &ReportSite, view: &StacksView<'_>) -> Result<Headline, DirectoryError> {
    let charts = view.advice.as_ref().map_or_else(|_| Vec::new(), charts);
    let name = SitePage::Stacks.name();
    let settings = json!({
        "page": name,
        "slug": name,
        "charts": site.write_data(name, &charts)?,
    });
    let main = html! {
        @if let Ok(answer) = &view.advice { (matrix(answer, &view.failures)) }
        (failures(&view.failures))
        @if !charts.is_empty() {
            h2 { "Charts" }
            div.charts #charts {}
            noscript { p { "Charts need JavaScript." } }
        }
        @if let Ok(answer) = &view.advice { (evidence(answer)) }
        (others(&view.others))
    };
    let headline = headline(view);
    let frame = PageFrame {
        page: Some(SitePage::Stacks),
        name: SitePage::Stacks.title(),
        headline: &headline,
        class: "stacks",
        skip: ("#versions", "Skip to the versions"),
        scripts: match charts.is_empty() {
            true => &["app.js"],
            false => SitePage::Stacks.scripts(),
        },
    };
    frame.write_previews(site)?;
    let page = frame.html(site, &settings, &main, &html! {});
    site.directory.write(&SitePage::Stacks.file(), &page)?;
    Ok(Headline {
        about: Some(html! { a href=(SitePage::Stacks.file()) { "Stacks" } " of " (view.about) }),
        facts: facts(view, &SitePage::Stacks.file()),
        ..headline
    })
}

fn headline(view: &StacksView<'_>) -> Headline {
    let answer = match &view.advice {
        Ok(answer) => answer.headline(),
        Err(reason) => capitalised(reason),
    };
    Headline {
        about: Some(html! { "Stacks of " (view.about) }),
        facts: facts(view, ""),
        next: view.next.clone(),
        explained: vec![html! {
            "The answer of " code { (view.command) } ": docs/advise.md describes how it learns across stacks."
        }],
        ..Headline::new(News::Nothing, html! { (answer) })
    }
}

/// Returns what failed, the first reason for the advice, and what other metrics decide; links lead to this page.
fn facts(view: &StacksView<'_>, page: &str) -> Vec<Markup> {
    let mut facts = Vec::new();
    if let Some(first) = view.failures.first() {
        facts.push(html! {
            a href=(format!("{page}#failures")) { (counted(view.failures.len(), "stack")) " failed" }
            ": " (stack_text(&first.factors)) " " (first.state)
            @if view.failures.len() > 1 { ", and others" }
            "."
        });
    }
    if let Ok(answer) = &view.advice
        && let Some(first) = answer.sentences().first()
    {
        facts.push(html! { (capitalised(&first.text)) "." });
    }
    if let Some(other) = view.others.iter().find(|it| it.is_best) {
        facts.push(html! { "By " (other.metric.replace('_', " ")) ": " (other.text) "." });
    }
    facts
}

fn charts(answer: &AdviceAnswer<'_>) -> Vec<Chart> {
    let lines = chart::stack_lines(answer.model, &answer.advice);
    let others = [
        chart::stack_changes(answer.model, &answer.advice),
        chart::version_map(answer.model, &answer.advice),
    ];
    lines.into_iter().chain(others).collect()
}

/// Returns the justification, what each version contributes, and notes.
fn evidence(answer: &AdviceAnswer<'_>) -> Markup {
    let drivers = answer.advice.drivers.iter().map(|it| {
        let change = stack_change_text(answer.model.data, it.change);
        format!("{}: {change}", answer.driver_name(it))
    });
    let drivers: Vec<String> = drivers.collect();
    html! {
        h2 { "Why" }
        ul { @for note in answer.sentences() { li { (capitalised(&note.text)) "." } } }
        @if !drivers.is_empty() {
            h2 { "What each version changes" }
            ul { @for it in drivers { li { (it) } } }
        }
        @if !answer.notes.is_empty() {
            h2 { "Notes" }
            ul { @for note in &answer.notes { li { (capitalised(&note.text)) "." } } }
        }
    }
}

fn others(others: &[GoalAdvice]) -> Markup {
    html! {
        @if !others.is_empty() {
            h2 #goals { "By other metrics" }
            div.scroll tabindex="0" role="region" aria-labelledby="goals" {
                table.goals {
                    thead { tr { th scope="col" { "metric" } th scope="col" { "advice" } th scope="col" { "command" } } }
                    tbody { @for it in others {
                        tr { th scope="row" { (it.metric.replace('_', " ")) } td.long { (it.text) } td { code { (it.command) } } }
                    } }
                }
            }
        }
    }
}

fn failures(failures: &[StackFailure]) -> Markup {
    html! {
        @if !failures.is_empty() {
            h2 #failures { "Failures" }
            div.scroll tabindex="0" role="region" aria-labelledby="failures" {
                table.stack-failures {
                    thead { tr {
                        th scope="col" { "stack" } th scope="col" { "failure" } th scope="col" { "packages" } th scope="col" { "reason" }
                    } }
                    tbody { @for it in failures {
                        @let reason = explanation(&it.log);
                        tr {
                            th scope="row" { (stack_text(&it.factors)) }
                            td.failed { "✗ " (it.state) }
                            td { (first_names(named_in(&it.factors, &reason), 3)) }
                            td.long {
                                @if reason.chars().count() <= LONGEST_REASON { (reason) }
                                @else { details { summary { (shortened(&reason)) } pre { (it.log) } } }
                            }
                        }
                    } }
                }
            }
        }
    }
}

/// Longer reasons are folded.
const LONGEST_REASON: usize = 240;

/// Returns the end of a reason: there programs say what went wrong.
fn shortened(reason: &str) -> String {
    let end = reason.chars().count().saturating_sub(LONGEST_REASON);
    format!("… {}", reason.chars().skip(end).collect::<String>())
}

/// Returns the packages that a reason names.
fn named_in<'f>(factors: &'f Levels, reason: &str) -> Vec<&'f str> {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    let words: Vec<&str> = reason.split(|it| !is_word(it)).collect();
    let named = factors.keys().filter(|name| words.contains(&name.as_str()));
    named.map(String::as_str).collect()
}

/// Returns a stack as text, its interpreter last.
fn stack_text(factors: &Levels) -> String {
    let mut pins: Vec<_> = factors.iter().collect();
    pins.sort_by_key(|(name, _)| *name == "python");
    let pins = pins
        .into_iter()
        .map(|(name, version)| format!("{name}=={version}"));
    pins.collect::<Vec<_>>().join(" ")
}
