//! The page that says which slowdowns could be detected with how many instances and iterations.

use lapwing_stats::{Confidence, Configuration, DetectionMethod, Strategy};
use maud::{Markup, html};
use serde::Serialize;
use serde_json::json;

use super::super::ReportSite;
use super::super::directory::DirectoryError;
use super::super::frame::{SitePage, url_part};
use super::super::headline::{Headline, News};
use super::super::index_parts::columns::{BenchmarkLink, columns};
use super::super::index_parts::listing::{Filters, ListingPage, MetricFilter, MetricRows, sorted};
use super::super::page::first_open;
use super::power::{DRAWN, PowerCurve, picture};
use crate::chart;
use crate::quantity::{machine_time, percent};
use crate::sample::{FIRST_METRIC, metric_title};
use crate::words::detection::{few_instances_caution, found_text, noun_of_rows, outliers_caution};
use crate::{DetectionAbility, DetectionView, detectable_text};
use lapwing_analyse::explain::{ChoiceRule, Detectability, Noise, PlanOptions, USUAL_MOST};
use lapwing_analyse::judge::{
    DetectionOptions, INSTANCES_FOR_A_VERDICT, USUAL_ASSURANCE, USUAL_POWER, USUAL_SLOWDOWN,
    WantedBasis,
};
use lapwing_model::text::{capitalised, counted, grouped, plural};
use lapwing_model::{JudgeSettings, MetricName};

/// The slowdown to detect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DetectionTarget {
    /// The slowdown as a factor.
    pub target: f64,
    /// The probability with which it should be detected.
    pub power: f64,
    /// The confidence of the intervals that detect it.
    pub confidence: Confidence,
}

impl Default for DetectionTarget {
    /// Returns the defaults of `lapwing mds`.
    fn default() -> Self {
        Self {
            target: USUAL_SLOWDOWN,
            power: USUAL_POWER,
            confidence: DetectionOptions::default().confidence,
        }
    }
}

impl DetectionTarget {
    /// Returns what is looked at: by formula what `lapwing compare` would detect between sessions of their own. A
    /// simulation of thousands of benchmarks would take minutes.
    fn options(self) -> DetectionOptions {
        DetectionOptions {
            methods: vec![DetectionMethod::Paired],
            strategies: vec![Strategy::DifferentInstances],
            basis: WantedBasis::ClosedForm,
            confidence: self.confidence,
            ..DetectionOptions::default()
        }
    }

    /// Returns what is to be run, as `lapwing plan` has it by default, but by formula.
    fn plan(self) -> PlanOptions {
        PlanOptions {
            slowdowns: vec![self.target],
            limits: JudgeSettings::default(),
            power: self.power,
            false_positives: 1.0 - self.confidence.level(),
            assurance: USUAL_ASSURANCE,
            detection: self.options(),
            rule: ChoiceRule::Cheapest(USUAL_MOST),
        }
    }

    fn view(self) -> DetectionView {
        DetectionView::of(&self.options(), self.target, self.power)
    }
}

/// The configuration that most people begin with.
const FIRST_ANSWER: Configuration = Configuration {
    instances: 10,
    iterations: 10,
};

/// The data that any conclusion needs.
const TAKES: &str = "three instances with two usable iterations each, and positive values";

/// The detectable slowdowns of a metric of a benchmark in one variant.
#[derive(Debug, Clone, Serialize)]
pub(in crate::report) struct DetectionRow {
    #[serde(flatten)]
    benchmark: BenchmarkLink,
    /// The variant and version, if there are several.
    setting: String,
    size: String,
    instances: usize,
    /// The minimal detectable slowdowns at the corners of the grid.
    slowdowns: Vec<Option<f64>>,
    slowdown_texts: Vec<String>,
    /// `yes`, `no`, or `unknown` where too little was measured.
    able: &'static str,
    /// The total number of iterations per side for the wanted slowdown.
    iterations_needed: Option<usize>,
    needed_text: String,
    /// The seconds that the cheapest configuration takes in one version.
    plan_cost: Option<f64>,
    plan_text: String,
    plan_cost_text: String,
    between: Option<f64>,
    between_text: String,
    within: Option<f64>,
    within_text: String,
    #[serde(skip)]
    pub(in crate::report) found: Detectability,
    /// The slowdown on the page of the benchmark.
    #[serde(skip)]
    first_answer: String,
}

