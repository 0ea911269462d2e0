//! The pages on noise and sensitivity of histories with one instance per run: noise from night to night, and the steps
//! that are seen in it.

use std::collections::BTreeMap;

use lapwing_stats::median;
use maud::{Markup, html};
use serde::Serialize;
use serde_json::json;

use super::super::ReportSite;
use super::super::changes::unjudged_words;
use super::super::directory::DirectoryError;
use super::super::frame::{SitePage, url_part};
use super::super::headline::{Headline, News};
use super::super::index_parts::columns::{BenchmarkLink, columns};
use super::super::index_parts::listing::{
    Filters, ListingColumn, ListingPage, MetricFilter, MetricRows, sorted, unsorted,
};
use super::super::slug::slug;
use crate::NOISY;
use crate::quantity::{percent, quantity, round_percent};
use crate::sample::{FIRST_METRIC, metric_title};
use lapwing_analyse::detect::{
    HistorySeries, NIGHTS_FOR_NOISE, NIGHTS_SINCE, NightNoise, NoNoiseReason, NoStepReason,
};
use lapwing_model::text::counted;

/// The step to ten times the level.
const TENFOLD: f64 = 9.0;

/// The noise of a history, and the steps that are seen in it.
#[derive(Debug, Serialize)]
struct NightRow {
    #[serde(flatten)]
    benchmark: BenchmarkLink,
    setting: String,
    nights: Option<usize>,
    level_text: String,
    noise: Option<f64>,
    noise_text: String,
    noisy: bool,
    /// By [`NIGHTS_SINCE`]; empty if none is known.
    steps: Vec<f64>,
    step_texts: Vec<String>,
    /// Why something is not known.
    why: String,
}

impl NightRow {
    fn of(
        series: &HistorySeries,
        noise: &Result<NightNoise, NoNoiseReason>,
        written: &BTreeMap<String, Vec<String>>,
    ) -> Self {
        let subject = &series.subject;
        let slug = slug(&subject.suite, &subject.benchmark);
        let tags = written.get(&slug);
        let known = noise.as_ref().ok();
        let steps = known.and_then(|it| it.steps.ok());
        let steps = steps.map_or_else(Vec::new, |it| it.to_vec());
        Self {
            setting: subject.setting.text().unwrap_or_default(),
            nights: known.map(|it| it.nights),
            level_text: known
                .map_or_else(String::new, |it| quantity(it.level, &series.metric.unit)),
            noise: known.map(|it| it.deviation),
            noise_text: known.map_or_else(String::new, |it| percent(it.deviation)),
            noisy: known.is_some_and(|it| it.deviation > NOISY),
            step_texts: steps.iter().copied().map(step_text).collect(),
            steps,
            why: match noise {
                Err(reason) => no_noise_text(*reason),
                Ok(noise) => noise.steps.err().map_or("", no_step_text).to_owned(),
            },
            benchmark: BenchmarkLink {
                suite: subject.suite.clone(),
                id: subject.benchmark.clone(),
                tags: tags.cloned().unwrap_or_default(),
                slug: if tags.is_some() { slug } else { String::new() },
            },
        }
    }
}

/// Writes both pages; `written` has the tags of each benchmark with a page, by slug.
pub(in crate::report) fn write(
    site: &ReportSite,
    written: &BTreeMap<String, Vec<String>>,
) -> Result<(), DirectoryError> {
    let Some(view) = &site.changes else {
        return Ok(());
    };
    let mut metrics = MetricRows::default();
    for (series, noise) in view.night_noises() {
        let row = NightRow::of(series, noise, written);
        metrics.add(&series.subject.metric, &series.metric.unit, [row]);
    }
    let noise = |row: &NightRow| row.noise.unwrap_or(-1.0);
    metrics.sort_by(|one, other| noise(other).total_cmp(&noise(one)));
    let states = [
        ("noisy", format!("noise above {}", round_percent(NOISY))),
        ("unknown", "unknown".to_owned()),
    ];
    write_page(
        site,
        &metrics,
        ListingPage {
            page: SitePage::Variability,
            headline: metrics.headline(noise_headline),
            filters: filters(&metrics).by("state", "Show", states),
            caption: "How much each history varies from night to night, noisiest first",
            columns: vec![
                sorted("name", "benchmark", "name"),
                sorted("nights", "nights", "number"),
                unsorted("level", "number"),
                sorted("noise", "noise, night to night", "number"),
                unsorted("note", "wide"),
            ],
            guide: noise_guide(),
            ..blank()
        },
    )?;
    metrics.sort_by(|one, other| {
        let is_unknown = |row: &NightRow| row.steps.is_empty();
        (is_unknown(one).cmp(&is_unknown(other))).then_with(|| noise(other).total_cmp(&noise(one)))
    });
    write_page(
        site,
        &metrics,
        ListingPage {
            page: SitePage::Detection,
            headline: metrics.headline(step_headline),
            filters: filters(&metrics).by("state", "Show", [("unknown", "unknown")]),
            caption: "The steps that are seen in each history, the largest first",
            columns: step_columns(),
            guide: step_guide(),
            ..blank()
        },
    )
}

