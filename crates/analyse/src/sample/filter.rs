//! Filters: the runs selected by a text, by the same rules for every command, store and file.

use super::setting::is_setting_named;
use super::{RepositoryCommits, Selector};
use lapwing_model::{Id, MetricName, StartedFrom};
use lapwing_record::{Filter, Retired, RunHead, SessionHead, Store, StoreError};

/// A selection of measurements, as written on the command line. Empty lists and `None` select everything;
/// several entries of one list are alternatives, all lists have to match.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampleFilter {
    /// The runs.
    pub runs: Selector,
    /// Benchmark ids: the whole id, a pattern with `*` and `?`, or a part of the id.
    pub benchmarks: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Metric names.
    pub metrics: Vec<MetricName>,
    /// Whether retired measurements are included.
    pub retired: Retired,
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
    /// Its branch, by its name.
    Branch,
    /// The variant, by its name or by levels of factors.
    Variant,
    /// The run, by the beginning or end of its id.
    Run,
}

/// Fewer characters of a hash or an id match too many things.
pub const SHORTEST_ID: usize = 4;

impl RunKey {
    /// Every property.
    pub const ALL: [Self; 7] = [
        Self::Suite,
        Self::Session,
        Self::Version,
        Self::Commit,
        Self::Branch,
        Self::Variant,
        Self::Run,
    ];

    /// Returns its name: `session`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Suite => "suite",
            Self::Session => "session",
            Self::Version => "version",
            Self::Commit => "commit",
            Self::Branch => "branch",
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
            Self::Branch => run.branch.clone(),
            Self::Variant => Some(run.variant.clone()),
            Self::Run => Some(run.id.to_string()),
        }
    }

    /// Returns the name by which people know it: that of its session, not the id.
    pub(super) fn title(self, run: &RunHead) -> Option<String> {
        match self {
            Self::Session => run.session_name.clone(),
            Self::Run => None,
            Self::Suite | Self::Version | Self::Commit | Self::Branch | Self::Variant => {
                self.of(run)
            }
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

    /// Commits are given by the beginning of their hash, versions with uncommitted changes also as `1a2b3c4d5e+`.
    fn is_name(self, run: &RunHead, text: &str) -> bool {
        let is_dirty_label = || {
            self == Self::Version
                && text.ends_with('+')
                && run.version_label().as_deref() == Some(text)
        };
        self != Self::Commit && self.title(run).as_deref() == Some(text) || is_dirty_label()
    }

    fn may_mean(self, run: &RunHead, text: &str) -> bool {
        match self {
            Self::Suite | Self::Version | Self::Branch => false,
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

/// Returns a session as if it were a run, so that also one without any run can be looked up.
fn as_run(head: &SessionHead) -> RunHead {
    RunHead {
        id: head.id,
        session: head.id,
        session_name: head.name.clone(),
        suite: head.suite.clone(),
        started: head.started,
        variant: String::new(),
        levels: Default::default(),
        version: None,
        commit: None,
        branch: None,
        version_date: None,
        dirty: None,
        started_from: StartedFrom::default(),
        file: None,
    }
}

impl SampleFilter {
    /// Returns the filter for these suites; for all if the list is empty.
    pub fn of_suites(suites: &[String]) -> Self {
        Self {
            runs: Selector::of(RunKey::Suite, suites),
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
        self.resolve_as(store, |_, heads| heads)
    }

    /// Returns the same where the branch of a run without a recorded one is told by the repository under test.
    ///
    /// # Errors
    /// If an entry about sessions or runs has no match, or the store cannot be read.
    pub fn resolve_in(
        &self,
        store: &Store,
        repository: &RepositoryCommits<'_>,
    ) -> Result<Filter, StoreError> {
        self.resolve_as(store, |conditions, heads| {
            if conditions.alternatives(RunKey::Branch).is_empty() {
                return heads;
            }
            repository.with_branches(conditions, &heads, &repository.main_runs(&heads))
        })
    }

    fn resolve_as(
        &self,
        store: &Store,
        told: impl FnOnce(&Selector, Vec<RunHead>) -> Vec<RunHead>,
    ) -> Result<Filter, StoreError> {
        let mut filter = self.without_runs();
        let (of_sessions, of_runs) = (self.runs.about_sessions(), self.runs.about_runs());
        let is_any = |selector: &Selector| *selector == Selector::default();
        if is_any(&self.runs) {
            return Ok(filter);
        }
        let sessions: Vec<RunHead> = (store.catalogue().session_heads()?.iter())
            .map(as_run)
            .collect();
        if sessions.is_empty() {
            return Ok(filter);
        }
        if !is_any(&of_sessions) {
            filter.sessions = Some(of_sessions.choose(&sessions)?);
        }
        let latest = self.runs.latest();
        if is_any(&of_runs) && latest.is_none() {
            return Ok(filter);
        }
        let mut heads = told(&of_runs, store.catalogue().run_heads()?);
        let mut chosen = of_runs.choose(&heads)?;
        if let Some(latest) = latest {
            let is_left = |run: &RunHead| {
                let sessions = filter.sessions.as_ref();
                chosen.contains(&run.id) && sessions.is_none_or(|it| it.contains(&run.session))
            };
            heads.retain(is_left);
            chosen = latest.passing(&heads);
        }
        filter.runs = Some(chosen);
        Ok(filter)
    }

    /// Returns the selection of benchmarks and metrics, for any run.
    pub fn without_runs(&self) -> Filter {
        Filter {
            sessions: None,
            runs: None,
            hosts: self.runs.hosts().to_vec(),
            outcomes: self.runs.outcomes().to_vec(),
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