impl DetectionRow {
    /// Returns what could be detected where this is the noise.
    pub(in crate::report) fn new(
        noise: &Noise,
        benchmark: BenchmarkLink,
        detect: DetectionTarget,
    ) -> Self {
        let (options, view) = (detect.options(), detect.view());
        let found = Detectability::by_formula(noise, &options);
        let corners = options.grid.corners().into_iter();
        let corners = corners.map(|it| view.cell(&found, it));
        // Each is searched for once.
        let corners: Vec<_> = corners
            .map(|cell| Some((cell?, cell?.detectable(view.power))))
            .collect();
        let cheapest = view.cheapest(&found).map(|it| it.configuration);
        let plan = detect.plan().cheapest_of(noise);
        let part = |of: Option<lapwing_analyse::explain::NoisePart>| of.map(|it| it.value);
        let (between, within) = (part(noise.between), part(noise.within));
        let slowdowns = corners.iter().map(|corner| {
            let slowdown = (*corner)?.1?.slowdown;
            slowdown.is_finite().then_some(slowdown)
        });
        let first_answer = view.cell(&found, FIRST_ANSWER);
        Self {
            benchmark,
            setting: noise.setting.text().unwrap_or_default(),
            size: noise.variability.size.text(),
            instances: noise.variability.size.instances,
            slowdowns: slowdowns.collect(),
            slowdown_texts: corners
                .iter()
                .map(|it| it.map_or_else(String::new, |(cell, found)| found_text(cell, found)))
                .collect(),
            able: match (found.cells.is_empty(), cheapest) {
                (true, _) => "unknown",
                (false, None) => "no",
                (false, Some(_)) => "yes",
            },
            iterations_needed: cheapest.map(|it| it.instances * it.iterations),
            needed_text: cheapest.map_or_else(String::new, |it| it.to_string()),
            plan_cost: plan.map(|it| it.1),
            plan_text: plan.map_or_else(String::new, |it| it.0.configuration.to_string()),
            plan_cost_text: plan.map_or_else(String::new, |it| machine_time(it.1)),
            between,
            between_text: between.map_or_else(String::new, percent),
            within,
            within_text: within.map_or_else(String::new, percent),
            first_answer: first_answer
                .map_or_else(String::new, |it| detectable_text(it, view.power)),
            found,
        }
    }

    /// Returns power curves of the least, the first answer and the most of the grid.
    fn picture(&self, view: DetectionView) -> Markup {
        let texts = [
            self.slowdown_texts.first(),
            Some(&self.first_answer),
            self.slowdown_texts.last(),
        ];
        let drawn = DRAWN.into_iter().zip(texts).filter_map(|(it, text)| {
            Some(PowerCurve {
                cell: view.cell(&self.found, it)?,
                smallest: text?,
            })
        });
        let curves: Vec<PowerCurve<'_>> = drawn.collect();
        picture(&curves, view, self.slowdowns.first().copied().flatten())
    }

    fn is_known(&self) -> bool {
        !self.found.cells.is_empty()
    }

    /// By what rows are sorted: what cannot be detected first, the worst of it before the others, and last of what
    /// nothing is known.
    fn order(&self) -> (u8, f64) {
        let slowdown = self.slowdowns.last().copied().flatten();
        let group = match self.able {
            "no" => 0,
            "yes" => 1,
            _ => 2,
        };
        (group, -slowdown.unwrap_or(f64::INFINITY))
    }
}

