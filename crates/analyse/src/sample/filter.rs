//! Filters: the runs selected by a text, by the same rules for every command, store and file.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::setting::is_setting_named;
use lapwing_model::{Id, MetricName};
use lapwing_record::{Filter, Retired, RunHead, SessionHead, Store, StoreError};

/// A selection of measurements, as written on the command line. Empty lists and `None` select everything;
/// several entries of one list are alternatives, all lists have to match.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampleFilter {
    /// The runs.
    pub runs: RunFilter,
    /// Benchmark ids: the whole id, a pattern with `*` and `?`, or a part of the id.
    pub benchmarks: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Metric names.
    pub metrics: Vec<MetricName>,
    /// Whether retired measurements are included.
    pub retired: Retired,
}

/// A selection of runs, as written on the command line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFilter {
    /// Suite names.
    pub suites: Vec<String>,
    /// Session names, or parts of ids.
    pub sessions: Vec<String>,
    /// Only sessions that started at this time or later.
    pub since: Option<Timestamp>,
    /// Only sessions that started before this time.
    pub until: Option<Timestamp>,
    /// Version names or the beginnings of commit hashes.
    pub versions: Vec<String>,
    /// Variant names, or levels of factors.
    pub variants: Vec<String>,
    /// Parts of run ids.
    pub runs: Vec<String>,
}

/// A property that selects runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunKey {
    /// The suite, by its name.
    Suite,
    /// The session, by its name or the beginning or end of its id.
    Session,
    /// The version of the software under test, by its name.
    Version,
    /// Its commit, by the beginning of the hash.
    Commit,
    /// The variant, by its name or by levels of factors.
    Variant,
    /// The run, by the beginning or end of its id.
    Run,
}

/// Fewer characters of a hash or an id match too many things.
pub const SHORTEST_ID: usize = 4;

impl RunKey {
    /// Returns its name: `session`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Suite => "suite",
            Self::Session => "session",
            Self::Version => "version",
            Self::Commit => "commit",
            Self::Variant => "variant",
            Self::Run => "run",
        }
    }

    /// Returns a run's value of it: its commit, the id of its session.
    pub fn of(self, run: &RunHead) -> Option<String> {
        match self {
            Self::Suite => Some(run.suite.clone()),
            Self::Session => Some(run.session.to_string()),
            Self::Version => run.version.clone(),
            Self::Commit => run.commit.clone(),
            Self::Variant => Some(run.variant.clone()),
            Self::Run => Some(run.id.to_string()),
        }
    }

    /// Returns the runs that a text selects: exact matches, or else partial ones.
    pub fn chosen<'r>(self, runs: &'r [RunHead], text: &str) -> Vec<&'r RunHead> {
        let named: Vec<&RunHead> = runs.iter().filter(|run| self.is_name(run, text)).collect();
        if !named.is_empty() {
            return named;
        }
        runs.iter().filter(|run| self.may_mean(run, text)).collect()
    }

    fn is_name(self, run: &RunHead, text: &str) -> bool {
        match self {
            Self::Suite => run.suite == text,
            Self::Session => run.session_name.as_deref() == Some(text),
            Self::Version => run.version.as_deref() == Some(text),
            Self::Variant => run.variant == text,
            Self::Commit | Self::Run => false,
        }
    }

    fn may_mean(self, run: &RunHead, text: &str) -> bool {
        match self {
            Self::Suite | Self::Version => false,
            Self::Session => is_part_of_id(run.session, text),
            Self::Commit => {
                let commit = run.commit.as_deref();
                text.len() >= SHORTEST_ID && commit.is_some_and(|commit| commit.starts_with(text))
            }
            Self::Variant => is_setting_named(text, &run.variant, &run.levels),
            Self::Run => is_part_of_id(run.id, text),
        }
    }
}

fn is_part_of_id(id: Id, text: &str) -> bool {
    let id = id.to_string();
    text.len() >= SHORTEST_ID && (id.starts_with(text) || id.ends_with(text))
}

/// One list of a run filter.
#[derive(Debug)]
pub struct RunFilterPart<'f> {
    /// The option's name: `--variant`.
    pub option: &'static str,
    /// Its entries as written.
    pub entries: Vec<String>,
    choice: PartChoice<'f>,
}

#[derive(Debug)]
enum PartChoice<'f> {
    /// The first key by which an entry matches anything is used.
    Keys(&'static [RunKey], &'f [String]),
    Since(Timestamp),
    Until(Timestamp),
}

impl<'f> RunFilterPart<'f> {
    fn listed(option: &'static str, keys: &'static [RunKey], entries: &'f [String]) -> Self {
        Self {
            option,
            entries: entries.to_vec(),
            choice: PartChoice::Keys(keys, entries),
        }
    }

    /// Returns the ids of the selected runs.
    pub fn passing(&self, runs: &[RunHead]) -> BTreeSet<Id> {
        let started = |is_asked: &dyn Fn(Timestamp) -> bool| {
            let runs = runs.iter().filter(|run| is_asked(run.started));
            runs.map(|run| run.id).collect()
        };
        match &self.choice {
            PartChoice::Since(since) => started(&|at| at >= *since),
            PartChoice::Until(until) => started(&|at| at < *until),
            PartChoice::Keys(keys, entries) => {
                let chosen = entries
                    .iter()
                    .flat_map(|entry| chosen_by(keys, runs, entry));
                chosen.map(|run| run.id).collect()
            }
        }
    }
}

