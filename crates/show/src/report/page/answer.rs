//! The headline of the page of a benchmark: the verdict on it, its latest values, and what comes next.

use crate::EstimateText;
use maud::{Markup, html};

use super::{BenchmarkPage, names_matter};
use crate::NOISY;
use crate::quantity::round_percent;
use crate::report::frame::url_part;
use crate::report::headline::{Headline, News};
use crate::report::index_parts::row::{IndexRow, MetricIndexRows};
use crate::report::index_parts::verdicts;
use crate::report::parametrised::test_slug;
use crate::report::provenance::marked;
use crate::report::sections::metric;
use crate::sample::metric_title;
use crate::writing::NextStep;
use lapwing_analyse::judge::INSTANCES_FOR_A_VERDICT;
use lapwing_analyse::sample::BenchmarkData;
use lapwing_model::Id;
use lapwing_model::text::{capitalised, counted, grouped, plural};

/// The number of variants whose latest values are named; the table of metrics has all.
const NAMED_VARIANTS: usize = 2;

/// The number of characters that the page shows of a text.
const SHOWN_CHARACTERS: usize = 160;

/// Returns the answer: of the comparison, else of the history, else what was measured. What fails now is worse news
/// than all that is no regression.
pub(super) fn headline(page: &BenchmarkPage<'_>) -> Headline {
    let site = page.site;
    let compared = (site.comparisons.as_ref()).and_then(|it| verdicts::headline(it, page.slug));
    let history = (site.changes.as_ref()).and_then(|it| it.headline_of(page.slug));
    let mut headline = match (compared, history) {
        (Some(compared), Some(history)) if history.news != News::Nothing => {
            let also = html! { "In the history: " (history.answer) "." };
            let facts = compared.facts.into_iter().chain([also]);
            Headline {
                facts: facts.collect(),
                next: compared.next.or(history.next),
                ..compared
            }
        }
        (Some(compared), _) => compared,
        (None, Some(history)) => history,
        (None, None) => measured(page),
    };
    let failures = page.health.failures;
    if failures > 0 && headline.news != News::Worse {
        let answer = std::mem::replace(
            &mut headline.answer,
            html! { "The latest run " a href="#failures" { "failed" } ": " (counted(failures, "failure")) },
        );
        if page.health.without_value {
            headline.picture = None;
        } else {
            headline.facts.insert(0, html! { (answer) "." });
        }
        headline.news = News::Worse;
    }
    headline.about = Some(about(page));
    headline.facts.extend(latest(page));
    headline.next = headline.next.or_else(|| next(page));
    headline.explained.extend(explained(page));
    headline
}

/// Returns the name of the benchmark, with its suite, tags and parameters.
fn about(page: &BenchmarkPage<'_>) -> Markup {
    let benchmark = &page.data.benchmark;
    let suite = &page.data.suite;
    html! {
        strong.of { (benchmark.id) }
        " · suite " a href=(format!("../index.html#suite={}", url_part(suite))) { (suite) }
        @for tag in &benchmark.tags {
            " · " a href=(format!("../index.html#tag={}", url_part(tag))) { "#" (tag) }
        }
        @for (name, value) in &benchmark.params {
            " · " (name) " = " (value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        }
        span #all-parametrisations hidden { " · " a href=(format!("../test/{}.html", test_slug(suite, &benchmark.id))) { "all parameters" } }
    }
}

/// Returns the rows of the first metric, the most urgent first.
fn urgent_rows<'a>(page: &BenchmarkPage<'a>) -> Option<(&'a MetricIndexRows, Vec<&'a IndexRow>)> {
    let metric = page.metrics.first()?;
    let mut rows: Vec<&IndexRow> = metric.rows.iter().collect();
    rows.sort_by_key(|row| row.urgency());
    Some((metric, rows))
}

/// Returns the answer where nothing was judged: the latest value.
fn measured(page: &BenchmarkPage<'_>) -> Headline {
    let first = urgent_rows(page).and_then(|(metric, rows)| Some((metric, *rows.first()?)));
    let Some((metric, row)) = first else {
        return Headline::new(News::Nothing, html! { "Nothing was measured" });
    };
    let answer = if row.value.is_some() {
        html! {
            @if row.named { (row.variant) ": " }
            (capitalised(&metric_title(&metric.name))) " " (row.value_text)
            @if !row.interval_text.is_empty() { " [" (row.interval_text) "]" }
            @if !row.spread_text.is_empty() { " " (row.spread_text) }
        }
    } else if row.skipped {
        html! { "The latest run was skipped" }
    } else {
        html! { "The latest run has no value" }
    };
    let why = (page.site.changes.as_ref()).and_then(|it| it.unjudged_text(page.slug));
    let nothing = match why {
        _ if row.instances >= INSTANCES_FOR_A_VERDICT && !row.change_text.is_empty() => {
            html! { (row.change_text) " " (row.change_interval) " " (row.change_against) "." }
        }
        _ if row.new_epoch => html! { (capitalised(&row.change_against)) "." },
        Some(why) => html! { "The history is not judged: " (why) "." },
        None => html! { "Nothing to compare with yet." },
    };
    Headline {
        facts: vec![nothing],
        ..Headline::new(News::Nothing, answer)
    }
}

