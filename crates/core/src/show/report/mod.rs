//! The report: a static site that works from `file://`, without any network.
//!
//! An index, a page for each benchmark, and side files with data that pages load when they
//! need them (`docs/report.md` describes them all).

mod bar;
mod bars;
mod burn_in;
mod cleaning;
mod columns;
mod compare;
mod detection;
mod directory;
mod environment;
mod environment_part;
mod environments;
mod failures;
mod health;
mod index;
mod metric;
mod page;
mod parametrised;
mod power;
mod provenance;
mod raw;
mod remarks;
mod row;
mod runs;
mod site;
mod slug;
mod source;
mod together;
mod variability;
mod verdicts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::sample::{FIRST_METRIC, MetricSample, RunSample};
use super::summary::RunSummary;
use super::units::into_base_units;
use super::{Colours, chart};
use crate::clean::{BenchmarkAudit, Rules};
use crate::judge::{self, Estimate};
use crate::model::MetricName;
use crate::sample::{BenchmarkData, Sample, VariantNames};
use bar::BenchmarkBars;
use bars::BarsPage;
use burn_in::{BurnInPage, BurnInRow};
use cleaning::{CleaningPage, CleaningRow};
use columns::About;
pub use compare::ComparisonView;
use compare::Shown;
pub use detection::Detect;
use detection::{DetectionPage, DetectionRow};
use directory::Directory;
pub use directory::DirectoryError;
use environments::RunEnvironments;
use health::Health;
use index::Index;
use parametrised::{Member, TestPages};
pub use remarks::Remarks;
use row::Row;
use site::Compared;
use slug::slug;
use variability::{VariabilityPage, VariabilityRow};

/// What a report says of itself.
#[derive(Debug, Clone)]
pub struct Options {
    /// What stands at the top of the index.
    pub title: String,
    /// Who made it from what and when, for the foot of every page.
    pub made: String,
    /// What is left out of every number.
    pub rules: Rules,
    /// The metrics that are shown; all where none is named. Burn-in is found from the others too.
    pub metrics: Vec<MetricName>,
    /// Which slowdowns should be detected.
    pub detect: Detect,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The page to open.
    pub index: PathBuf,
    /// How many benchmarks it shows.
    pub benchmarks: usize,
}

/// What the pages run: helpers first, then what each kind of page does.
const SCRIPTS: [(&str, &str); 8] = [
    ("app.js", include_str!("../../../assets/app.js")),
    ("charts.js", include_str!("../../../assets/charts.js")),
    ("listing.js", include_str!("../../../assets/listing.js")),
    ("pages.js", include_str!("../../../assets/pages.js")),
    ("bars.js", include_str!("../../../assets/bars.js")),
    ("run.js", include_str!("../../../assets/run.js")),
    ("test.js", include_str!("../../../assets/test.js")),
    ("benchmark.js", include_str!("../../../assets/benchmark.js")),
];

/// Benchmarks that are worked on at a time: enough for every processor, few enough for memory.
const BATCH: usize = 32;

/// Writes a report benchmark by benchmark.
#[derive(Debug)]
pub struct ReportWriter {
    directory: Directory,
    options: Options,
    colours: Colours,
    waiting: Vec<BenchmarkData>,
    index: Index,
    cleaning: CleaningPage,
    burn_in: BurnInPage,
    variability: VariabilityPage,
    detection: DetectionPage,
    bars: BarsPage,
    tests: TestPages,
    environments: RunEnvironments,
    comparisons: Option<Shown>,
    remarks: Remarks,
    /// The tags of the benchmarks with a page, by slug.
    written: BTreeMap<String, Vec<String>>,
}

/// Writes a report of these benchmarks into a directory.
///
/// # Errors
/// When the directory holds something else or cannot be written to.
pub fn write(
    benchmarks: impl IntoIterator<Item = BenchmarkData>,
    directory: &Path,
    options: Options,
) -> Result<Written, DirectoryError> {
    let mut writer = ReportWriter::create(directory, options)?;
    for data in benchmarks {
        writer.add(data)?;
    }
    writer.finish()
}