/// Returns the sentence of a benchmark's own page, by its first metric.
pub(in crate::report) fn sentence(
    rows: &[DetectionRow],
    metric: &MetricName,
    detect: DetectionTarget,
) -> Markup {
    let rows: Vec<&DetectionRow> = rows
        .iter()
        .filter(|it| it.found.name == *metric && it.is_known())
        .collect();
    let power = percent(detect.power);
    let parts = rows.iter().enumerate().map(|(at, row)| {
        html! {
            p.hint.detectable {
                @if rows.len() > 1 && !row.setting.is_empty() { (row.setting) ": " }
                "Comparing " (FIRST_ANSWER.instances) " instances × " (FIRST_ANSWER.iterations) " iterations per side would detect a slowdown of "
                @if row.first_answer == "–" { "no size" } @else { (row.first_answer.trim_start_matches('~')) " or more" }
                " by " (metric_title(metric)) ", " (power) " of the time (by formula)."
            }
            @if at < MOST_PICTURES {
                details.detected {
                    summary {
                        "Probability of detecting each slowdown"
                        @if rows.len() > 1 && !row.setting.is_empty() { ": " (row.setting) }
                    }
                    (row.picture(detect.view()))
                }
            }
        }
    });
    first_open(&parts.collect::<Vec<_>>(), 1, "more variant")
}

/// The number of variants with a picture; others have a sentence only.
const MOST_PICTURES: usize = 3;

