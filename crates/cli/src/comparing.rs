//! Options and sides of every command that compares.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::Path;

use clap::Args;
use jiff::Timestamp;
use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::judge::{CompareMethod, CompareOptions, MetricChoice, SideSamples};
use lapwing_analyse::sample::{
    ComparedSides, MainChoice, RunKey, SampleFilter, Selector, SideKind, SideSpec,
};
use lapwing_formats::{EachRun, ImportError, ImportOptions, Source};
use lapwing_measure::suite::burn_in_file::unknown_names;
use lapwing_model::text::first_names;
use lapwing_record::{Filter, RunHead, Store, files};
use lapwing_show::answers::compare::{Unused, environment_note, pool_note, uncommitted_note};
use lapwing_show::writing::Note;
use lapwing_stats::{Confidence, Seed};

use lapwing_show::answers::detect::muted_note;

use crate::benchmark_side::{BENCHMARK, store_of_benchmark};
use crate::cleaning::JudgingOptions;
use crate::error::CliError;
use crate::options::{Context, NamedValue, one_of};
use crate::profile::Profile;
use crate::store::{open_for_reading, retired_notes};
use crate::temporary::TemporaryFolder;

/// Options of a comparison.
#[derive(Debug, Clone, Args)]
pub struct StatisticsOptions {
    /// Smallest change that matters, such as 3%
    #[arg(long, value_name = "CHANGE", value_parser = parse_change)]
    pub smallest_effect: Option<f64>,
    /// Statistical method
    #[arg(
        long,
        value_name = "METHOD",
        value_parser = one_of(&METHODS),
        default_value = "default",
        help_heading = "Statistics")]
    method: CompareMethod,
    /// Confidence level [default: the suite's, or 95%]
    #[arg(long, value_name = "LEVEL", value_parser = parse_level, help_heading = "Statistics")]
    confidence: Option<Confidence>,
    /// Accepted share of false findings [default: the suite's, or 5%]
    #[arg(long, value_name = "SHARE", value_parser = parse_share, help_heading = "Statistics")]
    false_discovery_rate: Option<f64>,
    /// Fewest sessions per side for a verdict: with 2 or more, no finding rests on a single occasion
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Statistics")]
    min_sessions: u32,
    /// Seed of random choices
    #[arg(
        long,
        value_name = "N",
        default_value_t = 7,
        help_heading = "Statistics"
    )]
    seed: u64,
}

const METHODS: [NamedValue<CompareMethod>; 9] = [
    (
        "default",
        "t on logarithms over the unit of replication, paired where the sides share it; the family of all benchmarks shows its noise",
        CompareMethod::Default,
    ),
    ("welch", "Welch's t on logarithms", CompareMethod::Welch),
    (
        "bootstrap-t",
        "The studentised bootstrap of logarithms",
        CompareMethod::BootstrapT,
    ),
    (
        "bca",
        "The BCa bootstrap of the ratio of arithmetic means",
        CompareMethod::Bca,
    ),
    (
        "fieller",
        "Fieller's interval of the ratio of arithmetic means",
        CompareMethod::Fieller,
    ),
    (
        "hierarchical",
        "Percentile bootstrap of instances and iterations (Laaber et al.); too narrow with few instances",
        CompareMethod::Hierarchical,
    ),
    (
        "mann-whitney",
        "Mann–Whitney's test with Hodges and Lehmann's ratio",
        CompareMethod::MannWhitney,
    ),
    (
        "brunner-munzel",
        "Brunner and Munzel's test with Hodges and Lehmann's ratio",
        CompareMethod::BrunnerMunzel,
    ),
    (
        "permutation",
        "The permutation test of the means of logarithms",
        CompareMethod::Permutation,
    ),
];

impl StatisticsOptions {
    /// Refuses options that another tool's method does not have.
    pub fn refuse(&self) -> Result<(), CliError> {
        let given = [
            ("--smallest-effect", self.smallest_effect.is_some()),
            ("--method", self.method != CompareMethod::Default),
            (
                "--false-discovery-rate",
                self.false_discovery_rate.is_some(),
            ),
            ("--min-sessions", self.min_sessions > 1),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(CliError::input(format!(
                "{option} does not apply to the method of another tool (--compat)"
            ))),
            None => Ok(()),
        }
    }

    /// Returns the options, else those of the suite file, else the defaults.
    pub fn options(&self, judging: &JudgingOptions) -> CompareOptions {
        let usual = CompareOptions::default();
        CompareOptions {
            method: self.method,
            confidence: self
                .confidence
                .or(judging.confidence)
                .unwrap_or(usual.confidence),
            smallest_effect: self.smallest_effect.or(judging.smallest_effect),
            false_discovery_rate: self
                .false_discovery_rate
                .or(judging.false_discovery_rate)
                .unwrap_or(usual.false_discovery_rate),
            min_sessions: usize::try_from(self.min_sessions).unwrap_or(usize::MAX),
            seed: Seed(self.seed),
        }
    }
}

