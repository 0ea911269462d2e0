//! The page about when each benchmark becomes steady, and what its burn-in costs.
use std::collections::BTreeSet;

use lapwing_stats::as_f64;
use lapwing_stats::steady::{BurnIn, BurnInOptions, Class, Consistency};
use maud::{Markup, html};
use serde::Serialize;
use serde_json::json;

use super::super::ReportSite;
use super::super::data_pack::DataPack;
use super::super::directory::DirectoryError;
use super::super::frame::SitePage;
use super::super::headline::{Headline, News};
use super::super::index_parts::columns::BenchmarkLink;
use super::super::index_parts::listing::{Filters, ListingFiles, ListingPage, sorted, unsorted};
use super::cleaning::source_text;
use crate::answers::burn_in::with_wanted;
use crate::chart::{BurnInMarks, burn_in};
use crate::classes_text;
use crate::quantity::{percent, quantity};
use crate::sample::metric_title;
use crate::{class_name, earlier_epoch_text};
use lapwing_analyse::clean::{
    BenchmarkSteady, BurnInSource, CleaningPolicy, SteadyFrom, burn_in_metric, find_steady,
    was_planned_auto,
};
use lapwing_analyse::explain::metric_unit;
use lapwing_analyse::sample::Sample;
use lapwing_model::text::{counted, grouped, plural};
use lapwing_record::InstanceData;

/// Mixtures of classes, as they are called in the address.
const MIXED: &str = "mixed";

/// The burn-in of one benchmark.
#[derive(Debug, Clone, Serialize)]
pub(in crate::report) struct BurnInRow {
    #[serde(flatten)]
    benchmark: BenchmarkLink,
    metric: String,
    /// The classes of its instances, in words.
    classes: String,
    /// The class of the benchmark, or `mixed`.
    class: String,
    /// The first iteration that is judged, and the source of this choice.
    start: String,
    source: &'static str,
    start_index: Option<u32>,
    planned: String,
    /// The start detected from the values.
    found: String,
    never: usize,
    instances: usize,
    /// The number of excluded instances of earlier epochs.
    #[serde(skip)]
    earlier: usize,
    cost: Option<f64>,
    cost_text: String,
    bias: Option<f64>,
    bias_text: String,
    /// The side file of its chart; empty where there is none.
    chart: String,
}

impl BurnInRow {
    /// Returns whether none of its instances gets steady.
    pub(in crate::report) fn never_steady(&self) -> bool {
        self.instances > 0 && self.never == self.instances
    }

    /// Returns whether most of its instances never get steady, or all of them.
    pub(in crate::report) fn mostly_unsteady(&self) -> bool {
        self.instances > 0 && 2 * self.never > self.instances
    }

    pub(in crate::report) fn chart(&self) -> &str {
        &self.chart
    }

    pub(in crate::report) fn metric(&self) -> &str {
        &self.metric
    }
}

/// Returns when a benchmark gets steady, and writes its chart; `None` without values. The sample
/// is that of its newest epoch.
pub(in crate::report) fn row(
    pack: &mut DataPack,
    sample: &Sample<'_>,
    benchmark: &BenchmarkLink,
    (policy, source): (CleaningPolicy, BurnInSource),
) -> Result<Option<BurnInRow>, DirectoryError> {
    let Some(metric) = burn_in_metric(sample) else {
        return Ok(None);
    };
    let steady = find_steady(sample, &metric, &BurnInOptions::default());
    if steady.instances.is_empty() {
        return Ok(None);
    }
    let unit = metric_unit(sample, &metric);
    let planned = planned(sample);
    let mut row = BurnInRow::new(sample, benchmark, &steady, &unit, (policy, source));
    row.earlier = sample.earlier_epoch;
    let can_tell = |class: Class| class != Class::TooShort;
    if steady
        .instances
        .iter()
        .any(|it| it.class.is_some_and(can_tell))
    {
        let marks = BurnInMarks {
            subject: &metric_title(&metric),
            unit: &unit,
            start: match (policy.burn_in, planned) {
                (SteadyFrom::Recorded, Some((_, most))) => SteadyFrom::Index(most),
                (decided, _) => decided,
            },
            found: steady.start_index(),
        };
        let name = format!("{}.burn-in", benchmark.slug);
        row.chart = pack.add(&name, &burn_in(&steady, &marks))?;
    }
    Ok(Some(row))
}