impl ReportWriter {
    /// Begins a report. What an older report left in the directory is removed, its index
    /// first: a report that is not finished has none.
    ///
    /// # Errors
    /// When the directory holds something else or cannot be written to.
    pub fn create(directory: &Path, options: Options) -> Result<Self, DirectoryError> {
        let directory = Directory::begin(directory)?;
        directory.write("assets/echarts.js", chart::ECHARTS)?;
        directory.write("assets/chart.js", chart::CHART_SCRIPT)?;
        for (name, script) in SCRIPTS {
            directory.write(&format!("assets/{name}"), script)?;
        }
        directory.write(
            "assets/style.css",
            include_str!("../../../assets/style.css"),
        )?;
        directory.write(
            "assets/echarts-LICENSE",
            include_str!("../../../assets/echarts/LICENSE"),
        )?;
        directory.write(
            "assets/echarts-NOTICE",
            include_str!("../../../assets/echarts/NOTICE"),
        )?;
        Ok(Self {
            directory,
            options,
            colours: Colours::default(),
            waiting: Vec::new(),
            index: Index::default(),
            cleaning: CleaningPage::default(),
            burn_in: BurnInPage::default(),
            variability: VariabilityPage::default(),
            detection: DetectionPage::default(),
            bars: BarsPage::default(),
            tests: TestPages::default(),
            environments: RunEnvironments::default(),
            comparisons: None,
            remarks: Remarks::default(),
            written: BTreeMap::new(),
        })
    }

    /// Has comparisons shown: on a page of their own, and their verdicts in the index and with each
    /// benchmark. To be given before the first benchmark.
    pub fn comparisons(&mut self, view: ComparisonView) {
        self.comparisons = Some(Shown::new(view));
    }

    /// Has shown what people said of benchmarks later. To be given before the first benchmark.
    pub fn remarks(&mut self, remarks: Remarks) {
        self.remarks = remarks;
    }

    /// Adds a benchmark: its page and its data are written soon.
    ///
    /// # Errors
    /// When something cannot be written.
    pub fn add(&mut self, data: BenchmarkData) -> Result<(), DirectoryError> {
        // Colours are given out here, in order, so that they don't depend on threads; and so are
        // places in files.
        let variants = VariantNames::of(&data);
        for instance in &data.instances {
            self.colours.number(variants.name(&instance.run));
            self.environments.add(&instance.run, &instance.session);
        }
        self.index
            .note_retired(remarks::shown_retired(&self.remarks, &data));
        self.waiting.push(data);
        if self.waiting.len() >= BATCH {
            self.write_waiting()?;
        }
        Ok(())
    }

    /// Writes what is left and the index, last of all.
    ///
    /// # Errors
    /// When something cannot be written.
    pub fn finish(mut self) -> Result<Written, DirectoryError> {
        self.write_waiting()?;
        let benchmarks = self.index.benchmarks();
        let compared = self.compared();
        if let Some(Shown { view, .. }) = &self.comparisons {
            compare::write(&self.directory, view, &self.written, &self.options)?;
        }
        self.tests
            .finish(&self.directory, &self.options, compared)?;
        self.environments.write(&self.directory)?;
        self.bars.write(&self.directory, &self.options, compared)?;
        self.cleaning
            .write(&self.directory, &self.options, compared)?;
        self.burn_in
            .write(&self.directory, &self.options, compared)?;
        self.variability
            .write(&self.directory, &self.options, compared)?;
        self.detection
            .write(&self.directory, &self.options, compared)?;
        let page = self.index.write(
            &self.directory,
            &self.options,
            self.comparisons.as_ref(),
            &self.tests,
            &self.remarks,
        )?;
        let index = self.directory.finish(&page)?;
        Ok(Written { index, benchmarks })
    }

    fn compared(&self) -> Compared {
        match self.comparisons {
            Some(_) => Compared::Yes,
            None => Compared::No,
        }
    }