/// The samples of all sides.
pub struct GatheredSides {
    /// The names of the sides, the baseline first.
    pub names: Vec<String>,
    /// The samples that count.
    pub samples: SideSamples,
    /// Notes on the choice of the sides.
    pub notes: Vec<Note>,
    /// Metrics, benchmarks and options without a part in the comparison.
    pub unused: Unused,
}

/// Returns the metrics of a filter.
pub fn metrics(filter: &SampleFilter, profile: Profile) -> MetricChoice {
    if filter.metrics.is_empty() {
        profile.metrics
    } else {
        MetricChoice::Named(filter.metrics.clone())
    }
}

/// Returns the metrics to compare: of those that are usual also the ones without a direction, which are told as changed.
pub fn compared_metrics(filter: &SampleFilter, profile: Profile) -> MetricChoice {
    match metrics(filter, profile) {
        MetricChoice::Directed | MetricChoice::Reported => MetricChoice::Reported,
        MetricChoice::Named(names) => MetricChoice::Named(names),
    }
}

/// Finds the sides and reads their measurements.
pub fn gather(
    sides: &[SideSpec],
    filter: &SampleFilter,
    metrics: &MetricChoice,
    judging: &JudgingOptions,
    context: &Context,
) -> Result<GatheredSides, CliError> {
    let rules = &judging.rules;
    let found = FoundSides::find(sides, filter, judging, context)?;
    let mut samples = SideSamples::gather(&found.sides, filter, metrics, rules)?;
    let mut notes = found.notes(filter, rules)?;
    if let Some(suites) = samples.match_by_id() {
        let text = format!(
            "the sides have no suite in common ({}): benchmarks are matched by name",
            suites.join(", ")
        );
        notes.push(Note::marked("matched_by_name", text));
    }
    if let Some(only) = samples.match_only_ones() {
        let text = format!(
            "each side has one benchmark, under another name ({}): these are compared",
            only.join(", ")
        );
        notes.push(Note::marked("matched_only_ones", text));
    }
    let muted = samples.apply_limits(&judging.suite, judging.is_effect_asked);
    notes.extend(muted_note(&muted));
    let names = found.sides.names();
    notes.extend(pool_note(&found.sides.pools()));
    notes.extend((1..names.len()).filter_map(|candidate| {
        let differences = samples.unintended_differences(candidate);
        environment_note([&names[0], &names[candidate]], &differences)
    }));
    Ok(GatheredSides {
        names,
        samples,
        notes,
        unused: found.unused(judging),
    })
}

/// The sides of a comparison, some of them perhaps in files.
pub struct FoundSides {
    /// The sides.
    pub sides: ComparedSides,
    /// A note on annotations of each store that do not count.
    disregarded: Vec<Note>,
    /// Dropped after the stores of the files.
    files: SideFiles,
}

impl FoundSides {
    /// Finds the sides in the store and in files.
    pub fn find(
        specs: &[SideSpec],
        filter: &SampleFilter,
        judging: &JudgingOptions,
        context: &Context,
    ) -> Result<Self, CliError> {
        let mut files = SideFiles {
            folders: Vec::new(),
            reading: judging
                .reading
                .clone()
                .unwrap_or_else(|| ImportOptions::at(Timestamp::now())),
            has_runs: false,
            benchmarks: specs
                .iter()
                .filter_map(|it| it.text.strip_prefix(BENCHMARK))
                .collect::<Vec<&str>>()
                .join(" | "),
        };
        let disregarded = RefCell::new(Vec::new());
        let honour = |store: Store| -> Result<Store, CliError> {
            disregarded.borrow_mut().extend(judging.honour(&store)?);
            Ok(store)
        };
        let open = || {
            let opened = open_for_reading(context).map_err(|error| match missing_file(specs) {
                Some(path) => no_file(path),
                None => error,
            });
            honour(opened?)
        };
        let open_file = |path: &Path| honour(files.open(path, filter, context)?);
        let mut sides = ComparedSides::find(
            specs,
            filter,
            open,
            open_file,
            &judging.repository(),
            judging.main,
        )?;
        for (side, label) in sides.sides.iter_mut().zip(&context.labels) {
            side.name.clone_from(label);
        }
        Ok(Self {
            sides,
            disregarded: disregarded.into_inner(),
            files,
        })
    }