/// Writes the page and its side files.
pub(in crate::report) fn write(
    site: &ReportSite,
    mut metrics: MetricRows<DetectionRow>,
) -> Result<(), DirectoryError> {
    metrics.sort_by(|one, other| {
        let (one, other) = (one.order(), other.order());
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    let detect = site.options.detect;
    let (grid, view) = (detect.options().grid, detect.view());
    let target = view.target_text();
    let corners: Vec<String> = grid.corners().iter().map(ToString::to_string).collect();
    let states = [
        ("no", format!("cannot detect {target}")),
        ("yes", format!("can detect {target}")),
        ("unknown", "too few measurements".to_owned()),
        (
            "few",
            format!("fewer than {INSTANCES_FOR_A_VERDICT} instances"),
        ),
    ];
    let mut table = vec![
        sorted("name", "benchmark", "name"),
        sorted("size", "measured", "number"),
    ];
    table.extend(corners.iter().enumerate().map(|(at, corner)| {
        let title = format!("MDS at {}", corner.replace(' ', "\u{a0}"));
        sorted(format!("corner{at}"), title, "number")
    }));
    table.extend([
        sorted("needed", format!("for {target}"), "number"),
        sorted("plan", "cheapest", "number"),
        sorted("between", "noise between", "number"),
        sorted("within", "noise within", "number"),
    ]);
    let page = ListingPage {
        page: SitePage::Detection,
        headline: if metrics.is_empty() {
            let nothing =
                "No benchmark has a usable value, so nothing is known about detectable slowdowns";
            Headline::new(News::Nothing, html! { (nothing) })
        } else {
            metrics.headline(|name, rows| headline(name, rows, view, grid.largest()))
        },
        above: html! {},
        other: None,
        below: html! {},
        filters: Filters::of("Benchmarks", metrics.rows().map(|row| &row.benchmark))
            .by_metric(metrics.units(), MetricFilter::One)
            .by("state", "Show", states),
        draw: Some(("overview", "Draw what is detected")),
        caption: "Which slowdowns each benchmark could detect, those first that cannot detect enough",
        columns: table,
        guide: guide(view),
    };
    let chart = |rows: &[DetectionRow]| Some(chart::detection(&known(rows), &grid, view));
    let files = metrics.write_files(site, SitePage::Detection, columns, chart)?;
    page.write(site, &files, json!({"corners": corners, "target": target}))
}

fn known(rows: &[DetectionRow]) -> Vec<Detectability> {
    let rows = rows.iter().filter(|it| it.is_known());
    rows.map(|it| it.found.clone()).collect()
}

fn headline(
    metric: &str,
    rows: &[DetectionRow],
    view: DetectionView,
    largest: Configuration,
) -> Headline {
    let number = |able: &str| rows.iter().filter(|it| it.able == able).count();
    let link = |state: &str, text: String| html! { a href=(format!("#metric={}&state={state}", url_part(metric))) { (text) } };
    let (able, unable, unknown) = (number("yes"), number("no"), number("unknown"));
    let costs: Vec<f64> = rows.iter().filter_map(|it| it.plan_cost).collect();
    let plan = (!costs.is_empty()).then(|| (costs.len(), costs.iter().sum::<f64>()));
    let found = known(rows);
    let all: Vec<&Detectability> = found.iter().collect();
    let cautions = [few_instances_caution(&all), outliers_caution(&all)];
    // By formula nothing is too close to call.
    let known = rows
        .iter()
        .filter(|it| it.is_known())
        .map(|it| match it.able {
            "yes" => (&it.found, DetectionAbility::Yes),
            _ => (&it.found, DetectionAbility::No),
        });
    let answer = view.headline_of_rows(&found, known, largest);
    let names = rows
        .iter()
        .map(|it| (&it.benchmark.suite, &it.benchmark.id));
    let noun = noun_of_rows(names);
    let unable_text = match noun {
        "benchmark" => format!("{} cannot", grouped(unable)),
        _ => format!("{} cannot", counted(unable, noun)),
    };
    let enough = html! { "detection needs " (TAKES) };
    let mut facts = Vec::new();
    if able + unable > 0 {
        if unable > 0 {
            facts.push(html! { (link("no", unable_text)) "." });
        }
        if unknown > 0 {
            let more = link("unknown", format!("{} more", grouped(unknown)));
            facts.push(html! { (more) " with too few measurements: " (enough) "." });
        }
    }
    if let Some((planned, cost)) = &plan {
        facts.push(html! {
            "The cheapest configurations that detect it would take " (machine_time(*cost)) " for " (counted(*planned, noun)) " per version."
        });
    }
    let cautions = cautions.into_iter().flatten();
    facts.extend(cautions.map(|it| html! { "Caution: " (it.text) "." }));
    let by_formula = html! {
        @if unknown > 0 { code { "lapwing run --instances 5 --iterations 5" } " measures enough for a first answer. " }
        "These numbers are by formula, from the noise on the page " a href=(SitePage::Variability.file()) { (SitePage::Variability.title()) } "; "
        code { "lapwing mds" } " simulates them with what was measured. "
        @if unable > 0 {
            "For " (plural(unable, "the one that cannot", "those that cannot")) ", "
            code { (format!("lapwing plan --slowdown {}", view.target_text().replace(' ', ""))) } " says what it takes."
        }
    };
    let answer = html! {
        @if able + unable == 0 {
            (counted(rows.len(), noun)) " with too few measurements: " (enough)
        } @else { (capitalised(&answer)) }
        @if metric != FIRST_METRIC { ", by " (metric_title(metric)) }
    };
    Headline {
        facts,
        explained: vec![by_formula],
        ..Headline::new(News::Nothing, answer)
    }
}

fn guide(view: DetectionView) -> Markup {
    let target = view.target_text();
    html! {
        dt { "MDS at 5 × 25" }
        dd { "Minimal detectable slowdown: the smallest one that a comparison of two versions detects with 5 instances × 25 iterations of each ("
            (view.basis().replace('`', "")) "). ~: by formula; –: none." }
        dt { "for " (target) }
        dd { "The fewest instances × iterations of each version that detect " (target) ", among 5 to 25 of both." }
        dt { "cheapest" }
        dd { "The configuration of up to " (USUAL_MOST) " that detects " (target) " in the least time, and the time per version, including burn-in and the overhead of each instance. "
            code { (format!("lapwing plan --slowdown {}", target.replace(' ', ""))) } " confirms it by simulation, respects a budget, and writes a file that " code { "lapwing run --plan" } " runs." }
        dt { "noise between, within" }
        dd { "The relative standard deviation of instances, and of the iterations of an instance: CV between and CV within on the page Noise. More iterations reduce noise within; only more instances reduce noise between." }
        dt { "measured" }
        dd { "The instances × iterations that the noise was estimated from. With few of them the estimate is poor, and so is the detectable slowdown." }
    }
}
