//! The report: a static site that works from `file://`, without any network.
//!
//! An index, a page for each benchmark, and side files with data that pages load when they
//! need them (`docs/report.md` describes them all).

mod changes;
mod compare;
mod contents;
mod contrasts;
mod data_pack;
mod directory;
mod environment;
mod environments;
mod frame;
mod headline;
mod index;
mod index_parts;
mod indicators;
mod page;
mod parametrised;
mod picture;
mod preview;
mod provenance;
mod sections;
mod slug;
mod source;
mod stack_matrix;
mod stacks;
mod studies;
mod sweep;
mod together;
mod traces;

use index_parts::bar;

use sections::{burn_in, cleaning, detection, metric, nightly, raw, remarks, runs, variability};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;

use super::sample::{FIRST_METRIC, MetricSample, RunSample};
use super::units::into_base_units;
use super::words::summary::RunSummary;
use super::{VariantColours, VerdictCounts, chart};
use crate::document::THEME_SCRIPT;
use crate::trace::LANES_SCRIPT;
use crate::writing::Note;
pub use changes::{ChangesView, CommitWords};
pub(crate) use changes::{FindingSentence, SizeWords};
use compare::ComparisonIndex;
pub use compare::ComparisonView;
pub use contents::ReportContents;
use data_pack::DataPack;
pub use directory::DirectoryError;
use directory::ReportDirectory;
use environments::RunEnvironments;
use frame::SitePage;
pub(crate) use headline::{Headline, News};
use index::IndexPage;
use index_parts::bar::BenchmarkBars;
use index_parts::bars::BarsPage;
use index_parts::columns::BenchmarkLink;
use index_parts::health::BenchmarkHealth;
use index_parts::listing::MetricRows;
use index_parts::map::RunsByPlace;
use index_parts::row::MetricIndexRows;
use lapwing_analyse::clean::{BenchmarkAudit, CleaningPolicy, CleaningRules};
use lapwing_analyse::judge::{self, Estimate, Verdict};
use lapwing_analyse::sample::{BenchmarkBatch, BenchmarkData, Sample, VariantNames};
use lapwing_model::MetricName;
use lapwing_record::TraceHead;
use lapwing_trace::Trace;
use parametrised::{TestMember, TestPages};
use sections::burn_in::BurnInRow;
use sections::cleaning::CleaningRow;
use sections::detection::DetectionRow;
pub use sections::detection::DetectionTarget;
pub use sections::remarks::ReportRemarks;
use sections::variability::VariabilityRow;
use slug::slug;
pub use stacks::{GoalAdvice, StackFailure, StacksView};
use studies::StudyRow;
use traces::TraceRow;

/// Options of a report.
#[derive(Debug, Clone)]
pub struct ReportOptions {
    /// The title of the index.
    pub title: String,
    /// Its origin and date, for the foot of every page.
    pub made: String,
    /// The rules that exclude iterations.
    pub rules: CleaningRules,
    /// The metrics that are shown; all if empty. Burn-in is detected from the others too.
    pub metrics: Vec<MetricName>,
    /// The slowdown to detect.
    pub detect: DetectionTarget,
    /// Whether every iteration is part of the report.
    pub raw: bool,
}

/// The written report.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenReport {
    /// The page to open.
    pub index: PathBuf,
    /// The number of its benchmarks.
    pub benchmarks: usize,
    /// The conclusions of its comparison and of its history.
    pub conclusions: Vec<Note>,
    /// The worst verdict of its comparison.
    pub verdict: Option<Verdict>,
}

/// Returns what the index says of the comparison and of the history.
fn conclusions(site: &ReportSite) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(comparisons) = &site.comparisons {
        let view = &comparisons.view;
        let text = format!("{}: {}", view.sides(), view.verdicts());
        let note = Note::new("compared", text).with("comparisons", view.comparisons.len());
        let verdicts = VerdictCounts::of(&view.comparisons);
        let note = note.with("baselines", json!(view.baselines()));
        let note = note.with("candidates", json!(view.candidates()));
        notes.push(note.with("verdicts", json!(verdicts)));
    }
    if let Some(view) = &site.changes
        && let Some(summary) = changes::summary(view)
    {
        let note = Note::new("history", format!("in the history: {summary}"));
        let counts = view.counts();
        notes.push(note.with("changes", json!(counts)));
    }
    notes
}