    /// Keeps for the pages about all benchmarks what they need of one.
    fn note(&mut self, summary: Summary) -> Result<(), DirectoryError> {
        let Summary {
            about,
            found,
            variability,
            detection,
            burn_in,
            metrics,
            health,
            bars,
            member,
        } = summary;
        let compared = self.compared();
        self.tests
            .add(member, &self.directory, &self.options, compared)?;
        self.bars.add(bars);
        for it in found {
            self.cleaning.add(&it.name, &it.unit, it.cleaning);
        }
        for row in variability {
            self.variability.add(row);
        }
        for row in detection {
            self.detection.add(row);
        }
        if let Some(row) = burn_in {
            self.burn_in.add(row);
        }
        self.index.add(&about, metrics, health);
        self.written.insert(about.slug, about.tags);
        Ok(())
    }

    fn write_waiting(&mut self) -> Result<(), DirectoryError> {
        let waiting = std::mem::take(&mut self.waiting);
        let site = Site {
            directory: &self.directory,
            options: &self.options,
            colours: &self.colours,
            comparisons: self.comparisons.as_ref(),
            environments: &self.environments,
            remarks: &self.remarks,
        };
        let written: Vec<Result<Summary, DirectoryError>> = waiting
            .into_par_iter()
            .map(|data| write_benchmark(data, &site))
            .collect();
        for summary in written {
            self.note(summary?)?;
        }
        Ok(())
    }
}

/// What every benchmark's page is made with.
#[derive(Debug, Clone, Copy)]
struct Site<'a> {
    directory: &'a Directory,
    options: &'a Options,
    colours: &'a Colours,
    comparisons: Option<&'a Shown>,
    environments: &'a RunEnvironments,
    remarks: &'a Remarks,
}

/// What the pages about all benchmarks have to know of one.
#[derive(Debug)]
struct Summary {
    about: About,
    found: Vec<FoundByMetric>,
    variability: Vec<VariabilityRow>,
    detection: Vec<DetectionRow>,
    burn_in: Option<BurnInRow>,
    /// For each metric its name, its unit and a row per variant.
    metrics: Vec<(String, String, Vec<Row>)>,
    health: Health,
    bars: BenchmarkBars,
    /// What the page of its test needs, should it be one of several parametrisations.
    member: Member,
}

/// What was found of a benchmark by one metric, besides what the index shows.
#[derive(Debug)]
struct FoundByMetric {
    name: String,
    unit: String,
    cleaning: CleaningRow,
}

/// One metric of a benchmark with its numbers computed.
#[derive(Debug)]
struct MetricView {
    sample: MetricSample,
    /// The runs' numbers, in the order of the sample's runs.
    estimates: Vec<Option<Estimate>>,
}

impl MetricView {
    fn new(sample: MetricSample) -> Self {
        let estimates = sample
            .runs
            .iter()
            .map(|run| judge::estimate(&run.cleaned()))
            .collect();
        Self { sample, estimates }
    }

    /// Returns the runs of a variant with their numbers, oldest first.
    fn of_variant<'a>(
        &'a self,
        variant: &'a str,
    ) -> impl DoubleEndedIterator<Item = (&'a RunSample, Option<Estimate>)> {
        self.sample
            .runs
            .iter()
            .zip(self.estimates.iter().copied())
            .filter(move |(run, _)| run.variant == variant)
    }

    /// Returns what a run's source says in place of samples.
    fn summary(&self, run: &RunSample) -> Option<RunSummary> {
        self.sample.summary(run)
    }
}

