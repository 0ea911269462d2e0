//! The page that says which slowdowns could be detected with how many instances and iterations.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::{Confidence, Configuration, DetectionMethod, Strategy};
use maud::{Markup, html};
use serde::Serialize;

use super::Options;
use super::cleaning::by_use;
use super::columns::{About, columns};
use super::directory::{Directory, DirectoryError};
use super::page::url_part;
use super::power::{Curve, DRAWN, picture};
use super::side_file;
use super::site::{
    Choice, Choices, Column, Compared, MetricRows, Metrics, Settings as PageSettings, SitePage,
    filters, listing, shell,
};
use crate::explain::{ChoiceRule, Detectability, Noise, PlanOptions, USUAL_MOST};
use crate::judge::{
    DetectionOptions, INSTANCES_FOR_A_VERDICT, USUAL_POWER, USUAL_SLOWDOWN, WantedBasis,
};
use crate::model::MetricName;
use crate::show::chart;
use crate::show::detection::found_text;
use crate::show::quantity::{machine_time, percent};
use crate::show::sample::metric_title;
use crate::show::{Able, DetectionView, detectable_text};
use crate::text::{counted, grouped, plural};

/// Which slowdowns should be detected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detect {
    /// The slowdown that matters, as a factor.
    pub target: f64,
    /// How probably it should be detected.
    pub power: f64,
    /// The confidence of the intervals by which slowdowns are told.
    pub confidence: Confidence,
}

impl Default for Detect {
    /// As `lapwing mds` has it.
    fn default() -> Self {
        Self {
            target: USUAL_SLOWDOWN,
            power: USUAL_POWER,
            confidence: DetectionOptions::default().confidence,
        }
    }
}

impl Detect {
    /// Returns what is looked at: by formula what `lapwing compare` would detect between sessions of their own. A
    /// simulation of thousands of benchmarks would take minutes.
    fn options(self) -> DetectionOptions {
        DetectionOptions {
            methods: vec![DetectionMethod::Welch],
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
            power: self.power,
            false_positives: 1.0 - self.confidence.level(),
            detection: self.options(),
            rule: ChoiceRule::Cheapest(USUAL_MOST),
        }
    }

    fn view(self) -> DetectionView {
        DetectionView::of(&self.options(), self.target, self.power)
    }
}

/// With so much most people begin.
const FIRST_ANSWER: Configuration = Configuration {
    instances: 10,
    iterations: 10,
};

/// What it takes for any answer.
const TAKES: &str = "three instances with two iterations each that count, and values above zero";

/// What a variant of a benchmark could detect by a metric.
#[derive(Debug, Clone, Serialize)]
pub(super) struct DetectionRow {
    #[serde(flatten)]
    about: About,
    /// The variant and version, where they tell something.
    setting: String,
    size: String,
    instances: usize,
    /// The minimal detectable slowdowns at the corners of the grid.
    slowdowns: Vec<Option<f64>>,
    slowdown_texts: Vec<String>,
    /// `yes`, `no`, or `unknown` where too little was measured.
    able: &'static str,
    /// How many iterations in all a side needs for the slowdown that matters.
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
    found: Detectability,
    /// What the benchmark's own page says.
    #[serde(skip)]
    first_answer: String,
}

/// Returns what could be detected where this is the noise.
pub(super) fn row(noise: &Noise, about: About, detect: Detect) -> DetectionRow {
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
    let part = |of: Option<crate::explain::Part>| of.map(|it| it.value);
    let (between, within) = (part(noise.between), part(noise.within));
    let slowdowns = corners.iter().map(|it| {
        let slowdown = (*it)?.1?.slowdown;
        slowdown.is_finite().then_some(slowdown)
    });
    let first_answer = view.cell(&found, FIRST_ANSWER);
    DetectionRow {
        about,
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
        first_answer: first_answer.map_or_else(String::new, |it| detectable_text(it, view.power)),
        found,
    }
}

