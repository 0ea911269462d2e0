//! The verdicts of comparisons where they meet a benchmark: in the index and on its page.

use crate::ComparisonText;
use crate::VerdictText;
use std::collections::BTreeMap;

use maud::{Markup, html};

use super::super::compare::{ComparisonIndex, news_of, picture, sentence};
use super::super::frame::url_part;
use super::super::headline::{Headline, News};
use crate::sample::{FIRST_METRIC, MetricSample, metric_title};
use crate::words::verdict::news_rank;
use crate::{caution_text, comparison_sentence, news_first};
use lapwing_analyse::judge::{Comparison, Verdict};
use lapwing_model::text::capitalised;

/// More verdicts than this stand only on the page of comparisons.
const SHOWN: usize = 12;

/// Returns a verdict with its symbol and colour.
pub(in crate::report) fn chip(verdict: Verdict) -> Markup {
    html! {
        span class=(format!("chip {}", verdict.name())) { span aria-hidden="true" { (verdict.symbol()) } " " (verdict.title()) }
    }
}

/// Returns the symbol and the title of each verdict, for scripts.
pub(in crate::report) fn looks() -> BTreeMap<&'static str, [&'static str; 2]> {
    let look = |verdict: Verdict| (verdict.name(), [verdict.symbol(), verdict.title()]);
    Verdict::ALL.map(look).into_iter().collect()
}

/// A verdict as a row of the index has it.
#[derive(Debug, Clone, Default)]
pub(in crate::report) struct RowVerdict {
    /// The name of the verdict; empty for none.
    pub(in crate::report) name: &'static str,
    /// The ratio and the names of the sides.
    pub(in crate::report) text: String,
    /// The ratio and its interval.
    pub(in crate::report) change: [String; 2],
    pub(in crate::report) against: String,
}

/// Returns the worst verdict on a variant of a benchmark by a metric.
pub(in crate::report) fn of_row(
    shown: Option<&ComparisonIndex>,
    slug: &str,
    sample: &MetricSample,
    variant: &str,
) -> RowVerdict {
    let Some(shown) = shown else {
        return RowVerdict::default();
    };
    let worst = shown
        .of(slug)
        .filter(|it| it.subject.metric == sample.name)
        .filter(|it| is_about(it, sample, variant))
        .min_by_key(|it| it.verdict);
    worst.map_or_else(RowVerdict::default, |it| RowVerdict {
        name: it.verdict.name(),
        text: format!("{}, {} against {}", sentence(it), it.candidate, it.baseline),
        change: it.change_texts(),
        against: format!("against {}", it.baseline),
    })
}

/// Returns whether a comparison is about a variant: its candidate's runs are of that variant, or where those are in
/// no history here, as those of a file, its baseline's. Where neither are, only the names tell.
fn is_about(comparison: &Comparison, sample: &MetricSample, variant: &str) -> bool {
    for side in comparison.runs.iter().rev() {
        let compared = sample.runs.iter().filter(|it| side.contains(&it.id));
        let mut compared = compared.peekable();
        if compared.peek().is_some() {
            return compared.any(|it| it.variant == variant);
        }
    }
    // As in a file: what its side was measured with tells.
    let [baseline, candidate] = &comparison.settings;
    let measured = if candidate.variants.is_empty() {
        baseline
    } else {
        candidate
    };
    let is_known = sample.variants().iter().any(|known| measured.is_of(known));
    !is_known || measured.is_of(variant)
}

/// Returns the answer for a benchmark by its worst comparison.
pub(in crate::report) fn headline(shown: &ComparisonIndex, slug: &str) -> Option<Headline> {
    let mut sorted: Vec<&Comparison> = shown.of(slug).collect();
    sorted.sort_by(|one, other| news_first(one, other));
    sorted.sort_by_key(|it| (news_rank(it.verdict), it.subject.metric != FIRST_METRIC));
    let it = *sorted.first()?;
    let news = news_of(it.verdict);
    let metric = metric_title(&it.subject.metric);
    let sides = format!("{} against {}", it.candidate, it.baseline);
    let said = (it.ratio.as_ref()).and_then(|ratio| {
        let unit = &it.metric.unit;
        comparison_sentence(&it.candidate, &it.baseline, unit, it.metric.better, ratio)
    });
    let answer = match (news, said) {
        (News::Nothing, _) => format!("{metric}: {}, {sides}", it.verdict.title()),
        (_, Some(said)) => format!("{metric}: {said}"),
        (_, None) => format!("{metric}: {}, {sides}", sentence(it)),
    };
    let why = it.why_text();
    let because = html! { (sentence(it)) @if !why.is_empty() { ": " (why) } "." };
    let because = (news == News::Nothing || !why.is_empty()).then_some(because);
    let cautions = it.cautions.iter();
    let cautions = cautions.map(|it| html! { "Caution: " (caution_text(it)) "." });
    let is_open = it.needed_in_total().is_some();
    Some(Headline {
        facts: because.into_iter().chain(cautions).collect(),
        picture: picture(it),
        next: shown.view.next.clone().filter(|_| is_open),
        ..Headline::new(news, html! { (capitalised(&answer)) })
    })
}

/// Returns what was found of a benchmark, worst first.
pub(in crate::report) fn section(shown: &ComparisonIndex, slug: &str, id: &str) -> Markup {
    let mut found: Vec<&Comparison> = shown.of(slug).collect();
    found.sort_by_key(|it| it.verdict);
    html! {
        @if !found.is_empty() {
            ul.verdicts {
                @for it in found.iter().take(SHOWN) {
                    li {
                        (chip(it.verdict)) " " (metric_title(&it.subject.metric)) " "
                        @if let Some(setting) = it.subject.setting.text() { "(" (setting) ") " }
                        strong { (sentence(it)) } ", " (it.candidate) " against " (it.baseline)
                        @let why = it.why_text();
                        @if !why.is_empty() { ": " (why) }
                        "."
                        @for caution in &it.cautions { " " span.attention { "Caution: " (caution_text(caution)) "." } }
                    }
                }
                @if found.len() > SHOWN {
                    li { "and " (found.len() - SHOWN) " more" }
                }
                li.hint { a href=(format!("../compare.html#q={}", url_part(id))) { "In the table of all comparisons" } }
            }
        }
    }
}