    /// Returns the runs of other branches that are left out, and the options that had no effect on how files were read.
    pub fn unused(&self, judging: &JudgingOptions) -> Unused {
        let is_ignored = self.files.reading.each_run != EachRun::Iteration && !self.files.has_runs;
        let mut sides = self.sides.sides.iter();
        let has_effect = judging.main != MainChoice::FirstParents
            || sides.any(|side| side.kind == SideKind::Query);
        let options = [("--each-run", is_ignored), ("--first-parents", !has_effect)];
        let options = options.into_iter().filter(|it| it.1).map(|it| it.0);
        Unused {
            options: options.collect(),
            others: self.sides.others.clone(),
            ..Unused::default()
        }
    }

    /// Returns notes on the choice of the sides and on excluded results.
    pub fn notes(
        &self,
        filter: &SampleFilter,
        rules: &CleaningRules,
    ) -> Result<Vec<Note>, CliError> {
        let notes = self.sides.notes.iter();
        let mut notes: Vec<Note> = notes.map(|it| Note::marked("sides", it.as_str())).collect();
        notes.extend(uncommitted_note(self.sides.uncommitted.len()));
        if let Some(listed) = &rules.burn_in.listed {
            let mut ids = BTreeSet::new();
            for store in self.sides.stores() {
                let rows = store
                    .catalogue()
                    .benchmarks(&Filter::default())?
                    .into_iter();
                ids.extend(rows.map(|row| row.benchmark));
            }
            let unknown = unknown_names(listed, ids.iter().map(String::as_str));
            notes.extend(
                unknown
                    .into_iter()
                    .map(|it| Note::marked("unknown_names", it)),
            );
        }
        notes.extend(retired_notes(&self.sides.left_out(filter)?));
        notes.extend(self.disregarded.iter().cloned());
        Ok(notes)
    }
}

/// Returns the sides with `benchmark:` before words that are benchmarks, if all sides are and nothing else is called that.
///
/// # Errors
/// If some are, and others are nothing.
pub fn named_benchmarks(specs: &[SideSpec], context: &Context) -> Result<Vec<SideSpec>, CliError> {
    let is_word = |spec: &&SideSpec| spec.is_word();
    let is_stated = |spec: &&SideSpec| spec.text.starts_with(BENCHMARK);
    let are_possible = specs.iter().all(|it| is_word(&it) || is_stated(&it));
    if specs.len() < 2 || !are_possible || !specs.iter().any(|it| is_word(&it)) {
        return Ok(specs.to_vec());
    }
    if !context.store.exists() {
        return Ok(specs.to_vec());
    }
    let store = open_for_reading(context)?;
    let rows = store.catalogue().benchmarks(&Filter::default())?;
    let ids: BTreeSet<String> = rows.into_iter().map(|row| row.benchmark).collect();
    let keys = [RunKey::Variant, RunKey::Version, RunKey::Session];
    let runs = store.catalogue().run_heads()?;
    let is_other = |word: &str| {
        let is_run = |run: &RunHead| {
            keys.iter().any(|key| key.of(run).as_deref() == Some(word))
                || run.session_name.as_deref() == Some(word)
        };
        runs.iter().any(is_run) || Path::new(word).exists()
    };
    let words: Vec<&str> = (specs.iter().filter(is_word))
        .map(|it| it.text.as_str())
        .collect();
    let named = |word: &&str| ids.contains(*word) && !is_other(word);
    if !words.iter().any(named) || words.iter().any(|word| is_other(word)) {
        return Ok(specs.to_vec());
    }
    if let Some(unknown) = words.iter().find(|word| !named(word)) {
        let names = ids.iter().map(String::as_str);
        return Err(
            CliError::input(format!("there is no benchmark `{unknown}`"))
                .hint(format!("the store has {}", first_names(names, 4))),
        );
    }
    let named = specs.iter().map(|spec| match is_word(&spec) {
        true => parse_side(&format!("{BENCHMARK}{}", spec.text)).map_err(CliError::input),
        false => Ok(spec.clone()),
    });
    named.collect()
}

/// Returns the first side that looks like a file, or a pattern for files, and is none.
fn missing_file(specs: &[SideSpec]) -> Option<&str> {
    let texts = specs.iter().map(|it| it.text.as_str());
    let fits = |path: &Path| {
        lapwing_formats::places_at(path).is_ok_and(|it| it.places.iter().any(|it| it.path.exists()))
    };
    let is_there = |path: &Path| path.exists() || fits(path);
    let mut missing = texts.filter(|text| !is_there(Path::new(text)));
    missing.find(|text| text.contains('/') || Path::new(text).extension().is_some())
}

/// Returns the error on a missing file. A file with a label before it, as benchstat takes it, is one without.
fn no_file(path: &str) -> CliError {
    let error = CliError::input(format!("there is no file {path}"));
    match path.split_once('=') {
        Some((_label, file)) if Path::new(file).exists() => error.hint(format!(
            "a side has the name of its file, without a label: `{file}`"
        )),
        _ => error,
    }
}