/// The style of all pages.
pub const STYLE: &str = include_str!("../../assets/style.css");

/// The style of the report, with that of its timelines.
const SITE_STYLE: &str = concat!(
    include_str!("../../assets/style.css"),
    include_str!("../../assets/lanes.css"),
);

/// The files that all pages share: of the scripts, helpers first, then those of each kind of page.
const ASSETS: [(&str, &str); 18] = [
    ("echarts.js", chart::ECHARTS),
    ("chart.js", chart::CHART_SCRIPT),
    ("app.js", include_str!("../../assets/app.js")),
    ("charts.js", include_str!("../../assets/charts.js")),
    ("listing.js", include_str!("../../assets/listing.js")),
    ("pages.js", include_str!("../../assets/pages.js")),
    ("map.js", include_str!("../../assets/map.js")),
    ("forest.js", include_str!("../../assets/forest.js")),
    ("bars.js", include_str!("../../assets/bars.js")),
    ("study.js", include_str!("../../assets/study.js")),
    ("lanes.js", LANES_SCRIPT),
    ("theme.js", THEME_SCRIPT),
    ("run.js", include_str!("../../assets/run.js")),
    ("test.js", include_str!("../../assets/test.js")),
    ("benchmark.js", include_str!("../../assets/benchmark.js")),
    ("style.css", SITE_STYLE),
    (
        "echarts-LICENSE",
        include_str!("../../assets/echarts/LICENSE"),
    ),
    (
        "echarts-NOTICE",
        include_str!("../../assets/echarts/NOTICE"),
    ),
];

/// Writes a report, some benchmarks at a time.
#[derive(Debug)]
pub struct ReportWriter {
    site: ReportSite,
    index: IndexPage,
    cleaning: MetricRows<CleaningRow>,
    burn_in: Vec<BurnInRow>,
    variability: MetricRows<VariabilityRow>,
    detection: MetricRows<DetectionRow>,
    bars: BarsPage,
    studies: Vec<StudyRow>,
    traces: Vec<TraceRow>,
    /// The answer of the page of stacks.
    stacks: Option<Headline>,
    tests: TestPages,
    /// The tags of the benchmarks with a page, by slug.
    written: BTreeMap<String, Vec<String>>,
    /// Number of files with data of benchmarks.
    packs: usize,
}

/// The data of so many benchmarks are in one file, unless they are much: thousands of small files take long to copy.
const BENCHMARKS_PER_PACK: usize = 16;

/// The data that all pages share.
#[derive(Debug)]
struct ReportSite {
    directory: Arc<ReportDirectory>,
    options: ReportOptions,
    colours: VariantColours,
    changes: Option<ChangesView>,
    comparisons: Option<ComparisonIndex>,
    environments: RunEnvironments,
    remarks: ReportRemarks,
    runs: RunsByPlace,
    contents: ReportContents,
}

impl ReportSite {
    /// Writes data into a file of their own, and returns what pages find them by.
    fn write_data(&self, name: &str, value: &impl Serialize) -> Result<String, DirectoryError> {
        data_pack::write_entry(&self.directory, name, value)
    }
}

/// Writes a report of these benchmarks into a directory.
///
/// # Errors
/// When the directory holds something else or cannot be written to.
pub fn write(
    benchmarks: impl IntoIterator<Item = BenchmarkData>,
    directory: &Path,
    options: ReportOptions,
) -> Result<WrittenReport, DirectoryError> {
    let mut writer = ReportWriter::create(directory, options)?;
    let mut batch = BenchmarkBatch::default();
    for data in benchmarks {
        writer.add(batch.push(data).unwrap_or_default())?;
    }
    writer.add(batch.into_rest())?;
    writer.finish()
}