impl DetectionRow {
    /// Returns power curves of the least, the first answer and the most of the grid.
    fn picture(&self, view: DetectionView) -> Markup {
        let texts = [
            self.slowdown_texts.first(),
            Some(&self.first_answer),
            self.slowdown_texts.last(),
        ];
        let drawn = DRAWN.into_iter().zip(texts).filter_map(|(it, text)| {
            Some(Curve {
                cell: view.cell(&self.found, it)?,
                smallest: text?,
            })
        });
        let curves: Vec<Curve<'_>> = drawn.collect();
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
pub(super) fn sentence(rows: &[DetectionRow], metric: &MetricName, detect: Detect) -> Markup {
    let rows: Vec<&DetectionRow> = rows
        .iter()
        .filter(|it| it.found.name == *metric && it.is_known())
        .collect();
    let power = percent(detect.power);
    html! {
        @for (at, row) in rows.iter().enumerate() {
            p.hint.detectable {
                @if rows.len() > 1 && !row.setting.is_empty() { (row.setting) ": " }
                "Comparing " (FIRST_ANSWER.instances) " instances × " (FIRST_ANSWER.iterations) " iterations a side would detect a slowdown of "
                @if row.first_answer == "–" { "no size" } @else { (row.first_answer.trim_start_matches('~')) " or more" }
                " by " (metric_title(metric)) ", " (power) " of the time (by formula)."
            }
            @if at < MOST_PICTURES {
                details.detected {
                    summary {
                        "How probably each slowdown is detected"
                        @if rows.len() > 1 && !row.setting.is_empty() { ": " (row.setting) }
                    }
                    (row.picture(detect.view()))
                }
            }
        }
    }
}

/// More variants than this have a sentence alone.
const MOST_PICTURES: usize = 3;

/// What the page's script has to know besides.
#[derive(Debug, Serialize)]
struct Titles {
    corners: Vec<String>,
    target: String,
}

/// What the page gathers while benchmarks are written.
#[derive(Debug, Default)]
pub(super) struct DetectionPage {
    metrics: BTreeMap<String, (String, Vec<DetectionRow>)>,
}

impl DetectionPage {
    pub(super) fn add(&mut self, row: DetectionRow) {
        let unit = row.found.metric.unit.clone();
        let metric = self.metrics.entry(row.found.name.clone());
        metric.or_insert_with(|| (unit, Vec::new())).1.push(row);
    }

    /// Writes the page and its side files.
    pub(super) fn write(
        &mut self,
        directory: &Directory,
        options: &Options,
        compared: Compared,
    ) -> Result<(), DirectoryError> {
        for (_, rows) in self.metrics.values_mut() {
            rows.sort_by(|one, other| {
                let (one, other) = (one.order(), other.order());
                one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
            });
        }
        let detect = options.detect;
        let (grid, view) = (detect.options().grid, detect.view());
        let metrics = by_use(&self.metrics, |(_, rows)| rows.len());
        let mut files = Vec::new();
        for (number, (name, (_, rows))) in metrics.iter().enumerate() {
            let file = format!("detection.m{number}");
            let content = side_file(&file, &columns(rows));
            directory.write(&format!("data/{file}.js"), &content)?;
            let chart = format!("{file}.chart");
            let content = side_file(&chart, &chart::detection(&known(rows), &grid, view));
            directory.write(&format!("data/{chart}.js"), &content)?;
            files.push(MetricRows {
                name: (*name).clone(),
                file,
                chart: Some(chart),
            });
        }
        let corners = grid.corners().into_iter().map(|it| it.to_string());
        let settings = PageSettings {
            page: "detection",
            metrics: files,
            file: None,
            more: Titles {
                corners: corners.collect(),
                target: view.target_text(),
            },
        };
        let main = self.main(&metrics, view, &settings.more.corners, grid.largest());
        let page = shell(SitePage::Detection, compared, options, &settings, &main);
        directory.write(SitePage::Detection.file(), &page)
    }

    fn main(
        &self,
        metrics: &[(&String, &(String, Vec<DetectionRow>))],
        view: DetectionView,
        corners: &[String],
        largest: Configuration,
    ) -> Markup {
        let heads: Vec<String> = corners
            .iter()
            .map(|it| format!("MDS at {}", it.replace(' ', "\u{a0}")))
            .collect();
        let needed = format!("for {}", view.target_text());
        let mut columns: Vec<Column<'_>> = vec![
            ("name", "benchmark", "name"),
            ("size", "measured", "number"),
        ];
        let keys = ["corner0", "corner1", "corner2", "corner3"];
        columns.extend(
            keys.into_iter()
                .zip(&heads)
                .map(|(key, head)| (key, head.as_str(), "number")),
        );
        columns.extend([
            ("needed", needed.as_str(), "number"),
            ("plan", "cheapest", "number"),
            ("between", "noise between", "number"),
            ("within", "noise within", "number"),
        ]);
        html! {
            @if metrics.is_empty() {
                p.answer { "0 benchmarks have a value that counts, so nothing is known of what they could detect." }
            } @else {
                @for (number, (name, (_, rows))) in metrics.iter().enumerate() {
                    section.by-metric data-metric=(name) hidden[number > 0] aria-label=(format!("Detection by {}", metric_title(name))) {
                        (answer(name, rows, view, largest))
                    }
                }
                (filters("Benchmarks", &self.choices(metrics, view), Metrics::OneOf))
                p.buttons { button type="button" data-action="overview" aria-expanded="false" { "Draw what is detected" } }
                div #overview hidden {}
                (listing("Which slowdowns each benchmark could detect, those first that cannot detect enough", &columns))
                (guide(view))
            }
        }
    }

    fn choices(
        &self,
        metrics: &[(&String, &(String, Vec<DetectionRow>))],
        view: DetectionView,
    ) -> Choices {
        let rows = || self.metrics.values().flat_map(|(_, rows)| rows);
        let target = view.target_text();
        let states = [
            ("no", format!("cannot detect {target}")),
            ("yes", format!("can detect {target}")),
            ("unknown", "too little measured".to_owned()),
            (
                "few",
                format!("fewer than {INSTANCES_FOR_A_VERDICT} instances"),
            ),
        ];
        Choices {
            metrics: metrics
                .iter()
                .map(|(name, (unit, _))| ((*name).clone(), unit.clone()))
                .collect(),
            suites: rows().map(|it| it.about.suite.clone()).collect(),
            tags: rows().flat_map(|it| it.about.tags.clone()).collect(),
            more: vec![Choice {
                name: "state",
                label: "Show",
                values: states.map(|(key, it)| (key.to_owned(), it)).into(),
            }],
        }
    }
}

fn known(rows: &[DetectionRow]) -> Vec<Detectability> {
    let rows = rows.iter().filter(|it| it.is_known());
    rows.map(|it| it.found.clone()).collect()
}

fn answer(
    metric: &str,
    rows: &[DetectionRow],
    view: DetectionView,
    largest: Configuration,
) -> Markup {
    let number = |able: &str| rows.iter().filter(|it| it.able == able).count();
    let link = |state: &str, text: String| html! { a href=(format!("#metric={}&state={state}", url_part(metric))) { (text) } };
    let (able, unable, unknown) = (number("yes"), number("no"), number("unknown"));
    let costs: Vec<f64> = rows.iter().filter_map(|it| it.plan_cost).collect();
    let plan = (!costs.is_empty()).then(|| (costs.len(), costs.iter().sum::<f64>()));
    let found = known(rows);
    // By formula nothing is too close to call.
    let known = rows
        .iter()
        .filter(|it| it.is_known())
        .map(|it| match it.able {
            "yes" => (&it.found, Able::Yes),
            _ => (&it.found, Able::No),
        });
    let headline = view.headline_of_rows(&found, known, largest);
    let names = rows.iter().map(|it| (&it.about.suite, &it.about.id));
    let is_by_benchmark = names.collect::<BTreeSet<_>>().len() == rows.len();
    let unable_text = match is_by_benchmark {
        true => format!("{} cannot", grouped(unable)),
        false => format!("{} cannot", counted(unable, "row")),
    };
    html! {
        p.answer {
            "By " (metric_title(metric)) ": "
            @if able + unable == 0 {
                "of " (counted(rows.len(), "benchmark")) " nothing is known: it takes " (TAKES) "."
            } @else {
                strong { (headline) } "."
                @if unable > 0 { " " (link("no", unable_text)) "." }
                @if unknown > 0 {
                    " Of " (link("unknown", format!("{} more", grouped(unknown)))) " nothing is known: it takes " (TAKES) "."
                }
            }
        }
        p.hint {
            @if unknown > 0 { code { "lapwing run --instances 5 --iterations 5" } " measures enough for a first answer. " }
            "These numbers are by formula, from the noise that " a href=(SitePage::Variability.file()) { "variability" } " shows; "
            code { "lapwing mds" } " simulates them with what was measured. "
            @if let Some((planned, cost)) = &plan {
                "What detects it at the least cost would take " (machine_time(*cost)) " for " (counted(*planned, "benchmark")) " in one version. "
            }
            @if unable > 0 {
                "For " (plural(unable, "the one that cannot", "those that cannot")) ", "
                code { (format!("lapwing plan --slowdown {}", view.target_text().replace(' ', ""))) } " says what it takes."
            }
        }
    }
}

fn guide(view: DetectionView) -> Markup {
    let target = view.target_text();
    html! {
        details.guide {
            summary { "How to read this table" }
            dl {
                dt { "MDS at 5 × 25" }
                dd { "Minimal detectable slowdown: the smallest one that a comparison of two versions detects with 5 instances × 25 iterations of each ("
                    (view.basis().replace('`', "")) "). ~ says that it is by formula; – that none is." }
                dt { "for " (target) }
                dd { "The fewest instances × iterations of each version that detect " (target) ", among 5 to 25 of both." }
                dt { "cheapest" }
                dd { "The configuration of up to " (USUAL_MOST) " that detects " (target) " in the least time, and what one version takes with it, its burn-in and all that an instance takes besides. "
                    code { (format!("lapwing plan --slowdown {}", target.replace(' ', ""))) } " confirms it by simulation, keeps within a budget, and writes a file that " code { "lapwing run --plan" } " runs." }
                dt { "noise between, within" }
                dd { "The relative standard deviation of instances, and of the iterations of an instance, as on the page of variability. Against noise within, iterations help as well; against noise between, instances alone." }
                dt { "measured" }
                dd { "The instances × iterations that the noise is known from. With few, it is hardly known, and so is what could be detected." }
            }
        }
    }
}