/// First bytes of a store.
const STORE: &[u8] = b"SQLite format 3\0";

/// Files imported into temporary stores, which are removed with it.
#[derive(Debug)]
struct SideFiles {
    folders: Vec<TemporaryFolder>,
    reading: ImportOptions,
    /// Whether any of them has runs of which that says what they are.
    has_runs: bool,
    /// The benchmarks that are sides, as the title of their comparison.
    benchmarks: String,
}

impl SideFiles {
    /// Returns the content of a file or folder: another store, or results of any format; or a benchmark.
    fn open(
        &mut self,
        path: &Path,
        filter: &SampleFilter,
        context: &Context,
    ) -> Result<Store, CliError> {
        let is_input = path == Path::new("-");
        // Reading a pipe would take from it.
        if !is_input && is_store(path) {
            return Ok(Store::open_read_only(path)?);
        }
        let folder = TemporaryFolder::new()?;
        if let Some(name) = path.to_str().and_then(|it| it.strip_prefix(BENCHMARK)) {
            let path = folder.path().join("side.db");
            let store = store_of_benchmark(name, &self.benchmarks, filter, &path, context)?;
            self.folders.push(folder);
            return Ok(store);
        }
        let mut store = Store::open(&folder.path().join("file.db"))?;
        let places = lapwing_formats::places_at(path)
            .map_err(not_imported)?
            .places;
        for place in &places {
            let source = match is_input {
                true => Source::spooled("standard input", io::stdin().lock(), folder.path()),
                false => Source::open(&place.path, folder.path()),
            };
            let source = source.map_err(not_imported)?;
            let imported = lapwing_formats::import(&mut store, &source, &self.reading)
                .map_err(not_imported)?;
            let source = imported
                .session
                .and_then(|mut it| it.attributes.remove("source"));
            self.has_runs |= source.is_some_and(|it| it.get("each_run").is_some());
        }
        self.folders.push(folder);
        Ok(store)
    }
}

pub fn not_imported(error: lapwing_formats::ImportError) -> CliError {
    let error = CliError::input(error);
    if let Some(ImportError::Read { .. }) = error.cause.downcast_ref() {
        // Nothing was to be imported, and an import would fail alike.
        return CliError::input(error.sentence());
    }
    error.hint("`lapwing import FILE` shows more, and can import the valid lines of a file")
}

/// Returns whether a file is a store.
pub fn is_store(path: &Path) -> bool {
    let mut start = [0; STORE.len()];
    files::open(path)
        .and_then(|mut file| file.read_exact(&mut start))
        .is_ok_and(|()| start == *STORE)
}

/// Returns a level of confidence written as `95%` or `0.95`.
pub fn parse_level(text: &str) -> Result<Confidence, String> {
    let level = parse_share(text).map_err(|_other| {
        "write a level above 0 % and below 100 %, such as 95% or 0.95".to_owned()
    })?;
    Confidence::new(level).map_err(|error| error.to_string())
}

/// Returns a number written as `3%`, `3 %` or `0.03`.
pub fn number(text: &str) -> Option<f64> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|it| it / 100.0),
        None => text.parse::<f64>(),
    };
    number.ok().filter(|number| number.is_finite())
}

/// Returns a share written as `5%` or `0.05`.
pub fn parse_share(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| "write a share above 0 % and below 100 %, such as 5% or 0.05".to_owned())
}

/// Keys of conditions that are sides, and how they begin.
const CONDITION_WORDS: [(&str, &str); 4] = [
    ("since", "since "),
    ("until", "until "),
    ("last", "last "),
    ("branch", "branch="),
];

/// Returns a side: `variant:fast`, a bare word, or conditions as of `--where`.
pub fn parse_side(text: &str) -> Result<SideSpec, String> {
    if text == "-" || text.starts_with(BENCHMARK) {
        return format!("file:{text}").parse();
    }
    // Conditions may be written as other sides are: `since:2026-10-01`.
    let stated = text.split_once(':').and_then(|(key, value)| {
        let (_, word) = CONDITION_WORDS.into_iter().find(|it| it.0 == key)?;
        Some(format!("{word}{value}"))
    });
    if let Some(text) = stated {
        return parse_side(&text);
    }
    if !Selector::is_meant_by(text) {
        return text.parse();
    }
    let query = Selector::parse(text, jiff::Timestamp::now()).map_err(|it| it.to_string())?;
    SideSpec::of_query(text, query)
}

/// Returns a change written as `3%` or `0.03`.
pub fn parse_change(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|change| *change > 0.0 && *change < 1.0)
        .ok_or_else(|| "write a change above 0 % and below 100 %, such as 3% or 0.03".to_owned())
}