impl ReportWriter {
    /// Begins a report. What an older report left in the directory is removed, its index
    /// first: a report that is not finished has none.
    ///
    /// # Errors
    /// When the directory holds something else or cannot be written to.
    pub fn create(directory: &Path, options: ReportOptions) -> Result<Self, DirectoryError> {
        let directory = Arc::new(ReportDirectory::begin(directory)?);
        for (name, content) in ASSETS {
            directory.write(&format!("assets/{name}"), content)?;
        }
        Ok(Self {
            site: ReportSite {
                directory,
                options,
                colours: VariantColours::default(),
                changes: None,
                comparisons: None,
                environments: RunEnvironments::default(),
                remarks: ReportRemarks::default(),
                runs: RunsByPlace::default(),
                contents: ReportContents::all(),
            },
            index: IndexPage::default(),
            cleaning: MetricRows::default(),
            burn_in: Vec::new(),
            variability: MetricRows::default(),
            detection: MetricRows::default(),
            bars: BarsPage::default(),
            studies: Vec::new(),
            traces: Vec::new(),
            stacks: None,
            tests: TestPages::default(),
            written: BTreeMap::new(),
            packs: 0,
        })
    }

    /// Shows comparisons: on a page of their own, and their verdicts in the index and on the page
    /// of each benchmark. To be called before the first benchmark is added.
    pub fn comparisons(&mut self, view: ComparisonView) {
        self.site.comparisons = Some(ComparisonIndex::new(view));
    }

    /// Shows changes in the history: on a page of their own, in the index and on the page of each
    /// benchmark. To be called before the first benchmark is added.
    pub fn changes(&mut self, view: ChangesView) {
        self.site.changes = Some(view);
    }

    /// Leaves out the pages that nothing can be said on. To be called before the first benchmark is added.
    pub fn contents(&mut self, contents: ReportContents) {
        self.site.contents = contents;
    }

    /// Writes the timeline of a trace.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_trace(&mut self, head: &TraceHead, trace: &Trace) -> Result<(), DirectoryError> {
        let row = traces::write_page(&self.site, head, trace)?;
        self.traces.push(row);
        Ok(())
    }

    /// Writes the page of stacks.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_stacks(&mut self, view: &StacksView<'_>) -> Result<(), DirectoryError> {
        self.stacks = Some(stacks::write(&self.site, view)?);
        Ok(())
    }

    /// Shows the annotations of benchmarks. To be called before the first benchmark is added.
    pub fn remarks(&mut self, remarks: ReportRemarks) {
        self.site.remarks = remarks;
    }

    /// Writes the pages and the data of benchmarks, with all processors.
    ///
    /// # Errors
    /// When something cannot be written.
    pub fn add(&mut self, benchmarks: Vec<BenchmarkData>) -> Result<(), DirectoryError> {
        // Colours are given out here, in order, so that they don't depend on threads; and so are
        // places in files.
        for data in &benchmarks {
            let variants = VariantNames::of(data);
            for instance in &data.instances {
                let variant = variants.name(&instance.run);
                self.site.colours.number(variant);
                let (run, session) = (&instance.run, &instance.session);
                self.site.runs.add(run, session, variant);
                self.site.environments.add(run, session);
            }
            self.index
                .note_retired(remarks::shown_retired(&self.site.remarks, data));
        }
        let first = self.packs;
        self.packs += benchmarks.len().div_ceil(BENCHMARKS_PER_PACK);
        let written: Vec<Result<Vec<ListingEntries>, DirectoryError>> = benchmarks
            .into_par_iter()
            .chunks(BENCHMARKS_PER_PACK)
            .enumerate()
            .map(|(at, some)| write_benchmarks(some, first + at, &self.site))
            .collect();
        for entries in written {
            for entries in entries? {
                self.note(entries)?;
            }
        }
        Ok(())
    }

    /// Writes the pages about all benchmarks, and the index last of all.
    ///
    /// # Errors
    /// When something cannot be written.
    pub fn finish(mut self) -> Result<WrittenReport, DirectoryError> {
        let benchmarks = self.index.benchmarks();
        let site = &self.site;
        changes::write(site, &self.written)?;
        compare::write(site, &self.written)?;
        self.tests.finish(site)?;
        site.environments.write(&site.directory)?;
        self.bars.write(site)?;
        studies::write_list(site, &self.studies)?;
        traces::write_list(site, &self.traces)?;
        cleaning::write(site, &self.cleaning)?;
        if site.has(SitePage::BurnIn) {
            burn_in::write(site, &self.burn_in)?;
        }
        if site.has_night_noise() {
            nightly::write(site, &self.written)?;
        } else if site.contents.noise {
            variability::write(site, self.variability)?;
            detection::write(site, self.detection)?;
        }
        let study = (!self.studies.is_empty()).then(|| studies::answer(&self.studies));
        let trace = || (!self.traces.is_empty()).then(|| traces::answer(&self.traces));
        let other = self.stacks.take().or(study).or_else(trace);
        let page = self.index.write(site, &self.tests, other)?;
        let (conclusions, verdict) = (conclusions(&self.site), compare::worst(&self.site));
        let index = self.site.directory.finish(&page)?;
        Ok(WrittenReport {
            index,
            benchmarks,
            conclusions,
            verdict,
        })
    }

    /// Keeps for the pages about all benchmarks what they need of one.
    fn note(&mut self, entries: ListingEntries) -> Result<(), DirectoryError> {
        self.tests.add(entries.member, &self.site)?;
        self.bars.add(entries.bars);
        self.studies.extend(entries.study);
        for row in entries.cleaning {
            let (metric, unit) = (row.metric.clone(), row.unit.clone());
            self.cleaning.add(&metric, &unit, [row]);
        }
        for row in entries.variability {
            let (metric, unit) = (row.noise.name.clone(), row.noise.metric.unit.clone());
            self.variability.add(&metric, &unit, [row]);
        }
        for row in entries.detection {
            let (metric, unit) = (row.found.name.clone(), row.found.metric.unit.clone());
            self.detection.add(&metric, &unit, [row]);
        }
        self.burn_in.extend(entries.burn_in);
        self.index.add(entries.metrics, entries.health);
        let BenchmarkLink { slug, tags, .. } = entries.benchmark;
        self.written.insert(slug, tags);
        Ok(())
    }
}