fn write_benchmark(mut owned: BenchmarkData, site: &Site<'_>) -> Result<Summary, DirectoryError> {
    into_base_units(&mut owned);
    let all_metrics = &owned;
    let Site {
        directory,
        options,
        colours,
        comparisons: _,
        environments,
        remarks: _,
    } = *site;
    let slug = slug(&all_metrics.suite, &all_metrics.benchmark.id);
    // What is judged by all runs together is judged by what the benchmark is today.
    let of_today = Sample::of_newest_epoch(all_metrics);
    let (policy, source) = options.rules.policy(&of_today);
    let narrowed = (!options.metrics.is_empty()).then(|| narrowed(all_metrics, &options.metrics));
    let data = narrowed.as_ref().unwrap_or(all_metrics);
    let mut views: Vec<MetricView> = MetricSample::names(data)
        .iter()
        .map(|name| MetricSample::under(data, name, policy))
        .filter(MetricSample::has_values)
        .map(|mut sample| {
            let retired = remarks::retired_runs(site.remarks, data, &sample.name);
            for run in &mut sample.runs {
                run.retired = retired.contains(&run.id);
            }
            sample
        })
        .map(MetricView::new)
        .collect();
    if views.is_empty() {
        // Nothing but failures: they are shown all the same.
        let sample = MetricSample::under(data, FIRST_METRIC, policy);
        views.push(MetricView::new(sample));
    }
    let about = About {
        suite: data.suite.clone(),
        id: data.benchmark.id.clone(),
        slug: slug.clone(),
        tags: data.benchmark.tags.clone(),
    };
    let burn_in = burn_in::write(directory, &of_today, about.clone(), (policy, source))?;
    let never_steady = burn_in.as_ref().is_some_and(BurnInRow::mostly_unsteady);
    let found = views
        .iter()
        .map(|view| {
            let name = &view.sample.name;
            let audit = BenchmarkAudit::of(&Sample::of_all(data), name, policy, source);
            FoundByMetric {
                name: name.clone(),
                unit: view.sample.metric.unit.clone(),
                cleaning: CleaningRow::new(audit, about.clone(), never_steady),
            }
        })
        .collect();
    let mut files = Vec::new();
    for (number, view) in views.iter().enumerate() {
        let first = views.first().unwrap_or(view);
        files.push(metric::write(
            directory, &slug, number, view, first, colours,
        )?);
    }
    let raw_files = raw::write(directory, &slug, data)?;
    let sample = views.first().map(|view| &view.sample);
    let run_files = runs::write(directory, &slug, data, sample, environments)?;
    let rows: Vec<(String, String, Vec<Row>)> = views
        .iter()
        .map(|view| {
            (
                view.sample.name.clone(),
                view.sample.metric.unit.clone(),
                row::rows(data, &slug, view, site),
            )
        })
        .collect();
    let health = Health::of(rows.first().map_or(&[], |(_, _, rows)| rows));
    let page = page::page(&page::Page {
        data,
        slug: &slug,
        views: &views,
        rows: &rows,
        files: &files,
        raw_files: &raw_files,
        run_files: &run_files,
        health: &health,
        burn_in: burn_in.as_ref(),
        site,
    });
    let bars = bar::of_benchmark(&about, &views, colours);
    let member = Member::of(&about, &views, &rows);
    let names: Vec<String> = views.into_iter().map(|view| view.sample.name).collect();
    let first = names.first().cloned().unwrap_or_default();
    // Last of all: it takes the measurements apart by variant and version.
    let variability = variability::rows(owned, &options.rules, names, &about);
    let detection: Vec<DetectionRow> = variability
        .iter()
        .map(|row| detection::row(row.noise(), about.clone(), options.detect))
        .collect();
    let later = page::Later {
        detectable: detection::sentence(&detection, &first, options.detect),
    };
    directory.write(&format!("benchmark/{slug}.html"), &later.put_into(&page))?;
    Ok(Summary {
        about,
        found,
        variability,
        detection,
        burn_in,
        metrics: rows,
        health,
        bars,
        member,
    })
}

/// Returns a benchmark with these metrics alone.
fn narrowed(data: &BenchmarkData, metrics: &[MetricName]) -> BenchmarkData {
    let mut data = data.clone();
    for instance in &mut data.instances {
        let values = &mut instance.iterations.values;
        values.retain(|name, _| metrics.contains(name));
        instance.summaries.retain(|it| metrics.contains(&it.metric));
    }
    data
}

/// Returns a side file that registers its data under its own name when a page loads it.
fn side_file(name: &str, value: &impl serde::Serialize) -> String {
    // What is serialised here are structs of numbers and texts, which cannot fail.
    let json = serde_json::to_string(value).unwrap_or_else(|_impossible| "null".to_owned());
    let name = serde_json::Value::from(name);
    // A line separator inside a text is an error to old browsers, and `</script` to some tools.
    let json = [
        ("\u{2028}", "\\u2028"),
        ("\u{2029}", "\\u2029"),
        ("</", "<\\/"),
    ]
    .iter()
    .fold(json, |json, (found, escaped)| {
        if json.contains(found) {
            json.replace(found, escaped)
        } else {
            json
        }
    });
    format!("lapwing.register({name},{json});\n")
}