impl BurnInRow {
    fn new(
        sample: &Sample<'_>,
        benchmark: &BenchmarkLink,
        steady: &BenchmarkSteady,
        unit: &str,
        (policy, source): (CleaningPolicy, BurnInSource),
    ) -> Self {
        let told = steady.burn_in.as_ref();
        let planned = planned(sample);
        let start_index = match policy.burn_in {
            SteadyFrom::Index(index) => Some(index),
            SteadyFrom::Recorded => planned.map(|(_, most)| most),
            SteadyFrom::Never | SteadyFrom::Unknown => None,
        };
        // Of the start that is used, whatever is detected. Where nothing gets steady there is no level to compare with.
        let has_level = told.is_some_and(|it| it.start.is_some());
        let used = start_index.filter(|_| has_level);
        let used = used.and_then(|index| steady.burn_in_from(index));
        let planned_text = planned_text(sample, planned);
        Self {
            benchmark: benchmark.clone(),
            metric: steady.metric.clone(),
            classes: classes_text(steady),
            class: told.map_or_else(|| MIXED.to_owned(), class),
            start: match (policy.burn_in, planned) {
                (SteadyFrom::Index(index), _) => with_wanted(index, source.wanted()),
                (SteadyFrom::Recorded, Some(_)) => planned_text.clone(),
                (SteadyFrom::Never, _) => "never".to_owned(),
                (SteadyFrom::Recorded, None) | (SteadyFrom::Unknown, _) => "–".to_owned(),
            },
            source: source_text(source),
            start_index,
            planned: planned_text,
            found: match steady.steady_from() {
                SteadyFrom::Index(index) => with_wanted(index, steady.wanted_index()),
                SteadyFrom::Never => "never".to_owned(),
                SteadyFrom::Recorded | SteadyFrom::Unknown => "too short to tell".to_owned(),
            },
            never: told.map_or(0, |it| it.never_steady),
            instances: steady.instances.iter().filter(|it| it.is_asked).count(),
            earlier: 0,
            // A sum of rates or of bytes is no cost.
            cost: used.as_ref().map(|it| match unit {
                "s" => it.cost,
                _ => as_f64(it.start.unwrap_or(0)),
            }),
            cost_text: used.as_ref().map_or_else(String::new, |it| match unit {
                "s" => quantity(it.cost, unit),
                _ => counted(it.start.unwrap_or(0), "iteration"),
            }),
            bias: used.as_ref().map(|it| it.remaining_bias.abs()),
            bias_text: used
                .as_ref()
                .map_or_else(String::new, |it| percent(it.remaining_bias)),
            chart: String::new(),
        }
    }
}

fn class(burn_in: &BurnIn) -> String {
    match burn_in.consistency {
        Consistency::Same(class) => class_name(class).to_owned(),
        Consistency::GoodInconsistent | Consistency::BadInconsistent => MIXED.to_owned(),
    }
}

/// Returns the fewest and the most iterations of an instance that were planned as burn-in.
fn planned(sample: &Sample<'_>) -> Option<(u32, u32)> {
    let of = |instance: &&InstanceData| {
        let iterations = &instance.iterations;
        let steady = iterations.burn_in.iter().position(|burn_in| !burn_in)?;
        Some(iterations.index(steady))
    };
    let planned = sample.instances.iter().filter_map(of);
    planned.fold(None, |range, it| match range {
        None => Some((it, it)),
        Some((fewest, most)) => Some((it.min(fewest), it.max(most))),
    })
}

fn planned_text(sample: &Sample<'_>, planned: Option<(u32, u32)>) -> String {
    let is_auto = sample
        .instances
        .last()
        .is_some_and(|it| was_planned_auto(&it.session, &sample.benchmark.id));
    match planned {
        _ if is_auto => "auto".to_owned(),
        None => "–".to_owned(),
        Some((fewest, most)) if fewest == most => most.to_string(),
        Some((fewest, most)) => format!("{fewest}–{most}"),
    }
}