/// The rows of one benchmark on the pages about all.
#[derive(Debug)]
struct ListingEntries {
    benchmark: BenchmarkLink,
    cleaning: Vec<CleaningRow>,
    variability: Vec<VariabilityRow>,
    detection: Vec<DetectionRow>,
    burn_in: Option<BurnInRow>,
    metrics: Vec<MetricIndexRows>,
    health: BenchmarkHealth,
    bars: BenchmarkBars,
    study: Option<StudyRow>,
    /// For the page of its test, which may have several parametrisations.
    member: TestMember,
}

/// One metric of a benchmark with the estimates of its runs.
#[derive(Debug)]
struct MetricView<'d> {
    sample: MetricSample<'d>,
    /// In the order of the sample's runs.
    estimates: Vec<Option<Estimate>>,
}

impl<'d> MetricView<'d> {
    fn new(sample: MetricSample<'d>) -> Self {
        let estimates = sample
            .runs
            .iter()
            .map(|run| judge::estimate(&run.cleaned()))
            .collect();
        Self { sample, estimates }
    }

    /// Returns the views of all metrics with a value; of a benchmark that only failed, one without.
    fn all(data: &'d BenchmarkData, policy: CleaningPolicy, site: &ReportSite) -> Vec<Self> {
        let mut views: Vec<Self> = MetricSample::names(data)
            .iter()
            .map(|name| MetricSample::under(data, name, policy))
            .filter(MetricSample::has_values)
            .map(|mut sample| {
                let retired = remarks::retired_runs(&site.remarks, data, &sample.name);
                for run in &mut sample.runs {
                    run.retired = retired.contains(&run.id);
                    let changes = site.changes.as_ref();
                    run.is_judged = changes.is_none_or(|it| it.has_run(&run.id));
                }
                Self::new(sample)
            })
            .collect();
        if views.is_empty() {
            views.push(Self::new(MetricSample::under(data, FIRST_METRIC, policy)));
        }
        views
    }

    /// Returns the runs of a variant with their estimates, oldest first.
    fn of_variant<'a>(
        &'a self,
        variant: &'a str,
    ) -> impl DoubleEndedIterator<Item = (&'a RunSample<'d>, Option<Estimate>)> {
        self.sample
            .runs
            .iter()
            .zip(self.estimates.iter().copied())
            .filter(move |(run, _)| run.variant == variant)
    }

    /// Returns the latest run of a variant with its estimate.
    fn latest(&self, variant: &str) -> Option<(&RunSample<'d>, Option<Estimate>)> {
        let latest = self.sample.latest(variant)?;
        let mut runs = self.sample.runs.iter().zip(&self.estimates);
        let estimate = runs.find(|(run, _)| run.id == latest.id)?.1;
        Some((latest, *estimate))
    }

    /// Returns the summary of a run whose source kept no samples.
    fn summary(&self, run: &RunSample) -> Option<RunSummary> {
        self.sample.summary(run)
    }
}