/// Returns the runs that an entry selects by the first of several keys with a match.
fn chosen_by<'r>(keys: &[RunKey], runs: &'r [RunHead], entry: &str) -> Vec<&'r RunHead> {
    let mut chosen = keys.iter().map(|key| key.chosen(runs, entry));
    chosen.find(|chosen| !chosen.is_empty()).unwrap_or_default()
}

impl RunFilter {
    /// Returns the lists that are not empty, those about sessions first.
    pub fn parts(&self) -> Vec<RunFilterPart<'_>> {
        let mut parts = vec![
            RunFilterPart::listed("--in-suite", &[RunKey::Suite], &self.suites),
            RunFilterPart::listed("--session", &[RunKey::Session], &self.sessions),
        ];
        parts.extend(self.since.map(|since| RunFilterPart {
            option: "--since",
            entries: vec![since.to_string()],
            choice: PartChoice::Since(since),
        }));
        parts.extend(self.until.map(|until| RunFilterPart {
            option: "--until",
            entries: vec![until.to_string()],
            choice: PartChoice::Until(until),
        }));
        let versions = &[RunKey::Version, RunKey::Commit];
        parts.extend([
            RunFilterPart::listed("--version-under-test", versions, &self.versions),
            RunFilterPart::listed("--variant", &[RunKey::Variant], &self.variants),
            RunFilterPart::listed("--only-run", &[RunKey::Run], &self.runs),
        ]);
        parts.retain(|part| !part.entries.is_empty());
        parts
    }

    /// Returns the ids of the selected sessions, including those without any run; `None` for all.
    fn sessions(&self, heads: &[SessionHead]) -> Result<Option<BTreeSet<Id>>, StoreError> {
        // A session is looked up as if it were a run of its own.
        let as_run = |head: &SessionHead| RunHead {
            id: head.id,
            session: head.id,
            session_name: head.name.clone(),
            suite: head.suite.clone(),
            started: head.started,
            variant: String::new(),
            levels: Default::default(),
            version: None,
            commit: None,
            version_date: None,
            dirty: None,
        };
        let about_sessions = Self {
            versions: Vec::new(),
            variants: Vec::new(),
            runs: Vec::new(),
            ..self.clone()
        };
        about_sessions.choose(&heads.iter().map(as_run).collect::<Vec<_>>())
    }

    /// Returns the ids of the selected runs; `None` for all of them. The lists about sessions are left to
    /// [`RunFilter::sessions`].
    fn runs(&self, heads: &[RunHead]) -> Result<Option<BTreeSet<Id>>, StoreError> {
        let about_runs = Self {
            versions: self.versions.clone(),
            variants: self.variants.clone(),
            runs: self.runs.clone(),
            ..Self::default()
        };
        about_runs.choose(heads)
    }

    /// Returns the ids that match all lists; an entry without a match is an error, because it is most likely a typing error.
    fn choose(&self, runs: &[RunHead]) -> Result<Option<BTreeSet<Id>>, StoreError> {
        let mut passing: Option<BTreeSet<Id>> = None;
        for part in self.parts() {
            if let PartChoice::Keys(keys, entries) = &part.choice {
                for entry in *entries {
                    if chosen_by(keys, runs, entry).is_empty() {
                        return Err(no_match(keys, entry, runs));
                    }
                }
            }
            let of_part = part.passing(runs);
            passing = Some(match passing {
                Some(known) => known.intersection(&of_part).copied().collect(),
                None => of_part,
            });
        }
        Ok(passing)
    }
}

/// Returns the error for an entry without a match, with similar names.
fn no_match(keys: &[RunKey], entry: &str, runs: &[RunHead]) -> StoreError {
    let name = |key: &RunKey, run: &RunHead| match key {
        RunKey::Session => run.session_name.clone(),
        RunKey::Run => None,
        RunKey::Suite | RunKey::Version | RunKey::Commit | RunKey::Variant => key.of(run),
    };
    let names = runs
        .iter()
        .flat_map(|run| keys.iter().filter_map(move |key| name(key, run)));
    let what = keys.first().map_or("run", |key| key.name());
    StoreError::no_match(what, entry, names.collect())
}

impl SampleFilter {
    /// Returns the filter for these suites; for all if the list is empty.
    pub fn of_suites(suites: &[String]) -> Self {
        Self {
            runs: RunFilter {
                suites: suites.to_vec(),
                ..RunFilter::default()
            },
            ..Self::default()
        }
    }

    /// Returns the filter in the store's form.
    ///
    /// In a store without any session, entries without a match are no error.
    ///
    /// # Errors
    /// If an entry about sessions or runs has no match, or the store cannot be read.
    pub fn resolve(&self, store: &Store) -> Result<Filter, StoreError> {
        let mut filter = self.without_runs();
        if self.runs == RunFilter::default() {
            return Ok(filter);
        }
        let sessions = store.catalogue().session_heads()?;
        if !sessions.is_empty() {
            filter.sessions = self.runs.sessions(&sessions)?;
            filter.runs = self.runs.runs(&store.catalogue().run_heads()?)?;
        }
        Ok(filter)
    }

    /// Returns the selection of benchmarks and metrics, for any run.
    pub fn without_runs(&self) -> Filter {
        Filter {
            sessions: None,
            runs: None,
            benchmarks: self.benchmarks.clone(),
            tags: self.tags.clone(),
            metrics: self.metrics.clone(),
            retired: self.retired,
        }
    }

    /// Returns the same filter with retired measurements included.
    #[must_use]
    pub fn with_retired(&self) -> Self {
        Self {
            retired: Retired::Show,
            ..self.clone()
        }
    }
}