/// Writes the page and its side file.
pub(in crate::report) fn write(
    site: &ReportSite,
    rows: &[BurnInRow],
) -> Result<(), DirectoryError> {
    let classes: BTreeSet<&String> = rows.iter().map(|row| &row.class).collect();
    let states = [
        ("never", "never steady"),
        ("mostly", "mostly not steady"),
        ("partly", "a few instances not steady"),
        ("short", "too short to tell"),
        ("differs", "detected start differs from start used"),
    ];
    let page = ListingPage {
        page: SitePage::BurnIn,
        headline: headline(rows),
        above: html! {},
        other: None,
        below: html! {},
        filters: Filters::of("Benchmarks", rows.iter().map(|row| &row.benchmark))
            .by("class", "Class", classes.into_iter().map(|it| (it, it)))
            .by("state", "Show", states),
        draw: Some(("multiples", "Draw the rows of the table")),
        caption: "When each benchmark becomes steady",
        columns: vec![
            sorted("name", "benchmark", "name"),
            sorted("class", "class", "wide"),
            sorted("start", "steady from", "number"),
            unsorted("planned", "number"),
            unsorted("detected", "number"),
            sorted("never", "never steady", "number"),
            sorted("cost", "cost per instance", "number"),
            sorted("bias", "remaining bias", "number"),
        ],
        guide: guide(),
    };
    let files = ListingFiles::write(site, SitePage::BurnIn, rows)?;
    page.write(site, &files, json!({}))
}

fn headline(rows: &[BurnInRow]) -> Headline {
    let all = rows.len();
    let short = rows.iter().filter(|it| it.chart.is_empty()).count();
    let never = rows.iter().filter(|it| it.never_steady()).count();
    let number = |test: fn(&BurnInRow) -> bool| rows.iter().filter(|it| test(it)).count();
    let mostly = number(|it| it.mostly_unsteady() && !it.never_steady());
    let partly = number(|it| it.never > 0 && !it.mostly_unsteady());
    let steady = all - short - never - mostly;
    let earlier = rows.iter().map(|it| it.earlier).sum();
    let answer = html! {
        @if all == 0 {
            "No benchmark has values to detect a steady state from"
        } @else {
            (grouped(steady)) " of " (counted(all, "benchmark")) " " (plural(steady, "becomes", "become")) " steady"
        }
    };
    let counts = [
        (
            "mostly",
            mostly,
            plural(mostly, "mostly does not", "mostly do not"),
        ),
        ("never", never, plural(never, "never does", "never do")),
        (
            "partly",
            partly,
            plural(
                partly,
                "becomes steady but for a few instances",
                "become steady but for a few instances",
            ),
        ),
        (
            "short",
            short,
            plural(
                short,
                "has too few iterations to tell",
                "have too few iterations to tell",
            ),
        ),
    ];
    let counts = counts.into_iter().filter(|(_, number, _)| *number > 0);
    let counts: Vec<Markup> = counts
        .map(|(state, number, text)| html! { a href=(format!("#state={state}")) { (grouped(number)) " " (text) } })
        .collect();
    let mut facts = Vec::new();
    if !counts.is_empty() {
        facts.push(html! { @for (at, count) in counts.iter().enumerate() { @if at > 0 { "; " } (count) } "." });
    }
    if never + mostly > 0 {
        facts.push(
            html! { "Benchmarks that mostly or never become steady should be fixed or retired." },
        );
    }
    let explained = (earlier > 0).then(|| html! { (earlier_epoch_text(earlier)) "." });
    Headline {
        facts,
        explained: explained.into_iter().collect(),
        ..Headline::new(News::Nothing, answer)
    }
}

fn guide() -> Markup {
    html! {
        dt { "class" }
        dd { "How the iterations of an instance behave: flat (steady at once), warm-up (slower at first), slowdown (faster at first), cyclic (up and down again and again), no steady state (still changing at the end), too short to tell (this includes instances with less than half as many iterations as the longest). " em { "Mixed" } ": instances differ." }
        dt { "steady from" }
        dd { "The first iteration used in this report, according to its options." }
        dt { "detected" }
        dd { "The start detected from the values: nine of ten instances that become steady are steady from there on. \"Wants\" names a later start that was limited so that enough iterations are left. " code { "lapwing report --clean burn_in=auto" } " uses this start." }
        dt { "cost per instance" }
        dd { "The total of the iterations before the first one used, averaged over instances; for a metric that is not a time, their number." }
        dt { "remaining bias" }
        dd { "The difference between the mean of all iterations after the detected start and the steady level." }
    }
}