/// Writes benchmarks whose data are in the file of this number.
fn write_benchmarks(
    benchmarks: Vec<BenchmarkData>,
    number: usize,
    site: &ReportSite,
) -> Result<Vec<ListingEntries>, DirectoryError> {
    let mut pack = DataPack::new(&site.directory, &format!("benchmarks-{number}"));
    let benchmarks = benchmarks.into_iter();
    let entries = benchmarks
        .map(|data| write_benchmark(data, site, &mut pack))
        .collect::<Result<_, _>>()?;
    pack.finish()?;
    Ok(entries)
}

fn write_benchmark(
    mut all_metrics: BenchmarkData,
    site: &ReportSite,
    pack: &mut DataPack,
) -> Result<ListingEntries, DirectoryError> {
    into_base_units(&mut all_metrics);
    let options = &site.options;
    let benchmark = BenchmarkLink {
        suite: all_metrics.suite.clone(),
        id: all_metrics.benchmark.id.clone(),
        slug: slug(&all_metrics.suite, &all_metrics.benchmark.id),
        tags: all_metrics.benchmark.tags.clone(),
    };
    let slug = &benchmark.slug;
    // What is judged by all runs together is judged by what the benchmark is today.
    let of_today = Sample::of_newest_epoch(&all_metrics);
    let (policy, source) = options.rules.policy(&of_today);
    let burn_in = burn_in::row(pack, &of_today, &benchmark, (policy, source))?;
    let narrowed = (!options.metrics.is_empty()).then(|| narrowed(&all_metrics, &options.metrics));
    let data = narrowed.as_ref().unwrap_or(&all_metrics);
    let views = MetricView::all(data, policy, site);
    let never_steady = burn_in.as_ref().is_some_and(BurnInRow::mostly_unsteady);
    let cleaning = views.iter().map(|MetricView { sample, .. }| {
        let audit = BenchmarkAudit::of(&Sample::of_all(data), &sample.name, policy, source);
        CleaningRow::new(audit, sample, benchmark.clone(), never_steady)
    });
    let cleaning = cleaning.collect();
    let mut files = Vec::new();
    for number in 0..views.len() {
        files.push(metric::write(site, pack, slug, number, &views)?);
    }
    changes::write_charts(site, slug, &views)?;
    let sample = views.first().map(|view| &view.sample);
    let run_files = runs::write(site, pack, slug, data, sample)?;
    let raw_files = if options.raw {
        raw::write(pack, slug, data)?
    } else {
        Vec::new()
    };
    let names: Vec<MetricName> = views.iter().map(|view| view.sample.name.clone()).collect();
    let variability = variability::rows(&all_metrics, &options.rules, names, &benchmark);
    let metrics: Vec<MetricIndexRows> = views
        .iter()
        .map(|view| MetricIndexRows::of(view, &benchmark, site, &variability))
        .collect();
    let health = BenchmarkHealth::of(metrics.first().map_or(&[], |first| &first.rows));
    let detection: Vec<DetectionRow> = variability
        .iter()
        .map(|row| DetectionRow::new(&row.noise, benchmark.clone(), options.detect))
        .collect();
    let shown = page::BenchmarkPage {
        data,
        slug,
        views: &views,
        metrics: &metrics,
        files: &files,
        raw_files: &raw_files,
        run_files: &run_files,
        health: &health,
        burn_in: burn_in.as_ref(),
        detection: &detection,
        site,
    };
    let page = page::page(&shown, pack)?;
    let bars = bar::of_benchmark(&benchmark, &views, &site.colours);
    let member = TestMember::of(&benchmark, &views, &metrics);
    let study = if site.contents.studies {
        studies::write_page(site, data, &options.rules, &benchmark)?
    } else {
        None
    };
    site.directory
        .write(&format!("benchmark/{slug}.html"), &page)?;
    Ok(ListingEntries {
        benchmark,
        cleaning,
        variability,
        detection,
        burn_in,
        metrics,
        health,
        bars,
        study,
        member,
    })
}

fn iterations(data: &BenchmarkData) -> usize {
    data.instances.iter().map(|it| it.iterations.len()).sum()
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