/// Returns a page without what these two do not have.
fn blank() -> ListingPage {
    ListingPage {
        page: SitePage::Variability,
        headline: Headline::default(),
        above: html! {},
        other: None,
        below: html! {},
        filters: Filters::of("Benchmarks", []),
        draw: None,
        caption: "",
        columns: Vec::new(),
        guide: html! {},
    }
}

fn write_page(
    site: &ReportSite,
    metrics: &MetricRows<NightRow>,
    page: ListingPage,
) -> Result<(), DirectoryError> {
    let files = metrics.write_files(site, page.page, columns, |_| None)?;
    let nights = NIGHTS_SINCE.map(after_title);
    page.write(site, &files, json!({ "night_steps": nights }))
}

fn filters(metrics: &MetricRows<NightRow>) -> Filters {
    Filters::of("Benchmarks", metrics.rows().map(|row| &row.benchmark))
        .by_metric(metrics.units(), MetricFilter::One)
}

fn step_columns() -> Vec<ListingColumn> {
    let mut all = vec![
        sorted("name", "benchmark", "name"),
        sorted("nights", "nights", "number"),
        sorted("noise", "noise, night to night", "number"),
    ];
    let steps = NIGHTS_SINCE.into_iter().enumerate();
    all.extend(
        steps.map(|(at, nights)| sorted(format!("step{at}"), after_title(nights), "number")),
    );
    all.push(unsorted("note", "wide"));
    all
}

/// Returns what is said of several histories by a metric.
fn answered(metric: &str, answer: Markup) -> Headline {
    let answer = html! { (answer) @if metric != FIRST_METRIC { ", by " (metric_title(metric)) } };
    Headline::new(News::Nothing, answer)
}

fn noise_headline(metric: &str, rows: &[NightRow]) -> Headline {
    let noises: Vec<f64> = rows.iter().filter_map(|row| row.noise).collect();
    let known = noises.len();
    let Some(middle) = median(&noises) else {
        return answered(metric, html! { "The noise of no history is known" });
    };
    let noisy = rows.iter().filter(|row| row.noisy).count();
    let mut facts = vec![html! {
        @if noisy > 0 { a href=(format!("#metric={}&state=noisy", url_part(metric))) { (counted(noisy, "history")) } } @else { "None" }
        " above " (round_percent(NOISY)) @if let Some(noisiest) = rows.first() { "; the noisiest is " (noisiest.benchmark.id) ", " (noisiest.noise_text) } "."
    }];
    facts.extend(unknown(metric, rows.len() - known));
    Headline {
        facts,
        explained: vec![html! {
            "Most runs have fewer than 3 instances of several iterations, so that noise within a run cannot be told from noise between runs. "
            code { "lapwing run --instances 5 --iterations 3" } " tells them apart."
        }],
        ..answered(
            metric,
            match known {
                1 => html! { "1 history varies by " (percent(middle)) " from night to night" },
                _ => {
                    html! { "Half of " (counted(known, "history")) " vary by " (percent(middle)) " or more from night to night" }
                }
            },
        )
    }
}