/// Returns what the latest runs say by the first metric, in a sentence for each variant.
fn latest(page: &BenchmarkPage<'_>) -> Vec<Markup> {
    let Some((metric, rows)) = urgent_rows(page) else {
        return Vec::new();
    };
    let sentence = |row: &&IndexRow| latest_of(page, metric, row);
    let mut facts: Vec<Markup> = rows.iter().take(NAMED_VARIANTS).map(sentence).collect();
    if rows.len() > NAMED_VARIANTS {
        let others = counted(rows.len() - NAMED_VARIANTS, "more variant");
        facts.push(html! { a href="#metrics" { (others) } });
    }
    facts
}

fn latest_of(page: &BenchmarkPage<'_>, metric: &MetricIndexRows, row: &IndexRow) -> Markup {
    let title = metric_title(&metric.name);
    let estimate = page
        .views
        .first()
        .and_then(|view| view.latest(&row.variant).and_then(|(_, estimate)| estimate));
    html! {
        @if row.named { span.dot data-colour=(row.colour) {} (row.variant) ": " } @else { "Latest: " }
        @if let Some(estimate) = estimate {
            (title) " " strong { (estimate.text(&metric.unit)) } " in the run of " (row.run)
            "."
            @if !row.left_out.is_empty() { " Excluded: " (row.left_out) "." }
        } @else if !row.summary.is_empty() {
            (title) " " strong { (row.value_text) } " " (row.spread_text)
            " in the run of " (row.run) ": " (row.summary) "; the source kept no samples."
        } @else if row.skipped {
            "the run of " (row.run) " was " strong { "skipped" }
            @if let Some(message) = skipped_because(page.data, &row.run_id) { ": " (message) }
            "."
        } @else if row.left_out.is_empty() {
            "the run of " (row.run) " has no value."
        } @else {
            "no iteration of the run of " (row.run) " gave a value (" (row.left_out) ")."
        }
    }
}

/// Returns the command that helps most, where there is too little to compare.
fn next(page: &BenchmarkPage<'_>) -> Option<NextStep> {
    (page.health.few_instances
        && !is_imported(page)
        && page
            .site
            .changes
            .as_ref()
            .is_none_or(|it| !it.is_judged(page.slug)))
    .then(|| {
        NextStep::new(
            "lapwing run --instances 5".to_owned(),
            "measures enough for a first answer".to_owned(),
        )
    })
}

fn is_imported(page: &BenchmarkPage<'_>) -> bool {
    let last = page.views.first().and_then(|view| view.sample.runs.last());
    last.is_some_and(|run| run.imported_from.is_some())
}

/// Returns what stands in the way of trusting the numbers, and what helps.
fn explained(page: &BenchmarkPage<'_>) -> Vec<Markup> {
    let health = page.health;
    let mut parts: Vec<Markup> = Vec::new();
    if health.few_instances {
        parts.push(
            html! { "Fewer than 3 instances: two runs cannot be compared, only longer histories." },
        );
    }
    let notes = page.views.first().map(metric::notes).unwrap_or_default();
    parts.extend(notes.iter().map(|note| marked(note)));
    if health.noisy {
        parts.push(html! {
            "Noisy: it varies by more than " (round_percent(NOISY)) " between instances. More instances narrow the interval; "
            code { "lapwing doctor" } " checks the machine."
        });
    }
    if health.failures > 0 {
        parts.push(html! {
            (grouped(health.failures)) (plural(health.failures, " failure", " failures")) " in the latest runs. Such values don't count."
        });
    }
    if health.lost > 0 {
        parts.push(html! {
            (grouped(health.lost)) (plural(health.lost, " instance of the latest runs was", " instances of the latest runs were"))
            " cut short, because the machine or the session ended: not counted."
        });
    }
    if page
        .views
        .first()
        .is_some_and(|view| view.sample.runs.len() == 1)
    {
        parts.push(html! {
            "One run so far: a history appears with the next "
            @if is_imported(page) { "import" } @else { code { "lapwing run" } } "."
        });
    }
    if names_matter(page) || page.site.comparisons.is_some() {
        parts.push(html! { "Changes in the table of metrics are judged from this benchmark alone. The index and " code { "lapwing compare" } " judge all benchmarks together, whose common noise makes intervals narrower or wider." });
    }
    parts
}

/// Returns what a run says of why it was skipped.
fn skipped_because(data: &BenchmarkData, run: &Id) -> Option<String> {
    let instances = data.instances.iter().filter(|it| it.run.id == *run);
    let mut messages = instances.filter_map(|instance| {
        let ended = instance.end.as_ref().and_then(|end| end.message.as_deref());
        ended.or(instance
            .iterations
            .messages
            .first_key_value()
            .map(|(_, text)| text.as_str()))
    });
    let message = messages.find(|text| !text.trim().is_empty())?;
    let last = message.trim().lines().last().unwrap_or_default();
    // pytest begins so.
    let last = last.strip_prefix("Skipped: ").unwrap_or(last);
    Some(
        last.trim_end_matches('.')
            .chars()
            .take(SHOWN_CHARACTERS)
            .collect(),
    )
}