fn step_headline(metric: &str, rows: &[NightRow]) -> Headline {
    let known = rows.iter().filter(|row| !row.steps.is_empty()).count();
    let middle = |at: usize| {
        let steps = rows.iter().filter_map(|row| row.steps.get(at).copied());
        median(&steps.collect::<Vec<f64>>()).map(step_text)
    };
    let last = NIGHTS_SINCE.len() - 1;
    let (Some(soon), Some(late)) = (middle(0), middle(last)) else {
        return answered(
            metric,
            html! { "How large a step must be to be seen is not known" @if let Some(why) = usual_reason(rows) { ": " (why) } },
        );
    };
    Headline {
        facts: unknown(metric, rows.len() - known).into_iter().collect(),
        explained: vec![html! {
            "These are the steps that " code { "lapwing detect" } " finds in four of five cases in simulations with as much noise, as many nights and as many histories."
        }],
        ..answered(
            metric,
            html! {
                "In " @if known > 1 { "half of " } (counted(known, "history")) " a step of " (late) " is seen after " (NIGHTS_SINCE[last])
                " nights, one of " (soon) " after " (NIGHTS_SINCE[0])
            },
        )
    }
}

/// Returns why most of the histories have no answer.
fn usual_reason(rows: &[NightRow]) -> Option<&str> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.why.is_empty()) {
        *numbers.entry(&row.why).or_default() += 1;
    }
    let most = numbers.into_iter().max_by_key(|(_, number)| *number);
    most.map(|(why, _)| why)
}

/// Returns that so many histories have no answer.
fn unknown(metric: &str, number: usize) -> Option<Markup> {
    let address = format!("#metric={}&state=unknown", url_part(metric));
    (number > 0).then(|| {
        html! { a href=(address) { (counted(number, "history")) } " without an answer: the table says why." }
    })
}

/// Returns the size of a step, of which more than tenfold is not told exactly.
fn step_text(step: f64) -> String {
    if step > TENFOLD {
        "more than 10×".to_owned()
    } else {
        percent(step)
    }
}

/// Returns the title of the steps that are seen after so many nights.
fn after_title(nights: usize) -> String {
    format!("seen after {nights}\u{a0}nights")
}

fn no_noise_text(reason: NoNoiseReason) -> String {
    match reason {
        NoNoiseReason::Unjudged(reason) => unjudged_words(reason).to_owned(),
        NoNoiseReason::FewNights(nights) => {
            format!(
                "{} since its last change ({NIGHTS_FOR_NOISE} are needed)",
                counted(nights, "night")
            )
        }
        NoNoiseReason::NotPositive => "some values are not positive".to_owned(),
        NoNoiseReason::Equal => "the same value in most nights".to_owned(),
    }
}

fn no_step_text(reason: NoStepReason) -> &'static str {
    match reason {
        NoStepReason::Changed => "it changed in these runs",
        NoStepReason::HeavyTails => "outliers are too frequent in this metric",
        NoStepReason::Autocorrelated => "nights resemble the nights before",
        NoStepReason::ManyHistories => "more histories than were simulated",
        NoStepReason::OtherOptions => "changes are looked for at another level",
    }
}

fn noise_guide() -> Markup {
    html! {
        dt { "nights" }
        dd { "The runs since the last change that " code { "lapwing detect" } " finds, at least " (NIGHTS_FOR_NOISE) ". The noise is estimated from these." }
        dt { "level" }
        dd { "Their median." }
        dt { "noise, night to night" }
        dd { "Their relative standard deviation: that of the logarithms, those far from the median drawn in to three robust standard deviations, without the effects of recorded surroundings. Above "
            (round_percent(NOISY)) " it is highlighted." }
    }
}

fn step_guide() -> Markup {
    html! {
        dt { "seen after 3 nights" }
        dd { "The size of a step for the worse or the better that " code { "lapwing detect" } " finds so many nights after it, in four of five cases. In fewer than three nights a step of any size is at most suspected." }
        dt { "nights; noise, night to night" }
        dd { "The noise and the nights that it is estimated from, as on the page " a href=(SitePage::Variability.file()) { (SitePage::Variability.title()) } ". With few nights it is not known well, so that only larger steps are sure to be seen." }
        dt { "note" }
        dd { "Why no step is stated. The simulations are of histories without a change whose nights vary independently, without many outliers." }
    }
}
